/* SPDX-License-Identifier: MIT */
/*
 * From a config to the GGUF it becomes: errors, doubts and bounds. (That the tensors are the converter's is tested
 * against what the converter wrote: tests/engine/convert.)
 */
#include "plimsoll/convert.h"

#include "model/hf_config.h"
#include "plimsoll/quant_recipe.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>

#define SIZES                                                                                                          \
    "\"num_hidden_layers\":2,\"hidden_size\":64,\"intermediate_size\":128,\"vocab_size\":1000,"                        \
    "\"num_attention_heads\":4,\"num_key_value_heads\":2,\"max_position_embeddings\":512"
#define LLAMA "\"architectures\":[\"LlamaForCausalLM\"],\"model_type\":\"llama\""

static struct plim_error error;
static struct plim_model *gguf;

static int convert_with(const char *config, const struct plim_convert_options *options)
{
    error = (struct plim_error){ 0 };
    gguf = NULL;
    struct plim_model *model = plim_model_new("config.json");
    int result = plim_hf_config_read(model, plim_cursor(config, strlen(config)), &error);
    assert_int_equal(result, 0);
    model->format = PLIM_FORMAT_HF_CONFIG;
    result = plim_convert(model, options, &gguf, &error);
    plim_model_free(model); /* the result stands on its own */
    assert_int_equal(result == 0, gguf != NULL);
    return result;
}

static int convert(const char *config) { return convert_with(config, NULL); }

static void done(void) { gguf = plim_model_free(gguf); }

static void assert_fails(const char *config, int code, const char *words)
{
    assert_int_equal(convert(config), code);
    assert_int_equal(error.code, code);
    assert_non_null(strstr(error.what, words));
}

static void test_llama(void **state)
{
    (void)state;
    size_t n;
    uint64_t vocabulary;
    assert_int_equal(convert("{" LLAMA "," SIZES ",\"tie_word_embeddings\":false}"), 0);
    plim_model_tensors(gguf, &n);
    assert_int_equal(n, 3 + 2 * 9);
    assert_string_equal(plim_model_arch(gguf), "llama");
    assert_int_equal(plim_model_format(gguf), PLIM_FORMAT_GGUF);
    const struct plim_tensor *k = plim_model_tensor(gguf, "blk.1.attn_k.weight");
    assert_true(k && k->ne[0] == 64 && k->ne[1] == 32 && k->type == PLIM_DTYPE_BF16 && k->bytes == 64 * 32 * 2);
    assert_int_equal(plim_model_tensor(gguf, "blk.0.attn_norm.weight")->type, PLIM_DTYPE_F32);
    assert_true(plim_model_u64(gguf, "llama.vocab_size", &vocabulary) && vocabulary == 1000);
    assert_int_equal(plim_model_array_length(gguf, "tokenizer.ggml.tokens"), 1000);
    assert_int_equal(plim_model_hyperparameters(gguf)->n_head_kv, 2);
    assert_int_equal(plim_model_forecast(gguf), PLIM_FORECAST_EXACT);
    assert_null(plim_model_doubt(gguf, 0));
    done();
}

static void test_an_absent_fact_is_a_doubt(void **state)
{
    (void)state;
    assert_int_equal(convert("{" LLAMA "," SIZES "}"), 0);
    assert_int_equal(plim_model_forecast(gguf), PLIM_FORECAST_FORMULA);
    assert_string_equal(plim_model_doubt(gguf, 0)->tensor, "output.weight");
    assert_null(plim_model_doubt(gguf, 1));
    done();
    /* a config that transformers wrote leaves out what is its class's default */
    assert_int_equal(convert("{" LLAMA "," SIZES ",\"transformers_version\":\"4.40.0\"}"), 0);
    assert_int_equal(plim_model_forecast(gguf), PLIM_FORECAST_EXACT);
    done();
    /* the catalogue's note that nobody read a config of this model */
    assert_int_equal(convert("{" LLAMA "," SIZES ",\"tie_word_embeddings\":false,\"_by_name\":true}"), 0);
    assert_int_equal(plim_model_forecast(gguf), PLIM_FORECAST_FORMULA);
    assert_non_null(strstr(plim_model_doubt(gguf, 0)->text, "by its name"));
    done();
    assert_int_equal(convert("{\"model_type\":\"llama\",\"tie_word_embeddings\":true," SIZES "}"), 0);
    assert_int_equal(plim_model_forecast(gguf), PLIM_FORECAST_FORMULA);
    assert_non_null(strstr(plim_model_doubt(gguf, 0)->text, "no architecture"));
    assert_null(plim_model_tensor(gguf, "output.weight"));
    done();
}

static void test_doubts_survive_quantization(void **state)
{
    (void)state;
    struct plim_model *small = NULL;
    assert_int_equal(convert("{" LLAMA "," SIZES "}"), 0);
    assert_int_equal(plim_model_requantize(gguf, "Q8_0", &small, &error), 0);
    assert_int_equal(plim_model_forecast(small), PLIM_FORECAST_FORMULA);
    assert_non_null(plim_model_doubt(small, 0));
    plim_model_free(small);
    done();
}

