/* SPDX-License-Identifier: MIT */
/* Dense decoders with full attention in every layer, and those that differ from them in keys only. */
#include "model/convert/groups.h"
#include "model/convert/sizes.h"

#include "base/limits.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- keys --- */

static const struct plim_convert_key granite_keys[] = {
    { "vocab_size", KEY_SIZE, N_VOCAB, NULL, 0 },
    { "rope.dimension_count", KEY_SIZE, N_SHARE, NULL, 0 },
    { "attention.scale", KEY_REAL, 0, "attention_multiplier", ABSENT },
    { "embedding_scale", KEY_REAL, 0, "embedding_multiplier", ABSENT },
    { "residual_scale", KEY_REAL, 0, "residual_multiplier", ABSENT },
    { "logit_scale", KEY_REAL, 0, "logits_scaling", ABSENT },
    END_OF_KEYS,
};

static const struct plim_convert_key mistral3_keys[] = {
    { "vocab_size", KEY_SIZE, N_VOCAB, NULL, 0 },
    { "rope.dimension_count", KEY_SIZE, N_HEAD_K, NULL, 0 },
    { "rope.scaling.yarn_log_multiplier", KEY_REAL, 0, "rope_parameters.mscale_all_dim", ABSENT },
    { "attention.temperature_scale", KEY_REAL, 0, "rope_parameters.llama_4_scaling_beta", ABSENT },
    END_OF_KEYS,
};

static const struct plim_convert_key vocabulary_keys[] = {
    { "vocab_size", KEY_SIZE, N_VOCAB, NULL, 0 },
    END_OF_KEYS,
};

static const struct plim_convert_key rotated_keys[] = {
    { "rope.dimension_count", KEY_SIZE, N_HEAD_K, NULL, 0 },
    END_OF_KEYS,
};

static const struct plim_convert_key olmo_keys[] = {
    { "attention.layer_norm_epsilon", KEY_REAL, 0, NULL, 1e-5 },
    { "attention.clamp_kqv", KEY_REAL, 0, "clip_qkv", ABSENT },
    END_OF_KEYS,
};

#define HALF_KEYS                                                                                                      \
    { "context_length", KEY_COUNT, 0, "n_positions|max_position_embeddings", ABSENT },                                 \
        { "embedding_length", KEY_SIZE, N_EMBD, NULL, 0 }, { "block_count", KEY_SIZE, N_LAYER_ALL, NULL, 0 },          \
        { "feed_forward_length", KEY_SIZE, N_FF, NULL, 0 }, { "attention.head_count", KEY_SIZE, N_HEAD, NULL, 0 },     \
    {                                                                                                                  \
        "attention.head_count_kv", KEY_SIZE, N_HEAD_KV, NULL, 0                                                        \
    }

/* 4096: Phi3Config. */
static const struct plim_convert_key phi3_keys[] = {
    HALF_KEYS,
    { "rope.scaling.original_context_length", KEY_COUNT, 0,
      "rope_parameters.original_max_position_embeddings|rope_scaling.original_max_position_embeddings|"
      "original_max_position_embeddings",
      4096 },
    { "attention.layer_norm_rms_epsilon", KEY_REAL, 0, "rms_norm_eps", 1e-5 },
    { "rope.dimension_count", KEY_SIZE, N_ROT, NULL, 0 },
    { "rope.freq_base", KEY_REAL, 0, "rope_parameters.rope_theta|rope_theta", 10000 },
    { "attention.sliding_window", KEY_COUNT, 0, "sliding_window", 0 },
    END_OF_KEYS,
};

static const struct plim_convert_key phi2_keys[] = {
    HALF_KEYS,
    { "attention.layer_norm_epsilon", KEY_REAL, 0, "layer_norm_epsilon|layer_norm_eps", 1e-5 },
    { "rope.dimension_count", KEY_SIZE, N_ROT, NULL, 0 },
    END_OF_KEYS,
};

