/* SPDX-License-Identifier: MIT */
/* Every fix keeps its promise, and they come in their order. */
#include "base/table.h"
#include "base/text.h"
#include "base/units.h"
#include "engine/type.h"
#include "plimsoll/plan.h"
#include "plimsoll/quant_recipe.h"
#include "unit.h"

struct plan {
    struct plim_model *model;
    struct plim_engine *engine;
    struct plim_setup setup;
    struct plim_machine machine;
    struct plim_bill bill;
    struct plim_fix fixes[PLIM_MAX_FIXES];
    uint32_t n;
};

static struct plim_bill bill_after(const struct plan *plan, const struct plim_fix *fix)
{
    struct plim_model *made = NULL;
    struct plim_engine *engine = plan->engine;
    struct plim_machine machine = plan->machine;
    struct plim_bill bill;
    if (fix->kind == PLIM_FIX_OTHERS)
        machine.card[plan->bill.limiting_device].others_bytes = 0;
    for (uint32_t i = 0; i < fix->n_ends; i++) /* by hand: what each of them holds, on every card */
        for (uint32_t k = 0; k < machine.n_holders; k++)
            if (machine.holders[k].pid == fix->ends[i])
                machine.card[machine.holders[k].card].others_bytes -= machine.holders[k].bytes;
    if (fix->quant_recipe) {
        assert_int_equal(plim_model_requantize(plan->model, fix->quant_recipe, &made, NULL), 0);
        engine = engine_of(made);
    }
    assert_int_equal(plim_engine_bill(engine, &fix->setup, &machine, NULL, &bill, NULL), 0);
    if (made) {
        plim_engine_free(engine);
        plim_model_free(made);
    }
    return bill;
}

/* Others first, the engine's levers in its order, several at once, another quantization last. */
static int rank_of(const struct plim_fix *fix)
{
    int rank = 1;
    if (fix->kind == PLIM_FIX_OTHERS || fix->kind == PLIM_FIX_END)
        return 0;
    for (const struct plim_lever *const *lever = fix->setup.type->levers; *lever; lever++, rank++)
        if (*lever == fix->lever)
            return rank;
    return rank + (fix->kind == PLIM_FIX_QUANT);
}

static enum plim_verdict verdict_at(const struct plan *plan, const struct plim_lever *lever, uint32_t value)
{
    static struct plim_bill bill;
    const struct plim_situation at = { plan->engine, &plan->setup, &plan->bill };
    struct plim_setup setup = plan->setup;
    lever->set(&at, value, &setup);
    assert_int_equal(plim_engine_bill(plan->engine, &setup, &plan->machine, NULL, &bill, NULL), 0);
    return bill.verdict;
}

/* No less would do: the next value does not fit, and where the last one is offered, none fits. */
static void check_least(const struct plan *plan, const struct plim_fix *fix)
{
    const struct plim_lever *lever = fix->lever;
    const struct plim_situation at = { plan->engine, &plan->setup, &plan->bill };
    struct plim_lever_range range;
    assert_true(lever->range(&at, &plan->setup, &range));
    assert_false(lever->needs_a_verdict && fix->verdict_after == PLIM_VERDICT_NO);
    if (lever->search == PLIM_LEVER_HALVES)
        for (uint32_t value = range.high; value >= range.low && value > 0; value /= 2) {
            struct plim_setup setup = plan->setup;
            lever->set(&at, value, &setup);
            if (fix->verdict_after == PLIM_VERDICT_FITS && !memcmp(&setup, &fix->setup, sizeof setup))
                break;
            assert_int_not_equal(verdict_at(plan, lever, value), PLIM_VERDICT_FITS);
        }
    if (fix->verdict_after != PLIM_VERDICT_FITS || !lever->value_of)
        return;
    const uint32_t value = lever->value_of(&fix->setup), unit = range.unit ? range.unit : 1;
    if (lever->search == PLIM_LEVER_SMALLEST && value > range.low)
        assert_int_not_equal(verdict_at(plan, lever, value - 1), PLIM_VERDICT_FITS);
    const uint32_t next = range.is_rounded ? value + value / 8 + unit : value + unit;
    if (lever->search == PLIM_LEVER_LARGEST && next < range.high * unit)
        assert_int_not_equal(verdict_at(plan, lever, next), PLIM_VERDICT_FITS);
    if (lever->search == PLIM_LEVER_LARGEST && range.is_rounded && value >= 64 * unit)
        assert_int_equal(value / unit % 4, 0); /* a round number: of 16 to 31 steps */
}

