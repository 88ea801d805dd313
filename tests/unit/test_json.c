/* SPDX-License-Identifier: MIT */
/* The JSON reader by itself: strings to the byte, numbers, depth, and texts that end anywhere. */
#include "base/json.h"
#include "unit.h"

#include <math.h>

enum { MAX_TEXT = 8192 };

static struct plim_error error;
static char *bytes; /* of the text that is read, and not one more: the sanitizer sees what is read behind it */

static void start(struct plim_json *json, const char *text, size_t n)
{
    free(bytes);
    bytes = malloc(n ? n : 1);
    assert_non_null(bytes);
    memcpy(bytes, text, n);
    error = (struct plim_error){ 0 };
    plim_json_init(json, plim_cursor(bytes, n), &error);
}

static void test_strings(void **state)
{
    static const struct {
        const char *json, *text; /* NULL: refused */
    } rows[] = {
        { "\"\"", "" },
        { "\"a\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "a\"\\/\b\f\n\r\t" },
        { "\"\\u0041\\u00e9\\u20AC\"", "A\xc3\xa9\xe2\x82\xac" },
        { "\"\\ud83d\\ude00\"", "\xf0\x9f\x98\x80" },
        { "\"\\ud800\\udc00\\udbff\\udfff\"", "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf" },
        { "\"\\ud7ff\\ue000\"", "\xed\x9f\xbf\xee\x80\x80" },
        { "\"\\udc00\"", NULL }, /* a second half without the first */
        { "\"\\udfff\"", NULL },
        { "\"\\ud800\"", NULL },
        { "\"\\ud800x\"", NULL },
        { "\"\\ud800\\u0041\"", NULL },
        { "\"\\ud800\\ud800\"", NULL },
        { "\"\\ud800\\ue000\"", NULL },
        { "\"\\ud800\\", NULL }, /* ends anywhere */
        { "\"\\ud800\\u", NULL },
        { "\"\\ud800\\udc0", NULL },
        { "\"\\u12", NULL },
        { "\"\\u12g4\"", NULL },
        { "\"\\", NULL },
        { "\"\\x41\"", NULL },
        { "\"a", NULL },
        { "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80" },
        { "\"\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf\"", "\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf" },
        { "\"\xc0\x80\"", NULL }, /* not the shortest form */
        { "\"\xc1\xbf\"", NULL },
        { "\"\xe0\x9f\xbf\"", NULL },
        { "\"\xf0\x8f\xbf\xbf\"", NULL },
        { "\"\xed\xa0\x80\"", NULL }, /* surrogates */
        { "\"\xed\xbf\xbf\"", NULL },
        { "\"\xf4\x90\x80\x80\"", NULL }, /* above 10ffff */
        { "\"\xf5\x80\x80\x80\"", NULL },
        { "\"\x80\"", NULL },
        { "\"\xc3\"", NULL },
        { "\"\xe2\x82\"", NULL },
        { "\"\xc3", NULL },
        { "\"\xf0\x9f\x98", NULL },
        { "\"\x1f\"", NULL },
        { "\"\x7f\"", "\x7f" },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct plim_json json;
        struct plim_json_text text;
        start(&json, rows[i].json, strlen(rows[i].json));
        const int result = plim_json_string(&json, &text);
        if (!rows[i].text) {
            if (result == 0)
                fail_msg("row %zu is read", i);
            assert_true(error.what[0] != '\0');
            continue;
        }
        if (result < 0)
            fail_msg("row %zu: %s", i, error.what);
        assert_true(plim_json_is(&text, rows[i].text));
        assert_int_equal(plim_json_end(&json), 0);
    }
}

