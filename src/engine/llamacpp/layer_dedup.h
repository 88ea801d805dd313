/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_ENGINE_LLAMACPP_LAYER_DEDUP_H
#define PLIMSOLL_ENGINE_LLAMACPP_LAYER_DEDUP_H

/*
 * Layer dedup: layers of one kind repeat the same graph, and the allocator that runs over it falls into the same
 * rhythm, of one or two rounds. Three rounds stand for all of them, if the allocator ends the third in the state
 * in which it began it: then any further round would leave it there too. When it does not, the whole graph is built.
 */

#include "engine/ggml/program.h"
#include "engine/llamacpp/place.h"

enum { PLIM_DEDUP_ROUNDS = 3, PLIM_DEDUP_WATCHED = 2 /* the last of them */, PLIM_MAX_DEDUPS = 8 };

/* A pattern in the list of layers: PLIM_DEDUP_ROUNDS rounds of `round` layers from layer[first] on. */
struct plim_dedup {
    uint16_t first, round;
};

struct plim_layers {
    uint16_t layer[PLIM_MAX_LAYERS];
    int n_layers;
    struct plim_dedup dedup[PLIM_MAX_DEDUPS];
    int n_dedups;
};

/* Every layer. */
void plim_layers_all(const struct plim_llama *llama, struct plim_layers *ret_layers);

/*
 * A sample: three rounds of each repeated pattern, every other layer once. `rhythm` repetitions of a pattern (1 or 2)
 * make a round. The first and the last layer are always there. by_types: layers that may be copied to another device
 * differ when the types of their tensors do.
 */
void plim_layers_dedup(const struct plim_llama *llama, const struct plim_placement *place, uint32_t rhythm,
                       bool by_types, struct plim_layers *ret_layers);

/* The checkpoints at the ends of the last two rounds of each pattern; start[] is the first tensor of each layer.
 * Returns their number. */
int plim_dedup_checkpoints(const struct plim_layers *layers, const plim_node *start,
                           struct plim_ggml_checkpoint *ret_checkpoints);

/* True when the replay that passed these checkpoints stands for that of the whole graph. */
bool plim_dedup_is_steady(const struct plim_layers *layers, const struct plim_ggml_checkpoint *checkpoints);

#endif
