/* SPDX-License-Identifier: MIT */
/* From a ledger to a receipt: attribution of stacks, counting of steps, the search, the drawing, the JSON. */
#include "unit.h"

#include "receipt/check.h"
#include "rehearse/attribution.h"
#include "rehearse/find.h"
#include "rehearse/rehearsal.h"
#include "rehearse/steps.h"
#include "rehearse/stop_condition.h"
#include "report/receipt/documents.h"
#include "report/receipt/rehearsal.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MIB = 1 << 20 };

/* --- attribution --- */

#define RECIPE "site-packages/"
#define TORCH  RECIPE "torch/nn/modules/linear.py:125 forward\n"

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
        { "",
          TORCH RECIPE "recipes/lora.py:700 train\n" RECIPE
                       "recipes/lora.py:814 <module>\n<frozen runpy>:88 _run_code\n" RECIPE
                       "torchtune/_cli/tune.py:49 main\n/me/venv/bin/tune:8 <module>\n",
          NULL, "forward", RECIPE "recipes/lora.py:700 train" },
        { "",
          TORCH RECIPE "llamafactory/train/trainer.py:9 compute_loss\n" RECIPE
                       "transformers/trainer.py:7 train\n" RECIPE
                       "llamafactory/cli.py:31 main\n/me/venv/bin/llamafactory-cli:7 <module>\n",
          NULL, "forward", RECIPE "llamafactory/train/trainer.py:9 compute_loss" },
        { "", TORCH RECIPE "alone.py:5 main\n" RECIPE "alone.py:9 <module>\n<frozen runpy>:88 _run_code\n", NULL,
          "forward", RECIPE "alone.py:5 main" },
        { "", TORCH "/me/bin/train:90 <module>\n", NULL, "forward", "/me/bin/train:90 <module>" },
        { "", TORCH "/me/venv/bin/tune:8 <module>\n", NULL, "forward",
          RECIPE "torch/nn/modules/linear.py:125 forward" },
        { "libtorch.so torch::autograd::Engine::evaluate_function\n", "", NULL, "backward",
          "torch::autograd::Engine::evaluate_function" },
        { "libtorch.so c10::cuda::f\nlibtorch.so at::native::mm\n", "", NULL, NULL, "at::native::mm" },
        { "", "", NULL, NULL, "" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct plim_ledger_stack stack = { 0 };
        struct plim_attribution found;
        snprintf(stack.native, sizeof stack.native, "%s", rows[i].native);
        snprintf(stack.python, sizeof stack.python, "%s", rows[i].python);
        plim_attribution_of(&stack, &found);
        assert_string_equal(found.label ? found.label : "-", rows[i].label ? rows[i].label : "-");
        assert_string_equal(found.phase ? found.phase : "-", rows[i].phase ? rows[i].phase : "-");
        assert_string_equal(found.where, rows[i].where);
        assert_int_equal(found.pillar == PLIM_PILLAR_MAX_, !rows[i].label);
    }
}

