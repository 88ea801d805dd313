/* SPDX-License-Identifier: MIT */
/* Decoders with experts and ordinary attention. (Mixtral is a Llama with experts: dense.c.) */
#include "model/convert/groups.h"
#include "model/convert/sizes.h"

#include "base/limits.h"

#include <string.h>

enum { MAX_WIDTH = 1 << 24 };

static void set(struct plim_conversion *c, uint32_t fact, bool holds)
{
    c->facts = holds ? c->facts | fact : c->facts & ~fact;
}

/* --- keys --- */

#define EXPERT_WIDTH                                                                                                   \
    {                                                                                                                  \
        "expert_feed_forward_length", KEY_SIZE, N_FF_EXP, NULL, 0                                                      \
    }
#define SHARED_WIDTH                                                                                                   \
    {                                                                                                                  \
        "expert_shared_feed_forward_length", KEY_SIZE, N_FF_SHARED, NULL, 0                                            \
    }
#define SHARED_COUNT                                                                                                   \
    {                                                                                                                  \
        "expert_shared_count", KEY_SIZE, N_SHARED, NULL, 0                                                             \
    }
#define NEXTN                                                                                                          \
    {                                                                                                                  \
        "nextn_predict_layers", KEY_SIZE, N_NEXTN, NULL, 0                                                             \
    }
#define HEAD_WIDTH                                                                                                     \
    {                                                                                                                  \
        "rope.dimension_count", KEY_SIZE, N_HEAD_K, NULL, 0                                                            \
    }
#define VOCABULARY                                                                                                     \
    {                                                                                                                  \
        "vocab_size", KEY_SIZE, N_VOCAB, NULL, 0                                                                       \
    }

static const struct plim_convert_key qwen_keys[] = { EXPERT_WIDTH, SHARED_WIDTH, END_OF_KEYS };

static const struct plim_convert_key deepseek_keys[] = {
    HEAD_WIDTH,
    VOCABULARY,
    EXPERT_WIDTH,
    SHARED_COUNT,
    { "rope.scaling.type", KEY_TEXT, 0, "none", 0 },
    { "leading_dense_block_count", KEY_COUNT, 0, "first_k_dense_replace", 0 },
    { "expert_weights_scale", KEY_REAL, 0, NULL, 1.0 },
    END_OF_KEYS,
};

static const struct plim_convert_key glm4moe_keys[] = {
    EXPERT_WIDTH,
    SHARED_COUNT,
    { "expert_weights_scale", KEY_REAL, 0, "routed_scaling_factor", 1 }, /* Glm4MoeConfig, also below */
    { "expert_weights_norm", KEY_FLAG, 0, "norm_topk_prob", 1 },
    { "expert_group_count", KEY_COUNT, 0, "n_group", 1 },
    { "expert_group_used_count", KEY_COUNT, 0, "topk_group", 1 },
    NEXTN,
    { "leading_dense_block_count", KEY_COUNT, 0, "first_k_dense_replace", ABSENT },
    { "rope.dimension_count", KEY_SIZE, N_ROT, NULL, 0 },
    { "expert_gating_func", KEY_COUNT, 0, "", 2 }, /* ExpertGatingFuncType.SIGMOID */
    END_OF_KEYS,
};

static const struct plim_convert_key granite_keys[] = {
    VOCABULARY,
    { "rope.dimension_count", KEY_SIZE, N_SHARE, NULL, 0 },
    { "attention.scale", KEY_REAL, 0, "attention_multiplier", ABSENT },
    { "embedding_scale", KEY_REAL, 0, "embedding_multiplier", ABSENT },
    { "residual_scale", KEY_REAL, 0, "residual_multiplier", ABSENT },
    { "logit_scale", KEY_REAL, 0, "logits_scaling", ABSENT },
    SHARED_WIDTH,
    END_OF_KEYS,
};

static const struct plim_convert_key gpt_oss_keys[] = {
    { "attention.sliding_window", KEY_COUNT, 0, "sliding_window", 128 }, /* GptOssConfig */
    EXPERT_WIDTH,
    END_OF_KEYS,
};

static const struct plim_convert_key minimax_m2_keys[] = {
    EXPERT_WIDTH,
    { "rope.dimension_count", KEY_COUNT, 0, "rotary_dim", 64 }, /* MiniMaxM2Config */
    END_OF_KEYS,
};

