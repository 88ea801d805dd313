/* SPDX-License-Identifier: MIT */
#include "engine/llamacpp/place.h"

#include "base/mem.h"
#include "base/units.h"
#include "engine/ggml/buffer.h"

#include <string.h>

/* --- layers --- */

/*
 * Layer numbers from the first offloaded one, as a fraction of all offloaded, are looked up in the cumulated split.
 * In single precision throughout, as llama.cpp does it: a layer on a boundary must fall on the same side.
 */
static void split_layers(const struct plim_llama *llama, const struct plim_llamacpp_setup *setup,
                         const struct plim_llama_context *cx, const uint64_t *split_bytes, struct plim_placement *p)
{
    const uint32_t n_layer_all = llama->hp.n_layer_all;
    float split[PLIM_MAX_DEVICES] = { 0 }, sum = 0;
    bool has_split = false;
    for (uint32_t i = 0; i < setup->n_tensor_split && i < PLIM_MAX_DEVICES; i++)
        has_split = has_split || setup->tensor_split[i] != 0;
    for (int i = 0; i < p->n_gpu; i++) {
        float part = !has_split                            ? (float)split_bytes[i]
                     : (uint32_t)i < setup->n_tensor_split ? (float)setup->tensor_split[i]
                                                           : 0.0F;
        if (setup->split_mode == PLIM_SPLIT_NONE)
            part = (uint32_t)i == setup->main_gpu ? 1.0F : 0.0F;
        sum += part;
        split[i] = sum;
    }
    for (int i = 0; i < p->n_gpu; i++)
        split[i] /= sum;
    const uint32_t n_offloaded = cx->n_gpu_layers;
    /* the output layer is the first to be offloaded; before, it was the last */
    const uint32_t n_before = cx->epoch->offloads_output_first ? n_layer_all + 1 : n_layer_all;
    const uint32_t start = n_offloaded < n_before ? n_before - n_offloaded : 0;
    for (uint32_t il = 0; il <= n_layer_all; il++) {
        int gpu = 0;
        while (il >= start && gpu < p->n_gpu - 1 && !((float)(il - start) / (float)n_offloaded < split[gpu]))
            gpu++;
        p->layer[il] = (int8_t)(il < start || il - start >= n_offloaded ? p->cpu : gpu);
    }
    p->is_full = p->n_gpu > 0 && n_offloaded > n_layer_all;
}

int plim_place(const struct plim_llama *llama, const struct plim_llamacpp_setup *setup,
               const struct plim_llama_context *cx, int n_gpu, const uint64_t *split_bytes,
               struct plim_placement *ret_placement, struct plim_error *reterr)
{
    struct plim_placement *p = ret_placement;
    p->n_gpu = p->cpu = n_gpu;
    p->tensor = NULL;
    p->has_overrides = false;
    split_layers(llama, setup, cx, split_bytes, p);
    const bool has_output = cx->epoch->has_lfm2_output || strcmp(llama->hp.arch->name, "lfm2") != 0;
    p->tied_output = has_output ? p->layer[llama->hp.n_layer_all] : p->cpu;
    return plim_place_overrides(llama, setup, p, reterr);
}

void plim_placement_done(struct plim_placement *placement)
{
    plim_free(placement->tensor);
    placement->tensor = NULL;
}

/* --- weights --- */

struct span {
    uint64_t first, end;
};

static void widen(struct span *span, uint64_t first, uint64_t end)
{
    if (span->end == 0 || first < span->first)
        span->first = first;
    if (end > span->end)
        span->end = end;
}

/* Layers that load RoPE's factors: all, but in Gemma 4 those that see everything (gemma4.cpp: load_arch_tensors). */
static bool loads_rope_factors(const struct plim_llama *llama, uint32_t il)
{
    return !llama->hp.is_swa[il] || strcmp(llama->hp.arch->name, "gemma4") != 0;
}

/* Where the factors themselves are; the devices of other layers have copies. */
static uint32_t first_with_rope_factors(const struct plim_llama *llama)
{
    uint32_t il = 0;
    while (il + 1 < llama->hp.n_layer && !loads_rope_factors(llama, il))
        il++;
    return il;
}