static void test_a_stack_of_noise(void **state)
{
    (void)state;
    struct plim_ledger_stack stack;
    struct plim_attribution found;
    memset(&stack, 'x', sizeof stack); /* without an end */
    plim_attribution_of(&stack, &found);
    assert_null(found.label);
    memset(&stack, '\n', sizeof stack);
    plim_attribution_of(&stack, &found);
    assert_string_equal(found.where, "");
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
    assert_int_equal(steps_of("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", 0, 3, true), 0); /* PyTorch will say */
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

/* Rounds of a process that was seen before the one with an optimizer do not count beside its steps. */
static void test_rounds_beside_an_optimizer(void **state)
{
    (void)state;
    struct plim_ledger *ledger = new_ledger();
    struct plim_rehearsal_steps steps;
    ledger->process[0].pid = ledger->process[1].pid = getpid();
    for (uint64_t i = 0; i < 20; i++)
        ledger->cycle[0][i % PLIM_LEDGER_MAX_CYCLES] = (struct plim_ledger_cycle){ 7, 100, 0 };
    ledger->process[0].n_cycles = 20;
    ledger->process[1].n_optimizer_steps = 2;
    plim_steps_count(ledger, 3, &steps);
    assert_int_equal(steps.how, PLIM_STEPS_OPTIMIZER);
    assert_int_equal(steps.n, 2);
    plim_ledger_close(ledger);
}

/* --- when to stop --- */

static void test_when_to_stop(void **state)
{
    enum { NEVER = 0 };
    static const struct {
        enum plim_until until;
        bool has_memory, is_listening;
        double quiet_s, idle_s, elapsed_s, timeout_s;
        const char *reason;
    } rows[] = {
        { PLIM_UNTIL_EXIT, true, true, 1000, 1000, 1000, NEVER, NULL },
        { PLIM_UNTIL_EXIT, false, false, 0, 0, 10, 10, "timeout" },
        { PLIM_UNTIL_EXIT, true, true, 0, 0, 9.9, 10, NULL },
        { PLIM_UNTIL_STABLE, true, false, 6, 0, 10, NEVER, "stable" },
        { PLIM_UNTIL_STABLE, true, false, 4, 100, 10, NEVER, NULL },     /* something new came */
        { PLIM_UNTIL_STABLE, false, false, 600, 600, 600, NEVER, NULL }, /* nothing on a card yet */
        { PLIM_UNTIL_READY, true, true, 3, 3, 10, NEVER, "ready" },
        { PLIM_UNTIL_READY, true, false, 600, 600, 600, NEVER, NULL }, /* takes no connections */
        { PLIM_UNTIL_READY, true, true, 1, 600, 10, NEVER, NULL },
        { PLIM_UNTIL_READY, true, true, 60, 1, 60, NEVER, NULL },      /* still computes */
        { PLIM_UNTIL_READY, true, true, 130, 1, 130, NEVER, "ready" }, /* it polls */
        { PLIM_UNTIL_READY, false, true, 600, 600, 600, NEVER, NULL },
        { PLIM_UNTIL_AUTO, true, true, 6, 6, 10, NEVER, "stable" },
        { PLIM_UNTIL_AUTO, true, false, 600, 600, 600, NEVER, NULL },
        { PLIM_UNTIL_AUTO, true, true, 6, 1, 10, NEVER, NULL },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct plim_ledger *ledger = new_ledger();
        const struct plim_stop_condition condition = { rows[i].until, 5, rows[i].timeout_s, 0 };
        ledger->start_us -= 10000000000;
        ledger->is_listening = rows[i].is_listening;
        ledger->process[5].n_launches = 1;
        if (rows[i].has_memory) {
            ledger->card[0].peak_bytes = MIB;
            ledger->card[0].peak_us = plim_ledger_now_us(ledger) - (uint64_t)(rows[i].quiet_s * 1e6);
        }
        const char *reason = plim_stop_reason(&condition, ledger, rows[i].elapsed_s, rows[i].idle_s);
        if ((reason == NULL) != (rows[i].reason == NULL) || (reason && strcmp(reason, rows[i].reason) != 0))
            fail_msg("row %zu: %s", i, reason ? reason : "goes on");
        plim_ledger_close(ledger);
    }
}

/* What listens and is none: it is stopped only when the user says that it is one. */
static void test_what_is_no_server(void **state)
{
    static const struct {
        bool has_ranks, has_optimizer, has_launched;
        double idle_s;
        enum plim_until until;
        bool is_stopped;
    } rows[] = {
        { false, false, true, 6, PLIM_UNTIL_AUTO, true },    { true, false, true, 600, PLIM_UNTIL_AUTO, false },
        { false, true, true, 600, PLIM_UNTIL_AUTO, false },  { false, false, false, 60, PLIM_UNTIL_AUTO, false },
        { false, false, false, 130, PLIM_UNTIL_AUTO, true }, /* it has waited for long */
        { true, true, false, 3, PLIM_UNTIL_READY, true },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct plim_ledger *ledger = new_ledger();
        const struct plim_stop_condition condition = { rows[i].until, 5, 0, 0 };
        ledger->start_us -= 10000000000;
        ledger->is_listening = true;
        ledger->has_ranks = rows[i].has_ranks;
        ledger->process[5].n_launches = rows[i].has_launched;
        ledger->process[5].has_made_optimizer = rows[i].has_optimizer;
        ledger->card[0].peak_bytes = MIB;
        ledger->card[0].peak_us = plim_ledger_now_us(ledger) - (uint64_t)(rows[i].idle_s * 1e6);
        if ((plim_stop_reason(&condition, ledger, 1000, rows[i].idle_s) != NULL) != rows[i].is_stopped)
            fail_msg("row %zu", i);
        plim_ledger_close(ledger);
    }
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

static struct plim_find note_all(const char *range, const enum plim_find_outcome *outcomes, size_t n)
{
    struct plim_find search;
    uint64_t value;
    assert_int_equal(plim_find_parse(range, &search, NULL), 0);
    for (size_t i = 0; i < n; i++) {
        assert_true(plim_find_next(&search, &value));
        plim_find_note(&search, &(struct plim_find_trial){ .value = value, .outcome = outcomes[i] });
    }
    assert_false(plim_find_next(&search, &value));
    return search;
}

/* What recovers does not fit, unless the least value does already. */
static void test_a_search_over_what_recovers(void **state)
{
    (void)state;
    const enum plim_find_outcome above[] = { PLIM_FIND_FITS, PLIM_FIND_OUT_OF_MEMORY, PLIM_FIND_RECOVERED,
                                             PLIM_FIND_FITS }; /* 1, 8, 4, 2, and then 3 */
    const enum plim_find_outcome all[] = { PLIM_FIND_RECOVERED, PLIM_FIND_OUT_OF_MEMORY, PLIM_FIND_RECOVERED,
                                           PLIM_FIND_OUT_OF_MEMORY, PLIM_FIND_RECOVERED }; /* 1, 8, 4, 6, 5 */
    const enum plim_find_outcome last[] = { PLIM_FIND_RECOVERED, PLIM_FIND_RECOVERED };
    enum plim_find_outcome fits[5] = { 0 };
    memcpy(fits, above, sizeof above);
    struct plim_find search = note_all("1..8", fits, 5);
    assert_true(search.is_decided && !search.is_of_completion && search.has_recovered);
    assert_int_equal(search.largest, 3);
    assert_int_equal(search.largest_recovered, 4);
    search = note_all("1..8", all, 5);
    assert_true(search.is_decided && search.is_of_completion);
    assert_int_equal(search.largest, 5);
    search = note_all("1..8", last, 2);
    assert_true(search.is_decided && search.largest == 8);
}

static void test_the_value_in_a_command(void **state)
{
    (void)state;
    static char program[] = "p", value[] = "--n={}", two[] = "{}x{}", other[] = "{ }";
    char *const command[] = { program, value, two, other, NULL };
    char *const plain[] = { program, other, NULL };
    struct plim_arena arena;
    assert_true(plim_find_has_place(command));
    assert_false(plim_find_has_place(plain));
    plim_arena_init(&arena, 1 << 16);
    char **filled = plim_find_arguments(&arena, command, 1234);
    assert_non_null(filled);
    assert_string_equal(filled[0], "p");
    assert_string_equal(filled[1], "--n=1234");
    assert_string_equal(filled[2], "1234x1234");
    assert_string_equal(filled[3], "{ }");
    assert_null(filled[4]);
    plim_arena_done(&arena);
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

static void test_no_more_trials_than_there_is_room_for(void **state)
{
    static struct {
        struct plim_find find;
        unsigned char behind[256];
    } room;
    (void)state;
    memset(&room, 0, sizeof room);
    assert_int_equal(plim_find_parse("1..1000000", &room.find, NULL), 0);
    for (uint64_t i = 0; i < 2 * PLIM_FIND_MAX_TRIALS; i++)
        plim_find_note(&room.find, &(struct plim_find_trial){ .value = 1, .outcome = PLIM_FIND_FITS, .peak_bytes = 7 });
    assert_int_equal(room.find.n_trials, PLIM_FIND_MAX_TRIALS);
    for (size_t i = 0; i < sizeof room.behind; i++)
        assert_int_equal(room.behind[i], 0);
    uint64_t value;
    assert_false(plim_find_next(&room.find, &value));
}

static void test_invalid_ranges(void **state)
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

/* Three requests of two call sites, a peak in the middle, and one that does not fit; some pinned memory. */
static void fill(struct plim_rehearsal *rehearsal)
{
    static char program[] = "program";
    static char *command[] = { program, NULL };
    struct plim_ledger *ledger = rehearsal->ledger = new_ledger();
    const struct plim_ledger_stack weights = { "libllama.so llama_model_base::load_tensors\n", "" };
    const struct plim_ledger_stack other = { "libc10.so c10::f\n", "/me/train.py:7 main\n" };
    uint32_t record;
    const int me = plim_ledger_join(ledger);
    const uint32_t a = plim_ledger_site(ledger, 0, PLIM_KIND_ALLOC, 77, &weights);
    const uint32_t b = plim_ledger_site(ledger, 0, PLIM_KIND_ALLOC, 78, &other);
    const uint32_t c = plim_ledger_site(ledger, 0, PLIM_KIND_PINNED, 79, &weights);
    assert_true(a && b && c && a != b);
    assert_int_equal(plim_ledger_site(ledger, 0, PLIM_KIND_ALLOC, 77, &weights), a);
    assert_int_equal(plim_ledger_take(ledger, me, 0, PLIM_KIND_ALLOC, 600 * MIB, a, &record), PLIM_LEDGER_TAKEN);
    assert_int_equal(plim_ledger_take(ledger, me, 0, PLIM_KIND_ALLOC, 300 * MIB, b, &record), PLIM_LEDGER_TAKEN);
    plim_ledger_give(ledger, record);
    assert_int_equal(plim_ledger_take(ledger, me, 0, PLIM_KIND_ALLOC, 500 * MIB, b, &record), PLIM_LEDGER_FULL);
    assert_int_equal(plim_ledger_take(ledger, me, 0, PLIM_KIND_ALLOC, 100 * MIB, b, &record), PLIM_LEDGER_TAKEN);
    assert_int_equal(plim_ledger_take(ledger, me, 0, PLIM_KIND_PINNED, MIB / 2, c, &record), PLIM_LEDGER_TAKEN);
    plim_ledger_warn(ledger, "not_supported", "cuSomething");
    ledger->oom.time_us = 3250000;
    plim_rehearsal_take(rehearsal);
    plim_rehearsal_finish(rehearsal);
    rehearsal->command = command;
    snprintf(rehearsal->card_name, sizeof rehearsal->card_name, "Test");
    rehearsal->stopped_by = "exit";
    rehearsal->values = "shadow";
    rehearsal->schedule = "eager";
    rehearsal->exit_code = 1;
    /* times of our own */
    struct plim_rehearsal_card *card = &rehearsal->card[0];
    rehearsal->seconds = 4;
    rehearsal->end_us = 4000000;
    card->peak_us = 2000000;
    card->n_points = 5;
    card->point[0] = (struct plim_rehearsal_point){ 0, 0, NULL };
    card->point[1] = (struct plim_rehearsal_point){ 1000000, 600 * (uint64_t)MIB, "load" };
    card->point[2] = (struct plim_rehearsal_point){ 2000000, 900 * (uint64_t)MIB, NULL };
    card->point[3] = (struct plim_rehearsal_point){ 3000000, 600 * (uint64_t)MIB, NULL };
    card->point[4] = (struct plim_rehearsal_point){ 3500000, 700 * (uint64_t)MIB, NULL };
}

static struct plim_rehearsal rehearsal;

static int set_up(void **state)
{
    (void)state;
    memset(&rehearsal, 0, sizeof rehearsal);
    fill(&rehearsal);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    plim_ledger_close(rehearsal.ledger);
    return 0;
}

static void test_lines(void **state)
{
    (void)state;
    const struct plim_receipt_device *peak = &rehearsal.receipt.device[0], *final = &rehearsal.card[0].final;
    assert_int_equal(peak->n_lines, 2);
    assert_string_equal(peak->line[0].label, "model buffer");
    assert_int_equal(peak->line[0].bytes, 600 * MIB);
    assert_int_equal(peak->line[0].pillar, PLIM_PILLAR_WEIGHTS);
    assert_string_equal(peak->line[1].label, "cudaMalloc");
    assert_int_equal(peak->line[1].bytes, 300 * MIB);
    assert_int_equal(peak->line[1].pillar, PLIM_PILLAR_MAX_);
    assert_int_equal(peak->peak_bytes, 900 * MIB);
    assert_int_equal(final->n_lines, 2);
    assert_int_equal(final->line[1].bytes, 100 * MIB);
    const struct plim_receipt_device *host = plim_receipt_find(&rehearsal.receipt, "host");
    assert_non_null(host);
    assert_int_equal(host->line[0].bytes, MIB / 2);
}

static void test_call_sites(void **state)
{
    (void)state;
    const struct plim_call_site *site = rehearsal.call_site;
    assert_int_equal(rehearsal.n_call_sites, 3);
    assert_int_equal(site[0].peak_bytes, 600 * MIB);
    assert_string_equal(site[0].phase, "load");
    assert_int_equal(site[1].peak_bytes, 300 * MIB);
    assert_int_equal(site[1].final_bytes, 100 * MIB);
    assert_string_equal(site[1].where, "/me/train.py:7 main");
    assert_int_equal(site[2].device, PLIM_REHEARSAL_HOST);
    assert_int_equal(rehearsal.card[0].n_phases, 2);
    assert_string_equal(rehearsal.card[0].phase[0].name, "load");
    assert_int_equal(rehearsal.n_allocations, 3);
    assert_int_equal(rehearsal.allocation[0].bytes, 600 * MIB);
}

/* `check` gives the same answer for a rehearsal as for the document that was written of it. */
static void test_the_document_is_the_receipt(void **state)
{
    (void)state;
    static struct plim_receipt read, engine, bill;
    static struct plim_check direct, from_document;
    struct plim_error error = { 0 };
    char *text = NULL;
    size_t size = 0;
    plim_receipt_init(&engine, "llama.cpp", "log");
    snprintf(engine.version, sizeof engine.version, "b1234");
    snprintf(engine.model, sizeof engine.model, "a model");
    plim_receipt_copy_engine(&rehearsal.receipt, &engine);
    rehearsal.receipt.is_lower_bound = true; /* it failed */
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_true(plim_report_rehearsal_json(out, &rehearsal, /* find */ NULL));
    fclose(out);
    assert_true(plim_document_is_near(text, size));
    assert_int_equal(plim_document_read(text, size, &read, &error), 0);
    assert_memory_equal(&read, &rehearsal.receipt, sizeof read);
    free(text);
    plim_receipt_init(&bill, "llama.cpp", "bill");
    plim_receipt_add(plim_receipt_device(&bill, "gpu0"), PLIM_PILLAR_WEIGHTS, "model buffer", 600 * MIB, 0);
    plim_check(&bill, &rehearsal.receipt, &direct);
    plim_check(&bill, &read, &from_document);
    assert_int_equal(direct.n_exact, 3);
    assert_int_equal(direct.n_outside, 2);     /* what the bill does not have */
    direct.worst = from_document.worst = NULL; /* points into each */
    assert_memory_equal(&direct, &from_document, sizeof direct);
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
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    plim_report_rehearsal_text(out, &rehearsal, /* engine_log */ NULL, /* is_unicode */ false);
    fclose(out);
    assert_true(strlen(text) > sizeof wanted);
    assert_non_null(strstr(text, "short of 100.0 MiB on gpu0\n"));
    assert_non_null(strstr(text, "OUT OF MEMORY on gpu0 after 3.25 s: cudaMalloc of 500.0 MiB, 400.0 MiB were free\n"));
    assert_non_null(strstr(text, "python  /me/train.py:7 main\n"));
    assert_non_null(strstr(text, "300.0 MiB  -               /me/train.py:7 main\n"));
    assert_non_null(strstr(text, "not_supported: cuSomething (1 time)\n"));
    text[sizeof wanted - 1] = '\0';
    assert_string_equal(text, wanted);
    free(text);
}

/* --- PyTorch's own peaks --- */

static void told(struct plim_ledger *ledger, uint32_t slot, uint64_t reserved_mib, bool is_at_end)
{
    struct plim_ledger_process *process = &ledger->process[slot];
    process->has_pytorch = 1;
    process->has_last_peaks = is_at_end;
    process->pytorch[0].allocated_bytes = (reserved_mib - 20) * MIB;
    process->pytorch[0].active_bytes = (reserved_mib - 10) * MIB;
    process->pytorch[0].reserved_bytes = reserved_mib * MIB;
}

static void assert_says(const char *wanted)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    plim_rehearsal_take(&rehearsal);
    plim_report_rehearsal_text(out, &rehearsal, /* engine_log */ NULL, /* is_unicode */ false);
    fclose(out);
    assert_non_null(strstr(text, wanted));
    free(text);
}

/* Those of the process that reserved most; a lower bound when one did not tell at its end, or missed a reset. */
static void test_peaks_of_pytorch(void **state)
{
    (void)state;
    struct plim_ledger *ledger = rehearsal.ledger;
    const struct plim_rehearsal_pytorch *pytorch = &rehearsal.card[0].pytorch;
    assert_int_equal(pytorch->n_processes, 0); /* unknown */
    told(ledger, 5, 200, true);
    assert_says("  PyTorch's peaks: 180.0 MiB allocated, 190.0 MiB active, 200.0 MiB reserved\n");
    told(ledger, 3, 300, true);
    told(ledger, 4, 100, true);
    assert_says("  PyTorch's peaks: 280.0 MiB allocated, 290.0 MiB active, 300.0 MiB reserved,\n"
                "    in the process that reserved most\n");
    assert_int_equal(pytorch->n_processes, 3);
    assert_false(pytorch->is_lower_bound);
    ledger->process[5].has_missed_peaks = 1;
    assert_says("  PyTorch's peaks, at least: 280.0 MiB");
    ledger->process[5].has_missed_peaks = 0;
    ledger->process[6].has_pytorch = 1; /* it was ended before it told anything */
    assert_says("  PyTorch's peaks, at least: 280.0 MiB");
    assert_int_equal(pytorch->n_processes, 3);
}

/* --- programs that hang, or write where they should not --- */

static const struct plim_rehearsal_warning *warning_of(const char *kind)
{
    for (uint32_t i = 0; i < rehearsal.n_warnings; i++)
        if (!strcmp(rehearsal.warning[i].kind, kind))
            return &rehearsal.warning[i];
    return NULL;
}

/* A stopped process has the lock: the figures are read nevertheless, and the receipt says so. */
static void test_a_locked_ledger(void **state)
{
    (void)state;
    struct plim_ledger *ledger = rehearsal.ledger;
    int ends[2];
    char byte;
    assert_null(warning_of("unlocked"));
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        plim_ledger_lock(ledger);
        if (write(ends[1], "x", 1) == 1)
            raise(SIGSTOP);
        _exit(0);
    }
    assert_int_equal(read(ends[0], &byte, 1), 1);
    memset(ledger->card[0].name, 'x', sizeof ledger->card[0].name);
    plim_rehearsal_take(&rehearsal);
    plim_rehearsal_finish(&rehearsal);
    assert_non_null(warning_of("unlocked"));
    assert_non_null(warning_of("not_supported"));
    assert_int_equal(rehearsal.receipt.device[0].peak_bytes, 900 * MIB);
    assert_true(strlen(rehearsal.receipt.device[0].name) < PLIM_LEDGER_NAME_BYTES);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
    close(ends[0]);
    close(ends[1]);
}

/* A program may write anything into the ledger: what is taken from it stays within its tables. */
static void test_a_ledger_that_was_written_over(void **state)
{
    struct plim_ledger *ledger = rehearsal.ledger;
    (void)state;
    ledger->n_cards = UINT32_MAX;
    for (int i = 0; i < PLIM_LEDGER_MAX_CARDS; i++)
        memset(ledger->card[i].name, 'x', sizeof ledger->card[i].name);
    plim_rehearsal_take(&rehearsal);
    plim_rehearsal_finish(&rehearsal);
    assert_true(rehearsal.n_cards <= PLIM_LEDGER_MAX_CARDS && rehearsal.receipt.n_devices <= PLIM_RECEIPT_MAX_DEVICES);
    for (uint32_t i = 0; i < rehearsal.receipt.n_devices; i++)
        assert_true(strlen(rehearsal.receipt.device[i].name) < PLIM_LEDGER_NAME_BYTES);
}

/* Nobody can change the size of the file: who reads beyond its end gets a SIGBUS. */
static void test_the_file_keeps_its_size(void **state)
{
    (void)state;
    struct plim_ledger *ledger = NULL;
    char path[64];
    const int fd = plim_rehearsal_ledger(&ledger);
    assert_true(fd >= 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    assert_int_equal(truncate(path, 0), -1);
    assert_int_equal(truncate(path, (off_t)sizeof *ledger + 1), -1);
    assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE), -1);
    struct plim_ledger *opened = plim_ledger_open(path);
    assert_non_null(opened);
    ledger->n_met_later = 7;
    assert_int_equal(opened->n_met_later, 7);
    plim_ledger_close(opened);
    plim_ledger_close(ledger);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_a_stack_says),
        cmocka_unit_test(test_a_stack_of_noise),
        cmocka_unit_test(test_cycles),
        cmocka_unit_test(test_optimizer_steps_come_first),
        cmocka_unit_test(test_rounds_beside_an_optimizer),
        cmocka_unit_test(test_when_to_stop),
        cmocka_unit_test(test_what_is_no_server),
        cmocka_unit_test(test_no_more_trials_than_there_is_room_for),
        cmocka_unit_test(test_bisection),
        cmocka_unit_test(test_a_search_over_what_recovers),
        cmocka_unit_test(test_the_value_in_a_command),
        cmocka_unit_test(test_a_search_breaks_off),
        cmocka_unit_test(test_invalid_ranges),
        cmocka_unit_test_setup_teardown(test_lines, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_call_sites, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_the_document_is_the_receipt, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_text, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_peaks_of_pytorch, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_locked_ledger, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_ledger_that_was_written_over, set_up, tear_down),
        cmocka_unit_test(test_the_file_keeps_its_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
