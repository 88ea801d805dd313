/* SPDX-License-Identifier: MIT */
/* Models that mix attention layers with Mamba or short convolutions. (Those with delta nets: delta_net.c.) */
#include "model/convert/recurrent.h"
#include "model/convert/sizes.h"

#include "base/limits.h"

#include <math.h>
#include <string.h>

enum { MAX_WIDTH = 1 << 24, MAX_STATE = 1 << 16, MAX_HEADS = 1 << 12, LONG_CONTEXT = 1 << 20 };

static void set(struct plim_conversion *c, uint32_t fact, bool holds)
{
    c->facts = holds ? c->facts | fact : c->facts & ~fact;
}

/* Layers that keep a state have no heads of K and V: so the engine tells them (head_count_kv). */
static void write_kv_heads(struct plim_conversion *c, bool (*attends)(struct plim_conversion *, uint32_t))
{
    int64_t heads[PLIM_MAX_LAYERS];
    for (uint32_t il = 0; il < c->n[N_LAYER_ALL]; il++)
        heads[il] = attends(c, il) ? (int64_t)c->n[N_HEAD_KV] : 0;
    plim_write_list(c, "attention.head_count_kv", heads, c->n[N_LAYER_ALL]);
}

/* --- Jamba: Mamba 1 --- */

static const struct plim_convert_rule jamba_norms[] = {
    NORM("ssm_dt_norm", N_DT_RANK, WHEN(RECURS)),
    NORM("ssm_b_norm", N_STATE, WHEN(RECURS)),
    NORM("ssm_c_norm", N_STATE, WHEN(RECURS)),
    END_OF_GROUP,
};

static const struct plim_convert_key jamba_keys[] = {
    { "block_count", KEY_SIZE, N_LAYER_ALL, NULL, 0 },
    { "context_length", KEY_COUNT, 0, "max_position_embeddings|n_ctx", 262144 }, /* JambaConfig */
    { "embedding_length", KEY_SIZE, N_EMBD, NULL, 0 },
    { "feed_forward_length", KEY_SIZE, N_FF, NULL, 0 },
    { "attention.head_count", KEY_SIZE, N_HEAD, NULL, 0 },
    { "ssm.conv_kernel", KEY_SIZE, N_CONV, NULL, 0 },
    { "ssm.inner_size", KEY_SIZE, N_INNER, NULL, 0 },
    { "ssm.state_size", KEY_SIZE, N_STATE, NULL, 0 },
    { "ssm.time_step_rank", KEY_SIZE, N_DT_RANK, NULL, 0 },
    { "attention.layer_norm_rms_epsilon", KEY_REAL, 0, "layer_norm_epsilon|rms_norm_eps", 1e-6 },
    { "expert_count", KEY_SIZE, N_EXPERT, NULL, 0 },
    { "expert_used_count", KEY_COUNT, 0, "num_experts_per_tok", 2 },
    END_OF_KEYS,
};

static bool jamba_attends(struct plim_conversion *c, uint32_t il)
{
    const uint64_t offset = plim_config_number(c, "attn_layer_offset", PLIM_MAX_LAYERS, 4);
    const uint64_t period = plim_config_number(c, "attn_layer_period", PLIM_MAX_LAYERS, 8);
    return il >= offset && period && (il - offset) % period == 0;
}

static void read_jamba(struct plim_conversion *c)
{
    uint64_t *n = c->n;
    n[N_CONV] = plim_config_number(c, "mamba_d_conv", MAX_STATE, 4);
    n[N_INNER] = plim_config_number(c, "mamba_expand", MAX_STATE, 2) * n[N_EMBD];
    n[N_STATE] = plim_config_number(c, "mamba_d_state", MAX_STATE, 16);
    n[N_DT_RANK] = plim_config_number(c, "mamba_dt_rank", MAX_WIDTH, (n[N_EMBD] + 15) / 16);
    n[N_FF_EXP] = n[N_FF];
    c->facts |= plim_config_truth(c, "mamba_conv_bias", true) ? CONV_BIAS : 0;
    plim_sizes_mamba1(c);
}

