/* SPDX-License-Identifier: MIT */
#include "engine/llamacpp/bound.h"

#include "base/numbers.h"
#include "base/units.h"
#include "engine/ggml/buffer.h"
#include "engine/ggml/schedule.h"

#include <stdio.h>
#include <string.h>

enum {
    SMALLEST_HEAD = 32,
    MOST_EXPERTS_USED = 16, /* for files that have experts, but not the number a token uses */
    KEY_BYTES = 160,
    MASK_BYTES = 8,        /* per token and cell: f32, and f16 for flash attention */
    SMALL_BYTES = 4 << 20, /* positions, token numbers, lists of rows */
    F32 = 4,
};

#define MARGIN 1.125 /* for a graph unlike all that are modelled */

static double max_of(double a, double b) { return a > b ? a : b; }

static uint64_t bytes_of(double n) { return n < (double)PLIM_MOST_BYTES ? (uint64_t)n : PLIM_MOST_BYTES; }

bool plim_bound_applies(const struct plim_llama *llama)
{
    return llama->hp.arch->memory == PLIM_LLAMA_MEMORY_OTHER || !llama->hp.arch->build;
}

/* --- figures of the file --- */

/* A key of the architecture, as a count; 0 without it. */
static uint32_t count_of(const struct plim_llama *llama, const char *name)
{
    char key[KEY_BYTES];
    uint64_t n = 0;
    snprintf(key, sizeof key, "%.96s.%s", plim_model_arch(llama->model), name);
    return plim_model_u64(llama->model, key, &n) && n < UINT32_MAX ? (uint32_t)n : 0;
}

static uint32_t n_heads(const struct plim_hparams *hp, uint32_t il)
{
    return hp->n_head[il] ? hp->n_head[il] : hp->n_embd / SMALLEST_HEAD + 1;
}

/* Without heads in the file: as wide as the model, which is multi-head attention. */
static uint64_t cache_width(const struct plim_hparams *hp, uint32_t il, uint32_t head, uint32_t head_swa)
{
    if (!head)
        return hp->n_embd;
    return plim_max_u64(head, head_swa) * (hp->n_head[il] ? hp->n_head_kv[il] : n_heads(hp, il));
}

static uint64_t k_width(const struct plim_hparams *hp, uint32_t il)
{
    return cache_width(hp, il, hp->n_embd_head_k, hp->n_embd_head_k_swa);
}

static uint64_t v_width(const struct plim_hparams *hp, uint32_t il)
{
    return cache_width(hp, il, hp->n_embd_head_v, hp->n_embd_head_v_swa);
}

static bool has_states(const struct plim_llama *llama) { return plim_hparams_n_embd_s(&llama->hp) > 0; }

/* CUDA scans states of few shapes only; else they go to the CPU and back in every layer. */
static bool scans_on_cpu(const struct plim_llama *llama)
{
    const struct plim_hparams *hp = &llama->hp;
    for (uint32_t il = 0; il < hp->n_layer; il++) {
        const struct plim_tensor *a = plim_llama_layer_tensor(llama, il, PLIM_TENSOR_ROLE_SSM_A, PLIM_WEIGHT);
        if (a && !plim_cuda_has_ssm_scan(a->ne[0], a->ne[0] == 1 ? hp->ssm_d_state : a->ne[0],
                                         a->ne[1] ? hp->ssm_d_inner / a->ne[1] : 0, a->ne[1],
                                         plim_max_u64(hp->ssm_n_group, 1)))
            return true;
    }
    return false;
}

static bool has_relative_bias(const struct plim_llama *llama)
{
    for (uint32_t il = 0; il < llama->hp.n_layer_all; il++)
        if (plim_llama_layer_tensor(llama, il, PLIM_TENSOR_ROLE_ATTN_REL_B, PLIM_WEIGHT))
            return true;
    return false;
}

/* Layers that read another layer's cache: on another device they read a copy. */
static uint32_t n_sharing_layers(const struct plim_llama *llama)
{
    const uint32_t n_layer = llama->hp.n_layer_all, n = count_of(llama, "attention.shared_kv_layers");
    const int32_t n_own = llama->hp.n_layer_kv_from_start;
    if (n_own >= 0 && (uint32_t)n_own < n_layer)
        return n_layer - (uint32_t)n_own;
    return n < n_layer ? n : n_layer;
}

