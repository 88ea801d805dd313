/* SPDX-License-Identifier: MIT */
/* The state machines of the virtual driver: contexts, capture, graphs, pools, sharing, functions by name and version.
 */
#include "vgpu/core/ledger.h"
#include "virtual.h"

#include <elf.h>
#include <unistd.h>

enum { MIB = 1 << 20 };
enum {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    INVALID_CONTEXT = 201,
    PEER_UNSUPPORTED = 217,
    INVALID_HANDLE = 400,
    ILLEGAL_STATE = 401,
    NOT_FOUND = 500,
    NOT_SUPPORTED = 801,
    UNSUPPORTED = 900,
    INVALIDATED = 901,
    UNJOINED = 904,
    ISOLATION = 905,
    CAPTURED_EVENT = 907,
};

typedef unsigned long long word;
static void *driver;

/* Call a function of the driver with words. */
static int call(const char *name, word a, word b, word c, word d, word e, word f, word g)
{
    int (*function)(word, word, word, word, word, word, word);
    void *found = dlsym(driver, name);
    if (!found)
        fail_msg("%s is not there", name);
    memcpy(&function, &found, sizeof found);
    return function(a, b, c, d, e, f, g);
}
#define W(x)                    ((word)(uintptr_t)(x))
#define CALL2(name, a, b)       call(name, W(a), W(b), 0, 0, 0, 0, 0)
#define CALL3(name, a, b, c)    call(name, W(a), W(b), W(c), 0, 0, 0, 0)
#define CALL4(name, a, b, c, d) call(name, W(a), W(b), W(c), W(d), 0, 0, 0)

static void *context;

static int set_up(void **state)
{
    (void)state;
    setenv("PLIM_VGPU_RAW", "1024,1024", 1);
    driver = open_library("libcuda.so.1");
    assert_int_equal(CALL2("cuInit", 0, 0), SUCCESS);
    assert_int_equal(CALL2("cuDevicePrimaryCtxRetain", &context, 0), SUCCESS);
    assert_int_equal(CALL2("cuCtxSetCurrent", context, 0), SUCCESS);
    return 0;
}

static size_t free_mib(void)
{
    size_t free_bytes = 0, total_bytes = 0;
    assert_int_equal(CALL2("cuMemGetInfo_v2", &free_bytes, &total_bytes), SUCCESS);
    return free_bytes / MIB;
}

static void test_contexts(void **state)
{
    (void)state;
    void *made = NULL, *found = NULL;
    unsigned flags;
    int is_active = 0, device = 7;
    assert_int_equal(CALL3("cuDevicePrimaryCtxGetState", 1, &flags, &is_active), SUCCESS);
    assert_false(is_active);
    assert_int_equal(CALL3("cuDevicePrimaryCtxGetState", 0, &flags, &is_active), SUCCESS);
    assert_true(is_active);
    assert_int_equal(CALL2("cuDevicePrimaryCtxRelease_v2", 1, 0), INVALID_CONTEXT);
    assert_int_equal(CALL3("cuCtxCreate_v2", &made, 0, 1), SUCCESS);
    assert_int_equal(CALL2("cuCtxGetDevice", &device, 0), SUCCESS);
    assert_int_equal(device, 1);
    assert_int_equal(CALL2("cuCtxPopCurrent_v2", &found, 0), SUCCESS);
    assert_ptr_equal(found, made);
    assert_int_equal(CALL2("cuCtxGetCurrent", &found, 0), SUCCESS);
    assert_ptr_equal(found, context);
    assert_int_equal(CALL2("cuCtxDestroy_v2", made, 0), SUCCESS);
    assert_int_equal(CALL2("cuCtxDestroy_v2", made, 0), INVALID_CONTEXT);
    assert_int_equal(CALL2("cuCtxPushCurrent_v2", made, 0), INVALID_CONTEXT);
    assert_int_equal(CALL2("cuCtxDestroy_v2", context, 0),
                     INVALID_CONTEXT); /* the primary context is not the program's */
}

static int n_called;
static void count_call(void *data) { n_called += *(int *)data; }

