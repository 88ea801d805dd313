/* SPDX-License-Identifier: MIT */
#include "engine/llamacpp/memory.h"

#include "base/numbers.h"
#include "base/units.h"
#include "engine/ggml/buffer.h"
#include "engine/llamacpp/bound.h"

#include <string.h>

/* A cache for prediction layers as well, though only a draft context would use it. */
static bool caches_nextn(const struct plim_llama *llama)
{
    static const char *const filtered[] = { "step35", "hy_v3", "glm-dsa", "mimo2", "deepseek32" };
    const struct plim_arch *arch = llama->hp.arch;
    if (arch->memory == PLIM_LLAMA_MEMORY_HYBRID) /* most of them do to this day */
        return arch->recurrent != PLIM_RECURRENT_INTERVAL;
    const size_t n_filtered = llama->epoch->filters_nextn ? sizeof filtered / sizeof *filtered : 1;
    bool is_filtered = false;
    for (size_t i = 0; i < n_filtered; i++)
        is_filtered = is_filtered || !strcmp(arch->name, filtered[i]);
    return llama->epoch->caches_nextn && !is_filtered;
}

static bool attends(const struct plim_llama *llama, uint32_t il)
{
    const struct plim_hparams *hp = &llama->hp;
    if (il >= (caches_nextn(llama) ? hp->n_layer_all : hp->n_layer) || !plim_hparams_has_kv(hp, il))
        return false;
    switch ((enum plim_llama_memory_kind)hp->arch->memory) {
    case PLIM_LLAMA_MEMORY_NONE:
    case PLIM_LLAMA_MEMORY_RECURRENT:
        return false;
    case PLIM_LLAMA_MEMORY_HYBRID:
        if (hp->arch->recurrent == PLIM_RECURRENT_EVERY_BOTH)
            return true;
        if (hp->arch->recurrent == PLIM_RECURRENT_NO_KV_NO_FF)
            return !hp->is_recurrent[il] && hp->n_ff[il] == 0;
        return !hp->is_recurrent[il];
    case PLIM_LLAMA_MEMORY_ATTENTION:
    case PLIM_LLAMA_MEMORY_DSA:
    case PLIM_LLAMA_MEMORY_MSA:
    case PLIM_LLAMA_MEMORY_OTHER:
        break;
    }
    return true;
}

static bool recurs(const struct plim_llama *llama, uint32_t il)
{
    const struct plim_hparams *hp = &llama->hp;
    return il < hp->n_layer && hp->is_recurrent[il] &&
           (hp->arch->memory == PLIM_LLAMA_MEMORY_RECURRENT || hp->arch->memory == PLIM_LLAMA_MEMORY_HYBRID);
}

void plim_llama_memory_find(struct plim_llama *llama)
{
    for (uint32_t il = 0; il < llama->hp.n_layer_all; il++) {
        llama->layer[il].attends = attends(llama, il);
        llama->layer[il].recurs = recurs(llama, il);
    }
}

/* A cache tensor of cells * streams rows: padded like any quantized tensor, aligned like any buffer. */
static uint64_t cache_bytes(enum plim_dtype type, uint64_t width, uint64_t cells, uint64_t n_stream, bool on_cpu)
{
    uint64_t bytes = plim_bytes_product(plim_row_bytes(type, width), cells * n_stream);
    if (on_cpu)
        return plim_align_up(bytes, PLIM_HOST_ALIGNMENT);
    return plim_align_up(bytes + plim_row_padding_bytes(type, width), PLIM_CUDA_ALIGNMENT);
}