/* Where one slow change would do, several have to keep a tenth of the model's parts on the card to be worth it. */
static void check_gain(const struct plan *plan, const struct plim_fix *together)
{
    const struct plim_situation at = { plan->engine, &plan->setup, &plan->bill };
    for (uint32_t i = 0; i < plan->n; i++) {
        const struct plim_fix *fix = &plan->fixes[i];
        struct plim_lever_range range;
        if (!fix->lever || !fix->lever->is_slow || fix->verdict_after != PLIM_VERDICT_FITS ||
            !fix->lever->range(&at, &plan->setup, &range))
            continue;
        const int64_t now = fix->lever->value_of(&plan->setup), value = fix->lever->value_of(&together->setup);
        const int64_t gained = value - fix->lever->value_of(&fix->setup);
        if (value != now)
            assert_true((fix->lever->search == PLIM_LEVER_SMALLEST ? -gained : gained) * 10 >= range.all);
        return; /* the first slow one */
    }
}

static void check(const struct plan *plan)
{
    bool has_fit = false;
    for (uint32_t i = 0; i < plan->n; i++)
        has_fit = has_fit || plan->fixes[i].verdict_after == PLIM_VERDICT_FITS;
    for (uint32_t i = 0; i < plan->n; i++) {
        const struct plim_fix *fix = &plan->fixes[i];
        const struct plim_bill bill = bill_after(plan, fix);
        const uint32_t device = plan->bill.limiting_device;
        assert_int_equal(bill.verdict, fix->verdict_after);
        assert_int_equal(fix->frees_bytes,
                         (int64_t)(plan->bill.device[device].need_bytes - bill.device[device].need_bytes));
        assert_true(fix->frees_bytes > 0 || plan->bill.is_refused);
        assert_true(i == 0 || rank_of(fix) > rank_of(&plan->fixes[i - 1]));
        assert_true(plim_fix_name(fix)[0]);
        assert_true(fix->change[0] && fix->costs[0]);
        assert_true(fix->n_changes > 0 || fix->n_ends > 0 || fix->kind == PLIM_FIX_OTHERS ||
                    fix->kind == PLIM_FIX_QUANT);
        assert_false(has_fit && fix->verdict_after == PLIM_VERDICT_NO);
        assert_false(bill.is_refused);
        if (has_fit && plan->bill.verdict == PLIM_VERDICT_TIGHT) /* what stays tight has gained nothing */
            assert_int_equal(fix->verdict_after, PLIM_VERDICT_FITS);
        if (fix->kind == PLIM_FIX_TOGETHER && fix->n_changes > 1)
            assert_non_null(strstr(fix->change, " and "));
        if (fix->kind == PLIM_FIX_QUANT && fix->verdict_after == PLIM_VERDICT_NO)
            assert_int_equal(plan->n, 1); /* a last resort */
        if (fix->lever)
            check_least(plan, fix);
        if (fix->kind == PLIM_FIX_TOGETHER)
            check_gain(plan, fix);
    }
}

static void make_plan(const char *name, double gib, const struct plim_setup *change, struct plan *plan)
{
    memset(plan, 0, sizeof *plan);
    plan->model = zoo_model(name);
    plan->engine = engine_of(plan->model);
    plan->setup = *change;
    plan->machine.n_cards = 1;
    plim_card_of_budget((uint64_t)(gib * (double)PLIM_GIB), &plan->machine.card[0]);
    plan->machine.card[0].bandwidth_bytes_per_s = 500e9;
    plan->machine.host = (struct plim_host){ .total_bytes = 64 * PLIM_GIB, .free_bytes = 60 * PLIM_GIB };
}

static void find(struct plan *plan)
{
    assert_int_equal(plim_engine_bill(plan->engine, &plan->setup, &plan->machine, NULL, &plan->bill, NULL), 0);
    assert_int_equal(plim_plan_fixes(plan->engine, &plan->setup, &plan->machine, NULL, &plan->bill, plan->fixes,
                                     PLIM_MAX_FIXES, &plan->n, NULL),
                     0);
    check(plan);
}