/* Two streams, forked and joined by events, with a host function in each. */
static void test_capture(void **state)
{
    (void)state;
    void *a, *b, *fork, *join, *graph = NULL, *exec = NULL, *nodes[8], *from[8], *to[8], *const *last = NULL;
    int one = 1, ten = 10, capture = -1;
    uint64_t id = 0;
    size_t n = 8, n_last = 0;
    assert_int_equal(CALL2("cuStreamCreate", &a, 1), SUCCESS);
    assert_int_equal(CALL2("cuStreamCreate", &b, 1), SUCCESS);
    assert_int_equal(CALL2("cuEventCreate", &fork, 2), SUCCESS);
    assert_int_equal(CALL2("cuEventCreate", &join, 2), SUCCESS);
    assert_int_equal(CALL2("cuStreamEndCapture", a, &graph), ILLEGAL_STATE);
    assert_int_equal(CALL2("cuStreamBeginCapture_v2", a, 0), SUCCESS);
    assert_int_equal(CALL2("cuStreamBeginCapture_v2", a, 0), ILLEGAL_STATE);
    assert_int_equal(CALL3("cuLaunchHostFunc", a, count_call, &one), SUCCESS);
    assert_int_equal(n_called, 0);
    assert_int_equal(CALL2("cuEventRecord", fork, a), SUCCESS);
    assert_int_equal(CALL3("cuStreamWaitEvent", b, fork, 0), SUCCESS);
    assert_int_equal(CALL2("cuStreamIsCapturing", b, &capture), SUCCESS);
    assert_int_equal(capture, 1);
    assert_int_equal(CALL3("cuLaunchHostFunc", b, count_call, &ten), SUCCESS);
    assert_int_equal(CALL2("cuEventRecord", join, b), SUCCESS);
    assert_int_equal(CALL2("cuEventQuery", join, 0), CAPTURED_EVENT);
    assert_int_equal(CALL3("cuStreamWaitEvent", a, join, 0), SUCCESS);
    assert_int_equal(call("cuStreamGetCaptureInfo_v3", W(a), W(&capture), W(&id), W(&graph), W(&last), 0, W(&n_last)),
                     SUCCESS);
    assert_int_equal(n_last, 2);
    assert_non_null(last[1]);
    assert_true(id > 0);
    assert_int_equal(CALL2("cuStreamEndCapture", a, &graph), SUCCESS);
    assert_int_equal(CALL2("cuEventQuery", join, 0), CAPTURED_EVENT); /* also afterwards */
    assert_int_equal(CALL3("cuGraphGetNodes", graph, nodes, &n), SUCCESS);
    assert_int_equal(n, 2);
    n = 8;
    assert_int_equal(CALL4("cuGraphGetEdges", graph, from, to, &n), SUCCESS);
    assert_int_equal(n, 1);
    assert_ptr_equal(from[0], nodes[0]);
    assert_ptr_equal(to[0], nodes[1]);
    assert_int_equal(CALL3("cuGraphInstantiateWithFlags", &exec, graph, 0), SUCCESS);
    assert_int_equal(CALL2("cuGraphDestroy", graph, 0), SUCCESS);
    assert_int_equal(CALL2("cuGraphDestroy", graph, 0), INVALID_VALUE);
    assert_int_equal(CALL2("cuGraphLaunch", exec, a), SUCCESS);
    assert_int_equal(CALL2("cuGraphLaunch", exec, a), SUCCESS);
    assert_int_equal(n_called, 22);
    assert_int_equal(CALL2("cuGraphExecDestroy", exec, 0), SUCCESS);
    assert_int_equal(CALL2("cuGraphLaunch", exec, a), INVALID_VALUE);
    assert_int_equal(CALL2("cuEventRecord", fork, a), SUCCESS);
    assert_int_equal(CALL2("cuEventQuery", fork, 0), SUCCESS);
    assert_int_equal(CALL2("cuStreamDestroy_v2", b, 0), SUCCESS);
    assert_int_equal(CALL2("cuStreamDestroy_v2", a, 0), SUCCESS);
}

