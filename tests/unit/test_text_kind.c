/* SPDX-License-Identifier: MIT */
/* Words of a failure: said by a program that failed, or by a text about failures. */
#include "diagnose/scan/text_kind.h"
#include "unit.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include "diagnose/scan/prose_rules.h"

#include <pcre2.h>

static struct plim_text_kinds *text_kinds;
static struct plim_window window;

static int set_up(void **state)
{
    (void)state;
    text_kinds = plim_text_kinds_new();
    return text_kinds ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    plim_text_kinds_free(text_kinds);
    return 0;
}

struct marked {
    char text[1024];
    uint32_t start, end;
};

/* The window of a text, with the place of what stands between the angle brackets. */
static struct marked read_marked(const char *marked)
{
    struct marked m = { .start = 0 };
    size_t n = 0;
    for (const char *p = marked; *p && n < sizeof m.text - 1; p++) {
        if (*p == '<')
            m.start = (uint32_t)n;
        else if (*p == '>')
            m.end = (uint32_t)n;
        else
            m.text[n++] = *p;
    }
    plim_window_build(&window, m.text, n, PLIM_JOIN_BLANK);
    plim_text_kinds_listen(text_kinds, NULL, 0);
    return m;
}

static enum plim_text_kind kind_of(const char *marked)
{
    const struct marked m = read_marked(marked);
    return plim_text_kind_at(text_kinds, &window, m.text, m.start, m.end);
}

/* The same, of a text that is all there is. */
static enum plim_text_kind kind_alone(const char *marked)
{
    const struct marked m = read_marked(marked);
    plim_text_kinds_listen(text_kinds, m.text, strlen(m.text));
    return plim_text_kind_at(text_kinds, &window, m.text, m.start, m.end);
}

static bool is_bare(const char *marked)
{
    const struct marked m = read_marked(marked);
    plim_text_kinds_listen(text_kinds, m.text, strlen(m.text));
    return plim_text_is_bare(text_kinds, &window, m.start, m.end);
}

static bool is_statement(const char *marked)
{
    const struct marked m = read_marked(marked);
    plim_text_kinds_listen(text_kinds, m.text, strlen(m.text));
    return plim_text_is_statement(text_kinds, &window, m.text, m.start, m.end);
}

static void test_rules_compile(void **state)
{
    (void)state;
    for (int i = 0; i < PLIM_PROSE_RULE_MAX_; i++) {
        int code = 0;
        PCRE2_SIZE at = 0;
        pcre2_code *compiled =
            pcre2_compile((PCRE2_SPTR)plim_prose_rules[i].text, PCRE2_ZERO_TERMINATED, 0, &code, &at, NULL);
        if (!compiled)
            fail_msg("rule %d: error %d at %zu", i, code, at);
        pcre2_code_free(compiled);
    }
}

