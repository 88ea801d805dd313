/* SPDX-License-Identifier: MIT */
/*
 * Copies and fills that begin in memory which CUDA knows and end beyond it are refused and write nothing; boxes whose
 * sizes are empty, overlap or overflow end at once; nobody gets more host memory than a machine has.
 */
#include "unit.h"
#include "virtual.h"

#include <sys/mman.h>
#include <unistd.h>

enum { SUCCESS = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, ALREADY_REGISTERED = 712 };
enum { TO_DEVICE = 1, TO_HOST = 2, ON_DEVICE = 3, ANY = 4, KIB = 1 << 10, MIB = 1 << 20 };
static const size_t most = SIZE_MAX, tib = (size_t)1 << 40;

typedef unsigned long long word;

struct pitched {
    void *start;
    size_t pitch, width, height;
};
struct triple {
    size_t x, y, z;
};
struct copy_3d {
    void *from_array;
    struct triple from_at;
    struct pitched from;
    void *to_array;
    struct triple to_at;
    struct pitched to;
    struct triple extent;
    int kind;
};

static struct {
    int (*malloc)(void **, size_t);
    int (*free)(void *);
    int (*host)(void **, size_t);
    int (*host_flags)(void **, size_t, unsigned);
    int (*host_free)(void *);
    int (*host_register)(void *, size_t, unsigned);
    int (*host_unregister)(void *);
    int (*managed)(void **, size_t, unsigned);
    int (*copy)(void *, const void *, size_t, int);
    int (*copy_async)(void *, const void *, size_t, int, void *);
    int (*copy_peer)(void *, int, const void *, int, size_t);
    int (*copy_2d)(void *, size_t, const void *, size_t, size_t, size_t, int);
    int (*copy_3d)(const struct copy_3d *);
    int (*copy_batch)(void *const *, const void *const *, const size_t *, size_t, const void *, const size_t *, size_t,
                      void *);
    int (*fill)(void *, int, size_t);
    int (*fill_2d)(void *, size_t, int, size_t, size_t);
    int (*fill_3d)(struct pitched, int, struct triple);
    int (*prefetch)(const void *, size_t, word, unsigned, void *);
    int (*fill_8)(word, unsigned char, size_t);
    int (*fill_16)(word, unsigned short, size_t);
    int (*fill_32)(word, unsigned, size_t);
    int (*fill_rows)(word, size_t, unsigned, size_t, size_t);
    int (*fetch)(void *, word, size_t);
    int (*send)(word, const void *, size_t);
    int (*driver_host)(void **, size_t);
    int (*driver_host_flags)(void **, size_t, unsigned);
    int (*driver_managed)(word *, size_t, unsigned);
    int (*reserve)(word *, size_t, size_t, word, word);
    int (*create)(word *, size_t, const void *, word);
    int (*map)(word, size_t, size_t, word, word);
} cuda;

static int set_up(void **state)
{
    (void)state;
    setenv("PLIM_VGPU_RAW", "1024", 1);
    void *driver = open_library("libcuda.so.1"), *runtime = open_library("libcudart.so.13");
    take(runtime, "cudaMalloc", &cuda.malloc);
    take(runtime, "cudaFree", &cuda.free);
    take(runtime, "cudaMallocHost", &cuda.host);
    take(runtime, "cudaHostAlloc", &cuda.host_flags);
    take(runtime, "cudaFreeHost", &cuda.host_free);
    take(runtime, "cudaHostRegister", &cuda.host_register);
    take(runtime, "cudaHostUnregister", &cuda.host_unregister);
    take(runtime, "cudaMallocManaged", &cuda.managed);
    take(runtime, "cudaMemcpy", &cuda.copy);
    take(runtime, "cudaMemcpyAsync", &cuda.copy_async);
    take(runtime, "cudaMemcpyPeer", &cuda.copy_peer);
    take(runtime, "cudaMemcpy2D", &cuda.copy_2d);
    take(runtime, "cudaMemcpy3D", &cuda.copy_3d);
    take(runtime, "cudaMemcpyBatchAsync", &cuda.copy_batch);
    take(runtime, "cudaMemset", &cuda.fill);
    take(runtime, "cudaMemset2D", &cuda.fill_2d);
    take(runtime, "cudaMemset3D", &cuda.fill_3d);
    take(runtime, "cudaMemPrefetchAsync", &cuda.prefetch);
    take(driver, "cuMemsetD8_v2", &cuda.fill_8);
    take(driver, "cuMemsetD16_v2", &cuda.fill_16);
    take(driver, "cuMemsetD32_v2", &cuda.fill_32);
    take(driver, "cuMemsetD2D32_v2", &cuda.fill_rows);
    take(driver, "cuMemcpyDtoH_v2", &cuda.fetch);
    take(driver, "cuMemcpyHtoD_v2", &cuda.send);
    take(driver, "cuMemAllocHost_v2", &cuda.driver_host);
    take(driver, "cuMemHostAlloc", &cuda.driver_host_flags);
    take(driver, "cuMemAllocManaged", &cuda.driver_managed);
    take(driver, "cuMemAddressReserve", &cuda.reserve);
    take(driver, "cuMemCreate", &cuda.create);
    take(driver, "cuMemMap", &cuda.map);
    alarm(120); /* a call that does not return */
    return 0;
}

