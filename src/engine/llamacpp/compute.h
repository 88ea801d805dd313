/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_ENGINE_LLAMACPP_COMPUTE_H
#define PLIMSOLL_ENGINE_LLAMACPP_COMPUTE_H

/*
 * The compute buffers that llama.cpp reserves per backend for the worst-case graph. The graph is built as the engine
 * builds it, scheduled and allocated as ggml does it (engine/ggml), so the figure is the engine's own where the
 * architecture's graph is known, and a bound where it is not.
 *
 * Source: llama_context::sched_reserve() of llama.cpp v0.5.0.
 */

#include "engine/llamacpp/memory.h"

/* Room to build graphs in; made once, used for any number of bills (by one thread at a time). */
struct plim_workspace;
struct plim_workspace *plim_workspace_new(void); /* NULL when out of memory */
struct plim_workspace *plim_workspace_free(struct plim_workspace *workspace);

/* For tests: build every layer from now on, and never a sample that stands for all (layer_dedup.h). */
void plim_workspace_dedup_off(struct plim_workspace *workspace);

enum plim_compute_basis {
    PLIM_COMPUTE_REPLAYED = 0, /* of the architecture's own graph */
    PLIM_COMPUTE_BOUNDED,      /* the graph is not known: bytes is an upper bound (bound.h) */
};

struct plim_compute {
    enum plim_compute_basis basis;
    uint64_t bytes[PLIM_MAX_DEVICES + 1]; /* per backend, the CPU at [n_gpu]: "compute buffer size" */
    bool flash_attn;                      /* what -fa auto has become */
};

/* Automatic flash attention may turn out to be off: ret_compute->flash_attn has the result. */
void plim_compute_size(struct plim_workspace *workspace, const struct plim_llama *llama,
                       const struct plim_llama_context *cx, const struct plim_placement *place,
                       struct plim_compute *ret_compute);

/* Pipeline parallelism: several GPUs, everything on them, layer by layer (llama_context's constructor, v0.5.0). */
bool plim_compute_is_pipelined(const struct plim_llama_context *cx, const struct plim_placement *place);

#endif
