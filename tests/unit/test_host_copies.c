/* SPDX-License-Identifier: MIT */
/*
 * What the host copies off a card is what was written there, byte for byte, whatever its own memory held before; and
 * zeros that arrive in fresh memory take no room.
 */
#include "resident.h"
#include "unit.h"
#include "virtual.h"

#include <sys/mman.h>
#include <unistd.h>

enum { SUCCESS = 0, TO_DEVICE = 1, TO_HOST = 2, ON_DEVICE = 3, KIB = 1 << 10, MIB = 1 << 20, PAGE = 4096 };

static struct {
    int (*malloc)(void **, size_t);
    int (*free)(void *);
    int (*host)(void **, size_t);
    int (*host_free)(void *);
    int (*copy)(void *, const void *, size_t, int);
    int (*copy_async)(void *, const void *, size_t, int, void *);
    int (*copy_2d)(void *, size_t, const void *, size_t, size_t, size_t, int);
    int (*fill)(void *, int, size_t);
} cuda;

static uint64_t random_state;

static size_t draw(size_t below) { return (size_t)random_below(&random_state, below); }

static int set_up(void **state)
{
    (void)state;
    setenv("PLIM_VGPU_RAW", "4096", 1);
    void *runtime = open_library("libcudart.so.13");
    take(runtime, "cudaMalloc", &cuda.malloc);
    take(runtime, "cudaFree", &cuda.free);
    take(runtime, "cudaMallocHost", &cuda.host);
    take(runtime, "cudaFreeHost", &cuda.host_free);
    take(runtime, "cudaMemcpy", &cuda.copy);
    take(runtime, "cudaMemcpyAsync", &cuda.copy_async);
    take(runtime, "cudaMemcpy2D", &cuda.copy_2d);
    take(runtime, "cudaMemset", &cuda.fill);
    return 0;
}

static void *fresh(size_t size)
{
    void *start = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(start != MAP_FAILED);
    return start;
}

/* Zeros, noise, or zeros and a byte in each few pages. */
static void scribble(char *bytes, size_t size)
{
    const size_t kind = draw(3);
    memset(bytes, 0, size);
    for (size_t i = 0; kind == 1 && i < size; i++)
        bytes[i] = (char)draw(256);
    for (size_t i = draw(2 * PAGE); kind == 2 && i < size; i += draw(6 * PAGE))
        bytes[i] = 1;
}

enum { SIZE = 48 * PAGE };

/* One write to the card, and to the twin in memory of the host that shows what the card must hold. */
static void write_somewhere(char *card, char *twin, char *source)
{
    const size_t start = draw(SIZE), size = draw(SIZE - start) + 1, from = draw(SIZE - size + 1), kind = draw(4);
    if (kind == 0) {
        const int value = draw(2) ? (int)draw(256) : 0;
        assert_int_equal(cuda.fill(card + start, value, size), SUCCESS);
        memset(twin + start, value, size);
    } else if (kind == 1) {
        assert_int_equal(cuda.copy(card + start, card + from, size, ON_DEVICE), SUCCESS);
        memmove(twin + start, twin + from, size);
    } else {
        scribble(source, size);
        assert_int_equal(cuda.copy(card + start, source, size, TO_DEVICE), SUCCESS);
        memcpy(twin + start, source, size);
    }
}

/* Read a part back into memory that holds garbage or nothing. */
static void read_somewhere(const char *card, const char *twin, char *to, char *expected)
{
    const size_t start = draw(SIZE), size = draw(SIZE - start) + 1, at = draw(SIZE - size + 1), kind = draw(3);
    scribble(to, SIZE);
    memcpy(expected, to, SIZE);
    if (kind < 2) {
        memcpy(expected + at, twin + start, size);
        assert_int_equal(kind ? cuda.copy(to + at, card + start, size, TO_HOST)
                              : cuda.copy_async(to + at, card + start, size, TO_HOST, NULL),
                         SUCCESS);
    } else {
        const size_t pitch = 5000 + draw(PAGE), width = draw(5000) + 1, height = draw(SIZE / 10000) + 1;
        for (size_t y = 0; y < height; y++)
            memcpy(expected + y * pitch, twin + y * pitch, width);
        assert_int_equal(cuda.copy_2d(to, pitch, card, pitch, width, height, TO_HOST), SUCCESS);
    }
    assert_memory_equal(to, expected, SIZE);
}

static void test_what_was_written_arrives(void **state)
{
    char *card = NULL, *pinned = NULL, *twin = calloc(1, SIZE), *source = malloc(SIZE), *expected = malloc(SIZE);
    (void)state;
    random_state = random_seed();
    assert_int_equal(cuda.malloc((void **)&card, SIZE), SUCCESS);
    assert_int_equal(cuda.host((void **)&pinned, SIZE), SUCCESS);
    for (int round = 0; round < 300; round++) {
        char *pageable = fresh(SIZE);
        write_somewhere(card, twin, source);
        read_somewhere(card, twin, draw(2) ? pinned : pageable, expected);
        munmap(pageable, SIZE);
    }
    assert_int_equal(cuda.free(card), SUCCESS);
    assert_int_equal(cuda.host_free(pinned), SUCCESS);
    free(twin);
    free(source);
    free(expected);
}

static void test_zeros_take_no_room(void **state)
{
    enum { LARGE = 512 * MIB, LITTLE = 4 * MIB };
    char *card = NULL, *pinned = NULL, *pageable = fresh(LARGE);
    (void)state;
    assert_int_equal(cuda.malloc((void **)&card, LARGE), SUCCESS);
    assert_int_equal(cuda.host((void **)&pinned, LARGE), SUCCESS);
    const size_t pinned_before = resident_bytes(pinned), pageable_before = resident_bytes(pageable);
    for (int is_known = 0; is_known < 2; is_known++) { /* never written, and written with zeros */
        assert_int_equal(cuda.copy(pinned, card, LARGE, TO_HOST), SUCCESS);
        assert_int_equal(cuda.copy_2d(pageable, LARGE / 4, card, LARGE / 4, LARGE / 4 - PAGE / 2, 4, TO_HOST), SUCCESS);
        assert_true(resident_bytes(pinned) < pinned_before + LITTLE);
        assert_true(resident_bytes(pageable) < pageable_before + LITTLE);
        assert_int_equal(cuda.copy(card, pageable, LARGE, TO_DEVICE), SUCCESS);
        assert_int_equal(cuda.fill(card, 0, LARGE), SUCCESS);
    }
    assert_int_equal(cuda.fill(pinned, 0, LARGE), SUCCESS);
    assert_true(resident_bytes(pinned) < pinned_before + LITTLE);
    assert_int_equal(cuda.fill(card + LARGE / 2, 7, LARGE / 2), SUCCESS);
    assert_int_equal(cuda.copy(pinned, card, LARGE, TO_HOST), SUCCESS);
    assert_true(pinned[LARGE / 2 - 1] == 0 && pinned[LARGE / 2] == 7 && pinned[LARGE - 1] == 7);
    assert_true(resident_bytes(pinned) >= LARGE / 2);
    assert_int_equal(cuda.host_free(pinned), SUCCESS);
    assert_int_equal(cuda.free(card), SUCCESS);
    munmap(pageable, LARGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_was_written_arrives),
        cmocka_unit_test(test_zeros_take_no_room),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
