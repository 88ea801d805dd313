/* SPDX-License-Identifier: MIT */
/*
 * The shapes that a loader expects: llama_model_base::load_tensors(), and the load_arch_tensors() of src/models of
 * llama.cpp v0.5.0, where they are alike. A tensor of another shape is refused there (create_tensor), a tensor of a
 * layer that the file does not count (done_getting_tensors), and a layer without the tensors it needs.
 *
 * Widths inside the feed-forward part decide no figure, as graphs take them from the tensors: for them several rules
 * of llama.cpp count as one.
 */
#include "engine/llamacpp/shapes.h"

#include "base/numbers.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { KEY_BYTES = 160 };

/* The numbers that dimensions are made of. */
enum quantity {
    EMBD,
    VOCAB,
    Q,
    K,
    V,
    QKV,
    ATTENDED, /* by all heads: the heads of V, as many as there are of Q */
    HEADS,
    FF,
    FF_UP, /* the same, or gate and up side by side */
    FF_EXPERT,
    EXPERTS,
    LORA_Q,
    LORA_KV,
    LORA_KV_ROT, /* the latent, and the rotated part that all heads share */
    CACHE,       /* what it is kept as */
    KV_B,        /* K without the rotated part, and V, of all heads */
    CONV_KERNEL,
    CONV_WIDTH,
    STATE,
    DT_RANK,
    X_WIDTH, /* the rank of a step, and the two inputs of the states */
    INNER,
    SHORT_KERNEL,
    WKV_HEAD,
    INDEXER_HEAD,
    INDEXER_HEADS,
    ROTATED,
};

/* Of each quantity the keys that it is made of. */
static const char *const keys[] = {
    [EMBD] = "embedding_length",
    [VOCAB] = "vocab_size",
    [Q] = "attention.head_count x size of a head",
    [K] = "attention.head_count_kv x size of a head",
    [V] = "attention.head_count_kv x size of a head",
    [QKV] = "attention.head_count and head_count_kv x size of a head",
    [ATTENDED] = "attention.head_count x size of a head",
    [HEADS] = "attention.head_count",
    [FF] = "feed_forward_length",
    [FF_UP] = "feed_forward_length",
    [FF_EXPERT] = "expert_feed_forward_length",
    [EXPERTS] = "expert_count",
    [LORA_Q] = "attention.q_lora_rank",
    [LORA_KV] = "attention.kv_lora_rank",
    [LORA_KV_ROT] = "attention.kv_lora_rank + rope.dimension_count",
    [CACHE] = "attention.head_count_kv x attention.key_length",
    [KV_B] = "attention.head_count_kv x (attention.key_length - rope.dimension_count + attention.value_length)",
    [CONV_KERNEL] = "ssm.conv_kernel",
    [CONV_WIDTH] = "ssm.inner_size + 2 x group_count x state_size",
    [STATE] = "ssm.state_size",
    [DT_RANK] = "ssm.time_step_rank",
    [X_WIDTH] = "ssm.time_step_rank + 2 x state_size",
    [INNER] = "ssm.inner_size",
    [SHORT_KERNEL] = "shortconv.l_cache",
    [WKV_HEAD] = "wkv.head_size",
    [INDEXER_HEAD] = "attention.indexer.key_length",
    [INDEXER_HEADS] = "attention.indexer.head_count",
    [ROTATED] = "rope.dimension_count / 2",
};

struct rule {
    uint8_t role, dim, quantity;
};

#define RULE(role, dim, quantity)                                                                                      \
    {                                                                                                                  \
        PLIM_TENSOR_ROLE_##role, dim, quantity                                                                         \
    }
