/* SPDX-License-Identifier: MIT */
/* Bills that are not exact, and how wide their bands are: other backends, other machines, models that are forecasts. */
#include "base/units.h"
#include "engine/llamacpp/engine.h"
#include "model/model_impl.h"
#include "unit.h"

static struct plim_bill bill_of(struct plim_model *model, uint32_t n_cards, const struct plim_llamacpp_setup *own)
{
    static struct plim_engine *engine; /* freed by the next call: a bill points into it */
    struct plim_machine machine = { .n_cards = n_cards };
    struct plim_setup setup;
    struct plim_bill bill;
    plim_engine_free(engine);
    engine = NULL;
    if (!model)
        return (struct plim_bill){ 0 };
    engine = engine_of(model);
    for (uint32_t i = 0; i < n_cards; i++)
        plim_card_of_budget(96 * PLIM_GIB, &machine.card[i]);
    plim_setup_init(&setup, NULL);
    setup.llamacpp.backend = own->backend;
    setup.llamacpp.has_rpc = own->has_rpc;
    setup.llamacpp.n_ctx = 8192;
    assert_int_equal(plim_engine_bill(engine, &setup, &machine, NULL, &bill, NULL), 0);
    return bill;
}

static const struct plim_line *line_of(const struct plim_device_bill *device, const char *label)
{
    for (uint32_t i = 0; i < device->n_lines; i++)
        if (!strcmp(device->line[i].label, label))
            return &device->line[i];
    fail_msg("no line '%s'", label);
    return NULL;
}

static void assert_band(const struct plim_line *line, uint64_t share)
{
    assert_int_equal(line->low_bytes, line->bytes - line->bytes / share);
    assert_int_equal(line->high_bytes, line->bytes + line->bytes / share);
    assert_true(line->basis != PLIM_BASIS_EXACT);
}

static void test_bands_of_backends(void **state)
{
    static const struct {
        enum plim_backend backend;
        uint64_t by_rule, compute; /* one part in ... */
    } rows[] = { { PLIM_BACKEND_VULKAN, 10, 10 }, { PLIM_BACKEND_METAL, 10, 10 }, { PLIM_BACKEND_HIP, 50, 20 } };
    static const char *const labels[] = { "model buffer", "KV buffer" };
    struct plim_model *model = zoo_model("llama-3.2-1b-Q4_K_M");
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct plim_llamacpp_setup own = { .backend = rows[i].backend };
        const struct plim_bill bill = bill_of(model, 1, &own);
        assert_non_null(strstr(bill.caveat, "CUDA backend"));
        for (size_t k = 0; k < COUNT(labels); k++)
            assert_band(line_of(&bill.device[0], labels[k]), rows[i].by_rule);
        assert_band(line_of(&bill.device[0], "compute buffer"), rows[i].compute);
        assert_band(line_of(&bill.device[1], "compute buffer"), rows[i].compute);
    }
    bill_of(NULL, 0, NULL);
    plim_model_free(model);
}

static void test_other_machines(void **state)
{
    struct plim_model *model = zoo_model("llama-3.2-1b-Q4_K_M");
    (void)state;
    const uint64_t pipelined =
        line_of(&bill_of(model, 2, &(struct plim_llamacpp_setup){ 0 }).device[0], "compute buffer")->bytes;
    struct plim_bill bill = bill_of(model, 2, &(struct plim_llamacpp_setup){ .has_rpc = true });
    for (int i = 0; i < 2; i++) {
        const struct plim_line *weights = line_of(&bill.device[i], "model buffer");
        assert_true(weights->low_bytes == 0 && weights->high_bytes == weights->bytes);
        assert_int_equal(line_of(&bill.device[i], "compute buffer")->low_bytes, 0);
    }
    assert_true(line_of(&bill.device[0], "compute buffer")->bytes < pipelined); /* no copies for a pipeline */
    assert_non_null(strstr(bill.caveat, "--rpc"));
    plim_bill_judge(&bill, NULL);
    assert_int_equal(bill.verdict, PLIM_VERDICT_FITS);
    bill.device[0].total_bytes = bill.device[0].total_low_bytes = PLIM_MIB;
    plim_bill_judge(&bill, NULL);
    assert_int_equal(bill.verdict, PLIM_VERDICT_UNKNOWN);
    bill_of(NULL, 0, NULL);
    plim_model_free(model);
}

