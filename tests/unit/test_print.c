/* SPDX-License-Identifier: MIT */
/* What reaches a terminal: the formats of report/print.h, and that nothing but them gets there as it is. */
#include "base/text.h"
#include "engine/command.h"
#include "report/columns.h"
#include "report/paint.h"
#include "report/print.h"
#include "unit.h"

#include <inttypes.h>
#include <limits.h>
#include <sys/wait.h>
#include <unistd.h>

static char written[1 << 16];

static FILE *begin(void) { return fmemopen(written, sizeof written, "w"); }

static const char *end(FILE *out)
{
    const long n = ftell(out);
    fclose(out);
    written[n] = '\0';
    return written;
}

/* --- the characters --- */

static const struct {
    const char *name, *text, *clean;
} characters[] = {
    { "letters of all sizes", "aé漢🚀", "aé漢🚀" },
    { "blanks with a width", "a\u00a0b\u3000c", "a\u00a0b\u3000c" },
    { "an escape sequence", "a\033[2Jb", "a?[2Jb" },
    { "a title for the window", "\033]0;x\a", "?]0;x?" },
    { "line ends and a tab", "a\nb\rc\td", "a?b?c?d" },
    { "backspace and DEL", "a\bb\x7f", "a?b?" },
    { "C1 in UTF-8, first and last",
      "\xc2\x80\xc2\x9b"
      "2J\xc2\x9f\u00a1",
      "??2J?\u00a1" },
    { "a raw byte of C1",
      "a\x9b"
      "2J",
      "a?2J" },
    { "Latin-1", "caf\xe9", "caf?" },
    { "an overlong '/'", "\xc0\xaf", "??" },
    { "an overlong ESC", "\xe0\x80\x9b", "???" },
    { "a surrogate", "\xed\xa0\x80", "???" },
    { "above the last character", "\xf4\x90\x80\x80", "????" },
    { "cut in the middle", "\xe6\xbc", "??" },
    { "letters behind a broken start", "\xe6z\xf0z", "?z?z" },
    { "right to left, an override", "a\u202egpj.b", "a?gpj.b" },
    { "an isolate", "\u2066a\u2069", "?a?" },
    { "marks of direction", "\u061c\u200e\u200f", "???" },
    { "line and paragraph separators", "a\u2028b\u2029c", "a?b?c" },
    { "no width", "a\u200bb\u2060c\ufeff", "a?b?c?" },
    { "joiners", "a\u200cb\u200dc", "a?b?c" },
    { "a soft hyphen and a selector", "a\u00adb\ufe0f", "a?b?" },
    { "fillers of Hangul", "\u3164\uffa0\u115f", "???" },
    { "tags, which spell without a glyph", "a\U000e0041\U000e007f", "a??" },
};

static void test_characters(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(characters); i++) {
        char text[64];
        FILE *out = begin();
        plim_print(out, "%s", characters[i].text);
        if (strcmp(end(out), characters[i].clean) != 0)
            fail_msg("%s: printed as '%s'", characters[i].name, written);
        snprintf(text, sizeof text, "%s", characters[i].text);
        plim_text_clean(text);
        if (strcmp(text, characters[i].clean) != 0)
            fail_msg("%s: cleaned to '%s'", characters[i].name, text);
    }
}

/* A character whose last byte is not part of the text is none, even where that byte follows in memory. */
static void test_characters_that_are_cut_off(void **state)
{
    static const char *const whole[] = { "\u00e9", "\u6f22", "\U0001f680" };
    (void)state;
    for (size_t i = 0; i < COUNT(whole); i++) {
        uint32_t code;
        const size_t n = strlen(whole[i]);
        assert_int_equal(plim_text_character(whole[i], n, &code), n);
        assert_true(plim_text_is_shown(code));
        assert_int_equal(plim_text_character(whole[i], n - 1, &code), 1);
        assert_int_equal(code, PLIM_TEXT_INVALID);
    }
}

/* --- formats --- */

/* Compared with fprintf(), which they are read like. */
#define SAME(...)                                                                                                      \
    do {                                                                                                               \
        char expected[700];                                                                                            \
        snprintf(expected, sizeof expected, __VA_ARGS__);                                                              \
        FILE *out = begin();                                                                                           \
        const int n = plim_print(out, __VA_ARGS__);                                                                    \
        assert_string_equal(end(out), expected);                                                                       \
        assert_int_equal(n, plim_print_width(expected));                                                               \
    } while (0)