static const struct plim_convert_key phimoe_keys[] = {
    { "context_length", KEY_COUNT, 0, "n_positions|max_position_embeddings", ABSENT },
    { "embedding_length", KEY_SIZE, N_EMBD, NULL, 0 },
    { "block_count", KEY_SIZE, N_LAYER_ALL, NULL, 0 },
    { "feed_forward_length", KEY_SIZE, N_FF, NULL, 0 },
    { "attention.head_count", KEY_SIZE, N_HEAD, NULL, 0 },
    { "attention.head_count_kv", KEY_SIZE, N_HEAD_KV, NULL, 0 },
    { "rope.scaling.original_context_length", KEY_COUNT, 0,
      "rope_parameters.original_max_position_embeddings|rope_scaling.original_max_position_embeddings|"
      "original_max_position_embeddings|max_position_embeddings",
      ABSENT },
    { "attention.layer_norm_rms_epsilon", KEY_REAL, 0, "rms_norm_eps", 1e-5 },
    { "rope.dimension_count", KEY_SIZE, N_ROT, NULL, 0 },
    { "rope.freq_base", KEY_REAL, 0, "rope_parameters.rope_theta|rope_theta", 10000 },
    { "attention.sliding_window", KEY_COUNT, 0, "sliding_window", 0 },
    { "expert_count", KEY_SIZE, N_EXPERT, NULL, 0 },
    { "expert_used_count", KEY_COUNT, 0, "num_experts_per_tok", 2 },
    END_OF_KEYS,
};

static const struct plim_convert_key dbrx_keys[] = {
    { "block_count", KEY_SIZE, N_LAYER_ALL, NULL, 0 },
    { "context_length", KEY_COUNT, 0, "max_seq_len", ABSENT },
    { "embedding_length", KEY_SIZE, N_EMBD, NULL, 0 },
    { "feed_forward_length", KEY_SIZE, N_FF, NULL, 0 },
    { "attention.head_count", KEY_SIZE, N_HEAD, NULL, 0 },
    { "attention.head_count_kv", KEY_SIZE, N_HEAD_KV, NULL, 0 },
    { "rope.freq_base", KEY_REAL, 0, "attn_config.rope_theta", ABSENT },
    { "attention.clamp_kqv", KEY_REAL, 0, "attn_config.clip_qkv", ABSENT },
    { "expert_count", KEY_SIZE, N_EXPERT, NULL, 0 },
    { "expert_used_count", KEY_COUNT, 0, "ffn_config.moe_top_k", 1 },
    { "attention.layer_norm_epsilon", KEY_REAL, 0, NULL, 1e-5 },
    END_OF_KEYS,
};

static const struct plim_convert_key llama4_keys[] = {
    VOCABULARY,
    HEAD_WIDTH,
    EXPERT_WIDTH,
    { "feed_forward_length", KEY_SIZE, N_FF, NULL, 0 },
    { "interleave_moe_layer_step", KEY_COUNT, 0, "interleave_moe_layer_step", 1 },
    END_OF_KEYS,
};

static const struct plim_convert_key mimo2_keys[] = {
    EXPERT_WIDTH,
    NEXTN,
    { "attention.sliding_window", KEY_COUNT, 0, "sliding_window", 128 },
    { "attention.value_length", KEY_SIZE, N_HEAD_V, NULL, 0 },
    { "rope.dimension_count", KEY_SIZE, N_ROT, NULL, 0 },
    { "attention.layer_norm_rms_epsilon", KEY_REAL, 0, "layernorm_epsilon", 1e-5 },
    { "attention.value_scale", KEY_REAL, 0, "attention_value_scale", ABSENT },
    END_OF_KEYS,
};

/* --- groups --- */

/* The gate of the one shared expert of Qwen 2. */
static const struct plim_convert_rule shared_gate[] = {
    { "ffn_gate_inp_shexp.weight", { N_EMBD, N_1 }, EXPERTS | SHARED, 0, 0 },
    END_OF_GROUP,
};

/* GLM 4.5, but not its smaller size. */
static const struct plim_convert_rule glm4moe_qk_norm[] = {
    NORM("attn_q_norm", N_HEAD_K, WHEN(QK_NORM)),
    NORM("attn_k_norm", N_HEAD_K, WHEN(QK_NORM)),
    END_OF_GROUP,
};

