/* SPDX-License-Identifier: MIT */
#include "engine/llamacpp/hparams.h"

#include "base/numbers.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Bounds that no real model comes near; they keep every product of the rules inside 64 bits. */
enum {
    MAX_WIDTH = 1 << 22, /* n_embd, n_ff, state sizes */
    MAX_HEADS = 1 << 16,
    MAX_HEAD = 1 << 16,
    MAX_VOCAB = 1 << 25,
    MAX_EXPERTS = 1 << 16,
    MAX_CONTEXT = 1 << 30,
    MAX_SMALL = 1 << 16, /* windows of convolutions, counts of groups ... */
    KEY_BYTES = 160,
};

struct reader {
    const struct plim_model *model;
    struct plim_hparams *hp;
    struct plim_error *err;
    int result; /* the first failure */
};

static const char *full_key(const struct reader *r, char key[KEY_BYTES], const char *name)
{
    snprintf(key, KEY_BYTES, "%.96s.%s", plim_model_arch(r->model), name);
    return key;
}

static void out_of_range(struct reader *r, const char *key, uint64_t value, uint64_t max)
{
    if (r->result == 0)
        r->result = plim_fail(r->err, PLIM_E_CORRUPT, PLIM_NO_OFFSET,
                              "key '%s' is %" PRIu64 "; at most %" PRIu64 " is expected", key, value, max);
}

/* An optional key: *value stays as it is when the key is absent. True when it was present. */
static bool get(struct reader *r, const char *name, uint32_t *value, uint64_t max)
{
    char key[KEY_BYTES];
    uint64_t number;
    if (!plim_model_u64(r->model, full_key(r, key, name), &number))
        return false;
    if (number > max)
        out_of_range(r, key, number, max);
    else
        *value = (uint32_t)number;
    return true;
}

static void need(struct reader *r, const char *name, uint32_t *value, uint64_t max)
{
    char key[KEY_BYTES];
    if (get(r, name, value, max) || r->result < 0)
        return;
    r->result = plim_fail(r->err, PLIM_E_CORRUPT, PLIM_NO_OFFSET, "key '%s' is missing", full_key(r, key, name));
    plim_error_hint(r->err, "llama.cpp cannot load this file either; convert the model again");
}

static bool get_bool(struct reader *r, const char *name, bool *value)
{
    char key[KEY_BYTES];
    return plim_model_bool(r->model, full_key(r, key, name), value);
}

/* One number for all layers, or one per layer. */
static bool get_per_layer(struct reader *r, const char *name, uint32_t *values, uint64_t max)
{
    char key[KEY_BYTES];
    int64_t list[PLIM_MAX_LAYERS];
    uint64_t number;
    const uint32_t n = r->hp->n_layer_all;
    full_key(r, key, name);
    if (plim_model_u64(r->model, key, &number)) {
        if (number > max)
            out_of_range(r, key, number, max);
        for (uint32_t il = 0; il < n && number <= max; il++)
            values[il] = (uint32_t)number;
        return true;
    }
    uint64_t length = plim_model_array_length(r->model, key);
    if (length == 0)
        return false;
    if (length < n || plim_model_array(r->model, key, list, n) < n) {
        if (r->result == 0)
            r->result = plim_fail(r->err, PLIM_E_CORRUPT, PLIM_NO_OFFSET,
                                  "key '%s' has %" PRIu64 " values; one for each of %" PRIu32 " layers is expected",
                                  key, length, n);
        return true;
    }
    for (uint32_t il = 0; il < n; il++) {
        if (list[il] < 0 || (uint64_t)list[il] > max) {
            out_of_range(r, key, (uint64_t)list[il], max);
            return true;
        }
        values[il] = (uint32_t)list[il];
    }
    return true;
}

static bool get_layer_flags(struct reader *r, const char *name, bool *flags, uint32_t n)
{
    char key[KEY_BYTES];
    int64_t list[PLIM_MAX_LAYERS];
    size_t got = plim_model_array(r->model, full_key(r, key, name), list, PLIM_MAX_LAYERS);
    for (size_t il = 0; il < got && il < n; il++)
        flags[il] = list[il] != 0;
    return got > 0;
}

