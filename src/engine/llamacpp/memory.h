/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_ENGINE_LLAMACPP_MEMORY_H
#define PLIMSOLL_ENGINE_LLAMACPP_MEMORY_H

/*
 * The memory of a context: K and V per token and layer, and recurrent states per sequence.
 * Source: llama_kv_cache, llama_kv_cache_iswa, llama_kv_cache_dsa, llama_memory_recurrent and
 * llama_model::create_memory() of llama.cpp v0.5.0.
 */

#include "engine/llamacpp/place.h"

struct plim_llama_memory {
    uint64_t kv_bytes[PLIM_MAX_DEVICES + 1]; /* per backend, the CPU at [n_gpu]: "KV buffer size" */
    uint64_t rs_bytes[PLIM_MAX_DEVICES + 1]; /* "RS buffer size" */
    uint32_t n_kv_layers, n_rs_layers;
    bool is_known; /* false: this architecture's memory is not modelled, the figures are an upper bound */
};

void plim_llama_memory_size(const struct plim_llama *llama, const struct plim_llama_context *cx,
                            const struct plim_placement *p, struct plim_llama_memory *ret_memory);

/* True when layer il writes K (and V) into a cache of its own. */
static inline bool plim_llama_memory_attends(const struct plim_llama *llama, uint32_t il)
{
    return llama->layer[il].attends;
}

/* True when it keeps a state per sequence. */
static inline bool plim_llama_memory_recurs(const struct plim_llama *llama, uint32_t il)
{
    return llama->layer[il].recurs;
}

/* Set both for all layers, once. */
void plim_llama_memory_find(struct plim_llama *llama);

/* Cells a layer's stream has: all of the context, or the window of a sliding layer. */
static inline uint32_t plim_llama_memory_cells(const struct plim_llama *llama, const struct plim_llama_context *cx,
                                               uint32_t il)
{
    return llama->hp.is_swa[il] ? cx->n_ctx_swa : cx->n_ctx_seq;
}

#endif
