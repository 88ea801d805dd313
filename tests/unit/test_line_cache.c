/* SPDX-License-Identifier: MIT */
/* Which texts are of one kind, and how many of a kind are read. */
#include "unit.h"

#include "diagnose/scan/line_cache.h"

static uint64_t hash_of(const char *text, size_t most, size_t *ret_n)
{
    char padded[512 + PLIM_LINE_CACHE_READ_AHEAD]; /* what is behind the text makes no difference */
    const size_t n = strlen(text);
    assert_in_range(n, 0, 512);
    memset(padded, '7', sizeof padded);
    memcpy(padded, text, n);
    return plim_line_cache_hash(padded, n, most, ret_n);
}

static bool is_alike(const char *a, const char *b)
{
    size_t n_a = 0, n_b = 0;
    const bool is_same = hash_of(a, SIZE_MAX, &n_a) == hash_of(b, SIZE_MAX, &n_b);
    assert_int_equal(n_a, strlen(a));
    assert_int_equal(n_b, strlen(b));
    return is_same;
}

static void test_figures_leave_no_trace(void **state)
{
    (void)state;
    static const char *const forms[] = { "%s",
                                         "%s left",
                                         "left %s",
                                         "left %s right",
                                         "a longer text with %s in it",
                                         "%s of %s at the same time",
                                         "step %s: loss %s, and it goes on for long" };
    static const char *const figures[] = {
        "0",  "17",       "1,234.50",       "2025-03-04", "3:4:5", "-2.25", "+10", "123456789012345678901234567890",
        "8.", "1/2/3/4/", "10:11:12.12345", "99999999"
    };
    char first[256], other[256];
    for (size_t i = 0; i < COUNT(forms); i++)
        for (size_t k = 0; k < COUNT(figures); k++)
            for (size_t l = 0; l < COUNT(figures); l++) {
                snprintf(first, sizeof first, forms[i], figures[k], figures[l]);
                snprintf(other, sizeof other, forms[i], figures[l], figures[0]);
                if (!is_alike(first, other) && !strpbrk(first, "+-") && !strpbrk(other, "+-"))
                    fail_msg("'%s' and '%s' are of two kinds", first, other);
            }
    assert_true(is_alike("loss -2.25", "loss 3.5")); /* a sign is seen where it stands next to other text */
}

static void test_other_text_is_of_another_kind(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",           "a",      "b",        "ab",     "ba",    "abcdefgh",  "abcdefghi", "abcdefg h", "bcdefgha",
        "abcdefg",    "abcd 1", "abcd 1 e", "1 abcd", "abc1d", "ab 1 cd 2", "ab 1 dc 2", "ab 1 c 2",  "out of memory",
        "out of time"
    };
    for (size_t i = 0; i < COUNT(texts); i++)
        for (size_t k = 0; k < COUNT(texts); k++)
            assert_int_equal(is_alike(texts[i], texts[k]), i == k);
}

static void test_a_text_ends_where_it_should(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t most, n;
    } cases[] = {
        { "abcdefghijkl", 5, 5 },  { "abcdefghijkl", 8, 8 }, { "abcdefghijkl", 40, 12 },   { "ab123456cd", 3, 9 },
        { "ab123456cd", 2, 2 },    { "ab12", 8, 4 },         { "1234567890123ab", 1, 14 }, { "", 8, 0 },
        { "abcdefgh1ijk", 9, 10 },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        size_t n = 0;
        hash_of(cases[i].text, cases[i].most, &n);
        if (n != cases[i].n)
            fail_msg("%zu of '%s': %zu, not %zu", cases[i].most, cases[i].text, n, cases[i].n);
    }
}

static struct plim_line_cache seen;

static void test_kinds_are_kept_until_others_come(void **state)
{
    (void)state;
    struct plim_line_kind group = { .group = &group };
    memset(&seen, 0, sizeof seen);
    for (uint64_t i = 1; i <= PLIM_LINE_CACHE_WAYS; i++) {
        assert_null(plim_line_cache_find(&seen, i));
        plim_line_cache_read(plim_line_cache_add(&seen, i, &group), i);
    }
    for (uint64_t i = 1; i <= PLIM_LINE_CACHE_WAYS; i++)
        assert_int_equal(plim_line_cache_find(&seen, i)->finding, -1);
    plim_line_cache_add(&seen, 77, &group); /* of the same place: the one that was read first goes */
    assert_null(plim_line_cache_find(&seen, 1));
    assert_non_null(plim_line_cache_find(&seen, 2));
    assert_non_null(plim_line_cache_find(&seen, 77));
}

/* How many of `n` texts, so many bytes apart, are read. */
static uint32_t count_reads(struct plim_line_kind *line, uint64_t from, uint32_t n, uint64_t apart)
{
    uint32_t reads = 0;
    for (uint32_t i = 0; i < n; i++)
        if (plim_line_cache_wants(line, from + i * apart)) {
            plim_line_cache_read(line, from + i * apart);
            reads++;
        }
    return reads;
}

static void test_few_of_many_are_read(void **state)
{
    (void)state;
    struct plim_line_kind group = { .group = &group }, one = { .group = &group };
    assert_int_equal(count_reads(&one, 0, PLIM_LINE_CACHE_IN_FULL, 100), PLIM_LINE_CACHE_IN_FULL);
    assert_in_range(count_reads(&one, 1000, 1000000, 100), 8, 12); /* 64 KiB, 128 KiB, ... of 100 MB */
    assert_int_equal(count_reads(&one, UINT64_C(1) << 40, 10, PLIM_LINE_CACHE_MOST_APART_BYTES),
                     10); /* rare ones all */
}

static void test_many_kinds_share_what_is_read(void **state)
{
    (void)state;
    enum { KINDS = 1000 };
    struct plim_line_kind group = { .group = &group };
    uint32_t reads = 0;
    for (uint32_t i = 0; i < KINDS; i++) {
        struct plim_line_kind one = { .group = &group };
        reads += count_reads(&one, i * 1000, 10, 100);
    }
    assert_in_range(reads, KINDS * PLIM_LINE_CACHE_LEAST_IN_FULL,
                    KINDS * PLIM_LINE_CACHE_LEAST_IN_FULL + PLIM_LINE_CACHE_GROUP_IN_FULL + KINDS / 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_figures_leave_no_trace),      cmocka_unit_test(test_other_text_is_of_another_kind),
        cmocka_unit_test(test_a_text_ends_where_it_should), cmocka_unit_test(test_kinds_are_kept_until_others_come),
        cmocka_unit_test(test_few_of_many_are_read),        cmocka_unit_test(test_many_kinds_share_what_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