static bool has_number(struct reader *r, const char *name)
{
    char key[KEY_BYTES];
    double number;
    return plim_model_f64(r->model, full_key(r, key, name), &number);
}

/* --- keys of every architecture --- */

/* Slices of an image's embeddings go to the first layers, or (Granite) to those that a list gives one to. */
static void read_deepstack(struct reader *r)
{
    struct plim_hparams *hp = r->hp;
    char key[KEY_BYTES];
    int64_t slice[PLIM_MAX_LAYERS];
    bool is_seen[PLIM_MAX_LAYERS] = { false };
    get(r, "n_deepstack_layers", &hp->n_deepstack_layers, PLIM_MAX_LAYERS - 1);
    for (uint32_t il = 0; il < hp->n_deepstack_layers; il++)
        hp->adds_deepstack[il] = true;
    const size_t n = plim_model_array(r->model, full_key(r, key, "deepstack_mapping"), slice, PLIM_MAX_LAYERS);
    if (n == 0 || strncmp(hp->arch->name, "granite", 7) != 0)
        return;
    hp->is_deepstack_first = true;
    for (size_t il = 0; il < n; il++) {
        hp->adds_deepstack[il] = il > 0 && slice[il] >= 0; /* layer 0 reads the first slice anyway */
        if (slice[il] < 0 || slice[il] >= PLIM_MAX_LAYERS || is_seen[slice[il]])
            continue;
        is_seen[slice[il]] = true;
        hp->n_deepstack_layers += hp->n_deepstack_layers < PLIM_MAX_LAYERS - 1;
    }
}

static void read_common(struct reader *r)
{
    struct plim_hparams *hp = r->hp;
    char key[KEY_BYTES];
    need(r, "block_count", &hp->n_layer_all, PLIM_MAX_LAYERS);
    need(r, "context_length", &hp->n_ctx_train, MAX_CONTEXT);
    need(r, "embedding_length", &hp->n_embd, MAX_WIDTH);
    if (r->result == 0 && (hp->n_layer_all == 0 || hp->n_embd == 0))
        r->result = plim_fail(r->err, PLIM_E_CORRUPT, PLIM_NO_OFFSET,
                              "the model has %" PRIu32 " layers of width %" PRIu32, hp->n_layer_all, hp->n_embd);
    if (r->result < 0)
        return;
    get(r, "nextn_predict_layers", &hp->n_layer_nextn, hp->n_layer_all);
    hp->n_layer = hp->n_layer_all - hp->n_layer_nextn;
    hp->n_layer_dec = hp->n_layer;
    hp->n_layer_file = plim_max_u32(hp->n_layer, 1);
    get(r, "decoder_block_count", &hp->n_layer_dec, hp->n_layer);
    hp->n_embd_out = hp->n_embd;
    get(r, "embedding_length_out", &hp->n_embd_out, MAX_WIDTH);
    uint64_t n_tokens = plim_model_array_length(r->model, "tokenizer.ggml.tokens");
    if (n_tokens > MAX_VOCAB)
        out_of_range(r, "tokenizer.ggml.tokens", n_tokens, MAX_VOCAB);
    else if (n_tokens)
        hp->n_vocab = (uint32_t)n_tokens;
    else
        get(r, "vocab_size", &hp->n_vocab, MAX_VOCAB);
    get_per_layer(r, "feed_forward_length", hp->n_ff, MAX_WIDTH);
    get_per_layer(r, "attention.head_count", hp->n_head, MAX_HEADS);
    memcpy(hp->n_head_kv, hp->n_head, sizeof hp->n_head);
    get_per_layer(r, "attention.head_count_kv", hp->n_head_kv, MAX_HEADS);
    get_bool(r, "attention.causal", &hp->causal_attn);
    get(r, "pooling_type", &hp->pooling_type, MAX_SMALL);
    get(r, "classifier.pooling_type", &hp->rank_pooling_type, MAX_SMALL);
    hp->use_mrope = plim_model_array_length(r->model, full_key(r, key, "rope.dimension_sections")) > 0;
    bool is_finetuned = true;
    get_bool(r, "rope.scaling.finetuned", &is_finetuned);
    hp->rope_not_finetuned = !is_finetuned;
    double bias = 0, scale = 0;
    plim_model_f64(r->model, full_key(r, key, "attention.max_alibi_bias"), &bias);
    plim_model_f64(r->model, full_key(r, key, "embedding_scale"), &scale);
    hp->has_alibi = bias > 0;
    hp->has_embedding_scale = scale != 0;
    get_bool(r, "use_parallel_residual", &hp->use_parallel_residual);
    read_deepstack(r);
    hp->n_embd_inp = hp->n_embd * (1 + hp->n_deepstack_layers);
    hp->is_layer_norm = hp->arch->graph & PLIM_GGML_GRAPH_LAYER_NORM;
    if (!strcmp(hp->arch->name, "cohere2moe")) /* either kind: the key of the other's epsilon is missing */
        hp->is_layer_norm = !has_number(r, "attention.layer_norm_rms_epsilon");
    get_bool(r, "swin_norm", &hp->swin_norm);
}

