/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_ENGINE_LLAMACPP_PLACE_H
#define PLIMSOLL_ENGINE_LLAMACPP_PLACE_H

/*
 * The device of each layer, and of each tensor. Backends are numbered GPUs first, the CPU last.
 * Source: llama_model_base::load_tensors() and llama_model_loader::create_tensor() of llama.cpp v0.5.0.
 */

#include "engine/llamacpp/context.h"

struct plim_placement {
    int n_gpu, cpu;                    /* cpu == n_gpu */
    int8_t layer[PLIM_MAX_LAYERS + 1]; /* [n_layer_all] is the output layer */
    int8_t *tensor;                    /* per tensor, only when overrides make it differ from its layer; else NULL */
    int tied_output;                   /* where a tied embedding is loaded for the output */
    bool is_full;                      /* every layer and the output are on GPUs */
    bool has_overrides;
};

/*
 * Place the layers. split_bytes[n_gpu] is the free memory llama.cpp would see, used where -ts is not given.
 * Fails for -ot patterns that do not compile or name a device that is not there.
 */
int plim_place(const struct plim_llama *llama, const struct plim_llamacpp_setup *setup,
               const struct plim_llama_context *cx, int n_gpu, const uint64_t *split_bytes,
               struct plim_placement *ret_placement, struct plim_error *reterr) PLIM_MUST_CHECK;
void plim_placement_done(struct plim_placement *placement);

/* Place tensors apart from their layer; the second half of plim_place(). */
int plim_place_overrides(const struct plim_llama *llama, const struct plim_llamacpp_setup *setup,
                         struct plim_placement *placement, struct plim_error *reterr) PLIM_MUST_CHECK;

/* The backend of tensor number i. */
static inline int plim_place_of(const struct plim_llama *llama, const struct plim_placement *p, size_t i)
{
    int slot = llama->slot[i];
    if (p->tensor)
        return p->tensor[i];
    return slot >= 0 ? p->layer[slot] : slot == PLIM_SLOT_OUTPUT ? p->layer[llama->hp.n_layer_all] : p->cpu;
}

/* Bytes of weights per backend, as the engine's "model buffer size" lines have them. */
struct plim_weights {
    uint64_t device_bytes[PLIM_MAX_DEVICES];
    uint64_t host_bytes; /* mapped: spans of the files; else the sum in host buffers */
    uint64_t idle_bytes; /* of these: inside a span, but of tensors that went to a GPU */
};

void plim_place_weights(const struct plim_llama *llama, const struct plim_llama_context *cx,
                        const struct plim_placement *p, struct plim_weights *ret_weights);

#endif
