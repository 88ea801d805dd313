/* SPDX-License-Identifier: MIT */
/* Wrong and right calls of the virtual runtime, opened as programs do, from the folder in PLIM_TEST_VGPU. */
#include "unit.h"
#include "virtual.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MIB = 1 << 20, TOTAL_MIB = 1024 };
enum {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NOT_INITIALIZED = 3,
    INVALID_HANDLE = 400,
    NOT_SUPPORTED = 801,
    CAPTURE_UNSUPPORTED = 900
};

typedef unsigned long long word;

/* cudaPitchedPtr and cudaExtent */
struct pitched {
    void *start;
    size_t pitch, width, height;
};
struct extent {
    size_t width, height, depth;
};

static struct {
    int (*malloc)(void **, size_t);
    int (*malloc_3d)(struct pitched *, struct extent);
    int (*free)(void *);
    int (*info)(size_t *, size_t *);
    int (*last_error)(void);
    int (*stream)(void **);
    int (*stream_destroy)(void *);
    int (*stream_wait)(void *);
    int (*begin)(void *, int);
    int (*end)(void *, void **);
    int (*memcpy)(void *, const void *, size_t, int);
    int (*host)(void **, size_t);
    int (*host_free)(void *);
    int (*unknown)(void);
    int (*reserve)(word *, size_t, size_t, word, word);
    int (*unreserve)(word, size_t);
    int (*create)(word *, size_t, const void *, word);
    int (*release)(word);
    int (*map)(word, size_t, size_t, word, word);
    int (*unmap)(word, size_t);
} cuda;

static int set_up(void **state)
{
    char raw[32];
    (void)state;
    snprintf(raw, sizeof raw, "%d", TOTAL_MIB);
    setenv("PLIM_VGPU_RAW", raw, 1);
    void *driver = open_library("libcuda.so.1"), *runtime = open_library("libcudart.so.13");
    take(runtime, "cudaMalloc", &cuda.malloc);
    take(runtime, "cudaMalloc3D", &cuda.malloc_3d);
    take(runtime, "cudaFree", &cuda.free);
    take(runtime, "cudaMemGetInfo", &cuda.info);
    take(runtime, "cudaGetLastError", &cuda.last_error);
    take(runtime, "cudaStreamCreate", &cuda.stream);
    take(runtime, "cudaStreamDestroy", &cuda.stream_destroy);
    take(runtime, "cudaStreamSynchronize", &cuda.stream_wait);
    take(runtime, "cudaStreamBeginCapture", &cuda.begin);
    take(runtime, "cudaStreamEndCapture", &cuda.end);
    take(runtime, "cudaMemcpy", &cuda.memcpy);
    take(runtime, "cudaMallocHost", &cuda.host);
    take(runtime, "cudaFreeHost", &cuda.host_free);
    take(runtime, "cudaDeviceRegisterAsyncNotification", &cuda.unknown);
    take(driver, "cuMemAddressReserve", &cuda.reserve);
    take(driver, "cuMemAddressFree", &cuda.unreserve);
    take(driver, "cuMemCreate", &cuda.create);
    take(driver, "cuMemRelease", &cuda.release);
    take(driver, "cuMemMap", &cuda.map);
    take(driver, "cuMemUnmap", &cuda.unmap);
    return 0;
}

static size_t free_mib(void)
{
    size_t free_bytes = 0, total_bytes = 0;
    assert_int_equal(cuda.info(&free_bytes, &total_bytes), SUCCESS);
    assert_int_equal(total_bytes, (size_t)TOTAL_MIB * MIB);
    return free_bytes / MIB;
}

