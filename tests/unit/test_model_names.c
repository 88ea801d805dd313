/* SPDX-License-Identifier: MIT */
/* The catalogue of models: rows, configs, and models by the names people use. */
#include "model/catalogue/columns.h"
#include "plimsoll/catalogue.h"
#include "unit.h"

/* The code finds columns by position. */
static void test_columns(void **state)
{
    static const char *const names[] = { "id",       "name",          "other_names",   "family",
                                         "params",   "params_active", "params_source", "source",
                                         "disputed", "shape",         "config" };
    (void)state;
    assert_int_equal(plim_models_table.n_columns, COUNT(names));
    for (size_t i = 0; i < COUNT(names); i++)
        assert_string_equal(plim_models_table.columns[i], names[i]);
}

/* Each model has a name and a source, is sorted, and its config opens or says why not. */
static void test_every_model(void **state)
{
    size_t n_tensors = 0;
    (void)state;
    assert_true(plim_catalogue_model_count() > 450);
    for (size_t i = 0; i < plim_catalogue_model_count(); i++) {
        struct plim_catalogue_model entry;
        struct plim_catalogue_fill fills[64];
        struct plim_model *model;
        struct plim_error error = { 0 };
        plim_catalogue_model_at(i, &entry);
        assert_true(strchr(entry.id, '/') && !strcmp(strchr(entry.id, '/') + 1, entry.name));
        assert_true(*entry.source && (entry.params == 0 || *entry.params_source));
        const size_t n = plim_catalogue_model_fills(i, fills, COUNT(fills));
        assert_true(n <= COUNT(fills));
        for (size_t k = 0; k < n; k++)
            assert_true(*fills[k].key && *fills[k].value && *fills[k].source &&
                        strstr("source sibling default instead", fills[k].how));
        if (plim_catalogue_model_open(i, &model, &error) < 0) {
            assert_int_equal(error.code, PLIM_E_UNSUPPORTED);
            assert_string_equal(error.where, entry.id);
            continue;
        }
        assert_string_equal(plim_model_name(model), entry.name);
        assert_int_equal(plim_model_format(model), PLIM_FORMAT_HF_CONFIG);
        n_tensors += plim_model_n_params(model) > 0;
        plim_model_free(model);
    }
    assert_true(n_tensors >= 79);
}

/* Every id and name finds its own model, or another of the same shape. */
static void test_every_model_finds_itself(void **state)
{
    (void)state;
    for (size_t i = 0; i < plim_catalogue_model_count(); i++) {
        struct plim_catalogue_model entry;
        struct plim_catalogue_answer answer;
        struct plim_error error = { 0 };
        char name[256];
        plim_catalogue_model_at(i, &entry);
        if (plim_catalogue_model_find(entry.id, &answer, &error) < 0 || answer.model != i)
            fail_msg("%s: %s", entry.id, error.what);
        if (plim_catalogue_model_find(entry.name, &answer, &error) < 0 || answer.model != i)
            fail_msg("%s: %s", entry.name, error.what);
        snprintf(name, sizeof name, "bartowski/%s-GGUF:Q5_K_M", entry.name);
        if (plim_catalogue_model_find(name, &answer, &error) < 0 || strcmp(answer.quant, "Q5_K_M") != 0)
            fail_msg("%s: %s", name, error.what);
        assert_true(plim_catalogue_model_matches(i, entry.name) && plim_catalogue_model_matches(i, ""));
    }
}

static const struct {
    const char *name, *id, *quant;
} found[] = {
    { "Qwen3-14B", "Qwen/Qwen3-14B", "" },
    { "Qwen3-14B:Q5_K_M", "Qwen/Qwen3-14B", "Q5_K_M" },
    { "qwen3 14b", "Qwen/Qwen3-14B", "" },
    { "bartowski/Qwen_Qwen3-14B-GGUF:q4_k_m", "Qwen/Qwen3-14B", "Q4_K_M" },
    { "Qwen3-14B.i1-IQ3_M.gguf", "Qwen/Qwen3-14B", "IQ3_M" },
    { "https://huggingface.co/Qwen/Qwen3-8B", "Qwen/Qwen3-8B", "" },
    { "/models/Mistral-7B-Instruct-v0.3.Q5_K_M.gguf", "mistralai/Mistral-7B-Instruct-v0.3", "Q5_K_M" },
};

static void test_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(found); i++) {
        struct plim_catalogue_model entry;
        struct plim_catalogue_answer answer;
        struct plim_error error = { 0 };
        if (plim_catalogue_model_find(found[i].name, &answer, &error) < 0)
            fail_msg("%s: %s; %s", found[i].name, error.what, error.hint);
        plim_catalogue_model_at(answer.model, &entry);
        if (strcmp(entry.id, found[i].id) != 0 || strcmp(answer.quant, found[i].quant) != 0)
            fail_msg("%s is %s:%s", found[i].name, entry.id, answer.quant);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_every_model),
        cmocka_unit_test(test_every_model_finds_itself),
        cmocka_unit_test(test_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