static void test_what_a_capture_forbids(void **state)
{
    (void)state;
    void *a, *b, *event, *outside, *graph;
    word address;
    int mode = 2;
    assert_int_equal(CALL2("cuStreamCreate", &a, 1), SUCCESS);
    assert_int_equal(CALL2("cuStreamCreate", &b, 1), SUCCESS);
    assert_int_equal(CALL2("cuEventCreate", &event, 2), SUCCESS);
    assert_int_equal(CALL2("cuEventCreate", &outside, 2), SUCCESS);
    assert_int_equal(CALL2("cuEventRecord", outside, b), SUCCESS);

    assert_int_equal(CALL2("cuStreamBeginCapture_v2", a, 0), SUCCESS); /* not joined */
    assert_int_equal(CALL2("cuEventRecord", event, a), SUCCESS);
    assert_int_equal(CALL3("cuStreamWaitEvent", b, event, 0), SUCCESS);
    assert_int_equal(CALL3("cuLaunchHostFunc", b, count_call, &mode), SUCCESS);
    assert_int_equal(CALL2("cuStreamEndCapture", a, &graph), UNJOINED);

    assert_int_equal(CALL2("cuStreamBeginCapture_v2", a, 0), SUCCESS); /* an event from before the capture */
    assert_int_equal(CALL3("cuStreamWaitEvent", a, outside, 0), ISOLATION);
    assert_int_equal(CALL2("cuStreamEndCapture", a, &graph), INVALIDATED);

    assert_int_equal(CALL2("cuStreamBeginCapture_v2", a, 0), SUCCESS);
    assert_int_equal(CALL2("cuStreamSynchronize", a, 0), UNSUPPORTED);
    assert_int_equal(CALL2("cuStreamEndCapture", a, &graph), INVALIDATED);

    assert_int_equal(CALL2("cuStreamBeginCapture_v2", a, 0), SUCCESS); /* allocations: only when relaxed */
    assert_int_equal(CALL2("cuMemAlloc_v2", &address, MIB), UNSUPPORTED);
    assert_int_equal(CALL2("cuStreamEndCapture", a, &graph), INVALIDATED);
    assert_int_equal(CALL2("cuStreamBeginCapture_v2", a, 0), SUCCESS);
    assert_int_equal(CALL2("cuThreadExchangeStreamCaptureMode", &mode, 0), SUCCESS);
    assert_int_equal(mode, 0);
    assert_int_equal(CALL2("cuMemAlloc_v2", &address, MIB), SUCCESS);
    assert_int_equal(CALL2("cuMemFree_v2", address, 0), SUCCESS);
    assert_int_equal(CALL2("cuThreadExchangeStreamCaptureMode", &mode, 0), SUCCESS);
    assert_int_equal(CALL2("cuStreamEndCapture", a, &graph), SUCCESS);
    assert_int_equal(CALL2("cuGraphDestroy", graph, 0), SUCCESS);

    assert_int_equal(CALL2("cuStreamBeginCapture_v2", a, 0), SUCCESS); /* its stream is destroyed */
    assert_int_equal(CALL2("cuStreamDestroy_v2", a, 0), SUCCESS);
    assert_int_equal(CALL2("cuMemAlloc_v2", &address, MIB), SUCCESS);
    assert_int_equal(CALL2("cuMemFree_v2", address, 0), SUCCESS);
    assert_int_equal(CALL2("cuStreamDestroy_v2", b, 0), SUCCESS);
}

static void test_objects_that_a_graph_keeps(void **state)
{
    (void)state;
    void *graph, *exec, *user;
    int seven = 7;
    n_called = 0;
    assert_int_equal(CALL2("cuGraphCreate", &graph, 0), SUCCESS);
    assert_int_equal(call("cuUserObjectCreate", W(&user), W(&seven), W(count_call), 1, 1, 0, 0), SUCCESS);
    assert_int_equal(CALL4("cuGraphRetainUserObject", graph, user, 1, 1),
                     SUCCESS); /* moved: the graph has the only reference */
    assert_int_equal(CALL3("cuGraphInstantiateWithFlags", &exec, graph, 0), SUCCESS);
    assert_int_equal(CALL2("cuGraphDestroy", graph, 0), SUCCESS);
    assert_int_equal(n_called, 0);
    assert_int_equal(CALL2("cuGraphExecDestroy", exec, 0), SUCCESS);
    assert_int_equal(n_called, 7);
    assert_int_equal(CALL2("cuUserObjectRelease", user, 1), INVALID_VALUE);
}

/* A clone has children of its own; a graph that a stream fills cannot be destroyed, and waits for its own nodes only.
 */
