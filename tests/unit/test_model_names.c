/* SPDX-License-Identifier: MIT */
/* The catalogue of models: rows, configs, and models by the names people use. */
#include "base/table.h"
#include "model/catalogue/columns.h"
#include "model/catalogue/name.h"
#include "model/catalogue/summary.h"
#include "plimsoll/catalogue.h"
#include "plimsoll/convert.h"
#include "unit.h"

#include <ctype.h>

enum { LINE = 256, FIELDS = 3 };

/* --- rows --- */

/* The code finds columns by position. */
static void test_columns(void **state)
{
    static const char *const names[] = { "id",       "name",          "other_names",   "family",
                                         "params",   "params_active", "params_source", "source",
                                         "disputed", "shape",         "config" };
    static const char *const filled[] = { "id", "key", "value", "how", "source" };
    static const char *const tags[] = { "tag", "id", "quant" };
    (void)state;
    assert_int_equal(plim_models_table.n_columns, COUNT(names));
    for (size_t i = 0; i < COUNT(names); i++)
        assert_string_equal(plim_models_table.columns[i], names[i]);
    for (size_t i = 0; i < COUNT(filled); i++)
        assert_string_equal(plim_models_filled_table.columns[i], filled[i]);
    for (size_t i = 0; i < COUNT(tags); i++)
        assert_string_equal(plim_ollama_table.columns[i], tags[i]);
}

/* Tags are looked up by halves; a quantization is one that can be made. */
static void test_tags(void **state)
{
    char quant[24];
    (void)state;
    for (size_t i = 0; i < plim_ollama_table.n_rows; i++) {
        assert_true(strchr(plim_table_cell(&plim_ollama_table, i, 0), ':') != NULL);
        if (i)
            assert_true(
                strcmp(plim_table_cell(&plim_ollama_table, i - 1, 0), plim_table_cell(&plim_ollama_table, i, 0)) < 0);
        if (*plim_table_cell(&plim_ollama_table, i, 2)) {
            assert_true(plim_name_quant(plim_table_cell(&plim_ollama_table, i, 2), quant));
            assert_string_equal(quant, plim_table_cell(&plim_ollama_table, i, 2));
        }
    }
}

/* Each model has a name and a source, and its config opens or says why not. */
static void test_every_model(void **state)
{
    size_t n_tensors = 0;
    (void)state;
    assert_true(plim_catalogue_model_count() > 500);
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
    assert_true(n_tensors >= 160);
}

/* A number that sources differ on is never called exact; one that a published file settles may be. */
static void test_disputed_sizes_are_in_doubt(void **state)
{
    static const struct {
        const char *name;
        enum plim_model_forecast forecast;
    } rows[] = { { "Mixtral-8x22B-v0.1", PLIM_FORECAST_FORMULA },
                 { "Qwen2-7B", PLIM_FORECAST_EXACT },
                 { "DeepSeek-R1-Zero", PLIM_FORECAST_EXACT },
                 { "DeepSeek-V3-0324", PLIM_FORECAST_FORMULA }, /* by its name alone as DeepSeek-V3 */
                 { "DeepSeek-Coder-V2-Lite-Instruct", PLIM_FORECAST_EXACT },
                 { "Qwen1.5-1.8B-Chat", PLIM_FORECAST_EXACT } };
    struct plim_catalogue_answer answer;
    struct plim_error error = { 0 };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct plim_model *config = NULL, *gguf = NULL;
        assert_int_equal(plim_catalogue_model_find(rows[i].name, &answer, &error), 0);
        assert_int_equal(plim_catalogue_model_open(answer.model, &config, &error), 0);
        assert_int_equal(plim_convert(config, NULL, &gguf, &error), 0);
        plim_model_free(config);
        assert_int_equal(plim_model_forecast(gguf), rows[i].forecast);
        assert_true(!plim_model_doubt(gguf, 0) == (rows[i].forecast == PLIM_FORECAST_EXACT));
        plim_model_free(gguf);
    }
}