/* Next-token-prediction layers stay in the file unless they are to draft. */
static uint32_t n_loaded_layers(const struct plim_llama *llama, const struct plim_llama_context *cx)
{
    return cx->load_mtp ? llama->hp.n_layer_all : llama->hp.n_layer;
}

/* Some models mark tensors of these layers optional and thereby load them all the same (load_arch_tensors). */
static bool arch_has_strays(const struct plim_arch *arch)
{
    return arch->memory == PLIM_LLAMA_MEMORY_DSA || !strcmp(arch->name, "hy_v3") || !strcmp(arch->name, "step35") ||
           !strcmp(arch->name, "cohere2moe");
}

static bool has_strays(const struct plim_llama *llama)
{
    return llama->hp.n_layer_nextn > 0 && (arch_has_strays(llama->hp.arch) || llama->epoch->loads_nextn_bias);
}

/* The bias of Q, K or V; rest is what follows the layer's number. */
static bool is_qkv_bias(const char *rest)
{
    return rest && (!strcmp(rest, ".attn_q.bias") || !strcmp(rest, ".attn_k.bias") || !strcmp(rest, ".attn_v.bias"));
}

static bool is_stray(const struct plim_llama *llama, size_t i)
{
    static const char *const of_all[] = { "nextn.embed_tokens.", "nextn.shared_head_" };
    static const char *const of_trunk[] = { "ffn_gate", "ffn_up", "ffn_down", "exp_probs_b" };
    static const char *const of_step[] = { "attn_q_norm.", "attn_k_norm.", "attn_gate." };
    const char *arch = llama->hp.arch->name, *rest = strchr(llama->tensors[i].name + strlen("blk."), '.');
    bool found = false;
    if (llama->epoch->loads_nextn_bias && is_qkv_bias(rest))
        return true;
    if (!arch_has_strays(llama->hp.arch))
        return false;
    if (llama->hp.arch->memory == PLIM_LLAMA_MEMORY_DSA)
        return rest && !strncmp(rest + 1, "exp_probs_b.", strlen("exp_probs_b."));
    for (size_t n = 0; rest && n < sizeof of_all / sizeof *of_all; n++)
        found = found || !strncmp(rest + 1, of_all[n], strlen(of_all[n]));
    for (size_t n = 0; rest && strcmp(arch, "cohere2moe") && n < sizeof of_trunk / sizeof *of_trunk; n++)
        found = found || !strncmp(rest + 1, of_trunk[n], strlen(of_trunk[n]));
    for (size_t n = 0; rest && !strcmp(arch, "step35") && n < sizeof of_step / sizeof *of_step; n++)
        found = found || !strncmp(rest + 1, of_step[n], strlen(of_step[n]));
    return found;
}

static bool is_loaded(const struct plim_llama *llama, const struct plim_llama_context *cx, size_t i)
{
    if (llama->slot[i] == PLIM_SLOT_UNUSED)
        return false;
    return llama->slot[i] < (int)n_loaded_layers(llama, cx) || (has_strays(llama) && is_stray(llama, i));
}

static void set_host_bytes(bool is_mapped, uint64_t span_bytes, uint64_t read_bytes, struct plim_weights *w)
{
    w->host_bytes = is_mapped ? span_bytes : read_bytes;
    w->idle_bytes = w->host_bytes > read_bytes ? w->host_bytes - read_bytes : 0;
}

/* Tensor by tensor: needed when overrides split layers, or a model's parts make spans of their own. */
static void weigh_tensors(const struct plim_llama *llama, const struct plim_llama_context *cx,
                          const struct plim_placement *p, struct plim_weights *w)
{
    struct span span = { 0 };
    uint64_t read_bytes = 0;
    uint32_t shard = 0;
    for (size_t i = 0; i < llama->n_tensors; i++) {
        const struct plim_tensor *t = &llama->tensors[i];
        int backend = plim_place_of(llama, p, i);
        if (t->shard != shard) {
            w->host_bytes += span.end - span.first;
            span = (struct span){ 0 };
            shard = t->shard;
        }
        if (!is_loaded(llama, cx, i))
            continue;
        if (llama->slot[i] == PLIM_SLOT_ROPE)
            backend = p->layer[first_with_rope_factors(llama)];
        if (backend != p->cpu) {
            w->device_bytes[backend] += plim_llama_device_bytes(t);
            continue;
        }
        read_bytes += plim_align_up(t->bytes, PLIM_HOST_ALIGNMENT);
        if (cx->mmap)
            widen(&span, t->offset, t->offset + t->bytes);
    }
    set_host_bytes(cx->mmap, w->host_bytes + span.end - span.first, read_bytes, w);
}

