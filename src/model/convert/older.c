/* SPDX-License-Identifier: MIT */
/* Dense decoders of 2019 to 2023: layer norms with biases, fused projections, positions without rotation. */
#include "model/convert/groups.h"
#include "model/convert/sizes.h"

/* --- keys --- */

/* What these converters write instead of the keys of every text model. */
#define SIZE_KEYS                                                                                                      \
    { "block_count", KEY_SIZE, N_LAYER_ALL, NULL, 0 }, { "embedding_length", KEY_SIZE, N_EMBD, NULL, 0 },              \
        { "feed_forward_length", KEY_SIZE, N_FF, NULL, 0 },                                                            \
    {                                                                                                                  \
        "attention.head_count", KEY_SIZE, N_HEAD, NULL, 0                                                              \
    }
#define KV_KEY                                                                                                         \
    {                                                                                                                  \
        "attention.head_count_kv", KEY_SIZE, N_HEAD_KV, NULL, 0                                                        \
    }
#define EPSILON_KEY                                                                                                    \
    {                                                                                                                  \
        "attention.layer_norm_epsilon", KEY_REAL, 0, "layer_norm_epsilon|layer_norm_eps", 1e-5                         \
    }
#define CONTEXT(names, otherwise)                                                                                      \
    {                                                                                                                  \
        "context_length", KEY_COUNT, 0, names, otherwise                                                               \
    }

static const struct plim_convert_key gpt2_keys[] = {
    SIZE_KEYS,
    { "context_length", KEY_SIZE, N_POSITIONS, NULL, 0 },
    EPSILON_KEY,
    END_OF_KEYS,
};

static const struct plim_convert_key gptneox_keys[] = {
    SIZE_KEYS,
    CONTEXT("max_position_embeddings", 2048), /* GPTNeoXConfig */
    EPSILON_KEY,
    { "rope.dimension_count", KEY_SIZE, N_ROT, NULL, 0 },
    { "use_parallel_residual", KEY_FLAG, 0, "use_parallel_residual", 1 },
    END_OF_KEYS,
};

static const struct plim_convert_key bloom_keys[] = {
    SIZE_KEYS, KV_KEY, EPSILON_KEY, { "context_length", KEY_SIZE, N_CTX, NULL, 0 }, END_OF_KEYS,
};

static const struct plim_convert_key falcon_keys[] = {
    SIZE_KEYS,
    KV_KEY,
    EPSILON_KEY,
    { "context_length", KEY_COUNT, 0, "", 2048 }, /* "not in config.json" */
    { "tensor_data_layout", KEY_TEXT, 0, "jploski", 0 },
    END_OF_KEYS,
};

static const struct plim_convert_key chatglm_keys[] = {
    SIZE_KEYS,
    KV_KEY,
    { "context_length", KEY_SIZE, N_CTX, NULL, 0 },
    { "attention.layer_norm_rms_epsilon", KEY_REAL, 0, "layernorm_epsilon", 1e-5 },
    { "rope.dimension_count", KEY_SIZE, N_ROT, NULL, 0 },
    END_OF_KEYS,
};

static const struct plim_convert_key orion_keys[] = {
    SIZE_KEYS,
    KV_KEY,
    CONTEXT("max_sequence_length|max_position_embeddings|model_max_length", ABSENT),
    { "attention.layer_norm_epsilon", KEY_REAL, 0, "rms_norm_eps", 1e-5 },
    { "tensor_data_layout", KEY_TEXT, 0, "Meta AI original pth", 0 },
    END_OF_KEYS,
};

static const struct plim_convert_key meta_keys[] = {
    { "tensor_data_layout", KEY_TEXT, 0, "Meta AI original pth", 0 },
    { "rope.dimension_count", KEY_SIZE, N_HEAD_K, NULL, 0 },
    END_OF_KEYS,
};

/* --- groups --- */

static const struct plim_convert_rule position_table[] = {
    MATRIX("position_embd", N_EMBD, N_POSITIONS, ALWAYS),
    END_OF_GROUP,
};

static const struct plim_convert_rule embedding_norm[] = {
    NORM("token_embd_norm", N_EMBD, ALWAYS),
    BIAS("token_embd_norm", N_EMBD, ALWAYS),
    END_OF_GROUP,
};

/* Falcon 40B and 180B have a norm for each of the two parallel parts. */
static const struct plim_convert_rule falcon_norms[] = {
    NORM("attn_norm", N_EMBD, ALWAYS),
    BIAS("attn_norm", N_EMBD, ALWAYS),
    NORM("attn_norm_2", N_EMBD, WHEN(POST_NORM)),
    BIAS("attn_norm_2", N_EMBD, WHEN(POST_NORM)),
    END_OF_GROUP,
};

