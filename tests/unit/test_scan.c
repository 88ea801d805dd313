/* SPDX-License-Identifier: MIT */
/* Parts of the scan by themselves: decoding, the order of findings, and what one expression may take. */
#include "diagnose/order.h"
#include "diagnose/scan/decode.h"
#include "diagnose/scan/patterns/match_limits.h"
#include "diagnose/scan/patterns/pattern.h"
#include "unit.h"

/* --- decoding --- */

enum { MAX_TEXT = 4096 };

/* The text of these bytes, given in pieces of n at most, through a buffer of so many bytes. */
static const char *decoded(const char *bytes, size_t length, size_t n, size_t room)
{
    static char text[MAX_TEXT];
    struct plim_decoder decoder;
    size_t taken = 0, n_text = 0;
    plim_decoder_init(&decoder);
    for (int i = 0; i < 100000; i++) {
        char *out = malloc(room); /* and not one byte more */
        size_t n_out = 0, most = length - taken < n ? length - taken : n;
        assert_non_null(out);
        const size_t before = taken;
        taken += plim_decode(&decoder, bytes + taken, most, taken + most == length, out, room, &n_out);
        assert_true(n_out <= room && n_text + n_out < sizeof text);
        memcpy(text + n_text, out, n_out);
        n_text += n_out;
        free(out);
        if (n_out == 0 && taken == before)
            break;
    }
    text[n_text] = '\0';
    return text;
}

static void assert_decoded(const char *bytes, size_t length, const char *text)
{
    for (size_t n = 1; n <= length; n += 1 + n / 4)
        for (size_t room = 128; room < 160; room += 7)
            assert_string_equal(decoded(bytes, length, n, room), text);
}

