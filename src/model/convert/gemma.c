/* SPDX-License-Identifier: MIT */
/* Gemma 1 to 4: tied embeddings, norms around both parts, windows, and in the fourth layers of two shapes. */
#include "model/convert/groups.h"
#include "model/convert/sizes.h"

#include "base/limits.h"

#include <string.h>

enum { MAX_WIDTH = 1 << 24, MAX_HEAD = 1 << 14, MAX_HEADS = 1 << 12 };

static void set(struct plim_conversion *c, uint32_t fact, bool holds)
{
    c->facts = holds ? c->facts | fact : c->facts & ~fact;
}

/* --- keys --- */

#define GEMMA_KEYS                                                                                                     \
    { "context_length", KEY_COUNT, 0, "max_position_embeddings", 8192 }, /* GemmaConfig, Gemma2Config */               \
        { "embedding_length", KEY_SIZE, N_EMBD, NULL, 0 }, { "block_count", KEY_SIZE, N_LAYER_ALL, NULL, 0 },          \
        { "feed_forward_length", KEY_SIZE, N_FF, NULL, 0 }, { "attention.head_count", KEY_SIZE, N_HEAD, NULL, 0 },     \
        { "attention.head_count_kv", KEY_SIZE, N_HEAD_KV, NULL, 0 },                                                   \
        { "attention.layer_norm_rms_epsilon", KEY_REAL, 0, "rms_norm_eps", 1e-6 },                                     \
        { "attention.key_length", KEY_SIZE, N_HEAD_K, NULL, 0 },                                                       \
    {                                                                                                                  \
        "attention.value_length", KEY_SIZE, N_HEAD_V, NULL, 0                                                          \
    }

static const struct plim_convert_key gemma_keys[] = { GEMMA_KEYS, END_OF_KEYS };

static const struct plim_convert_key gemma2_keys[] = {
    GEMMA_KEYS,
    { "attn_logit_softcapping", KEY_REAL, 0, "attn_logit_softcapping", 50 }, /* Gemma2Config */
    { "final_logit_softcapping", KEY_REAL, 0, "final_logit_softcapping", 30 },
    { "attention.sliding_window", KEY_COUNT, 0, "sliding_window", 4096 },
    END_OF_KEYS,
};

static const struct plim_convert_key gemma3_keys[] = {
    { "context_length", KEY_COUNT, 0, "max_position_embeddings", 131072 },
    { "feed_forward_length", KEY_SIZE, N_FF, NULL, 0 },
    { "attention.layer_norm_rms_epsilon", KEY_REAL, 0, "rms_norm_eps", 1e-6 },
    { "attention.key_length", KEY_SIZE, N_HEAD_K, NULL, 0 },
    { "attention.value_length", KEY_SIZE, N_HEAD_V, NULL, 0 },
    { "rope.freq_base", KEY_REAL, 0, "rope_parameters.full_attention.rope_theta|rope_parameters.rope_theta|rope_theta",
      1e6 },
    { "rope.freq_base_swa", KEY_REAL, 0, "rope_parameters.sliding_attention.rope_theta|rope_local_base_freq", 10000 },
    { "final_logit_softcapping", KEY_REAL, 0, "final_logit_softcapping", ABSENT },
    { "attention.sliding_window", KEY_COUNT, 0, "sliding_window", 4096 }, /* Gemma3TextConfig */
    END_OF_KEYS,
};

static const struct plim_convert_key gemma4_keys[] = {
    { "context_length", KEY_COUNT, 0, "max_position_embeddings", 131072 },
    { "attention.sliding_window", KEY_COUNT, 0, "sliding_window", 512 }, /* Gemma4TextConfig */
    { "attention.shared_kv_layers", KEY_COUNT, 0, "num_kv_shared_layers", 0 },
    { "embedding_length_per_layer_input", KEY_COUNT, 0, "hidden_size_per_layer_input", 0 },
    { "final_logit_softcapping", KEY_REAL, 0, "final_logit_softcapping", ABSENT },
    { "expert_feed_forward_length", KEY_COUNT, 0, "expert_intermediate_size|moe_intermediate_size", ABSENT },
    { "attention.key_length_swa", KEY_SIZE, N_HEAD_K, NULL, 0 },
    { "attention.value_length_swa", KEY_SIZE, N_HEAD_K, NULL, 0 },
    { "attention.key_length", KEY_SIZE, N_EXTRA, NULL, 0 },
    { "attention.value_length", KEY_SIZE, N_EXTRA, NULL, 0 },
    { "rope.dimension_count", KEY_SIZE, N_EXTRA, NULL, 0 },
    { "rope.dimension_count_swa", KEY_SIZE, N_HEAD_K, NULL, 0 },
    END_OF_KEYS,
};

