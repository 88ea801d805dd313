/* SPDX-License-Identifier: MIT */
/*
 * Checkpoints made of a config.json alone. The oracle is the outside world: the number of parameters and tensors that
 * the published files of these models have.
 */
#include "emit/checkpoint.h"
#include "model/hf_config.h"
#include "model/safetensors.h"
#include "unit.h"

#define SIZES(layers, hidden, intermediate, vocab, heads, kv)                                                          \
    "\"num_hidden_layers\":" #layers ",\"hidden_size\":" #hidden ",\"intermediate_size\":" #intermediate               \
    ",\"vocab_size\":" #vocab ",\"num_attention_heads\":" #heads ",\"num_key_value_heads\":" #kv
#define CONFIG(architecture, rest) "{\"architectures\":[\"" architecture "\"],\"torch_dtype\":\"bfloat16\"," rest "}"

static struct plim_error error;

/* The model that a config implies, and the header of its checkpoint. */
static struct plim_model *model;
static struct plim_checkpoint_head head;

static int describe(const char *config)
{
    error = (struct plim_error){ 0 };
    head = (struct plim_checkpoint_head){ 0 };
    model = plim_model_new("");
    int result = plim_hf_config_read(model, plim_cursor(config, strlen(config)), &error);
    if (result == 0)
        result = plim_hf_tensors_add(model, &error);
    if (result == 0)
        result = plim_model_index(model, &error);
    return result < 0 ? result : plim_checkpoint_head_write(model, &head, &error);
}

static void done(void)
{
    plim_checkpoint_head_done(&head);
    model = plim_model_free(model);
}

/* Our own reader takes what was written, and finds the same tensors. */
static void assert_head_is_right(void)
{
    size_t n;
    const struct plim_tensor *tensors = plim_model_tensors(model, &n);
    struct plim_model *read = plim_model_new("");
    assert_int_equal(plim_safetensors_read(read, plim_cursor(head.bytes, head.n_bytes), head.file_bytes, &error), 0);
    assert_int_equal(plim_model_shard(read, 0)->data_at, head.n_bytes);
    assert_int_equal(head.n_bytes % 8, 0);
    assert_int_equal(plim_model_n_params(read), plim_model_n_params(model));
    for (size_t i = 0; i < n; i++) {
        const struct plim_tensor *t = plim_model_tensor(read, tensors[i].name);
        assert_non_null(t);
        assert_true(t->type == tensors[i].type && t->n_dims == tensors[i].n_dims && t->offset == tensors[i].offset &&
                    t->bytes == tensors[i].bytes && !memcmp(t->ne, tensors[i].ne, sizeof t->ne));
    }
    plim_model_free(read);
}

