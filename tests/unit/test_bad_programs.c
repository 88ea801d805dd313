/* SPDX-License-Identifier: MIT */
/*
 * Wrong programs, each in a process of its own on two virtual cards. Each gets the error that NVIDIA's manuals name,
 * the virtual libraries do not crash, and afterwards the ledger adds up and holds nothing of the program.
 */
#include "unit.h"
#include "virtual.h"

#include "vgpu/core/ledger.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MIB = 1 << 20, CARD_MIB = 4096, CONTEXT_MIB = 300, N_CARDS = 2 };
enum {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    INVALID_CONFIGURATION = 9,
    OUT_OF_MEMORY = 2,
    NOT_INITIALIZED = 3,
    INVALID_DEVICE = 101,
    INVALID_CONTEXT = 201,
    INVALID_FUNCTION = 98,
    INVALID_HANDLE = 400,
};

typedef unsigned long long word;

static struct plim_ledger *ledger;

static struct {
    int (*malloc)(void **, size_t);
    int (*free)(void *);
    int (*host)(void **, size_t);
    int (*host_free)(void *);
    int (*host_register)(void *, size_t, unsigned);
    int (*host_unregister)(void *);
    int (*managed)(void **, size_t, unsigned);
    int (*copy)(void *, const void *, size_t, int, void *);
    int (*fill)(void *, int, size_t, void *);
    void (*enter)(void **, const char *, char *, const char *, int, void *, void *, void *, void *, int *);
    int (*launch)(const void *, word, unsigned, word, unsigned, void **, size_t, void *);
    int (*set_device)(int);
    int (*count)(int *);
    int (*synchronize)(void);
    int (*stream)(void **);
    int (*stream_destroy)(void *);
    int (*stream_wait)(void *);
    int (*stream_wait_event)(void *, void *, unsigned);
    int (*event)(void **);
    int (*event_destroy)(void *);
    int (*event_record)(void *, void *);
    int (*event_query)(void *);
    int (*event_wait)(void *);
    int (*event_elapsed)(float *, void *, void *);
    int (*graph_launch)(void *, void *);
    int (*last_error)(void);
    int (*init)(unsigned);
    int (*driver_alloc)(word *, size_t);
    int (*driver_free)(word);
    int (*get_device)(int *, int);
    int (*context_set)(void *);
    int (*reserve)(word *, size_t, size_t, word, word);
    int (*unreserve)(word, size_t);
    int (*create)(word *, size_t, const void *, word);
    int (*release)(word);
    int (*map)(word, size_t, size_t, word, word);
    int (*unmap)(word, size_t);
} cuda;

static void load(void)
{
    void *driver = open_library("libcuda.so.1"), *runtime = open_library("libcudart.so.13");
    take(runtime, "cudaMalloc", &cuda.malloc);
    take(runtime, "cudaFree", &cuda.free);
    take(runtime, "cudaMallocHost", &cuda.host);
    take(runtime, "cudaFreeHost", &cuda.host_free);
    take(runtime, "cudaHostRegister", &cuda.host_register);
    take(runtime, "cudaHostUnregister", &cuda.host_unregister);
    take(runtime, "cudaMallocManaged", &cuda.managed);
    take(runtime, "cudaMemcpyAsync", &cuda.copy);
    take(runtime, "cudaMemsetAsync", &cuda.fill);
    take(runtime, "cudaLaunchKernel", &cuda.launch);
    take(runtime, "__cudaRegisterFunction", &cuda.enter);
    take(runtime, "cudaSetDevice", &cuda.set_device);
    take(runtime, "cudaGetDeviceCount", &cuda.count);
    take(runtime, "cudaDeviceSynchronize", &cuda.synchronize);
    take(runtime, "cudaStreamCreate", &cuda.stream);
    take(runtime, "cudaStreamDestroy", &cuda.stream_destroy);
    take(runtime, "cudaStreamSynchronize", &cuda.stream_wait);
    take(runtime, "cudaStreamWaitEvent", &cuda.stream_wait_event);
    take(runtime, "cudaEventCreate", &cuda.event);
    take(runtime, "cudaEventDestroy", &cuda.event_destroy);
    take(runtime, "cudaEventRecord", &cuda.event_record);
    take(runtime, "cudaEventQuery", &cuda.event_query);
    take(runtime, "cudaEventSynchronize", &cuda.event_wait);
    take(runtime, "cudaEventElapsedTime", &cuda.event_elapsed);
    take(runtime, "cudaGraphLaunch", &cuda.graph_launch);
    take(runtime, "cudaGetLastError", &cuda.last_error);
    take(driver, "cuInit", &cuda.init);
    take(driver, "cuMemAlloc_v2", &cuda.driver_alloc);
    take(driver, "cuMemFree_v2", &cuda.driver_free);
    take(driver, "cuDeviceGet", &cuda.get_device);
    take(driver, "cuCtxSetCurrent", &cuda.context_set);
    take(driver, "cuMemAddressReserve", &cuda.reserve);
    take(driver, "cuMemAddressFree", &cuda.unreserve);
    take(driver, "cuMemCreate", &cuda.create);
    take(driver, "cuMemRelease", &cuda.release);
    take(driver, "cuMemMap", &cuda.map);
    take(driver, "cuMemUnmap", &cuda.unmap);
}