static void *card_memory(size_t size)
{
    void *p = NULL;
    assert_int_equal(cuda.malloc(&p, size), SUCCESS);
    return p;
}

static word number(const void *pointer) { return (word)(uintptr_t)pointer; }

/* --- the end of registered, pinned and managed memory --- */

enum { SIZE = 16, AROUND = 64 };

/* Every call that would write or read one byte, or one row, more than the `size` bytes at `at`. */
static void reach_beyond(char *at, size_t size)
{
    char *card = card_memory(1 * MIB), other[2 * SIZE] = { 0 };
    const struct copy_3d to = {
        .from = { other, SIZE, SIZE, 2 }, .to = { at, size, size, 1 }, .extent = { SIZE, 1, 2 }, .kind = ANY
    };
    const struct copy_3d from = {
        .from = { at, size, size, 1 }, .to = { card, SIZE, SIZE, 2 }, .extent = { SIZE, 1, 2 }, .kind = ANY
    };
    void *const batch_to[] = { at };
    const void *const batch_from[] = { card };
    const size_t beyond = size + 1;
    assert_int_equal(cuda.fill(at, 1, beyond), INVALID_VALUE);
    assert_int_equal(cuda.fill(at + size - 1, 1, 2), INVALID_VALUE);
    assert_int_equal(cuda.fill(at, 1, most), INVALID_VALUE);
    assert_int_equal(cuda.fill_2d(at, size, 1, 1, 2), INVALID_VALUE);
    assert_int_equal(cuda.fill_3d((struct pitched){ at, size, 1, 1 }, 1, (struct triple){ 1, 1, 2 }), INVALID_VALUE);
    assert_int_equal(cuda.fill_8(number(at), 1, beyond), INVALID_VALUE);
    assert_int_equal(cuda.fill_16(number(at), 1, size / 2 + 1), INVALID_VALUE);
    assert_int_equal(cuda.fill_32(number(at), 1, size / 4 + 1), INVALID_VALUE);
    assert_int_equal(cuda.fill_rows(number(at), size, 1, 1, 2), INVALID_VALUE);
    assert_int_equal(cuda.copy(at, card, beyond, TO_HOST), INVALID_VALUE);
    assert_int_equal(cuda.copy(at, card, beyond, ANY), INVALID_VALUE);
    assert_int_equal(cuda.copy(card, at, beyond, TO_DEVICE), INVALID_VALUE);
    assert_int_equal(cuda.copy(at + size - 1, other, 2, ANY), INVALID_VALUE);
    assert_int_equal(cuda.copy(other, at + size - 1, 2, ANY), INVALID_VALUE);
    assert_int_equal(cuda.copy_async(at, card, beyond, TO_HOST, NULL), INVALID_VALUE);
    assert_int_equal(cuda.copy_peer(at, 0, card, 0, beyond), INVALID_VALUE);
    assert_int_equal(cuda.copy_2d(at, size, card, SIZE, 1, 2, TO_HOST), INVALID_VALUE);
    assert_int_equal(cuda.copy_2d(card, SIZE, at, size, 1, 2, TO_DEVICE), INVALID_VALUE);
    assert_int_equal(cuda.copy_3d(&to), INVALID_VALUE);
    assert_int_equal(cuda.copy_3d(&from), INVALID_VALUE);
    assert_int_equal(cuda.copy_batch(batch_to, batch_from, &beyond, 1, NULL, NULL, 0, NULL), INVALID_VALUE);
    assert_int_equal(cuda.fetch(at, number(card), beyond), INVALID_VALUE);
    assert_int_equal(cuda.send(number(card), at, beyond), INVALID_VALUE);
    assert_int_equal(cuda.prefetch(at, beyond, 0, 0, NULL), INVALID_VALUE);
    assert_int_equal(cuda.free(card), SUCCESS);
}

