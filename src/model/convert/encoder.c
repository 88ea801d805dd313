/* SPDX-License-Identifier: MIT */
/* Models that encode a text at once: BERT and its kin, and T5. */
#include "model/convert/groups.h"
#include "model/convert/sizes.h"

#include "base/limits.h"

#include <string.h>

enum { MAX_WIDTH = 1 << 24, MAX_HEADS = 1 << 12 };

/* --- BERT --- */

static const struct plim_convert_rule bert_outer[] = {
    MATRIX("token_embd", N_EMBD, N_VOCAB, ALWAYS),  MATRIX("position_embd", N_EMBD, N_POSITIONS, ALWAYS),
    MATRIX("token_types", N_EMBD, N_TYPES, ALWAYS), NORM("token_embd_norm", N_EMBD, ALWAYS),
    BIAS("token_embd_norm", N_EMBD, ALWAYS),        END_OF_GROUP,
};

static const struct plim_convert_rule bert_norms[] = {
    NORM("attn_output_norm", N_EMBD, ALWAYS),
    BIAS("attn_output_norm", N_EMBD, ALWAYS),
    NORM("layer_output_norm", N_EMBD, ALWAYS),
    BIAS("layer_output_norm", N_EMBD, ALWAYS),
    END_OF_GROUP,
};

static void read_bert(struct plim_conversion *c)
{
    c->n[N_POSITIONS] = plim_config_need(c, "max_position_embeddings", MAX_WIDTH);
    c->n[N_TYPES] = plim_config_number(c, "type_vocab_size", MAX_WIDTH, 2);
    c->n[N_CTX] = c->n[N_POSITIONS];
}

/* The first rows of RoBERTa's table belong to padding and are cut off (XLMRobertaModel). */
static void read_roberta(struct plim_conversion *c)
{
    const uint64_t offset = 1 + plim_config_number(c, "pad_token_id", MAX_WIDTH, 1); /* XLMRobertaConfig */
    read_bert(c);
    c->n[N_TYPES] = plim_config_number(c, "type_vocab_size", MAX_WIDTH, 1);
    if (c->n[N_POSITIONS] > offset)
        c->n[N_POSITIONS] = c->n[N_CTX] = c->n[N_POSITIONS] - offset;
}

static void write_bert(struct plim_conversion *c)
{
    plim_write_count(c, "context_length", c->n[N_CTX]);
    plim_write_flag(c, "attention.causal", false);
}

/* --- T5 --- */

static const struct plim_convert_rule t5_outer[] = {
    MATRIX("token_embd", N_EMBD, N_VOCAB, ALWAYS),
    NORM("enc.output_norm", N_EMBD, ALWAYS),
    NORM("dec.output_norm", N_EMBD, ALWAYS),
    MATRIX("output", N_EMBD, N_VOCAB, UNLESS(TIED)),
    END_OF_GROUP,
};

/* The first layer of each side holds the position bias of all; in UMT5 (LATENT) each layer has its own. */
static const struct plim_convert_rule t5_attention[] = {
    NORM("attn_norm", N_EMBD, ALWAYS),
    MATRIX("attn_q", N_EMBD, N_Q, ALWAYS),
    MATRIX("attn_k", N_EMBD, N_K, ALWAYS),
    MATRIX("attn_v", N_EMBD, N_V, ALWAYS),
    MATRIX("attn_o", N_O, N_EMBD, ALWAYS),
    { "attn_rel_b.weight", { N_HEAD, N_BUCKETS }, FIRST, LATENT, 0 },
    MATRIX("attn_rel_b", N_HEAD, N_BUCKETS, WHEN(LATENT)),
    END_OF_GROUP,
};

static const struct plim_convert_rule t5_cross_attention[] = {
    NORM("cross_attn_norm", N_EMBD, ALWAYS),     MATRIX("cross_attn_q", N_EMBD, N_Q, ALWAYS),
    MATRIX("cross_attn_k", N_EMBD, N_K, ALWAYS), MATRIX("cross_attn_v", N_EMBD, N_V, ALWAYS),
    MATRIX("cross_attn_o", N_O, N_EMBD, ALWAYS), END_OF_GROUP,
};

static const struct plim_convert_rule t5_ffn[] = {
    NORM("ffn_norm", N_EMBD, ALWAYS),
    MATRIX("ffn_gate", N_EMBD, N_FF, WHEN(HAS_GATE)),
    MATRIX("ffn_up", N_EMBD, N_FF, ALWAYS),
    MATRIX("ffn_down", N_FF, N_EMBD, ALWAYS),
    END_OF_GROUP,
};