/* Published numbers of parameters are those that are counted in the tensors. */
static void test_params(void **state)
{
    static const struct {
        const char *name;
        uint64_t params;
    } published[] = {
        { "Llama-3.1-8B", 8030261248 },
        { "Llama-3.2-1B", 1235814400 },
        { "Llama-2-7b-hf", 6738415616 },
        { "Llama-3.1-70B", 70553706496 },
        { "Qwen2.5-7B", 7615616512 },
        { "Qwen2.5-0.5B", 494032768 },
        { "Qwen3-8B", 8190735360 },
        { "Qwen3-14B", 14768307200 },
        { "Qwen3-0.6B", 596049920 },
        { "Mistral-7B-v0.1", 7241732096 },
        { "TinyLlama-1.1B-Chat-v1.0", 1100048384 },
        { "SmolLM2-1.7B", 1711376384 },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(published); i++) {
        struct plim_catalogue_answer answer;
        struct plim_model_summary summary;
        struct plim_error error = { 0 };
        assert_int_equal(plim_catalogue_model_find(published[i].name, &answer, &error), 0);
        assert_int_equal(plim_model_summarize(answer.model, false, &summary, &error), 0);
        assert_int_equal(summary.params_from, PLIM_PARAMS_COUNTED);
        if (summary.params != published[i].params)
            fail_msg("%s has %llu parameters", published[i].name, (unsigned long long)summary.params);
        assert_int_equal(summary.params_active, summary.params);
        assert_int_equal(summary.n_quants, PLIM_SUMMARY_MAX_QUANTS);
        for (uint32_t k = 0; k < summary.n_quants; k++)
            assert_true(summary.quants[k].tensor_bytes > summary.params / 3 &&
                        summary.quants[k].tensor_bytes < 3 * summary.params);
    }
}

/* One token uses a part of the experts: 3.3 of Qwen3-30B-A3B's 30.5 billion parameters, 12.9 of Mixtral's 46.7. */
static void test_active(void **state)
{
    static const struct {
        const char *name;
        double params, active;
    } published[] = { { "Qwen3-30B-A3B", 30.5, 3.3 },
                      { "Mixtral-8x7B-v0.1", 46.7, 12.9 },
                      { "gpt-oss-20b", 20.9, 3.6 } };
    (void)state;
    for (size_t i = 0; i < COUNT(published); i++) {
        struct plim_catalogue_answer answer;
        struct plim_model_summary summary;
        assert_int_equal(plim_catalogue_model_find(published[i].name, &answer, NULL), 0);
        assert_int_equal(plim_model_summarize(answer.model, true, &summary, NULL), 0);
        const double params = (double)summary.params / 1e9, active = (double)summary.params_active / 1e9;
        if (params < published[i].params - 0.06 || params > published[i].params + 0.06 ||
            active < published[i].active - 0.7 || active > published[i].active + 0.7)
            fail_msg("%s: %.2f and %.2f billion", published[i].name, params, active);
    }
}

/* --- names --- */

static bool is_same_shape(size_t a, size_t b)
{
    return !strcmp(plim_models_cell(a, PLIM_MODELS_SHAPE), plim_models_cell(b, PLIM_MODELS_SHAPE));
}

static void require(const char *name, size_t model, const char *quant)
{
    struct plim_catalogue_answer answer;
    struct plim_error error = { 0 };
    if (plim_catalogue_model_find(name, &answer, &error) < 0)
        fail_msg("%s: %s; %s", name, error.what, error.hint);
    if (answer.model != model && !is_same_shape(answer.model, model))
        fail_msg("%s is %s", name, plim_models_cell(answer.model, PLIM_MODELS_ID));
    assert_string_equal(answer.quant, quant);
    assert_int_equal(answer.outcome, PLIM_CATALOGUE_FOUND);
}