static void test_graphs_within_graphs(void **state)
{
    (void)state;
    void *inner, *outer, *copy, *child = NULL, *node, *host, *other, *stream, *exec, *nodes[4] = { NULL };
    int one = 1;
    size_t n = 4;
    struct {
        void (*function)(void *);
        void *data;
    } hosted = { count_call, &one };
    n_called = 0;
    assert_int_equal(CALL2("cuGraphCreate", &inner, 0), SUCCESS);
    assert_int_equal(CALL2("cuGraphCreate", &outer, 0), SUCCESS);
    assert_int_equal(call("cuGraphAddHostNode", W(&host), W(inner), 0, 0, W(&hosted), 0, 0), SUCCESS);
    assert_int_equal(call("cuGraphAddChildGraphNode", W(&node), W(outer), 0, 0, W(inner), 0, 0), SUCCESS);
    assert_int_equal(CALL2("cuGraphClone", &copy, outer), SUCCESS);
    assert_int_equal(CALL2("cuGraphDestroy", outer, 0), SUCCESS);
    assert_int_equal(CALL3("cuGraphGetNodes", copy, nodes, &n), SUCCESS);
    assert_int_equal(CALL2("cuGraphChildGraphNodeGetGraph", nodes[0], &child), SUCCESS);
    assert_int_equal(CALL3("cuGraphGetNodes", child, nodes, &n), SUCCESS);
    assert_int_equal(n, 1);
    assert_int_equal(CALL2("cuGraphDestroy", child, 0), INVALID_VALUE);
    assert_int_equal(CALL3("cuGraphInstantiateWithFlags", &exec, copy, 0), SUCCESS);
    assert_int_equal(CALL2("cuGraphLaunch", exec, 0), SUCCESS);
    assert_int_equal(n_called, 1);

    assert_int_equal(CALL2("cuStreamCreate", &stream, 1), SUCCESS);
    assert_int_equal(call("cuStreamBeginCaptureToGraph", W(stream), W(copy), W(&host), 0, 1, 0, 0), SUCCESS);
    assert_int_equal(CALL2("cuGraphDestroy", copy, 0), INVALID_VALUE);
    assert_int_equal(CALL3("cuLaunchHostFunc", stream, count_call, &one), SUCCESS);
    assert_int_equal(CALL2("cuStreamEndCapture", stream, &other), SUCCESS);
    assert_ptr_equal(other, copy);
    n = 4;
    assert_int_equal(call("cuGraphGetEdges", W(copy), 0, 0, W(&n), 0, 0, 0), SUCCESS);
    assert_int_equal(n, 0); /* the node of `inner` was left out */
    assert_int_equal(CALL2("cuGraphExecDestroy", exec, 0), SUCCESS);
    assert_int_equal(CALL2("cuGraphExecDestroy", exec, 0), INVALID_VALUE);
    assert_int_equal(CALL2("cuGraphDestroy", copy, 0), SUCCESS);
    assert_int_equal(CALL2("cuGraphDestroy", inner, 0), SUCCESS);
    assert_int_equal(CALL2("cuStreamDestroy_v2", stream, 0), SUCCESS);
}

/* The slot of a destroyed object waits for many others before it is used again. */
static void test_handles_stay_stale(void **state)
{
    enum { N = 1000 };
    (void)state;
    void *old, *made;
    assert_int_equal(CALL2("cuEventCreate", &old, 0), SUCCESS);
    assert_int_equal(CALL2("cuEventDestroy_v2", old, 0), SUCCESS);
    for (int i = 0; i < N; i++) {
        assert_int_equal(CALL2("cuEventCreate", &made, 0), SUCCESS);
        assert_ptr_not_equal(made, old);
        assert_int_equal(CALL2("cuEventDestroy_v2", made, 0), SUCCESS);
    }
    assert_int_equal(CALL2("cuEventQuery", old, 0), INVALID_HANDLE);
}

static void test_pools(void **state)
{
    (void)state;
    enum { RELEASE_THRESHOLD = 4, RESERVED = 5, RESERVED_HIGH = 6, USED = 7 };
    void *pool;
    word a, b;
    uint64_t value = 0;
    const size_t before = free_mib();
    assert_int_equal(CALL2("cuDeviceGetDefaultMemPool", &pool, 0), SUCCESS);
    assert_int_equal(CALL3("cuMemAllocAsync", &a, MIB, 0), SUCCESS);
    assert_int_equal(CALL3("cuMemAllocAsync", &b, 100 * MIB, 0), SUCCESS);
    assert_int_equal(CALL3("cuMemPoolGetAttribute", pool, USED, &value), SUCCESS);
    assert_int_equal(value, 101 * MIB);
    assert_int_equal(CALL3("cuMemPoolGetAttribute", pool, RESERVED, &value), SUCCESS);
    assert_int_equal(value / MIB, before - free_mib());
    assert_true(value >= 101 * MIB && value % (32 * MIB) == 0);
    assert_int_equal(CALL3("cuMemAllocAsync", &b, (word)2 << 30, 0), OUT_OF_MEMORY);
    assert_int_equal(CALL2("cuMemFreeAsync", a + 1, 0), INVALID_VALUE);
    assert_int_equal(CALL2("cuMemFreeAsync", a, 0), SUCCESS);
    assert_int_equal(CALL2("cuMemFreeAsync", a, 0), INVALID_VALUE);
    assert_int_equal(CALL2("cuStreamSynchronize", 0, 0), SUCCESS);
    assert_int_equal(CALL2("cuMemFree_v2", b, 0), SUCCESS);
    assert_true(before - free_mib() > 0);
    assert_int_equal(CALL2("cuCtxSynchronize", 0, 0), SUCCESS); /* the threshold is 0 */
    assert_int_equal(free_mib(), before);
    value = UINT64_MAX;
    assert_int_equal(CALL3("cuMemPoolSetAttribute", pool, RELEASE_THRESHOLD, &value), SUCCESS);
    assert_int_equal(CALL3("cuMemAllocAsync", &a, MIB, 0), SUCCESS);
    assert_int_equal(CALL2("cuMemFreeAsync", a, 0), SUCCESS);
    assert_int_equal(CALL2("cuCtxSynchronize", 0, 0), SUCCESS);
    assert_int_equal(free_mib(), before - 32);
    assert_int_equal(CALL2("cuMemPoolTrimTo", pool, 0), SUCCESS);
    assert_int_equal(free_mib(), before);
}

