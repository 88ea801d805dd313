/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_ENGINE_GGML_GRAPH_H
#define PLIMSOLL_ENGINE_GGML_GRAPH_H

/*
 * A compute graph as far as memory sees it: tensors with a size, what they are computed from, and the order in which
 * they are computed. No values, no kernels. An engine's rules build it (llamacpp/graph/); schedule.c gives every
 * node a backend and finds the copies between backends; replay.c runs ggml's allocator over the result.
 *
 * Tensors are numbers (their index in the graph). Number 0 is "no tensor", so an absent source or weight costs nothing
 * to pass along. Backends are numbers too: GPUs from 0 in the engine's order, the CPU last.
 *
 * What a node may be, which ops reuse a parent's memory, and the order of nodes follow ggml: ggml.c
 * (ggml_build_forward_impl, visiting sources left to right, depth first) and ggml-alloc.c (ggml_op_can_inplace), at
 * llama.cpp v0.5.0.
 */

#include "plimsoll/dtype.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PLIM_GGML_GRAPH_MAX_SOURCES = 8,
    PLIM_GGML_GRAPH_MAX_TENSORS = 32000, /* tensors are int16_t */
    PLIM_BACKEND_NONE = -1,
};

typedef int16_t plim_node; /* a tensor of a graph; 0: no tensor */

enum plim_op {
    PLIM_OP_LEAF,       /* input, weight, cache */
    PLIM_OP_VIEW,       /* view, reshape, permute, transpose: the memory of its source */
    PLIM_OP_COMPUTE,    /* anything that needs memory of its own */
    PLIM_OP_INPLACE,    /* may take over the memory of a source with the same layout */
    PLIM_OP_ROPE,       /* in place, but never drawn to the backend of its weights */
    PLIM_OP_MUL_MAT,    /* like COMPUTE; its batch is ne[1] */
    PLIM_OP_MUL_MAT_ID, /* like COMPUTE; its batch is ne[2] */
    PLIM_OP_GET_ROWS,   /* like COMPUTE; never worth moving to a GPU for its weights */
    PLIM_OP_FLASH_ATTN, /* like COMPUTE; not drawn to the backend of its sinks */
    PLIM_OP_STORE,      /* writes into a cache: a view of it */
};

enum {
    PLIM_TENSOR_INPUT = 1,     /* filled by the engine before the graph runs: on the CPU, allocated first */
    PLIM_TENSOR_OUTPUT = 2,    /* never given back */
    PLIM_TENSOR_WEIGHT = 4,    /* lives in a model buffer */
    PLIM_TENSOR_STRIDED = 8,   /* not contiguous: shares a layout with nothing */
    PLIM_TENSOR_CPU_ONLY = 16, /* computed by an op that CUDA has no kernel for in this shape */
};

struct plim_gtensor {
    uint32_t ne[4];
    uint64_t bytes;       /* ggml_nbytes() */
    uint64_t extra_bytes; /* added by the CUDA buffer type when it allocates this tensor */
    uint8_t op;           /* enum plim_op */
    uint8_t type;         /* enum plim_dtype */
    uint8_t flags;
    uint8_t n_sources;
    int8_t home;    /* backend of the buffer a leaf lives in, PLIM_BACKEND_NONE when the replay allocates it */
    int8_t backend; /* where it is computed; set by the builder in a few cases, else by plim_schedule() */
    int16_t split;  /* the run of nodes it is computed in, by plim_schedule() */
    plim_node root; /* the tensor a view looks into, 0 for tensors with memory of their own */
    plim_node source[PLIM_GGML_GRAPH_MAX_SOURCES];
};

/*
 * Keep `tensor` alive until `until` has been computed, if a fused kernel reads it there: when the nodes it stands for,
 * `first` to `last`, are computed in one split of a GPU.
 */
struct plim_ggml_keep {
    plim_node tensor, until, first, last;
};

struct plim_ggml_graph {
    struct plim_gtensor *tensor;
    int n_tensors;
    plim_node *node; /* computed tensors in order */
    int n_nodes;
    plim_node *leaf; /* leaves that have no memory yet, in the order they were met */
    int n_leaves;
    uint8_t *is_placed; /* per tensor: already in node[] or leaf[] */
    struct plim_ggml_keep *keep;
    int n_keeps;
    bool overflow; /* more tensors than fit: the result means nothing */
};

/* Room for PLIM_GGML_GRAPH_MAX_TENSORS tensors; false when out of memory. */
bool plim_ggml_graph_init(struct plim_ggml_graph *g);
void plim_ggml_graph_done(struct plim_ggml_graph *g);
void plim_ggml_graph_reset(struct plim_ggml_graph *g);

/* --- leaves --- */

plim_node plim_ggml_graph_input(struct plim_ggml_graph *g, enum plim_dtype type, uint64_t ne0, uint64_t ne1,
                                uint64_t ne2, uint64_t ne3);

/* A tensor in a buffer of backend `home` that exists before the graph runs. */
plim_node plim_ggml_graph_external(struct plim_ggml_graph *g, int home, unsigned flags, enum plim_dtype type,
                                   uint64_t ne0, uint64_t ne1, uint64_t ne2, uint64_t ne3);

/* --- nodes: the shape is given, or that of the first source --- */

plim_node plim_ggml_graph_op(struct plim_ggml_graph *g, enum plim_op op, enum plim_dtype type, uint64_t ne0,
                             uint64_t ne1, uint64_t ne2, uint64_t ne3);
/* Append a source; 0 is ignored. */
static inline void plim_ggml_graph_source(struct plim_ggml_graph *g, plim_node node, plim_node source)
{
    struct plim_gtensor *t = &g->tensor[node];
    if (!source || !node)
        return;
    if (t->n_sources == PLIM_GGML_GRAPH_MAX_SOURCES)
        g->overflow = true;
    else
        t->source[t->n_sources++] = source;
}

/* Same shape as a, computed from a and b (b may be 0). */
plim_node plim_ggml_graph_like(struct plim_ggml_graph *g, enum plim_op op, plim_node a, plim_node b);

/* A view of all of a with another shape; strided: it is not contiguous. */
plim_node plim_ggml_graph_view(struct plim_ggml_graph *g, plim_node a, bool strided, uint64_t ne0, uint64_t ne1,
                               uint64_t ne2, uint64_t ne3);

/* Parts of a, with gaps between them: */
plim_node plim_ggml_graph_heads(struct plim_ggml_graph *g, plim_node a, uint64_t ne0,
                                uint64_t ne1);                                           /* of rows: [ne0, ne1, rows] */
plim_node plim_ggml_graph_columns(struct plim_ggml_graph *g, plim_node a, uint64_t ne0); /* [ne0, a1, a2, a3] */
plim_node plim_ggml_graph_plane(struct plim_ggml_graph *g, plim_node a);                 /* one of a1: [a0, a2] */

/* Any other part; bytes from its first element to its last. */
plim_node plim_ggml_graph_part(struct plim_ggml_graph *g, plim_node a, uint64_t bytes, uint64_t ne0, uint64_t ne1,
                               uint64_t ne2, uint64_t ne3);

/* Write value into cache (rows chosen by index, which may be 0). */
plim_node plim_ggml_graph_store(struct plim_ggml_graph *g, plim_node cache, plim_node value, plim_node index);

/* Append node and everything it needs to the order of computation (ggml_build_forward_expand). */
void plim_ggml_graph_expand(struct plim_ggml_graph *g, plim_node node);

/* In the order in which the `until` nodes are computed. */
void plim_ggml_graph_keep(struct plim_ggml_graph *g, const struct plim_ggml_keep *keep);

#endif