static void read_heads(struct reader *r)
{
    struct plim_hparams *hp = r->hp;
    if (hp->n_head[0] > 0) {
        hp->n_embd_head_k = hp->n_embd_head_v = hp->n_embd / hp->n_head[0];
        get(r, "attention.key_length", &hp->n_embd_head_k, MAX_HEAD);
        get(r, "attention.value_length", &hp->n_embd_head_v, MAX_HEAD);
        hp->n_rot = hp->n_embd_head_k;
        get(r, "rope.dimension_count", &hp->n_rot, MAX_HEAD);
    } else {
        /* models without heads in their first layer still give the lengths where other layers need them */
        get(r, "attention.key_length", &hp->n_embd_head_k, MAX_HEAD);
        get(r, "attention.value_length", &hp->n_embd_head_v, MAX_HEAD);
        get(r, "rope.dimension_count", &hp->n_rot, MAX_HEAD);
    }
    hp->n_embd_head_k_swa = hp->n_embd_head_k;
    hp->n_embd_head_v_swa = hp->n_embd_head_v;
    get(r, "attention.key_length_swa", &hp->n_embd_head_k_swa, MAX_HEAD);
    get(r, "attention.value_length_swa", &hp->n_embd_head_v_swa, MAX_HEAD);
    get(r, "attention.key_length_mla", &hp->n_embd_head_k_mla, MAX_HEAD);
    uint32_t head_v_mla = 0;
    get(r, "attention.value_length_mla", &head_v_mla, MAX_HEAD);
    if (!head_v_mla)
        hp->n_embd_head_k_mla = 0;
    get(r, "attention.kv_lora_rank", &hp->n_lora_kv, MAX_WIDTH);
    get(r, "attention.indexer.head_count", &hp->indexer_n_head, MAX_HEADS);
    get(r, "attention.indexer.key_length", &hp->indexer_head_size, MAX_HEAD);
    get(r, "attention.indexer.top_k", &hp->indexer_top_k, MAX_CONTEXT);
    get(r, "attention.indexer.block_size", &hp->indexer_block_size, MAX_CONTEXT);
}