static const struct plim_convert_rule dbrx_norms[] = {
    NORM("attn_norm", N_EMBD, ALWAYS),
    NORM("attn_output_norm", N_EMBD, ALWAYS),
    END_OF_GROUP,
};

/* DBRX's converter leaves the router in the type of the file (DbrxModel.tensor_force_quant). */
static const struct plim_convert_rule dbrx_experts[] = {
    { "ffn_gate_inp.weight", { N_EMBD, N_EXPERT }, 0, 0, TYPE_OF_FILE },
    { "ffn_gate_exps.weight", { N_EMBD, N_FF_EXP, N_EXPERT }, 0, 0, 0 },
    { "ffn_up_exps.weight", { N_EMBD, N_FF_EXP, N_EXPERT }, 0, 0, 0 },
    { "ffn_down_exps.weight", { N_FF_EXP, N_EMBD, N_EXPERT }, 0, 0, 0 },
    END_OF_GROUP,
};

/* gpt-oss: experts keep the checkpoint's MXFP4 and have biases; each head has a learnt sink. */
static const struct plim_convert_rule gpt_oss_experts[] = {
    MATRIX("ffn_gate_inp", N_EMBD, N_EXPERT, ALWAYS),
    BIAS("ffn_gate_inp", N_EXPERT, ALWAYS),
    { "ffn_gate_exps.weight", { N_EMBD, N_FF_EXP, N_EXPERT }, MXFP4, 0, PLIM_DTYPE_MXFP4 },
    { "ffn_up_exps.weight", { N_EMBD, N_FF_EXP, N_EXPERT }, MXFP4, 0, PLIM_DTYPE_MXFP4 },
    { "ffn_down_exps.weight", { N_FF_EXP, N_EMBD, N_EXPERT }, MXFP4, 0, PLIM_DTYPE_MXFP4 },
    { "ffn_gate_exps.weight", { N_EMBD, N_FF_EXP, N_EXPERT }, 0, MXFP4, 0 },
    { "ffn_up_exps.weight", { N_EMBD, N_FF_EXP, N_EXPERT }, 0, MXFP4, 0 },
    { "ffn_down_exps.weight", { N_FF_EXP, N_EMBD, N_EXPERT }, 0, MXFP4, 0 },
    { "ffn_gate_exps.bias", { N_FF_EXP, N_EXPERT }, 0, 0, 0 },
    { "ffn_up_exps.bias", { N_FF_EXP, N_EXPERT }, 0, 0, 0 },
    { "ffn_down_exps.bias", { N_EMBD, N_EXPERT }, 0, 0, 0 },
    END_OF_GROUP,
};

static const struct plim_convert_rule sinks[] = {
    NORM("attn_sinks", N_HEAD, WHEN(SINKS)),
    END_OF_GROUP,
};

static const struct plim_convert_rule fused_qkv_of_two_widths[] = {
    MATRIX("attn_q", N_EMBD, N_Q, ALWAYS),
    MATRIX("attn_k", N_EMBD, N_K, ALWAYS),
    MATRIX("attn_v", N_EMBD, N_V, ALWAYS),
    MATRIX("attn_output", N_O, N_EMBD, ALWAYS),
    END_OF_GROUP,
};

/* A prediction layer of MiMo V2: dense, with a norm of its own at the end. */
static const struct plim_convert_rule mimo2_prediction[] = {
    MATRIX("nextn.eh_proj", N_EMBD_2, N_EMBD, WHEN(PREDICTS)),
    NORM("nextn.enorm", N_EMBD, WHEN(PREDICTS)),
    NORM("nextn.hnorm", N_EMBD, WHEN(PREDICTS)),
    NORM("layer_output_norm", N_EMBD, WHEN(PREDICTS)),
    END_OF_GROUP,
};

/* --- hooks --- */

static void read_experts(struct plim_conversion *c)
{
    set(c, EXPERTS, c->n[N_EXPERT] > 0);
    if (!c->n[N_EXPERT])
        plim_conversion_fail(c, "num_experts", "is missing");
}

static void read_qwen2moe(struct plim_conversion *c)
{
    read_experts(c);
    c->n[N_FF_SHARED] = plim_config_number(c, "shared_expert_intermediate_size", MAX_WIDTH, 0);
    set(c, SHARED, c->n[N_FF_SHARED] > 0);
}

