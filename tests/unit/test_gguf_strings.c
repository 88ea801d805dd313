/* SPDX-License-Identifier: MIT */
/* Stepping over strings four at a time comes to where stepping one by one comes to, whatever the strings are. */
#include "model/strings.h"
#include "unit.h"

enum { MOST_BYTES = 48 << 10, N_ROUNDS = 600 };

static unsigned char data[MOST_BYTES];

static void put_length(size_t at, uint64_t length, bool is_foreign)
{
    length = is_foreign ? __builtin_bswap64(length) : length;
    memcpy(data + at, &length, sizeof length);
}

/* One by one. */
static size_t walk(size_t size, uint64_t n, bool is_foreign, uint64_t *ret_n)
{
    size_t at = 0;
    for (*ret_n = 0; *ret_n < n && at + sizeof(uint64_t) <= size; ++*ret_n) {
        uint64_t length;
        memcpy(&length, data + at, sizeof length);
        length = is_foreign ? __builtin_bswap64(length) : length;
        if (length > size - at - sizeof length)
            break;
        at += sizeof length + length;
    }
    return at;
}

/* Strings of one kind: short as tokens, empty, long, with zeros inside that look like lengths, or no strings at all. */
static void fill(uint64_t *random, bool is_foreign)
{
    const uint64_t kind = random_below(random, 5);
    for (size_t i = 0; i < MOST_BYTES; i++)
        data[i] = (unsigned char)(kind == 3 ? random_below(random, 2) : 1 + random_below(random, 255));
    for (size_t at = 0; kind != 4 && at + sizeof(uint64_t) <= MOST_BYTES;) {
        const uint64_t length = random_below(random, kind == 1 ? 2 : kind == 2 ? 9000 : 20);
        put_length(at, length, is_foreign);
        at += sizeof(uint64_t) + length;
    }
}

static void assert_same(size_t size, uint64_t n, bool is_foreign)
{
    uint64_t n_expected, n_walked;
    const size_t expected = walk(size, n, is_foreign, &n_expected);
    assert_int_equal(plim_strings_walk(data, size, n, is_foreign, &n_walked), expected);
    assert_int_equal(n_walked, n_expected);
}

static void test_any_strings(void **state)
{
    uint64_t random = 1;
    (void)state;
    for (int i = 0; i < N_ROUNDS; i++) {
        const bool is_foreign = random_below(&random, 2);
        fill(&random, is_foreign);
        const size_t size = random_below(&random, 4) ? random_below(&random, MOST_BYTES + 1) : MOST_BYTES;
        uint64_t n;
        walk(size, UINT64_MAX, is_foreign, &n);
        assert_same(size, UINT64_MAX, is_foreign);
        assert_same(size, random_below(&random, n + 1), is_foreign);
        assert_same(size, n, is_foreign);
        assert_same(size, n ? n - 1 : 0, is_foreign);
    }
}

static void test_lengths_at_the_edge(void **state)
{
    static const uint64_t lengths[] = { UINT64_MAX, UINT64_MAX - 7, UINT64_MAX - MOST_BYTES, MOST_BYTES - 8,
                                        MOST_BYTES - 7 };
    (void)state;
    for (size_t i = 0; i < COUNT(lengths); i++)
        for (size_t at = 0; at < MOST_BYTES; at += MOST_BYTES / 8) {
            memset(data, 0, sizeof data);
            put_length(at, lengths[i], false);
            assert_same(MOST_BYTES, UINT64_MAX, false);
        }
    for (size_t size = 0; size < 32; size++)
        assert_same(size, UINT64_MAX, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_strings),
        cmocka_unit_test(test_lengths_at_the_edge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
