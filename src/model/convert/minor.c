/* SPDX-License-Identifier: MIT */
/* Architectures that the catalogue has few or no models of. */
#include "model/convert/groups.h"
#include "model/convert/sizes.h"

#include "base/limits.h"

enum { MAX_WIDTH = 1 << 24, MAX_EXPERTS = 1 << 12 };

static void set(struct plim_conversion *c, uint32_t fact, bool holds)
{
    c->facts = holds ? c->facts | fact : c->facts & ~fact;
}

/* --- keys --- */

static const struct plim_convert_key olmoe_keys[] = {
    { "attention.layer_norm_rms_epsilon", KEY_REAL, 0, NULL, 1e-5 },
    END_OF_KEYS,
};

static const struct plim_convert_key nemotron_keys[] = {
    { "vocab_size", KEY_SIZE, N_VOCAB, NULL, 0 },
    { "attention.layer_norm_epsilon", KEY_REAL, 0, "layer_norm_eps|layer_norm_epsilon|norm_epsilon|norm_eps", 1e-5 },
    { "rope.dimension_count", KEY_SIZE, N_ROT, NULL, 0 },
    { "rope.scaling.type", KEY_TEXT, 0, "none", 0 },
    END_OF_KEYS,
};

static const struct plim_convert_key cohere2_keys[] = {
    { "logit_scale", KEY_REAL, 0, "logit_scale", 0.0625 }, /* Cohere2Config */
    { "attention.sliding_window", KEY_COUNT, 0, "sliding_window", 4096 },
    { "vocab_size", KEY_SIZE, N_VOCAB, NULL, 0 },
    { "rope.scaling.type", KEY_TEXT, 0, "none", 0 },
    { "rope.dimension_count", KEY_SIZE, N_ROT, NULL, 0 },
    END_OF_KEYS,
};

static const struct plim_convert_key glm_keys[] = {
    { "context_length", KEY_COUNT, 0, "seq_length", ABSENT },
    { "embedding_length", KEY_SIZE, N_EMBD, NULL, 0 },
    { "feed_forward_length", KEY_SIZE, N_FF, NULL, 0 },
    { "block_count", KEY_SIZE, N_LAYER_ALL, NULL, 0 },
    { "attention.head_count", KEY_SIZE, N_HEAD, NULL, 0 },
    { "attention.head_count_kv", KEY_SIZE, N_HEAD_KV, NULL, 0 },
    { "attention.layer_norm_rms_epsilon", KEY_REAL, 0, "layernorm_epsilon", 1e-5 },
    { "rope.dimension_count", KEY_SIZE, N_ROT, NULL, 0 },
    { "rope.freq_base", KEY_REAL, 0, NULL, 10000 },
    END_OF_KEYS,
};

static const struct plim_convert_key ernie_moe_keys[] = {
    { "expert_count", KEY_SIZE, N_EXPERT, NULL, 0 },
    { "expert_used_count", KEY_COUNT, 0, "moe_k", 6 }, /* Ernie4_5_MoeConfig */
    { "interleave_moe_layer_step", KEY_COUNT, 0, "moe_layer_interval", 1 },
    { "leading_dense_block_count", KEY_SIZE, N_DENSE_LEAD, NULL, 0 },
    { "expert_feed_forward_length", KEY_SIZE, N_FF_EXP, NULL, 0 },
    { "expert_shared_count", KEY_SIZE, N_SHARED, NULL, 0 },
    { "expert_shared_feed_forward_length", KEY_SIZE, N_FF_SHARED, NULL, 0 },
    END_OF_KEYS,
};

static const struct plim_convert_key dots1_keys[] = {
    { "expert_feed_forward_length", KEY_SIZE, N_FF_EXP, NULL, 0 },
    { "leading_dense_block_count", KEY_SIZE, N_DENSE_LEAD, NULL, 0 },
    { "expert_shared_count", KEY_SIZE, N_SHARED, NULL, 0 },
    { "expert_weights_scale", KEY_REAL, 0, "routed_scaling_factor", 1 },
    { "expert_weights_norm", KEY_FLAG, 0, "norm_topk_prob", 0 },
    END_OF_KEYS,
};

static const struct plim_convert_key starcoder_keys[] = {
    { "context_length", KEY_SIZE, N_POSITIONS, NULL, 0 },
    { "embedding_length", KEY_SIZE, N_EMBD, NULL, 0 },
    { "feed_forward_length", KEY_SIZE, N_FF, NULL, 0 },
    { "block_count", KEY_SIZE, N_LAYER_ALL, NULL, 0 },
    { "attention.head_count", KEY_SIZE, N_HEAD, NULL, 0 },
    { "attention.head_count_kv", KEY_SIZE, N_1, NULL, 0 },
    { "attention.layer_norm_epsilon", KEY_REAL, 0, "layer_norm_epsilon", 1e-5 },
    END_OF_KEYS,
};