static void test_formats(void **state)
{
    (void)state;
    SAME("%s|%8s|%-8s|%.2s|%*s|%-*s|%.*s|%-6.3s|", "abc", "abc", "abc", "abc", 5, "abc", 5, "abc", 1, "abc", "abcdef");
    SAME("%*s|", -6, "abc");
    SAME("%c%c|%3c|%-3c|", 'a', 'b', 'c', 'd');
    SAME("%d|%5d|%-5d|%+d|%+5d|%i", -12, 34, 56, 78, -9, 10);
    SAME("%u|%5u|%-5u|%x|%zu|%3zu|", 12u, 34u, 56u, 255u, (size_t)-1, (size_t)7);
    SAME("%ld|%lu|%lld|%llu|%-10llu|", -5L, 5UL, -6LL, 6ULL, ULLONG_MAX);
    SAME("%" PRId64 "|%8" PRId64 "|%" PRIu64 "|%" PRIu32 "|%jd|%ju", INT64_MIN, (int64_t)5, UINT64_MAX, UINT32_MAX,
         (intmax_t)-7, (uintmax_t)7);
    SAME("%f|%.2f|%8.1f|%+.2f|%+*.2f|%3.0f %%|%.*f|%.3g|%g", 1.5, 2.345, 3.14159, 4.0, 9, -5.5, 99.7, 1, 6.25, 8.03e9,
         1e-7);
    SAME("%.2f", -1.7e308);
    SAME("é %s", "漢");
    FILE *out = begin(); /* characters, not bytes */
    assert_int_equal(plim_print(out, "%-4s|%4s|%.2s|", "é漢", "é漢", "é漢🚀"), 13);
    assert_string_equal(end(out), "é漢  |  é漢|é漢|");
    out = begin();
    plim_print(out, "[%*s] \033[K", -3000, "\033");
    assert_int_equal(strlen(end(out)), 3006); /* more than it collects */
    assert_memory_equal(written, "[?  ", 4);
    assert_string_equal(written + 3001, "] \033[K");
}

/* Only what plim_paint() returned is a colour, not the same bytes in a name. */
static void test_colours(void **state)
{
    static const struct plim_style coloured = { .has_colour = true }, plain = { 0 };
    char copy[16];
    (void)state;
    for (int i = 0; i < PLIM_COLOUR_MAX_; i++) {
        const char *code = plim_paint(&coloured, (enum plim_colour)i);
        FILE *out = begin();
        snprintf(copy, sizeof copy, "%s", code);
        assert_int_equal(plim_print(out, "%sx%s", code, copy), 1 + (int)strlen(copy));
        end(out);
        assert_memory_equal(written, code, strlen(code));
        assert_null(strchr(written + strlen(code), '\033'));
        assert_false(plim_paint_is(copy));
        assert_false(plim_paint_is(plim_paint(&plain, (enum plim_colour)i)));
    }
}

static void test_lines(void **state)
{
    (void)state;
    FILE *out = begin();
    plim_print_lines(out, "\none\n\ntwo\033[2J\n", 4);
    assert_string_equal(end(out), "    one\n    two?[2J\n");
}

/* --- any bytes --- */

/* Lines that the functions may end themselves. */
static void assert_is_clean(const char *text, size_t most_lines)
{
    uint32_t code;
    size_t n_lines = 0;
    for (size_t left = strlen(text), n; left; left -= n, text += n) {
        n = plim_text_character(text, left, &code);
        n_lines += code == '\n';
        if (code == '\033') /* of the one colour that the test prints */
            assert_memory_equal(text, "\033[1m", 4);
        else if (code != '\n' && !plim_text_is_shown(code))
            fail_msg("U+%04X reached the terminal", code);
    }
    assert_true(n_lines <= most_lines);
}

static uint32_t next(uint32_t *seed) { return *seed = *seed * 1664525 + 1013904223; }