static const struct plim_convert_key stablelm_keys[] = {
    HALF_KEYS,
    { "attention.layer_norm_epsilon", KEY_REAL, 0, "layer_norm_eps|norm_eps", 1e-5 },
    { "use_parallel_residual", KEY_FLAG, 0, "use_parallel_residual", 0 }, /* StableLmConfig */
    END_OF_KEYS,
};

static const struct plim_convert_key cohere_keys[] = {
    { "context_length", KEY_COUNT, 0, "model_max_length|max_position_embeddings", ABSENT },
    { "logit_scale", KEY_REAL, 0, "logit_scale", 0.0625 } /* CohereConfig */,
    { "rope.scaling.type", KEY_TEXT, 0, "none", 0 },
    END_OF_KEYS,
};

static const struct plim_convert_key deci_keys[] = {
    { "block_count", KEY_SIZE, N_LAYER_ALL, NULL, 0 },
    { "context_length", KEY_COUNT, 0, "max_position_embeddings", ABSENT },
    { "embedding_length", KEY_SIZE, N_EMBD, NULL, 0 },
    { "attention.layer_norm_rms_epsilon", KEY_REAL, 0, "rms_norm_eps", ABSENT },
    { "attention.key_length", KEY_SIZE, N_HEAD_K, NULL, 0 },
    { "attention.value_length", KEY_SIZE, N_HEAD_K, NULL, 0 },
    { "rope.freq_base", KEY_REAL, 0, "rope_parameters.rope_theta|rope_theta", ABSENT },
    { "vocab_size", KEY_SIZE, N_VOCAB, NULL, 0 },
    { "rope.dimension_count", KEY_SIZE, N_HEAD_K, NULL, 0 },
    END_OF_KEYS,
};

/* --- groups of their own --- */

/* OLMo's norms have no weights. */
static const struct plim_convert_rule normless_outer[] = {
    MATRIX("token_embd", N_EMBD, N_VOCAB, ALWAYS),
    MATRIX("output", N_EMBD, N_VOCAB, UNLESS(TIED)),
    END_OF_GROUP,
};

/* Command R+ has a norm with weights of its own for each head. */
static const struct plim_convert_rule cohere_qk_norm[] = {
    MATRIX("attn_q_norm", N_HEAD_K, N_HEAD, WHEN(QK_NORM)),
    MATRIX("attn_k_norm", N_HEAD_K, N_HEAD_KV, WHEN(QK_NORM)),
    END_OF_GROUP,
};

/* Models with a parallel residual have one norm for both parts. */
static const struct plim_convert_rule stablelm_norms[] = {
    NORM("ffn_norm", N_EMBD, WHEN(POST_NORM)),
    BIAS("ffn_norm", N_EMBD, WHEN(POST_NORM)),
    MATRIX("attn_q_norm", N_HEAD_K, N_HEAD, WHEN(QK_NORM)),
    MATRIX("attn_k_norm", N_HEAD_K, N_HEAD_KV, WHEN(QK_NORM)),
    END_OF_GROUP,
};

/* DeciLM: a layer may lack attention, the feed-forward part, or both; attention may be one matrix. */
static const struct plim_convert_rule deci_norms[] = {
    NORM("attn_norm", N_EMBD, WHEN(MIXED)),
    NORM("ffn_norm", N_EMBD, WHEN(DENSE)),
    END_OF_GROUP,
};

static const struct plim_convert_rule deci_attention[] = {
    MATRIX("attn_q", N_EMBD, N_Q, WHEN(ATTENDS)),
    MATRIX("attn_k", N_EMBD, N_K, WHEN(ATTENDS)),
    MATRIX("attn_v", N_EMBD, N_V, WHEN(ATTENDS)),
    MATRIX("attn_output", N_O, N_EMBD, WHEN(ATTENDS)),
    { "attn_output.weight", { N_EMBD, N_EMBD }, MIXED, ATTENDS, 0 },
    END_OF_GROUP,
};