static void each_jamba(struct plim_conversion *c, uint32_t il)
{
    const uint64_t offset = plim_config_number(c, "expert_layer_offset", PLIM_MAX_LAYERS, 1);
    const uint64_t period = plim_config_number(c, "expert_layer_period", PLIM_MAX_LAYERS, 2);
    set(c, RECURS, !jamba_attends(c, il));
    set(c, EXPERTS, c->n[N_EXPERT] > 1 && il >= offset && period && (il - offset) % period == 0);
}

static void write_jamba(struct plim_conversion *c) { write_kv_heads(c, jamba_attends); }

/* --- Granite 4: Mamba 2 --- */

static const struct plim_convert_key granite_keys[] = {
    { "vocab_size", KEY_SIZE, N_VOCAB, NULL, 0 },
    { "rope.dimension_count", KEY_SIZE, N_SHARE, NULL, 0 },
    { "attention.scale", KEY_REAL, 0, "attention_multiplier", ABSENT },
    { "embedding_scale", KEY_REAL, 0, "embedding_multiplier", ABSENT },
    { "residual_scale", KEY_REAL, 0, "residual_multiplier", ABSENT },
    { "logit_scale", KEY_REAL, 0, "logits_scaling", ABSENT },
    { "expert_shared_feed_forward_length", KEY_COUNT, 0, "shared_intermediate_size", ABSENT },
    { "ssm.conv_kernel", KEY_SIZE, N_CONV, NULL, 0 },
    { "ssm.state_size", KEY_SIZE, N_STATE, NULL, 0 },
    { "ssm.group_count", KEY_SIZE, N_GROUPS, NULL, 0 },
    { "ssm.inner_size", KEY_SIZE, N_INNER, NULL, 0 },
    { "ssm.time_step_rank", KEY_SIZE, N_DT_RANK, NULL, 0 },
    END_OF_KEYS,
};

static bool granite_attends(struct plim_conversion *c, uint32_t il)
{
    const char *type = plim_config_string_at(c, "layer_types", il);
    if (type)
        return !strcmp(type, "attention");
    for (uint32_t i = 0; i < plim_config_length(c, "attn_layer_indices"); i++)
        if (plim_config_number_at(c, "attn_layer_indices", i, -1) == (int64_t)il)
            return true;
    return false;
}

/* A model whose layers all attend is written as a Granite without states. */
static void read_granite(struct plim_conversion *c)
{
    uint64_t *n = c->n;
    const uint64_t head = plim_config_number(c, "mamba_d_head", MAX_STATE, 64);
    bool has_states = false;
    for (uint32_t il = 0; il < n[N_LAYER]; il++)
        has_states |= !granite_attends(c, il);
    n[N_FF_EXP] = n[N_FF];
    n[N_FF_SHARED] = plim_config_number(c, "shared_intermediate_size", MAX_WIDTH, 0);
    if (!n[N_EXPERT] && n[N_FF_SHARED])
        n[N_FF] = n[N_FF_SHARED];
    if (!n[N_EXPERT] && !n[N_FF_SHARED])
        plim_conversion_doubt(c, "the config does not give the width of the shared feed-forward part", NULL);
    set(c, EXPERTS, n[N_EXPERT] > 0);
    set(c, SHARED, n[N_FF_SHARED] > 0);
    if (!has_states) {
        c->arch = plim_config_number(c, "num_experts_per_tok", MAX_HEADS, 0) ? "granitemoe" : "granite";
        return;
    }
    n[N_CONV] = plim_config_number(c, "mamba_d_conv|conv_kernel", MAX_STATE, 4);
    n[N_INNER] = plim_config_number(c, "mamba_expand|expand", MAX_STATE, 2) * n[N_EMBD];
    n[N_STATE] = plim_config_number(c, "mamba_d_state|state_size", MAX_STATE, 256);
    n[N_GROUPS] = plim_config_number(c, "mamba_n_groups|n_groups", MAX_STATE, 1);
    n[N_DT_RANK] = plim_config_number(c, "mamba_n_heads", MAX_WIDTH, head ? n[N_INNER] / head : 0);
    c->facts |= POST_NORM | (plim_config_truth(c, "mamba_conv_bias", true) ? CONV_BIAS : 0);
    plim_sizes_mamba2(c);
}

