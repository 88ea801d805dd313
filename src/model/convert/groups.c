/* SPDX-License-Identifier: MIT */
/* Source of names and shapes: gguf-py/gguf/constants.py and tensor_mapping.py, the classes of conversion/ at v0.5.0. */
#include "model/convert/groups.h"

#include "base/limits.h"

#include <string.h>

#define FFN_UNLESS_EXPERTS UNLESS(EXPERTS)

const struct plim_convert_rule plim_rules_outer[] = {
    MATRIX("token_embd", N_EMBD, N_VOCAB, ALWAYS),
    NORM("output_norm", N_EMBD, ALWAYS),
    MATRIX("output", N_EMBD, N_VOCAB, UNLESS(TIED)),
    NORM("rope_freqs", N_ROT_HALF, WHEN(ROPE_FREQS)),
    NORM("rope_factors_long", N_ROT_HALF, WHEN(ROPE_FACTORS)),
    NORM("rope_factors_short", N_ROT_HALF, WHEN(ROPE_FACTORS)),
    END_OF_GROUP,
};

const struct plim_convert_rule plim_rules_outer_bias[] = { BIAS("output_norm", N_EMBD, ALWAYS), END_OF_GROUP };
const struct plim_convert_rule plim_rules_output_bias[] = { BIAS("output", N_VOCAB, UNLESS(TIED)), END_OF_GROUP };

const struct plim_convert_rule plim_rules_norms[] = {
    NORM("attn_norm", N_EMBD, ALWAYS),
    NORM("ffn_norm", N_EMBD, ALWAYS),
    END_OF_GROUP,
};

const struct plim_convert_rule plim_rules_norm_biases[] = {
    BIAS("attn_norm", N_EMBD, ALWAYS),
    BIAS("ffn_norm", N_EMBD, ALWAYS),
    END_OF_GROUP,
};

const struct plim_convert_rule plim_rules_attn_norm[] = { NORM("attn_norm", N_EMBD, ALWAYS), END_OF_GROUP };
const struct plim_convert_rule plim_rules_attn_norm_bias[] = { BIAS("attn_norm", N_EMBD, ALWAYS), END_OF_GROUP };
const struct plim_convert_rule plim_rules_mid_norm[] = { NORM("post_attention_norm", N_EMBD, ALWAYS), END_OF_GROUP };

const struct plim_convert_rule plim_rules_post_norms[] = {
    NORM("post_attention_norm", N_EMBD, ALWAYS),
    NORM("post_ffw_norm", N_EMBD, ALWAYS),
    END_OF_GROUP,
};

const struct plim_convert_rule plim_rules_attention[] = {
    MATRIX("attn_q", N_EMBD, N_Q, UNLESS(RECURS)),
    MATRIX("attn_k", N_EMBD, N_K, UNLESS(RECURS)),
    MATRIX("attn_v", N_EMBD, N_V, UNLESS(RECURS)),
    MATRIX("attn_output", N_O, N_EMBD, UNLESS(RECURS)),
    { "attn_q.bias", { N_Q }, QKV_BIAS, RECURS, 0 },
    { "attn_k.bias", { N_K }, QKV_BIAS, RECURS, 0 },
    { "attn_v.bias", { N_V }, QKV_BIAS, RECURS, 0 },
    { "attn_output.bias", { N_EMBD }, OUT_BIAS, RECURS, 0 },
    END_OF_GROUP,
};

const struct plim_convert_rule plim_rules_fused_attention[] = {
    MATRIX("attn_qkv", N_EMBD, N_QKV, ALWAYS),
    BIAS("attn_qkv", N_QKV, WHEN(QKV_BIAS)),
    MATRIX("attn_output", N_O, N_EMBD, ALWAYS),
    BIAS("attn_output", N_EMBD, WHEN(OUT_BIAS)),
    END_OF_GROUP,
};

const struct plim_convert_rule plim_rules_qk_norm[] = {
    NORM("attn_q_norm", N_HEAD_K, UNLESS(RECURS)),
    NORM("attn_k_norm", N_HEAD_K, UNLESS(RECURS)),
    END_OF_GROUP,
};

const struct plim_convert_rule plim_rules_qk_norm_flat[] = {
    NORM("attn_q_norm", N_Q, ALWAYS),
    NORM("attn_k_norm", N_K, ALWAYS),
    END_OF_GROUP,
};

const struct plim_convert_rule plim_rules_ffn[] = {
    MATRIX("ffn_gate", N_EMBD, N_FF, FFN_UNLESS_EXPERTS),
    MATRIX("ffn_up", N_EMBD, N_FF, FFN_UNLESS_EXPERTS),
    MATRIX("ffn_down", N_FF, N_EMBD, FFN_UNLESS_EXPERTS),
    { "ffn_gate.bias", { N_FF }, MLP_BIAS, EXPERTS, 0 },
    { "ffn_up.bias", { N_FF }, MLP_BIAS, EXPERTS, 0 },
    { "ffn_down.bias", { N_EMBD }, MLP_BIAS, EXPERTS, 0 },
    END_OF_GROUP,
};