/* --- programs: each returns the number of failed expectations --- */

static int n_wrong;

static void expect_(int got, int wanted, const char *call, int line)
{
    if (got == wanted)
        return;
    n_wrong++;
    fprintf(stderr, "line %d: %s is %d, not %d\n", line, call, got, wanted);
}
#define EXPECT(call, wanted) expect_(call, wanted, #call, __LINE__)

static void pointers(void)
{
    static char mine[4096];
    void *p = NULL, *q = NULL, *pinned = NULL, *managed = NULL;
    EXPECT(cuda.malloc(&p, 10 * MIB), SUCCESS);
    EXPECT(cuda.free(p), SUCCESS);
    EXPECT(cuda.free(p), INVALID_VALUE);
    EXPECT(cuda.last_error(), INVALID_VALUE);
    EXPECT(cuda.last_error(), SUCCESS); /* it is not sticky */
    EXPECT(cuda.malloc(&p, 3), SUCCESS);
    EXPECT(cuda.free((char *)p + 1), INVALID_VALUE);
    EXPECT(cuda.free((char *)p + 256), INVALID_VALUE);
    EXPECT(cuda.free((char *)p + 2 * MIB), INVALID_VALUE);
    EXPECT(cuda.free(mine), INVALID_VALUE);
    EXPECT(cuda.free((void *)UINTPTR_MAX), INVALID_VALUE);
    EXPECT(cuda.host_free(p), INVALID_VALUE);
    EXPECT(cuda.host_free(mine), INVALID_VALUE);
    EXPECT(cuda.host(&pinned, 4096), SUCCESS);
    EXPECT(cuda.free(pinned), INVALID_VALUE);
    EXPECT(cuda.host_free((char *)pinned + 8), INVALID_VALUE);
    EXPECT(cuda.host_free(pinned), SUCCESS);
    EXPECT(cuda.host_free(pinned), INVALID_VALUE);
    EXPECT(cuda.managed(&managed, 4096, 1), SUCCESS);
    EXPECT(cuda.host_free(managed), INVALID_VALUE);
    EXPECT(cuda.free(managed), SUCCESS);
    EXPECT(cuda.free(managed), INVALID_VALUE);
    EXPECT(cuda.host_unregister(mine) != SUCCESS, true);
    EXPECT(cuda.host_register(NULL, 4096, 0), INVALID_VALUE);
    EXPECT(cuda.driver_free((word)(uintptr_t)p), SUCCESS);
    EXPECT(cuda.driver_free((word)(uintptr_t)p), INVALID_VALUE);
    EXPECT(cuda.driver_free(12345), INVALID_VALUE);
    EXPECT(cuda.copy(p, mine, 8, 1, NULL), INVALID_VALUE);
    EXPECT(cuda.fill(p, 0, 8, NULL), INVALID_VALUE);
    EXPECT(cuda.free(NULL), SUCCESS);
    EXPECT(cuda.malloc(NULL, 8), INVALID_VALUE);
    EXPECT(cuda.malloc(&q, 5 * MIB), SUCCESS); /* not freed: the driver does that at the end */
}