static void read_experts(struct reader *r)
{
    struct plim_hparams *hp = r->hp;
    const uint32_t *used = hp->n_expert_used_in;
    char key[KEY_BYTES];
    double scale = 0;
    get(r, "expert_count", &hp->n_expert, MAX_EXPERTS);
    get_per_layer(r, "expert_used_count", hp->n_expert_used_in, MAX_EXPERTS);
    for (uint32_t il = 0; il < hp->n_layer_all; il++)
        hp->n_expert_used = used[il] > hp->n_expert_used ? used[il] : hp->n_expert_used;
    const uint32_t most = hp->n_expert < PLIM_MAX_EXPERTS_USED ? hp->n_expert : PLIM_MAX_EXPERTS_USED;
    if (hp->n_expert_used > most)
        out_of_range(r, full_key(r, key, "expert_used_count"), hp->n_expert_used, most);
    get(r, "expert_group_count", &hp->n_expert_groups, MAX_EXPERTS);
    get(r, "expert_group_used_count", &hp->n_group_used, MAX_EXPERTS);
    if (hp->n_expert_groups > 1 && (hp->n_expert % hp->n_expert_groups || hp->n_group_used == 0))
        hp->n_expert_groups = 0;
    get(r, "leading_dense_block_count", &hp->n_layer_dense_lead, PLIM_MAX_LAYERS);
    hp->has_expert_weights_norm = get_bool(r, "expert_weights_norm", &hp->expert_weights_norm);
    if (plim_model_f64(r->model, full_key(r, key, "expert_weights_scale"), &scale))
        hp->expert_weights_scale = scale != 0.0 && scale != 1.0;
}

static void read_states(struct reader *r)
{
    struct plim_hparams *hp = r->hp;
    hp->token_shift_count = 2;
    get(r, "ssm.conv_kernel", &hp->ssm_d_conv, MAX_SMALL);
    get(r, "ssm.inner_size", &hp->ssm_d_inner, MAX_WIDTH);
    get(r, "ssm.state_size", &hp->ssm_d_state, MAX_SMALL);
    get(r, "ssm.time_step_rank", &hp->ssm_dt_rank, MAX_WIDTH);
    get(r, "ssm.group_count", &hp->ssm_n_group, MAX_SMALL);
    get_bool(r, "ssm.dt_b_c_rms", &hp->ssm_dt_b_c_rms);
    get(r, "wkv.head_size", &hp->wkv_head_size, MAX_HEAD);
    get(r, "token_shift_count", &hp->token_shift_count, MAX_SMALL);
    get(r, "shortconv.l_cache", &hp->n_shortconv_l_cache, MAX_SMALL);
    get(r, "kda.head_dim", &hp->n_embd_head_kda, MAX_HEAD);
}

/* --- layers that slide, recur, share --- */

static void mark_period(struct plim_hparams *hp, uint32_t period, bool dense_first)
{
    for (uint32_t il = 0; il < hp->n_layer; il++)
        hp->is_swa[il] = period == 0 || (dense_first ? il % period != 0 : il % period < period - 1);
}

static void mark_sliding(struct reader *r)
{
    struct plim_hparams *hp = r->hp;
    const struct plim_arch *arch = hp->arch;
    uint32_t window = arch->swa_window, period = arch->swa_period;
    bool has_window = get(r, "attention.sliding_window", &window, MAX_CONTEXT);
    switch ((enum plim_swa_rule)arch->swa) {
    case PLIM_SWA_NEVER:
        return;
    case PLIM_SWA_IF_WINDOW:
    case PLIM_SWA_ATTENTION:
        if (!has_window || window == 0)
            return;
        window = arch->swa_window ? arch->swa_window : window;
        break;
    case PLIM_SWA_64_LAYERS:
        if (hp->n_layer != 64)
            return;
        break;
    case PLIM_SWA_LLAMA4:
        if (has_window && window == 0)
            return;
        window = arch->swa_window;
        break;
    case PLIM_SWA_ALWAYS:
    case PLIM_SWA_ARRAY:
        break;
    }
    hp->n_swa = window;
    if (arch->swa == PLIM_SWA_ATTENTION) {
        for (uint32_t il = 0; il < hp->n_layer; il++)
            hp->is_swa[il] = hp->n_head_kv[il] != 0;
        return;
    }
    if (get_layer_flags(r, "attention.sliding_window_pattern", hp->is_swa, hp->n_layer_all))
        return;
    get(r, "attention.sliding_window_pattern", &period, PLIM_MAX_LAYERS);
    mark_period(hp, period, arch->swa_dense_first);
}