static const struct rule rules[] = {
    RULE(ATTN_NORM, 0, EMBD),
    RULE(ATTN_Q, 0, EMBD),
    RULE(ATTN_Q, 1, Q),
    RULE(ATTN_K, 0, EMBD),
    RULE(ATTN_K, 1, K),
    RULE(ATTN_V, 0, EMBD),
    RULE(ATTN_V, 1, V),
    RULE(ATTN_QKV, 0, EMBD),
    RULE(ATTN_QKV, 1, QKV),
    RULE(ATTN_OUT, 0, ATTENDED),
    RULE(ATTN_OUT, 1, EMBD),
    RULE(ATTN_O, 0, ATTENDED),
    RULE(ATTN_O, 1, EMBD),
    RULE(ATTN_Q_A, 0, EMBD),
    RULE(ATTN_Q_A, 1, LORA_Q),
    RULE(ATTN_Q_B, 0, LORA_Q),
    RULE(ATTN_Q_B, 1, Q),
    RULE(ATTN_KV_A_MQA, 0, EMBD),
    RULE(ATTN_KV_A_MQA, 1, LORA_KV_ROT),
    RULE(ATTN_KV_A_MQA, 1, CACHE),
    RULE(ATTN_KV_A_NORM, 0, LORA_KV),
    RULE(ATTN_KV_B, 0, LORA_KV),
    RULE(ATTN_KV_B, 1, KV_B),
    RULE(ATTN_K_B, 1, LORA_KV),
    RULE(ATTN_K_B, 2, HEADS),
    RULE(ATTN_V_B, 0, LORA_KV),
    RULE(ATTN_V_B, 2, HEADS),
    RULE(FFN_NORM, 0, EMBD),
    RULE(FFN_GATE, 0, EMBD),
    RULE(FFN_GATE, 1, FF),
    RULE(FFN_UP, 0, EMBD),
    RULE(FFN_UP, 1, FF_UP),
    RULE(FFN_DOWN, 0, FF),
    RULE(FFN_DOWN, 1, EMBD),
    RULE(FFN_GATE_INP, 0, EMBD),
    RULE(FFN_GATE_INP, 1, EXPERTS),
    RULE(FFN_GATE_EXPS, 0, EMBD),
    RULE(FFN_GATE_EXPS, 1, FF_EXPERT),
    RULE(FFN_GATE_EXPS, 2, EXPERTS),
    RULE(FFN_UP_EXPS, 0, EMBD),
    RULE(FFN_UP_EXPS, 1, FF_EXPERT),
    RULE(FFN_UP_EXPS, 2, EXPERTS),
    RULE(FFN_DOWN_EXPS, 0, FF_EXPERT),
    RULE(FFN_DOWN_EXPS, 1, EMBD),
    RULE(FFN_DOWN_EXPS, 2, EXPERTS),
    RULE(FFN_GATE_UP_EXPS, 0, EMBD),
    RULE(FFN_GATE_UP_EXPS, 2, EXPERTS),
    RULE(SSM_IN, 0, EMBD),
    RULE(SSM_CONV1D, 0, CONV_KERNEL),
    RULE(SSM_CONV1D, 1, CONV_WIDTH),
    RULE(SSM_A, 0, STATE),   /* Mamba: a row for each channel */
    RULE(SSM_A, 0, DT_RANK), /* delta nets: a number for each head */
    RULE(SSM_A, 1, DT_RANK), /* Mamba 2: the same, as a matrix */
    RULE(SSM_DT, 0, DT_RANK),
    RULE(SSM_OUT, 0, INNER),
    RULE(SSM_OUT, 1, EMBD),
    RULE(SSM_X, 0, INNER),
    RULE(SSM_X, 1, X_WIDTH),
    RULE(SSM_CONV1D_Q, 0, CONV_KERNEL),
    RULE(SHORTCONV_CONV, 0, SHORT_KERNEL),
    RULE(SHORTCONV_CONV, 1, EMBD),
    RULE(TIME_MIX_FIRST, 0, WKV_HEAD),
    RULE(INDEXER_K_NORM, 0, INDEXER_HEAD),
    RULE(INDEXER_PROJ, 1, INDEXER_HEADS),
    RULE(INDEXER_ATTN_K, 1, INDEXER_HEAD),
    RULE(INDEXER_K_PROJ, 1, INDEXER_HEAD),
};
#undef RULE

/* --- what the keys say --- */

static uint64_t key_of(const struct plim_llama *llama, const char *name)
{
    char key[KEY_BYTES];
    uint64_t n = 0;
    snprintf(key, sizeof key, "%.96s.%s", plim_model_arch(llama->model), name);
    return plim_model_u64(llama->model, key, &n) ? n : 0;
}