/* Bytes of all kinds, and characters that are not shown more often than by chance. */
static void fill(char *text, size_t size, uint32_t *seed)
{
    size_t n = 0;
    while (n + 8 < size) {
        const char *given = characters[next(seed) / 65536 % COUNT(characters)].text;
        if (next(seed) / 65536 % 3 == 0)
            n += (size_t)snprintf(text + n, size - n, "%s", given);
        else
            text[n++] = (char)(next(seed) / 65536 % 255 + 1);
    }
    text[n < size ? n : size - 1] = '\0';
}

static void test_any_bytes(void **state)
{
    static const struct plim_style style = { .has_colour = true };
    uint32_t seed = 7;
    (void)state;
    for (int i = 0; i < 2000; i++) {
        char text[300];
        const int width = (int)(next(&seed) / 65536 % 60) + 4, precision = (int)(next(&seed) / 65536 % 80);
        fill(text, 9 + next(&seed) / 65536 % (sizeof text - 9), &seed);
        FILE *out = begin();
        const int n =
            plim_print(out, "%s%s %*.*s %c\n", plim_paint(&style, PLIM_BOLD), text, width, precision, text, text[0]);
        assert_is_clean(end(out), 1);
        assert_int_equal(n, plim_print_width(written) - 4);
        out = begin();
        plim_print_padded(out, text, width);
        assert_is_clean(end(out), 0);
        assert_int_equal(plim_print_width(written), width);
        out = begin();
        plim_print_wrapped(out, text, 0, 2);
        assert_is_clean(end(out), 100);
        for (const char *line = written; *line; line += strcspn(line, "\n") + 1) {
            char copy[1024];
            snprintf(copy, sizeof copy, "%.*s", (int)strcspn(line, "\n"), line);
            assert_in_range(plim_print_width(copy), 0, PLIM_TEXT_WIDTH);
        }
        out = begin();
        plim_print_command(out, text, 4);
        assert_is_clean(end(out), 100);
        out = begin();
        plim_print_lines(out, text, 4);
        assert_is_clean(end(out), 300);
    }
}

/* --- commands --- */

/* A name that is pasted is the file's, whatever its bytes are; and what is pasted can be seen, on several lines too. */
static void test_commands_are_pasted_whole(void **state)
{
    char script[] = "/tmp/plimsoll-test-print-XXXXXX";
    uint32_t seed = 11;
    char words[40][120], text[PLIM_COMMAND_BYTES];
    (void)state;
    const int file = mkstemp(script);
    assert_true(file >= 0);
    FILE *out = fdopen(file, "w");
    for (size_t i = 0; i < COUNT(words); i++) {
        struct plim_command command = { .n_words = 0 };
        if (i < COUNT(characters))
            snprintf(words[i], sizeof words[i], "it's %s \\ a 'long' name with -x and #, %s.gguf", characters[i].text,
                     characters[i].text);
        else
            fill(words[i], sizeof words[i], &seed);
        plim_command_add(&command, "printf");
        plim_command_add(&command, "%s\\n");
        plim_command_add(&command, words[i]);
        assert_non_null(plim_command_text(&command, NULL, 0, text));
        FILE *screen = begin();
        plim_print_command(screen, text, 4);
        end(screen);
        assert_null(strchr(text, '\n'));
        char clean[PLIM_COMMAND_BYTES];
        snprintf(clean, sizeof clean, "%s", text);
        plim_text_clean(clean);
        assert_string_equal(clean, text);
        fprintf(out, "%s", written);
    }
    fclose(out);
    char run[200], got[8192];
    snprintf(run, sizeof run, "LC_ALL=C bash %s", script);
    FILE *pipe = popen(run, "r");
    assert_non_null(pipe);
    size_t n = fread(got, 1, sizeof got - 1, pipe), at = 0;
    const int status = pclose(pipe);
    unlink(script);
    if (WEXITSTATUS(status) == 127)
        skip(); /* no bash */
    assert_int_equal(status, 0);
    for (size_t i = 0; i < COUNT(words); i++) {
        const size_t length = strlen(words[i]);
        assert_true(at + length < n);
        assert_memory_equal(got + at, words[i], length);
        at += length + 1;
    }
    assert_int_equal(at, n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_characters),
        cmocka_unit_test(test_characters_that_are_cut_off),
        cmocka_unit_test(test_formats),
        cmocka_unit_test(test_colours),
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_any_bytes),
        cmocka_unit_test(test_commands_are_pasted_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