/* The same calls up to the end. */
static void reach_the_end(char *at, size_t size)
{
    char *card = card_memory(1 * MIB), other[1] = { 'c' };
    assert_int_equal(cuda.fill(at, 'a', size), SUCCESS);
    assert_true(at[0] == 'a' && at[size - 1] == 'a');
    assert_int_equal(cuda.copy(card, at, size, TO_DEVICE), SUCCESS);
    assert_int_equal(cuda.fill_8(number(at), 'b', size), SUCCESS);
    assert_int_equal(at[size - 1], 'b');
    assert_int_equal(cuda.fetch(at, number(card), size), SUCCESS);
    assert_int_equal(at[size - 1], 'a');
    assert_int_equal(cuda.copy(at + size - 1, other, 1, ANY), SUCCESS);
    assert_int_equal(at[size - 1], 'c');
    assert_int_equal(cuda.fill_2d(at, size / 2, 'd', 1, 2), SUCCESS);
    assert_true(at[0] == 'd' && at[size / 2] == 'd' && at[1] == 'a');
    assert_int_equal(cuda.prefetch(at, size, 0, 0, NULL), SUCCESS);
    assert_int_equal(cuda.free(card), SUCCESS);
}

static void test_registered(void **state)
{
    char around[AROUND], expected[AROUND];
    (void)state;
    memset(around, 'N', sizeof around);
    memset(expected, 'N', sizeof expected);
    assert_int_equal(cuda.host_register(around + SIZE, SIZE, 0), SUCCESS);
    reach_beyond(around + SIZE, SIZE);
    assert_memory_equal(around, expected, sizeof around);
    reach_the_end(around + SIZE, SIZE);
    assert_memory_equal(around, expected, SIZE);
    assert_memory_equal(around + 2 * SIZE, expected, AROUND - 2 * SIZE);
    assert_int_equal(cuda.host_unregister(around + SIZE), SUCCESS);
}

static void test_pinned_and_managed(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        char *at = NULL;
        const char expected[4 * KIB] = { 0 };
        void *start = NULL;
        assert_int_equal(i ? cuda.managed(&start, SIZE, 1) : cuda.host(&start, SIZE), SUCCESS);
        at = start;
        reach_beyond(at, SIZE);
        assert_memory_equal(at, expected, sizeof expected); /* the page is there, but is not the program's */
        reach_the_end(at, SIZE);
        assert_memory_equal(at + SIZE, expected, sizeof expected - SIZE);
        assert_int_equal(i ? cuda.free(at) : cuda.host_free(at), SUCCESS);
    }
}

/* "Entirely registered": programs register a large buffer piece by piece. Allocations are not joined. */
static void test_neighbours(void **state)
{
    char around[AROUND] = { 0 };
    (void)state;
    assert_int_equal(cuda.host_register(around + 8, 8, 0), SUCCESS);
    assert_int_equal(cuda.host_register(around, 8, 0), SUCCESS);
    assert_int_equal(cuda.fill(around + 4, 'x', 8), SUCCESS);
    assert_memory_equal(around + 4, "xxxxxxxx\0", 9);
    assert_int_equal(cuda.fill(around + 4, 'y', 13), INVALID_VALUE);
    assert_int_equal(around[4], 'x');
    assert_int_equal(cuda.host_register(around + 12, 8, 0), ALREADY_REGISTERED);
    assert_int_equal(cuda.host_register(around + 15, 1, 0), ALREADY_REGISTERED);
    assert_int_equal(cuda.host_unregister(around), SUCCESS);
    assert_int_equal(cuda.host_register(around, 9, 0), ALREADY_REGISTERED); /* ends in the other one */
    assert_int_equal(cuda.host_unregister(around + 8), SUCCESS);

    enum { N = 8 };
    char *page[N];
    size_t n_neighbours = 0;
    for (size_t i = 0; i < N; i++)
        assert_int_equal(cuda.host((void **)&page[i], 4 * KIB), SUCCESS);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++)
            if (page[i] + 4 * KIB == page[j]) {
                n_neighbours++;
                assert_int_equal(cuda.fill(page[i], 1, 4 * KIB + 1), INVALID_VALUE);
            }
    for (size_t i = 0; i < N; i++)
        assert_int_equal(cuda.host_free(page[i]), SUCCESS);
    if (!n_neighbours)
        print_message("no two allocations are neighbours here\n");
}

