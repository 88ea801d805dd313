/* SPDX-License-Identifier: MIT */
/*
 * Many threads that call everything at once, with sizes, addresses and handles that are right, stale, of another kind
 * or nonsense. Errors are expected; a crash, a data race (under the thread sanitizer), memory written beyond its end
 * or a ledger that does not add up is not.
 *
 *     test_storm [SECONDS [THREADS [SEED]]]        without SECONDS: a fixed number of calls
 *
 * Ten minutes: build/tests/unit/test_storm_thread 600
 */
#include "vgpu/core/cuda_api.h"
#include "vgpu/core/session.h"
#include "vgpu/runtime/runtime_api.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { N_CALLS = 400, N_THREADS = 64, MAX_THREADS = 256, N_KEPT = 64, MIB = 1 << 20 };

/* What threads share. A handle stays in its table after it was destroyed, until another takes its place. */
enum kind { DEVICE, STREAM, EVENT, GRAPH, NODE, EXEC, POOL, USER, CONTEXT, MAPPING, HANDLE, MODULE, N_KINDS };
static void *_Atomic kept[N_KINDS][N_KEPT];
static atomic_bool is_over;
static atomic_bool is_timed;
static atomic_ullong n_granted;
static const char kernel[1];

struct thread {
    pthread_t id;
    uint64_t random;
    void *stream; /* never captured: a graph that another thread launches would touch this thread's bytes */
    /* the middle of it is registered; "around" must not change */
    unsigned char before[64], mine[256], after[64];
};

/* --- chance --- */

static uint64_t below(struct thread *t, uint64_t n)
{
    uint64_t z = t->random += 0x9e3779b97f4a7c15u; /* SplitMix64 */
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (z ^ z >> 31) % n;
}

static size_t a_size(struct thread *t)
{
    static const size_t evil[] = {
        0,       1,  SIZE_MAX, SIZE_MAX - 511, (size_t)1 << 63, ((size_t)1 << 50) + 1, (size_t)1 << 50, (size_t)1 << 33,
        2 * MIB, 256
    };
    return below(t, 3) ? below(t, 4 * MIB) + 1 : evil[below(t, sizeof evil / sizeof *evil)];
}

/* For a box of the host's memory, which has few rows of few bytes. */
static size_t a_small(struct thread *t) { return below(t, 12) ? below(t, 6) : a_size(t); }

static void *_Atomic *place(struct thread *t, enum kind kind) { return &kept[kind][below(t, N_KEPT)]; }

static void *any(struct thread *t, enum kind kind)
{
    switch (below(t, 24)) {
    case 0:
        return NULL;
    case 1:
        return *place(t, (enum kind)below(t, N_KINDS));
    case 2:
        return (char *)atomic_load(place(t, kind)) + below(t, 4096);
    case 3:
        return (void *)(uintptr_t)below(t, 4);
    case 4:
        return (void *)(uintptr_t)(below(t, UINT64_MAX) | 1); /* no object, and no thread's memory */
    default:
        return *place(t, kind);
    }
}

static device_pointer any_address(struct thread *t) { return (device_pointer)(uintptr_t)any(t, DEVICE); }

/* An address on the card, allocated or not: any other would be the host's own memory, which copies may touch. */
static void *on_card(struct thread *t)
{
    char *address = atomic_load(place(t, below(t, 4) ? DEVICE : MAPPING));
    return address ? address + (below(t, 4) ? 0 : below(t, 4096)) : NULL;
}

/* Keep a new handle; the one it displaces is returned, to be destroyed while others may use it. */
static void *keep(struct thread *t, enum kind kind, status error, void *handle)
{
    if (error)
        return NULL;
    atomic_fetch_add_explicit(&n_granted, 1, memory_order_relaxed);
    return atomic_exchange(place(t, kind), handle);
}

/* --- families of calls --- */

static void allocate(struct thread *t)
{
    void *p = NULL;
    size_t pitch = 0;
    status error;
    switch (below(t, 4)) {
    case 0:
        error = cudaMallocPitch(&p, &pitch, a_size(t), a_small(t));
        break;
    case 1:
        error = cudaMallocAsync(&p, a_size(t), any(t, STREAM));
        break;
    default:
        error = cudaMalloc(&p, a_size(t));
        break;
    }
    if ((p = keep(t, DEVICE, error, p)))
        (void)(below(t, 4) ? cudaFree(p) : cuMemFreeAsync((device_pointer)(uintptr_t)p, any(t, STREAM)));
    if (below(t, 8) == 0)
        cudaFree(any(t, DEVICE));
}

