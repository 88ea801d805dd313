/* SPDX-License-Identifier: MIT */
#include "base/text.h"
#include "base/units.h"
#include "unit.h"

static void test_sizes_that_are_read(void **state)
{
    static const struct {
        const char *text;
        uint64_t bytes;
    } rows[] = {
        { "0", 0 },
        { "1", 1 },
        { "1024", 1024 },
        { "512b", 512 },
        { "1k", 1024 },
        { "1KB", 1024 },
        { "1KiB", 1024 },
        { "512m", 512 * PLIM_MIB },
        { "8192MiB", 8 * PLIM_GIB },
        { "8G", 8 * PLIM_GIB },
        { "8GB", 8 * PLIM_GIB },
        { "8GiB", 8 * PLIM_GIB },
        { "8 gib", 8 * PLIM_GIB },
        { "7.5GiB", 15 * PLIM_GIB / 2 },
        { ".5G", PLIM_GIB / 2 },
        { "1.", 1 },
        { "0.001k", 1 },
        { "1.999999999g", 2147483646 },
        { "2T", 2048 * PLIM_GIB },
        { "0.5TiB", 512 * PLIM_GIB },
        { "0.000000001T", 1099 },
        { "8388607TiB", 8388607ull << 40 },
        { "8589934591GiB", 8589934591ull << 30 },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint64_t bytes = 77;
        if (!plim_size_parse(rows[i].text, &bytes) || bytes != rows[i].bytes)
            fail_msg("'%s': %llu, expected %llu", rows[i].text, (unsigned long long)bytes,
                     (unsigned long long)rows[i].bytes);
    }
}

static void test_sizes_that_are_refused(void **state)
{
    static const char *const rows[] = { "",
                                        " ",
                                        "G",
                                        "GiB",
                                        ".",
                                        ".G",
                                        "-1",
                                        "+1",
                                        "1e9",
                                        "0x10",
                                        "1,5G",
                                        "8GiBs",
                                        "8  G",
                                        " 8G",
                                        "8GiB ",
                                        "8 GiB free",
                                        "8388608TiB",
                                        "8589934592GiB",
                                        "nan",
                                        "inf",
                                        "1.2.3",
                                        "9223372036854775808",
                                        "1 K B",
                                        "1.0000000000G",
                                        "8PiB",
                                        "8Gi",
                                        "1000000000000000000",
                                        "99999999999999999999999" };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint64_t bytes = 77;
        if (plim_size_parse(rows[i], &bytes) || bytes != 77)
            fail_msg("'%s' is read as %llu", rows[i], (unsigned long long)bytes);
    }
}

static void test_sizes_that_are_written(void **state)
{
    static const struct {
        uint64_t bytes;
        const char *text;
    } rows[] = {
        { 0, "0 B" },
        { 1023, "1023 B" },
        { 1024, "1.00 KiB" },
        { 1536, "1.50 KiB" },
        { 271056896, "258.5 MiB" },
        { PLIM_GIB - 1, "1.00 GiB" },
        { 1000 * PLIM_MIB, "1000 MiB" },
        { 5433149030, "5.06 GiB" },
        { UINT64_MAX, "16.00 EiB" },
    };
    char text[PLIM_SIZE_TEXT];
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_string_equal(plim_size_text(text, rows[i].bytes), rows[i].text);
    assert_string_equal(plim_size_text_signed(text, 1095216660), "+1.02 GiB");
    assert_string_equal(plim_size_text_signed(text, -(int64_t)(300 * PLIM_MIB)), "-300.0 MiB");
    assert_string_equal(plim_size_text_signed(text, INT64_MIN), "-8.00 EiB");
    assert_string_equal(plim_size_text_signed(text, 0), "+0 B");
}

/* What is written is read back within a half of its last place. */
static void test_round_trip(void **state)
{
    uint64_t random = random_seed();
    (void)state;
    for (int i = 0; i < 20000; i++) {
        char text[PLIM_SIZE_TEXT];
        uint64_t bytes = random_next(&random) >> (15 + random_below(&random, 49)), again = 0;
        assert_true(strlen(plim_size_text(text, bytes)) < PLIM_SIZE_TEXT);
        if (!plim_size_parse(text, &again))
            fail_msg("'%s' is not read", text);
        assert_true((again > bytes ? again - bytes : bytes - again) <= bytes / 180);
    }
}