static void each_granite(struct plim_conversion *c, uint32_t il) { set(c, RECURS, !granite_attends(c, il)); }

static void write_granite(struct plim_conversion *c)
{
    const bool has_states = c->n[N_INNER] > 0;
    write_kv_heads(c, granite_attends);
    plim_write_flag(c, "rope.scaling.finetuned", !has_states);
    if (has_states)
        plim_write_count(c, "context_length", LONG_CONTEXT);
    plim_write_count(c, "feed_forward_length", c->n[N_FF]);
}

/* --- Falcon H1: attention and Mamba 2 side by side --- */

static const struct plim_convert_key falcon_keys[] = {
    { "vocab_size", KEY_SIZE, N_VOCAB, NULL, 0 },
    { "context_length", KEY_COUNT, 0, "max_position_embeddings", 8192 }, /* FalconH1Config */
    { "feed_forward_length", KEY_SIZE, N_FF, NULL, 0 },
    { "attention.head_count", KEY_SIZE, N_HEAD, NULL, 0 },
    { "attention.head_count_kv", KEY_SIZE, N_HEAD_KV, NULL, 0 },
    { "attention.key_length", KEY_SIZE, N_HEAD_K, NULL, 0 },
    { "attention.value_length", KEY_SIZE, N_HEAD_K, NULL, 0 },
    { "rope.freq_base", KEY_REAL, 0, "rope_parameters.rope_theta|rope_theta", 100000 },
    { "embedding_length", KEY_SIZE, N_EMBD, NULL, 0 },
    { "block_count", KEY_SIZE, N_LAYER_ALL, NULL, 0 },
    { "ssm.conv_kernel", KEY_SIZE, N_CONV, NULL, 0 },
    { "ssm.inner_size", KEY_SIZE, N_INNER, NULL, 0 },
    { "ssm.state_size", KEY_SIZE, N_STATE, NULL, 0 },
    { "ssm.time_step_rank", KEY_SIZE, N_DT_RANK, NULL, 0 },
    { "ssm.group_count", KEY_SIZE, N_GROUPS, NULL, 0 },
    { "attention.layer_norm_rms_epsilon", KEY_REAL, 0, "rms_norm_eps", 1e-5 },
    END_OF_KEYS,
};

static const struct plim_convert_rule falcon_attention[] = {
    MATRIX("attn_q", N_EMBD, N_Q, ALWAYS),
    MATRIX("attn_k", N_EMBD, N_K, ALWAYS),
    MATRIX("attn_v", N_EMBD, N_V, ALWAYS),
    MATRIX("attn_output", N_O, N_EMBD, ALWAYS),
    NORM("attn_norm", N_EMBD, ALWAYS),
    { "ffn_norm", { N_EMBD }, 0, 0, 0 }, /* without a suffix: tensor_mapping.py has the name with ".weight" */
    END_OF_GROUP,
};

