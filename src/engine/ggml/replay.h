/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_ENGINE_GGML_REPLAY_H
#define PLIMSOLL_ENGINE_GGML_REPLAY_H

/*
 * ggml's graph allocator, replayed: how large the compute buffer of each backend must be for a scheduled graph.
 *
 * A tensor is placed when it is first computed and given back when its last reader is done; some ops take over the
 * place of a source. Free space is a list of blocks per backend; a tensor goes into the smallest block that holds it,
 * the open end last. The buffer is as large as the highest address used. Rule: ggml-alloc.c,
 * ggml_gallocr_alloc_graph_impl() and ggml_dyn_tallocr_alloc(), at llama.cpp v0.5.0. (The chunks of devices with a
 * largest buffer are not modelled: CUDA has none.)
 */

#include "engine/ggml/schedule.h"

struct plim_replay {
    struct plim_place *place;   /* per tensor */
    struct plim_blocks *blocks; /* per backend */
};

bool plim_replay_init(struct plim_replay *r);
void plim_replay_done(struct plim_replay *r);

/*
 * A place in the walk where the allocator's state is written down: when the last tensor of [from, to) is computed. Two
 * states are equal when the free blocks are, and the tensors still held, those of the range by their number in it.
 */
struct plim_checkpoint {
    plim_node from, to;
    uint64_t state;  /* at this place */
    uint64_t window; /* of the range's own operations since the last one: sizes, backends, order */
};

/*
 * Bytes per backend into ret_bytes[n_backends]; false when the graph was too large to be represented. Checkpoints are
 * in the order of the walk.
 */
bool plim_replay(struct plim_replay *r, const struct plim_graph *g, const struct plim_schedule *s, int n_backends,
                 struct plim_checkpoint *checkpoints, int n_checkpoints, uint64_t *ret_bytes);

#endif