static void test_sharing(void **state)
{
    (void)state;
    const int shared[8] = { 1, 1, 1, 0 }, fabric[8] = { 1, 8, 1, 0 }; /* pinned, how it is shared, on device 0 */
    const int access[3] = { 1, 0, 3 };
    word address, handle, again;
    unsigned char token[64];
    int fd = -1;
    const size_t before = free_mib();
    assert_int_equal(CALL4("cuMemCreate", &handle, 2 * MIB, fabric, 0), NOT_SUPPORTED);
    assert_int_equal(CALL4("cuMemCreate", &handle, 2 * MIB, shared, 0), SUCCESS);
    assert_int_equal(CALL4("cuMemExportToShareableHandle", &fd, handle, 8, 0), NOT_SUPPORTED);
    assert_int_equal(CALL4("cuMemExportToShareableHandle", &fd, handle, 1, 0), SUCCESS);
    assert_true(fd >= 0);
    assert_int_equal(CALL3("cuMemImportFromShareableHandle", &again, (intptr_t)fd, 1), SUCCESS);
    close(fd);
    assert_int_equal(CALL3("cuMemImportFromShareableHandle", &again, (intptr_t)fd, 1), INVALID_VALUE);
    assert_int_equal(free_mib(), before - 2);
    assert_int_equal(call("cuMemAddressReserve", W(&address), 4 * MIB, 0, 0, 0, 0, 0), SUCCESS);
    assert_int_equal(call("cuMemMap", address, 2 * MIB, 0, handle, 0, 0, 0), SUCCESS);
    assert_int_equal(CALL4("cuMemSetAccess", address, 2 * MIB, access, 1), SUCCESS);
    assert_int_equal(CALL4("cuMemSetAccess", address, 4 * MIB, access, 1), INVALID_VALUE);
    assert_int_equal(CALL3("cuMemGetAccess", &again, access, address), SUCCESS);
    assert_int_equal(again, 3);
    assert_int_equal(CALL2("cuIpcGetMemHandle", token, address), INVALID_VALUE); /* only for memory of cuMemAlloc */
    assert_int_equal(CALL2("cuMemRelease", handle, 0), SUCCESS);
    assert_int_equal(CALL2("cuMemRelease", handle, 0), SUCCESS); /* the imported reference */
    assert_int_equal(CALL2("cuMemRelease", handle, 0), INVALID_VALUE);
    assert_int_equal(CALL2("cuMemUnmap", address, 2 * MIB), SUCCESS);
    assert_int_equal(CALL2("cuMemAddressFree", address, 4 * MIB), SUCCESS);
    assert_int_equal(free_mib(), before);
}

/* What another process, or another mapping, may overwrite is never known. */
static void test_values_of_shared_memory(void **state)
{
    (void)state;
    enum { KEPT = 1, KNOWN = 2 };
    const int plain[8] = { 1, 0, 1, 0 }, access[3] = { 1, 0, 3 };
    unsigned char token[64];
    word address, handle, space;
    assert_int_equal(CALL2("cuMemAlloc_v2", &address, 2 * MIB), SUCCESS);
    assert_int_equal(CALL3("cuMemsetD8_v2", address, 1, 64), SUCCESS);
    assert_int_equal(CALL2("plim_values_known", address, 64), KNOWN);
    assert_int_equal(CALL2("cuIpcGetMemHandle", token, address), SUCCESS);
    assert_int_equal(CALL2("plim_values_known", address, 64), KEPT);
    assert_int_equal(CALL3("cuMemsetD8_v2", address, 1, 64), SUCCESS);
    assert_int_equal(CALL2("plim_values_known", address, 64), KEPT);
    assert_int_equal(CALL2("cuMemFree_v2", address, 0), SUCCESS);
    assert_int_equal(CALL2("cuMemAlloc_v2", &space, 2 * MIB), SUCCESS); /* not shared */
    assert_int_equal(CALL3("cuMemsetD8_v2", space, 1, 64), SUCCESS);
    assert_int_equal(CALL2("plim_values_known", space, 64), KNOWN);
    assert_int_equal(CALL2("cuMemFree_v2", space, 0), SUCCESS);

    assert_int_equal(CALL4("cuMemCreate", &handle, 2 * MIB, plain, 0), SUCCESS);
    assert_int_equal(call("cuMemAddressReserve", W(&space), 4 * MIB, 0, 0, 0, 0, 0), SUCCESS);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(call("cuMemMap", space + 2 * i * MIB, 2 * MIB, 0, handle, 0, 0, 0), SUCCESS);
        assert_int_equal(CALL4("cuMemSetAccess", space + 2 * i * MIB, 2 * MIB, access, 1), SUCCESS);
        assert_int_equal(CALL3("cuMemsetD8_v2", space, 1, 64), SUCCESS);
        assert_int_equal(CALL2("plim_values_known", space, 64), i ? KEPT : KNOWN);
    }
    assert_int_equal(CALL2("cuMemUnmap", space, 4 * MIB), SUCCESS);
    assert_int_equal(CALL2("cuMemRelease", handle, 0), SUCCESS);
    assert_int_equal(CALL2("cuMemAddressFree", space, 4 * MIB), SUCCESS);
}