static bool is_arch(const struct plim_llama *llama, const char *name) { return !strcmp(llama->hp.arch->name, name); }

static uint64_t head_k(const struct plim_llama *llama, uint32_t il)
{
    const struct plim_hparams *hp = &llama->hp;
    return hp->is_recurrent[il] && hp->n_embd_head_kda ? hp->n_embd_head_kda
           : plim_hparams_is_mla(hp)                   ? hp->n_embd_head_k_mla
                                                       : plim_hparams_head_k(hp, il);
}

static uint64_t head_v(const struct plim_llama *llama, uint32_t il)
{
    const struct plim_hparams *hp = &llama->hp;
    return hp->is_recurrent[il] && hp->n_embd_head_kda ? hp->n_embd_head_kda
           : plim_hparams_is_mla(hp)                   ? key_of(llama, "attention.value_length_mla")
                                                       : plim_hparams_head_v(hp, il);
}

/* Linear attention has as many heads of K and V as of Q. */
static uint64_t n_kv(const struct plim_llama *llama, uint32_t il)
{
    const struct plim_hparams *hp = &llama->hp;
    const bool is_linear = hp->is_recurrent[il] && (hp->n_embd_head_kda || hp->n_embd_head_la);
    return is_linear ? hp->n_head[il] : hp->n_head_kv[il];
}

/* Of delta nets, the layers that attend have a gate beside Q. */
static uint64_t q(const struct plim_llama *llama, uint32_t il)
{
    const struct plim_hparams *hp = &llama->hp;
    const bool is_gated = hp->arch->recurrent == PLIM_RECURRENT_INTERVAL && hp->ssm_d_state;
    return head_k(llama, il) * hp->n_head[il] * (is_gated ? 2 : 1);
}

static uint64_t qkv(const struct plim_llama *llama, uint32_t il)
{
    const struct plim_hparams *hp = &llama->hp;
    if (hp->is_recurrent[il] && hp->ssm_d_state) /* the input of a delta net */
        return 2 * (uint64_t)hp->ssm_n_group * hp->ssm_d_state + hp->ssm_d_inner;
    return q(llama, il) + (head_k(llama, il) + head_v(llama, il)) * n_kv(llama, il);
}

/* Of recurrent layers, which are all alike. */
static uint64_t state_of(const struct plim_hparams *hp, enum quantity quantity)
{
    switch (quantity) {
    case CONV_KERNEL:
        return hp->ssm_d_conv;
    case CONV_WIDTH:
        return hp->ssm_d_inner + 2 * (uint64_t)hp->ssm_n_group * hp->ssm_d_state;
    case STATE:
        return hp->ssm_d_state;
    case DT_RANK:
        return hp->ssm_dt_rank;
    case X_WIDTH: /* PLaMo 2 has a rank of its own */
        return (!strcmp(hp->arch->name, "plamo2") ? plim_max_u32(64, hp->n_embd / 16) : hp->ssm_dt_rank) +
               2 * (uint64_t)hp->ssm_d_state;
    case INNER:
        return hp->ssm_d_inner;
    case SHORT_KERNEL:
        return hp->n_shortconv_l_cache;
    case WKV_HEAD:
        return hp->wkv_head_size;
    default:
        return 0;
    }
}

/* The number of a quantity in a layer; 0: the file does not say. */
static uint64_t value_of(const struct plim_llama *llama, uint32_t il, enum quantity quantity)
{
    const struct plim_hparams *hp = &llama->hp;
    switch (quantity) {
    case EMBD:
        return hp->n_embd;
    case VOCAB:
        return hp->n_vocab;
    case Q:
        return q(llama, il);
    case K:
        return head_k(llama, il) * n_kv(llama, il);
    case V:
        return head_v(llama, il) * n_kv(llama, il);
    case QKV:
        return qkv(llama, il);
    case ATTENDED:
        return head_v(llama, il) * hp->n_head[il];
    case HEADS:
        return hp->n_head[il];
    case FF:
    case FF_UP:
        return hp->n_ff[il];
    case FF_EXPERT:
        return key_of(llama, "expert_feed_forward_length");
    case EXPERTS:
        return hp->n_expert;
    case LORA_Q:
        return key_of(llama, "attention.q_lora_rank");
    case LORA_KV:
        return hp->n_lora_kv;
    case LORA_KV_ROT:
        return (uint64_t)hp->n_lora_kv + hp->n_rot;
    case CACHE:
        return plim_hparams_k_gqa(hp, il);
    case KV_B:
        return (head_k(llama, il) - hp->n_rot + head_v(llama, il)) * hp->n_head_kv[il];
    case INDEXER_HEAD:
        return hp->indexer_head_size;
    case INDEXER_HEADS:
        return hp->indexer_n_head;
    case ROTATED:
        return hp->n_rot;
    default:
        return state_of(hp, quantity);
    }
}