static const struct plim_convert_rule deci_ffn[] = {
    MATRIX("ffn_gate", N_EMBD, N_FF, WHEN(DENSE)),
    MATRIX("ffn_up", N_EMBD, N_FF, WHEN(DENSE)),
    MATRIX("ffn_down", N_FF, N_EMBD, WHEN(DENSE)),
    END_OF_GROUP,
};

/* --- hooks --- */

static void set(struct plim_conversion *c, uint32_t fact, bool holds)
{
    c->facts = holds ? c->facts | fact : c->facts & ~fact;
}

/* Also the output projection has a bias when its own key says so. */
static void read_seed_oss(struct plim_conversion *c)
{
    set(c, QKV_BIAS, plim_config_truth(c, "attention_bias", true));
    set(c, OUT_BIAS, plim_config_truth(c, "attention_out_bias", false));
}

/* Configs of dense models that name experts all the same. */
static void read_minicpm(struct plim_conversion *c) { set(c, EXPERTS, false); }

static void read_glm4(struct plim_conversion *c)
{
    set(c, QKV_BIAS, plim_config_truth(c, "attention_bias", true)); /* Glm4Config */
    set(c, OUT_BIAS, false);
    if (!plim_config_says(c, "attention_bias"))
        plim_conversion_doubt(c, "the config does not say whether attention has biases", NULL);
}

static void read_cohere(struct plim_conversion *c) { set(c, QK_NORM, plim_config_truth(c, "use_qk_norm", false)); }

static void read_stablelm(struct plim_conversion *c)
{
    set(c, QKV_BIAS, plim_config_truth(c, "use_qkv_bias", false));
    set(c, QK_NORM, plim_config_truth(c, "qk_layernorm", false));
    if (c->facts & QK_NORM)
        plim_conversion_doubt(c, "StableLM's norms of Q and K are not compared with the converter", NULL);
    set(c, POST_NORM, !plim_config_truth(c, "use_parallel_residual", false));
}

static void read_phi2(struct plim_conversion *c)
{
    c->n[N_FF] = 4 * c->n[N_EMBD];
    c->n[N_HEAD_KV] = c->n[N_HEAD];
    c->n[N_ROT] = plim_config_number(c, "rotary_dim", c->n[N_HEAD_K], c->n[N_ROT_HALF] * 2);
    const char *type = plim_config_string(c, "model_type");
    if (type && !strcmp(type, "phi-msft"))
        plim_conversion_doubt(c, "the config is of Phi's first release, whose tensors the converter does not read",
                              NULL);
}

/* The width of one layer's feed-forward part (DeciModel._ffn_mult_to_intermediate_size). */
static uint64_t deci_width(const struct plim_conversion *c, uint32_t il)
{
    enum { MULTIPLE = 256 };
    char key[64];
    snprintf(key, sizeof key, "block_configs.%" PRIu32 ".ffn.ffn_mult", il);
    const double times = plim_config_real(c, key, 0);
    if (!(times > 0) || times > 1024)
        return 0;
    const uint64_t width = (uint64_t)(2 * times * (double)c->n[N_EMBD] / 3);
    return (width + MULTIPLE - 1) / MULTIPLE * MULTIPLE;
}

static uint64_t deci_group(const struct plim_conversion *c, uint32_t il)
{
    char key[64];
    snprintf(key, sizeof key, "block_configs.%" PRIu32 ".attention.n_heads_in_group", il);
    return (uint64_t)plim_config_real(c, key, 0);
}

static bool deci_is_linear(const struct plim_conversion *c, uint32_t il)
{
    char key[64];
    snprintf(key, sizeof key, "block_configs.%" PRIu32 ".attention.replace_with_linear", il);
    return plim_config_truth(c, key, false);
}