static void read_falcon(struct plim_conversion *c)
{
    uint64_t *n = c->n;
    const uint64_t head = plim_config_number(c, "mamba_d_head", MAX_STATE, 64);
    const uint64_t expand = plim_config_number(c, "mamba_expand", MAX_STATE, 2);
    if (!n[N_FF])
        plim_conversion_fail(c, "intermediate_size", "is missing");
    n[N_CONV] = plim_config_number(c, "mamba_d_conv", MAX_STATE, 4);
    n[N_INNER] = plim_config_number(c, "mamba_d_ssm", MAX_WIDTH, expand * n[N_EMBD]);
    n[N_STATE] = plim_config_number(c, "mamba_d_state", MAX_STATE, 256);
    n[N_GROUPS] = plim_config_number(c, "mamba_n_groups", MAX_STATE, 1);
    n[N_DT_RANK] = head ? n[N_INNER] / head : 0;
    if (!plim_config_has(c, "mamba_d_ssm"))
        plim_conversion_doubt(c, "the config does not give the inner width of Mamba (mamba_d_ssm)", NULL);
    set(c, POST_NORM, plim_config_truth(c, "mamba_rms_norm", false));
    c->facts |= RECURS | (plim_config_truth(c, "mamba_conv_bias", true) ? CONV_BIAS : 0);
    plim_sizes_mamba2(c);
}

/* --- Nemotron H: a layer is Mamba 2, attention, or a feed-forward part, which may be of experts --- */

static const struct plim_convert_rule nemotron_layer[] = {
    MATRIX("ffn_up", N_EMBD, N_FF, WHEN(DENSE)),
    MATRIX("ffn_down", N_FF, N_EMBD, WHEN(DENSE)),
    MATRIX("attn_q", N_EMBD, N_Q, WHEN(ATTENDS)),
    MATRIX("attn_k", N_EMBD, N_K, WHEN(ATTENDS)),
    MATRIX("attn_v", N_EMBD, N_V, WHEN(ATTENDS)),
    MATRIX("attn_output", N_O, N_EMBD, WHEN(ATTENDS)),
    MATRIX("ffn_gate_inp", N_EMBD, N_EXPERT, WHEN(EXPERTS)),
    BIAS("exp_probs_b", N_EXPERT, WHEN(EXPERTS)),
    { "ffn_up_exps.weight", { N_EXPERT_IN, N_FF_EXP, N_EXPERT }, EXPERTS, 0, 0 },
    { "ffn_down_exps.weight", { N_FF_EXP, N_EXPERT_IN, N_EXPERT }, EXPERTS, 0, 0 },
    MATRIX("ffn_up_shexp", N_EMBD, N_FF_SHARED, WHEN(EXPERTS)),
    MATRIX("ffn_down_shexp", N_FF_SHARED, N_EMBD, WHEN(EXPERTS)),
    MATRIX("ffn_latent_down", N_EMBD, N_EXPERT_IN, WHEN(EXPERTS | LATENT)),
    MATRIX("ffn_latent_up", N_EXPERT_IN, N_EMBD, WHEN(EXPERTS | LATENT)),
    NORM("post_attention_norm", N_EMBD, WHEN(PREDICTS)),
    END_OF_GROUP,
};

static const struct plim_convert_key nemotron_keys[] = {
    { "vocab_size", KEY_SIZE, N_VOCAB, NULL, 0 },
    { "rope.dimension_count", KEY_SIZE, N_SHARE, NULL, 0 },
    { "ssm.conv_kernel", KEY_SIZE, N_CONV, NULL, 0 },
    { "ssm.state_size", KEY_SIZE, N_STATE, NULL, 0 },
    { "ssm.group_count", KEY_SIZE, N_GROUPS, NULL, 0 },
    { "ssm.inner_size", KEY_SIZE, N_INNER, NULL, 0 },
    { "ssm.time_step_rank", KEY_SIZE, N_DT_RANK, NULL, 0 },
    { "rope.scaling.finetuned", KEY_FLAG, 0, NULL, 0 },
    { "context_length", KEY_COUNT, 0, "", LONG_CONTEXT },
    { "attention.key_length", KEY_SIZE, N_HEAD_K, NULL, 0 },
    { "attention.value_length", KEY_SIZE, N_HEAD_K, NULL, 0 },
    { "nextn_predict_layers", KEY_SIZE, N_NEXTN, NULL, 0 },
    END_OF_KEYS,
};