static void test_device_memory(void **state)
{
    const int properties[8] = { 1, 0, 1, 0 };
    char *a = card_memory(2 * MIB), *b = card_memory(2 * MIB), *c = card_memory(2 * MIB);
    word space = 0, handle = 0;
    (void)state;
    assert_int_equal(cuda.fill(a, 1, 2 * MIB), SUCCESS);
    assert_int_equal(cuda.fill(a, 1, 2 * MIB + 1), INVALID_VALUE);
    assert_int_equal(cuda.copy(a + 2 * MIB - 4, b, 8, ON_DEVICE), INVALID_VALUE);
    assert_int_equal(cuda.free(b), SUCCESS);
    assert_int_equal(cuda.fill(a, 1, (size_t)(c - a) + 1), INVALID_VALUE); /* from one over a gap into another */
    assert_int_equal(cuda.reserve(&space, 16 * MIB, 0, 0, 0), SUCCESS);
    assert_int_equal(cuda.fill_8(space, 1, 1), INVALID_VALUE);
    assert_int_equal(cuda.create(&handle, 2 * MIB, properties, 0), SUCCESS);
    assert_int_equal(cuda.map(space, 2 * MIB, 0, handle, 0), SUCCESS);
    assert_int_equal(cuda.map(space + 2 * MIB, 2 * MIB, 0, handle, 0), SUCCESS);
    assert_int_equal(cuda.fill_8(space + MIB, 1, 3 * MIB), SUCCESS);
    assert_int_equal(cuda.fill_8(space + MIB, 1, 3 * MIB + 1), INVALID_VALUE);
    assert_int_equal(cuda.free(a), SUCCESS);
    assert_int_equal(cuda.free(c), SUCCESS);
}

/* --- boxes --- */

static void test_empty_boxes(void **state)
{
    char mine[8] = "aaaaaaa", *a = card_memory(1 * MIB);
    (void)state;
    const struct triple empty[] = { { 0, 1, most },    { 0, most, most }, { 1, 0, most },
                                    { most, 0, most }, { most, most, 0 }, { 0, 0, 0 } };
    for (size_t i = 0; i < COUNT(empty); i++) {
        assert_int_equal(cuda.fill_3d((struct pitched){ a, 0, 0, 0 }, 1, empty[i]), SUCCESS);
        assert_int_equal(cuda.fill_3d((struct pitched){ a, most, most, most }, 1, empty[i]), SUCCESS);
        const struct copy_3d copy = {
            .from = { mine, 8, 8, 1 }, .to = { a, 8, 8, 1 }, .extent = empty[i], .kind = TO_DEVICE
        };
        assert_int_equal(cuda.copy_3d(&copy), SUCCESS);
    }
    assert_int_equal(cuda.fill_2d(a, 1, 1, 0, most), SUCCESS);
    assert_int_equal(cuda.copy_2d(a, 0, mine, 0, 0, most, TO_DEVICE), SUCCESS);
    assert_int_equal(cuda.fill_rows(number(a), 0, 1, 0, most), SUCCESS);
    assert_int_equal(cuda.free(a), SUCCESS);
}

