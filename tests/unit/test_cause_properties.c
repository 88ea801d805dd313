/* SPDX-License-Identifier: MIT */
/* What holds for any figures and any text: made up from a seed, so that a failure can be repeated. */
#include "cause_case.h"
#include "diagnose/cause/rules.h"
#include "diagnose/cause/trace.h"

#include <string.h>

static uint64_t seed;

static double uniform(double low, double high)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return low + (high - low) * (double)(seed >> 11) / 9007199254740992.0;
}

/* As PyTorch prints: two decimals of MiB below a GiB, of GiB above. */
static int64_t printed(int64_t bytes)
{
    double unit = bytes >= (int64_t)PLIM_GIB ? (double)PLIM_GIB : (double)PLIM_MIB;
    return (int64_t)((double)(int64_t)(100 * (double)bytes / unit + 0.5) / 100 * unit);
}

enum scenario { OTHERS, PIECES, FULL, FRACTION, ENOUGH, N_SCENARIOS };

/* A card whose account adds up: what is allocated, in pieces, of others, free and the context are the whole of it. */
static enum plim_cause make(enum scenario scenario, int64_t *figures)
{
    double total = uniform(6, 80), context_gib = uniform(0.3, 0.7), free_gib = uniform(0, 0.02) * total;
    double tried = free_gib + uniform(0.02, 0.05) * total, others = 0, unallocated = uniform(0, 0.01) * total;
    enum plim_cause cause = PLIM_CAUSE_BATCH_OR_ACTIVATION;
    int64_t allowed = PLIM_UNKNOWN;
    if (scenario == OTHERS) {
        others = uniform(0.2, 0.6) * total;
        cause = PLIM_CAUSE_OTHER_PROCESS;
    } else if (scenario == PIECES) {
        unallocated = tried + uniform(0.1, 0.3) * total;
        cause = PLIM_CAUSE_FRAGMENTATION;
    } else if (scenario == ENOUGH) {
        tried = uniform(0.02, 0.1) * total;
        free_gib = tried + uniform(0.1, 0.4) * total;
        cause = PLIM_CAUSE_DRIVER_OR_CONTEXT;
    } else if (scenario == FRACTION) {
        tried = uniform(0.02, 0.1) * total;
        free_gib = tried + uniform(0.1, 0.4) * total;
        cause = PLIM_CAUSE_ALLOCATOR_LIMIT;
    }
    double allocated = total - free_gib - context_gib - others - unallocated;
    if (scenario == FRACTION)
        allowed = GIB(allocated + unallocated + tried / 2);
    figures[0] = GIB(tried), figures[1] = GIB(total), figures[2] = GIB(free_gib);
    figures[3] = GIB(allocated + unallocated + context_gib), figures[4] = GIB(allocated), figures[5] = GIB(unallocated);
    figures[6] = allowed, figures[7] = others > 0 ? GIB(others) : PLIM_UNKNOWN;
    return cause;
}

static enum plim_cause cause_of(const int64_t *figures, bool is_container)
{
    begin();
    frame("/lib/python3.11/site-packages/torch/_tensor.py", "backward", false);
    set(PLIM_N_TRIED_BYTES, figures[0]);
    set(PLIM_N_TOTAL_BYTES, figures[1]);
    set(PLIM_N_FREE_BYTES, figures[2]);
    if (is_container)
        other(77, figures[3]);
    else
        set(PLIM_N_PROCESS_BYTES, figures[3]);
    set(PLIM_N_ALLOCATED_BYTES, figures[4]);
    set(PLIM_N_RESERVED_UNALLOCATED_BYTES, figures[5]);
    set(PLIM_N_ALLOWED_BYTES, figures[6]);
    if (figures[7] != PLIM_UNKNOWN)
        other(19239, figures[7]);
    find();
    return answer.best.cause;
}

