/* SPDX-License-Identifier: MIT */
#include "engine/ggml/graph.h"

#include "base/mem.h"
#include "engine/ggml/buffer.h"

#include <string.h>

enum { MAX_KEEPS = 16384 };

/* So that sums over a graph stay below 2^63. */
#define MAX_TENSOR_BYTES ((uint64_t)1 << 46)

bool plim_ggml_graph_init(struct plim_ggml_graph *g)
{
    *g = (struct plim_ggml_graph){
        .tensor = plim_alloc_unset(PLIM_GGML_GRAPH_MAX_TENSORS, sizeof *g->tensor),
        .node = plim_alloc_unset(PLIM_GGML_GRAPH_MAX_TENSORS, sizeof *g->node),
        .leaf = plim_alloc_unset(PLIM_GGML_GRAPH_MAX_TENSORS, sizeof *g->leaf),
        .is_placed = plim_alloc(PLIM_GGML_GRAPH_MAX_TENSORS, sizeof *g->is_placed),
        .keep = plim_alloc_unset(MAX_KEEPS, sizeof *g->keep),
    };
    if (!g->tensor || !g->node || !g->leaf || !g->is_placed || !g->keep) {
        plim_ggml_graph_done(g);
        return false;
    }
    plim_ggml_graph_reset(g);
    return true;
}

void plim_ggml_graph_done(struct plim_ggml_graph *g)
{
    plim_free(g->tensor);
    plim_free(g->node);
    plim_free(g->leaf);
    plim_free(g->is_placed);
    plim_free(g->keep);
    *g = (struct plim_ggml_graph){ 0 };
}

void plim_ggml_graph_reset(struct plim_ggml_graph *g)
{
    memset(g->is_placed, 0, (size_t)g->n_tensors);
    g->n_tensors = 1; /* number 0 is "no tensor"; tensors that did not fit were written there */
    g->tensor[0] = (struct plim_gtensor){ .ne = { 1, 1, 1, 1 } }; /* its sizes can be divided by */
    g->n_nodes = g->n_leaves = g->n_keeps = 0;
    g->overflow = false;
}

static plim_node add(struct plim_ggml_graph *g, enum plim_op op, enum plim_dtype type, uint64_t ne0, uint64_t ne1,
                     uint64_t ne2, uint64_t ne3)
{
    uint64_t bytes = plim_row_bytes(type, ne0);
    if (g->n_tensors >= PLIM_GGML_GRAPH_MAX_TENSORS || (ne0 | ne1 | ne2 | ne3) > UINT32_MAX ||
        __builtin_mul_overflow(bytes, ne1, &bytes) || __builtin_mul_overflow(bytes, ne2, &bytes) ||
        __builtin_mul_overflow(bytes, ne3, &bytes) || bytes > MAX_TENSOR_BYTES) {
        g->overflow = true;
        return 0;
    }
    struct plim_gtensor *t = &g->tensor[g->n_tensors];
    *t = (struct plim_gtensor){
        .ne = { (uint32_t)ne0, (uint32_t)ne1, (uint32_t)ne2, (uint32_t)ne3 },
        .bytes = bytes,
        .op = (uint8_t)op,
        .type = (uint8_t)type,
        .home = PLIM_BACKEND_NONE,
        .backend = PLIM_BACKEND_NONE,
    };
    return (plim_node)g->n_tensors++;
}

plim_node plim_ggml_graph_input(struct plim_ggml_graph *g, enum plim_dtype type, uint64_t ne0, uint64_t ne1,
                                uint64_t ne2, uint64_t ne3)
{
    plim_node n = add(g, PLIM_OP_LEAF, type, ne0, ne1, ne2, ne3);
    g->tensor[n].flags = PLIM_TENSOR_INPUT;
    return n;
}

plim_node plim_ggml_graph_external(struct plim_ggml_graph *g, int home, unsigned flags, enum plim_dtype type,
                                   uint64_t ne0, uint64_t ne1, uint64_t ne2, uint64_t ne3)
{
    plim_node n = add(g, PLIM_OP_LEAF, type, ne0, ne1, ne2, ne3);
    struct plim_gtensor *t = &g->tensor[n];
    t->home = t->backend = (int8_t)home;
    g->is_placed[n] = 1; /* it needs no place among the leaves: it has its memory already */
    t->flags = (uint8_t)flags;
    t->extra_bytes = plim_row_padding_bytes(type, ne0);
    return n;
}

plim_node plim_ggml_graph_op(struct plim_ggml_graph *g, enum plim_op op, enum plim_dtype type, uint64_t ne0,
                             uint64_t ne1, uint64_t ne2, uint64_t ne3)
{
    return add(g, op, type, ne0, ne1, ne2, ne3);
}

plim_node plim_ggml_graph_like(struct plim_ggml_graph *g, enum plim_op op, plim_node a, plim_node b)
{
    const struct plim_gtensor *t = &g->tensor[a];
    plim_node n = add(g, op, t->type == PLIM_DTYPE_UNKNOWN ? PLIM_DTYPE_F32 : (enum plim_dtype)t->type, t->ne[0],
                      t->ne[1], t->ne[2], t->ne[3]);
    plim_ggml_graph_source(g, n, a);
    plim_ggml_graph_source(g, n, b);
    return n;
}