static void test_published_models(void **state)
{
    static const struct {
        const char *name, *config;
        uint64_t n_tensors, n_params;
    } rows[] = {
        { "Llama-3.1-8B", CONFIG("LlamaForCausalLM", SIZES(32, 4096, 14336, 128256, 32, 8)), 291, 8030261248 },
        { "Llama-3.2-1B",
          CONFIG("LlamaForCausalLM",
                 SIZES(16, 2048, 8192, 128256, 32, 8) ",\"head_dim\":64,\"tie_word_embeddings\":true"),
          146, 1235814400 },
        { "Llama-2-7b", CONFIG("LlamaForCausalLM", SIZES(32, 4096, 11008, 32000, 32, null)), 291, 6738415616 },
        { "Mistral-7B-v0.1", CONFIG("MistralForCausalLM", SIZES(32, 4096, 14336, 32000, 32, 8)), 291, 7241732096 },
        { "Mistral-Nemo-12B", CONFIG("MistralForCausalLM", SIZES(40, 5120, 14336, 131072, 32, 8) ",\"head_dim\":128"),
          363, 12247782400 },
        { "Qwen2.5-7B", CONFIG("Qwen2ForCausalLM", SIZES(28, 3584, 18944, 152064, 28, 4)), 339, 7615616512 },
        { "Qwen3-8B", CONFIG("Qwen3ForCausalLM", SIZES(36, 4096, 12288, 151936, 32, 8) ",\"head_dim\":128"), 399,
          8190735360 },
        { "gemma-2-9b", CONFIG("Gemma2ForCausalLM", SIZES(42, 3584, 14336, 256000, 16, 8) ",\"head_dim\":256"), 464,
          9241705984 },
        { "gemma-2-2b", CONFIG("Gemma2ForCausalLM", SIZES(26, 2304, 9216, 256000, 8, 4) ",\"head_dim\":256"), 288,
          2614341888 },
        { "gemma-3-1b", CONFIG("Gemma3ForCausalLM", SIZES(26, 1152, 6912, 262144, 4, 1) ",\"head_dim\":256"), 340,
          999885952 },
        { "gemma-3-4b",
          CONFIG("Gemma3ForConditionalGeneration",
                 "\"text_config\":{\"hidden_size\":2560,\"intermediate_size\":10240,\"num_hidden_layers\":34},"
                 "\"vision_config\":{\"hidden_size\":1152,\"image_size\":896,\"intermediate_size\":4304,"
                 "\"num_attention_heads\":16,\"num_hidden_layers\":27,\"patch_size\":14,\"vision_use_head\":false}"),
          883, 4300079472 },
        { "Phi-3-mini", CONFIG("Phi3ForCausalLM", SIZES(32, 3072, 8192, 32064, 32, 32)), 195, 3821079552 },
        { "phi-4", CONFIG("Phi3ForCausalLM", SIZES(40, 5120, 17920, 100352, 40, 10)), 243, 14659507200 },
        { "Mixtral-8x7B", CONFIG("MixtralForCausalLM", SIZES(32, 4096, 14336, 32000, 32, 8) ",\"num_local_experts\":8"),
          995, 46702792704 },
        { "Qwen3-30B-A3B",
          CONFIG("Qwen3MoeForCausalLM",
                 SIZES(48, 2048, 6144, 151936, 32,
                       4) ",\"head_dim\":128,\"num_experts\":128,"
                          "\"moe_intermediate_size\":768,\"decoder_sparse_step\":1,\"mlp_only_layers\":[]"),
          18867, 30532122624 },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (describe(rows[i].config) < 0)
            fail_msg("%s: %s", rows[i].name, error.what);
        assert_head_is_right();
        if (model->n_tensors != rows[i].n_tensors || plim_model_n_params(model) != rows[i].n_params)
            fail_msg("%s: %zu tensors, %llu parameters", rows[i].name, model->n_tensors,
                     (unsigned long long)plim_model_n_params(model));
        assert_int_equal(head.file_bytes, head.n_bytes + 2 * rows[i].n_params);
        done();
    }
}

static void test_names(void **state)
{
    static const struct {
        const char *config, *has, *has_not;
    } rows[] = {
        { CONFIG("LlamaForCausalLM", SIZES(1, 8, 16, 10, 2, 1) ",\"attention_bias\":true,\"mlp_bias\":true"),
          "\"model.layers.0.self_attn.k_proj.bias\":{\"dtype\":\"BF16\",\"shape\":[4],", "k_norm" },
        { CONFIG("LlamaForCausalLM", SIZES(1, 8, 16, 10, 2, 1)),
          "\"lm_head.weight\":{\"dtype\":\"BF16\",\"shape\":[10,8],", "bias" },
        { CONFIG("Qwen2ForCausalLM", SIZES(1, 8, 16, 10, 2, 1)), "\"model.layers.0.self_attn.q_proj.bias\"",
          "o_proj.bias" },
        { CONFIG("Phi3ForCausalLM", SIZES(1, 8, 16, 10, 2, 1)),
          "self_attn.qkv_proj.weight\":{\"dtype\":\"BF16\",\"shape\":[16,8]", "q_proj.weight" },
        { CONFIG("Qwen3MoeForCausalLM",
                 SIZES(3, 8, 16, 10, 2,
                       1) ",\"head_dim\":4,\"num_experts\":2,"
                          "\"moe_intermediate_size\":4,\"decoder_sparse_step\":2,\"mlp_only_layers\":[1]"),
          "\"model.layers.1.mlp.gate_proj.weight\"", "experts" },
        { CONFIG("MixtralForCausalLM", SIZES(1, 8, 16, 10, 2, 1) ",\"num_local_experts\":2"),
          "\"model.layers.0.block_sparse_moe.experts.1.w2.weight\":{\"dtype\":\"BF16\",\"shape\":[8,16]", "mlp" },
        { "{\"architectures\":[\"MistralForCausalLM\"],\"dtype\":\"float32\"," SIZES(1, 8, 16, 10, 2, 1) "}", "\"F32\"",
          "BF16" },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (describe(rows[i].config) < 0)
            fail_msg("%zu: %s", i, error.what);
        assert_head_is_right();
        const char *text = head.bytes + 8;
        if (!memmem(text, head.n_bytes - 8, rows[i].has, strlen(rows[i].has)))
            fail_msg("%zu: no %s", i, rows[i].has);
        assert_null(memmem(text, head.n_bytes - 8, rows[i].has_not, strlen(rows[i].has_not)));
        done();
    }
}