static const struct plim_convert_key nemotron_expert_keys[] = {
    { "expert_used_count", KEY_COUNT, 0, "num_experts_per_tok", 1 },
    { "expert_feed_forward_length", KEY_SIZE, N_FF_EXP, NULL, 0 },
    { "expert_shared_feed_forward_length", KEY_SIZE, N_FF_SHARED, NULL, 0 },
    { "expert_count", KEY_SIZE, N_EXPERT, NULL, 0 },
    { "expert_shared_count", KEY_COUNT, 0, "n_shared_experts", 1 },
    { "expert_weights_norm", KEY_FLAG, 0, "norm_topk_prob", 1 },
    { "expert_weights_scale", KEY_REAL, 0, "routed_scaling_factor", 1 },
    { "expert_group_count", KEY_COUNT, 0, "n_group", 1 },
    END_OF_KEYS,
};

/* 'M', '*', '-' or 'E'; a prediction layer attends and has experts. */
static char nemotron_kind(struct plim_conversion *c, uint32_t il)
{
    const char *pattern = plim_config_string(c, "hybrid_override_pattern");
    const char *type = pattern ? NULL : plim_config_string_at(c, "layers_block_type", il);
    if (il >= c->n[N_LAYER])
        return 'P';
    if (pattern)
        return il < strlen(pattern) ? pattern[il] : '?';
    if (!type)
        return '?';
    return !strcmp(type, "mamba") || !strcmp(type, "linear_attention")     ? 'M'
           : !strcmp(type, "attention") || !strcmp(type, "full_attention") ? '*'
           : !strcmp(type, "moe")                                          ? 'E'
                                                                           : '-';
}

static void read_nemotron(struct plim_conversion *c)
{
    uint64_t *n = c->n;
    const uint64_t head = plim_config_number(c, "mamba_head_dim", MAX_STATE, 64);
    n[N_DT_RANK] = plim_config_need(c, "mamba_num_heads", MAX_WIDTH);
    n[N_INNER] = n[N_DT_RANK] * head;
    n[N_CONV] = plim_config_number(c, "conv_kernel", MAX_STATE, 4);
    n[N_STATE] = plim_config_number(c, "ssm_state_size", MAX_STATE, 128);
    n[N_GROUPS] = plim_config_number(c, "n_groups", MAX_STATE, 8);
    n[N_EXPERT_IN] = plim_config_number(c, "moe_latent_size", MAX_WIDTH, n[N_EMBD]);
    n[N_FF_SHARED] = plim_config_number(c, "moe_shared_expert_intermediate_size", MAX_WIDTH, 0);
    set(c, LATENT, plim_config_has(c, "moe_latent_size"));
    if (plim_config_has(c, "moe_latent_size"))
        plim_conversion_doubt(c, "experts in a latent space are not compared with the converter", NULL);
    c->facts |= POST_NORM | (plim_config_truth(c, "use_conv_bias", true) ? CONV_BIAS : 0);
    if (plim_config_has(c, "num_experts_per_tok") && n[N_EXPERT]) {
        c->arch = "nemotron_h_moe";
        plim_sizes_predict(c, plim_config_number(c, "num_nextn_predict_layers", 1, 0));
        if (n[N_NEXTN])
            plim_conversion_doubt(c, "Nemotron's prediction layer is not compared with the converter", NULL);
    }
    if (nemotron_kind(c, (uint32_t)(n[N_LAYER] - 1)) == '?')
        plim_conversion_fail(c, "hybrid_override_pattern", "does not have one letter for each layer");
    plim_sizes_mamba2(c);
}

