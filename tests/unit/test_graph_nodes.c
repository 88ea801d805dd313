/* SPDX-License-Identifier: MIT */
/* New parameters for the nodes of graphs and of executable graphs: what a launch does then. */
#include "virtual.h"

#include <stdint.h>

enum { SUCCESS = 0, INVALID_VALUE = 1, UPDATE_FAILURE = 910, KERNEL = 0, HOST = 3, WORDS = 32 };

typedef unsigned long long word;
static void *driver;
static int n_first, n_second;

static int call(const char *name, word a, word b, word c, word d, word e, word f)
{
    int (*function)(word, word, word, word, word, word);
    take(driver, name, &function);
    return function(a, b, c, d, e, f);
}
#define W(x)                       ((word)(uintptr_t)(x))
#define DO(name, a, b, c)          assert_int_equal(call(name, W(a), W(b), W(c), 0, 0, 0), SUCCESS)
#define REFUSED(name, a, b, c)     assert_int_equal(call(name, W(a), W(b), W(c), 0, 0, 0), INVALID_VALUE)
#define ADD(name, node, graph, of) assert_int_equal(call(name, W(node), W(graph), 0, 0, W(of), 0), SUCCESS)

struct hosted {
    void (*function)(void *);
    void *data;
};

static void count(void *n) { ++*(int *)n; }

static struct hosted first = { count, &n_first }, second = { count, &n_second };
static void *context;

static int set_up(void **state)
{
    (void)state;
    setenv("PLIM_VGPU_RAW", "1024", 1);
    driver = open_library("libcuda.so.1");
    assert_int_equal(call("cuInit", 0, 0, 0, 0, 0, 0), SUCCESS);
    DO("cuDevicePrimaryCtxRetain", &context, 0, 0);
    DO("cuCtxSetCurrent", context, 0, 0);
    return 0;
}

/* XLA gives its kernels new pointers before each launch of a graph; another node, or type, is refused. */
static void test_a_node_gets_parameters(void **state)
{
    (void)state;
    void *graph, *other, *exec, *kernel, *host, *stranger;
    word parameters[WORDS] = { 0 };
    DO("cuGraphCreate", &graph, 0, 0);
    DO("cuGraphCreate", &other, 0, 0);
    ADD("cuGraphAddKernelNode_v2", &kernel, graph, parameters);
    ADD("cuGraphAddHostNode", &host, graph, &first);
    ADD("cuGraphAddHostNode", &stranger, other, &first);
    DO("cuGraphInstantiateWithFlags", &exec, graph, 0);
    DO("cuGraphExecKernelNodeSetParams_v2", exec, kernel, parameters);
    DO("cuGraphExecKernelNodeSetParams", exec, kernel, parameters);
    REFUSED("cuGraphExecKernelNodeSetParams_v2", exec, host, parameters);
    REFUSED("cuGraphExecKernelNodeSetParams_v2", exec, kernel, NULL);
    REFUSED("cuGraphExecKernelNodeSetParams_v2", kernel, kernel, parameters);
    REFUSED("cuGraphExecHostNodeSetParams", exec, stranger, &second);
    n_first = n_second = 0;
    DO("cuGraphLaunch", exec, 0, 0);
    DO("cuGraphExecHostNodeSetParams", exec, host, &second);
    DO("cuGraphLaunch", exec, 0, 0);
    assert_int_equal(n_first, 1);
    assert_int_equal(n_second, 1);

    struct hosted read = { 0 }; /* the graph itself stays, until it is given others */
    DO("cuGraphHostNodeGetParams", host, &read, 0);
    assert_ptr_equal(read.data, &n_first);
    DO("cuGraphHostNodeSetParams", host, &second, 0);
    DO("cuGraphHostNodeGetParams", host, &read, 0);
    assert_ptr_equal(read.data, &n_second);
    DO("cuGraphKernelNodeSetParams_v2", kernel, parameters, 0);
    REFUSED("cuGraphKernelNodeSetParams_v2", host, parameters, 0);
    DO("cuGraphExecDestroy", exec, 0, 0);
    REFUSED("cuGraphExecHostNodeSetParams", exec, host, &second);
    DO("cuGraphDestroy", other, 0, 0);
    DO("cuGraphDestroy", graph, 0, 0);
}