static void test_terminal_sequences(void **state)
{
    static const struct {
        const char *bytes, *text;
    } rows[] = {
        { "plain text", "plain text" },
        { "\x1b[31mred\x1b[0m text", "red text" },
        { "\x1b]0;a title\x07text", "text" },
        { "\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link" },
        { "\x1b(Btext", "text" },
        { "a\x1b[2Kb", "ab" },
        { "a \x1b] stray one\nCUDA out of memory", "a \nCUDA out of memory" }, /* a line end is in no sequence */
        { "a \x1b[ stray one\nCUDA out of memory", "a tray one\nCUDA out of memory" },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_decoded(rows[i].bytes, strlen(rows[i].bytes), rows[i].text);
    char bytes[1024] = "\x1b]";
    memset(bytes + 2, 'x', 900);
    strcpy(bytes + 902, " the end");
    const char *text = decoded(bytes, strlen(bytes), 4096, 4096);
    assert_string_equal(text + strlen(text) - 8, " the end"); /* no sequence is so long */
    assert_int_equal(strlen(text), 900 - PLIM_MAX_SEQUENCE_BYTES + 8 + 1);
}

static void test_utf16(void **state)
{
    static const char ascii[] = "RuntimeError: CUDA out of memory, as PowerShell writes it";
    char little[256], big[256];
    (void)state;
    for (int with_mark = 0; with_mark < 2; with_mark++) {
        size_t n = 0;
        if (with_mark) {
            memcpy(little, "\xff\xfe", 2);
            memcpy(big, "\xfe\xff", 2);
            n = 2;
        }
        for (size_t i = 0; i < sizeof ascii - 1; i++, n += 2) {
            little[n] = big[n + 1] = ascii[i];
            little[n + 1] = big[n] = '\0';
        }
        assert_decoded(little, n, ascii);
        assert_decoded(big, n, ascii);
    }
    char accents[2 * 600], text[2 * 600 + 1];
    for (size_t i = 0; i < sizeof accents; i += 2) {
        memcpy(accents + i, i ? "\xe9\x00" : "\xff\xfe", 2);
        memcpy(text + i, "\xc3\xa9", 2);
    }
    text[sizeof accents - 2] = '\0';
    assert_decoded(accents, sizeof accents, text); /* more than there is room for at a time */
    assert_decoded("\xff\xfe\xe9\x00\xac\x20\x3d\xd8\x00\xde", 10, "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
    assert_decoded("\xff\xfe\x3d\xd8\x41\x00\x00\xde", 8, "\xef\xbf\xbd\x41\xef\xbf\xbd"); /* lone halves */
}

/* --- the order of findings --- */

static struct plim_pattern patterns[PLIM_PATTERN_ROLE_MAX_];

static struct plim_finding *finding_of(enum plim_pattern_role role, uint64_t line)
{
    struct plim_finding *finding = calloc(1, sizeof *finding);
    assert_non_null(finding);
    patterns[role].role = role;
    finding->pattern = &patterns[role];
    finding->line = finding->last_line = line;
    finding->offset = 80 * line;
    return finding;
}

/* The lines in the order of the answer; related ones have a minus. */
static void assert_order(struct plim_finding *const *list, uint32_t n, const int *lines)
{
    struct plim_finding *ordered = calloc(n, sizeof *ordered);
    assert_non_null(ordered);
    plim_findings_sort((const struct plim_finding *const *)list, n, ordered);
    for (uint32_t i = 0; i < n; i++) {
        const int line = (int)ordered[i].line * (ordered[i].is_related ? -1 : 1);
        if (line != lines[i])
            fail_msg("place %u has line %d, not %d", i, line, lines[i]);
    }
    free(ordered);
    for (uint32_t i = 0; i < n; i++)
        free(list[i]);
}

static void test_the_root(void **state)
{
    const enum plim_pattern_role failure = PLIM_PATTERN_ROLE_FAILURE, wrapper = PLIM_PATTERN_ROLE_WRAPPER;
    (void)state;
    struct plim_finding *first[] = { finding_of(failure, 10), finding_of(failure, 20) };
    assert_order(first, 2, (const int[]){ 10, -20 }); /* the first of several */
    struct plim_finding *wrapped[] = { finding_of(wrapper, 10), finding_of(failure, 20) };
    assert_order(wrapped, 2, (const int[]){ 20, -10 });
    struct plim_finding *survived[] = { finding_of(failure, 10), finding_of(failure, 5000) };
    survived[0]->is_recovered = true;
    assert_order(survived, 2, (const int[]){ 5000, 10 }); /* the program went on behind it */
    struct plim_finding *apart[] = { finding_of(failure, 10), finding_of(failure, 410), finding_of(failure, 411) };
    assert_order(apart, 3, (const int[]){ 10, -410, 411 }); /* other ranks fail soon, other runs later */
}

/* --- what one expression may take --- */

static int match(const char *expression, size_t n)
{
    int code = 0;
    PCRE2_SIZE at = 0;
    char *text = malloc(n);
    assert_non_null(text);
    memset(text, 'a', n);
    pcre2_code *compiled = pcre2_compile((PCRE2_SPTR)expression, PCRE2_ZERO_TERMINATED, 0, &code, &at, NULL);
    pcre2_match_data *data = pcre2_match_data_create(1, NULL);
    pcre2_match_context *limits = plim_match_limits();
    assert_true(compiled && data && limits);
    const int result = pcre2_match(compiled, (PCRE2_SPTR)text, n, 0, 0, data, limits);
    pcre2_match_context_free(limits);
    pcre2_match_data_free(data);
    pcre2_code_free(compiled);
    free(text);
    return result;
}

static void test_limits_of_an_expression(void **state)
{
    static char captures[4096] = "(?:";
    (void)state;
    assert_int_equal(match("(?:a+a+)+[bc]", 21), PCRE2_ERROR_MATCHLIMIT);
    assert_int_equal(match("(?:(a)|x)*[bc]", 60000), PCRE2_ERROR_DEPTHLIMIT);
    for (int i = 0; i < 300; i++) /* each level of depth keeps all of them */
        strcat(captures, "(x)?");
    strcat(captures, "(a))*[bc]");
    assert_int_equal(match(captures, 60000), PCRE2_ERROR_HEAPLIMIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_terminal_sequences),
        cmocka_unit_test(test_utf16),
        cmocka_unit_test(test_the_root),
        cmocka_unit_test(test_limits_of_an_expression),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