static uint64_t layer_kv_bytes(const struct plim_llama *llama, const struct plim_llama_context *cx, uint32_t il,
                               uint64_t v_gqa_max, bool on_cpu)
{
    const struct plim_hparams *hp = &llama->hp;
    uint64_t cells = plim_llama_memory_cells(llama, cx, il);
    uint64_t bytes = cache_bytes(cx->type_k, plim_hparams_k_gqa(hp, il), cells, cx->n_stream, on_cpu);
    if (!plim_hparams_is_mla(hp)) {
        /* transposed, V has every layer as wide as the widest */
        uint64_t width = cx->v_trans ? v_gqa_max : plim_hparams_v_gqa(hp, il);
        bytes += cache_bytes(cx->type_v, width, cells, cx->n_stream, on_cpu);
    } else if (!cx->epoch->has_v_part) {
        bytes += cache_bytes(cx->type_v, hp->n_lora_kv, cells, cx->n_stream, on_cpu);
    }
    bool has_indexer = hp->is_indexer[il] && hp->indexer_head_size &&
                       (hp->arch->memory == PLIM_LLAMA_MEMORY_DSA ||
                        (hp->arch->memory == PLIM_LLAMA_MEMORY_MSA && il >= hp->n_layer_dense_lead));
    if (has_indexer)
        bytes += cache_bytes(cx->type_k, hp->indexer_head_size, cells, cx->n_stream, on_cpu);
    if (has_indexer && !plim_hparams_is_mla(hp)) /* it has values too, of one head, that are never read */
        bytes += cache_bytes(cx->type_v, plim_hparams_head_v(hp, il), cells, cx->n_stream, on_cpu);
    return bytes;
}

/* Layers of one kind have caches of one size on one device. */
static bool is_alike(const struct plim_llama *llama, const struct plim_llama_context *cx,
                     const struct plim_placement *p, uint32_t a, uint32_t b)
{
    const uint32_t n_dense = llama->hp.n_layer_dense_lead;
    return llama->layer[a].kind == llama->layer[b].kind && (a < n_dense) == (b < n_dense) &&
           (!cx->offload_kqv || p->layer[a] == p->layer[b]);
}

static uint64_t layer_rs_bytes(const struct plim_llama *llama, const struct plim_llama_context *cx, bool on_cpu)
{
    uint64_t rows = (uint64_t)cx->n_seq_max * (1 + (uint64_t)cx->n_rs_seq);
    return cache_bytes(PLIM_DTYPE_F32, plim_hparams_n_embd_r(&llama->hp), rows, 1, on_cpu) +
           cache_bytes(PLIM_DTYPE_F32, plim_hparams_n_embd_s(&llama->hp), rows, 1, on_cpu);
}

void plim_llama_memory_size(const struct plim_llama *llama, const struct plim_llama_context *cx,
                            const struct plim_placement *p, struct plim_llama_memory *ret_memory)
{
    struct plim_llama_memory *m = ret_memory;
    const uint64_t v_gqa_max = cx->v_trans ? plim_hparams_v_gqa_max(&llama->hp) : 0;
    *m = (struct plim_llama_memory){ .is_known = llama->hp.arch->memory != PLIM_LLAMA_MEMORY_OTHER };
    if (!m->is_known) {
        plim_bound_memory(llama, cx, p, m);
        return;
    }
    uint32_t last = PLIM_MAX_LAYERS; /* the layer that kv_bytes is of */
    uint64_t kv_bytes = 0;
    for (uint32_t il = 0; il < llama->hp.n_layer_all; il++) {
        int backend = cx->offload_kqv ? p->layer[il] : p->cpu;
        if (plim_llama_memory_attends(llama, il)) {
            if (last == PLIM_MAX_LAYERS || !is_alike(llama, cx, p, last, il))
                kv_bytes = layer_kv_bytes(llama, cx, il, v_gqa_max, backend == p->cpu);
            last = il;
            m->kv_bytes[backend] += kv_bytes;
            m->n_kv_layers++;
        }
        if (plim_llama_memory_recurs(llama, il)) {
            m->rs_bytes[backend] += layer_rs_bytes(llama, cx, backend == p->cpu);
            m->n_rs_layers++;
        }
    }
}