static void test_scenarios_have_their_cause(void **state)
{
    (void)state;
    for (seed = 1; seed < 4000;) {
        uint64_t began = seed;
        enum scenario scenario = (enum scenario)(seed % N_SCENARIOS);
        int64_t figures[8], rough[8];
        enum plim_cause expected = make(scenario, figures);
        for (int is_container = 0; is_container < 2; is_container++) {
            enum plim_cause exact = cause_of(figures, is_container);
            if (exact != expected)
                fail_msg("seed %lu, scenario %d, container %d: %s, not %s", (unsigned long)began, (int)scenario,
                         is_container, plim_cause_name(exact), plim_cause_name(expected));
            for (int i = 0; i < 8; i++) /* as printed, and 5 MiB off to either side */
                rough[i] = figures[i] == PLIM_UNKNOWN
                               ? PLIM_UNKNOWN
                               : printed(figures[i]) + (figures[i] > MIB(10) ? MIB(uniform(-5, 5)) : 0);
            enum plim_cause rounded = cause_of(rough, is_container);
            if (rounded != expected)
                fail_msg("seed %lu, scenario %d, container %d: %s when rounded, not %s", (unsigned long)began,
                         (int)scenario, is_container, plim_cause_name(rounded), plim_cause_name(expected));
        }
        seed = began + 1;
    }
}

/* Any figures at all: an answer, no overflow, text that ends. */
static void test_hostile_figures(void **state)
{
    (void)state;
    static const int64_t values[] = { PLIM_UNKNOWN,     INT64_MIN + 1, -1,       0, 1, 4096, INT64_C(1) << 40,
                                      INT64_C(1) << 50, INT64_MAX / 2, INT64_MAX };
    static const char *const stages[] = { "",        "startup", "fraction", "kv",    "weights",
                                          "compute", "host",    "cap",      "graph", "sampler" };
    for (seed = 1; seed < 20000;) {
        uint64_t began = seed;
        begin();
        pattern.stage = stages[seed % 10];
        pattern.cause = (enum plim_cause)(seed % 3 ? PLIM_CAUSE_UNKNOWN : (int)(seed / 3 % PLIM_CAUSE_MAX_));
        for (int i = 0; i < PLIM_NUMBER_MAX_; i++)
            finding.numbers.value[i] = values[(int)uniform(0, 9.99)];
        for (int i = 0; i < 4; i++)
            other(values[(int)uniform(0, 9.99)], values[(int)uniform(0, 9.99)]);
        for (int i = 0; i < 8; i++)
            point(i, values[(int)uniform(1, 9.99)], values[(int)uniform(0, 9.99)] % 100000);
        find();
        assert_int_not_equal(answer.best.cause, PLIM_CAUSE_UNKNOWN);
        assert_true(strlen(answer.best.why) < sizeof answer.best.why);
        assert_non_null(answer.best.rule);
        seed = began + 1;
    }
}

/* --- the order of the rules --- */

/* The first that holds wins: cause.c has the order, and here it is once more, so that no change of it goes unseen. */
static const struct ordered {
    const char *id;
    plim_rule_fn *holds;
} order[] = {
    { "not-memory", plim_rule_not_memory },
    { "ram-buffer", plim_rule_ram_buffer },
    { "startup", plim_rule_startup },
    { "fraction", plim_rule_fraction },
    { "killed", plim_rule_killed },
    { "text", plim_rule_text },
    { "weights-stage", plim_rule_weights },
    { "kv-stage", plim_rule_kv_stage },
    { "graphs", plim_rule_graphs },
    { "compute-stage", plim_rule_compute },
    { "stage", plim_rule_stage },
    { "too-large", plim_rule_too_large },
    { "share", plim_rule_share },
    { "allowed", plim_rule_allowed },
    { "cap", plim_rule_cap },
    { "spilled", plim_rule_spilled },
    { "announced", plim_rule_announced },
    { "parameters", plim_rule_parameters },
    { "free-enough", plim_rule_free_enough },
    { "others", plim_rule_others },
    { "small-program", plim_rule_small_program },
    { "pieces", plim_rule_pieces },
    { "status", plim_rule_status },
    { "optimizer", plim_rule_optimizer },
    { "growth", plim_rule_growth },
    { "optimizer-phase", plim_rule_optimizer_phase },
    { "no-context", plim_rule_no_context },
    { "loading", plim_rule_loading },
    { "cache", plim_rule_cache },
    { "node", plim_rule_node },
    { "step", plim_rule_step },
    { "handle", plim_rule_handle },
    { "told-table", plim_rule_told_table },
    { "piece", plim_rule_piece },
    { "rest", plim_rule_rest },
};