static void done(struct plan *plan)
{
    plim_engine_free(plan->engine);
    plim_model_free(plan->model);
}

static const struct plim_fix *fix_of(const struct plan *plan, enum plim_fix_kind kind)
{
    for (uint32_t i = 0; i < plan->n; i++)
        if (plan->fixes[i].kind == kind)
            return &plan->fixes[i];
    return NULL;
}

static struct plim_setup plain_setup(void)
{
    struct plim_setup setup;
    plim_setup_init(&setup, NULL);
    setup.llamacpp.n_gpu_layers = PLIM_NGL_ALL;
    return setup;
}

static void test_each_keeps_its_promise(void **state)
{
    static const char *const models[] = { "llama-3.1-8b-Q4_K_M",    "qwen3-30b-a3b-Q4_K_M",    "gemma-3-12b-Q4_K_M",
                                          "mamba-2.8b-Q4_K_M",      "deepseek-v2-lite-Q4_K_M", "bge-m3-F16",
                                          "qwen3.5-35b-a3b-Q4_K_M", "llama-3.3-70b-Q4_K_M" };
    static const double sizes[] = { 1, 3, 6, 8, 12, 24 };
    (void)state;
    for (size_t i = 0; i < COUNT(models); i++)
        for (size_t k = 0; k < COUNT(sizes); k++) {
            static struct plan plan;
            struct plim_setup setup = plain_setup();
            setup.llamacpp.n_ctx = k % 2 ? 4096 : 65536;
            setup.llamacpp.flash_attn = k % 3 == 0 ? PLIM_OFF : PLIM_UNSET;
            setup.llamacpp.n_ubatch = k == 4 ? 2048 : 0;
            setup.llamacpp.n_parallel = k == 3 ? 8 : 0;
            make_plan(models[i], sizes[k], &setup, &plan);
            find(&plan);
            assert_true(plan.bill.verdict == PLIM_VERDICT_FITS || plan.n > 0);
            done(&plan);
        }
}

static void test_others_come_first(void **state)
{
    static struct plan plan;
    struct plim_setup setup = plain_setup();
    (void)state;
    setup.llamacpp.n_ctx = 8192;
    make_plan("llama-3.1-8b-Q4_K_M", 8, &setup, &plan);
    find(&plan);
    assert_null(fix_of(&plan, PLIM_FIX_OTHERS));
    plan.machine.card[0].others_bytes = 3 * PLIM_GIB;
    find(&plan);
    assert_int_equal(plan.fixes[0].kind, PLIM_FIX_OTHERS);
    assert_int_equal(plan.fixes[0].frees_bytes, 3 * PLIM_GIB);
    done(&plan);
}

static struct plim_holder holder(int64_t pid, double gib, bool is_endable)
{
    struct plim_holder one = { .pid = pid, .bytes = (uint64_t)(gib * (double)PLIM_GIB), .is_endable = is_endable };
    one.is_stale = is_endable;
    snprintf(one.name, sizeof one.name, "python");
    snprintf(one.why, sizeof one.why, is_endable ? "idle for 3 h" : "a server");
    return one;
}

/* The model fits into 8 GiB and not into 5; `held` are the processes that hold the other 3. */
static const struct plim_fix *end_among(const struct plim_holder *held, uint32_t n, struct plan *plan)
{
    struct plim_setup setup = plain_setup();
    setup.llamacpp.n_ctx = 8192;
    make_plan("llama-3.1-8b-Q4_K_M", 8, &setup, plan);
    plan->machine.holders = held;
    plan->machine.n_holders = n;
    for (uint32_t i = 0; i < n; i++)
        plan->machine.card[0].others_bytes += held[i].bytes;
    find(plan);
    done(plan);
    assert_int_equal(plan->bill.verdict, PLIM_VERDICT_NO);
    assert_null(fix_of(plan, PLIM_FIX_OTHERS));
    return fix_of(plan, PLIM_FIX_END);
}