/* True when the CPU has nothing to compute, by the file and the setup. */
static bool is_on_gpus(const struct plim_llama *llama, const struct plim_llama_context *cx,
                       const struct plim_placement *p)
{
    return p->is_full && !p->has_overrides && cx->offload_kqv && !has_states(llama) &&
           plim_llama_context_can_flash(llama, cx->type_k, cx->type_v);
}

/* --- the compute buffer --- */

/* The live memory of a graph, by the quantity it grows with. The factors hold for every modelled architecture. */
struct sizes {
    double token_bytes;  /* per token: the outputs of the widest part of a layer, and tensors that span layers */
    double input_bytes;  /* per token: rows of tensors that stay on the host, and inputs of all layers */
    double output_bytes; /* per output: logits and the embeddings they are made of */
    double score_bytes;  /* per token and cell: the scores of attention */
    double batch_bytes;  /* per pair of tokens: linear attention may weigh those of a batch */
    double cell_bytes;   /* per cell: copies of a layer's cache */
    double seq_bytes;    /* per sequence: states before and after */
    double weight_bytes; /* copies of weights that lie on the host */
};

/* The output of a product with this matrix per token. */
static double out_width(const struct plim_llama *llama, size_t i)
{
    const struct plim_tensor *t = &llama->tensors[i];
    const uint32_t n_used = llama->hp.n_expert_used ? llama->hp.n_expert_used : MOST_EXPERTS_USED;
    return (double)t->ne[1] * (llama->is_expert[i] ? (double)n_used : (double)t->ne[2]);
}

static void measure_tensors(const struct plim_llama *llama, const struct plim_placement *p, struct sizes *s)
{
    const struct plim_hparams *hp = &llama->hp;
    /* feed-forward parts run after attention; tensors of other names may be live together with it */
    double attention[PLIM_MAX_LAYERS] = { 0 }, feed_forward[PLIM_MAX_LAYERS] = { 0 };
    double widest = 0, global = 0, input = hp->n_embd_inp, largest_bytes = 0, all_bytes = 0;
    for (size_t i = 0; i < llama->n_tensors; i++) {
        const struct plim_tensor *t = &llama->tensors[i];
        const int slot = llama->slot[i];
        if (t->n_dims < 2 || t->ne[1] < 2 || slot == PLIM_SLOT_UNUSED)
            continue;
        if (plim_place_of(llama, p, i) == p->cpu && slot != PLIM_SLOT_INPUT)
            largest_bytes = max_of(largest_bytes, (double)plim_llama_device_bytes(t));
        if (slot == PLIM_SLOT_INPUT)
            input += (double)t->ne[0];
        else if (slot < 0)
            global += strcmp(t->name, "output.weight") ? out_width(llama, i) : 0;
        else
            (strstr(t->name, ".ffn_") ? feed_forward : attention)[slot] += out_width(llama, i);
        all_bytes += slot < 0 ? 0 : (double)plim_llama_device_bytes(t);
    }
    for (uint32_t il = 0; il < hp->n_layer_all; il++) {
        const uint64_t head =
            plim_max_u64(plim_max_u64(hp->n_embd_head_k, hp->n_embd_head_v), (uint64_t)hp->n_lora_kv + hp->n_rot);
        const double attended = 2.0 * n_heads(hp, il) * (double)head;
        widest = max_of(widest, max_of(2 * attention[il] + attended, 2 * feed_forward[il]));
    }
    s->token_bytes = F32 * (widest + 2 * global + 8.0 * hp->n_embd_inp);
    s->input_bytes = 2 * F32 * (input + global);
    s->output_bytes = 2 * F32 * ((double)hp->n_vocab + hp->n_embd_inp);
    /* layers that run again may do so on another device, on copies that are kept from the first run */
    s->weight_bytes =
        2 * largest_bytes + (count_of(llama, "num_loops") > 1 && !(p->is_full && p->n_gpu == 1) ? all_bytes : 0);
}

