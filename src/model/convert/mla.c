/* SPDX-License-Identifier: MIT */
/* Decoders with latent attention: DeepSeek V2 and V3, Kimi K2, GLM 4.7 Flash and 5, MiniCPM 3. */
#include "model/convert/groups.h"
#include "model/convert/sizes.h"

#include "base/limits.h"

#include <inttypes.h>
#include <string.h>

enum { MAX_RANK = 1 << 20, MAX_HEAD = 1 << 14, MAX_HEADS = 1 << 12 };

/* --- groups --- */

/* The matrix that expands the latent vector is split into that of K, transposed, and that of V. */
static const struct plim_convert_rule latent_attention[] = {
    MATRIX("attn_q", N_EMBD, N_Q, UNLESS(Q_LORA)),
    MATRIX("attn_q_a", N_EMBD, N_Q_LORA, WHEN(Q_LORA)),
    NORM("attn_q_a_norm", N_Q_LORA, WHEN(Q_LORA)),
    MATRIX("attn_q_b", N_Q_LORA, N_Q, WHEN(Q_LORA)),
    MATRIX("attn_kv_a_mqa", N_EMBD, N_KV_A, ALWAYS),
    NORM("attn_kv_a_norm", N_KV_LORA, ALWAYS),
    { "attn_k_b.weight", { N_NOPE, N_KV_LORA, N_HEAD }, 0, FUSED, 0 },
    { "attn_v_b.weight", { N_KV_LORA, N_VALUE, N_HEAD }, 0, FUSED, 0 },
    MATRIX("attn_kv_b", N_KV_LORA, N_KV_B, WHEN(FUSED)),
    MATRIX("attn_output", N_O, N_EMBD, ALWAYS),
    END_OF_GROUP,
};

/* A small attention that chooses the tokens to attend to. */
static const struct plim_convert_rule indexer[] = {
    NORM("indexer.k_norm", N_INDEX_HEAD, WHEN(INDEXED)),
    BIAS("indexer.k_norm", N_INDEX_HEAD, WHEN(INDEXED)),
    MATRIX("indexer.proj", N_EMBD, N_INDEX_HEADS, WHEN(INDEXED)),
    MATRIX("indexer.attn_k", N_EMBD, N_INDEX_HEAD, WHEN(INDEXED)),
    MATRIX("indexer.attn_q_b", N_Q_LORA, N_INDEX_Q, WHEN(INDEXED)),
    END_OF_GROUP,
};

#define LATENT_GROUPS                                                                                                  \
    plim_rules_norms, latent_attention, indexer, plim_rules_ffn, plim_rules_experts, plim_rules_score_bias,            \
        plim_rules_shared_expert, plim_rules_prediction

/* --- keys --- */

/* DeepseekV2Model.set_gguf_parameters; the cache holds one head as wide as the latent vector and the rotated key. */
static const struct plim_convert_key latent_keys[] = {
    { "attention.head_count_kv", KEY_SIZE, N_1, NULL, 0 },
    { "attention.layer_norm_rms_epsilon", KEY_REAL, 0, "rms_norm_eps", 1e-6 },
    { "leading_dense_block_count", KEY_SIZE, N_DENSE_LEAD, NULL, 0 },
    { "vocab_size", KEY_SIZE, N_VOCAB, NULL, 0 },
    { "attention.q_lora_rank", KEY_SIZE, N_Q_LORA, NULL, 0 },
    { "attention.kv_lora_rank", KEY_SIZE, N_KV_LORA, NULL, 0 },
    { "attention.key_length", KEY_SIZE, N_KV_A, NULL, 0 },
    { "attention.value_length", KEY_SIZE, N_KV_LORA, NULL, 0 },
    { "attention.key_length_mla", KEY_SIZE, N_KEY, NULL, 0 },
    { "attention.value_length_mla", KEY_SIZE, N_VALUE, NULL, 0 },
    { "expert_feed_forward_length", KEY_SIZE, N_FF_EXP, NULL, 0 },
    { "expert_count", KEY_SIZE, N_EXPERT, NULL, 0 },
    { "expert_shared_count", KEY_COUNT, 0, "n_shared_experts", 0 },
    { "expert_weights_scale", KEY_REAL, 0, "routed_scaling_factor", ABSENT },
    { "rope.dimension_count", KEY_SIZE, N_ROPE, NULL, 0 },
    { "nextn_predict_layers", KEY_SIZE, N_NEXTN, NULL, 0 },
    END_OF_KEYS,
};