/* Processes that nobody waits for: the smallest that is enough, else no more of the largest than are needed. */
static void test_ends(void **state)
{
    static struct plan plan;
    (void)state;
    const struct plim_holder one_of_two[] = { holder(41233, 2.5, true), holder(900, 0.5, false) };
    const struct plim_fix *fix = end_among(one_of_two, 2, &plan);
    assert_int_equal(fix->n_ends, 1);
    assert_int_equal(fix->ends[0], 41233);
    assert_int_equal(fix->verdict_after, PLIM_VERDICT_FITS);
    assert_non_null(strstr(fix->change, "41233"));
    assert_non_null(strstr(fix->change, "idle for 3 h"));
    const struct plim_holder smallest[] = { holder(1, 2.9, true), holder(2, 2.8, true), holder(3, 0.1, true) };
    fix = end_among(smallest, 3, &plan);
    assert_int_equal(fix->n_ends, 2); /* neither alone */
    const struct plim_holder enough[] = { holder(1, 1.6, true), holder(2, 1.4, true), holder(3, 0.1, true) };
    fix = end_among(enough, 3, &plan);
    assert_true(fix->n_ends >= 1 && fix->ends[fix->n_ends - 1] != 3);
}

/* Processes in use are no fix, whatever they hold; and one of another card frees nothing here. */
static void test_no_ends(void **state)
{
    static struct plan plan;
    enum plim_verdict verdict;
    (void)state;
    const struct plim_holder in_use[] = { holder(4711, 3, false) };
    assert_null(end_among(in_use, 1, &plan));
    struct plim_holder elsewhere[] = { holder(4711, 3, false), holder(41233, 3, true) };
    elsewhere[1].card = 1;
    assert_null(end_among(elsewhere, 2, &plan));
    struct plim_setup setup = plain_setup();
    setup.llamacpp.n_ctx = 8192;
    make_plan("llama-3.1-8b-Q4_K_M", 8, &setup, &plan);
    plan.machine.card[0].others_bytes = 3 * PLIM_GIB;
    find(&plan);
    assert_int_equal(plim_plan_alone(plan.engine, &setup, &plan.machine, NULL, &plan.bill, &verdict, NULL), 0);
    assert_int_equal(verdict, PLIM_VERDICT_FITS);
    done(&plan);
}

/* Between a card on which one change is enough, and one on which no change is, two changes are enough. */
static void test_a_pair(void **state)
{
    static struct plan plan;
    struct plim_setup setup = plain_setup();
    unsigned n_pairs = 0;
    (void)state;
    setup.llamacpp.n_ctx = 16384;
    for (double gib = 5; gib < 8; gib += 0.03125) {
        make_plan("llama-3.1-8b-Q4_K_M", gib, &setup, &plan);
        find(&plan);
        const struct plim_fix *pair = fix_of(&plan, PLIM_FIX_TOGETHER);
        n_pairs +=
            pair && pair->verdict_after == PLIM_VERDICT_FITS && pair->setup.llamacpp.n_gpu_layers == PLIM_NGL_ALL;
        done(&plan);
    }
    assert_true(n_pairs > 0);
}

/* A context too short for a conversation helps nobody who needs a long one. */
static void test_a_pair_keeps_a_context(void **state)
{
    static struct plan plan;
    struct plim_setup setup = plain_setup();
    (void)state;
    setup.llamacpp.n_ctx = 32768;
    for (double gib = 4; gib < 10; gib += 0.125) {
        make_plan("llama-3.1-8b-Q4_K_M", gib, &setup, &plan);
        find(&plan);
        const struct plim_fix *pair = fix_of(&plan, PLIM_FIX_TOGETHER);
        if (pair)
            assert_true(pair->setup.llamacpp.n_ctx >= 4096);
        done(&plan);
    }
}

/* A micro-batch is halved as often as it takes, and no more often. */
static void test_halves(void **state)
{
    static struct plan plan;
    struct plim_setup setup = plain_setup();
    unsigned n_sizes[5] = { 0 };
    (void)state;
    setup.llamacpp.n_ctx = 8192;
    setup.llamacpp.n_batch = setup.llamacpp.n_ubatch = 8192;
    for (double gib = 6; gib < 9; gib += 0.0625) {
        make_plan("llama-3.1-8b-Q4_K_M", gib, &setup, &plan);
        find(&plan);
        for (uint32_t i = 0; i < plan.n; i++)
            for (unsigned k = 0; k < COUNT(n_sizes); k++)
                n_sizes[k] += plan.fixes[i].lever && !strcmp(plan.fixes[i].lever->name, "ubatch") &&
                              plan.fixes[i].setup.llamacpp.n_ubatch == 4096u >> k;
        done(&plan);
    }
    assert_true(n_sizes[0] > 0 && n_sizes[1] > 0 && n_sizes[2] > 0);
}