static void test_forecasts(void **state)
{
    static const struct plim_doubt output = { "the output is open", "output.weight", 0 },
                                   open = { "a size is open", NULL, 0 };
    const struct plim_doubt both[] = { output, open };
    const struct plim_llamacpp_setup cuda = { 0 };
    char why[PLIM_WHY_BYTES];
    struct plim_model *model = zoo_model("llama-3.1-8b-Q4_K_M"); /* with an output of its own */
    (void)state;
    model->forecast = PLIM_FORECAST_EXACT;
    struct plim_bill bill = bill_of(model, 1, &cuda);
    const uint64_t bytes = line_of(&bill.device[0], "model buffer")->bytes;
    assert_int_equal(line_of(&bill.device[0], "model buffer")->basis, PLIM_BASIS_EXACT);
    assert_null(bill.caveat);

    model->forecast = PLIM_FORECAST_FORMULA;
    model->doubts = &open;
    model->n_doubts = 1;
    bill = bill_of(model, 1, &cuda);
    const struct plim_line *line = line_of(&bill.device[0], "model buffer");
    assert_int_equal(line->bytes, bytes);
    assert_band(line, 20);
    assert_int_equal(line_of(&bill.device[0], "KV buffer")->basis, PLIM_BASIS_FORMULA);
    assert_non_null(strstr(plim_line_why(line, why), "layers and the output layer; forecast from a config: a size is"));
    assert_non_null(strstr(bill.caveat, "a size is open"));

    const struct plim_doubt more = { "the file is larger", NULL, 3 * (int64_t)PLIM_GIB };
    model->doubts = &more;
    bill = bill_of(model, 1, &cuda);
    line = line_of(&bill.device[0], "model buffer");
    assert_int_equal(line->bytes, bytes);
    assert_int_equal(line->low_bytes, bytes - bytes / 50);
    assert_true(line->high_bytes >= bytes + 3 * PLIM_GIB);
    const struct plim_doubt less = { "the file is smaller", NULL, -3 * (int64_t)PLIM_GIB };
    model->doubts = &less;
    bill = bill_of(model, 1, &cuda);
    line = line_of(&bill.device[0], "model buffer");
    assert_true(line->low_bytes <= bytes - 3 * PLIM_GIB && line->high_bytes == bytes + bytes / 50);

    model->doubts = both;
    model->n_doubts = 2;
    bill = bill_of(model, 1, &cuda);
    line = line_of(&bill.device[1], "model buffer"); /* as the output, the embedding would have its larger type */
    assert_true(line->high_bytes > line->bytes + line->bytes / 4 && line->low_bytes == line->bytes - line->bytes / 20);
    assert_non_null(strstr(plim_line_why(line, why), "the output is open; a size is open"));
    bill = bill_of(model, 0, &cuda); /* both on the host: then a tied one is not there twice */
    line = line_of(&bill.device[0], "model buffer");
    assert_true(line->low_bytes < line->bytes - line->bytes / 20 - 300 * PLIM_MIB);
    bill_of(NULL, 0, NULL);
    plim_model_free(model);
}

static void test_forecasts_of_tied_ones(void **state)
{
    static const struct plim_doubt output = { "the output is open", "output.weight", 0 };
    struct plim_model *model = zoo_model("llama-3.2-1b-Q4_K_M");
    (void)state;
    model->forecast = PLIM_FORECAST_FORMULA;
    model->doubts = &output;
    model->n_doubts = 1;
    struct plim_bill bill = bill_of(model, 1, &(struct plim_llamacpp_setup){ 0 });
    const struct plim_line *line = line_of(&bill.device[0], "model buffer");
    assert_band(line, 50); /* a copy of the embedding or an output: the same */
    line = line_of(&bill.device[1], "model buffer");
    assert_true(line->low_bytes < line->bytes / 2 && line->high_bytes == line->bytes + line->bytes / 50);
    bill = bill_of(model, 0, &(struct plim_llamacpp_setup){ 0 });
    line = line_of(&bill.device[0], "model buffer");
    assert_true(line->high_bytes > line->bytes + 200 * PLIM_MIB);
    bill_of(NULL, 0, NULL);
    plim_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bands_of_backends),
        cmocka_unit_test(test_other_machines),
        cmocka_unit_test(test_forecasts),
        cmocka_unit_test(test_forecasts_of_tied_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