static void test_errors_name_the_key(void **state)
{
    (void)state;
    assert_fails("{\"architectures\":[\"OPTForCausalLM\"]," SIZES "}", PLIM_E_UNSUPPORTED, "OPTForCausalLM");
    assert_fails("{\"architectures\":[\"Qwen3ForCausalLM\"]}", PLIM_E_CORRUPT, "'hidden_size' is missing");
    assert_fails("{\"architectures\":[\"Qwen3ForCausalLM\"],\"model_type\":\"qwen3\",\"hidden_size\":0}",
                 PLIM_E_CORRUPT, "'hidden_size' is 0");
    assert_fails("{" LLAMA ",\"hidden_size\":1099511627776}", PLIM_E_CORRUPT, "'hidden_size' is no whole number");
    assert_fails("{" LLAMA ",\"hidden_size\":64,\"num_hidden_layers\":2,\"num_attention_heads\":5,"
                 "\"num_key_value_heads\":2,\"vocab_size\":10,\"intermediate_size\":8}",
                 PLIM_E_CORRUPT, "num_key_value_heads");
    assert_fails("{\"architectures\":[\"DeciLMForCausalLM\"]," SIZES "}", PLIM_E_CORRUPT, "'block_configs' is missing");
}

/* Sizes that are each within bounds, but not their product. */
static void test_no_size_overflows(void **state)
{
    (void)state;
    assert_fails("{\"architectures\":[\"MixtralForCausalLM\"],\"model_type\":\"mixtral\",\"hidden_size\":16777216,"
                 "\"intermediate_size\":16777216,\"num_hidden_layers\":512,\"num_attention_heads\":4096,"
                 "\"num_key_value_heads\":4096,\"num_local_experts\":4096,\"vocab_size\":33554432}",
                 PLIM_E_CORRUPT, "larger than any model");
}

static void test_projectors(void **state)
{
    (void)state;
    const struct plim_convert_options projector = { .part = PLIM_CONVERT_PROJECTOR };
    assert_int_equal(convert_with("{" LLAMA "," SIZES "}", &projector), PLIM_E_UNSUPPORTED);
    assert_non_null(strstr(error.what, "projector"));
    assert_int_equal(
        convert_with("{\"architectures\":[\"Gemma3ForConditionalGeneration\"],\"model_type\":\"gemma3\","
                     "\"text_config\":{" SIZES "},\"vision_config\":{\"hidden_size\":32,\"num_hidden_layers\":1,"
                     "\"num_attention_heads\":2,\"intermediate_size\":48,\"patch_size\":14,\"image_size\":28}}",
                     &projector),
        0);
    assert_int_equal(plim_model_kind(gguf), PLIM_MODEL_PROJECTOR);
    const struct plim_tensor *last = plim_model_tensor(gguf, "mm.input_projection.weight");
    assert_true(last && last->ne[0] == 64 && last->ne[1] == 32);
    done();
}

static void test_prediction_layers_are_optional(void **state)
{
    (void)state;
    static const char config[] =
        "{\"architectures\":[\"Qwen3_5ForCausalLM\"],\"model_type\":\"qwen3_5_text\",\"mtp_num_hidden_layers\":1,"
        "\"tie_word_embeddings\":true," SIZES "}";
    const struct plim_convert_options without = { .without_prediction = true };
    assert_int_equal(convert(config), 0);
    assert_non_null(plim_model_tensor(gguf, "blk.2.nextn.eh_proj.weight"));
    done();
    assert_int_equal(convert_with(config, &without), 0);
    assert_null(plim_model_tensor(gguf, "blk.2.nextn.eh_proj.weight"));
    done();
}

static void test_only_checkpoints_convert(void **state)
{
    (void)state;
    struct plim_model *made = NULL;
    assert_int_equal(convert("{" LLAMA "," SIZES "}"), 0);
    error = (struct plim_error){ 0 };
    assert_int_equal(plim_convert(gguf, NULL, &made, &error), PLIM_E_USAGE);
    done();
}

static void test_the_table_lists_each_name_once(void **state)
{
    (void)state;
    struct plim_convert_architecture a, b;
    size_t n_arch = 0;
    for (size_t i = 0; plim_convert_architecture_at(i, &a); i++, n_arch++) {
        assert_true(a.name && a.gguf_arch && a.source);
        for (size_t k = 0; k < i && plim_convert_architecture_at(k, &b); k++)
            assert_true(strcmp(a.name, b.name) || a.is_projector != b.is_projector);
    }
    assert_true(n_arch > 90);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_llama),
        cmocka_unit_test(test_an_absent_fact_is_a_doubt),
        cmocka_unit_test(test_doubts_survive_quantization),
        cmocka_unit_test(test_errors_name_the_key),
        cmocka_unit_test(test_no_size_overflows),
        cmocka_unit_test(test_projectors),
        cmocka_unit_test(test_prediction_layers_are_optional),
        cmocka_unit_test(test_only_checkpoints_convert),
        cmocka_unit_test(test_the_table_lists_each_name_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