static void each_nemotron(struct plim_conversion *c, uint32_t il)
{
    const char kind = nemotron_kind(c, il);
    set(c, RECURS, kind == 'M');
    set(c, ATTENDS, kind == '*' || kind == 'P');
    set(c, DENSE, kind == '-');
    set(c, EXPERTS, kind == 'E' || kind == 'P');
}

static bool nemotron_attends(struct plim_conversion *c, uint32_t il)
{
    return nemotron_kind(c, il) == '*' || nemotron_kind(c, il) == 'P';
}

static void write_nemotron(struct plim_conversion *c)
{
    int64_t widths[PLIM_MAX_LAYERS];
    const bool has_experts = !strcmp(c->arch, "nemotron_h_moe");
    write_kv_heads(c, nemotron_attends);
    for (uint32_t il = 0; il < c->n[N_LAYER_ALL]; il++) {
        const char kind = nemotron_kind(c, il);
        widths[il] = has_experts ? (kind == 'E' || kind == 'P' ? (int64_t)c->n[N_FF_EXP] : 0)
                                 : (kind == '-' ? (int64_t)c->n[N_FF] : 0);
    }
    plim_write_list(c, "feed_forward_length", widths, c->n[N_LAYER_ALL]);
    if (has_experts)
        plim_convert_write_table(c, nemotron_expert_keys);
}

/* --- LFM2: short convolutions --- */

/* The norm behind the last layer has the name of the one behind the embedding. */
static const struct plim_convert_rule lfm2_outer[] = {
    MATRIX("token_embd", N_EMBD, N_VOCAB, ALWAYS),
    NORM("token_embd_norm", N_EMBD, ALWAYS),
    MATRIX("output", N_EMBD, N_VOCAB, UNLESS(TIED)),
    END_OF_GROUP,
};

static const struct plim_convert_rule short_convolution[] = {
    MATRIX("shortconv.conv", N_CONV, N_EMBD, WHEN(RECURS)),
    MATRIX("shortconv.in_proj", N_EMBD, N_EMBD_3, WHEN(RECURS)),
    MATRIX("shortconv.out_proj", N_EMBD, N_EMBD, WHEN(RECURS)),
    END_OF_GROUP,
};

static const struct plim_convert_key lfm2_keys[] = {
    { "vocab_size", KEY_SIZE, N_VOCAB, NULL, 0 },
    { "shortconv.l_cache", KEY_SIZE, N_CONV, NULL, 0 },
    { "attention.layer_norm_rms_epsilon", KEY_REAL, 0, "norm_eps", 1e-5 },
    { "feed_forward_length", KEY_SIZE, N_FF, NULL, 0 },
    { "expert_feed_forward_length", KEY_COUNT, 0, "moe_intermediate_size", ABSENT },
    { "leading_dense_block_count", KEY_COUNT, 0, "num_dense_layers", ABSENT },
    END_OF_KEYS,
};

static bool lfm2_attends(struct plim_conversion *c, uint32_t il)
{
    const char *type = plim_config_string_at(c, "layer_types", il);
    return type && strcmp(type, "conv") != 0;
}

static void read_lfm2(struct plim_conversion *c)
{
    uint64_t *n = c->n;
    const uint64_t multiple = plim_config_number(c, "block_multiple_of", MAX_STATE, 256);
    const double times = plim_config_real(c, "block_ffn_dim_multiplier", 1.0);
    n[N_CONV] = plim_config_number(c, "conv_L_cache", MAX_STATE, 3);
    n[N_FF] = plim_config_number(c, "block_ff_dim|intermediate_size", MAX_WIDTH, n[N_FF]);
    if (plim_config_truth(c, "block_auto_adjust_ff_dim", true) && multiple && times > 0 && times < 16 && !n[N_EXPERT]) {
        const uint64_t two_thirds = 2 * n[N_FF] / 3, width = (uint64_t)(times * (double)two_thirds);
        n[N_FF] = (width + multiple - 1) / multiple * multiple;
    }
    n[N_DENSE_LEAD] = plim_config_number(c, "num_dense_layers", PLIM_MAX_LAYERS, 0);
    set(c, EXPERTS | SCORE_BIAS, n[N_EXPERT] > 0);
    if (plim_config_length(c, "layer_types") != n[N_LAYER])
        plim_conversion_fail(c, "layer_types", "does not have one entry for each layer");
    if (n[N_EXPERT])
        c->arch = "lfm2moe";
}