/* --- one dimension --- */

/* Widths of the feed-forward part, of which llama.cpp has several rules. */
static bool is_some_width(const struct plim_llama *llama, uint32_t il, enum quantity quantity, uint64_t width)
{
    const struct plim_hparams *hp = &llama->hp;
    const uint64_t n_ff = hp->n_ff[il];
    if (quantity == FF_EXPERT) /* without the key, or regardless of it (Mixtral): as wide as others, or parts of it */
        return width == n_ff || (hp->n_expert_used && width == n_ff / hp->n_expert_used);
    if (quantity != FF && quantity != FF_UP)
        return false;
    return (quantity == FF_UP && width == 2 * n_ff) || (is_arch(llama, "qwen") && width == n_ff / 2) ||
           (is_arch(llama, "arctic") && width == hp->n_embd);
}

/* Rules of tensors that have another meaning in this architecture, or in this layer. */
static bool applies(const struct plim_llama *llama, const struct rule *rule, const struct plim_tensor *tensor)
{
    const struct plim_hparams *hp = &llama->hp;
    const bool is_scan = hp->arch->has_scan && tensor->n_dims == 2;
    switch (rule->role) {
    case PLIM_TENSOR_ROLE_ATTN_KV_A_MQA:
        return rule->quantity != CACHE || plim_hparams_is_mla(hp);
    case PLIM_TENSOR_ROLE_ATTN_KV_B:
        return rule->quantity != KV_B || !plim_hparams_is_mla(hp);
    case PLIM_TENSOR_ROLE_SSM_A:
        if (rule->quantity == STATE)
            return is_scan && tensor->ne[0] != 1;
        return rule->dim == 1 ? is_scan && tensor->ne[0] == 1 : tensor->n_dims == 1 && !hp->n_embd_head_kda;
    case PLIM_TENSOR_ROLE_SSM_DT:
        return !is_arch(llama, "plamo2");
    default:
        return true;
    }
}

/* The first rule that a layer breaks, or NULL. is_mended: as for plim_llama_find_contradiction(). */
static const struct rule *broken_rule(const struct plim_llama *llama, bool is_mended, uint32_t il)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        const struct rule *rule = &rules[i];
        const struct plim_tensor *tensor =
            plim_llama_layer_tensor(llama, il, (enum plim_tensor_role)rule->role, PLIM_WEIGHT);
        if (!tensor)
            continue;
        const enum quantity quantity = (enum quantity)rule->quantity;
        const uint64_t is = tensor->ne[rule->dim], expected = value_of(llama, il, quantity);
        const bool is_free = (quantity == LORA_Q && expected == 0) ||
                             (is_mended && (quantity == FF || quantity == FF_UP || quantity == FF_EXPERT));
        if (is != expected && !is_free && !is_some_width(llama, il, quantity, is) && applies(llama, rule, tensor))
            return rule;
    }
    return NULL;
}

/* --- layers --- */

static bool has_any(const struct plim_llama *llama, uint32_t il, const enum plim_tensor_role *roles, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (plim_llama_layer_tensor(llama, il, roles[i], PLIM_WEIGHT))
            return true;
    return false;
}

static const char no_tensors[] = "no tensors";