static void own_memory(struct thread *t)
{
    void *p = NULL;
    char bytes[16];
    const size_t size = a_size(t);
    if (!(below(t, 2) ? cudaMallocHost(&p, size) : cudaHostAlloc(&p, size, (unsigned)below(t, 8))) && p) {
        cudaMemset(p, 1, size < 4096 ? size : 4096);
        if (!cudaMemcpy(bytes, (char *)p + size - 1, sizeof bytes, 0))
            abort(); /* 15 bytes too many */
        cudaFreeHost(p);
    }
    if (!cudaMallocManaged(&p, size, 1)) {
        cudaMemset(p, 1, size + 1);
        cudaMemPrefetchAsync(p, size);
        cudaFree(p);
    }
    cudaHostRegister(t->mine + below(t, 256), a_size(t) % 64, 0);
    cudaFreeHost(any(t, DEVICE));
    cudaHostUnregister(any(t, DEVICE));
}

/* Between the card and this thread's own bytes, of which the registration covers all. */
static void copy(struct thread *t)
{
    void *card = on_card(t), *other = on_card(t), *stream = t->stream;
    const size_t size = a_size(t), width = a_small(t), height = a_small(t), pitch = a_small(t);
    const struct cuda_pitched near = { (char *)t->mine, a_small(t), a_small(t), a_small(t) };
    const struct cuda_pitched far = { card, a_size(t), a_size(t), a_small(t) };
    const struct cuda_triple extent = { a_small(t), a_small(t), a_small(t) };
    const struct cuda_copy_3d box = { .from = below(t, 2) ? near : far, .to = far, .extent = extent, .kind = 4 };
    const struct cuda_copy_3d back = { .from = far, .to = near, .extent = extent };
    switch (below(t, 9)) {
    case 0:
        cudaMemcpyAsync(card, t->mine, size, 1, stream);
        break;
    case 1:
        cudaMemcpyAsync(t->mine, card, size, 2, stream);
        break;
    case 2:
        cudaMemcpyAsync(card, other, size, (int)below(t, 6), any(t, STREAM));
        break;
    case 3:
        cudaMemcpy2DAsync(card, pitch, t->mine, width, width, height, 1, stream);
        break;
    case 4:
        cudaMemcpy2D(t->mine, pitch, card, a_size(t), width, height, 2);
        break;
    case 5:
        cudaMemcpy3D(&box);
        break;
    case 6:
        cudaMemcpy3DAsync(&back, stream);
        break;
    case 7:
        cudaMemcpyPeer(card, (int)below(t, 3), other, 0, size);
        break;
    default:
        cuMemcpyAsync((device_pointer)(uintptr_t)t->mine, (device_pointer)(uintptr_t)card, size, stream);
        break;
    }
}

static void fill(struct thread *t)
{
    void *start = below(t, 2) ? (void *)t->mine : any(t, DEVICE);
    void *stream = start == t->mine ? t->stream : any(t, STREAM);
    const struct cuda_pitched box = { start, a_small(t), a_small(t), a_small(t) };
    const struct cuda_triple extent = { a_small(t), a_small(t), a_small(t) };
    switch (below(t, 5)) {
    case 0:
        cudaMemsetAsync(start, 7, a_size(t), stream);
        break;
    case 1:
        cudaMemset2D(start, a_small(t), 7, a_small(t), a_small(t));
        break;
    case 2:
        cudaMemset3DAsync(box, 7, extent, stream);
        break;
    case 3:
        cuMemsetD32Async(any_address(t), 7, a_size(t), stream);
        break;
    default:
        cuMemsetD2D16_v2((device_pointer)(uintptr_t)start, a_small(t), 7, a_small(t), a_small(t));
        break;
    }
}

static void streams(struct thread *t)
{
    void *stream = NULL;
    const void *old = keep(t, STREAM, cuStreamCreate(&stream, (unsigned)below(t, 3)), stream);
    if (old || below(t, 8) == 0)
        cuStreamDestroy_v2(old ? (void *)(uintptr_t)old : any(t, STREAM));
    int device;
    unsigned flags;
    cuStreamSynchronize(any(t, STREAM));
    cuStreamQuery(any(t, STREAM));
    cuStreamGetDevice(any(t, STREAM), &device);
    cuStreamGetFlags(any(t, STREAM), &flags);
    cuStreamWriteValue32_v2(any(t, STREAM), any_address(t), 1, 0);
}