static const struct plim_convert_key minicpm3_keys[] = {
    { "context_length", KEY_COUNT, 0, "max_position_embeddings", ABSENT },
    { "embedding_length", KEY_SIZE, N_EMBD, NULL, 0 },
    { "block_count", KEY_SIZE, N_LAYER_ALL, NULL, 0 },
    { "feed_forward_length", KEY_SIZE, N_FF, NULL, 0 },
    { "attention.head_count", KEY_SIZE, N_HEAD, NULL, 0 },
    { "attention.head_count_kv", KEY_SIZE, N_HEAD_KV, NULL, 0 },
    { "attention.layer_norm_rms_epsilon", KEY_REAL, 0, "rms_norm_eps", 1e-6 },
    { "vocab_size", KEY_SIZE, N_VOCAB, NULL, 0 },
    { "attention.q_lora_rank", KEY_SIZE, N_Q_LORA, NULL, 0 },
    { "attention.kv_lora_rank", KEY_SIZE, N_KV_LORA, NULL, 0 },
    { "attention.key_length", KEY_SIZE, N_KEY, NULL, 0 },
    { "rope.dimension_count", KEY_SIZE, N_ROPE, NULL, 0 },
    END_OF_KEYS,
};

/* --- hooks --- */

static void read_ranks(struct plim_conversion *c)
{
    uint64_t *n = c->n;
    n[N_Q_LORA] = plim_config_number(c, "q_lora_rank", MAX_RANK, 0);
    n[N_KV_LORA] = plim_config_number(c, "kv_lora_rank", MAX_RANK, 512); /* DeepseekV3Config */
    n[N_NOPE] = plim_config_need(c, "qk_nope_head_dim", MAX_HEAD);
    n[N_ROPE] = plim_config_need(c, "qk_rope_head_dim", MAX_HEAD);
    n[N_KEY] = n[N_NOPE] + n[N_ROPE];
    n[N_KV_A] = n[N_KV_LORA] + n[N_ROPE];
    n[N_HEAD_K] = n[N_KEY];
    n[N_HEAD_KV] = n[N_HEAD];
    c->facts |= n[N_Q_LORA] ? Q_LORA : 0;
}

static void read_values(struct plim_conversion *c, uint64_t width)
{
    c->n[N_HEAD_V] = c->n[N_VALUE] = width;
    c->n[N_KV_B] = c->n[N_HEAD] * (c->n[N_NOPE] + width);
}

/* The router has a bias where the topk_method corrects the scores (modeling_deepseek.py). */
static void read_latent(struct plim_conversion *c)
{
    const char *method = plim_config_string(c, "topk_method"), *type = plim_config_string(c, "model_type");
    const bool is_v2 = type && (!strcmp(type, "deepseek_v2") || !strcmp(type, "kimi_vl"));
    read_ranks(c);
    read_values(c, plim_config_need(c, "v_head_dim", MAX_HEAD));
    c->n[N_EXPERT] = plim_config_number(c, "n_routed_experts|num_local_experts|num_experts", MAX_HEADS, 0);
    if (c->n[N_EXPERT])
        c->facts |= EXPERTS;
    else
        c->n[N_DENSE_LEAD] = c->n[N_LAYER];
    if (method ? !strcmp(method, "noaux_tc") : !is_v2)
        c->facts |= SCORE_BIAS;
}

static void read_predicting(struct plim_conversion *c)
{
    read_latent(c);
    plim_sizes_predict(c, plim_config_number(c, "num_nextn_predict_layers", PLIM_MAX_LAYERS, 0));
}

static void read_indexed(struct plim_conversion *c)
{
    read_predicting(c);
    c->n[N_INDEX_HEAD] = plim_config_need(c, "index_head_dim", MAX_HEAD);
    c->n[N_INDEX_HEADS] = plim_config_need(c, "index_n_heads", MAX_HEADS);
    c->n[N_INDEX_Q] = c->n[N_INDEX_HEAD] * c->n[N_INDEX_HEADS];
    c->facts |= INDEXED;
}

/* GLM 5.2: some layers use the choice of an earlier one. */
static void each_indexed(struct plim_conversion *c, uint32_t il)
{
    const char *type = plim_config_string_at(c, "indexer_types", il);
    plim_each_dense_lead(c, il);
    if (type && strcmp(type, "full") != 0)
        c->facts &= ~(uint32_t)INDEXED;
}

