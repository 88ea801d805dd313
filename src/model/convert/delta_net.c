/* SPDX-License-Identifier: MIT */
/* Hybrids of attention and linear attention: Qwen3-Next, Qwen 3.5 with their delta nets, MiniMax 01. */
#include "model/convert/groups.h"
#include "model/convert/sizes.h"

#include "base/limits.h"

#include <string.h>

enum { MAX_WIDTH = 1 << 24, MAX_STATE = 1 << 16, MAX_HEADS = 1 << 12 };

static void set(struct plim_conversion *c, uint32_t fact, bool holds)
{
    c->facts = holds ? c->facts | fact : c->facts & ~fact;
}

/* --- groups --- */

/* The projection of Q yields a gate as well. */
static const struct plim_convert_rule gated_attention[] = {
    MATRIX("attn_q", N_EMBD, N_Q_2, UNLESS(RECURS)),
    MATRIX("attn_k", N_EMBD, N_K, UNLESS(RECURS)),
    MATRIX("attn_v", N_EMBD, N_V, UNLESS(RECURS)),
    MATRIX("attn_output", N_O, N_EMBD, UNLESS(RECURS)),
    END_OF_GROUP,
};

/* N_SSM_CONV: keys, queries and values together; Qwen3-Next has beta and alpha in one matrix. */
static const struct plim_convert_rule delta_net[] = {
    MATRIX("attn_qkv", N_EMBD, N_SSM_CONV, WHEN(RECURS)),
    MATRIX("attn_gate", N_EMBD, N_INNER, WHEN(RECURS)),
    MATRIX("ssm_conv1d", N_CONV, N_SSM_CONV, WHEN(RECURS)),
    BIAS("ssm_dt", N_DT_RANK, WHEN(RECURS)),
    { "ssm_a", { N_DT_RANK }, RECURS, 0, 0 },
    MATRIX("ssm_ba", N_EMBD, N_EXTRA, WHEN(RECURS | FUSED)),
    { "ssm_beta.weight", { N_EMBD, N_DT_RANK }, RECURS, FUSED, 0 },
    { "ssm_alpha.weight", { N_EMBD, N_DT_RANK }, RECURS, FUSED, 0 },
    NORM("ssm_norm", N_GROUP_WIDTH, WHEN(RECURS)),
    MATRIX("ssm_out", N_INNER, N_EMBD, WHEN(RECURS)),
    END_OF_GROUP,
};

static const struct plim_convert_rule shared_gate[] = {
    { "ffn_gate_inp_shexp.weight", { N_EMBD, N_1 }, EXPERTS | SHARED, 0, 0 },
    END_OF_GROUP,
};

#define DELTA_GROUPS                                                                                                   \
    plim_rules_attn_norm, plim_rules_mid_norm, gated_attention, plim_rules_qk_norm, delta_net, plim_rules_ffn,         \
        plim_rules_experts, plim_rules_shared_expert, shared_gate, plim_rules_prediction

/* MiniMax 01: a norm on the output of linear attention. */
static const struct plim_convert_rule lightning[] = {
    NORM("attn_norm_2", N_Q, WHEN(RECURS)),
    MATRIX("attn_qkv", N_EMBD, N_QKV, WHEN(RECURS)),
    MATRIX("attn_gate", N_EMBD, N_Q, WHEN(RECURS)),
    MATRIX("attn_output", N_Q, N_EMBD, WHEN(RECURS)),
    END_OF_GROUP,
};

/* --- keys --- */

static const struct plim_convert_key delta_keys[] = {
    { "expert_feed_forward_length", KEY_COUNT, 0, "moe_intermediate_size", ABSENT },
    { "expert_shared_feed_forward_length", KEY_COUNT, 0, "shared_expert_intermediate_size", ABSENT },
    { "ssm.conv_kernel", KEY_SIZE, N_CONV, NULL, 0 },
    { "ssm.state_size", KEY_SIZE, N_STATE, NULL, 0 },
    { "ssm.group_count", KEY_SIZE, N_GROUPS, NULL, 0 },
    { "ssm.time_step_rank", KEY_SIZE, N_DT_RANK, NULL, 0 },
    { "ssm.inner_size", KEY_SIZE, N_INNER, NULL, 0 },
    { "full_attention_interval", KEY_COUNT, 0, "full_attention_interval", 4 },
    { "rope.dimension_count", KEY_SIZE, N_ROT, NULL, 0 },
    { "nextn_predict_layers", KEY_SIZE, N_NEXTN, NULL, 0 },
    END_OF_KEYS,
};

static const struct plim_convert_key lightning_keys[] = {
    { "residual_scale", KEY_REAL, 0, "layernorm_full_attention_alpha", ABSENT },
    { "rope.dimension_count", KEY_COUNT, 0, "rotary_dim", ABSENT },
    END_OF_KEYS,
};

/* --- delta nets --- */

static bool delta_recurs(const struct plim_conversion *c, uint32_t il, uint64_t interval)
{
    const char *type = plim_config_string_at(c, "layer_types", il);
    if (il >= c->n[N_LAYER])
        return false;
    return type ? !strcmp(type, "linear_attention") : interval && (il + 1) % interval != 0;
}