/* A string that is longer than what is kept is walked to its end, and is no name that its beginning would be. */
static void test_long_strings(void **state)
{
    static char text[MAX_TEXT], name[MAX_TEXT];
    (void)state;
    for (size_t n = PLIM_MAX_JSON_TEXT_BYTES - 4; n < PLIM_MAX_JSON_TEXT_BYTES + 4; n++)
        for (size_t width = 1; width <= 4; width++) {
            static const char *const last[] = { "", "x", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80" };
            struct plim_json json;
            struct plim_json_text found;
            const size_t length = (size_t)sprintf(text, "\"%0*d%s\"", (int)n, 0, last[width]);
            memset(name, '0', n);
            strcpy(name + n, last[width]);
            start(&json, text, length);
            assert_int_equal(plim_json_string(&json, &found), 0);
            assert_int_equal(found.is_cut, n + width > PLIM_MAX_JSON_TEXT_BYTES);
            assert_true(found.length <= PLIM_MAX_JSON_TEXT_BYTES);
            assert_int_equal(plim_json_is(&found, name), !found.is_cut);
            name[found.length] = '\0';
            assert_int_equal(plim_json_is(&found, name), !found.is_cut);
            assert_int_equal(plim_json_end(&json), 0);
        }
}

/* Plain characters are read several at a time: a character that is not plain, at any place among them. */
static void test_places(void **state)
{
    static const struct {
        const char *json, *text; /* NULL: refused */
    } rows[] = {
        { "\x7f", "\x7f" },
        { " ", " " },
        { "!", "!" },
        { "#", "#" },
        { "[", "[" },
        { "]", "]" },
        { "\\\"", "\"" },
        { "\\\\", "\\" },
        { "\\u00e9", "\xc3\xa9" },
        { "\xc3\xa9", "\xc3\xa9" },
        { "\x1f", NULL },
        { "\x01", NULL },
        { "\x80", NULL },
        { "\xff", NULL },
        { "\xa0", NULL },
        { "\xa2", NULL },
        { "\xdc", NULL },
        { "\\x", NULL },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        for (int before = 0; before < 20; before++)
            for (int after = 0; after < 20; after++) {
                char text[64], wanted[64];
                struct plim_json json;
                struct plim_json_text found;
                const int n = snprintf(text, sizeof text, "\"%.*s%s%.*s\"", before, "abcdefghijklmnopqrst",
                                       rows[i].json, after, "ABCDEFGHIJKLMNOPQRST");
                start(&json, text, (size_t)n);
                const int result = plim_json_string(&json, &found);
                assert_int_equal(result == 0, rows[i].text != NULL);
                if (result < 0) {
                    assert_int_equal(error.at, 1 + before);
                    continue;
                }
                snprintf(wanted, sizeof wanted, "%.*s%s%.*s", before, "abcdefghijklmnopqrst", rows[i].text, after,
                         "ABCDEFGHIJKLMNOPQRST");
                assert_true(plim_json_is(&found, wanted));
                assert_int_equal(plim_json_end(&json), 0);
            }
}

static void test_numbers(void **state)
{
    static const struct {
        const char *json;
        int type; /* -1: refused */
        double value;
    } rows[] = {
        { "0", PLIM_JSON_UNSIGNED, 0 },
        { "-0", PLIM_JSON_UNSIGNED, 0 },
        { "-1", PLIM_JSON_SIGNED, -1 },
        { "1.5", PLIM_JSON_REAL, 1.5 },
        { "-2.5", PLIM_JSON_REAL, -2.5 },
        { "-1e2", PLIM_JSON_REAL, -100 },
        { "25e-1", PLIM_JSON_REAL, 2.5 },
        { "1E+3", PLIM_JSON_REAL, 1000 },
        { "1e99999999999999999999999999", PLIM_JSON_REAL, INFINITY },
        { "1e-99999999999999999999999999", PLIM_JSON_REAL, 0 },
        { "-1e9223372036854775807", PLIM_JSON_REAL, -INFINITY },
        { "18446744073709551616", PLIM_JSON_REAL, 18446744073709551616.0 },
        { "-9223372036854775809", PLIM_JSON_REAL, -9223372036854775808.0 },
        { "01", -1, 0 },
        { "-", -1, 0 },
        { "1.", -1, 0 },
        { ".5", -1, 0 },
        { "1e", -1, 0 },
        { "1e+", -1, 0 },
        { "+1", -1, 0 },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct plim_json json;
        struct plim_json_number number = { .type = PLIM_JSON_REAL };
        start(&json, rows[i].json, strlen(rows[i].json));
        const int result = plim_json_number(&json, &number);
        assert_int_equal(result == 0, rows[i].type >= 0);
        if (result < 0)
            continue;
        assert_int_equal(number.type, rows[i].type);
        const double value = number.type == PLIM_JSON_REAL     ? number.f
                             : number.type == PLIM_JSON_SIGNED ? (double)number.i
                                                               : (double)number.u;
        assert_true(value == rows[i].value);
    }
}

static void test_whole_numbers(void **state)
{
    static const struct {
        const char *json;
        bool is_read;
        uint64_t value;
    } rows[] = {
        { "18446744073709551615", true, UINT64_MAX },
        { "18446744073709551616", false, 0 },
        { "99999999999999999999", false, 0 },
        { "0", true, 0 },
        { "00", false, 0 },
        { "-1", false, 0 },
        { "1.0", false, 0 },
        { "1e0", false, 0 },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct plim_json json;
        uint64_t value = 7;
        start(&json, rows[i].json, strlen(rows[i].json));
        assert_int_equal(plim_json_u64(&json, &value) == 0, rows[i].is_read);
        assert_true(value == (rows[i].is_read ? rows[i].value : 7));
    }
}

/* Exactly so deep, and not one deeper; an object counts as an array does. */
static void test_depth(void **state)
{
    static char text[MAX_TEXT];
    (void)state;
    for (int depth = PLIM_MAX_JSON_DEPTH; depth <= PLIM_MAX_JSON_DEPTH + 1; depth++)
        for (int is_object = 0; is_object < 2; is_object++) {
            struct plim_json json;
            size_t n = 0;
            for (int i = 0; i < depth; i++)
                n += (size_t)sprintf(text + n, "%s", is_object ? "{\"a\":" : "[");
            n += (size_t)sprintf(text + n, "1");
            for (int i = 0; i < depth; i++)
                text[n++] = is_object ? '}' : ']';
            start(&json, text, n);
            assert_int_equal(plim_json_skip(&json), depth > PLIM_MAX_JSON_DEPTH ? PLIM_E_TOO_BIG : 0);
        }
}

static void test_what_is_no_json(void **state)
{
    static const char *const rows[] = { "[1,]", "[,1]", "[1 2]", "{\"a\":1,}", "{\"a\" 1}", "{a:1}", "[1",
                                        "tru",  "nul",  "]",     "",           "[1}",       "'a'",   "{\"a\":}" };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct plim_json json;
        start(&json, rows[i], strlen(rows[i]));
        const bool is_read = plim_json_skip(&json) == 0 && plim_json_end(&json) == 0;
        if (is_read)
            fail_msg("'%s' is read", rows[i]);
        assert_true(error.what[0] != '\0');
    }
    struct plim_json json;
    start(&json, "[1] x", 5);
    assert_int_equal(plim_json_skip(&json), 0);
    assert_int_equal(plim_json_end(&json), PLIM_E_CORRUPT);
    assert_int_equal(error.at, 4);
}

static int free_bytes(void **state)
{
    (void)state;
    free(bytes);
    bytes = NULL;
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_strings),         cmocka_unit_test(test_long_strings),  cmocka_unit_test(test_places),
        cmocka_unit_test(test_numbers),         cmocka_unit_test(test_whole_numbers), cmocka_unit_test(test_depth),
        cmocka_unit_test(test_what_is_no_json),
    };
    return cmocka_run_group_tests(tests, NULL, free_bytes);
}