static void sizes(void)
{
    void *p = NULL;
    word address;
    EXPECT(cuda.malloc(&p, (size_t)1 << 60), OUT_OF_MEMORY);
    EXPECT(cuda.malloc(&p, SIZE_MAX), OUT_OF_MEMORY);
    EXPECT(cuda.malloc(&p, SIZE_MAX - 511), OUT_OF_MEMORY);
    EXPECT(cuda.malloc(&p, (size_t)CARD_MIB * MIB), OUT_OF_MEMORY);
    EXPECT(cuda.last_error(), OUT_OF_MEMORY);
    EXPECT(cuda.last_error(), SUCCESS);
    EXPECT(cuda.host(&p, (size_t)1 << 60), OUT_OF_MEMORY);
    EXPECT(cuda.managed(&p, (size_t)1 << 60, 1), OUT_OF_MEMORY);
    EXPECT(cuda.driver_alloc(&address, (size_t)1 << 60), OUT_OF_MEMORY);
    EXPECT(cuda.driver_alloc(&address, 0), INVALID_VALUE);
    EXPECT(cuda.reserve(&address, (size_t)1 << 60, 0, 0, 0), OUT_OF_MEMORY);
    EXPECT(cuda.malloc(&p, (size_t)(CARD_MIB - CONTEXT_MIB) * MIB), SUCCESS);
    EXPECT(cuda.malloc(&p, 1), OUT_OF_MEMORY);
}

static void devices(void)
{
    int n = 0, device;
    EXPECT(cuda.count(&n), SUCCESS);
    EXPECT(n, N_CARDS);
    EXPECT(cuda.set_device(N_CARDS), INVALID_DEVICE);
    EXPECT(cuda.set_device(-1), INVALID_DEVICE);
    EXPECT(cuda.get_device(&device, 99), INVALID_DEVICE);
    EXPECT(cuda.context_set((void *)&device), INVALID_CONTEXT);
}

static void streams_and_events(void)
{
    char mine[64] = { 0 };
    void *stream = NULL, *other = NULL, *event = NULL, *second = NULL, *p = NULL, *parameters[1] = { NULL };
    float ms;
    EXPECT(cuda.malloc(&p, 64), SUCCESS);
    EXPECT(cuda.stream(&stream), SUCCESS);
    EXPECT(cuda.event(&event), SUCCESS);
    EXPECT(cuda.event(&second), SUCCESS);
    EXPECT(cuda.event_query(event), SUCCESS); /* as documented for an event that was never recorded */
    EXPECT(cuda.event_elapsed(&ms, event, second), INVALID_HANDLE);
    EXPECT(cuda.event_record(event, stream), SUCCESS);
    EXPECT(cuda.event_destroy(event), SUCCESS);
    EXPECT(cuda.event_destroy(event), INVALID_HANDLE);
    EXPECT(cuda.event_record(event, stream), INVALID_HANDLE);
    EXPECT(cuda.event_query(event), INVALID_HANDLE);
    EXPECT(cuda.event_wait(event), INVALID_HANDLE);
    EXPECT(cuda.stream_wait_event(stream, event, 0), INVALID_HANDLE);
    EXPECT(cuda.event_elapsed(&ms, event, second), INVALID_HANDLE);
    EXPECT(cuda.event_wait(mine), INVALID_HANDLE);
    EXPECT(cuda.event_wait(stream), INVALID_HANDLE);
    EXPECT(cuda.stream_destroy(stream), SUCCESS);
    EXPECT(cuda.stream_destroy(stream), INVALID_HANDLE);
    EXPECT(cuda.stream_wait(stream), INVALID_HANDLE);
    EXPECT(cuda.event_record(second, stream), INVALID_HANDLE);
    EXPECT(cuda.copy(p, mine, 8, 1, stream), INVALID_HANDLE);
    EXPECT(cuda.fill(p, 0, 8, stream), INVALID_HANDLE);
    EXPECT(cuda.launch(&cuda, 1ull << 32 | 1, 1, 1ull << 32 | 1, 1, parameters, 0, NULL), INVALID_FUNCTION);
    cuda.enter(NULL, (const char *)&cuda, NULL, "kernel", -1, NULL, NULL, NULL, NULL, NULL);
    EXPECT(cuda.launch(&cuda, 1ull << 32 | 1, 1, 1ull << 32 | 1, 1, parameters, 0, stream), INVALID_HANDLE);
    EXPECT(cuda.launch(&cuda, 1ull << 32 | 1, 1, 1024ull << 32 | 1024, 1, parameters, 0, NULL), INVALID_CONFIGURATION);
    EXPECT(cuda.stream_wait(mine), INVALID_HANDLE);
    EXPECT(cuda.stream_destroy(mine), INVALID_HANDLE);
    EXPECT(cuda.stream_destroy((char *)stream + 1), INVALID_HANDLE);
    EXPECT(cuda.graph_launch(second, NULL) != SUCCESS, true);
    EXPECT(cuda.last_error() != SUCCESS, true);
    EXPECT(cuda.synchronize(), SUCCESS); /* the context is still valid */
    EXPECT(cuda.stream(&other), SUCCESS);
    EXPECT(cuda.stream_wait(other), SUCCESS);
}