/* An update keeps the nodes by which the program knows the executable graph. */
static void test_an_update_keeps_the_nodes(void **state)
{
    (void)state;
    void *graph, *other, *exec, *host, *node;
    word result[4];
    DO("cuGraphCreate", &graph, 0, 0);
    DO("cuGraphCreate", &other, 0, 0);
    ADD("cuGraphAddHostNode", &host, graph, &first);
    ADD("cuGraphAddHostNode", &node, other, &second);
    DO("cuGraphInstantiateWithFlags", &exec, graph, 0);
    DO("cuGraphExecUpdate_v2", exec, other, result);
    n_first = n_second = 0;
    DO("cuGraphLaunch", exec, 0, 0);
    assert_int_equal(n_second, 1);
    DO("cuGraphExecHostNodeSetParams", exec, host, &first);
    REFUSED("cuGraphExecHostNodeSetParams", exec, node, &first);
    DO("cuGraphLaunch", exec, 0, 0);
    assert_int_equal(n_first, 1);
    DO("cuGraphExecDestroy", exec, 0, 0);
    DO("cuGraphDestroy", other, 0, 0);
    DO("cuGraphDestroy", graph, 0, 0);
}

/* A child graph is replaced by one of the same shape only. */
static void test_a_child_is_replaced(void **state)
{
    (void)state;
    void *graph, *child, *same, *longer, *exec, *node, *inside;
    DO("cuGraphCreate", &graph, 0, 0);
    DO("cuGraphCreate", &child, 0, 0);
    DO("cuGraphCreate", &same, 0, 0);
    DO("cuGraphCreate", &longer, 0, 0);
    ADD("cuGraphAddHostNode", &inside, child, &first);
    ADD("cuGraphAddHostNode", &inside, same, &second);
    ADD("cuGraphAddHostNode", &inside, longer, &second);
    ADD("cuGraphAddHostNode", &inside, longer, &second);
    ADD("cuGraphAddChildGraphNode", &node, graph, child);
    ADD("cuGraphAddHostNode", &inside, graph, &first);
    DO("cuGraphInstantiateWithFlags", &exec, graph, 0);
    assert_int_equal(call("cuGraphExecChildGraphNodeSetParams", W(exec), W(node), W(longer), 0, 0, 0), UPDATE_FAILURE);
    DO("cuGraphExecChildGraphNodeSetParams", exec, node, same);
    n_first = n_second = 0;
    DO("cuGraphLaunch", exec, 0, 0);
    assert_int_equal(n_second, 1);
    assert_int_equal(n_first, 1); /* of the graph itself */
    DO("cuGraphExecDestroy", exec, 0, 0);
    void *graphs[] = { graph, child, same, longer };
    for (int i = 0; i < 4; i++)
        DO("cuGraphDestroy", graphs[i], 0, 0);
}

static void test_a_node_is_switched_off(void **state)
{
    (void)state;
    void *graph, *exec, *kernel, *host;
    word parameters[WORDS] = { 0 };
    unsigned is_enabled = 7;
    DO("cuGraphCreate", &graph, 0, 0);
    ADD("cuGraphAddKernelNode_v2", &kernel, graph, parameters);
    ADD("cuGraphAddHostNode", &host, graph, &first);
    DO("cuGraphInstantiateWithFlags", &exec, graph, 0);
    DO("cuGraphNodeGetEnabled", exec, kernel, &is_enabled);
    assert_int_equal(is_enabled, 1);
    DO("cuGraphNodeSetEnabled", exec, kernel, 0);
    DO("cuGraphNodeGetEnabled", exec, kernel, &is_enabled);
    assert_int_equal(is_enabled, 0);
    REFUSED("cuGraphNodeSetEnabled", exec, host, 0);
    DO("cuGraphExecDestroy", exec, 0, 0);
    DO("cuGraphDestroy", graph, 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_node_gets_parameters),
        cmocka_unit_test(test_an_update_keeps_the_nodes),
        cmocka_unit_test(test_a_child_is_replaced),
        cmocka_unit_test(test_a_node_is_switched_off),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