/* Layers without experts: those that a list names, and those that the step leaves out (modeling_qwen2_moe.py). */
static void each_qwen(struct plim_conversion *c, uint32_t il)
{
    const uint64_t step = plim_config_number(c, "decoder_sparse_step", PLIM_MAX_LAYERS, 1);
    bool is_dense = step && (il + 1) % step != 0;
    for (uint32_t i = 0; i < plim_config_length(c, "mlp_only_layers"); i++)
        is_dense |= plim_config_number_at(c, "mlp_only_layers", i, -1) == (int64_t)il;
    if (is_dense)
        c->facts &= ~(uint32_t)EXPERTS;
}

static void write_deepstack(struct plim_conversion *c)
{
    plim_write_count(c, "n_deepstack_layers", plim_config_length(c, "vision_config.deepstack_visual_indexes"));
}

static void read_glm4moe(struct plim_conversion *c)
{
    read_experts(c);
    set(c, SCORE_BIAS, true);
    set(c, QK_NORM, plim_config_truth(c, "use_qk_norm", false));
    set(c, OUT_BIAS, false);
    c->n[N_ROT] = (uint64_t)(plim_config_real(c, "rope_parameters.partial_rotary_factor|partial_rotary_factor", 0.5) *
                             (double)c->n[N_HEAD_K]) &
                  (MAX_WIDTH - 1);
    plim_sizes_predict(c, plim_config_number(c, "num_nextn_predict_layers", PLIM_MAX_LAYERS, 0));
}

static void read_granite(struct plim_conversion *c)
{
    read_experts(c);
    c->n[N_FF_EXP] = c->n[N_FF];
    c->n[N_FF_SHARED] = plim_config_number(c, "shared_intermediate_size", MAX_WIDTH, 0);
    set(c, SHARED, c->n[N_FF_SHARED] > 0);
}

static void read_minimax_m2(struct plim_conversion *c)
{
    read_experts(c);
    c->n[N_FF_EXP] = c->n[N_FF];
}

static void read_dbrx(struct plim_conversion *c)
{
    c->n[N_EXPERT] = plim_config_need(c, "ffn_config.moe_num_experts", 1 << 12);
    c->n[N_FF] = c->n[N_FF_EXP] = plim_config_need(c, "ffn_config.ffn_hidden_size", MAX_WIDTH);
    c->facts |= EXPERTS;
}

/* "intermediate_size" is the experts' width, and that of the shared one. */
static void read_llama4(struct plim_conversion *c)
{
    read_experts(c);
    c->n[N_FF_EXP] = c->n[N_FF_SHARED] = c->n[N_FF];
    c->n[N_FF] = plim_config_number(c, "intermediate_size_mlp", MAX_WIDTH, 16384); /* Llama4TextConfig */
    set(c, SHARED, true);
}

static void each_llama4(struct plim_conversion *c, uint32_t il)
{
    const uint64_t step = plim_config_number(c, "interleave_moe_layer_step", PLIM_MAX_LAYERS, 1);
    if (step && (il + 1) % step)
        c->facts &= ~(uint32_t)EXPERTS;
}

static void write_llama4(struct plim_conversion *c)
{
    const uint64_t n = plim_config_length(c, "layer_types");
    uint64_t n_full = 0;
    for (uint32_t il = 0; il < n; il++) {
        const char *type = plim_config_string_at(c, "layer_types", il);
        n_full += type && !strcmp(type, "full_attention");
    }
    if (n && n_full == n)
        plim_write_count(c, "attention.sliding_window", 0);
}

/* --- MiMo V2 --- */

static bool mimo2_slides(const struct plim_conversion *c, uint32_t il)
{
    return il >= c->n[N_LAYER] || plim_config_number_at(c, "hybrid_layer_pattern", il, 0) == 1;
}

static void read_mimo2(struct plim_conversion *c)
{
    enum { N_PREDICTING = 3, MAX_HEAD = 1 << 14 }; /* MimoV2Model._n_nextn */
    read_experts(c);
    c->facts |= SCORE_BIAS;
    c->n[N_HEAD_V] = plim_config_number(c, "v_head_dim", MAX_HEAD, c->n[N_HEAD_K]);
    plim_sizes_predict(c, N_PREDICTING);
    c->n[N_NEXTN] = N_PREDICTING; /* --no-mtp is not offered for this class */
    c->n[N_LAYER_ALL] = c->n[N_LAYER] + N_PREDICTING;
    set(c, SHARED, false);
}