/* --- Gemma 3 --- */

static void write_gemma3(struct plim_conversion *c)
{
    plim_write_count(c, "attention.head_count", c->n[N_HEAD]);
    plim_write_count(c, "attention.head_count_kv", c->n[N_HEAD_KV]);
}

/* --- Gemma 4 --- */

static const struct plim_convert_rule gemma4_outer[] = {
    MATRIX("token_embd", N_EMBD, N_VOCAB, ALWAYS),
    NORM("output_norm", N_EMBD, ALWAYS),
    NORM("rope_freqs", N_ROT_HALF, ALWAYS), /* of the layers that see everything */
    MATRIX("per_layer_token_embd", N_LAYER_EMBD_ALL, N_VOCAB, WHEN(LAYER_EMBD)),
    MATRIX("per_layer_model_proj", N_EMBD, N_LAYER_EMBD_ALL, WHEN(LAYER_EMBD)),
    NORM("per_layer_proj_norm", N_LAYER_EMBD, WHEN(LAYER_EMBD)),
    END_OF_GROUP,
};

/* In the large sizes K serves as V where a layer sees everything; layers that share a cache have both all the same. */
static const struct plim_convert_rule gemma4_attention[] = {
    MATRIX("attn_q", N_EMBD, N_Q, ALWAYS),       MATRIX("attn_k", N_EMBD, N_K, ALWAYS),
    MATRIX("attn_v", N_EMBD, N_V, WHEN(VALUES)), MATRIX("attn_output", N_O, N_EMBD, ALWAYS),
    NORM("attn_q_norm", N_HEAD_K, ALWAYS),       NORM("attn_k_norm", N_HEAD_K, ALWAYS),
    NORM("layer_output_scale", N_1, ALWAYS),     END_OF_GROUP,
};

/* Experts beside the dense part; gate and up are one matrix. */
static const struct plim_convert_rule gemma4_experts[] = {
    MATRIX("ffn_gate_inp", N_EMBD, N_EXPERT, WHEN(LATENT)),
    { "ffn_gate_inp.scale", { N_EMBD }, LATENT, 0, 0 },
    { "ffn_gate_up_exps.weight", { N_EMBD, N_FF_EXP_2, N_EXPERT }, LATENT, 0, 0 },
    { "ffn_down_exps.weight", { N_FF_EXP, N_EMBD, N_EXPERT }, LATENT, 0, 0 },
    { "ffn_down_exps.scale", { N_EXPERT }, LATENT, 0, 0 },
    NORM("pre_ffw_norm_2", N_EMBD, WHEN(LATENT)),
    NORM("post_ffw_norm_1", N_EMBD, WHEN(LATENT)),
    NORM("post_ffw_norm_2", N_EMBD, WHEN(LATENT)),
    END_OF_GROUP,
};

static const struct plim_convert_rule gemma4_layer_input[] = {
    MATRIX("inp_gate", N_EMBD, N_LAYER_EMBD, WHEN(LAYER_EMBD)),
    MATRIX("proj", N_LAYER_EMBD, N_EMBD, WHEN(LAYER_EMBD)),
    NORM("post_norm", N_EMBD, WHEN(LAYER_EMBD)),
    END_OF_GROUP,
};

static bool gemma4_slides(const struct plim_conversion *c, uint32_t il)
{
    const char *type = plim_config_string_at(c, "layer_types", il);
    return type && !strcmp(type, "sliding_attention");
}

static uint64_t gemma4_full_kv(struct plim_conversion *c)
{
    return plim_config_number(c, "num_global_key_value_heads", MAX_HEADS, c->n[N_HEAD_KV]);
}

static void read_gemma4(struct plim_conversion *c)
{
    uint64_t *n = c->n;
    n[N_EXTRA] = plim_config_number(c, "global_head_dim", MAX_HEAD, 512); /* Gemma4TextConfig */
    n[N_ROT_HALF] = n[N_EXTRA] / 2;
    n[N_LAYER_EMBD] = plim_config_number(c, "hidden_size_per_layer_input", MAX_WIDTH, 0);
    n[N_LAYER_EMBD_ALL] = n[N_LAYER_EMBD] * n[N_LAYER];
    n[N_FF_EXP] = plim_config_number(c, "expert_intermediate_size|moe_intermediate_size", MAX_WIDTH, 0);
    set(c, LAYER_EMBD, n[N_LAYER_EMBD] > 0);
    set(c, EXPERTS, false); /* the dense part is there as well */
    set(c, LATENT, plim_config_truth(c, "enable_moe_block", false) && n[N_EXPERT] > 0);
    if (plim_config_length(c, "layer_types") != n[N_LAYER])
        plim_conversion_fail(c, "layer_types", "does not have one entry for each layer");
    if (plim_config_number(c, "num_kv_shared_layers", PLIM_MAX_LAYERS, 0))
        plim_conversion_doubt(c, "layers that share a cache may lack K and V", NULL);
}