static void test_texts(void **state)
{
    (void)state;
    static const struct {
        enum plim_text_kind text_kind;
        const char *text;
    } texts[] = {
        { PLIM_TEXT_KIND_LOG, "RuntimeError: <CUDA out of memory>." },
        { PLIM_TEXT_KIND_LOG, "<CUDA error: out of memory>\nCUDA kernel errors might be asynchronously reported" },
        { PLIM_TEXT_KIND_LOG, "Failed to handle request: <CUDA out of memory>" },
        { PLIM_TEXT_KIND_LOG, "Engine could not be started: <CUDA error: out of memory>" },
        { PLIM_TEXT_KIND_LOG, "<CUDA out of memory> occurred when warming up sampler" },
        { PLIM_TEXT_KIND_LOG, "I tried to avoid it, and still got <CUDA out of memory>" },
        { PLIM_TEXT_KIND_LOG, "time=2026-11-02T10:11:12Z level=ERROR msg=\"<cudaMalloc failed: out of memory>\"" },
        { PLIM_TEXT_KIND_LOG, "Error: DriverError(CUDA_ERROR_OUT_OF_MEMORY, \"<out of memory>\")" },
        { PLIM_TEXT_KIND_LOG, "-bash: fork: <Cannot allocate memory>" },
        { PLIM_TEXT_KIND_LOG, "DEBUG - <CUDA out of memory>" },
        { PLIM_TEXT_KIND_LOG, "Caused by: <CUDA out of memory>" },
        { PLIM_TEXT_KIND_LOG, "Root cause - <CUDA out of memory>" },
        { PLIM_TEXT_KIND_LOG, "unhandled cuda error (<out of memory>)" },
        { PLIM_TEXT_KIND_LOG, "The worker died because the GPU <ran out of memory>" },
        { PLIM_TEXT_KIND_LOG, "Detected <CUDA out of memory>" },
        { PLIM_TEXT_KIND_LOG, "which resulted in <CUDA out of memory>" },
        { PLIM_TEXT_KIND_LOG, "# <CUDA out of memory>" },
        { PLIM_TEXT_KIND_CODE, "    # <CUDA out of memory>" },
        { PLIM_TEXT_KIND_PROSE, "whenever it runs, <CUDA out of memory> is shown" },
        { PLIM_TEXT_KIND_LOG, "trainer-1  | <CUDA out of memory>" },
        { PLIM_TEXT_KIND_PROSE, "<CUDA out of memory> errors occur when your model is too large." },
        { PLIM_TEXT_KIND_PROSE, "This can cause <CUDA out of memory> errors." },
        { PLIM_TEXT_KIND_PROSE, "How to solve <CUDA out of memory>" },
        { PLIM_TEXT_KIND_PROSE, "What does <CUDA out of memory> mean?" },
        { PLIM_TEXT_KIND_PROSE, "A guide to <CUDA out of memory>" },
        { PLIM_TEXT_KIND_PROSE, "a smaller batch\nhelps to avoid `<CUDA out of memory>` errors" },
        { PLIM_TEXT_KIND_PROSE, "If you see \"RuntimeError: <CUDA out of memory>\", lower the batch size." },
        { PLIM_TEXT_KIND_CODE, "    raise RuntimeError(\"<CUDA out of memory>\")" },
        { PLIM_TEXT_KIND_LOG, "raise ValueError(\"No blocks. \" ValueError: <No blocks>. Try another share." },
        { PLIM_TEXT_KIND_CODE, "if \"<out of memory>\" in str(e):" },
        { PLIM_TEXT_KIND_CODE, "// <CUDA out of memory>" },
        { PLIM_TEXT_KIND_CHANGES, "- Fix <CUDA out of memory> in the loader (#812)" },
        { PLIM_TEXT_KIND_CHANGES, "fix(loader): <std::bad_alloc> with empty files" },
        { PLIM_TEXT_KIND_HELP, "  --on-oom ACTION  what to do on <CUDA out of memory>" },
        { PLIM_TEXT_KIND_HELP, "test errors::message <CUDA out of memory> ... ok" },
    };
    for (size_t i = 0; i < COUNT(texts); i++)
        if (kind_of(texts[i].text) != texts[i].text_kind)
            fail_msg("%d, not %d: %s", (int)kind_of(texts[i].text), (int)texts[i].text_kind, texts[i].text);
}

static void test_statements(void **state)
{
    (void)state;
    static const char *const happened[] = {
        "Training crashes with <CUDA OOM> after 3 epochs",
        "# <OOM> when two adapters are loaded",
        "Why does the export <run out of memory> on 80 GB?",
        "The job was <killed by the kernel for exceeding the memory limit>",
        "It works on the first page.\n\nThen my tab goes <OOM>.",
        "when I resize it I get <out of memory>",
        "\xe8\xae\xad\xe7\xbb\x83\xe6\x97\xb6<OOM>\xe4\xba\x86",
    };
    static const char *const did_not[] = {
        "How can I avoid <OOM>?",
        "Is it going to <run out of memory> with 8 GB?",
        "# Fix <OOM> in the loader",
        "# [Feature] retry after <OOM>",
        "It has never gone <OOM>.",
        "Large batches can <run out of memory>.",
        "If you get an <OOM>, lower the batch.",
        "The service stops when it <runs out of memory>.",
        "The <OOM> score of the shell is zero.",
        "raise <MemoryError>",
        "other allocations may fail, and the process ends with\n<CUDA out of memory>.",
        "Exports that <ran out of memory> now work.",
    };
    for (size_t i = 0; i < COUNT(happened); i++)
        if (!is_statement(happened[i]))
            fail_msg("happened: %s", happened[i]);
    for (size_t i = 0; i < COUNT(did_not); i++)
        if (is_statement(did_not[i]))
            fail_msg("did not happen: %s", did_not[i]);
}

