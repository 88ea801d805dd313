/* SPDX-License-Identifier: MIT */
/* Zeros are the same as memset() writes, and take no room where there were zeros before. */
#include "resident.h"
#include "unit.h"

#include "vgpu/values/zeros.h"

#include <sys/mman.h>

enum { MIB = 1 << 20, PAGE = 4096 };

static uint64_t random_state;

static size_t draw(size_t below) { return (size_t)random_below(&random_state, below); }

/* Pages of zeros, of noise, and of zeros but for one byte. */
static void scribble(char *bytes, size_t size)
{
    for (size_t at = 0; at < size; at += PAGE) {
        const size_t n = size - at < PAGE ? size - at : PAGE;
        const size_t kind = draw(3);
        memset(bytes + at, 0, n);
        for (size_t i = 0; kind == 1 && i < n; i++)
            bytes[at + i] = (char)draw(256);
        if (kind == 2)
            bytes[at + draw(n)] = 1;
    }
}

static void test_zeros_are_put_like_memset(void **state)
{
    enum { SIZE = 64 * PAGE };
    char *bytes = malloc(SIZE), *expected = malloc(SIZE);
    (void)state;
    random_state = random_seed();
    for (int round = 0; round < 400; round++) {
        scribble(bytes, SIZE);
        const size_t start = draw(3 * PAGE), size = draw(draw(2) ? SIZE - 3 * PAGE : 32);
        memcpy(expected, bytes, SIZE);
        memset(expected + start, 0, size);
        plim_zeros_put(bytes + start, size);
        assert_memory_equal(bytes, expected, SIZE);
    }
    free(bytes);
    free(expected);
}

static void test_zeros_are_found(void **state)
{
    enum { SIZE = 300 };
    char bytes[SIZE];
    (void)state;
    for (size_t start = 0; start < 20; start++)
        for (size_t size = 0; size + start <= SIZE; size++) {
            memset(bytes, 0, sizeof bytes);
            bytes[start + size < SIZE ? start + size : 0] = start + size < SIZE || start > 0;
            assert_true(plim_zeros_are(bytes + start, size));
            assert_int_equal(plim_zeros_prefix(bytes + start, size, 16), size);
            for (size_t i = 0; i < size; i += 7) {
                bytes[start + i] = 1;
                assert_false(plim_zeros_are(bytes + start, size));
                assert_int_equal(plim_zeros_prefix(bytes + start, size, 16), i / 16 * 16);
                bytes[start + i] = 0;
            }
        }
}

static void test_zeros_take_no_room(void **state)
{
    enum { SIZE = 64 * MIB };
    (void)state;
    char *bytes = mmap(NULL, SIZE + 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(bytes != MAP_FAILED);
    assert_int_equal(mprotect(bytes + PAGE + SIZE, PAGE, PROT_NONE), 0); /* a mapping of its own ... */
    assert_int_equal(mprotect(bytes, PAGE, PROT_NONE), 0);               /* ... with nothing beside it */
    bytes += PAGE;
    bytes[10 * MIB] = 1;
    plim_zeros_put(bytes, SIZE);
    assert_int_equal(bytes[10 * MIB], 0);
    assert_true(resident_bytes(bytes) <= 2 * MIB); /* the page that was written, at most a huge one */
    memset(bytes, 0, SIZE / 2);
    assert_true(resident_bytes(bytes) >= SIZE / 2);
    munmap(bytes - PAGE, SIZE + 2 * PAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_zeros_are_put_like_memset),
        cmocka_unit_test(test_zeros_are_found),
        cmocka_unit_test(test_zeros_take_no_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