const struct plim_convert_rule plim_rules_ffn_fused[] = {
    MATRIX("ffn_up", N_EMBD, N_FF_2, ALWAYS),
    MATRIX("ffn_down", N_FF, N_EMBD, ALWAYS),
    END_OF_GROUP,
};

const struct plim_convert_rule plim_rules_ffn_plain[] = {
    MATRIX("ffn_up", N_EMBD, N_FF, ALWAYS),
    MATRIX("ffn_down", N_FF, N_EMBD, ALWAYS),
    BIAS("ffn_up", N_FF, WHEN(MLP_BIAS)),
    BIAS("ffn_down", N_EMBD, WHEN(MLP_BIAS)),
    END_OF_GROUP,
};

/* One matrix for each expert, stacked. */
const struct plim_convert_rule plim_rules_experts[] = {
    MATRIX("ffn_gate_inp", N_EMBD, N_EXPERT, WHEN(EXPERTS)),
    { "ffn_gate_exps.weight", { N_EMBD, N_FF_EXP, N_EXPERT }, EXPERTS, 0, 0 },
    { "ffn_up_exps.weight", { N_EMBD, N_FF_EXP, N_EXPERT }, EXPERTS, 0, 0 },
    { "ffn_down_exps.weight", { N_FF_EXP, N_EMBD, N_EXPERT }, EXPERTS, 0, 0 },
    END_OF_GROUP,
};

const struct plim_convert_rule plim_rules_shared_expert[] = {
    MATRIX("ffn_gate_shexp", N_EMBD, N_FF_SHARED, WHEN(EXPERTS | SHARED)),
    MATRIX("ffn_up_shexp", N_EMBD, N_FF_SHARED, WHEN(EXPERTS | SHARED)),
    MATRIX("ffn_down_shexp", N_FF_SHARED, N_EMBD, WHEN(EXPERTS | SHARED)),
    END_OF_GROUP,
};

const struct plim_convert_rule plim_rules_score_bias[] = {
    BIAS("exp_probs_b", N_EXPERT, WHEN(EXPERTS | SCORE_BIAS)),
    END_OF_GROUP,
};

const struct plim_convert_rule plim_rules_prediction[] = {
    MATRIX("nextn.eh_proj", N_EMBD_2, N_EMBD, WHEN(PREDICTS)),
    NORM("nextn.enorm", N_EMBD, WHEN(PREDICTS)),
    NORM("nextn.hnorm", N_EMBD, WHEN(PREDICTS)),
    NORM("nextn.shared_head_norm", N_EMBD, WHEN(PREDICTS)),
    MATRIX("nextn.embed_tokens", N_EMBD, N_VOCAB, WHEN(PREDICTS | HAS_OWN_EMBD)),
    MATRIX("nextn.shared_head_head", N_EMBD, N_VOCAB, WHEN(PREDICTS | HAS_OWN_EMBD)),
    END_OF_GROUP,
};

const struct plim_convert_rule plim_rules_mamba2[] = {
    MATRIX("ssm_in", N_EMBD, N_SSM_IN, WHEN(RECURS)),
    MATRIX("ssm_conv1d", N_CONV, N_SSM_CONV, WHEN(RECURS)),
    BIAS("ssm_conv1d", N_SSM_CONV, WHEN(RECURS | CONV_BIAS)),
    BIAS("ssm_dt", N_DT_RANK, WHEN(RECURS)),
    { "ssm_a", { N_1, N_DT_RANK }, RECURS, 0, 0 },
    { "ssm_d", { N_1, N_DT_RANK }, RECURS, 0, 0 },
    MATRIX("ssm_norm", N_GROUP_WIDTH, N_GROUPS, WHEN(RECURS | POST_NORM)),
    MATRIX("ssm_out", N_INNER, N_EMBD, WHEN(RECURS)),
    END_OF_GROUP,
};

const struct plim_convert_key plim_keys_llama[] = {
    { "vocab_size", KEY_SIZE, N_VOCAB, NULL, 0 },
    { "rope.dimension_count", KEY_SIZE, N_HEAD_K, NULL, 0 },
    END_OF_KEYS,
};

/* --- hooks --- */

void plim_each_dense_lead(struct plim_conversion *c, uint32_t il)
{
    if (il < c->n[N_DENSE_LEAD])
        c->facts &= ~(uint32_t)EXPERTS;
}

void plim_write_windows(struct plim_conversion *c, const char *window_name)
{
    int64_t sliding[PLIM_MAX_LAYERS];
    const uint64_t n = c->n[N_LAYER], window = plim_config_number(c, window_name, UINT32_MAX, 0);
    if (window == 0)
        return;
    plim_write_count(c, "attention.sliding_window", window);
    if (plim_config_length(c, "layer_types") < n)
        return;
    for (uint32_t il = 0; il < n; il++) {
        const char *type = plim_config_string_at(c, "layer_types", il);
        sliding[il] = type && !strcmp(type, "sliding_attention");
    }
    plim_write_list(c, "attention.sliding_window_pattern", sliding, n);
}