static const struct plim_convert_key mpt_keys[] = {
    { "context_length", KEY_COUNT, 0, "max_seq_len", 2048 }, /* MptConfig */
    { "embedding_length", KEY_SIZE, N_EMBD, NULL, 0 },           { "block_count", KEY_SIZE, N_LAYER_ALL, NULL, 0 },
    { "feed_forward_length", KEY_SIZE, N_FF, NULL, 0 },          { "attention.head_count", KEY_SIZE, N_HEAD, NULL, 0 },
    { "attention.layer_norm_epsilon", KEY_REAL, 0, NULL, 1e-5 }, END_OF_KEYS,
};

/* --- groups --- */

static const struct plim_convert_rule position_table[] = {
    MATRIX("position_embd", N_EMBD, N_POSITIONS, ALWAYS),
    END_OF_GROUP,
};

/* ERNIE's correction of the scores has a second dimension. */
static const struct plim_convert_rule ernie_score_bias[] = {
    { "exp_probs_b.bias", { N_EXPERT, N_1 }, EXPERTS, 0, 0 },
    END_OF_GROUP,
};

/* MiniMax M3: a small attention chooses blocks of tokens; its matrices stay in f32 (MiniMaxM3Model). */
static const struct plim_convert_rule block_indexer[] = {
    MATRIX("indexer.q_proj", N_EMBD, N_INDEX_Q, INDEXED, 0, PLIM_DTYPE_F32),
    MATRIX("indexer.k_proj", N_EMBD, N_INDEX_HEAD, INDEXED, 0, PLIM_DTYPE_F32),
    NORM("indexer.q_norm", N_INDEX_HEAD, WHEN(INDEXED)),
    NORM("indexer.k_norm", N_INDEX_HEAD, WHEN(INDEXED)),
    END_OF_GROUP,
};

static const struct plim_convert_key minimax_m3_keys[] = {
    { "feed_forward_length", KEY_SIZE, N_FF, NULL, 0 },
    { "expert_feed_forward_length", KEY_SIZE, N_FF_EXP, NULL, 0 },
    { "rope.dimension_count", KEY_COUNT, 0, "rotary_dim", 64 },
    { "expert_shared_count", KEY_SIZE, N_SHARED, NULL, 0 },
    { "expert_weights_scale", KEY_REAL, 0, "routed_scaling_factor", 1 },
    { "expert_weights_norm", KEY_FLAG, 0, NULL, 1 },
    { "attention.indexer.head_count", KEY_SIZE, N_INDEX_HEADS, NULL, 0 },
    { "attention.indexer.key_length", KEY_SIZE, N_INDEX_HEAD, NULL, 0 },
    { "attention.indexer.top_k", KEY_COUNT, 0, "sparse_attention_config.sparse_topk_blocks", 16 },
    { "attention.indexer.block_size", KEY_COUNT, 0, "sparse_attention_config.sparse_block_size", 128 },
    { "attention.indexer.local_blocks", KEY_COUNT, 0, "sparse_attention_config.sparse_local_block", 1 },
    { "leading_dense_block_count", KEY_SIZE, N_DENSE_LEAD, NULL, 0 },
    END_OF_KEYS,
};

/* --- hooks --- */

static void read_minimax_m3(struct plim_conversion *c)
{
    uint64_t *n = c->n;
    n[N_FF_EXP] = n[N_FF];
    n[N_FF] = plim_config_number(c, "dense_intermediate_size", MAX_WIDTH, n[N_FF]);
    n[N_FF_SHARED] = plim_config_number(c, "shared_intermediate_size", MAX_WIDTH, n[N_SHARED] * n[N_FF_EXP]);
    n[N_INDEX_HEADS] = plim_config_need(c, "sparse_attention_config.sparse_num_index_heads", MAX_EXPERTS);
    n[N_INDEX_HEAD] = plim_config_need(c, "sparse_attention_config.sparse_index_dim", MAX_EXPERTS);
    n[N_INDEX_Q] = n[N_INDEX_HEADS] * n[N_INDEX_HEAD];
    n[N_DENSE_LEAD] = 0;
    while (n[N_DENSE_LEAD] < n[N_LAYER] &&
           plim_config_number_at(c, "moe_layer_freq", (uint32_t)n[N_DENSE_LEAD], 1) == 0)
        n[N_DENSE_LEAD]++;
    if (!n[N_EXPERT])
        plim_conversion_fail(c, "num_local_experts", "is missing");
}

static void each_minimax_m3(struct plim_conversion *c, uint32_t il)
{
    set(c, EXPERTS, plim_config_number_at(c, "moe_layer_freq", il, 1) != 0);
    set(c, INDEXED, plim_config_number_at(c, "sparse_attention_config.sparse_attention_freq", il, 1) != 0);
}