static void read_deci(struct plim_conversion *c)
{
    const uint64_t n = c->n[N_LAYER];
    c->facts |= ATTENDS | DENSE | MIXED;
    if (!plim_config_has(c, "block_configs"))
        plim_conversion_fail(c, "block_configs", "is missing");
    else if (plim_config_length(c, "block_configs") != n)
        plim_conversion_fail(c, "block_configs", "does not have one entry for each layer");
}

static void each_deci(struct plim_conversion *c, uint32_t il)
{
    const uint64_t group = deci_group(c, il);
    c->n[N_FF] = deci_width(c, il);
    c->n[N_HEAD_KV] = group ? c->n[N_HEAD] / group : 0;
    set(c, ATTENDS, c->n[N_HEAD_KV] > 0);
    set(c, MIXED, c->n[N_HEAD_KV] > 0 || deci_is_linear(c, il));
    set(c, DENSE, c->n[N_FF] > 0);
}

/* --- keys that no table gives --- */

static void write_deci(struct plim_conversion *c)
{
    int64_t heads[PLIM_MAX_LAYERS], kv[PLIM_MAX_LAYERS], widths[PLIM_MAX_LAYERS];
    const uint64_t n = c->n[N_LAYER];
    for (uint32_t il = 0; il < n; il++) {
        const uint64_t group = deci_group(c, il);
        kv[il] = group ? (int64_t)(c->n[N_HEAD] / group) : 0;
        heads[il] = group || deci_is_linear(c, il) ? (int64_t)c->n[N_HEAD] : 0;
        widths[il] = (int64_t)deci_width(c, il);
    }
    plim_write_list(c, "attention.head_count_kv", kv, n);
    plim_write_list(c, "attention.head_count", heads, n);
    plim_write_list(c, "feed_forward_length", widths, n);
}

static void write_rotated(struct plim_conversion *c, double otherwise)
{
    const double part = plim_config_real(
        c, "rope_parameters.partial_rotary_factor|partial_rotary_factor|rope_pct|rope_percent", otherwise);
    if (part > 0 && part <= 1)
        plim_write_count(c, "rope.dimension_count", (uint64_t)(part * (double)c->n[N_HEAD_K]));
}

static void write_half_rotated(struct plim_conversion *c) { write_rotated(c, 0.5); }
static void write_quarter_rotated(struct plim_conversion *c) { write_rotated(c, 0.25); }

static void write_minicpm(struct plim_conversion *c)
{
    const double depth = plim_config_real(c, "scale_depth", 0), base = plim_config_real(c, "dim_model_base", 0);
    plim_write_real(c, "embedding_scale", plim_config_real(c, "scale_emb", 1));
    plim_write_real(c, "residual_scale", depth / sqrt((double)c->n[N_LAYER]));
    if (base > 0)
        plim_write_real(c, "logit_scale", (double)c->n[N_EMBD] / base);
}

void plim_write_long_rope(struct plim_conversion *c)
{
    static const char original[] = "rope_parameters.original_max_position_embeddings|"
                                   "rope_scaling.original_max_position_embeddings|original_max_position_embeddings|"
                                   "max_position_embeddings";
    const double before = plim_config_real(c, original, 0), now = plim_config_real(c, "max_position_embeddings", 0);
    if (c->facts & ROPE_FACTORS && before > 1)
        plim_write_real(c, "rope.scaling.attn_factor", now > before ? sqrt(1 + log(now / before) / log(before)) : 1);
}

static void write_exaone4(struct plim_conversion *c) { plim_write_windows(c, "sliding_window"); }

/* OLMo 3 slides in all layers but every fourth, unless layer_types differs. */
static void write_olmo3(struct plim_conversion *c)
{
    int64_t sliding[PLIM_MAX_LAYERS];
    if (plim_config_has(c, "layer_types")) {
        plim_write_windows(c, "sliding_window");
        return;
    }
    if (!c->n[N_WINDOW])
        return;
    plim_write_count(c, "attention.sliding_window", c->n[N_WINDOW]);
    for (uint32_t il = 0; il < c->n[N_LAYER]; il++)
        sliding[il] = (il + 1) % 4 != 0;
    plim_write_list(c, "attention.sliding_window_pattern", sliding, c->n[N_LAYER]);
}