static void mark_recurrent(struct reader *r)
{
    struct plim_hparams *hp = r->hp;
    uint32_t interval = !strcmp(hp->arch->name, "minimax-01") ? 8 : 4;
    if (hp->arch->recurrent == PLIM_RECURRENT_INTERVAL) {
        if (get_layer_flags(r, "attention.recurrent_layers", hp->is_recurrent, hp->n_layer_all))
            return;
        get(r, "full_attention_interval", &interval, PLIM_MAX_LAYERS);
        interval = interval ? interval : 1;
    }
    for (uint32_t il = 0; il < hp->n_layer_all; il++)
        switch ((enum plim_recurrent_rule)hp->arch->recurrent) {
        case PLIM_RECURRENT_NEVER:
            break;
        case PLIM_RECURRENT_ALL:
        case PLIM_RECURRENT_EVERY_BOTH:
            hp->is_recurrent[il] = true;
            break;
        case PLIM_RECURRENT_NO_KV_HEADS:
            hp->is_recurrent[il] = il < hp->n_layer && hp->n_head_kv[il] == 0;
            break;
        case PLIM_RECURRENT_NO_KV_NO_FF:
            hp->is_recurrent[il] = il < hp->n_layer && hp->n_head_kv[il] == 0 && hp->n_ff[il] == 0;
            break;
        case PLIM_RECURRENT_INTERVAL:
            hp->is_recurrent[il] = il < hp->n_layer && (il + 1) % interval != 0;
            break;
        }
}

/* Nanbeige runs through its layers num_loops times, with a cache for each run (nanbeige.cpp: load_arch_hparams). */
static void read_loops(struct reader *r)
{
    struct plim_hparams *hp = r->hp;
    uint32_t n_loops = 1;
    bool skips_norm = false;
    get(r, "num_loops", &n_loops, PLIM_MAX_LAYERS / hp->n_layer_file);
    get_bool(r, "skip_loop_final_norm", &skips_norm);
    if (r->result < 0 || n_loops < 2)
        return;
    hp->has_loop_norm = !skips_norm;
    hp->n_layer = hp->n_layer_all = hp->n_layer_file * n_loops;
    hp->n_layer_nextn = 0;
    for (uint32_t il = hp->n_layer_file; il < hp->n_layer; il++) {
        hp->n_head[il] = hp->n_head[il - hp->n_layer_file];
        hp->n_head_kv[il] = hp->n_head_kv[il - hp->n_layer_file];
        hp->n_ff[il] = hp->n_ff[il - hp->n_layer_file];
    }
}

/* The few architectures whose memory needs a number of its own. */
static void read_special(struct reader *r)
{
    struct plim_hparams *hp = r->hp;
    const char *name = hp->arch->name;
    uint32_t shared = 0;
    hp->n_layer_kv_from_start = -1;
    memset(hp->is_indexer, 1, sizeof hp->is_indexer);
    if (!strcmp(name, "gemma3n")) {
        hp->n_layer_kv_from_start = 20; /* fixed in gemma3n.cpp */
    } else if (!strcmp(name, "gemma4")) {
        /* they read the caches of the last two layers that have one: a sliding and a full one */
        get(r, "attention.shared_kv_layers", &shared, hp->n_layer_all > 2 ? hp->n_layer_all - 2 : 0);
        hp->n_layer_kv_from_start = (int32_t)(hp->n_layer_all - shared);
    } else if (!strcmp(name, "granite_swa")) {
        bool rotates[PLIM_MAX_LAYERS];
        memset(rotates, 1, sizeof rotates);
        get_layer_flags(r, "attention.rope_pattern", rotates, hp->n_layer);
        for (uint32_t il = 0; il < hp->n_layer; il++)
            hp->has_no_rope[il] = !rotates[il];
    } else if (!strcmp(name, "bloom") || !strcmp(name, "refact") || !strcmp(name, "jina-bert-v2") ||
               (!strcmp(name, "baichuan") && hp->n_layer == 40)) {
        hp->has_alibi = true;
    } else if (!strcmp(name, "minimax-01")) {
        hp->n_embd_head_la = hp->n_embd_head_k;
    } else if (!strcmp(name, "rwkv6qwen2") || !strcmp(name, "arwkv7")) {
        hp->token_shift_count = 1;
        get(r, "token_shift_count", &hp->token_shift_count, MAX_SMALL);
    } else if (!strcmp(name, "mistral3") || !strcmp(name, "mistral4") || !strcmp(name, "deepseek2")) {
        char key[KEY_BYTES];
        double scale = 0;
        plim_model_f64(r->model, full_key(r, key, "attention.temperature_scale"), &scale);
        hp->has_attn_scale = scale != 0;
    } else if (!strcmp(name, "nanbeige")) {
        read_loops(r);
    } else if (hp->arch->memory == PLIM_LLAMA_MEMORY_DSA) {
        get_layer_flags(r, "attention.indexer.types", hp->is_indexer, hp->n_layer);
    }
    if (hp->arch->graph & PLIM_GGML_GRAPH_NOT_CAUSAL)
        hp->causal_attn = false;
    if (!strcmp(name, "modern-bert") && hp->rank_pooling_type == PLIM_POOLING_NONE)
        hp->rank_pooling_type = PLIM_POOLING_MEAN;
}