static void measure_cache(const struct plim_llama *llama, const struct plim_llama_context *cx,
                          const struct plim_placement *p, struct sizes *s)
{
    const struct plim_hparams *hp = &llama->hp;
    const bool is_spread = p->n_gpu > 1 || !is_on_gpus(llama, cx, p);
    const bool is_converted = plim_dtype_is_quantized(cx->type_k) || plim_dtype_is_quantized(cx->type_v);
    const double n_copies = p->n_gpu > 1 ? PLIM_PIPELINE_COPIES : 1;
    double bytes = 0;
    for (uint32_t il = 0; il < hp->n_layer_all; il++)
        bytes = max_of(bytes, (double)(k_width(hp, il) + v_width(hp, il)));
    bytes *= cx->type_k == PLIM_DTYPE_F32 || cx->type_v == PLIM_DTYPE_F32 ? 4 : 2;
    s->cell_bytes = is_converted || is_spread ? bytes : 0;
    if (is_spread)
        s->cell_bytes += bytes * n_sharing_layers(llama);
    if (cx->flash_attn && !plim_llama_context_can_flash(llama, cx->type_k, cx->type_v)) /* the CPU attends, on copies */
        s->cell_bytes += bytes * hp->n_layer_all * n_copies;
    s->seq_bytes = 4.0 * F32 * ((double)plim_hparams_n_embd_r(hp) + (double)plim_hparams_n_embd_s(hp));
    if (p->n_gpu > 1 && scans_on_cpu(llama))
        s->seq_bytes *= n_copies * hp->n_layer_all;
}

static void measure_attention(const struct plim_llama *llama, const struct plim_llama_context *cx,
                              const struct plim_placement *p, struct sizes *s)
{
    const struct plim_hparams *hp = &llama->hp;
    double scores = 0;
    for (uint32_t il = 0; il < hp->n_layer_all; il++)
        scores = max_of(scores, (double)F32 * n_heads(hp, il));
    s->score_bytes = cx->flash_attn ? 0 : 2 * scores;
    s->batch_bytes = 2 * scores;
    if (hp->indexer_n_head)
        s->score_bytes += 2 * scores + 2.0 * F32 * hp->indexer_n_head;
    if (has_relative_bias(llama))
        s->score_bytes += 4 * scores + (p->n_gpu > 1 ? 8 * PLIM_PIPELINE_COPIES * scores : 0);
}

void plim_bound_compute(const struct plim_llama *llama, const struct plim_llama_context *cx,
                        const struct plim_placement *p, uint64_t *ret_bytes)
{
    struct sizes s;
    measure_tensors(llama, p, &s);
    measure_cache(llama, cx, p, &s);
    measure_attention(llama, cx, p, &s);
    const double n_tokens = cx->n_tokens, n_copies = p->n_gpu > 1 ? PLIM_PIPELINE_COPIES : 1;
    const double n_cells = llama->hp.arch->memory == PLIM_LLAMA_MEMORY_NONE ? n_tokens : cx->n_ctx_seq;
    const bool has_two_masks = count_of(llama, "attention.sliding_window") || llama->hp.n_swa ||
                               llama->hp.indexer_n_head || has_relative_bias(llama);
    const double decays = has_states(llama) ? s.batch_bytes / 2 * n_tokens : 0;
    const double inputs =
        n_copies * (SMALL_BYTES + n_tokens * (s.input_bytes + decays + (has_two_masks ? 2 : 1) * MASK_BYTES * n_cells));
    const double layers = n_tokens * (s.token_bytes + s.score_bytes * n_cells + s.batch_bytes * n_tokens) +
                          s.output_bytes * cx->n_outputs + s.cell_bytes * n_cells * cx->n_stream +
                          s.seq_bytes * cx->n_seq_max;
    for (int i = 0; i < p->n_gpu; i++)
        ret_bytes[i] = bytes_of(MARGIN * (inputs + layers + s.weight_bytes));
    ret_bytes[p->cpu] = bytes_of(MARGIN * (is_on_gpus(llama, cx, p) ? inputs : inputs + layers));
}

/* --- the memory of a context --- */

static uint64_t padded_row_bytes(enum plim_dtype type, uint64_t width)
{
    return plim_dtype_row_bytes(type, plim_dtype_is_quantized(type) ? plim_align_up(width, PLIM_ROW_PADDING) : width);
}

/*
 * Cells of all streams. Layers that run several times have a cache for each run; Nanbeige's are counted as layers
 * already. DeepSeek-V4 has a stream for every sequence, even with a unified cache.
 */