static void read_delta(struct plim_conversion *c)
{
    uint64_t *n = c->n;
    const double rotated = plim_config_real(c, "rope_parameters.partial_rotary_factor|partial_rotary_factor", 0.25);
    n[N_CONV] = plim_config_number(c, "linear_conv_kernel_dim", MAX_STATE, 4);
    n[N_STATE] = plim_config_number(c, "linear_key_head_dim", MAX_STATE, 128);
    n[N_GROUPS] = plim_config_number(c, "linear_num_key_heads", MAX_HEADS, 16);
    n[N_DT_RANK] = plim_config_number(c, "linear_num_value_heads", MAX_HEADS, 32);
    n[N_GROUP_WIDTH] = plim_config_number(c, "linear_value_head_dim", MAX_STATE, 128);
    n[N_INNER] = n[N_GROUP_WIDTH] * n[N_DT_RANK];
    n[N_SSM_CONV] = 2 * n[N_STATE] * n[N_GROUPS] + n[N_INNER];
    n[N_EXTRA] = 2 * n[N_DT_RANK];
    n[N_FF_SHARED] = plim_config_number(c, "shared_expert_intermediate_size", MAX_WIDTH, 0);
    n[N_ROT] = rotated > 0 && rotated <= 1 ? (uint64_t)(rotated * (double)n[N_HEAD_K]) : n[N_HEAD_K];
    set(c, EXPERTS, n[N_EXPERT] > 0);
    set(c, SHARED, n[N_FF_SHARED] > 0);
    /* where a config does not mention its prediction layer, the checkpoint has one: the converter insists */
    plim_sizes_predict(c, plim_config_number(c, "mtp_num_hidden_layers", PLIM_MAX_LAYERS, 1));
}

static void each_delta(struct plim_conversion *c, uint32_t il)
{
    const uint64_t interval = plim_config_number(c, "full_attention_interval", PLIM_MAX_LAYERS, 4);
    const uint64_t step = plim_config_number(c, "decoder_sparse_step", PLIM_MAX_LAYERS, 1);
    set(c, RECURS, delta_recurs(c, il, interval));
    if (step && (il + 1) % step)
        set(c, EXPERTS, false);
}

static void write_layers(struct plim_conversion *c)
{
    int64_t recurrent[PLIM_MAX_LAYERS];
    const uint64_t n = plim_config_length(c, "layer_types");
    if (n == 0 && !c->class)
        return;
    if (n && n != c->n[N_LAYER]) {
        plim_conversion_fail(c, "layer_types", "does not have one entry for each layer");
        return;
    }
    for (uint32_t il = 0; il < c->n[N_LAYER_ALL]; il++)
        recurrent[il] = delta_recurs(c, il, plim_config_number(c, "full_attention_interval", PLIM_MAX_LAYERS, 4));
    plim_write_list(c, "attention.recurrent_layers", recurrent, c->n[N_LAYER_ALL]);
}

static void write_sections(struct plim_conversion *c)
{
    static const int64_t sections[4] = { 11, 11, 10, 0 }; /* _Qwen35MRopeMixin */
    write_layers(c);
    if (!plim_config_has(c, "rope_parameters.mrope_section|rope_scaling.mrope_section"))
        plim_write_list(c, "rope.dimension_sections", sections, 4);
}

/* --- MiniMax 01 --- */

static void read_lightning(struct plim_conversion *c)
{
    if (!c->n[N_EXPERT])
        plim_conversion_fail(c, "num_local_experts", "is missing");
    c->n[N_FF_EXP] = c->n[N_FF];
    c->facts |= EXPERTS;
}

static void each_lightning(struct plim_conversion *c, uint32_t il)
{
    set(c, RECURS, plim_config_number_at(c, "attn_type_list", il, (il + 1) % 8 == 0) == 0);
}

/* --- rows --- */

static const struct plim_convert_row rows[] = {
    { .names = { "Qwen3NextForCausalLM" },
      .types = { "qwen3_next" },
      .arch = "qwen3next",
      .source = "conversion/qwen.py: Qwen3NextModel",
      .whole = { plim_rules_outer },
      .layer = { DELTA_GROUPS },
      .read = read_delta,
      .each = each_delta,
      .write = write_layers,
      .keys = delta_keys,
      .facts = FUSED,
      .head = 256,
      .is_proven = true },
    { .names = { "Qwen3_5ForConditionalGeneration", "Qwen3_5ForCausalLM" },
      .types = { "qwen3_5", "qwen3_5_text" },
      .arch = "qwen35",
      .source = "conversion/qwen.py: Qwen3_5TextModel",
      .whole = { plim_rules_outer },
      .layer = { DELTA_GROUPS },
      .read = read_delta,
      .each = each_delta,
      .write = write_sections,
      .keys = delta_keys,
      .head = 256,
      .is_proven = true },
    { .names = { "Qwen3_5MoeForConditionalGeneration", "Qwen3_5MoeForCausalLM" },
      .types = { "qwen3_5_moe", "qwen3_5_moe_text" },
      .arch = "qwen35moe",
      .source = "conversion/qwen.py: Qwen3_5MoeTextModel",
      .whole = { plim_rules_outer },
      .layer = { DELTA_GROUPS },
      .read = read_delta,
      .each = each_delta,
      .write = write_sections,
      .keys = delta_keys,
      .head = 256,
      .is_proven = true },
    { .names = { "MiniMaxText01ForCausalLM", "MiniMaxM1ForCausalLM" },
      .types = { "minimax_text_01", "minimax_m1" },
      .arch = "minimax-01",
      .source = "conversion/minimax.py: MiniMaxText01Model",
      .whole = { plim_rules_outer },
      .layer = { plim_rules_norms, plim_rules_attention, lightning, plim_rules_experts },
      .read = read_lightning,
      .each = each_lightning,
      .keys = lightning_keys },
};

const struct plim_convert_family plim_family_delta_net = FAMILY(rows);