static void read_minicpm3(struct plim_conversion *c)
{
    read_ranks(c);
    read_values(c, plim_config_number(c, "v_head_dim", MAX_HEAD, c->n[N_EMBD] / (c->n[N_HEAD] ? c->n[N_HEAD] : 1)));
    c->n[N_ROT_HALF] = c->n[N_ROPE] / 2;
    c->facts |= FUSED;
}

/* --- keys that no table gives --- */

static void write_latent(struct plim_conversion *c)
{
    const double all = plim_config_real(c, "rope_parameters.mscale_all_dim|rope_scaling.mscale_all_dim", 0);
    if (plim_config_truth(c, "norm_topk_prob", false))
        plim_write_flag(c, "expert_weights_norm", true);
    if (all != 0)
        plim_write_real(c, "rope.scaling.yarn_log_multiplier", 0.1 * all);
}

static void write_indexed(struct plim_conversion *c)
{
    static const struct {
        const char *name, *from;
    } keys[] = {
        { "attention.indexer.head_count", "index_n_heads" },
        { "attention.indexer.key_length", "index_head_dim" },
        { "attention.indexer.top_k", "index_topk" },
    };
    int64_t full[PLIM_MAX_LAYERS];
    const uint64_t n = plim_config_length(c, "indexer_types");
    write_latent(c);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        plim_write_count(c, keys[i].name, plim_config_number(c, keys[i].from, UINT32_MAX, 0));
    for (uint32_t il = 0; il < n && il < PLIM_MAX_LAYERS; il++) {
        const char *type = plim_config_string_at(c, "indexer_types", il);
        full[il] = type && !strcmp(type, "full");
    }
    if (n && n <= PLIM_MAX_LAYERS)
        plim_write_list(c, "attention.indexer.types", full, n);
}

/* --- rows --- */

static const struct plim_convert_row rows[] = {
    { .names = { "DeepseekV2ForCausalLM", "DeepseekV3ForCausalLM", "KimiVLForConditionalGeneration",
                 "KimiK25ForConditionalGeneration", "YoutuForCausalLM" },
      .types = { "deepseek_v2", "deepseek_v3", "kimi_k2", "kimi_k25", "kimi_vl" },
      .arch = "deepseek2",
      .source = "conversion/deepseek.py: DeepseekV2Model",
      .whole = { plim_rules_outer },
      .layer = { LATENT_GROUPS },
      .read = read_latent,
      .each = plim_each_dense_lead,
      .write = write_latent,
      .keys = latent_keys,
      .is_proven = true },
    { .names = { "Glm4MoeLiteForCausalLM" },
      .types = { "glm4_moe_lite" },
      .arch = "deepseek2",
      .source = "conversion/glm.py: Glm4MoeLiteModel",
      .whole = { plim_rules_outer },
      .layer = { LATENT_GROUPS },
      .read = read_predicting,
      .each = plim_each_dense_lead,
      .write = write_latent,
      .keys = latent_keys,
      .facts = HAS_OWN_EMBD,
      .is_proven = true },
    { .names = { "DeepseekV32ForCausalLM" },
      .types = { "deepseek_v32" },
      .arch = "deepseek32",
      .source = "conversion/deepseek.py: DeepseekV32Model",
      .whole = { plim_rules_outer },
      .layer = { LATENT_GROUPS },
      .read = read_indexed,
      .each = each_indexed,
      .write = write_indexed,
      .keys = latent_keys,
      .facts = HAS_OWN_EMBD,
      .is_proven = true },
    { .names = { "GlmMoeDsaForCausalLM" },
      .types = { "glm_moe_dsa" },
      .arch = "glm-dsa",
      .source = "conversion/glm.py: GlmMoeDsaModel",
      .whole = { plim_rules_outer },
      .layer = { LATENT_GROUPS },
      .read = read_indexed,
      .each = each_indexed,
      .write = write_indexed,
      .keys = latent_keys,
      .facts = HAS_OWN_EMBD,
      .is_proven = true },
    { .names = { "MiniCPM3ForCausalLM" },
      .types = { "minicpm3" },
      .arch = "minicpm3",
      .source = "conversion/minicpm.py: MiniCPM3Model",
      .whole = { plim_rules_outer },
      .layer = { plim_rules_norms, latent_attention, plim_rules_ffn },
      .read = read_minicpm3,
      .keys = minicpm3_keys,
      .is_tied = true,
      .is_bare = true,
      .is_proven = true },
};

const struct plim_convert_family plim_family_mla = FAMILY(rows);