static void mappings(void)
{
    const int prop[8] = { 1, 0, 1, 0 }, nowhere[8] = { 1, 0, 1, 99 };
    word space = 0, handle = 0, unused = 0;
    EXPECT(cuda.malloc((void *)&unused, 1), SUCCESS);
    EXPECT(cuda.create(&handle, 2 * MIB, nowhere, 0), INVALID_DEVICE);
    EXPECT(cuda.create(&handle, (size_t)1 << 60, prop, 0), OUT_OF_MEMORY);
    EXPECT(cuda.create(&handle, 3, prop, 0), INVALID_VALUE);
    EXPECT(cuda.create(&handle, 4 * MIB, prop, 0), SUCCESS);
    EXPECT(cuda.map(unused, 4 * MIB, 0, handle, 0), INVALID_VALUE);
    EXPECT(cuda.reserve(&space, 64 * MIB, 0, 0, 0), SUCCESS);
    EXPECT(cuda.map(space, 4 * MIB, 0, handle + 1, 0), INVALID_VALUE);
    EXPECT(cuda.map(space + 62 * MIB, 4 * MIB, 0, handle, 0), INVALID_VALUE);
    EXPECT(cuda.map(space, 8 * MIB, 0, handle, 0), INVALID_VALUE);
    EXPECT(cuda.map(space, 4 * MIB, 0, handle, 0), SUCCESS);
    EXPECT(cuda.map(space + 2 * MIB, 4 * MIB, 0, handle, 0), INVALID_VALUE);
    EXPECT(cuda.driver_free(space), INVALID_VALUE);
    EXPECT(cuda.unreserve(space, 64 * MIB), INVALID_VALUE);
    EXPECT(cuda.unmap(space, 2 * MIB), INVALID_VALUE);
    EXPECT(cuda.unmap(space + 4 * MIB, 4 * MIB), INVALID_VALUE);
    EXPECT(cuda.release(handle), SUCCESS);
    EXPECT(cuda.release(handle), INVALID_VALUE);
    EXPECT(cuda.release(77), INVALID_VALUE);
    EXPECT(cuda.unmap(space, 4 * MIB), SUCCESS);
    EXPECT(cuda.unmap(space, 4 * MIB), INVALID_VALUE);
    EXPECT(cuda.map(space, 4 * MIB, 0, handle, 0), INVALID_VALUE); /* freed with its last mapping */
    EXPECT(cuda.unreserve(space, 64 * MIB), SUCCESS);
    EXPECT(cuda.unreserve(space, 64 * MIB), INVALID_VALUE);
}

/*
 * CUDA does not work in a child that is forked after the first call: each call fails, and none frees memory of the
 * parent.
 */