static void each_lfm2(struct plim_conversion *c, uint32_t il)
{
    set(c, RECURS, !lfm2_attends(c, il));
    plim_each_dense_lead(c, il);
}

static void write_lfm2(struct plim_conversion *c)
{
    write_kv_heads(c, lfm2_attends);
    if (c->n[N_EXPERT])
        plim_write_count(c, "expert_gating_func", 2); /* ExpertGatingFuncType.SIGMOID */
}

/* --- rows --- */

static const struct plim_convert_row rows[] = {
    { .names = { "JambaForCausalLM" },
      .types = { "jamba" },
      .arch = "jamba",
      .source = "conversion/jamba.py: JambaModel",
      .whole = { plim_rules_outer },
      .layer = { plim_rules_norms, plim_rules_attention, plim_rules_mamba1, jamba_norms, plim_rules_ffn,
                 plim_rules_experts },
      .read = read_jamba,
      .each = each_jamba,
      .write = write_jamba,
      .keys = jamba_keys,
      .is_bare = true,
      .is_proven = true },
    { .names = { "GraniteMoeHybridForCausalLM" },
      .types = { "granitemoehybrid" },
      .arch = "granitehybrid",
      .source = "conversion/granite.py: GraniteHybridModel",
      .whole = { plim_rules_outer },
      .layer = { plim_rules_norms, plim_rules_attention, plim_rules_mamba2, plim_rules_ffn, plim_rules_experts,
                 plim_rules_shared_expert },
      .read = read_granite,
      .each = each_granite,
      .write = write_granite,
      .is_raw = true,
      .keys = granite_keys,
      .bias_keys = QKV_BIAS,
      .is_proven = true },
    { .names = { "FalconH1ForCausalLM" },
      .types = { "falcon_h1" },
      .arch = "falcon-h1",
      .source = "conversion/falcon_h1.py: FalconH1Model",
      .whole = { plim_rules_outer },
      .layer = { falcon_attention, plim_rules_mamba2, plim_rules_ffn },
      .read = read_falcon,
      .is_raw = true,
      .keys = falcon_keys,
      .is_bare = true,
      .is_proven = true },
    { .names = { "NemotronHForCausalLM" },
      .types = { "nemotron_h" },
      .arch = "nemotron_h",
      .source = "conversion/nemotron.py: NemotronHModel",
      .whole = { plim_rules_outer },
      .layer = { plim_rules_attn_norm, nemotron_layer, plim_rules_mamba2, plim_rules_prediction },
      .read = read_nemotron,
      .each = each_nemotron,
      .write = write_nemotron,
      .is_raw = true,
      .keys = nemotron_keys,
      .is_proven = true },
    { .names = { "Lfm2ForCausalLM", "LFM2ForCausalLM", "Lfm2MoeForCausalLM", "Lfm2VlForConditionalGeneration" },
      .types = { "lfm2", "lfm2_moe", "lfm2_vl" },
      .arch = "lfm2",
      .source = "conversion/lfm2.py: LFM2Model",
      .whole = { lfm2_outer },
      .layer = { plim_rules_norms, plim_rules_attention, plim_rules_qk_norm, short_convolution, plim_rules_ffn,
                 plim_rules_experts, plim_rules_score_bias },
      .read = read_lfm2,
      .each = each_lfm2,
      .write = write_lfm2,
      .keys = lfm2_keys,
      .is_tied = true,
      .is_proven = true },
};

const struct plim_convert_family plim_family_hybrid = FAMILY(rows);
