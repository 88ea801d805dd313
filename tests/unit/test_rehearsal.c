/* SPDX-License-Identifier: MIT */
/* What a receipt makes of a ledger: whom a stack speaks of, when a loop is seen, what a search tries, what is drawn. */
#include "unit.h"

#include "rehearse/find.h"
#include "rehearse/stop_condition.h"
#include "report/rehearsal.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MIB = 1 << 20 };

/* --- origins --- */

static void test_what_a_stack_says(void **state)
{
    (void)state;
    static const struct {
        const char *native, *python, *label, *phase, *where;
    } rows[] = {
        { "libggml-cuda.so +0x1\nlibllama.so llama_model_base::load_tensors\nserver main\n", "", "model buffer", "load",
          "llama_model_base::load_tensors" },
        { "libllama.so llama_kv_cache::llama_kv_cache\nlibllama.so llama_context::llama_context\n", "", "KV buffer",
          "KV cache", "llama_kv_cache::llama_kv_cache" },
        { "libggml-base.so ggml_backend_sched_reserve\nlibllama.so llama_context::graph_reserve\n", "",
          "compute buffer", "compute", "llama_context::graph_reserve" },
        { "libggml-base.so ggml_backend_sched_reserve\nlibmtmd.so clip_init\n", "", NULL, NULL, "clip_init" },
        { "a.so f\n",
          "/usr/lib/python3/site-packages/torch/nn/modules/linear.py:125 forward\n/home/me/train.py:9 main\n", NULL,
          "forward", "/home/me/train.py:9 main" },
        { "a.so f\n", "/x/site-packages/model.py:1 forward\n/x/site-packages/transformers/utils.py:2 generate\n", NULL,
          "generate", "/x/site-packages/model.py:1 forward" },
        { "a.so f\n", "/x/site-packages/torch/optim/adamw.py:3 _init_group\n/me/train.py:4 main\n", NULL,
          "optimizer step", "/me/train.py:4 main" },
        { "libtorch.so torch::autograd::Engine::evaluate_function\n", "", NULL, "backward",
          "torch::autograd::Engine::evaluate_function" },
        { "libtorch.so c10::cuda::f\nlibtorch.so at::native::mm\n", "", NULL, NULL, "at::native::mm" },
        { "", "", NULL, NULL, "" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct plim_ledger_stack stack = { 0 };
        struct plim_attribution origin;
        snprintf(stack.native, sizeof stack.native, "%s", rows[i].native);
        snprintf(stack.python, sizeof stack.python, "%s", rows[i].python);
        plim_attribution_of(&stack, &origin);
        assert_string_equal(origin.label ? origin.label : "-", rows[i].label ? rows[i].label : "-");
        assert_string_equal(origin.phase ? origin.phase : "-", rows[i].phase ? rows[i].phase : "-");
        assert_string_equal(origin.where, rows[i].where);
        assert_int_equal(origin.pillar == PLIM_PILLAR_MAX_, !rows[i].label);
    }
}

static void test_a_stack_of_noise(void **state)
{
    (void)state;
    struct plim_ledger_stack stack;
    struct plim_attribution origin;
    memset(&stack, 'x', sizeof stack); /* without an end */
    plim_attribution_of(&stack, &origin);
    assert_null(origin.label);
    memset(&stack, '\n', sizeof stack);
    plim_attribution_of(&stack, &origin);
    assert_string_equal(origin.where, "");
}

/* --- steps --- */

static struct plim_ledger *new_ledger(void)
{
    struct plim_ledger *ledger = plim_ledger_create(-1);
    assert_non_null(ledger);
    ledger->n_cards = 1;
    snprintf(ledger->card[0].name, sizeof ledger->card[0].name, "NVIDIA Test");
    ledger->card[0].total_bytes = 1000 * (uint64_t)MIB;
    return ledger;
}

/* One letter for each cycle; a small one launches less than a step can. */
static uint64_t steps_of(const char *cycles, uint64_t growth_bytes, uint32_t n_wanted, bool has_optimizers)
{
    struct plim_ledger *ledger = new_ledger();
    struct plim_rehearsal_steps steps;
    ledger->process[3].pid = getpid();
    ledger->process[3].has_optimizers = has_optimizers;
    for (uint64_t i = 0; cycles[i]; i++) {
        const uint64_t n = cycles[i] >= 'a' ? 1 : 100;
        ledger->cycle[3][i % PLIM_LEDGER_MAX_CYCLES] =
            (struct plim_ledger_cycle){ (uint64_t)cycles[i], n, i * growth_bytes };
        ledger->process[3].n_cycles = i + 1;
    }
    plim_steps_count(ledger, n_wanted, &steps);
    plim_ledger_close(ledger);
    assert_true(steps.how == (steps.n ? PLIM_STEPS_CYCLES : PLIM_STEPS_NONE));
    return steps.n;
}

static void test_cycles(void **state)
{
    (void)state;
    assert_int_equal(steps_of("", 0, 3, false), 0);
    assert_int_equal(steps_of("A", 0, 3, false), 0);
    assert_int_equal(steps_of("AAA", 0, 3, false), 0); /* the first does not count */
    assert_int_equal(steps_of("AAAA", 0, 3, false), 3);
    assert_int_equal(steps_of("XYAAAA", 0, 3, false), 3);
    assert_int_equal(steps_of("AAAAX", 0, 3, false), 0); /* it has ended */
    assert_int_equal(steps_of("AAAA", 1, 3, false), 0);  /* it grows */
    assert_int_equal(steps_of("ABCABCABC", 0, 2, false), 2);
    assert_int_equal(steps_of("ABCABCAB", 0, 2, false), 0);
    assert_int_equal(steps_of("aaaaaaaaaa", 0, 3, false), 0); /* too little is launched to be a step */
    assert_int_equal(steps_of("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 0, 3, false), 4);
    assert_int_equal(steps_of("AAAA", 0, 3, true), 0); /* PyTorch will say */
}

static void test_optimizer_steps_come_first(void **state)
{
    (void)state;
    struct plim_ledger *ledger = new_ledger();
    struct plim_rehearsal_steps steps;
    ledger->process[0].pid = ledger->process[1].pid = ledger->process[2].pid = getpid();
    ledger->process[0].n_optimizer_steps = 7;
    ledger->process[1].n_optimizer_steps = 5;
    plim_steps_count(ledger, 3, &steps);
    assert_int_equal(steps.how, PLIM_STEPS_OPTIMIZER);
    assert_int_equal(steps.n, 5);
    plim_ledger_close(ledger);
}

/* --- a search --- */

/* The largest that fits is `truth`; returns how many were tried. */
static uint32_t find(const char *range, uint64_t truth, bool *ret_has, uint64_t *ret_largest)
{
    struct plim_find search;
    struct plim_error error = { 0 };
    uint64_t value;
    assert_int_equal(plim_find_parse(range, &search, &error), 0);
    while (plim_find_next(&search, &value)) {
        struct plim_find_trial trial = { .value = value,
                                         .outcome = value <= truth ? PLIM_FIND_FITS : PLIM_FIND_OUT_OF_MEMORY,
                                         .peak_bytes = value };
        assert_true(value >= search.low && value <= search.high);
        plim_find_note(&search, &trial);
    }
    assert_true(search.is_decided);
    assert_true(search.is_monotonic);
    *ret_has = search.has_largest;
    *ret_largest = search.largest;
    return search.n_trials;
}

static void test_bisection(void **state)
{
    (void)state;
    bool has;
    uint64_t largest;
    for (uint64_t truth = 1; truth <= 40; truth++) {
        assert_in_range(find("N=1..32", truth, &has, &largest), 2, 7);
        assert_true(has);
        assert_int_equal(largest, truth < 32 ? truth : 32);
    }
    assert_int_equal(find("7..32", 6, &has, &largest), 1);
    assert_false(has);
    assert_int_equal(find("x=5..5", 5, &has, &largest), 1);
    assert_true(has && largest == 5);
    assert_in_range(find("0..9223372036854775807", 1234567890123, &has, &largest), 3, 80);
    assert_int_equal(largest, 1234567890123);
}

static void test_a_search_breaks_off(void **state)
{
    (void)state;
    struct plim_find search;
    struct plim_error error = { 0 };
    uint64_t value;
    assert_int_equal(plim_find_parse("N=1..8", &search, &error), 0);
    plim_find_note(&search, &(struct plim_find_trial){ .value = 1, .outcome = PLIM_FIND_FITS, .peak_bytes = 9 });
    plim_find_note(&search, &(struct plim_find_trial){ .value = 8, .outcome = PLIM_FIND_FAILED });
    assert_false(plim_find_next(&search, &value));
    assert_false(search.is_decided);
    assert_true(search.has_largest && search.largest == 1);
    plim_find_note(&search, &(struct plim_find_trial){ .value = 4, .outcome = PLIM_FIND_FITS, .peak_bytes = 3 });
    assert_false(search.is_monotonic);
}

static void test_ranges_that_are_none(void **state)
{
    (void)state;
    static const char *const texts[] = { "",
                                         "N",
                                         "N=",
                                         "N=1",
                                         "N=1..",
                                         "N=..2",
                                         "N=2..1",
                                         "N=a..b",
                                         "N=1..2x",
                                         "N=-1..2",
                                         "1...2",
                                         "N=1..9223372036854775808",
                                         "N=1..99999999999999999999999",
                                         "a-name-of-more-than-thirty-two-bytes=1..2" };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct plim_find search;
        struct plim_error error = { 0 };
        assert_true(plim_find_parse(texts[i], &search, &error) < 0);
        assert_int_equal(error.code, PLIM_E_USAGE);
    }
}

/* --- the receipt --- */

/* Three requests of two places, a peak in the middle, and one that does not fit. */
static void fill(struct plim_rehearsal *receipt)
{
    static char program[] = "program";
    static char *command[] = { program, NULL };
    struct plim_ledger *ledger = receipt->ledger = new_ledger();
    const struct plim_ledger_stack weights = { "libllama.so llama_model_base::load_tensors\n", "" };
    const struct plim_ledger_stack other = { "libc10.so c10::f\n", "/me/train.py:7 main\n" };
    uint32_t record;
    const int me = plim_ledger_join(ledger);
    const uint32_t a = plim_ledger_site(ledger, 0, PLIM_KIND_ALLOC, 77, &weights);
    const uint32_t b = plim_ledger_site(ledger, 0, PLIM_KIND_ALLOC, 78, &other);
    assert_true(a && b && a != b);
    assert_int_equal(plim_ledger_site(ledger, 0, PLIM_KIND_ALLOC, 77, &weights), a);
    assert_int_equal(plim_ledger_take(ledger, me, 0, PLIM_KIND_ALLOC, 600 * MIB, a, &record), PLIM_LEDGER_TAKEN);
    assert_int_equal(plim_ledger_take(ledger, me, 0, PLIM_KIND_ALLOC, 300 * MIB, b, &record), PLIM_LEDGER_TAKEN);
    plim_ledger_give(ledger, record);
    assert_int_equal(plim_ledger_take(ledger, me, 0, PLIM_KIND_ALLOC, 500 * MIB, b, &record), PLIM_LEDGER_FULL);
    assert_int_equal(plim_ledger_take(ledger, me, 0, PLIM_KIND_ALLOC, 100 * MIB, b, &record), PLIM_LEDGER_TAKEN);
    plim_rehearsal_take(receipt);
    receipt->command = command;
    snprintf(receipt->card_name, sizeof receipt->card_name, "Test");
    receipt->stopped_by = "exit";
    receipt->exit_code = 1;
    /* times of our own */
    receipt->seconds = 4;
    receipt->end_us = 4000000;
    receipt->card[0].peak_us = 2000000;
    receipt->card[0].n_points = 5;
    receipt->card[0].point[0] = (struct plim_ledger_point){ 0, 0, 0 };
    receipt->card[0].point[1] = (struct plim_ledger_point){ 1000000, 600 * (uint64_t)MIB, a };
    receipt->card[0].point[2] = (struct plim_ledger_point){ 2000000, 900 * (uint64_t)MIB, b };
    receipt->card[0].point[3] = (struct plim_ledger_point){ 3000000, 600 * (uint64_t)MIB, 0 };
    receipt->card[0].point[4] = (struct plim_ledger_point){ 3500000, 700 * (uint64_t)MIB, b };
    ledger->oom.time_us = 3250000;
}

static void test_lines(void **state)
{
    (void)state;
    static struct plim_rehearsal receipt;
    struct plim_rehearsal_line lines[PLIM_REHEARSAL_MAX_LINES];
    memset(&receipt, 0, sizeof receipt);
    fill(&receipt);
    assert_int_equal(plim_rehearsal_lines(&receipt, 0, true, lines), 2);
    assert_string_equal(lines[0].label, "model buffer");
    assert_int_equal(lines[0].bytes, 600 * MIB);
    assert_int_equal(lines[0].pillar, PLIM_PILLAR_WEIGHTS);
    assert_string_equal(lines[1].label, "cudaMalloc");
    assert_int_equal(lines[1].bytes, 300 * MIB);
    assert_int_equal(plim_rehearsal_lines(&receipt, 0, false, lines), 2);
    assert_int_equal(lines[1].bytes, 100 * MIB);
    plim_ledger_close(receipt.ledger);
}

static void test_text(void **state)
{
    (void)state;
    static const char wanted[] = "\nreceipt of program on Test\n"
                                 "gpu0  Test, 1000 MiB\n"
                                 "  model buffer             600.0 MiB  exact\n"
                                 "  cudaMalloc               300.0 MiB  exact\n"
                                 "  peak                     900.0 MiB  of 1000 MiB, after 2.00 s\n"
                                 "   1000 MiB |                                ................\n"
                                 "            |                                ################        ........\n"
                                 "            |                ::::::::::::::::################::::::::########\n"
                                 "            |                ################################################\n"
                                 "            |                ################################################\n"
                                 "            |                ################################################\n"
                                 "          0 +--------------------------------^-------------------------------\n"
                                 "             0.00 s                   peak 900.0 MiB                   4.00 s\n"
                                 "             ................L...............................................\n"
                                 "             L load\n";
    static struct plim_rehearsal receipt;
    char *text = NULL;
    size_t size = 0;
    memset(&receipt, 0, sizeof receipt);
    fill(&receipt);
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    plim_report_rehearsal_text(out, &receipt, /* said */ NULL, /* is_unicode */ false);
    fclose(out);
    assert_true(strlen(text) > sizeof wanted);
    assert_non_null(strstr(text, "short of 100.0 MiB on gpu0\n"));
    assert_non_null(strstr(text, "OUT OF MEMORY on gpu0 after 3.25 s: cudaMalloc of 500.0 MiB, 400.0 MiB were free\n"));
    assert_non_null(strstr(text, "python  /me/train.py:7 main\n"));
    assert_non_null(strstr(text, "300.0 MiB  -               /me/train.py:7 main\n"));
    text[sizeof wanted - 1] = '\0';
    assert_string_equal(text, wanted);
    free(text);
    plim_ledger_close(receipt.ledger);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_a_stack_says),
        cmocka_unit_test(test_a_stack_of_noise),
        cmocka_unit_test(test_cycles),
        cmocka_unit_test(test_optimizer_steps_come_first),
        cmocka_unit_test(test_bisection),
        cmocka_unit_test(test_a_search_breaks_off),
        cmocka_unit_test(test_ranges_that_are_none),
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