int plim_hparams_read(const struct plim_model *model, const struct plim_arch *arch, struct plim_hparams *ret_hparams,
                      struct plim_error *reterr)
{
    struct plim_hparams *hp = ret_hparams;
    struct reader r = { .model = model, .hp = hp, .err = reterr };
    memset(hp, 0, sizeof *hp);
    hp->causal_attn = true;
    hp->use_parallel_residual = true;
    hp->arch = arch;
    read_common(&r);
    if (r.result < 0)
        return r.result;
    read_heads(&r);
    read_experts(&r);
    read_states(&r);
    mark_sliding(&r);
    mark_recurrent(&r);
    read_special(&r);
    return r.result;
}

/* --- derived --- */

uint64_t plim_hparams_v_gqa_max(const struct plim_hparams *hp)
{
    uint64_t widest = 0;
    for (uint32_t il = 0; il < hp->n_layer_all; il++) {
        uint64_t width = plim_hparams_v_gqa(hp, il);
        widest = width > widest ? width : widest;
    }
    return widest;
}

bool plim_hparams_has_kv(const struct plim_hparams *hp, uint32_t il)
{
    return hp->n_layer_kv_from_start < 0 || il < (uint32_t)hp->n_layer_kv_from_start;
}

uint64_t plim_hparams_n_embd_r(const struct plim_hparams *hp)
{
    uint64_t n_conv = hp->ssm_d_conv ? hp->ssm_d_conv - 1 : 0;
    if (hp->wkv_head_size)
        return (uint64_t)hp->token_shift_count * hp->n_embd;
    if (hp->n_shortconv_l_cache)
        return (uint64_t)hp->n_embd * (hp->n_shortconv_l_cache - 1);
    if (hp->n_embd_head_kda)
        return 3 * (hp->ssm_d_conv ? n_conv : 3) * hp->n_head[0] * hp->n_embd_head_kda;
    return n_conv * (hp->ssm_d_inner + 2 * (uint64_t)hp->ssm_n_group * hp->ssm_d_state);
}

uint64_t plim_hparams_n_embd_s(const struct plim_hparams *hp)
{
    if (hp->wkv_head_size)
        return (uint64_t)hp->n_embd * hp->wkv_head_size;
    if (hp->n_embd_head_kda)
        return (uint64_t)hp->n_embd_head_kda * hp->n_embd_head_kda * hp->n_head[0];
    if (hp->n_embd_head_la)
        return (uint64_t)hp->n_embd_head_la * hp->n_embd_head_la * hp->n_head[0];
    return (uint64_t)hp->ssm_d_state * hp->ssm_d_inner;
}