static void events(struct thread *t)
{
    void *event = NULL;
    float ms;
    const void *old = keep(t, EVENT, cuEventCreate(&event, (unsigned)below(t, 4)), event);
    if (old || below(t, 8) == 0)
        cuEventDestroy_v2(old ? (void *)(uintptr_t)old : any(t, EVENT));
    for (int i = 0; i < 3; i++) {
        cuEventRecordWithFlags(any(t, EVENT), any(t, STREAM), (unsigned)below(t, 3));
        cuStreamWaitEvent(any(t, STREAM), any(t, EVENT), (unsigned)below(t, 2));
    }
    cuEventQuery(any(t, EVENT));
    cuEventSynchronize(any(t, EVENT));
    cuEventElapsedTime(&ms, any(t, EVENT), any(t, EVENT));
}

static void called(void *data) { atomic_fetch_add((atomic_ullong *)data, 1); }

static void graphs(struct thread *t)
{
    static atomic_ullong n_host_calls;
    const struct cu_host_call call = { called, &n_host_calls };
    void *graph = NULL, *node = NULL, *exec = NULL, *nodes[8], *waits_for[2] = { any(t, NODE), any(t, NODE) };
    void *stream = any(t, STREAM);
    size_t n = below(t, 9);
    const void *old = NULL;
    int type;
    switch (below(t, 10)) {
    case 0:
        old = keep(t, GRAPH, cuGraphCreate(&graph, 0), graph);
        if (old)
            cuGraphDestroy((void *)(uintptr_t)old);
        break;
    case 1:
        keep(t, NODE, cuGraphAddHostNode(&node, any(t, GRAPH), waits_for, below(t, 3), &call), node);
        break;
    case 2:
        keep(t, NODE, cuGraphAddEmptyNode(&node, any(t, GRAPH), waits_for, below(t, 3)), node);
        break;
    case 3:
        keep(t, NODE, cuGraphAddChildGraphNode(&node, any(t, GRAPH), NULL, 0, any(t, GRAPH)), node);
        keep(t, GRAPH, cuGraphChildGraphNodeGetGraph(any(t, NODE), &graph), graph);
        break;
    case 4:
        cuGraphDestroyNode(any(t, NODE));
        cuGraphAddDependencies(any(t, GRAPH), waits_for, waits_for, below(t, 3));
        break;
    case 5:
        old = keep(t, GRAPH, cuGraphClone(&graph, any(t, GRAPH)), graph);
        cuGraphDestroy(old && below(t, 2) ? (void *)(uintptr_t)old : any(t, GRAPH));
        break;
    case 6:
        old = keep(t, EXEC, cuGraphInstantiateWithFlags(&exec, any(t, GRAPH), 0), exec);
        if (old)
            cuGraphExecDestroy((void *)(uintptr_t)old);
        break;
    case 7:
        cuGraphLaunch(any(t, EXEC), stream);
        cuGraphExecUpdate_v2(any(t, EXEC), any(t, GRAPH), NULL);
        break;
    case 8:
        cuGraphGetNodes(any(t, GRAPH), nodes, &n);
        cuGraphNodeGetType(any(t, NODE), &type);
        cuGraphNodeGetDependencies(any(t, NODE), NULL, &n);
        break;
    default:
        if (!cuStreamBeginCapture_v2(stream, (int)below(t, 3))) {
            cudaMemsetAsync(on_card(t), 1, 16, stream);
            cuLaunchHostFunc(stream, called, &n_host_calls);
            cuEventRecord(any(t, EVENT), stream);
            keep(t, GRAPH, cuStreamGetCaptureInfo_v2(stream, &type, NULL, &graph, NULL, NULL), graph);
            keep(t, GRAPH, cuStreamEndCapture(stream, &graph), graph);
        }
        break;
    }
}

static void pools(struct thread *t)
{
    const struct cu_pool_properties properties = { .type = 1, .location = { 1, 0 }, .max_bytes = a_size(t) };
    void *pool = NULL;
    device_pointer address = 0;
    uint64_t word = below(t, 64 * MIB);
    const void *old = keep(t, POOL, cuMemPoolCreate(&pool, &properties), pool);
    if (old || below(t, 4) == 0)
        cuMemPoolDestroy(old ? (void *)(uintptr_t)old : any(t, POOL));
    if (!cuMemAllocFromPoolAsync(&address, a_size(t), any(t, POOL), any(t, STREAM)))
        cuMemFreeAsync(address, any(t, STREAM));
    cuMemPoolSetAttribute(any(t, POOL), (int)below(t, 15), &word);
    cuMemPoolGetAttribute(any(t, POOL), (int)below(t, 15), &word);
    cuMemPoolTrimTo(any(t, POOL), a_size(t));
    if (below(t, 8) == 0)
        cuDeviceSetMemPool(0, any(t, POOL));
}