/* Where the host is what lacks memory, changes that free none of it are no help; nor is what does not fit there. */
static void test_a_small_host(void **state)
{
    static const double sizes[] = { 1, 4, 24 };
    static struct plan plan;
    (void)state;
    for (size_t i = 0; i < COUNT(sizes); i++)
        for (int32_t n_layers = 0; n_layers <= 20; n_layers += 20) {
            struct plim_setup setup = plain_setup();
            setup.llamacpp.n_ctx = 65536;
            setup.llamacpp.n_gpu_layers = n_layers;
            setup.llamacpp.mmap = PLIM_OFF;
            make_plan("llama-3.3-70b-Q4_K_M", sizes[i], &setup, &plan);
            plan.machine.host = (struct plim_host){ .total_bytes = 8 * PLIM_GIB, .free_bytes = 6 * PLIM_GIB };
            find(&plan);
            assert_int_equal(plan.bill.verdict, PLIM_VERDICT_NO);
            done(&plan);
        }
}

/* A setup that the engine refuses is not cured by one that it refuses as well, whatever that frees. */
static void test_a_refused_setup(void **state)
{
    static const double sizes[] = { 1, 8, 80 };
    static struct plan plan;
    (void)state;
    for (size_t i = 0; i < COUNT(sizes); i++) {
        struct plim_setup setup = plain_setup();
        setup.llamacpp.n_ctx = 65536;
        setup.llamacpp.type_k = setup.llamacpp.type_v = PLIM_DTYPE_Q8_0;
        setup.llamacpp.flash_attn = PLIM_OFF;
        make_plan("llama-3.1-8b-Q4_K_M", sizes[i], &setup, &plan);
        find(&plan);
        assert_true(plan.bill.is_refused);
        done(&plan);
    }
}

/* No more fixes than there is room for: the first ones. */
static void test_little_room(void **state)
{
    static struct plan plan;
    struct plim_setup setup = plain_setup();
    (void)state;
    setup.llamacpp.n_ctx = 32768;
    make_plan("llama-3.1-8b-Q4_K_M", 8, &setup, &plan);
    find(&plan);
    assert_true(plan.n > 2);
    for (uint32_t max = 0; max <= 2; max++) {
        struct plim_fix fixes[3];
        uint32_t n = 77;
        memset(fixes, 0xa5, sizeof fixes);
        assert_int_equal(
            plim_plan_fixes(plan.engine, &plan.setup, &plan.machine, NULL, &plan.bill, fixes, max, &n, NULL), 0);
        assert_true(n <= max);
        for (const unsigned char *p = (unsigned char *)&fixes[max]; p < (unsigned char *)&fixes[3]; p++)
            assert_int_equal(*p, 0xa5);
    }
    done(&plan);
}

/* The loss of a recipe, as data/quants.csv has it; 0: not measured. */
static double loss_of(const char *name)
{
    const struct plim_table *t = &plim_quants_table;
    for (size_t row = 0; row < t->n_rows; row++)
        if (!strcmp(plim_table_cell(t, row, plim_table_column(t, "name")), name) &&
            !strcmp(plim_table_cell(t, row, plim_table_column(t, "family")), "gguf-file"))
            return plim_decimal(plim_table_cell(t, row, plim_table_column(t, "ppl_delta")), NULL);
    return 0;
}

static bool fits_as(const struct plan *plan, const char *recipe)
{
    static struct plim_bill bill;
    struct plim_model *made = NULL;
    if (plim_model_requantize(plan->model, recipe, &made, NULL) < 0)
        return false;
    struct plim_engine *engine = engine_of(made);
    assert_int_equal(plim_engine_bill(engine, &plan->setup, &plan->machine, NULL, &bill, NULL), 0);
    plim_engine_free(engine);
    plim_model_free(made);
    return bill.verdict == PLIM_VERDICT_FITS;
}