static void test_pointers(void **state)
{
    (void)state;
    enum { MEMORY_TYPE = 2, DEVICE_ORDINAL = 9, RANGE_START = 11, RANGE_SIZE = 12 };
    word address, value = 0;
    int type = 0, device = -1;
    char mine[8];
    assert_int_equal(CALL2("cuMemAlloc_v2", &address, 3 * MIB), SUCCESS);
    assert_int_equal(CALL3("cuPointerGetAttribute", &type, MEMORY_TYPE, address + MIB), SUCCESS);
    assert_int_equal(type, 2);
    assert_int_equal(CALL3("cuPointerGetAttribute", &device, DEVICE_ORDINAL, address + MIB), SUCCESS);
    assert_int_equal(device, 0);
    assert_int_equal(CALL3("cuPointerGetAttribute", &value, RANGE_START, address + MIB), SUCCESS);
    assert_int_equal(value, address);
    assert_int_equal(CALL3("cuPointerGetAttribute", &value, RANGE_SIZE, address + MIB), SUCCESS);
    assert_int_equal(value, 3 * MIB);
    assert_int_equal(CALL3("cuPointerGetAttribute", &type, MEMORY_TYPE, address + 3 * MIB), INVALID_VALUE);
    assert_int_equal(CALL3("cuPointerGetAttribute", &type, MEMORY_TYPE, mine), INVALID_VALUE);
    assert_int_equal(CALL2("cuMemFree_v2", address, 0), SUCCESS);
    assert_int_equal(CALL3("cuPointerGetAttribute", &type, MEMORY_TYPE, address), INVALID_VALUE);
}

static void test_functions_by_version(void **state)
{
    (void)state;
    enum { FOUND = 0, NO_SYMBOL = 1, NO_VERSION = 2, PER_THREAD = 2 };
    void *function = &function;
    int answer = -1;
    assert_int_equal(call("cuGetProcAddress_v2", W("cuMemAlloc"), W(&function), 12000, 0, W(&answer), 0, 0), SUCCESS);
    assert_ptr_equal(function, dlsym(driver, "cuMemAlloc_v2"));
    assert_int_equal(answer, FOUND);
    assert_int_equal(call("cuGetProcAddress_v2", W("cuStreamGetCaptureInfo"), W(&function), 11030, 0, W(&answer), 0, 0),
                     SUCCESS);
    assert_ptr_equal(function, dlsym(driver, "cuStreamGetCaptureInfo_v2"));
    assert_int_equal(call("cuGetProcAddress_v2", W("cuStreamQuery"), W(&function), 12000, PER_THREAD, W(&answer), 0, 0),
                     SUCCESS);
    assert_ptr_equal(function, dlsym(driver, "cuStreamQuery_ptsz"));
    assert_int_equal(call("cuGetProcAddress_v2", W("cuCtxCreate"), W(&function), 1000, 0, W(&answer), 0, 0), NOT_FOUND);
    assert_int_equal(answer, NO_VERSION);
    assert_null(function);
    assert_int_equal(call("cuGetProcAddress_v2", W("cuNothing"), W(&function), 12000, 0, W(&answer), 0, 0), NOT_FOUND);
    assert_int_equal(answer, NO_SYMBOL);
}