/* The number of slices of an image that the first layers read (Qwen3VLTextModel.set_gguf_parameters). */
static void write_deepstack(struct plim_conversion *c)
{
    plim_write_count(c, "n_deepstack_layers", plim_config_length(c, "vision_config.deepstack_visual_indexes"));
}

/* --- rows --- */

static const struct plim_convert_row rows[] = {
    { .names = { "LlamaForCausalLM", "LLaMAForCausalLM", "MistralForCausalLM", "MixtralForCausalLM",
                 "LlavaForConditionalGeneration", "LlamaModel" },
      .types = { "llama", "mistral", "mixtral" },
      .arch = "llama",
      .source = "conversion/llama.py: LlamaModel",
      .has_usual_names = true,
      .whole = { plim_rules_outer },
      .layer = { plim_rules_norms, plim_rules_attention, plim_rules_ffn, plim_rules_experts },
      .keys = plim_keys_llama,
      .bias_keys = QKV_BIAS,
      .is_proven = true },
    { .names = { "VoxtralForConditionalGeneration" }, /* its class fills in other numbers than Llama's */
      .types = { "voxtral" },
      .arch = "llama",
      .source = "conversion/llama.py: LlamaModel",
      .whole = { plim_rules_outer },
      .layer = { plim_rules_norms, plim_rules_attention, plim_rules_ffn },
      .keys = plim_keys_llama,
      .bias_keys = QKV_BIAS,
      .is_proven = true },
    { .names = { "Qwen2ForCausalLM", "Qwen2Model", "Qwen2AudioForConditionalGeneration" },
      .types = { "qwen2" },
      .arch = "qwen2",
      .source = "conversion/qwen.py: Qwen2Model",
      .has_usual_names = true,
      .whole = { plim_rules_outer },
      .layer = { plim_rules_norms, plim_rules_attention, plim_rules_ffn },
      .facts = QKV_BIAS,
      .is_proven = true },
    { .names = { "Qwen2VLForConditionalGeneration", "Qwen2_5_VLForConditionalGeneration", "Qwen2VLModel" },
      .types = { "qwen2_vl", "qwen2_5_vl" },
      .arch = "qwen2vl",
      .source = "conversion/qwenvl.py: Qwen2VLModel",
      .whole = { plim_rules_outer },
      .layer = { plim_rules_norms, plim_rules_attention, plim_rules_ffn },
      .facts = QKV_BIAS,
      .is_proven = true },
    { .names = { "Qwen3ForCausalLM", "Qwen3Model" },
      .types = { "qwen3" },
      .arch = "qwen3",
      .source = "conversion/qwen.py: Qwen3Model",
      .has_usual_names = true,
      .whole = { plim_rules_outer },
      .layer = { plim_rules_norms, plim_rules_attention, plim_rules_qk_norm, plim_rules_ffn },
      .bias_keys = QKV_BIAS,
      .head = 128,
      .is_proven = true },
    { .names = { "Qwen3VLForConditionalGeneration" },
      .types = { "qwen3_vl", "qwen3_vl_text" },
      .arch = "qwen3vl",
      .source = "conversion/qwen3vl.py: Qwen3VLTextModel",
      .whole = { plim_rules_outer },
      .layer = { plim_rules_norms, plim_rules_attention, plim_rules_qk_norm, plim_rules_ffn },
      .write = write_deepstack,
      .bias_keys = QKV_BIAS,
      .head = 128,
      .is_proven = true },
    { .names = { "GraniteForCausalLM" },
      .types = { "granite" },
      .arch = "granite",
      .source = "conversion/granite.py: GraniteModel",
      .has_usual_names = true,
      .whole = { plim_rules_outer },
      .layer = { plim_rules_norms, plim_rules_attention, plim_rules_ffn },
      .keys = granite_keys,
      .bias_keys = QKV_BIAS,
      .is_proven = true },
    { .names = { "SmolLM3ForCausalLM" },
      .types = { "smollm3" },
      .arch = "smollm3",
      .source = "conversion/llama.py: SmolLM3Model",
      .has_usual_names = true,
      .whole = { plim_rules_outer },
      .layer = { plim_rules_norms, plim_rules_attention, plim_rules_ffn },
      .keys = plim_keys_llama,
      .bias_keys = QKV_BIAS,
      .is_tied = true,
      .is_proven = true },
    { .names = { "Mistral3ForConditionalGeneration", "Ministral3ForCausalLM" },
      .types = { "mistral3", "ministral3" },
      .arch = "mistral3",
      .source = "conversion/mistral3.py: Mistral3Model",
      .whole = { plim_rules_outer },
      .layer = { plim_rules_norms, plim_rules_attention, plim_rules_ffn },
      .keys = mistral3_keys,
      .is_proven = true },
    { .names = { "MiniCPMForCausalLM" },
      .types = { "minicpm" },
      .arch = "minicpm",
      .source = "conversion/minicpm.py: MiniCPMModel",
      .whole = { plim_rules_outer },
      .layer = { plim_rules_norms, plim_rules_attention, plim_rules_ffn },
      .read = read_minicpm,
      .write = write_minicpm,
      .is_tied = true,
      .is_proven = true },
    { .names = { "ExaoneForCausalLM" },
      .types = { "exaone" },
      .arch = "exaone",
      .source = "conversion/exaone.py: ExaoneModel",
      .whole = { plim_rules_outer },
      .layer = { plim_rules_norms, plim_rules_attention, plim_rules_ffn },
      .keys = rotated_keys },
    { .names = { "Exaone4ForCausalLM" },
      .types = { "exaone4" },
      .arch = "exaone4",
      .source = "conversion/exaone.py: Exaone4Model",
      .whole = { plim_rules_outer },
      .layer = { plim_rules_attention, plim_rules_qk_norm, plim_rules_post_norms, plim_rules_ffn },
      .write = write_exaone4,
      .keys = vocabulary_keys,
      .is_proven = true },
    { .names = { "SeedOssForCausalLM" },
      .types = { "seed_oss" },
      .arch = "seed_oss",
      .source = "conversion/olmo.py: SeedOssModel",
      .whole = { plim_rules_outer },
      .layer = { plim_rules_attn_norm, plim_rules_mid_norm, plim_rules_attention, plim_rules_ffn },
      .read = read_seed_oss,
      .bias_keys = QKV_BIAS,
      .head = 128,
      .is_proven = true },
    { .names = { "OlmoForCausalLM", "OLMoForCausalLM" },
      .types = { "olmo" },
      .arch = "olmo",
      .source = "conversion/olmo.py: OlmoModel",
      .whole = { normless_outer },
      .layer = { plim_rules_attention, plim_rules_ffn },
      .keys = olmo_keys,
      .bias_keys = QKV_BIAS,
      .is_proven = true },
    { .names = { "Olmo2ForCausalLM", "Olmo3ForCausalLM" },
      .types = { "olmo2", "olmo3" },
      .arch = "olmo2",
      .source = "conversion/olmo.py: Olmo2Model",
      .whole = { plim_rules_outer },
      .layer = { plim_rules_attention, plim_rules_qk_norm_flat, plim_rules_post_norms, plim_rules_ffn },
      .write = write_olmo3,
      .bias_keys = QKV_BIAS,
      .is_proven = true },
    { .names = { "Phi3ForCausalLM" },
      .types = { "phi3" },
      .arch = "phi3",
      .source = "conversion/phi.py: Phi3MiniModel",
      .whole = { plim_rules_outer },
      .layer = { plim_rules_norms, plim_rules_fused_attention, plim_rules_ffn_fused },
      .write = plim_write_long_rope,
      .keys = phi3_keys,
      .is_bare = true,
      .is_proven = true },
    { .names = { "PhiForCausalLM" },
      .types = { "phi", "phi-msft" },
      .arch = "phi2",
      .source = "conversion/phi.py: Phi2Model",
      .whole = { plim_rules_outer, plim_rules_outer_bias, plim_rules_output_bias },
      .layer = { plim_rules_attn_norm, plim_rules_attn_norm_bias, plim_rules_attention, plim_rules_ffn_plain },
      .read = read_phi2,
      .keys = phi2_keys,
      .facts = QKV_BIAS | OUT_BIAS | MLP_BIAS,
      .never_tied = true,
      .is_bare = true,
      .is_proven = true },
    { .names = { "Glm4ForCausalLM", "Glm4vForConditionalGeneration" },
      .types = { "glm4" },
      .arch = "glm4",
      .source = "conversion/glm.py: Glm4Model",
      .whole = { plim_rules_outer },
      .layer = { plim_rules_norms, plim_rules_post_norms, plim_rules_attention, plim_rules_ffn_fused },
      .read = read_glm4,
      .write = write_half_rotated,
      .bias_keys = QKV_BIAS,
      .is_proven = true },
    { .names = { "CohereForCausalLM" },
      .types = { "cohere" },
      .arch = "command-r",
      .source = "conversion/command_r.py: CommandR2Model",
      .whole = { plim_rules_outer },
      .layer = { plim_rules_attn_norm, plim_rules_attention, cohere_qk_norm, plim_rules_ffn },
      .read = read_cohere,
      .keys = cohere_keys,
      .facts = TIED,
      .bias_keys = QKV_BIAS,
      .is_proven = true },
    { .names = { "Starcoder2ForCausalLM" },
      .types = { "starcoder2" },
      .arch = "starcoder2",
      .source = "conversion/starcoder.py: StarCoder2Model",
      .whole = { plim_rules_outer, plim_rules_outer_bias },
      .layer = { plim_rules_norms, plim_rules_norm_biases, plim_rules_attention, plim_rules_ffn_plain },
      .facts = QKV_BIAS | OUT_BIAS | MLP_BIAS,
      .is_tied = true,
      .is_proven = true },
    { .names = { "StableLmForCausalLM", "StableLMEpochForCausalLM" },
      .types = { "stablelm" },
      .arch = "stablelm",
      .source = "conversion/stablelm.py: StableLMModel",
      .whole = { plim_rules_outer, plim_rules_outer_bias },
      .layer = { plim_rules_attn_norm, plim_rules_attn_norm_bias, stablelm_norms, plim_rules_attention,
                 plim_rules_ffn },
      .read = read_stablelm,
      .write = write_quarter_rotated,
      .keys = stablelm_keys,
      .is_bare = true,
      .is_proven = true },
    { .names = { "DeciLMForCausalLM" },
      .types = { "nemotron-nas", "deci" },
      .arch = "deci",
      .source = "conversion/deci.py: DeciModel",
      .whole = { plim_rules_outer },
      .layer = { deci_norms, deci_attention, deci_ffn },
      .read = read_deci,
      .each = each_deci,
      .write = write_deci,
      .keys = deci_keys,
      .is_bare = true },
    { .names = { "InternLM2ForCausalLM" },
      .types = { "internlm2" },
      .arch = "internlm2",
      .source = "conversion/internlm.py: InternLM2Model",
      .whole = { plim_rules_outer },
      .layer = { plim_rules_norms, plim_rules_attention, plim_rules_ffn },
      .is_proven = true },
};

const struct plim_convert_family plim_family_dense = FAMILY(rows);