static void test_refused(void **state)
{
    static const struct {
        const char *config;
        int code;
        const char *what;
    } rows[] = {
        { CONFIG("MambaForCausalLM", SIZES(1, 8, 16, 10, 2, 1)), PLIM_E_UNSUPPORTED,
          "'MambaForCausalLM' are not known" },
        { "{}", PLIM_E_UNSUPPORTED, "'architectures' does not name one" },
        { "{\"architectures\":[]}", PLIM_E_UNSUPPORTED, "does not name one" },
        { "{\"architectures\":[7]}", PLIM_E_UNSUPPORTED, "does not name one" },
        { "[1]", PLIM_E_CORRUPT, "expected an object" },
        { "{", PLIM_E_TRUNCATED, "the JSON text ends" },
        { "{\"a\":1,\"a\":1}", PLIM_E_CORRUPT, "key 'a' appears twice, first at byte" },
        { "{\"architectures\":[\"LlamaForCausalLM\"]}", PLIM_E_UNSUPPORTED, "'dtype' is not bfloat16" },
        { CONFIG("LlamaForCausalLM", "\"quantization_config\":{}"), PLIM_E_UNSUPPORTED,
          "'quantization_config' is present" },
        { CONFIG("LlamaForCausalLM", "\"hidden_size\":1"), PLIM_E_CORRUPT, "'num_hidden_layers' is missing" },
        { CONFIG("LlamaForCausalLM", SIZES(1, 7, 16, 10, 2, 1)), PLIM_E_CORRUPT, "'head_dim' is missing" },
        { CONFIG("LlamaForCausalLM", SIZES(1, 8, 16, 10, 3, 2) ",\"head_dim\":8"), PLIM_E_CORRUPT, "does not divide" },
        { CONFIG("LlamaForCausalLM", SIZES(513, 8, 16, 10, 2, 1)), PLIM_E_CORRUPT, "not a number from 1 to 512" },
        { CONFIG("LlamaForCausalLM", SIZES(-1, 8, 16, 10, 2, 1)), PLIM_E_CORRUPT, "not a number" },
        { CONFIG("LlamaForCausalLM", SIZES(1, 8.5, 16, 10, 2, 1)), PLIM_E_CORRUPT, "not a number" },
        { CONFIG("LlamaForCausalLM", SIZES(1, 8, 16, 10, 2, 1) ",\"attention_bias\":3"), PLIM_E_CORRUPT,
          "neither true nor" },
        { CONFIG("Qwen3ForCausalLM", SIZES(1, 8, 16, 10, 2, 1)), PLIM_E_CORRUPT, "'head_dim' is missing" },
        { CONFIG("MistralForCausalLM", SIZES(1, 8, 16, 10, 2, null)), PLIM_E_CORRUPT,
          "'num_key_value_heads' is missing" },
        { CONFIG("MixtralForCausalLM", SIZES(512, 8, 16, 10, 2, 1) ",\"num_local_experts\":4096"), PLIM_E_TOO_BIG,
          "more than 131072 tensors" },
        { CONFIG("Gemma3ForConditionalGeneration", "\"a\":1"), PLIM_E_CORRUPT,
          "'text_config.num_hidden_layers' is missing" },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_int_equal(describe(rows[i].config), rows[i].code);
        if (!strstr(error.what, rows[i].what))
            fail_msg("%zu: %s", i, error.what);
        assert_null(head.bytes);
        assert_int_equal(plim_error_exit_status(error.code), 3);
        done();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_published_models),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
