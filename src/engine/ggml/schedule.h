/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_ENGINE_GGML_SCHEDULE_H
#define PLIMSOLL_ENGINE_GGML_SCHEDULE_H

/*
 * Where each node is computed, and which tensors are copied from one backend to another for it. The result is the
 * list of allocation events in the order ggml's allocator sees them.
 *
 * Rule: ggml-backend.cpp, ggml_backend_sched_split_graph(), at llama.cpp v0.5.0, for backends of which every one
 * supports every op (CUDA devices and the CPU), but for the nodes marked as the CPU's.
 */

#include "engine/ggml/graph.h"

enum { PLIM_MAX_BACKENDS = 17 /* 16 GPUs and the CPU */, PLIM_PIPELINE_COPIES = 4 /* GGML_SCHED_MAX_COPIES */ };

struct plim_schedule_params {
    int n_backends;            /* GPUs, then the CPU */
    bool op_offload;           /* compute with weights of the CPU on a GPU when the batch is large */
    int offload_to;            /* that GPU: the first one in use */
    uint32_t op_offload_batch; /* from this batch on (GGML_OP_OFFLOAD_MIN_BATCH: 32) */
    bool pipeline;             /* pipeline parallelism: four copies of everything that crosses backends */
};

/* One step of the allocator: compute `node`, which lives on `backend`; or, for a dependency, just hold `node`'s
 * sources. */
struct plim_event {
    plim_node node;
    int8_t backend;
};

/* A comparison of sizes that the result rests on: of the layouts of two tensors, or (b 0) of a batch with the least. */
struct plim_test {
    plim_node a, b;
    bool result;
};

struct plim_schedule {
    struct plim_event *event;
    int n_events;
    struct plim_event *leaf; /* leaves, in the order the allocator places them */
    int n_leaves;
    plim_node *copy;              /* scratch: copy[backend * PLIM_GGML_GRAPH_MAX_TENSORS + tensor] */
    struct plim_test *batch_test; /* nodes that would have gone elsewhere with another batch */
    int n_batch_tests;
    int n_built; /* tensors of the graph before copies were added */
    bool overflow;
};

bool plim_schedule_init(struct plim_schedule *s);
void plim_schedule_done(struct plim_schedule *s);

/* Fills s from g; nodes of g get their backend, copies are added to g as tensors. */
void plim_schedule(struct plim_schedule *s, struct plim_ggml_graph *g, const struct plim_schedule_params *params);

/* The batch of a node, as far as it decides about moving the node to a GPU. */
uint64_t plim_schedule_batch(const struct plim_gtensor *t);

/* The original of a copy; other tensors are their own. */
static inline plim_node plim_schedule_origin(const struct plim_ggml_graph *g, const struct plim_schedule *s,
                                             plim_node tensor)
{
    return tensor < s->n_built ? tensor : g->tensor[tensor].source[0];
}

#endif