/* Rules that never hold together with the one behind them: of two stages, two frames, a lack and no lack there is one.
 */
static const char *const exclusive[] = { "startup", "weights-stage", "compute-stage", "share",      "growth",
                                         "loading", "cache",         "handle",        "told-table", "optimizer-phase" };

static unsigned n_contests[COUNT(order)];

static uint64_t pick(uint64_t n) { return (uint64_t)uniform(0, (double)n - 0.001); }

/* Anything that a message, its traceback and the log around it may say. */
static void make_up(void)
{
    static const char *const stages[] = { "weights", "kv",      "compute", "pool",      "startup", "fraction",
                                          "sampler", "graph",   "prefill", "optimizer", "host",    "shm",
                                          "cap",     "virtual", "api",     "handle",    "status",  "" };
    static const char *const frameworks[] = { "pytorch", "vllm", "llama.cpp", "ollama", "sglang" };
    static const struct {
        const char *file, *name;
    } frames[] = { { "torch/optim/adam.py", "step" },
                   { "torch/autograd/__init__.py", "backward" },
                   { "transformers/modeling_utils.py", "from_pretrained" },
                   { "transformers/generation/utils.py", "generate" },
                   { "transformers/cache_utils.py", "update" },
                   { "vllm/worker/model_runner.py", "capture_model" },
                   { "torch/nn/modules/linear.py", "forward" } };
    static const enum plim_pattern_role roles[] = { PLIM_PATTERN_ROLE_FAILURE, PLIM_PATTERN_ROLE_FAILURE,
                                                    PLIM_PATTERN_ROLE_FAILURE, PLIM_PATTERN_ROLE_FAULT };
    begin();
    if (pick(2)) /* figures that could be those of a card */
        message(uniform(0.01, 30), 24, uniform(0, 12), uniform(-4, 24), uniform(-4, 20), uniform(-4, 12));
    pattern.stage = stages[pick(COUNT(stages))];
    pattern.framework = finding.framework = frameworks[pick(COUNT(frameworks))];
    pattern.role = roles[pick(COUNT(roles))];
    pattern.cause = pick(3) ? PLIM_CAUSE_UNKNOWN : (enum plim_cause)pick(PLIM_CAUSE_MAX_);
    for (int i = 0; i < PLIM_NUMBER_MAX_; i++) {
        if (finding.numbers.value[i] == PLIM_UNKNOWN && pick(8) == 0)
            finding.numbers.value[i] = MIB(pick(2) ? uniform(0, 400) : uniform(0, 26000));
        if (pick(8) == 0)
            context.numbers.value[i] = MIB(uniform(0, 26000));
    }
    if (pick(6) == 0) { /* a small program that asks for little */
        set(PLIM_N_TRIED_BYTES, MIB(uniform(1, 64)));
        set(PLIM_N_PARAMETER_BYTES, MIB(uniform(1, 64)));
    }
    if (pick(6) == 0) /* a part of it is in RAM */
        set(PLIM_N_ALLOCATED_BYTES, GIB(uniform(24, 80)));
    if (pick(6) == 0) { /* a program that says what it will need */
        pattern.stage = "api";
        set(PLIM_N_MODEL_BYTES, GIB(uniform(10, 20)));
        set(PLIM_N_FREE_BYTES, GIB(uniform(1, 8)));
    }
    if (pick(6) == 0) { /* vLLM has its share of the card */
        finding.framework = "vllm";
        set(PLIM_N_PROCESS_BYTES, GIB(23));
        set(PLIM_N_UTILIZATION, (int64_t)uniform(800000, 950000));
        set(PLIM_N_KV_TOKENS, 40000);
    }
    if (pick(4) == 0)
        snprintf(finding.words.text[PLIM_W_MODEL], PLIM_WORD_BYTES, "some/model-%dB", (int)uniform(1, 99));
    if (pick(4) == 0)
        snprintf(context.words.text[PLIM_W_PHASE], PLIM_WORD_BYTES, "%s", pick(2) ? "training" : "loading");
    finding.numbers.value[PLIM_N_SIGNAL] = pick(4) ? PLIM_UNKNOWN : 9;
    finding.numbers.value[PLIM_N_DEVICE] = pick(2) ? 0 : PLIM_UNKNOWN;
    if (pick(6) == 0)
        snprintf(finding.words.text[PLIM_W_BUFFER], PLIM_WORD_BYTES, "CPU");
    if (pick(6) == 0) { /* enough is free, and in pieces */
        set(PLIM_N_TRIED_BYTES, GIB(2));
        set(PLIM_N_FREE_BYTES, GIB(2) + MIB(uniform(0, 60)));
        set(PLIM_N_LARGEST_BYTES, GIB(1));
    }
    if (pick(6) == 0) { /* a node of a graph */
        pattern.framework = finding.framework = "tensorflow";
        snprintf(finding.words.text[PLIM_W_OPERATION], PLIM_WORD_BYTES, "gradients/conv%d", (int)uniform(1, 9));
    }
    for (uint64_t n = pick(3); n > 0; n--)
        other((int64_t)n, (int64_t)uniform(0, 24.0 * (double)PLIM_GIB));
    for (uint64_t n = pick(3), which; n > 0; n--) {
        which = pick(COUNT(frames));
        frame(frames[which].file, frames[which].name, pick(2) != 0);
    }
    for (uint64_t n = pick(2) * 20; n > 0; n--) {
        point((int64_t)context.n_points, GIB(1 + (double)context.n_points), 60);
    }
}

