/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_ENGINE_LLAMACPP_BOUND_H
#define PLIMSOLL_ENGINE_LLAMACPP_BOUND_H

/*
 * Upper bounds for an architecture that is not modelled. Its tensors, heads and states are in the file, and every graph
 * of the engine is made of products with those tensors, so widths times tokens bound the live memory. The bounds hold
 * for every architecture that is modelled (tests/unit/test_bound.c), which is the reason to trust them for one that is
 * not; a graph with operations that the GPU lacks can still exceed them on the host.
 */

#include "engine/llamacpp/memory.h"

/* True when this architecture has bounds only. */
bool plim_bound_applies(const struct plim_llama *llama);

/* The largest compute buffers, per backend, the CPU at [n_gpu]. */
void plim_bound_compute(const struct plim_llama *llama, const struct plim_llama_context *cx,
                        const struct plim_placement *p, uint64_t *ret_bytes);

/* Every layer with a cache of its own for all of the context, and a state if the file has keys for states. */
void plim_bound_memory(const struct plim_llama *llama, const struct plim_llama_context *cx,
                       const struct plim_placement *p, struct plim_llama_memory *ret_memory);

/* A band around plim_place_weights(): tensors of unknown roles may not be loaded, or elsewhere. */
void plim_bound_weights(const struct plim_llama *llama, const struct plim_placement *p,
                        const struct plim_weights *weights, struct plim_weights *ret_low,
                        struct plim_weights *ret_high);

#endif
