/* SPDX-License-Identifier: MIT */
/* A table of quantizations: rows from good to small, contexts exact at their edge, the best is the first that fits. */
#include "plimsoll/plan.h"
#include "plimsoll/quant_recipe.h"
#include "unit.h"

static const char *const models[] = { "llama-3.1-8b-Q4_K_M", "gemma-3-4b-Q4_K_M", "qwen3-30b-a3b-Q4_K_M",
                                      "jamba-v0.1-Q4_K_M" };

/* The model in half precision, which borrows from the one of the zoo. */
static struct plim_model *in_f16(const struct plim_model *model)
{
    struct plim_model *made = NULL;
    assert_int_equal(plim_model_requantize(model, "F16", &made, NULL), 0);
    return made;
}

static enum plim_verdict verdict_of(const struct plim_model *model, const char *recipe, const struct plim_setup *setup,
                                    const struct plim_machine *machine)
{
    struct plim_model *made = NULL;
    struct plim_bill bill;
    if (recipe)
        assert_int_equal(plim_model_requantize(model, recipe, &made, NULL), 0);
    struct plim_engine *engine = engine_of(made ? made : model);
    assert_int_equal(plim_engine_bill(engine, setup, machine, NULL, &bill, NULL), 0);
    plim_engine_free(engine);
    plim_model_free(made);
    return bill.verdict;
}

/* With one step more than the largest context it does not fit. */
static void check_edge(const struct plim_model *model, const struct plim_quant_table *table,
                       const struct plim_quant_row *row, const struct plim_machine *machine)
{
    struct plim_setup setup = table->setup;
    if (row->n_ctx) {
        setup.llamacpp.n_ctx = row->n_ctx;
        assert_int_equal(verdict_of(model, row->recipe, &setup, machine), PLIM_VERDICT_FITS);
    }
    setup.llamacpp.n_ctx = row->n_ctx + 256;
    if (!row->is_ctx_all)
        assert_int_not_equal(verdict_of(model, row->recipe, &setup, machine), PLIM_VERDICT_FITS);
}

static void check_rows(const struct plim_model *model, const struct plim_quant_table *table,
                       const struct plim_machine *machine, double least_bits)
{
    int best = -1;
    assert_true(table->n > 8);
    for (size_t i = 0; i < table->n; i++) {
        const struct plim_quant_row *row = &table->row[i];
        assert_int_equal(row->verdict, verdict_of(model, row->recipe, &table->setup, machine));
        if (i)
            assert_true(row->tensor_bytes < row[-1].tensor_bytes && row->has_loss);
        if (i > 1)
            assert_true(row->loss >= row[-1].loss);
        if (best < 0 && row->verdict == PLIM_VERDICT_FITS && row->bits_per_weight >= least_bits)
            best = (int)i;
        if (i % 5 == 0)
            check_edge(model, table, row, machine);
    }
    assert_int_equal(table->best, best);
}

static void test_rows(void **state)
{
    struct plim_quant_table table;
    unsigned n_best = 0, n_none = 0;
    (void)state;
    srand(14); /* NOLINT(cert-msc32-c,cert-msc51-cpp): the same setups every time */
    for (size_t m = 0; m < COUNT(models); m++) {
        struct plim_model *zoo = zoo_model(models[m]), *model = in_f16(zoo);
        for (int trial = 0; trial < 6; trial++) {
            struct plim_machine machine = { .n_cards = 1 };
            struct plim_setup setup;
            const struct plim_quant_wish wish = { .has_contexts = true, .least_bits_per_weight = trial % 2 ? 8.0 : 0 };
            plim_card_of_budget((uint64_t)(2 + rand() % 30) << 30, &machine.card[0]);
            plim_setup_init(&setup, NULL);
            setup.llamacpp.n_parallel = 1;
            setup.llamacpp.n_ctx = trial % 3 ? (uint32_t)(256 * (1 + rand() % 120)) : 0;
            assert_int_equal(plim_plan_quant_table(model, &setup, &machine, NULL, &wish, &table, NULL), 0);
            assert_int_equal(table.is_ctx_assumed, setup.llamacpp.n_ctx == 0);
            if (table.is_ctx_assumed)
                assert_int_equal(table.n_ctx, 8192);
            check_rows(model, &table, &machine, wish.least_bits_per_weight);
            n_best += table.best >= 0;
            n_none += table.best < 0;
        }
        plim_model_free(model);
        plim_model_free(zoo);
    }
    assert_true(n_best > 4 && n_none > 2);
}

/* Each is there once, alone or as a pair; and each carries the setup. */
static void test_carriers(void **state)
{
    struct plim_model *model = zoo_model(models[0]);
    struct plim_engine *engine = engine_of(model);
    struct plim_carrier *carriers = NULL;
    struct plim_setup setup;
    size_t n = 0, n_pairs = 0;
    (void)state;
    plim_setup_init(&setup, NULL);
    setup.llamacpp.n_ctx = 16384;
    assert_int_equal(plim_plan_carriers(engine, &setup, NULL, NULL, NULL, &carriers, &n, NULL), 0);
    assert_true(n > 100);
    for (size_t i = 0; i < n; i++) {
        struct plim_card card;
        plim_catalogue_card(carriers[i].card, &card);
        assert_true(i == 0 || carriers[i].total_bytes >= carriers[i - 1].total_bytes);
        assert_true(carriers[i].total_bytes == carriers[i].n_cards * card.total_bytes);
        assert_true(carriers[i].verdict == PLIM_VERDICT_FITS || carriers[i].verdict == PLIM_VERDICT_TIGHT);
        assert_true(carriers[i].n_cards == 1 || !strstr(card.name, "Laptop"));
        n_pairs += carriers[i].n_cards == 2;
        for (size_t k = 0; k < i; k++)
            assert_true(carriers[k].card != carriers[i].card);
    }
    assert_true(n_pairs > 5);
    plim_carriers_free(carriers);
    plim_engine_free(engine);
    plim_model_free(model);
}

/* A recipe that nobody published is another one with a band, and never exact. */
static void test_unpublished(void **state)
{
    struct plim_model *model = zoo_model("llama-3.1-8b-Q4_K_M"), *made = NULL, *nearest = NULL;
    (void)state;
    assert_int_equal(plim_model_requantize(model, "ud-q4_k_xl", &made, NULL), 0);
    assert_int_equal(plim_model_requantize(model, "Q4_K_M", &nearest, NULL), 0);
    assert_int_equal(plim_model_tensor_bytes(made), plim_model_tensor_bytes(nearest));
    assert_string_equal(plim_model_file_type(made), "UD-Q4_K_XL");
    assert_int_equal(plim_model_forecast(made), PLIM_FORECAST_FORMULA);
    assert_int_equal(plim_model_forecast(nearest), PLIM_FORECAST_NONE);
    assert_true(plim_model_doubt(made, 0)->more_bytes > 0 && plim_model_doubt(made, 1)->more_bytes < 0);
    assert_null(plim_model_doubt(nearest, 0));
    plim_model_free(made);
    plim_model_free(nearest);
    assert_int_equal(plim_model_requantize(model, "UD-Q8_K_XL", &made, NULL), PLIM_E_USAGE);
    plim_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_rows), cmocka_unit_test(test_carriers),
                                        cmocka_unit_test(test_unpublished) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
