/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_ENGINE_GGML_REPLAY_H
#define PLIMSOLL_ENGINE_GGML_REPLAY_H

/*
 * ggml's graph allocator, replayed: how large the compute buffer of each backend must be for a graph of these sizes.
 *
 * Free space is a list of blocks per backend; a tensor goes into the smallest block that holds it, the open end last.
 * The buffer is as large as the highest address used. Rule: ggml-alloc.c, ggml_dyn_tallocr_alloc(), at llama.cpp
 * v0.5.0. (Chunks, for devices that limit the size of a buffer, are not modelled: CUDA does not.)
 */

#include "engine/ggml/program.h"

struct plim_replay {
    uint64_t *start;            /* per tensor */
    struct plim_blocks *blocks; /* per backend */
};

bool plim_replay_init(struct plim_replay *r);
void plim_replay_done(struct plim_replay *r);

/* Bytes per backend into ret_bytes[]. The checkpoints are those the program was made with, in the order of the walk. */
void plim_replay(struct plim_replay *r, const struct plim_ggml_graph *g, const struct plim_ggml_program *program,
                 struct plim_ggml_checkpoint *checkpoints, int n_checkpoints, uint64_t *ret_bytes);

#endif