static void each_mimo2(struct plim_conversion *c, uint32_t il)
{
    const bool slides = mimo2_slides(c, il);
    if (slides)
        c->n[N_HEAD_KV] = plim_config_number(c, "swa_num_key_value_heads", 1 << 12, c->n[N_HEAD_KV]);
    set(c, SINKS, plim_config_truth(c, slides ? "add_swa_attention_sink_bias" : "add_full_attention_sink_bias", false));
    if (il >= c->n[N_LAYER] || plim_config_number_at(c, "moe_layer_freq", il, 1) == 0)
        c->facts &= ~(uint32_t)EXPERTS;
}

static void write_mimo2(struct plim_conversion *c)
{
    int64_t sliding[PLIM_MAX_LAYERS], kv[PLIM_MAX_LAYERS];
    const int64_t full_kv = (int64_t)c->n[N_HEAD_KV];
    const int64_t slid_kv = (int64_t)plim_config_number(c, "swa_num_key_value_heads", 1 << 12, c->n[N_HEAD_KV]);
    for (uint32_t il = 0; il < c->n[N_LAYER_ALL]; il++) {
        sliding[il] = mimo2_slides(c, il);
        kv[il] = sliding[il] ? slid_kv : full_kv;
    }
    plim_write_list(c, "attention.head_count_kv", kv, c->n[N_LAYER_ALL]);
    plim_write_list(c, "attention.sliding_window_pattern", sliding, c->n[N_LAYER_ALL]);
}

/* --- rows --- */