static void test_invalid_pointers(void **state)
{
    (void)state;
    char mine[64];
    void *p = NULL, *q = NULL;
    assert_int_equal(cuda.malloc(&p, 10 * MIB), SUCCESS);
    assert_int_equal(cuda.free((char *)p + 4096), INVALID_VALUE);
    assert_int_equal(cuda.free(mine), INVALID_VALUE);
    assert_int_equal(cuda.free((void *)8), INVALID_VALUE);
    assert_int_equal(cuda.free(p), SUCCESS);
    assert_int_equal(cuda.free(p), INVALID_VALUE);
    assert_int_equal(cuda.last_error(), INVALID_VALUE);
    assert_int_equal(cuda.last_error(), SUCCESS);
    assert_int_equal(cuda.free(NULL), SUCCESS);
    assert_int_equal(cuda.malloc(&q, (size_t)1 << 60), OUT_OF_MEMORY);
    assert_int_equal(cuda.malloc(&q, SIZE_MAX), OUT_OF_MEMORY);
    assert_int_equal(cuda.malloc(&q, 0), SUCCESS);
    assert_null(q);
    assert_int_equal(cuda.malloc(NULL, 1), INVALID_VALUE);
    assert_int_equal(cuda.host_free(mine), INVALID_VALUE);
    assert_int_equal(free_mib(), TOTAL_MIB);
}

static void test_copies_are_defined(void **state)
{
    (void)state;
    int numbers[4] = { 1, 2, 3, 4 }, others[4] = { 5, 6, 7, 8 };
    void *p = NULL, *pinned = NULL;
    assert_int_equal(cuda.malloc(&p, sizeof numbers), SUCCESS);
    assert_int_equal(cuda.memcpy(p, numbers, sizeof numbers, 1), SUCCESS);
    assert_int_equal(cuda.memcpy(others, p, sizeof others, 2), SUCCESS);
    assert_memory_equal(others, numbers, sizeof others);
    assert_int_equal(cuda.host(&pinned, 1 * MIB), SUCCESS);
    assert_int_equal(cuda.memcpy(pinned, numbers, sizeof numbers, 0), SUCCESS);
    assert_memory_equal(pinned, numbers, sizeof numbers);
    assert_int_equal(cuda.host_free(pinned), SUCCESS);
    assert_int_equal(cuda.host_free(pinned), INVALID_VALUE);
    assert_int_equal(cuda.free(p), SUCCESS);
}

/* cudaMalloc3D: rows of 1000 bytes take 1024, and 30 of them are charged. */
static void test_rows_of_a_box_are_padded(void **state)
{
    (void)state;
    size_t before = 0, after = 0, total = 0;
    struct pitched box = { 0 };
    assert_int_equal(cuda.info(&before, &total), SUCCESS);
    assert_int_equal(cuda.malloc_3d(&box, (struct extent){ 1000, 10, 3 }), SUCCESS);
    assert_non_null(box.start);
    assert_int_equal(box.pitch, 1024);
    assert_int_equal(box.width, 1000);
    assert_int_equal(box.height, 10);
    assert_int_equal(cuda.info(&after, &total), SUCCESS);
    assert_int_equal(before - after, 30 * 1024);
    assert_int_equal(cuda.free(box.start), SUCCESS);
    assert_int_equal(cuda.malloc_3d(NULL, (struct extent){ 1, 1, 1 }), INVALID_VALUE);
    assert_int_equal(cuda.malloc_3d(&box, (struct extent){ 1, SIZE_MAX, 2 }), OUT_OF_MEMORY);
    assert_int_equal(cuda.malloc_3d(&box, (struct extent){ 1, SIZE_MAX / 2, 1 }), OUT_OF_MEMORY);
    assert_int_equal(cuda.info(&after, &total), SUCCESS);
    assert_int_equal(after, before);
}

static void test_invalid_streams(void **state)
{
    (void)state;
    void *stream = NULL, *graph = NULL;
    char mine[64];
    assert_int_equal(cuda.stream(&stream), SUCCESS);
    assert_int_equal(cuda.stream_wait(stream), SUCCESS);
    assert_int_equal(cuda.begin(stream, 2), SUCCESS);
    assert_int_equal(cuda.stream_wait(stream), CAPTURE_UNSUPPORTED);
    assert_int_not_equal(cuda.end(stream, &graph), SUCCESS);
    assert_int_equal(cuda.stream_destroy(stream), SUCCESS);
    assert_int_equal(cuda.stream_wait(stream), INVALID_HANDLE);
    assert_int_equal(cuda.stream_destroy(stream), INVALID_HANDLE);
    assert_int_equal(cuda.stream_wait(mine), INVALID_HANDLE);
    assert_int_equal(cuda.stream_wait(NULL), SUCCESS);
}

