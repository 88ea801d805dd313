/* SPDX-License-Identifier: MIT */
/* Words of a failure: said by a program that failed, or by a text about failures. */
#include "diagnose/scan/text_kind.h"
#include "unit.h"

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

/* Of the text between the angle brackets. */
static enum plim_text_kind kind_of(const char *marked)
{
    char text[1024];
    size_t n = 0;
    uint32_t start = 0, end = 0;
    for (const char *p = marked; *p && n < sizeof text - 1; p++) {
        if (*p == '<')
            start = (uint32_t)n;
        else if (*p == '>')
            end = (uint32_t)n;
        else
            text[n++] = *p;
    }
    plim_window_build(&window, text, n, PLIM_JOIN_BLANK);
    return plim_text_kind_at(text_kinds, &window, text, start, end);
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

/* Places outside of the window and windows of nothing are no failure of this program. */
static void test_edges(void **state)
{
    (void)state;
    plim_window_build(&window, "", 0, PLIM_JOIN_BLANK);
    assert_int_equal(plim_text_kind_at(text_kinds, &window, "", 0, 0), PLIM_TEXT_KIND_LOG);
    assert_int_equal(plim_text_kind_at(text_kinds, &window, "", 7, 900), PLIM_TEXT_KIND_LOG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_edges),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