static void weigh_layers(const struct plim_llama *llama, const struct plim_llama_context *cx,
                         const struct plim_placement *p, struct plim_weights *w)
{
    struct span span = { 0 };
    uint64_t host_bytes = 0;
    for (uint32_t il = 0; il < n_loaded_layers(llama, cx); il++) {
        const struct plim_layer *layer = &llama->layer[il];
        if (p->layer[il] != p->cpu) {
            w->device_bytes[p->layer[il]] += layer->device_bytes;
        } else {
            host_bytes += layer->host_bytes;
            if (layer->end_byte)
                widen(&span, layer->first_byte, layer->end_byte);
        }
    }
    for (size_t n = 0; n < llama->n_outside; n++) {
        const size_t i = llama->outside[n];
        const struct plim_tensor *t = &llama->tensors[i];
        int backend =
            llama->slot[i] == PLIM_SLOT_ROPE ? p->layer[first_with_rope_factors(llama)] : plim_place_of(llama, p, i);
        if (backend != p->cpu) {
            w->device_bytes[backend] += plim_llama_device_bytes(t);
        } else {
            host_bytes += plim_align_up(t->bytes, PLIM_HOST_ALIGNMENT);
            widen(&span, t->offset, t->offset + t->bytes);
        }
    }
    set_host_bytes(cx->mmap, span.end - span.first, host_bytes, w);
}

/*
 * A tied embedding is loaded a second time for the output, unless that is where it already is. Gemma 3n and 4 ask for
 * the output first, so that there is nothing yet that it could share (gemma3n.cpp: load_arch_tensors); and a type of
 * which the GPU cannot pick rows is pinned for products only.
 */
static void add_tied_output(const struct plim_llama *llama, const struct plim_llama_context *cx,
                            const struct plim_placement *p, struct plim_weights *w)
{
    const struct plim_tensor *embd = plim_llama_global_tensor(llama, PLIM_GLOBAL_TOKEN_EMBD, PLIM_WEIGHT);
    if (!llama->is_tied)
        return;
    const char *arch = llama->hp.arch->name;
    const bool is_same_place = p->tied_output == plim_place_of(llama, p, (size_t)(embd - llama->tensors));
    const bool is_first = !strcmp(arch, "gemma3n") || !strcmp(arch, "gemma4");
    const bool is_pinned_apart = p->layer[llama->hp.n_layer_all] == p->cpu && p->n_gpu > 0 &&
                                 p->tied_output == p->cpu && !plim_cuda_gets_rows(cx->epoch, embd->type);
    if (is_same_place && !is_first && !is_pinned_apart)
        return;
    if (p->tied_output != p->cpu)
        w->device_bytes[p->tied_output] += plim_llama_device_bytes(embd);
    else if (!cx->mmap)
        w->host_bytes += plim_align_up(embd->bytes, PLIM_HOST_ALIGNMENT);
}

void plim_place_weights(const struct plim_llama *llama, const struct plim_llama_context *cx,
                        const struct plim_placement *p, struct plim_weights *ret_weights)
{
    struct plim_weights *w = ret_weights;
    *w = (struct plim_weights){ 0 };
    if (p->tensor || plim_model_n_shards(llama->model) > 1 || has_strays(llama))
        weigh_tensors(llama, cx, p, w);
    else
        weigh_layers(llama, cx, p, w);
    add_tied_output(llama, cx, p, w);
    /* RoPE's factors belong to the first layer that reads them; every other device with such layers gets a copy */
    const uint32_t first = first_with_rope_factors(llama);
    bool has_copy[PLIM_MAX_DEVICES + 1] = { false };
    has_copy[p->layer[first]] = true;
    for (uint32_t il = first + 1; il < llama->hp.n_layer && llama->rope_device_bytes; il++)
        if (!has_copy[p->layer[il]] && loads_rope_factors(llama, il)) {
            has_copy[p->layer[il]] = true;
            if (p->layer[il] != p->cpu)
                w->device_bytes[p->layer[il]] += llama->rope_device_bytes;
        }
}