static void test_mapped_memory_is_charged_until_it_is_unmapped(void **state)
{
    (void)state;
    const int prop[8] = { 1, 0, 1, 0 }; /* pinned, on device 0 */
    word address, handle;
    assert_int_equal(cuda.reserve(&address, (size_t)32 << 30, 0, 0, 0), SUCCESS);
    assert_int_equal(free_mib(), TOTAL_MIB);
    assert_int_equal(cuda.create(&handle, 1, prop, 0), INVALID_VALUE);
    assert_int_equal(cuda.create(&handle, (size_t)2 << 30, prop, 0), OUT_OF_MEMORY);
    assert_int_equal(cuda.create(&handle, 64 * MIB, prop, 0), SUCCESS);
    assert_int_equal(cuda.map(address + 1, 64 * MIB, 0, handle, 0), INVALID_VALUE);
    assert_int_equal(cuda.map(address, 64 * MIB, 0, handle, 0), SUCCESS);
    assert_int_equal(cuda.map(address, 64 * MIB, 0, handle, 0), INVALID_VALUE);
    assert_int_equal(cuda.release(handle), SUCCESS);
    assert_int_equal(cuda.release(handle), INVALID_VALUE);
    assert_int_equal(free_mib(), TOTAL_MIB - 64);
    assert_int_equal(cuda.unreserve(address, (size_t)32 << 30), INVALID_VALUE);
    assert_int_equal(cuda.unmap(address, 32 * MIB), INVALID_VALUE);
    assert_int_equal(cuda.unmap(address, 64 * MIB), SUCCESS);
    assert_int_equal(free_mib(), TOTAL_MIB);
    assert_int_equal(cuda.unreserve(address, (size_t)32 << 30), SUCCESS);
    assert_int_equal(cuda.unreserve(address, (size_t)32 << 30), INVALID_VALUE);
}

static void *churn(void *seed)
{
    uint64_t state = 77 + (uint64_t)(uintptr_t)seed;
    void *held[16] = { NULL };
    uintptr_t n_wrong = 0;
    for (int i = 0; i < 2000; i++) {
        const size_t k = random_below(&state, COUNT(held));
        if (held[k]) {
            n_wrong += cuda.free(held[k]) != SUCCESS;
            held[k] = NULL;
        } else {
            int status = cuda.malloc(&held[k], (size_t)random_below(&state, 4 * MIB) + 1);
            n_wrong += status != SUCCESS && status != OUT_OF_MEMORY;
        }
    }
    for (size_t k = 0; k < COUNT(held); k++)
        n_wrong += cuda.free(held[k]) != SUCCESS;
    return (void *)n_wrong;
}

static void test_64_threads(void **state)
{
    (void)state;
    pthread_t threads[64];
    for (uintptr_t i = 0; i < COUNT(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, churn, (void *)i), 0);
    for (size_t i = 0; i < COUNT(threads); i++) {
        void *n_wrong;
        pthread_join(threads[i], &n_wrong);
        assert_null(n_wrong);
    }
    assert_int_equal(free_mib(), TOTAL_MIB);
}

static void test_fork_after_the_first_call(void **state)
{
    (void)state;
    void *p = NULL;
    int status;
    assert_int_equal(cuda.malloc(&p, 8 * MIB), SUCCESS);
    pid_t child = fork();
    if (child == 0) {
        void *q = NULL;
        _exit(cuda.malloc(&q, 1) == NOT_INITIALIZED && cuda.free(p) == NOT_INITIALIZED ? 0 : 1);
    }
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    assert_int_equal(free_mib(), TOTAL_MIB - 8);
    assert_int_equal(cuda.free(p), SUCCESS);
}

static void test_missing_functions_are_reported(void **state)
{
    (void)state;
    assert_int_equal(cuda.unknown(), NOT_SUPPORTED);
    assert_int_equal(cuda.last_error(), NOT_SUPPORTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_invalid_pointers),
        cmocka_unit_test(test_copies_are_defined),
        cmocka_unit_test(test_rows_of_a_box_are_padded),
        cmocka_unit_test(test_invalid_streams),
        cmocka_unit_test(test_mapped_memory_is_charged_until_it_is_unmapped),
        cmocka_unit_test(test_64_threads),
        cmocka_unit_test(test_fork_after_the_first_call),
        cmocka_unit_test(test_missing_functions_are_reported),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