static const struct plim_convert_key t5_keys[] = {
    { "context_length", KEY_COUNT, 0, "n_positions", 512 },
    { "embedding_length", KEY_SIZE, N_EMBD, NULL, 0 },
    { "feed_forward_length", KEY_SIZE, N_FF, NULL, 0 },
    { "block_count", KEY_SIZE, N_LAYER_ALL, NULL, 0 },
    { "decoder_block_count", KEY_SIZE, N_SECOND, NULL, 0 },
    { "attention.head_count", KEY_SIZE, N_HEAD, NULL, 0 },
    { "attention.key_length", KEY_SIZE, N_HEAD_K, NULL, 0 },
    { "attention.value_length", KEY_SIZE, N_HEAD_K, NULL, 0 },
    { "attention.layer_norm_epsilon", KEY_REAL, 0, "layer_norm_epsilon", 1e-6 },
    { "attention.relative_buckets_count", KEY_SIZE, N_BUCKETS, NULL, 0 },
    { "attention.layer_norm_rms_epsilon", KEY_REAL, 0, "layer_norm_epsilon", 1e-6 },
    { "decoder_start_token_id", KEY_COUNT, 0, "decoder_start_token_id", 0 },
    END_OF_KEYS,
};

/* "gated-gelu" of T5 1.1 and mT5; the first T5 has no gate (T5Config: feed_forward_proj). */
static void read_t5(struct plim_conversion *c)
{
    const char *projection = plim_config_string(c, "feed_forward_proj");
    const char *architecture = plim_model_string(c->config, "architectures.0");
    const bool is_umt5 = architecture && !strncmp(architecture, "UMT5", 4);
    const bool is_mt5 = architecture && !strncmp(architecture, "MT5", 3);
    c->n[N_SECOND] = plim_config_number(c, "num_decoder_layers", PLIM_MAX_LAYERS, c->n[N_LAYER]);
    c->n[N_BUCKETS] = plim_config_number(c, "relative_attention_num_buckets", MAX_HEADS, 32);
    c->n[N_HEAD_K] = c->n[N_HEAD_V] = plim_config_number(c, "d_kv", MAX_WIDTH, 64);
    c->n[N_HEAD_KV] = c->n[N_HEAD];
    if (projection ? !strncmp(projection, "gated-", 6) : is_mt5 || is_umt5)
        c->facts |= HAS_GATE;
    c->facts |= is_umt5 ? LATENT : 0;
    if (!projection && !is_mt5 && !is_umt5)
        plim_conversion_doubt(c, "the config does not say whether the feed-forward part has a gate",
                              "enc.blk.0.ffn_gate.weight");
    if (is_mt5 && !plim_config_has(c, "tie_word_embeddings")) /* MT5Config differs from T5Config */
        c->facts &= ~(uint32_t)TIED;
}

/* --- rows --- */

static const struct plim_convert_row rows[] = {
    { .names = { "BertModel", "BertForMaskedLM", "CamembertModel" },
      .types = { "bert" },
      .arch = "bert",
      .source = "conversion/bert.py: BertModel",
      .whole = { bert_outer },
      .layer = { bert_norms, plim_rules_attention, plim_rules_ffn_plain },
      .read = read_bert,
      .write = write_bert,
      .facts = TIED | QKV_BIAS | OUT_BIAS | MLP_BIAS,
      .is_proven = true },
    { .names = { "XLMRobertaModel", "RobertaModel" },
      .types = { "xlm-roberta", "roberta" },
      .arch = "bert",
      .source = "conversion/bert.py: XLMRobertaModel",
      .whole = { bert_outer },
      .layer = { bert_norms, plim_rules_attention, plim_rules_ffn_plain },
      .read = read_roberta,
      .write = write_bert,
      .facts = TIED | QKV_BIAS | OUT_BIAS | MLP_BIAS,
      .is_proven = true },
    { .names = { "T5ForConditionalGeneration", "MT5ForConditionalGeneration", "T5WithLMHeadModel",
                 "UMT5ForConditionalGeneration" },
      .types = { "t5", "mt5", "umt5" },
      .arch = "t5",
      .source = "conversion/t5.py: T5Model",
      .whole = { t5_outer },
      .prefix = "enc.blk",
      .layer = { t5_attention, t5_ffn },
      .second = "dec.blk",
      .second_layer = { t5_attention, t5_cross_attention, t5_ffn },
      .read = read_t5,
      .keys = t5_keys,
      .is_tied = true,
      .is_bare = true,
      .is_proven = true },
};

const struct plim_convert_family plim_family_encoder = FAMILY(rows);