static const struct plim_convert_row rows[] = {
    { .names = { "Qwen2MoeForCausalLM" },
      .types = { "qwen2_moe" },
      .arch = "qwen2moe",
      .source = "conversion/qwen.py: Qwen2MoeModel",
      .whole = { plim_rules_outer },
      .layer = { plim_rules_norms, plim_rules_attention, plim_rules_ffn, plim_rules_experts, plim_rules_shared_expert,
                 shared_gate },
      .read = read_qwen2moe,
      .each = each_qwen,
      .keys = qwen_keys,
      .facts = QKV_BIAS,
      .is_proven = true },
    { .names = { "Qwen3MoeForCausalLM" },
      .types = { "qwen3_moe" },
      .arch = "qwen3moe",
      .source = "conversion/qwen.py: Qwen3MoeModel",
      .has_usual_names = true,
      .whole = { plim_rules_outer },
      .layer = { plim_rules_norms, plim_rules_attention, plim_rules_qk_norm, plim_rules_ffn, plim_rules_experts },
      .read = read_experts,
      .each = each_qwen,
      .keys = qwen_keys,
      .bias_keys = QKV_BIAS,
      .head = 128,
      .is_proven = true },
    { .names = { "Qwen3VLMoeForConditionalGeneration" },
      .types = { "qwen3_vl_moe", "qwen3_vl_moe_text" },
      .arch = "qwen3vlmoe",
      .source = "conversion/qwen3vl.py: Qwen3VLMoeTextModel",
      .whole = { plim_rules_outer },
      .layer = { plim_rules_norms, plim_rules_attention, plim_rules_qk_norm, plim_rules_ffn, plim_rules_experts },
      .read = read_experts,
      .each = each_qwen,
      .write = write_deepstack,
      .keys = qwen_keys,
      .bias_keys = QKV_BIAS,
      .head = 128,
      .is_proven = true },
    { .names = { "PhiMoEForCausalLM" },
      .types = { "phimoe" },
      .arch = "phimoe",
      .source = "conversion/phi.py: PhiMoeModel",
      .whole = { plim_rules_outer, plim_rules_outer_bias, plim_rules_output_bias },
      .layer = { plim_rules_norms, plim_rules_norm_biases, plim_rules_attention, plim_rules_experts },
      .read = read_experts,
      .write = plim_write_long_rope,
      .keys = phimoe_keys,
      .bias_keys = QKV_BIAS,
      .is_bare = true,
      .is_proven = true },
    { .names = { "DbrxForCausalLM" },
      .types = { "dbrx" },
      .arch = "dbrx",
      .source = "conversion/dbrx.py: DbrxModel",
      .whole = { plim_rules_outer },
      .layer = { dbrx_norms, plim_rules_fused_attention, dbrx_experts },
      .read = read_dbrx,
      .keys = dbrx_keys,
      .is_bare = true,
      .is_proven = true },
    { .names = { "DeepseekForCausalLM" },
      .types = { "deepseek" },
      .arch = "deepseek",
      .source = "conversion/deepseek.py: DeepseekModel",
      .whole = { plim_rules_outer },
      .layer = { plim_rules_norms, plim_rules_attention, plim_rules_ffn, plim_rules_experts, plim_rules_shared_expert },
      .read = read_experts,
      .each = plim_each_dense_lead,
      .keys = deepseek_keys,
      .bias_keys = QKV_BIAS,
      .is_proven = true },
    { .names = { "Glm4MoeForCausalLM", "Glm4vMoeForConditionalGeneration" },
      .types = { "glm4_moe" },
      .arch = "glm4moe",
      .source = "conversion/glm.py: Glm4MoeModel",
      .whole = { plim_rules_outer },
      .layer = { plim_rules_attn_norm, plim_rules_mid_norm, plim_rules_attention, glm4moe_qk_norm, plim_rules_ffn,
                 plim_rules_experts, plim_rules_score_bias, plim_rules_shared_expert, plim_rules_prediction },
      .read = read_glm4moe,
      .each = plim_each_dense_lead,
      .keys = glm4moe_keys,
      .facts = HAS_OWN_EMBD,
      .bias_keys = QKV_BIAS,
      .head = 128,
      .is_proven = true },
    { .names = { "GraniteMoeForCausalLM", "GraniteMoeSharedForCausalLM" },
      .types = { "granitemoe", "granitemoeshared" },
      .arch = "granitemoe",
      .source = "conversion/granite.py: GraniteMoeModel",
      .whole = { plim_rules_outer },
      .layer = { plim_rules_norms, plim_rules_attention, plim_rules_experts, plim_rules_shared_expert },
      .read = read_granite,
      .keys = granite_keys,
      .bias_keys = QKV_BIAS,
      .is_proven = true },
    { .names = { "GptOssForCausalLM" },
      .types = { "gpt_oss" },
      .arch = "gpt-oss",
      .source = "conversion/gpt_oss.py: GptOssModel",
      .whole = { plim_rules_outer },
      .layer = { plim_rules_attn_norm, plim_rules_mid_norm, plim_rules_attention, sinks, gpt_oss_experts },
      .read = read_experts,
      .keys = gpt_oss_keys,
      .facts = QKV_BIAS | OUT_BIAS | SINKS,
      .head = 64,
      .is_proven = true },
    { .names = { "MiniMaxM2ForCausalLM" },
      .types = { "minimax_m2", "minimax" },
      .arch = "minimax-m2",
      .source = "conversion/minimax.py: MiniMaxM2Model",
      .whole = { plim_rules_outer },
      .layer = { plim_rules_norms, plim_rules_attention, plim_rules_qk_norm_flat, plim_rules_experts,
                 plim_rules_score_bias },
      .read = read_minimax_m2,
      .keys = minimax_m2_keys,
      .facts = SCORE_BIAS,
      .head = 128,
      .is_proven = true },
    { .names = { "Llama4ForConditionalGeneration", "Llama4ForCausalLM" },
      .types = { "llama4", "llama4_text" },
      .arch = "llama4",
      .source = "conversion/llama.py: Llama4Model",
      .whole = { plim_rules_outer },
      .layer = { plim_rules_norms, plim_rules_attention, plim_rules_ffn, plim_rules_experts, plim_rules_shared_expert },
      .read = read_llama4,
      .each = each_llama4,
      .write = write_llama4,
      .keys = llama4_keys,
      .bias_keys = QKV_BIAS,
      .head = 128,
      .is_proven = true },
    { .names = { "MiMoV2FlashForCausalLM", "MiMoV2ForCausalLM" },
      .types = { "mimo_v2_flash", "mimo_v2" },
      .arch = "mimo2",
      .source = "conversion/mimo.py: MimoV2Model",
      .whole = { plim_rules_outer },
      .layer = { plim_rules_norms, fused_qkv_of_two_widths, sinks, plim_rules_ffn, plim_rules_experts,
                 plim_rules_score_bias, mimo2_prediction },
      .read = read_mimo2,
      .each = each_mimo2,
      .write = write_mimo2,
      .keys = mimo2_keys },
};

const struct plim_convert_family plim_family_moe = FAMILY(rows);