static double n_cells_of(const struct plim_llama *llama, const struct plim_llama_context *cx)
{
    const uint32_t n_loops = llama->hp.n_layer > llama->hp.n_layer_file ? 1 : count_of(llama, "num_loops");
    const bool is_per_seq = !strcmp(llama->hp.arch->name, "deepseek4");
    return (double)cx->n_ctx_seq * (is_per_seq ? cx->n_seq_max : cx->n_stream) * (n_loops > 1 ? n_loops : 1);
}

void plim_bound_memory(const struct plim_llama *llama, const struct plim_llama_context *cx,
                       const struct plim_placement *p, struct plim_llama_memory *ret_memory)
{
    const struct plim_hparams *hp = &llama->hp;
    const double n_cells = n_cells_of(llama, cx), n_states = cx->n_seq_max * (1.0 + cx->n_rs_seq);
    const double state_bytes = F32 * ((double)plim_hparams_n_embd_r(hp) + (double)plim_hparams_n_embd_s(hp));
    uint64_t widest_v = 0;
    for (uint32_t il = 0; il < hp->n_layer_all; il++)
        widest_v = plim_max_u64(widest_v, v_width(hp, il));
    for (uint32_t il = 0; il < hp->n_layer_all; il++) {
        const int backend = cx->offload_kqv ? p->layer[il] : p->cpu;
        /* an indexer has a cache of its own, with the values of one head (MiniMax-M3) */
        const uint64_t k = k_width(hp, il) + hp->indexer_head_size;
        const uint64_t v = (cx->v_trans ? widest_v : v_width(hp, il)) + (hp->indexer_head_size ? hp->n_embd_head_v : 0);
        const double row_bytes = (double)padded_row_bytes(cx->type_k, k) + (double)padded_row_bytes(cx->type_v, v);
        ret_memory->kv_bytes[backend] += bytes_of(n_cells * row_bytes);
        ret_memory->rs_bytes[backend] += bytes_of(n_states * state_bytes);
        ret_memory->n_kv_layers += k + v > 0;
        ret_memory->n_rs_layers += state_bytes > 0;
    }
}

/* --- weights --- */

/* The tensor is in a layer, or one of those every model has. */
static bool has_known_place(const struct plim_llama *llama, size_t i)
{
    static const char *const usual[] = { "output.weight", "output_norm.weight", "output_norm.bias", "output.bias",
                                         "rope_freqs.weight" };
    const int slot = llama->slot[i];
    if (slot >= 0 || slot == PLIM_SLOT_INPUT)
        return slot < (int)llama->hp.n_layer; /* layers that only draft may not be loaded */
    for (size_t n = 0; n < sizeof usual / sizeof *usual; n++)
        if (!strcmp(llama->tensors[i].name, usual[n]))
            return true;
    return false;
}

void plim_bound_weights(const struct plim_llama *llama, const struct plim_placement *p,
                        const struct plim_weights *weights, struct plim_weights *ret_low, struct plim_weights *ret_high)
{
    uint64_t slack = 0;
    if (p->n_gpu > 1 || !p->is_full || p->has_overrides) /* a layer may be on the other side of a split */
        for (uint32_t il = 0; il < llama->hp.n_layer_all; il++)
            slack = plim_max_u64(slack, llama->layer[il].device_bytes);
    for (size_t i = 0; i < llama->n_tensors; i++)
        if (!has_known_place(llama, i))
            slack += plim_llama_device_bytes(&llama->tensors[i]);
    if (llama->is_tied) /* the copy may not be needed */
        slack += plim_llama_device_bytes(plim_llama_global_tensor(llama, PLIM_GLOBAL_TOKEN_EMBD, PLIM_WEIGHT));
    *ret_low = *ret_high = *weights;
    for (int i = 0; i < p->n_gpu; i++) {
        const uint64_t bytes = weights->device_bytes[i],
                       low_bytes = bytes - bytes / 50; /* small ones may stay behind */
        ret_low->device_bytes[i] = low_bytes > slack ? low_bytes - slack : 0;
        ret_high->device_bytes[i] = bytes + slack;
    }
    ret_low->host_bytes = 0;
    ret_high->host_bytes = plim_max_u64(weights->host_bytes + slack, plim_model_tensor_bytes(llama->model));
}
