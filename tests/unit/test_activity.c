/* SPDX-License-Identifier: MIT */
/* When work runs, the virtual driver marks the card that it runs on: launches and graphs, not what is captured. */
#include "vgpu/core/ledger.h"
#include "virtual.h"

enum { SUCCESS = 0, RELAXED = 2 };

static void *driver, *function, *context[2];
static struct plim_ledger_process *process;

static int (*set_current)(void *);
static int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
                     void **);

static int set_up(void **state)
{
    static const char ptx[] = "//\n.version 8.0\n.target sm_80\n.visible .entry scale(\n)\n{ ret; }\n";
    int (*init)(unsigned), (*retain)(void **, int), (*load)(void **, const void *),
        (*get)(void **, void *, const char *);
    struct plim_ledger_process *(*own)(void);
    void *module;
    (void)state;
    setenv("PLIM_VGPU_RAW", "1024,1024", 1);
    driver = open_library("libcuda.so.1");
    take(driver, "cuInit", &init);
    take(driver, "cuDevicePrimaryCtxRetain", &retain);
    take(driver, "cuModuleLoadData", &load);
    take(driver, "cuModuleGetFunction", &get);
    take(driver, "cuCtxSetCurrent", &set_current);
    take(driver, "cuLaunchKernel", &launch);
    take(driver, "plim_vgpu_process", &own);
    assert_int_equal(init(0), SUCCESS);
    for (int i = 0; i < 2; i++)
        assert_int_equal(retain(&context[i], i), SUCCESS);
    assert_int_equal(set_current(context[0]), SUCCESS);
    assert_int_equal(load(&module, ptx), SUCCESS);
    assert_int_equal(get(&function, module, "scale"), SUCCESS);
    process = own();
    assert_non_null(process);
    return 0;
}

static int run(void *stream) { return launch(function, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL); }

static void forget(void)
{
    for (int i = 0; i < 2; i++)
        memset(&process->activity[i], 0, sizeof process->activity[i]);
}

static void test_a_launch_marks_its_card(void **state)
{
    (void)state;
    forget();
    assert_int_equal(run(NULL), SUCCESS);
    assert_int_equal(process->activity[0].n_ticks, 1);
    assert_int_equal(process->activity[1].n_ticks, 0);
    forget();
    assert_int_equal(set_current(context[1]), SUCCESS);
    assert_int_equal(run(NULL), SUCCESS);
    assert_int_equal(set_current(context[0]), SUCCESS);
    assert_int_equal(process->activity[0].n_ticks, 0);
    assert_int_equal(process->activity[1].n_ticks, 1);
}

static void test_a_captured_launch_marks_when_its_graph_runs(void **state)
{
    int (*create)(void **, unsigned), (*begin)(void *, int), (*end)(void *, void **);
    int (*instantiate)(void **, void *, unsigned long long), (*launch_graph)(void *, void *);
    void *stream, *graph, *exec;
    (void)state;
    take(driver, "cuStreamCreate", &create);
    take(driver, "cuStreamBeginCapture_v2", &begin);
    take(driver, "cuStreamEndCapture", &end);
    take(driver, "cuGraphInstantiateWithFlags", &instantiate);
    take(driver, "cuGraphLaunch", &launch_graph);
    assert_int_equal(create(&stream, 0), SUCCESS);
    forget();
    assert_int_equal(begin(stream, RELAXED), SUCCESS);
    assert_int_equal(run(stream), SUCCESS);
    assert_int_equal(end(stream, &graph), SUCCESS);
    assert_int_equal(instantiate(&exec, graph, 0), SUCCESS);
    assert_int_equal(process->activity[0].n_ticks, 0);
    assert_int_equal(launch_graph(exec, stream), SUCCESS);
    assert_true(process->activity[0].n_ticks > 0);
}

/* What it has held at most stays known. */
static void test_the_peak_of_a_process(void **state)
{
    enum { MIB = 1 << 20 };
    int (*alloc)(unsigned long long *, size_t), (*release)(unsigned long long);
    unsigned long long address;
    (void)state;
    take(driver, "cuMemAlloc_v2", &alloc);
    take(driver, "cuMemFree_v2", &release);
    const uint64_t before = process->used_bytes[0];
    assert_int_equal(alloc(&address, 500 * MIB), SUCCESS);
    assert_int_equal(release(address), SUCCESS);
    assert_int_equal(alloc(&address, 20 * MIB), SUCCESS);
    assert_int_equal(process->peak_bytes[0], before + 500 * MIB);
    assert_int_equal(process->used_bytes[0], before + 20 * MIB);
    assert_int_equal(release(address), SUCCESS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_launch_marks_its_card),
        cmocka_unit_test(test_a_captured_launch_marks_when_its_graph_runs),
        cmocka_unit_test(test_the_peak_of_a_process),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