static void test_modules(void **state)
{
    (void)state;
    static const char ptx[] = "//\n.version 8.0\n.target sm_80\n.visible .entry scale(\n)\n{ ret; }\n";
    void *module, *function, *other;
    int value = 0;
    assert_int_equal(CALL2("cuModuleLoadData", &module, ptx), SUCCESS);
    assert_int_equal(CALL3("cuModuleGetFunction", &function, module, "scal"), NOT_FOUND);
    assert_int_equal(CALL3("cuModuleGetFunction", &function, module, "scale"), SUCCESS);
    assert_int_equal(CALL3("cuModuleGetFunction", &other, module, "scale"), SUCCESS);
    assert_ptr_equal(function, other);
    assert_int_equal(CALL3("cuFuncGetAttribute", &value, 4, function), SUCCESS); /* registers */
    assert_true(value > 0);
    assert_int_equal(CALL3("cuFuncSetAttribute", function, 8, 99 << 10), SUCCESS);
    assert_int_equal(CALL3("cuFuncSetAttribute", function, 8, 200 << 10), INVALID_VALUE);
    assert_int_equal(CALL4("cuOccupancyMaxActiveBlocksPerMultiprocessor", &value, function, 256, 0), SUCCESS);
    assert_int_equal(value, 4); /* 64 registers for each of 256 threads, of 65536 */
    assert_int_equal(CALL4("cuOccupancyMaxActiveBlocksPerMultiprocessor", &value, function, 256, UINT64_MAX - 1023),
                     SUCCESS);
    assert_int_equal(value, 0);
    assert_int_equal(CALL4("cuOccupancyMaxActiveBlocksPerMultiprocessor", &value, function, INT32_MAX, 0), SUCCESS);
    assert_int_equal(value, 0);
    int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
                  void **);
    take(driver, "cuLaunchKernel", &launch);
    assert_int_equal(launch(function, 1 << 20, 65535, 1, 32, 4, 8, 0, NULL, NULL, NULL), SUCCESS);
    assert_int_equal(launch(function, 1, 65536, 1, 32, 1, 1, 0, NULL, NULL, NULL), INVALID_VALUE);
    assert_int_equal(launch(function, 1, 1, 1, 1, 1, 65, 0, NULL, NULL, NULL), INVALID_VALUE);
    assert_int_equal(launch(function, 1, 1, 1, 1u << 31, 1u << 31, 4, 0, NULL, NULL, NULL), INVALID_VALUE);
    assert_int_equal(CALL2("cuModuleUnload", module, 0), SUCCESS);
    assert_int_equal(CALL3("cuFuncGetAttribute", &value, 4, function), INVALID_HANDLE);
    assert_int_equal(CALL2("cuModuleUnload", module, 0), INVALID_HANDLE);
}

/* A variable has an address of its own on each card, and is found among many kernels. */
static void test_variables(void **state)
{
    (void)state;
    enum { N_KERNELS = 5000 };
    static char variable, kernels[N_KERNELS * 16];
    void *runtime = open_library("libcudart.so.13");
    void *(*add_code)(void *), *first = NULL, *second = NULL, *again = NULL;
    void (*add_variable)(void *, char *, char *, const char *, int, size_t, int, int);
    void (*add_kernel)(void *, const char *, char *, const char *, int, void *, void *, void *, void *, int *);
    int (*address)(void **, const void *), (*set_device)(int);
    take(runtime, "__cudaRegisterFatBinary", &add_code);
    take(runtime, "__cudaRegisterVar", &add_variable);
    take(runtime, "__cudaRegisterFunction", &add_kernel);
    take(runtime, "cudaGetSymbolAddress", &address);
    take(runtime, "cudaSetDevice", &set_device);
    void *code = add_code(NULL);
    add_variable(code, &variable, NULL, "variable", 0, 4096, 0, 0);
    assert_int_equal(address(&first, &variable), SUCCESS);
    for (int i = 0; i < N_KERNELS; i++)
        add_kernel(code, &kernels[i * 16], NULL, "kernel", -1, NULL, NULL, NULL, NULL, NULL);
    assert_int_equal(set_device(1), SUCCESS);
    assert_int_equal(address(&second, &variable), SUCCESS);
    assert_ptr_not_equal(first, second);
    assert_int_equal(set_device(0), SUCCESS);
    assert_int_equal(address(&again, &variable), SUCCESS);
    assert_ptr_equal(first, again);
}