/* A layer that has a cache without the matrix that fills it, or a state without what makes it. */
static const char *missing_in(const struct plim_llama *llama, uint32_t il)
{
    static const enum plim_tensor_role of_cache[] = { PLIM_TENSOR_ROLE_ATTN_K, PLIM_TENSOR_ROLE_ATTN_QKV,
                                                      PLIM_TENSOR_ROLE_ATTN_KV_A_MQA };
    static const enum plim_tensor_role of_state[] = { PLIM_TENSOR_ROLE_SSM_CONV1D, PLIM_TENSOR_ROLE_SSM_CONV1D_Q,
                                                      PLIM_TENSOR_ROLE_SHORTCONV_CONV,
                                                      PLIM_TENSOR_ROLE_TIME_MIX_OUTPUT };
    const struct plim_hparams *hp = &llama->hp;
    const struct plim_layer *layer = &llama->layer[il];
    /* Nemotron Ultra has such layers */
    const bool is_left_out = hp->n_head[il] == 0 && hp->n_ff[il] == 0 && !layer->recurs;
    if (layer->end_byte == 0)
        return is_left_out ? NULL : no_tensors;
    const bool has_state = has_any(llama, il, of_state, sizeof of_state / sizeof *of_state);
    const bool is_linear = hp->n_embd_head_la != 0; /* made of Q, K and V alone */
    if (layer->recurs && !has_state && !is_linear)
        return "no tensors of a recurrent layer, but the keys make it one";
    if (!layer->recurs && has_state)
        return "the tensors of a recurrent layer, but the keys do not make it one";
    if (layer->attends && plim_hparams_k_gqa(hp, il) &&
        !has_any(llama, il, of_cache, sizeof of_cache / sizeof *of_cache))
        return "no tensors of attention, but the keys give it a cache";
    return NULL;
}

/* The leading layers of a mixture have no experts; the others have, unless only some of them do. */
static bool has_wrong_experts(const struct plim_llama *llama, uint32_t il)
{
    const struct plim_hparams *hp = &llama->hp;
    const bool has_experts = plim_llama_layer_tensor(llama, il, PLIM_TENSOR_ROLE_FFN_DOWN_EXPS, PLIM_WEIGHT) != NULL;
    if (hp->n_layer_dense_lead == 0 || il >= hp->n_layer)
        return false;
    return il < hp->n_layer_dense_lead ? has_experts : !has_experts && key_of(llama, "interleave_moe_layer_step") <= 1;
}

/* --- the whole --- */

struct writer {
    const struct plim_llama *llama;
    char *text;
    size_t size;
    bool is_mended;
};

static bool say(const struct writer *w, const char *format, ...) PLIM_PRINTF(2, 3);
static bool say(const struct writer *w, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(w->text, w->size, format, arguments);
    va_end(arguments);
    return true;
}

static bool say_shape(const struct writer *w, const struct plim_tensor *tensor, uint32_t dim, const char *key,
                      uint64_t expected)
{
    const struct plim_model *model = w->llama->model;
    if (key == keys[VOCAB] && plim_model_array_length(model, "tokenizer.ggml.tokens")) /* they count */
        return say(w, "'%.60s' has %" PRIu64 " in dimension %" PRIu32 ", but there are %" PRIu64 " tokens",
                   tensor->name, tensor->ne[dim], dim, expected);
    return say(w, "'%.60s' has %" PRIu64 " in dimension %" PRIu32 ", but %.40s.%s is %" PRIu64, tensor->name,
               tensor->ne[dim], dim, plim_model_arch(model), key, expected);
}

/* Matrices outside the layers. */
static bool is_global_wrong(const struct writer *w)
{
    static const struct {
        enum plim_global role;
        uint32_t dim;
        enum quantity quantity;
        uint32_t parts; /* of the quantity */
    } rows[] = {
        { PLIM_GLOBAL_TOKEN_EMBD, 0, EMBD, 1 },
        { PLIM_GLOBAL_TOKEN_EMBD, 1, VOCAB, 1 },
        { PLIM_GLOBAL_OUTPUT, 0, EMBD, 1 },
        { PLIM_GLOBAL_OUTPUT, 1, VOCAB, 1 },
        { PLIM_GLOBAL_OUTPUT_NORM, 0, EMBD, 1 },
        { PLIM_GLOBAL_ROPE_FREQS, 0, ROTATED, 2 },
        { PLIM_GLOBAL_ROPE_FACTORS_LONG, 0, ROTATED, 2 },
    };
    const struct plim_llama *llama = w->llama;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct plim_tensor *tensor = plim_llama_global_tensor(llama, rows[i].role, PLIM_WEIGHT);
        const uint64_t expected = value_of(llama, 0, rows[i].quantity) / rows[i].parts;
        if (rows[i].quantity == VOCAB && (w->is_mended || !expected))
            continue;
        if (tensor && tensor->ne[rows[i].dim] != expected)
            return say_shape(w, tensor, rows[i].dim, keys[rows[i].quantity], expected);
    }
    return false;
}