/* --- hooks --- */

static void all_heads_have_kv(struct plim_conversion *c)
{
    c->n[N_HEAD_KV] = c->n[N_HEAD];
    if (c->n[N_FF] == 0)
        c->n[N_FF] = 4 * c->n[N_EMBD];
}

static void read_gpt2(struct plim_conversion *c)
{
    enum { MAX_POSITIONS = 1 << 24, GPT2_POSITIONS = 1024 }; /* GPT2Config */
    c->n[N_FF] = 4 * c->n[N_EMBD];
    c->n[N_HEAD_KV] = c->n[N_HEAD];
    c->n[N_POSITIONS] = plim_config_number(c, "n_ctx|n_positions", MAX_POSITIONS, GPT2_POSITIONS);
    if (!plim_config_has(c, "n_ctx|n_positions"))
        plim_conversion_doubt(c, "the config does not say how many positions the model has; 1024 is GPT-2's default",
                              NULL);
}

static void read_gptneox(struct plim_conversion *c)
{
    const double rotated = plim_config_real(c, "rotary_pct|rope_parameters.partial_rotary_factor", 0.25);
    all_heads_have_kv(c);
    if (rotated > 0 && rotated <= 1)
        c->n[N_ROT] = (uint64_t)(rotated * (double)c->n[N_HEAD_K]);
}

static void read_bloom(struct plim_conversion *c)
{
    enum { MAX_CONTEXT = 1 << 30 };
    c->n[N_FF] = 4 * c->n[N_EMBD];
    c->n[N_HEAD_KV] = c->n[N_HEAD];
    c->n[N_CTX] = plim_config_number(c, "seq_length", MAX_CONTEXT, c->n[N_EMBD]);
}

/* The decoder of the larger sizes is "new"; where a config does not say, more than one head of K tells it. */
static void read_falcon(struct plim_conversion *c)
{
    const bool has_heads = plim_config_has(c, "num_kv_heads|n_head_kv|num_key_value_heads");
    const bool is_new = plim_config_truth(c, "new_decoder_architecture",
                                          has_heads && c->n[N_HEAD_KV] > 1 && c->n[N_HEAD_KV] < c->n[N_HEAD]);
    if (!has_heads)
        c->n[N_HEAD_KV] = 1;
    c->n[N_FF] = 4 * c->n[N_EMBD];
    if (is_new && plim_config_number(c, "num_ln_in_parallel_attn", 2, 2) == 2)
        c->facts |= POST_NORM;
    if (!is_new && (plim_config_truth(c, "bias", false) || plim_config_truth(c, "alibi", false) ||
                    !plim_config_truth(c, "parallel_attn", true)))
        plim_conversion_fail(c, "parallel_attn", "is of a Falcon that llama.cpp does not know (RefinedWeb)");
    if (!is_new && !plim_config_has(c, "parallel_attn|new_decoder_architecture"))
        plim_conversion_doubt(c, "the config does not say which decoder of Falcon it is", NULL);
}

static void write_chatglm(struct plim_conversion *c)
{
    plim_write_real(c, "rope.freq_base", 10000 * plim_config_real(c, "rope_ratio", 1));
}

static void read_chatglm(struct plim_conversion *c)
{
    enum { MAX_VOCAB = 1 << 25, MAX_CONTEXT = 1 << 30 };
    c->n[N_VOCAB] = plim_config_number(c, "padded_vocab_size|vocab_size", MAX_VOCAB, c->n[N_VOCAB]);
    c->n[N_CTX] = plim_config_number(c, "seq_length|max_position_embeddings", MAX_CONTEXT, c->n[N_EMBD]);
    c->n[N_ROT] = c->n[N_HEAD_K] / 2;
    if (plim_config_truth(c, "add_qkv_bias|attention_bias", true))
        c->facts |= QKV_BIAS;
}

/* The feed-forward part is half as wide as its key says, twice. */
static void read_qwen(struct plim_conversion *c)
{
    c->n[N_HEAD_KV] = c->n[N_HEAD];
    c->n[N_FF] /= 2;
    if (!plim_config_truth(c, "no_bias", true))
        c->facts |= OUT_BIAS;
}

/* --- rows --- */