/* Cards without peer access: driver and NCCL agree on them by the name of the card. */
static void test_peers(void **state)
{
    (void)state;
    struct plim_ledger_card *(*card)(int);
    void *second;
    int can = -1;
    take(driver, "plim_vgpu_card", &card);
    assert_int_equal(CALL2("cuDevicePrimaryCtxRetain", &second, 1), SUCCESS);
    assert_int_equal(CALL3("cuDeviceCanAccessPeer", &can, 0, 1), SUCCESS);
    assert_int_equal(can, 1);
    strcpy(card(1)->name, "NVIDIA GeForce RTX 4090");
    assert_int_equal(CALL3("cuDeviceCanAccessPeer", &can, 0, 1), SUCCESS);
    assert_int_equal(can, 0);
    card(1)->cuda.l2_kib = 72 << 10;
    assert_int_equal(CALL3("cuDeviceGetAttribute", &can, 38, 1), SUCCESS); /* L2 */
    assert_int_equal(can, 72 * MIB);
    can = -1;
    assert_int_equal(CALL4("cuDeviceGetP2PAttribute", &can, 2, 0, 1), SUCCESS);
    assert_int_equal(can, 0);
    assert_int_equal(CALL2("cuCtxEnablePeerAccess", second, 0), PEER_UNSUPPORTED);
    strcpy(card(1)->name, "NVIDIA L40S");
    assert_int_equal(CALL2("cuCtxEnablePeerAccess", second, 0), SUCCESS);
    assert_int_equal(CALL2("cuCtxDisablePeerAccess", second, 0), SUCCESS);
    assert_int_equal(CALL3("cuDeviceCanAccessPeer", NULL, 0, 1), INVALID_VALUE);
    assert_int_equal(CALL2("cuDevicePrimaryCtxRelease_v2", 1, 0), SUCCESS);
}

/* Queries with NULL for the result. */
static void test_null_results(void **state)
{
    (void)state;
    assert_int_equal(CALL2("cuDeviceGetCount", NULL, 0), INVALID_VALUE);
    assert_int_equal(CALL2("cuDeviceGet", NULL, 0), INVALID_VALUE);
    assert_int_equal(CALL3("cuDeviceGetName", NULL, 80, 0), INVALID_VALUE);
    assert_int_equal(CALL2("cuDeviceGetUuid", NULL, 0), INVALID_VALUE);
    assert_int_equal(CALL2("cuDeviceTotalMem_v2", NULL, 0), INVALID_VALUE);
    assert_int_equal(CALL3("cuDeviceGetAttribute", NULL, 16, 0), INVALID_VALUE);
}

static int load_bytes(const void *bytes, size_t n, void **ret_module)
{
    char path[] = "/tmp/plimsoll-cubin-XXXXXX";
    const int fd = mkstemp(path);
    assert_int_equal(write(fd, bytes, n), n);
    close(fd);
    const int error = CALL2("cuModuleLoad", ret_module, path);
    unlink(path);
    return error;
}

/* The length of a file is known: headers that point beyond its end are not followed. */
static void test_damaged_modules(void **state)
{
    (void)state;
    enum { MACHINE = 190, PLACES = 3 };
    struct {
        Elf64_Ehdr header;
        Elf64_Shdr section[2];
        char names[16];
    } good = { .header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64 },
                           .e_machine = MACHINE,
                           .e_shoff = sizeof(Elf64_Ehdr),
                           .e_shentsize = sizeof(Elf64_Shdr),
                           .e_shnum = 2,
                           .e_shstrndx = 1 },
               .section = { { .sh_name = 1 }, { .sh_type = SHT_STRTAB, .sh_size = 16 } },
               .names = "\0.text.scale" };
    good.section[1].sh_offset = sizeof good.header + sizeof good.section;
    void *module, *function;
    assert_int_equal(load_bytes(&good, sizeof good, &module), SUCCESS);
    assert_int_equal(CALL3("cuModuleGetFunction", &function, module, "scale"), SUCCESS);
    assert_int_equal(CALL2("cuModuleUnload", module, 0), SUCCESS);
    for (int i = 0; i < PLACES; i++) {
        unsigned n = 7;
        __typeof__(good) bad = good;
        if (i == 0)
            bad.header.e_shoff = 0x30000000;
        if (i == 1)
            bad.section[0].sh_name = 0x30000000;
        if (i == 2)
            bad.section[1].sh_offset = 0x30000000;
        assert_int_equal(load_bytes(&bad, sizeof bad, &module), SUCCESS);
        assert_int_equal(CALL2("cuModuleGetFunctionCount", &n, module), SUCCESS);
        assert_int_equal(n, 0);
        assert_int_equal(CALL2("cuModuleUnload", module, 0), SUCCESS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_contexts),
        cmocka_unit_test(test_capture),
        cmocka_unit_test(test_what_a_capture_forbids),
        cmocka_unit_test(test_objects_that_a_graph_keeps),
        cmocka_unit_test(test_graphs_within_graphs),
        cmocka_unit_test(test_handles_stay_stale),
        cmocka_unit_test(test_pools),
        cmocka_unit_test(test_sharing),
        cmocka_unit_test(test_values_of_shared_memory),
        cmocka_unit_test(test_pointers),
        cmocka_unit_test(test_functions_by_version),
        cmocka_unit_test(test_modules),
        cmocka_unit_test(test_damaged_modules),
        cmocka_unit_test(test_variables),
        cmocka_unit_test(test_null_results),
        cmocka_unit_test(test_peers),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