static void forks(void)
{
    char mine[8] = { 0 };
    void *p = NULL, *q = NULL, *stream = NULL;
    int status = -1, device;
    word address;
    EXPECT(cuda.malloc(&p, 8 * MIB), SUCCESS);
    EXPECT(cuda.stream(&stream), SUCCESS);
    pid_t child = fork();
    if (child == 0) {
        n_wrong = 0;
        EXPECT(cuda.init(0), NOT_INITIALIZED);
        EXPECT(cuda.malloc(&q, 1), NOT_INITIALIZED);
        EXPECT(cuda.last_error(), NOT_INITIALIZED);
        EXPECT(cuda.free(p), NOT_INITIALIZED);
        EXPECT(cuda.copy(mine, p, 8, 2, NULL), NOT_INITIALIZED);
        EXPECT(cuda.fill(p, 0, 8, NULL), NOT_INITIALIZED);
        EXPECT(cuda.synchronize(), NOT_INITIALIZED);
        EXPECT(cuda.set_device(0), NOT_INITIALIZED);
        EXPECT(cuda.stream(&stream), NOT_INITIALIZED);
        EXPECT(cuda.host(&q, 4096), NOT_INITIALIZED);
        EXPECT(cuda.get_device(&device, 0), NOT_INITIALIZED);
        EXPECT(cuda.driver_alloc(&address, 1), NOT_INITIALIZED);
        _exit(n_wrong > 100 ? 100 : n_wrong);
    }
    waitpid(child, &status, 0);
    EXPECT(status, 0);
    EXPECT(cuda.free(p), SUCCESS);
}

static void *churn(void *seed)
{
    uint64_t random = 77 + (uint64_t)(uintptr_t)seed;
    void *held[8] = { NULL }, *stream = NULL, *event = NULL;
    uintptr_t n = 0;
    n += cuda.set_device((int)(uintptr_t)seed % N_CARDS) != SUCCESS;
    n += cuda.stream(&stream) != SUCCESS || cuda.event(&event) != SUCCESS;
    for (int i = 0; i < 400; i++) {
        const size_t k = (size_t)random_below(&random, COUNT(held));
        if (held[k]) {
            n += cuda.free(held[k]) != SUCCESS;
            held[k] = NULL;
        } else {
            const int status = cuda.malloc(&held[k], (size_t)random_below(&random, 8 * MIB) + 1);
            n += status != SUCCESS && status != OUT_OF_MEMORY;
        }
        int value = i, back = -1;
        if (held[k])
            n += cuda.copy(held[k], &value, 4, 1, stream) != SUCCESS ||
                 cuda.copy(&back, held[k], 4, 2, stream) != SUCCESS || back != i;
        n += cuda.event_record(event, stream) != SUCCESS || cuda.event_wait(event) != SUCCESS;
    }
    n += cuda.stream_destroy(stream) != SUCCESS || cuda.event_destroy(event) != SUCCESS;
    for (size_t k = 0; k < COUNT(held) / 2; k++) /* the rest is left behind */
        n += cuda.free(held[k]) != SUCCESS;
    return (void *)n;
}

static void threads(void)
{
    pthread_t all[64];
    for (uintptr_t i = 0; i < COUNT(all); i++)
        EXPECT(pthread_create(&all[i], NULL, churn, (void *)i), 0);
    for (size_t i = 0; i < COUNT(all); i++) {
        void *n = NULL;
        pthread_join(all[i], &n);
        EXPECT((int)(uintptr_t)n, 0);
    }
}

static void until_killed(void)
{
    for (uintptr_t seed = (uintptr_t)getpid();; seed++)
        EXPECT((int)(uintptr_t)churn((void *)seed), 0);
}

/* --- running them --- */

static pid_t start(void (*program)(void))
{
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        load();
        n_wrong = 0;
        program();
        _exit(n_wrong > 100 ? 100 : n_wrong);
    }
    assert_true(pid > 0);
    return pid;
}

static uint64_t round_up(uint64_t n, uint64_t unit) { return (n + unit - 1) / unit * unit; }