/* The first rule that holds; *ret_next is set when the rule behind it holds as well. */
static const char *first_that_holds(bool *ret_next)
{
    struct plim_cause_answer blank;
    struct plim_facts facts = { .finding = &finding, .context = &context, .answer = &blank };
    memset(&blank, 0, sizeof blank);
    plim_cause_figures(&finding, &context, &blank);
    facts.stage = pattern.stage;
    facts.platform = plim_figure_word(&finding, &context, PLIM_W_PLATFORM);
    facts.trace = plim_trace_read(&context, &facts.frame);
    for (size_t i = 0; i < COUNT(order); i++) {
        struct plim_guess guess = { 0 };
        if (!order[i].holds(&facts, &guess))
            continue;
        *ret_next = i + 1 < COUNT(order) && order[i + 1].holds(&facts, &guess);
        if (*ret_next)
            n_contests[i]++;
        return order[i].id;
    }
    return NULL;
}

static void test_the_rules_have_their_order(void **state)
{
    (void)state;
    for (seed = 1; seed < 60000;) {
        const uint64_t began = seed;
        bool is_contested = false;
        make_up();
        plim_cause_find(&finding, &context, &answer);
        const char *want = first_that_holds(&is_contested);
        if (answer.best.rule && want && strcmp(answer.best.rule, want) != 0)
            fail_msg("seed %lu: rule %s, not %s", (unsigned long)began, answer.best.rule, want);
        seed = began + 1;
    }
    for (size_t i = 0; i + 1 < COUNT(order); i++) {
        bool is_exclusive = false;
        for (size_t k = 0; k < COUNT(exclusive); k++)
            is_exclusive = is_exclusive || !strcmp(exclusive[k], order[i].id);
        if (is_exclusive != (n_contests[i] == 0))
            fail_msg("%s and %s hold at once %u times", order[i].id, order[i + 1].id, n_contests[i]);
    }
}

/* No cause is named twice, and where it is no lack of the card's memory there is no second one that is. */
static void test_second_guesses(void **state)
{
    (void)state;
    for (seed = 1; seed < 20000;) {
        const uint64_t began = seed;
        make_up();
        find();
        bool is_named[PLIM_CAUSE_MAX_] = { false };
        is_named[answer.best.cause] = true;
        for (uint32_t i = 0; i < answer.n_second; i++) {
            if (is_named[answer.second[i].cause])
                fail_msg("seed %lu: a cause is named twice", (unsigned long)began);
            is_named[answer.second[i].cause] = true;
        }
        if (answer.best.cause == PLIM_CAUSE_NOT_OOM || answer.best.cause == PLIM_CAUSE_HOST_RAM ||
            answer.best.cause == PLIM_CAUSE_SHM)
            assert_int_equal(answer.n_second, 0);
        seed = began + 1;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scenarios_have_their_cause),
        cmocka_unit_test(test_hostile_figures),
        cmocka_unit_test(test_the_rules_have_their_order),
        cmocka_unit_test(test_second_guesses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