static void each_gemma4(struct plim_conversion *c, uint32_t il)
{
    const uint64_t shared = plim_config_number(c, "num_kv_shared_layers", PLIM_MAX_LAYERS, 0);
    const bool slides = gemma4_slides(c, il);
    set(c, VALUES, slides || !plim_config_truth(c, "attention_k_eq_v", false));
    if (!slides) {
        if (plim_config_truth(c, "attention_k_eq_v", false))
            c->n[N_HEAD_KV] = gemma4_full_kv(c);
        c->n[N_HEAD_K] = c->n[N_HEAD_V] = c->n[N_EXTRA];
    }
    if (plim_config_truth(c, "use_double_wide_mlp", false) && il + shared >= c->n[N_LAYER])
        c->n[N_FF] *= 2;
}

static void write_gemma4(struct plim_conversion *c)
{
    int64_t sliding[PLIM_MAX_LAYERS], kv[PLIM_MAX_LAYERS], widths[PLIM_MAX_LAYERS];
    const uint64_t shared = plim_config_number(c, "num_kv_shared_layers", PLIM_MAX_LAYERS, 0), n = c->n[N_LAYER];
    for (uint32_t il = 0; il < n; il++) {
        sliding[il] = gemma4_slides(c, il);
        kv[il] = (int64_t)(sliding[il] ? c->n[N_HEAD_KV] : gemma4_full_kv(c));
        widths[il] = (int64_t)(il + shared >= n ? 2 * c->n[N_FF] : c->n[N_FF]);
    }
    plim_write_list(c, "attention.sliding_window_pattern", sliding, n);
    if (plim_config_has(c, "num_global_key_value_heads"))
        plim_write_list(c, "attention.head_count_kv", kv, n);
    if (plim_config_truth(c, "use_double_wide_mlp", false))
        plim_write_list(c, "feed_forward_length", widths, n);
}

/* --- rows --- */

static const struct plim_convert_row rows[] = {
    { .names = { "GemmaForCausalLM" },
      .types = { "gemma" },
      .arch = "gemma",
      .source = "conversion/gemma.py: GemmaModel",
      .has_usual_names = true,
      .whole = { plim_rules_outer },
      .layer = { plim_rules_norms, plim_rules_attention, plim_rules_ffn },
      .keys = gemma_keys,
      .facts = TIED,
      .bias_keys = QKV_BIAS,
      .head = 256,
      .is_bare = true,
      .is_proven = true },
    { .names = { "Gemma2ForCausalLM" },
      .types = { "gemma2" },
      .arch = "gemma2",
      .source = "conversion/gemma.py: Gemma2Model",
      .has_usual_names = true,
      .whole = { plim_rules_outer },
      .layer = { plim_rules_norms, plim_rules_post_norms, plim_rules_attention, plim_rules_ffn },
      .keys = gemma2_keys,
      .facts = TIED,
      .bias_keys = QKV_BIAS,
      .head = 256,
      .is_bare = true,
      .is_proven = true },
    { .names = { "Gemma3ForCausalLM", "Gemma3ForConditionalGeneration" },
      .types = { "gemma3", "gemma3_text" },
      .arch = "gemma3",
      .source = "conversion/gemma.py: Gemma3Model",
      .has_usual_names = true,
      .whole = { plim_rules_outer },
      .layer = { plim_rules_norms, plim_rules_post_norms, plim_rules_attention, plim_rules_qk_norm, plim_rules_ffn },
      .write = write_gemma3,
      .keys = gemma3_keys,
      .facts = TIED,
      .bias_keys = QKV_BIAS,
      .head = 256,
      .is_proven = true },
    { .names = { "Gemma4ForConditionalGeneration", "Gemma4ForCausalLM" },
      .types = { "gemma4", "gemma4_text" },
      .arch = "gemma4",
      .source = "conversion/gemma.py: Gemma4Model",
      .whole = { gemma4_outer },
      .layer = { plim_rules_norms, plim_rules_post_norms, gemma4_attention, plim_rules_ffn, gemma4_experts,
                 gemma4_layer_input },
      .read = read_gemma4,
      .each = each_gemma4,
      .write = write_gemma4,
      .keys = gemma4_keys,
      .facts = TIED,
      .head = 256,
      .is_proven = true },
};

const struct plim_convert_family plim_family_gemma = FAMILY(rows);