/* Every id and name finds its own model, in any case, with any separators and with the suffixes of GGUF files. */
static void test_every_model_finds_itself(void **state)
{
    (void)state;
    for (size_t i = 0; i < plim_catalogue_model_count(); i++) {
        struct plim_catalogue_model entry;
        struct plim_catalogue_answer answer;
        char name[LINE], low[LINE];
        plim_catalogue_model_at(i, &entry);
        assert_int_equal(plim_catalogue_model_find(entry.id, &answer, NULL), 0);
        assert_true(answer.model == i && answer.is_exact);
        assert_int_equal(plim_catalogue_model_find(entry.name, &answer, NULL), 0);
        if (answer.model != i && strcmp(entry.name, plim_models_cell(answer.model, PLIM_MODELS_NAME)) != 0)
            fail_msg("%s is %s", entry.name, plim_models_cell(answer.model, PLIM_MODELS_ID));
        if (i % 4)
            continue;
        snprintf(name, sizeof name, "bartowski/%s-GGUF:Q5_K_M", entry.name);
        require(name, i, "Q5_K_M");
        snprintf(name, sizeof name, "%s-Q4_K_M-00001-of-00003.gguf", entry.name);
        require(name, i, "Q4_K_M");
        snprintf(low, sizeof low, "%s", entry.name);
        for (char *p = low; *p; p++)
            *p = *p == '-' ? '_' : (char)tolower((unsigned char)*p);
        require(low, i, "");
        assert_true(plim_catalogue_model_matches(i, entry.name));
    }
}

/* The fields of a line, parted by tabs; false for a comment. */
static bool read_line(FILE *file, char line[LINE], const char *fields[FIELDS])
{
    while (fgets(line, LINE, file)) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '#')
            continue;
        for (size_t i = 0; i < FIELDS; i++) {
            fields[i] = line;
            line += strcspn(line, "\t");
            if (*line)
                *line++ = '\0';
        }
        return true;
    }
    return false;
}

static void check_name(const char *name, const char *expected, const char *more)
{
    struct plim_catalogue_answer answer;
    struct plim_error error = { 0 };
    char quant[64] = "";
    const int result = plim_catalogue_model_find(name, &answer, &error);
    assert_int_equal(result, error.code);
    if (!strcmp(expected, "?")) {
        if (result != PLIM_E_USAGE || answer.outcome != PLIM_CATALOGUE_AMBIGUOUS || answer.n_all < 2)
            fail_msg("%s is not ambiguous: %s", name, error.what);
    } else if (!strcmp(expected, "none")) {
        if (result != PLIM_E_NOT_FOUND || !strstr(error.hint, *more ? more : "lists all"))
            fail_msg("%s: %s; %s", name, error.what, error.hint);
    } else if (!strcmp(expected, "lacking")) {
        if (result != PLIM_E_NOT_FOUND || !strstr(error.what, more))
            fail_msg("%s: %s", name, error.what);
    } else {
        if (result < 0)
            fail_msg("%s: %s; %s", name, error.what, error.hint);
        snprintf(quant, sizeof quant, "%s%s", answer.quant, answer.is_quant_of_tag ? " of the tag" : "");
        if (strcmp(plim_models_cell(answer.model, PLIM_MODELS_ID), expected) != 0 || strcmp(quant, more) != 0)
            fail_msg("%s is %s, '%s'", name, plim_models_cell(answer.model, PLIM_MODELS_ID), quant);
    }
}

/* tests/data/model-names.tsv */
static void test_names_of_people(void **state)
{
    char path[512], line[LINE];
    const char *fields[FIELDS];
    size_t n = 0;
    (void)state;
    snprintf(path, sizeof path, "%s/data/model-names.tsv", getenv("PLIM_TEST_LOGS"));
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    for (; read_line(file, line, fields); n++)
        check_name(fields[0], fields[1], fields[2]);
    fclose(file);
    assert_true(n >= 200);
}