/* The layers of a stack that may be in the file. */
static uint32_t n_layers_of(const struct plim_llama *llama, const char *name)
{
    const struct plim_hparams *hp = &llama->hp;
    const bool runs_again = hp->n_layer_file < hp->n_layer;
    return !strncmp(name, "dec.", 4) ? hp->n_layer_dec : runs_again ? hp->n_layer_file : hp->n_layer_all;
}

static bool is_layer_wrong(const struct writer *w, uint32_t il)
{
    const struct plim_llama *llama = w->llama;
    const char *arch = plim_model_arch(llama->model), *missing = missing_in(llama, il);
    const struct rule *rule = broken_rule(llama, w->is_mended, il);
    if (missing == no_tensors)
        return say(w, "layer %" PRIu32 " has no tensors, but %.40s.block_count is %" PRIu32, il, arch,
                   n_layers_of(llama, ""));
    if (missing)
        return say(w, "layer %" PRIu32 " has %s", il, missing);
    if (rule)
        return say_shape(w, plim_llama_layer_tensor(llama, il, (enum plim_tensor_role)rule->role, PLIM_WEIGHT),
                         rule->dim, keys[rule->quantity], value_of(llama, il, (enum quantity)rule->quantity));
    if (has_wrong_experts(llama, il))
        return say(w, "layer %" PRIu32 " has %sexperts, but %.40s.leading_dense_block_count is %" PRIu32, il,
                   il < llama->hp.n_layer_dense_lead ? "" : "no ", arch, llama->hp.n_layer_dense_lead);
    return false;
}

/* Prediction layers come last, they and only they have tensors of that name. */
static bool is_place_wrong(const struct writer *w)
{
    const struct plim_llama *llama = w->llama;
    const struct plim_hparams *hp = &llama->hp;
    const char *arch = plim_model_arch(llama->model), *rest;
    bool predicts[PLIM_MAX_LAYERS] = { false };
    for (size_t i = 0; i < llama->n_tensors; i++) {
        const char *name = llama->tensors[i].name;
        const int il = plim_llama_layer_of_name(name, &rest);
        if (il >= (int)n_layers_of(llama, name))
            return say(w, "there is '%.60s', but %.40s.%sblock_count is %" PRIu32, name, arch,
                       *name == 'd' ? "decoder_" : "", n_layers_of(llama, name));
        if (il >= 0 && !strncmp(rest, "nextn.", strlen("nextn.")))
            predicts[il] = true;
    }
    for (uint32_t il = 0; il < hp->n_layer_all; il++)
        if (predicts[il] != (il >= hp->n_layer) && llama->layer[il].end_byte)
            return say(w, "layer %" PRIu32 " of %" PRIu32 " %s, but %.40s.nextn_predict_layers is %" PRIu32, il,
                       hp->n_layer_all, predicts[il] ? "predicts" : "does not predict", arch, hp->n_layer_nextn);
    return false;
}

void plim_llama_find_contradiction(const struct plim_llama *llama, bool is_mended, char text[PLIM_LLAMA_CONTRADICTION])
{
    const struct writer w = { llama, text, PLIM_LLAMA_CONTRADICTION, is_mended };
    /* the widths of a draft are partly its target's */
    const bool is_known = llama->hp.arch->build && plim_model_kind(llama->model) != PLIM_MODEL_DRAFT;
    text[0] = '\0';
    bool is_wrong = !is_known || is_global_wrong(&w) || is_place_wrong(&w);
    for (uint32_t il = 0; il < llama->hp.n_layer_file && il < llama->hp.n_layer && !is_wrong; il++)
        is_wrong = is_layer_wrong(&w, il);
}