/* Of all quantizations the one that fits and loses least; none that makes the model useless. */
static void test_the_best_quant(void **state)
{
    static struct plan plan;
    struct plim_setup setup = plain_setup();
    unsigned n_offered = 0;
    (void)state;
    setup.llamacpp.n_ctx = 4096;
    for (double gib = 4; gib <= 12; gib += 0.5) {
        const struct plim_quant_recipe *recipe;
        make_plan("phi-4-Q4_K_M", gib, &setup, &plan);
        find(&plan);
        const struct plim_fix *quant = fix_of(&plan, PLIM_FIX_QUANT);
        if (quant) {
            const double loss = loss_of(quant->quant_recipe);
            n_offered++;
            assert_true(loss > 0 && loss <= 5);
            for (size_t i = 0; quant->verdict_after == PLIM_VERDICT_FITS && (recipe = plim_quant_recipe_at(i)); i++)
                if (loss_of(recipe->name) > 0 && loss_of(recipe->name) < loss && fits_as(&plan, recipe->name))
                    fail_msg("%g GiB: %s fits and loses less than %s", gib, recipe->name, quant->quant_recipe);
        }
        done(&plan);
    }
    assert_true(n_offered >= 3);
}

/* The best that fits, by the tensors of this very model. */
static void test_another_quant(void **state)
{
    static struct plan plan;
    struct plim_setup setup = plain_setup();
    (void)state;
    setup.llamacpp.n_ctx = 4096;
    make_plan("phi-4-Q4_K_M", 8, &setup, &plan);
    find(&plan);
    const struct plim_fix *quant = fix_of(&plan, PLIM_FIX_QUANT);
    assert_non_null(quant);
    assert_ptr_equal(quant, &plan.fixes[plan.n - 1]);
    assert_int_equal(quant->verdict_after, PLIM_VERDICT_FITS);
    assert_true(quant->is_from_quantized);
    done(&plan);
}

/* One memory for both: the host's need and the card's are counted against it. */
static void test_shared_memory(void **state)
{
    static struct plan plan;
    struct plim_setup setup = plain_setup();
    (void)state;
    setup.llamacpp.n_ctx = 4096;
    make_plan("llama-3.1-8b-Q4_K_M", 16, &setup, &plan);
    assert_int_equal(plim_catalogue_find("Apple M2 16GB", &plan.machine.card[0], NULL), 0);
    plan.machine.host.total_bytes = plan.machine.card[0].shared_bytes;
    find(&plan);
    const struct plim_device_bill *gpu = &plan.bill.device[0], *host = &plan.bill.device[1];
    assert_true(plan.machine.card[0].shared_bytes == 16 * PLIM_GIB);
    assert_int_equal(plan.bill.verdict, PLIM_VERDICT_FITS);
    assert_true(host->need_bytes > gpu->need_bytes);
    assert_non_null(plan.bill.caveat);               /* Metal's rules are not CUDA's */
    plan.machine.host.total_bytes = gpu->need_bytes; /* enough for the card alone */
    find(&plan);
    assert_int_equal(plan.bill.verdict, PLIM_VERDICT_NO);
    assert_string_equal(plan.bill.limiting_line->label, "model buffer");
    assert_true(plan.n > 0);
    done(&plan);
}

static void test_no_fix_where_none_is_needed(void **state)
{
    static struct plan plan;
    struct plim_setup setup = plain_setup();
    (void)state;
    setup.llamacpp.n_ctx = 4096;
    make_plan("llama-3.2-1b-Q4_K_M", 24, &setup, &plan);
    find(&plan);
    assert_int_equal(plan.bill.verdict, PLIM_VERDICT_FITS);
    assert_int_equal(plan.n, 0);
    done(&plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_keeps_its_promise),
        cmocka_unit_test(test_others_come_first),
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_no_ends),
        cmocka_unit_test(test_a_pair),
        cmocka_unit_test(test_a_pair_keeps_a_context),
        cmocka_unit_test(test_halves),
        cmocka_unit_test(test_a_small_host),
        cmocka_unit_test(test_a_refused_setup),
        cmocka_unit_test(test_little_room),
        cmocka_unit_test(test_another_quant),
        cmocka_unit_test(test_the_best_quant),
        cmocka_unit_test(test_shared_memory),
        cmocka_unit_test(test_no_fix_where_none_is_needed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