static void test_quantizations(void **state)
{
    static const struct {
        const char *text, *quant;
    } cases[] = {
        { "q4_k_m", "Q4_K_M" },     { "Q8_0", "Q8_0" },
        { "fp16", "F16" },          { "BF16", "BF16" },
        { "iq3_xxs", "IQ3_XXS" },   { "UD-Q4_K_XL", "UD-Q4_K_XL" },
        { "i1-IQ2_M", "IQ2_M" },    { "tq1_0", "TQ1_0" },
        { "Q4_0_4_4", "Q4_0_4_4" }, { "q6", "Q6_K" },
        { "mxfp4", "MXFP4_MOE" },   { "Q5KM", "Q5_K_M" },
        { "q3_K_L", "Q3_K_L" },     { "8b", NULL },
        { "instruct", NULL },       { "q", NULL },
        { "q9_0", NULL },           { "q4_", NULL },
        { "q4_k_mm", NULL },        { "", NULL },
        { "latest", NULL },         { "q4_k_m_and_more_than_that", NULL },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        char quant[24] = "";
        const bool is_quant = plim_name_quant(cases[i].text, quant);
        if (is_quant != (cases[i].quant != NULL) || (is_quant && strcmp(quant, cases[i].quant) != 0))
            fail_msg("'%s' is '%s'", cases[i].text, quant);
    }
}

/* --- lists --- */

static size_t count(const char *query)
{
    size_t n = 0;
    for (size_t i = 0; i < plim_catalogue_model_count(); i++)
        n += plim_catalogue_model_matches(i, query);
    return n;
}

/* Words may be joined or apart, but a number stays whole. */
static void test_lists(void **state)
{
    (void)state;
    assert_true(count("qwen3") > 20);
    assert_true(count("qwen3 14b") >= 2 && count("qwen3 14b") < 6);
    assert_int_equal(count("llama3.1 8b instruct"), count("Llama-3.1 8B Instruct"));
    for (size_t i = 0; i < plim_catalogue_model_count(); i++)
        if (plim_catalogue_model_matches(i, "qwen3") && strstr(plim_models_cell(i, PLIM_MODELS_NAME), "Qwen-32B"))
            fail_msg("qwen3 matches %s", plim_models_cell(i, PLIM_MODELS_NAME));
    assert_int_equal(count("no-such-model"), 0);
    assert_int_equal(count(""), plim_catalogue_model_count());
}

/* --- anything at all --- */

static void test_random_names(void **state)
{
    static const char letters[] = "abqwen3.5-_/: 0123456789kmxGUF@?#\xff";
    uint64_t seed = 20261123;
    (void)state;
    for (int turn = 0; turn < 600; turn++) {
        char name[400];
        struct plim_catalogue_answer answer;
        struct plim_error error = { 0 };
        const size_t n = random_below(&seed, turn % 50 == 0 ? sizeof name : 24);
        for (size_t i = 0; i < n; i++)
            name[i] = letters[random_below(&seed, sizeof letters - 1)];
        name[n < sizeof name ? n : sizeof name - 1] = '\0';
        const int result = plim_catalogue_model_find(name, &answer, &error);
        assert_int_equal(result == 0, answer.outcome == PLIM_CATALOGUE_FOUND);
        assert_true(result == 0 || (error.what[0] && error.hint[0]));
        assert_true(answer.n_others <= PLIM_CATALOGUE_MAX_OTHERS && answer.n_others <= answer.n_all);
        assert_true(answer.model < plim_catalogue_model_count() && strlen(answer.quant) < sizeof answer.quant);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_tags),
        cmocka_unit_test(test_every_model),
        cmocka_unit_test(test_disputed_sizes_are_in_doubt),
        cmocka_unit_test(test_params),
        cmocka_unit_test(test_active),
        cmocka_unit_test(test_every_model_finds_itself),
        cmocka_unit_test(test_names_of_people),
        cmocka_unit_test(test_quantizations),
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_random_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