static void mappings(struct thread *t)
{
    const struct cu_allocation_properties properties = { .type = 1, .location = { 1, 0 } };
    const struct cu_access access = { { 1, 0 }, 3 };
    const size_t size = (below(t, 4) + 1) * 2 * MIB;
    unsigned long long handle = 0;
    device_pointer space = 0;
    void *old = keep(t, HANDLE, cuMemCreate(&handle, below(t, 4) ? size : a_size(t), &properties, 0),
                     (void *)(uintptr_t)handle);
    cuMemRelease((unsigned long long)(uintptr_t)(old ? old : any(t, HANDLE)));
    if (below(t, 16) == 0 && !cuMemAddressReserve(&space, a_size(t) % ((size_t)1 << 36), 0, 0, 0))
        cuMemAddressFree(space, size);
    if (!cuMemAddressReserve(&space, 8 * MIB, 0, 0, 0) &&
        (old = keep(t, MAPPING, PLIM_CUDA_SUCCESS, (void *)(uintptr_t)space)))
        cuMemAddressFree((device_pointer)(uintptr_t)old, 8 * MIB);
    space = (device_pointer)(uintptr_t)any(t, MAPPING);
    cuMemMap(space, size, 0, (unsigned long long)(uintptr_t)any(t, HANDLE), 0);
    cuMemSetAccess(space, size, &access, 1);
    cuMemsetD8_v2(space + below(t, MIB), 1, a_size(t));
    cuMemRetainAllocationHandle(&handle, (void *)(uintptr_t)space);
    cuMemUnmap((device_pointer)(uintptr_t)any(t, MAPPING), size);
}

static void users(struct thread *t)
{
    static atomic_ullong n_destroyed;
    void *user = NULL;
    keep(t, USER, cuUserObjectCreate(&user, &n_destroyed, called, (unsigned)below(t, 3), 1), user);
    cuGraphRetainUserObject(any(t, GRAPH), any(t, USER), (unsigned)below(t, 3), (unsigned)below(t, 2));
    cuGraphReleaseUserObject(any(t, GRAPH), any(t, USER), (unsigned)below(t, 3));
    cuUserObjectRetain(any(t, USER), 1);
    cuUserObjectRelease(any(t, USER), (unsigned)below(t, 3));
}

static void queries(struct thread *t)
{
    struct cuda_pointer_attributes attributes;
    unsigned char answer[64];
    size_t free_bytes, total_bytes, size;
    device_pointer base;
    struct cu_ipc_handle shared;
    cudaMemGetInfo(&free_bytes, &total_bytes);
    if (free_bytes > total_bytes)
        abort();
    cudaPointerGetAttributes(&attributes, any(t, DEVICE));
    cuPointerGetAttribute(answer, (int)below(t, 24), any_address(t));
    cuMemGetAddressRange_v2(&base, &size, any_address(t) + a_size(t));
    if (!cuIpcGetMemHandle(&shared, any_address(t)))
        cuIpcOpenMemHandle_v2(&base, shared, 0);
    cudaDeviceGetAttribute((int *)(void *)answer, (int)below(t, 200), (int)below(t, 3));
}

static void contexts(struct thread *t)
{
    void *context = NULL, *old;
    size_t limit;
    unsigned flags;
    int is_active;
    cudaSetDevice((int)below(t, 3));
    cuDevicePrimaryCtxGetState(0, &flags, &is_active);
    cuCtxGetLimit(&limit, (int)below(t, 10));
    cuCtxSetLimit((int)below(t, 10), a_size(t));
    if (below(t, 8) == 0 && !cuCtxCreate_v2(&context, 0, 0)) {
        cuCtxPopCurrent_v2(NULL);
        if ((old = keep(t, CONTEXT, PLIM_CUDA_SUCCESS, context)))
            cuCtxDestroy_v2(old);
    }
    if (!cuCtxPushCurrent_v2(any(t, CONTEXT)))
        cuCtxPopCurrent_v2(&context);
}