/* The accounts are the sums of the records. */
static void check_sums(void)
{
    uint64_t kinds[N_CARDS][PLIM_KIND_MAX_] = { 0 }, charged[N_CARDS] = { 0 }, pinned = 0;
    static uint64_t small[PLIM_LEDGER_MAX_PROCESSES][N_CARDS];
    memset(small, 0, sizeof small);
    plim_ledger_lock(ledger);
    for (uint32_t i = 0; i < ledger->n_records; i++) {
        const struct plim_ledger_record *r = &ledger->record[i];
        if (!r->is_used)
            continue;
        if (r->kind == PLIM_KIND_PINNED) {
            pinned += r->size;
            continue;
        }
        kinds[r->device][r->kind] += r->size;
        charged[r->device] += r->charged_bytes;
        if (r->kind == PLIM_KIND_ALLOC && r->charged_bytes == 0)
            small[r->process][r->device] += round_up(r->size, 512);
    }
    for (int p = 0; p < PLIM_LEDGER_MAX_PROCESSES; p++)
        for (int d = 0; d < N_CARDS; d++)
            charged[d] += round_up(small[p][d], 2 * MIB);
    for (int d = 0; d < N_CARDS; d++) {
        assert_int_equal(ledger->card[d].used_bytes, charged[d]);
        assert_memory_equal(ledger->card[d].kind_bytes, kinds[d], sizeof kinds[d]);
        assert_true(ledger->card[d].peak_bytes >= ledger->card[d].used_bytes);
        assert_true(ledger->card[d].peak_bytes <= ledger->card[d].total_bytes);
    }
    assert_int_equal(ledger->pinned_bytes, pinned);
    plim_ledger_unlock(ledger);
}

static void check_nothing_is_held(void)
{
    plim_ledger_reap(ledger);
    check_sums();
    for (int d = 0; d < N_CARDS; d++)
        assert_int_equal(ledger->card[d].used_bytes, 0);
    for (uint32_t i = 0; i < ledger->n_records; i++)
        assert_int_equal(ledger->record[i].is_used, 0);
}

static void run(void (*program)(void))
{
    int status;
    pid_t pid = start(program);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        fail_msg("the program %s %d", WIFEXITED(status) ? "ended with" : "was killed by signal",
                 WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
    check_sums();
    check_nothing_is_held();
}

static int set_up(void **state)
{
    char path[64];
    int fd = memfd_create("ledger", 0);
    (void)state;
    ledger = fd >= 0 ? plim_ledger_create(fd) : NULL;
    if (!ledger)
        return -1;
    ledger->n_cards = N_CARDS;
    for (int i = 0; i < N_CARDS; i++) {
        snprintf(ledger->card[i].name, sizeof ledger->card[i].name, "a card");
        ledger->card[i].total_bytes = (uint64_t)CARD_MIB * MIB;
        ledger->card[i].compute_capability = 89;
        ledger->card[i].context.bytes = (uint64_t)CONTEXT_MIB * MIB;
    }
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), fd);
    setenv("PLIM_VGPU_LEDGER", path, 1);
    unsetenv("CUDA_VISIBLE_DEVICES");
    return 0;
}

#define RUNS(program)                                                                                                  \
    static void test_##program(void **state)                                                                           \
    {                                                                                                                  \
        (void)state;                                                                                                   \
        run(program);                                                                                                  \
    }
RUNS(pointers)
RUNS(sizes)
RUNS(devices)
RUNS(streams_and_events)
RUNS(mappings)
RUNS(forks)
RUNS(threads)

/* Killed at any moment, also while it holds the lock of the ledger; other processes continue. */
static void test_killed_in_the_middle(void **state)
{
    (void)state;
    pid_t other = start(until_killed);
    for (int i = 0; i < 25; i++) {
        int status;
        pid_t pid = start(until_killed);
        nanosleep(&(struct timespec){ 0, 3000000 + i * 1370000 }, NULL);
        kill(pid, SIGKILL);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        plim_ledger_reap(ledger);
        check_sums();
        for (uint32_t r = 0; r < ledger->n_records; r++)
            assert_true(!ledger->record[r].is_used || ledger->record[r].pid != pid);
    }
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
    check_nothing_is_held();
    run(sizes); /* and the next program finds the cards empty */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pointers), cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_devices),  cmocka_unit_test(test_streams_and_events),
        cmocka_unit_test(test_mappings), cmocka_unit_test(test_forks),
        cmocka_unit_test(test_threads),  cmocka_unit_test(test_killed_in_the_middle),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