static void test_alignment(void **state)
{
    (void)state;
    assert_int_equal(plim_align_up(0, 32), 0);
    assert_int_equal(plim_align_up(1, 32), 32);
    assert_int_equal(plim_align_up(32, 32), 32);
    assert_int_equal(plim_align_up(33, 24), 48);
}

static void test_decimals(void **state)
{
    static const struct {
        const char *text;
        double value;
        size_t length;
    } rows[] = {
        { "0", 0, 1 },    { "7.63;7.5", 7.63, 4 }, { "-0.25", -0.25, 5 }, { "3,1", 3, 1 },
        { ".5", 0.5, 2 }, { "4.", 4, 2 },          { "1008", 1008, 4 },   { "1e3", 1, 1 },
        { "", 0, 0 },     { "-", 0, 0 },           { ".", 0, 0 },         { "nan", 0, 0 },
        { " 1", 0, 0 },   { "0x10", 0, 1 },        { "1.2.3", 1.2, 3 },   { "6.2308", 6.2308, 6 },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *end;
        assert_true(plim_decimal(rows[i].text, &end) == rows[i].value);
        assert_int_equal(end - rows[i].text, rows[i].length);
        assert_true(plim_decimal(rows[i].text, NULL) == rows[i].value);
    }
    assert_true(plim_decimal("0.33333333333333333333333333333333333333", NULL) > 0.333);
}

static void test_slips(void **state)
{
    static const struct {
        const char *a, *b;
        bool is_near;
    } rows[] = {
        { "fit", "fit", true },
        { "fti", "fit", true },
        { "ft", "fit", true },
        { "fitt", "fit", true },
        { "fix", "fit", true },
        { "tif", "fit", false },
        { "", "fit", false },
        { "", "a", true },
        { "", "", true },
        { "cadrs", "cards", true },
        { "crds", "cards", true },
        { "rehaers", "rehearse", false },
        { "rehaerse", "rehearse", true },
        { "rehearses!", "rehearse", true },
        { "rehearsal!!", "rehearse", false },
    };
    char longest[65];
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_int_equal(plim_text_is_near(rows[i].a, rows[i].b), rows[i].is_near);
        assert_int_equal(plim_text_is_near(rows[i].b, rows[i].a), rows[i].is_near);
    }
    memset(longest, 'x', sizeof longest - 1);
    longest[64] = '\0';
    assert_false(plim_text_is_near(longest, longest));
    assert_true(plim_text_is_near(longest + 1, longest + 1));
}

static void test_spans(void **state)
{
    static const struct {
        const char *text;
        int64_t seconds; /* -1: refused */
        const char *written;
    } rows[] = {
        { "0", 0, "0 s" },
        { "90", 90, "90 s" },
        { "90s", 90, "90 s" },
        { "10m", 600, "10 min" },
        { "10 min", 600, "10 min" },
        { "2h", 7200, "2 h 0 min" },
        { "1.5H", 5400, "90 min" },
        { "1h30m", 5400, "90 min" },
        { "2d4h", 187200, "2.2 days" },
        { "", -1, "" },
        { "h", -1, "" },
        { "-2h", -1, "" },
        { "2x", -1, "" },
        { "2h-1m", -1, "" },
        { "5m3x", -1, "" },
        { "2 hours", -1, "" },
        { "99999999999999d", -1, "" },
        { "nan", -1, "" },
    };
    char text[PLIM_SPAN_TEXT_BYTES];
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        int64_t seconds = -1;
        assert_int_equal(plim_span_parse(rows[i].text, &seconds), rows[i].seconds >= 0);
        assert_int_equal(seconds, rows[i].seconds);
        if (seconds >= 0)
            assert_string_equal(plim_span_text(text, seconds), rows[i].written);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes_that_are_read),
        cmocka_unit_test(test_sizes_that_are_refused),
        cmocka_unit_test(test_sizes_that_are_written),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_alignment),
        cmocka_unit_test(test_decimals),
        cmocka_unit_test(test_slips),
        cmocka_unit_test(test_spans),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