static void kernels(struct thread *t)
{
    static const char not_code[4096];
    const struct cuda_dim3 grid = { (unsigned)below(t, 70000), (unsigned)below(t, 3), 1 };
    const struct cuda_dim3 block = { (unsigned)below(t, 1500), 1, (unsigned)below(t, 2) + 1 };
    void *module = NULL, *function = NULL, *none[1] = { NULL };
    cudaLaunchKernel(kernel, grid, block, none, a_size(t), any(t, STREAM));
    cudaLaunchKernel(any(t, DEVICE), grid, block, none, 0, any(t, STREAM));
    cuLaunchKernel(any(t, MODULE), 1, 1, 1, 1, 1, 1, 0, any(t, STREAM), none, NULL);
    void *old = keep(t, MODULE, cuModuleLoadData(&module, not_code), module);
    if (old)
        cuModuleUnload(old);
    cuModuleGetFunction(&function, any(t, MODULE), "name");
    cuFuncSetAttribute(any(t, MODULE), 8, (int)below(t, 1 << 20));
    cudaDeviceSynchronize();
}

static void (*const families[])(struct thread *) = { allocate, allocate, own_memory, copy,     copy,   fill,
                                                     fill,     streams,  events,     graphs,   graphs, pools,
                                                     mappings, users,    queries,    contexts, kernels };

/* --- threads --- */

static bool is_all(const unsigned char *bytes, size_t n, unsigned char value)
{
    while (n > 0 && bytes[n - 1] == value)
        n--;
    return n == 0;
}

static void *run(void *argument)
{
    struct thread *t = argument;
    memset(t->before, 'b', sizeof t->before);
    memset(t->after, 'a', sizeof t->after);
    cudaHostRegister(t->mine, sizeof t->mine, 0); /* makes a context current */
    if (cuStreamCreate(&t->stream, 0))
        abort();
    for (int i = 0; is_timed ? !atomic_load(&is_over) : i < N_CALLS; i++) {
        families[below(t, sizeof families / sizeof *families)](t);
        if (!is_all(t->before, sizeof t->before, 'b') || !is_all(t->after, sizeof t->after, 'a')) {
            fprintf(stderr, "memory of the program was written beyond its registration\n");
            abort();
        }
    }
    cudaHostUnregister(t->mine);
    return NULL;
}

/* The accounts are the sums of the records. */
static int check_ledger(void)
{
    int error;
    uint64_t charged = 0, pinned = 0;
    struct plim_ledger *ledger = plim_vgpu_ledger(&error);
    plim_ledger_lock(ledger);
    for (uint32_t i = 0; i < ledger->n_records; i++)
        if (ledger->record[i].is_used && ledger->record[i].kind == PLIM_KIND_PINNED)
            pinned += ledger->record[i].size;
        else if (ledger->record[i].is_used)
            charged += ledger->record[i].charged_bytes;
    const bool is_right =
        charged == ledger->card[0].used_bytes + ledger->card[1].used_bytes && pinned == ledger->pinned_bytes;
    plim_ledger_unlock(ledger);
    if (!is_right)
        fprintf(stderr, "the ledger does not add up\n");
    return is_right ? 0 : 1;
}

int main(int argc, char **argv)
{
    static struct thread threads[MAX_THREADS];
    const int seconds = argc > 1 ? atoi(argv[1]) : 0, n = argc > 2 ? atoi(argv[2]) : N_THREADS;
    const uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 0) : seconds ? (uint64_t)time(NULL) : 1;
    if (seconds < 0 || n < 1 || n > MAX_THREADS)
        return 2;
    setenv("PLIM_VGPU_RAW", "4096,4096", 1);
    __cudaRegisterFunction(NULL, kernel, NULL, "kernel", -1, NULL, NULL, NULL, NULL, NULL);
    if (cudaSetDevice(0))
        return 1;
    is_timed = seconds > 0;
    for (int i = 0; i < n; i++) {
        threads[i].random = seed * MAX_THREADS + (uint64_t)i;
        if (pthread_create(&threads[i].id, NULL, run, &threads[i]))
            return 1;
    }
    nanosleep(&(struct timespec){ seconds, 0 }, NULL);
    atomic_store(&is_over, true);
    for (int i = 0; i < n; i++)
        pthread_join(threads[i].id, NULL);
    printf("seed %llu: %d threads, %llu objects\n", (unsigned long long)seed, n, (unsigned long long)n_granted);
    return check_ledger();
}