static void read_bias_key(struct plim_conversion *c)
{
    set(c, QKV_BIAS | OUT_BIAS | MLP_BIAS, plim_config_truth(c, "use_bias", false));
}

static void read_ernie_moe(struct plim_conversion *c)
{
    uint64_t *n = c->n;
    n[N_EXPERT] = plim_config_need(c, "moe_num_experts", MAX_EXPERTS);
    n[N_SHARED] = plim_config_number(c, "moe_num_shared_experts", MAX_EXPERTS, 2);
    n[N_FF_SHARED] = n[N_SHARED] * n[N_FF_EXP];
    n[N_DENSE_LEAD] = plim_config_number(c, "moe_layer_start_index", PLIM_MAX_LAYERS, 1);
    read_bias_key(c);
    set(c, EXPERTS, true);
    set(c, SHARED, n[N_FF_SHARED] > 0);
}

static void each_ernie_moe(struct plim_conversion *c, uint32_t il)
{
    const uint64_t interval = plim_config_number(c, "moe_layer_interval", PLIM_MAX_LAYERS, 1);
    plim_each_dense_lead(c, il);
    if (interval && (il + 1) % interval)
        set(c, EXPERTS, false);
}

static void read_glm(struct plim_conversion *c)
{
    const double part = plim_config_real(c, "rope_parameters.partial_rotary_factor|partial_rotary_factor", 0.5);
    set(c, QKV_BIAS, plim_config_truth(c, "attention_bias", true)); /* GlmConfig */
    set(c, OUT_BIAS, false);
    c->n[N_CTX] = c->n[N_EMBD]; /* "seq_length", else the width */
    c->n[N_ROT] = part > 0 && part <= 1 ? (uint64_t)(part * (double)c->n[N_SHARE]) : c->n[N_SHARE];
}

static void write_glm(struct plim_conversion *c)
{
    if (!plim_config_has(c, "seq_length"))
        plim_write_count(c, "context_length", c->n[N_CTX]);
}

static void read_starcoder(struct plim_conversion *c)
{
    c->n[N_FF] = 4 * c->n[N_EMBD];
    c->n[N_POSITIONS] = plim_config_number(c, "n_positions", MAX_WIDTH, 1024); /* GPTBigCodeConfig */
    c->n[N_HEAD_KV] = plim_config_truth(c, "multi_query", true) ? 1 : c->n[N_HEAD];
}

static void read_mpt(struct plim_conversion *c)
{
    c->n[N_FF] = 4 * c->n[N_EMBD];
    c->n[N_HEAD_KV] = c->n[N_HEAD];
    if (!plim_config_truth(c, "no_bias", true) || plim_config_truth(c, "attn_config.qk_ln", false))
        plim_conversion_doubt(c, "biases and norms of Q and K of MPT have no rules here", NULL);
}

static void write_mpt(struct plim_conversion *c)
{
    const bool has_alibi = plim_config_truth(c, "attn_config.alibi", true);
    if (plim_config_has(c, "attn_config.clip_qkv"))
        plim_write_real(c, "attention.clamp_kqv", plim_config_real(c, "attn_config.clip_qkv", 0));
    plim_write_real(c, "attention.max_alibi_bias",
                    has_alibi ? plim_config_real(c, "attn_config.alibi_bias_max", 8) : 0);
}

/* --- rows --- */