/* Places outside of the window and windows of nothing are no failure of this program. */
static void test_edges(void **state)
{
    (void)state;
    plim_window_build(&window, "", 0, PLIM_JOIN_BLANK);
    assert_int_equal(plim_text_kind_at(text_kinds, &window, "", 0, 0), PLIM_TEXT_KIND_LOG);
    assert_int_equal(plim_text_kind_at(text_kinds, &window, "", 7, 900), PLIM_TEXT_KIND_LOG);
    assert_false(plim_text_is_statement(text_kinds, &window, "", 7, 900));
}

static void test_who_speaks(void **state)
{
    (void)state;
    /* a page shows what a program prints */
    assert_int_equal(kind_alone("Your pod restarts, and you wonder what happened to it.\n"
                                "The kernel picks a process and ends it at once.\nReason: <OOMKilled>\n"),
                     PLIM_TEXT_KIND_PROSE);
    assert_int_equal(kind_alone("Last State: Terminated\nReason: <OOMKilled>\nExit Code: 137\n"), PLIM_TEXT_KIND_LOG);
    /* the same words in a sentence, and as a program's line */
    assert_int_equal(kind_alone("Containers that use too much are <OOMKilled> and start again.\n"),
                     PLIM_TEXT_KIND_PROSE);
    assert_int_equal(kind_alone("My containers are <OOMKilled> and start again.\n"), PLIM_TEXT_KIND_LOG);
    assert_int_equal(kind_alone("12:04:11 worker one is <OOMKilled> and starts again\n"), PLIM_TEXT_KIND_LOG);
    /* what a program says to its user */
    assert_int_equal(kind_alone("<Not enough memory to handle 16 tokens>. You need to decrease the batch.\n"),
                     PLIM_TEXT_KIND_LOG);
    /* a change of a program */
    assert_int_equal(kind_alone("This patch shows \"<System is out of GPU memory>\" to the user.\n"),
                     PLIM_TEXT_KIND_PROSE);
    assert_false(is_statement("# Relay the reason\n\nOur job stopped <out of memory> twice.\n"));
    /* nobody's, unless it is the title */
    assert_false(is_statement("# Tiled attention\n\nThe plain one <runs out of memory> at 32k tokens.\n"));
    assert_true(is_statement("# Plain attention <runs out of memory> at 32k tokens\n\nSee the script.\n"));
    assert_true(is_statement("# Tiled attention\n\nFor me the plain one <runs out of memory> at 32k tokens.\n"));
}

static void test_bare_words(void **state)
{
    (void)state;
    assert_true(is_bare("<OOMKilled>\n"));
    assert_true(is_bare("it is <out of memory>\n"));
    assert_false(is_bare("<Reason: OOMKilled>\n"));
    assert_false(is_bare("Error: <out of memory>\n"));
    assert_false(is_bare("<hipErrorOutOfMemory>\n"));
    assert_false(is_bare("Traceback (most recent call last):\n  File \"a.py\", line 3, in f\n<MemoryError>\n"));
    const struct marked m = read_marked("<OOMKilled>\n"); /* in a long log, of which nobody listens to the voice */
    assert_false(plim_text_is_bare(text_kinds, &window, m.start, m.end));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),      cmocka_unit_test(test_statements), cmocka_unit_test(test_rules_compile),
        cmocka_unit_test(test_who_speaks), cmocka_unit_test(test_bare_words), cmocka_unit_test(test_edges),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