plim_node plim_ggml_graph_view(struct plim_ggml_graph *g, plim_node a, bool strided, uint64_t ne0, uint64_t ne1,
                               uint64_t ne2, uint64_t ne3)
{
    plim_node n = add(g, PLIM_OP_VIEW, (enum plim_dtype)g->tensor[a].type, ne0, ne1, ne2, ne3);
    struct plim_gtensor *t = &g->tensor[n];
    t->root = g->tensor[a].root ? g->tensor[a].root : a;
    t->flags = strided || (g->tensor[a].flags & PLIM_TENSOR_STRIDED) ? PLIM_TENSOR_STRIDED : 0;
    if (g->tensor[a].flags & PLIM_TENSOR_STRIDED)
        t->bytes = g->tensor[a].bytes; /* from its first element to its last, gaps included */
    t->extra_bytes = plim_row_padding_bytes((enum plim_dtype)t->type, ne0); /* of its copies on other backends */
    plim_ggml_graph_source(g, n, a);
    return n;
}

/* A strided view that reaches over n_parts parts, stride_bytes from one to the next. */
static plim_node parts(struct plim_ggml_graph *g, plim_node view, uint64_t n_parts, uint64_t stride_bytes,
                       uint64_t bytes)
{
    if (bytes > MAX_TENSOR_BYTES || (n_parts > 1 && stride_bytes > MAX_TENSOR_BYTES / n_parts))
        g->overflow = true;
    else if (view && n_parts > 0)
        g->tensor[view].bytes = (n_parts - 1) * stride_bytes + bytes;
    return view;
}

plim_node plim_ggml_graph_heads(struct plim_ggml_graph *g, plim_node a, uint64_t ne0, uint64_t ne1)
{
    const struct plim_gtensor t = g->tensor[a];
    const enum plim_dtype type = (enum plim_dtype)t.type;
    return parts(g, plim_ggml_graph_view(g, a, true, ne0, ne1, t.ne[1], 1), t.ne[1], plim_row_bytes(type, t.ne[0]),
                 plim_row_bytes(type, ne0) * ne1);
}

plim_node plim_ggml_graph_columns(struct plim_ggml_graph *g, plim_node a, uint64_t ne0)
{
    const struct plim_gtensor t = g->tensor[a];
    const enum plim_dtype type = (enum plim_dtype)t.type;
    return parts(g, plim_ggml_graph_view(g, a, true, ne0, t.ne[1], t.ne[2], t.ne[3]),
                 (uint64_t)t.ne[1] * t.ne[2] * t.ne[3], plim_row_bytes(type, t.ne[0]), plim_row_bytes(type, ne0));
}

plim_node plim_ggml_graph_plane(struct plim_ggml_graph *g, plim_node a)
{
    const struct plim_gtensor t = g->tensor[a];
    const uint64_t row_bytes = plim_row_bytes((enum plim_dtype)t.type, t.ne[0]);
    return parts(g, plim_ggml_graph_view(g, a, true, t.ne[0], t.ne[2], 1, 1), t.ne[2], row_bytes * t.ne[1], row_bytes);
}

plim_node plim_ggml_graph_part(struct plim_ggml_graph *g, plim_node a, uint64_t bytes, uint64_t ne0, uint64_t ne1,
                               uint64_t ne2, uint64_t ne3)
{
    return parts(g, plim_ggml_graph_view(g, a, true, ne0, ne1, ne2, ne3), 1, 0, bytes);
}

plim_node plim_ggml_graph_store(struct plim_ggml_graph *g, plim_node cache, plim_node value, plim_node index)
{
    plim_node n = plim_ggml_graph_like(g, PLIM_OP_STORE, cache, 0);
    struct plim_gtensor *t = &g->tensor[n];
    t->n_sources = 0;
    t->root = g->tensor[cache].root ? g->tensor[cache].root : cache;
    plim_ggml_graph_source(g, n, value);
    plim_ggml_graph_source(g, n, index);
    plim_ggml_graph_source(g, n, cache);
    return n;
}

static void visit(struct plim_ggml_graph *g, plim_node node)
{
    const struct plim_gtensor *t = &g->tensor[node];
    g->is_placed[node] = 1;
    if (t->op == PLIM_OP_LEAF) {
        g->leaf[g->n_leaves++] = node;
        return;
    }
    for (int i = 0; i < t->n_sources; i++)
        if (!g->is_placed[t->source[i]])
            visit(g, t->source[i]);
    g->node[g->n_nodes++] = node;
}

void plim_ggml_graph_expand(struct plim_ggml_graph *g, plim_node node)
{
    if (node && !g->is_placed[node])
        visit(g, node);
}

void plim_ggml_graph_keep(struct plim_ggml_graph *g, const struct plim_ggml_keep *keep)
{
    if (g->n_keeps == MAX_KEEPS)
        g->overflow = true;
    else
        g->keep[g->n_keeps++] = *keep;
}