static const struct plim_convert_row rows[] = {
    { .names = { "OlmoeForCausalLM" },
      .types = { "olmoe" },
      .arch = "olmoe",
      .source = "conversion/olmo.py: OlmoeModel",
      .whole = { plim_rules_outer },
      .layer = { plim_rules_norms, plim_rules_attention, plim_rules_qk_norm_flat, plim_rules_experts },
      .keys = olmoe_keys,
      .bias_keys = QKV_BIAS,
      .is_proven = true },
    { .names = { "NemotronForCausalLM" },
      .types = { "nemotron" },
      .arch = "nemotron",
      .source = "conversion/nemotron.py: NemotronModel",
      .whole = { plim_rules_outer, plim_rules_outer_bias },
      .layer = { plim_rules_norms, plim_rules_norm_biases, plim_rules_attention, plim_rules_ffn_plain },
      .keys = nemotron_keys,
      .bias_keys = QKV_BIAS,
      .is_proven = true },
    { .names = { "Cohere2ForCausalLM" },
      .types = { "cohere2" },
      .arch = "cohere2",
      .source = "conversion/command_r.py: Cohere2Model",
      .whole = { plim_rules_outer },
      .layer = { plim_rules_attn_norm, plim_rules_attention, plim_rules_ffn },
      .keys = cohere2_keys,
      .facts = TIED,
      .is_proven = true },
    { .names = { "GlmForCausalLM" },
      .types = { "glm" },
      .arch = "chatglm",
      .source = "conversion/chatglm.py: ChatGLMModel",
      .whole = { plim_rules_outer },
      .layer = { plim_rules_norms, plim_rules_attention, plim_rules_ffn_fused },
      .read = read_glm,
      .write = write_glm,
      .keys = glm_keys,
      .head = 128,
      .is_bare = true,
      .is_proven = true },
    { .names = { "Ernie4_5ForCausalLM", "Ernie4_5_ForCausalLM" },
      .types = { "ernie4_5" },
      .arch = "ernie4_5",
      .source = "conversion/ernie.py: Ernie4_5Model",
      .whole = { plim_rules_outer },
      .layer = { plim_rules_norms, plim_rules_attention, plim_rules_ffn },
      .read = read_bias_key,
      .head = 128,
      .is_tied = true,
      .is_proven = true },
    { .names = { "Ernie4_5_MoeForCausalLM" },
      .types = { "ernie4_5_moe" },
      .arch = "ernie4_5-moe",
      .source = "conversion/ernie.py: Ernie4_5MoeModel",
      .whole = { plim_rules_outer },
      .layer = { plim_rules_norms, plim_rules_attention, plim_rules_ffn, plim_rules_experts, ernie_score_bias,
                 plim_rules_shared_expert },
      .read = read_ernie_moe,
      .each = each_ernie_moe,
      .keys = ernie_moe_keys,
      .is_tied = true,
      .is_proven = true },
    { .names = { "Dots1ForCausalLM" },
      .types = { "dots1" },
      .arch = "dots1",
      .source = "conversion/dots1.py: Dots1Model",
      .whole = { plim_rules_outer },
      .layer = { plim_rules_norms, plim_rules_attention, plim_rules_qk_norm, plim_rules_ffn, plim_rules_experts,
                 plim_rules_score_bias, plim_rules_shared_expert },
      .each = plim_each_dense_lead,
      .keys = dots1_keys,
      .facts = SCORE_BIAS,
      .bias_keys = QKV_BIAS,
      .is_proven = true },
    { .names = { "ArceeForCausalLM" },
      .types = { "arcee" },
      .arch = "arcee",
      .source = "conversion/llama.py: ArceeModel",
      .whole = { plim_rules_outer },
      .layer = { plim_rules_norms, plim_rules_attention, plim_rules_ffn_plain },
      .keys = plim_keys_llama,
      .bias_keys = QKV_BIAS,
      .is_proven = true },
    { .names = { "GPTBigCodeForCausalLM" },
      .types = { "gpt_bigcode" },
      .arch = "starcoder",
      .source = "conversion/starcoder.py: StarCoderModel",
      .whole = { plim_rules_outer, plim_rules_outer_bias, position_table },
      .layer = { plim_rules_norms, plim_rules_norm_biases, plim_rules_fused_attention, plim_rules_ffn_plain },
      .read = read_starcoder,
      .keys = starcoder_keys,
      .facts = TIED | QKV_BIAS | OUT_BIAS | MLP_BIAS,
      .is_bare = true,
      .is_proven = true },
    { .names = { "MPTForCausalLM", "MptForCausalLM" },
      .types = { "mpt" },
      .arch = "mpt",
      .source = "conversion/mpt.py: MPTModel",
      .whole = { plim_rules_outer },
      .layer = { plim_rules_norms, plim_rules_fused_attention, plim_rules_ffn_plain },
      .read = read_mpt,
      .write = write_mpt,
      .keys = mpt_keys,
      .facts = TIED,
      .has_no_file_type = true,
      .is_bare = true,
      .is_proven = true },
    { .names = { "MiniMaxM3SparseForCausalLM", "MiniMaxM3SparseForConditionalGeneration", "MiniMaxM3ForCausalLM" },
      .types = { "minimax_m3" },
      .arch = "minimax-m3",
      .source = "conversion/minimax.py: MiniMaxM3Model",
      .whole = { plim_rules_outer },
      .layer = { plim_rules_norms, plim_rules_attention, plim_rules_qk_norm, block_indexer, plim_rules_ffn,
                 plim_rules_experts, plim_rules_score_bias, plim_rules_shared_expert },
      .read = read_minimax_m3,
      .each = each_minimax_m3,
      .keys = minimax_m3_keys,
      .facts = SCORE_BIAS,
      .head = 128 },
    { .names = { "HunYuanDenseV1ForCausalLM" },
      .types = { "hunyuan_v1_dense" },
      .arch = "hunyuan-dense",
      .source = "conversion/hunyuan.py: HunYuanModel",
      .whole = { plim_rules_outer },
      .layer = { plim_rules_norms, plim_rules_attention, plim_rules_qk_norm, plim_rules_ffn },
      .bias_keys = QKV_BIAS,
      .is_proven = true },
};

const struct plim_convert_family plim_family_minor = FAMILY(rows);
