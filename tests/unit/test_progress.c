/* SPDX-License-Identifier: MIT */
/* When the line of progress of a rehearsal is shown, and what it says. */
#include "unit.h"

#include "rehearse/progress.h"

#include <stdio.h>

struct look {
    double now_s;
    uint64_t written_bytes; /* 0: unknown */
    double silent_s;
    bool is_over;
    enum plim_progress_act act;
};

static void check_looks(const struct look *look, size_t n, bool is_alone)
{
    struct plim_rehearsal_progress progress = { .is_alone = is_alone };
    for (size_t i = 0; i < n; i++) {
        const struct plim_progress_output output = { look[i].written_bytes > 0, look[i].written_bytes,
                                                     look[i].silent_s };
        const enum plim_progress_act act = plim_progress_decide(&progress, &output, look[i].now_s, look[i].is_over);
        if (act != look[i].act)
            fail_msg("at %.1f s: %d, not %d", look[i].now_s, (int)act, (int)look[i].act);
    }
}

#define CHECK(looks, is_alone) check_looks(looks, sizeof looks / sizeof *(looks), is_alone)

static void test_a_silent_program(void **state)
{
    static const struct look looks[] = {
        { 0.0, 9, 0, false, PLIM_PROGRESS_NOTHING }, { 2.5, 9, 0, false, PLIM_PROGRESS_NOTHING },
        { 4.9, 9, 0, false, PLIM_PROGRESS_NOTHING }, { 5.0, 9, 0, false, PLIM_PROGRESS_NEW },
        { 5.5, 9, 0, false, PLIM_PROGRESS_NOTHING }, { 6.0, 9, 0, false, PLIM_PROGRESS_AGAIN },
        { 7.5, 9, 0, false, PLIM_PROGRESS_AGAIN },   { 7.6, 9, 0, true, PLIM_PROGRESS_ERASE },
    };
    (void)state;
    CHECK(looks, false);
}

/* Its output is never erased, and it has to be silent for longer before the next line. */
static void test_a_program_that_speaks(void **state)
{
    static const struct look looks[] = {
        { 0, 1, 0, false, PLIM_PROGRESS_NOTHING }, { 2, 1, 0, false, PLIM_PROGRESS_NOTHING },
        { 4, 2, 0, false, PLIM_PROGRESS_NOTHING }, { 5.5, 2, 0, false, PLIM_PROGRESS_NOTHING },
        { 6, 2, 0, false, PLIM_PROGRESS_NEW },     { 7, 3, 0, false, PLIM_PROGRESS_NOTHING },
        { 9, 3, 0, false, PLIM_PROGRESS_NOTHING }, { 11, 3, 0, false, PLIM_PROGRESS_NEW },
        { 12, 4, 0, true, PLIM_PROGRESS_NOTHING },
    };
    (void)state;
    CHECK(looks, false);
}

/* A program that writes elsewhere without end, as workers do to pipes: the time of the terminal tells. */
static void test_the_terminal_is_silent(void **state)
{
    static const struct look looks[] = {
        { 0, 1, 0, false, PLIM_PROGRESS_NOTHING },    { 2, 2, 0, false, PLIM_PROGRESS_NOTHING },
        { 4, 3, 2, false, PLIM_PROGRESS_NOTHING },    { 6, 4, 4, false, PLIM_PROGRESS_NEW },
        { 8, 5, -8, false, PLIM_PROGRESS_NOTHING },   { 10, 6, 3, false, PLIM_PROGRESS_NOTHING },
        { 12, 7, 4.5, false, PLIM_PROGRESS_NEW },     { 14, 0, -8, false, PLIM_PROGRESS_NOTHING },
        { 16, 0, 7.9, false, PLIM_PROGRESS_NOTHING }, { 18, 0, 8.1, false, PLIM_PROGRESS_NEW },
    };
    (void)state;
    CHECK(looks, false);
}

static void test_alone_on_the_terminal(void **state)
{
    static const struct look looks[] = {
        { 0, 1, 0, false, PLIM_PROGRESS_NOTHING }, { 2, 2, 0, false, PLIM_PROGRESS_NOTHING },
        { 5, 3, 0, false, PLIM_PROGRESS_NEW },     { 6, 4, 0, false, PLIM_PROGRESS_AGAIN },
        { 60, 5, 0, false, PLIM_PROGRESS_NEW }, /* the shell had stopped us, and wrote */
        { 61, 6, 0, true, PLIM_PROGRESS_ERASE },
    };
    (void)state;
    CHECK(looks, true);
}

static void test_the_line(void **state)
{
    char text[PLIM_PROGRESS_TEXT];
    struct plim_ledger *ledger = plim_ledger_create(-1);
    (void)state;
    assert_non_null(ledger);
    plim_progress_text(ledger, 5, text);
    assert_string_equal(text, "plimsoll: 5 s, no card used yet");
    ledger->n_cards = 2;
    for (uint32_t i = 0; i < 2; i++) {
        ledger->card[i].total_bytes = 24ULL << 30;
        ledger->card[i].used_bytes = (uint64_t)(i + 1) << 30;
        ledger->card[i].peak_bytes = (uint64_t)(i + 3) << 30;
    }
    snprintf(ledger->stack[7].python, sizeof ledger->stack[7].python,
             "/x/torch/optim/adamw.py:3 step\n/x/train.py:5 f");
    ledger->card[1].n_points = 1;
    ledger->card[1].point[0].site = 7;
    ledger->process[3].pid = ledger->process[4].pid = 1;
    ledger->process[3].n_optimizer_steps = 9;
    ledger->process[4].n_optimizer_steps = 8;
    plim_progress_text(ledger, 3600, text);
    assert_string_equal(text, "plimsoll: 3600 s, optimizer step, gpu1 2.00 GiB of 24.00 GiB, peak 4.00 GiB, 8 steps");
    ledger->card[1].point[0].site = UINT32_MAX; /* a program wrote over it */
    ledger->card[1].n_points = UINT32_MAX;
    ledger->n_cards = UINT32_MAX;
    plim_progress_text(ledger, 1e12, text);
    plim_ledger_close(ledger);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_silent_program),
        cmocka_unit_test(test_a_program_that_speaks),
        cmocka_unit_test(test_the_terminal_is_silent),
        cmocka_unit_test(test_alone_on_the_terminal),
        cmocka_unit_test(test_the_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