/* Layers upon each other, and sizes whose products overflow to a small number. */
static void test_impossible_boxes(void **state)
{
    char mine[8] = "aaaaaaa", *a = card_memory(1 * MIB);
    (void)state;
    assert_int_equal(cuda.fill_3d((struct pitched){ a, 0, 0, 0 }, 1, (struct triple){ 1, 1, most }), INVALID_VALUE);
    assert_int_equal(cuda.fill_3d((struct pitched){ a, 4, 4, 1 }, 1, (struct triple){ 4, 2, 4 }), INVALID_VALUE);
    assert_int_equal(cuda.fill_3d((struct pitched){ a, (size_t)1 << 32, 1, (size_t)1 << 32 }, 1,
                                  (struct triple){ 1, 1, (size_t)1 << 40 }),
                     INVALID_VALUE);
    assert_int_equal(cuda.fill_3d((struct pitched){ a, 4, 4, 2 }, 1, (struct triple){ 4, 2, (size_t)1 << 61 }),
                     INVALID_VALUE);
    assert_int_equal(cuda.fill_32(number(a), 1, (size_t)1 << 62), INVALID_VALUE);
    assert_int_equal(cuda.fill_2d(a, (size_t)1 << 63, 1, 1, 3), INVALID_VALUE);
    struct copy_3d copy = {
        .from = { mine, 4, 4, 1 }, .to = { a, 0, 4, 0 }, .extent = { 1, 1, most }, .kind = TO_DEVICE
    };
    assert_int_equal(cuda.copy_3d(&copy), INVALID_VALUE);
    copy.from.pitch = 0;
    assert_int_equal(cuda.copy_3d(&copy), INVALID_VALUE);
    copy.from.pitch = copy.to.pitch = 4;
    copy.to.height = copy.from.height = (size_t)1 << 62;
    assert_int_equal(cuda.copy_3d(&copy), INVALID_VALUE);
    copy.extent = (struct triple){ 1, 1, 1 };
    copy.to_at = (struct triple){ 0, 0, 1 }; /* 2^62 rows of 4 bytes further on: again at a */
    assert_int_equal(cuda.copy_3d(&copy), INVALID_VALUE);
    copy.to_at.z = 0;
    assert_int_equal(cuda.copy_3d(&copy), SUCCESS);
    assert_int_equal(cuda.free(a), SUCCESS);
}

/* Half of all bytes of the card, each a row: known values go at once, not row by row. */
static void test_very_many_rows(void **state)
{
    const size_t size = (size_t)512 * MIB;
    char *a = card_memory(size), back = 0;
    (void)state;
    assert_int_equal(cuda.fill(a + 1, 5, 1), SUCCESS);
    assert_int_equal(cuda.fill_2d(a, 2, 1, 1, size / 2), SUCCESS);
    assert_int_equal(cuda.copy_2d(a, 2, a + size / 2, 1, 1, size / 4, ON_DEVICE), SUCCESS);
    assert_int_equal(cuda.copy(&back, a + size - 2, 1, TO_HOST), SUCCESS);
    assert_int_equal(cuda.free(a), SUCCESS);
}

/* --- more than there is --- */

static void test_more_than_a_machine_has(void **state)
{
    char mine[SIZE];
    void *p = NULL, *q = NULL;
    word address = 0;
    (void)state;
    const size_t sizes[] = { 1024 * tib, 1024 * tib - 1, 65 * tib, 1024 * tib + 1, most, most - 4095 };
    for (size_t i = 0; i < COUNT(sizes); i++) {
        assert_int_equal(cuda.host(&p, sizes[i]), OUT_OF_MEMORY);
        assert_int_equal(cuda.host_flags(&p, sizes[i], 0), OUT_OF_MEMORY);
        assert_int_equal(cuda.driver_host(&p, sizes[i]), OUT_OF_MEMORY);
        assert_int_equal(cuda.driver_host_flags(&p, sizes[i], 0), OUT_OF_MEMORY);
        assert_int_equal(cuda.managed(&p, sizes[i], 1), OUT_OF_MEMORY);
        assert_int_equal(cuda.driver_managed(&address, sizes[i], 1), OUT_OF_MEMORY);
    }
    assert_int_equal(cuda.host_register(mine, 65 * tib, 0), OUT_OF_MEMORY);
    assert_int_equal(cuda.host_register(mine, most, 0), INVALID_VALUE); /* past the last address */
    /* A larger machine than this one is rehearsed all the same, up to all of its memory together. */
    assert_int_equal(cuda.host_register((void *)(16 * tib), 60 * tib, 0), SUCCESS);
    assert_int_equal(cuda.host(&p, 5 * tib), OUT_OF_MEMORY);
    assert_int_equal(cuda.managed(&p, 5 * tib, 1), OUT_OF_MEMORY);
    assert_int_equal(cuda.host_unregister((void *)(16 * tib)), SUCCESS);
    assert_int_equal(cuda.host(&p, tib / 4), SUCCESS);
    assert_int_equal(cuda.managed(&q, tib / 4, 1), SUCCESS);
    assert_int_equal(cuda.host_free(p), SUCCESS);
    assert_int_equal(cuda.free(q), SUCCESS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_registered),     cmocka_unit_test(test_pinned_and_managed),
        cmocka_unit_test(test_neighbours),     cmocka_unit_test(test_device_memory),
        cmocka_unit_test(test_empty_boxes),    cmocka_unit_test(test_impossible_boxes),
        cmocka_unit_test(test_very_many_rows), cmocka_unit_test(test_more_than_a_machine_has),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