static const struct plim_convert_row rows[] = {
    { .names = { "BaichuanForCausalLM", "BaiChuanForCausalLM" },
      .types = { "baichuan" },
      .arch = "baichuan",
      .source = "conversion/baichuan.py: BaichuanModel",
      .whole = { plim_rules_outer },
      .layer = { plim_rules_norms, plim_rules_attention, plim_rules_ffn },
      .read = all_heads_have_kv,
      .keys = meta_keys,
      .never_tied = true },
    { .names = { "XverseForCausalLM" },
      .types = { "xverse" },
      .arch = "xverse",
      .source = "conversion/xverse.py: XverseModel",
      .whole = { plim_rules_outer },
      .layer = { plim_rules_norms, plim_rules_attention, plim_rules_ffn },
      .keys = meta_keys,
      .is_proven = true },
    { .names = { "OrionForCausalLM" },
      .types = { "orion" },
      .arch = "orion",
      .source = "conversion/orion.py: OrionModel",
      .whole = { plim_rules_outer, plim_rules_outer_bias },
      .layer = { plim_rules_norms, plim_rules_norm_biases, plim_rules_attention, plim_rules_ffn },
      .keys = orion_keys,
      .is_bare = true,
      .is_proven = true },
    { .names = { "GPT2LMHeadModel" },
      .types = { "gpt2" },
      .arch = "gpt2",
      .source = "conversion/gpt2.py: GPT2Model",
      .whole = { plim_rules_outer, plim_rules_outer_bias, position_table },
      .layer = { plim_rules_norms, plim_rules_norm_biases, plim_rules_fused_attention, plim_rules_ffn_plain },
      .read = read_gpt2,
      .keys = gpt2_keys,
      .facts = TIED | QKV_BIAS | OUT_BIAS | MLP_BIAS,
      .is_bare = true,
      .is_proven = true },
    { .names = { "GPTNeoXForCausalLM" },
      .types = { "gpt_neox" },
      .arch = "gptneox",
      .source = "conversion/gptneox.py: GPTNeoXModel",
      .whole = { plim_rules_outer, plim_rules_outer_bias },
      .layer = { plim_rules_norms, plim_rules_norm_biases, plim_rules_fused_attention, plim_rules_ffn_plain },
      .read = read_gptneox,
      .keys = gptneox_keys,
      .has_no_file_type = true,
      .facts = QKV_BIAS | OUT_BIAS | MLP_BIAS,
      .never_tied = true,
      .is_bare = true,
      .is_proven = true },
    { .names = { "BloomForCausalLM", "BloomModel" },
      .types = { "bloom" },
      .arch = "bloom",
      .source = "conversion/bloom.py: BloomModel",
      .whole = { plim_rules_outer, plim_rules_outer_bias, embedding_norm },
      .layer = { plim_rules_norms, plim_rules_norm_biases, plim_rules_fused_attention, plim_rules_ffn_plain },
      .read = read_bloom,
      .keys = bloom_keys,
      .facts = TIED | QKV_BIAS | OUT_BIAS | MLP_BIAS,
      .is_bare = true,
      .is_proven = true },
    { .names = { "FalconForCausalLM", "RWForCausalLM" },
      .types = { "falcon" },
      .arch = "falcon",
      .source = "conversion/falcon.py: FalconModel",
      .whole = { plim_rules_outer, plim_rules_outer_bias },
      .layer = { falcon_norms, plim_rules_fused_attention, plim_rules_ffn_plain },
      .read = read_falcon,
      .keys = falcon_keys,
      .is_tied = true,
      .is_bare = true,
      .is_proven = true },
    { .names = { "ChatGLMModel", "ChatGLMForConditionalGeneration" },
      .types = { "chatglm" },
      .arch = "chatglm",
      .source = "conversion/chatglm.py: ChatGLMModel",
      .whole = { plim_rules_outer },
      .layer = { plim_rules_norms, plim_rules_fused_attention, plim_rules_ffn_fused },
      .read = read_chatglm,
      .write = write_chatglm,
      .keys = chatglm_keys,
      .never_tied = true,
      .is_bare = true,
      .is_proven = true },
    { .names = { "QWenLMHeadModel" },
      .types = { "qwen" },
      .arch = "qwen",
      .source = "conversion/qwen.py: QwenModel",
      .whole = { plim_rules_outer },
      .layer = { plim_rules_norms, plim_rules_fused_attention, plim_rules_ffn },
      .read = read_qwen,
      .facts = QKV_BIAS,
      .never_tied = true },
};

const struct plim_convert_family plim_family_older = FAMILY(rows);
