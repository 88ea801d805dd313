/* SPDX-License-Identifier: MIT */
/* The arithmetic of graphs: leaves, products, norms, positions. See build.h. */
#include "engine/llamacpp/graph/build.h"

/* --- leaves --- */

static plim_node leaf_at(struct plim_build *b, const struct plim_tensor *t, int home)
{
    if (!t)
        return 0;
    return plim_ggml_graph_external(b->g, home, PLIM_TENSOR_WEIGHT, t->type, t->ne[0], t->ne[1], t->ne[2], t->ne[3]);
}

static plim_node weight_leaf(struct plim_build *b, const struct plim_tensor *t)
{
    if (!t)
        return 0;
    const size_t i = (size_t)(t - b->llama->tensors);
    if (!b->weight[i])
        b->weight[i] = leaf_at(b, t, plim_place_of(b->llama, b->place, i));
    return b->weight[i];
}

/* RoPE's factors: every device with layers has a copy. */
static plim_node rope_factors(struct plim_build *b, uint32_t il)
{
    if (b->hp->arch->graph & PLIM_GGML_GRAPH_ROPE_FREQS_FULL && b->hp->is_swa[il])
        return 0;
    const struct plim_tensor *t = plim_llama_global_tensor(b->llama, PLIM_GLOBAL_ROPE_FREQS, PLIM_WEIGHT);
    if (!t)
        t = plim_llama_global_tensor(b->llama, PLIM_GLOBAL_ROPE_FACTORS_SHORT, PLIM_WEIGHT);
    const int home = b->place->layer[il];
    if (t && !b->rope_factors[home])
        b->rope_factors[home] = leaf_at(b, t, home);
    return b->rope_factors[home];
}

bool plim_build_has(const struct plim_build *b, uint32_t il, enum plim_tensor_role role)
{
    return role < PLIM_TENSOR_ROLE_MAX_ &&
           (b->llama->layer[il].tensor[role][PLIM_WEIGHT] != 0 || b->llama->layer[il].tensor[role][PLIM_BIAS] != 0);
}

/* Layers are built one after the other: a layer starts where the first weight of it is read. */
static void notice_start(struct plim_build *b, uint32_t il)
{
    const bool is_next = b->n_started < b->n_layers && b->layers[b->n_started] == il;
    if (is_next)
        b->start[b->n_started++] = (plim_node)b->g->n_tensors;
}

plim_node plim_build_weight(struct plim_build *b, uint32_t il, enum plim_tensor_role role)
{
    notice_start(b, il);
    return weight_leaf(b, plim_llama_layer_tensor(b->llama, il, role, PLIM_WEIGHT));
}

plim_node plim_build_bias(struct plim_build *b, uint32_t il, enum plim_tensor_role role)
{
    return weight_leaf(b, plim_llama_layer_tensor(b->llama, il, role, PLIM_BIAS));
}

plim_node plim_build_scale_of(struct plim_build *b, uint32_t il, enum plim_tensor_role role)
{
    return weight_leaf(b, plim_llama_layer_tensor(b->llama, il, role, PLIM_SCALE));
}

plim_node plim_build_global(struct plim_build *b, enum plim_global role)
{
    return weight_leaf(b, plim_llama_global_tensor(b->llama, role, PLIM_WEIGHT));
}

plim_node plim_build_global_bias(struct plim_build *b, enum plim_global role)
{
    return weight_leaf(b, plim_llama_global_tensor(b->llama, role, PLIM_BIAS));
}

plim_node plim_build_tied_output(struct plim_build *b)
{
    const struct plim_tensor *embd = plim_llama_global_tensor(b->llama, PLIM_GLOBAL_TOKEN_EMBD, PLIM_WEIGHT);
    return leaf_at(b, embd, b->place->tied_output);
}

/* --- products --- */

plim_node plim_build_mul_mat(struct plim_build *b, plim_node weight, plim_node x)
{
    if (!weight)
        return x;
    plim_node n =
        plim_ggml_graph_op(b->g, PLIM_OP_MUL_MAT, PLIM_DTYPE_F32, plim_build_at(b, weight)->ne[1],
                           plim_build_at(b, x)->ne[1], plim_build_at(b, x)->ne[2], plim_build_at(b, x)->ne[3]);
    plim_ggml_graph_source(b->g, n, weight);
    plim_ggml_graph_source(b->g, n, x);
    return n;
}

/* weights [n_in, n_out, n_expert], x [n_in, 1 or used, n_tokens], ids [used, n_tokens] -> [n_out, used, n_tokens] */
plim_node plim_build_mul_mat_id(struct plim_build *b, plim_node weights, plim_node x, plim_node ids)
{
    plim_node n = plim_ggml_graph_op(b->g, PLIM_OP_MUL_MAT_ID, PLIM_DTYPE_F32, plim_build_at(b, weights)->ne[1],
                                     plim_build_at(b, ids)->ne[0], plim_build_at(b, x)->ne[2], 1);
    plim_ggml_graph_source(b->g, n, weights);
    plim_ggml_graph_source(b->g, n, x);
    plim_ggml_graph_source(b->g, n, ids);
    return n;
}

/* --- element by element --- */

plim_node plim_build_add(struct plim_build *b, plim_node x, plim_node y)
{
    return y ? plim_ggml_graph_like(b->g, PLIM_OP_INPLACE, x, y) : x;
}

plim_node plim_build_mul(struct plim_build *b, plim_node x, plim_node y)
{
    return y ? plim_ggml_graph_like(b->g, PLIM_OP_INPLACE, x, y) : x;
}

plim_node plim_build_unary(struct plim_build *b, plim_node x)
{
    return plim_ggml_graph_like(b->g, PLIM_OP_INPLACE, x, 0);
}

plim_node plim_build_glu(struct plim_build *b, plim_node gate, plim_node up)
{
    const struct plim_gtensor *g = plim_build_at(b, gate);
    plim_node n = plim_ggml_graph_op(b->g, PLIM_OP_COMPUTE, PLIM_DTYPE_F32, up ? g->ne[0] : g->ne[0] / 2, g->ne[1],
                                     g->ne[2], g->ne[3]);
    plim_ggml_graph_source(b->g, n, gate);
    plim_ggml_graph_source(b->g, n, up);
    return n;
}

/* --- moving data --- */

plim_node plim_build_compute(struct plim_build *b, plim_node x, uint64_t ne0, uint64_t ne1, uint64_t ne2, uint64_t ne3)
{
    plim_node n =
        plim_ggml_graph_op(b->g, PLIM_OP_COMPUTE, (enum plim_dtype)plim_build_at(b, x)->type, ne0, ne1, ne2, ne3);
    plim_ggml_graph_source(b->g, n, x);
    return n;
}

plim_node plim_build_cont(struct plim_build *b, plim_node x)
{
    return plim_ggml_graph_like(b->g, PLIM_OP_COMPUTE, x, 0);
}

plim_node plim_build_cast(struct plim_build *b, plim_node x, enum plim_dtype type)
{
    const struct plim_gtensor t = *plim_build_at(b, x);
    plim_node n = plim_ggml_graph_op(b->g, PLIM_OP_COMPUTE, type, t.ne[0], t.ne[1], t.ne[2], t.ne[3]);
    plim_ggml_graph_source(b->g, n, x);
    return n;
}

plim_node plim_build_concat(struct plim_build *b, plim_node x, plim_node y)
{
    const struct plim_gtensor *t = plim_build_at(b, x);
    plim_node n = plim_ggml_graph_op(b->g, PLIM_OP_COMPUTE, (enum plim_dtype)t->type,
                                     (uint64_t)t->ne[0] + plim_build_at(b, y)->ne[0], t->ne[1], t->ne[2], t->ne[3]);
    plim_ggml_graph_source(b->g, n, x);
    plim_ggml_graph_source(b->g, n, y);
    return n;
}

/* Rows of x picked by index: the result has x's width and the index's shape after it. */
plim_node plim_build_get_rows(struct plim_build *b, plim_node x, plim_node rows)
{
    plim_node n =
        plim_ggml_graph_op(b->g, PLIM_OP_GET_ROWS, PLIM_DTYPE_F32, plim_build_at(b, x)->ne[0],
                           plim_build_at(b, rows)->ne[0], plim_build_at(b, rows)->ne[1], plim_build_at(b, rows)->ne[2]);
    plim_ggml_graph_source(b->g, n, x);
    plim_ggml_graph_source(b->g, n, rows);
    if (!plim_cuda_gets_rows(b->cx->epoch, (enum plim_dtype)plim_build_at(b, x)->type))
        b->g->tensor[n].flags |= PLIM_TENSOR_CPU_ONLY;
    return n;
}

plim_node plim_build_reshape(struct plim_build *b, plim_node x, uint64_t ne0, uint64_t ne1, uint64_t ne2, uint64_t ne3)
{
    return plim_ggml_graph_view(b->g, x, false, ne0, ne1, ne2, ne3);
}

plim_node plim_build_strided(struct plim_build *b, plim_node x, uint64_t ne0, uint64_t ne1, uint64_t ne2, uint64_t ne3)
{
    return plim_ggml_graph_view(b->g, x, true, ne0, ne1, ne2, ne3);
}

/* --- norms --- */

static plim_node norm(struct plim_build *b, plim_node x, plim_node weight, plim_node bias, int il, bool is_layer_norm)
{
    plim_node n = plim_ggml_graph_like(b->g, is_layer_norm ? PLIM_OP_COMPUTE : PLIM_OP_INPLACE, x, 0);
    /* the engine pins named norms to the device of their layer (llama_context::graph_get_cb) */
    if ((weight || bias) && il >= 0 && !b->cx->loses_pins && (b->is_full_offload || b->n_tokens < 32))
        b->g->tensor[n].backend = b->place->layer[il];
    return plim_build_add(b, plim_build_mul(b, n, weight), bias);
}

plim_node plim_build_norm(struct plim_build *b, plim_node x, plim_node weight, plim_node bias, int il)
{
    return norm(b, x, weight, bias, il, b->hp->is_layer_norm);
}

plim_node plim_build_norm_by(struct plim_build *b, plim_node x, uint32_t il, enum plim_tensor_role role)
{
    if (!plim_build_has(b, il, role))
        return x;
    bool is_of_heads = role == PLIM_TENSOR_ROLE_ATTN_Q_NORM || role == PLIM_TENSOR_ROLE_ATTN_K_NORM;
    bool is_of_dsa = role == PLIM_TENSOR_ROLE_INDEXER_K_NORM && b->hp->arch->memory == PLIM_LLAMA_MEMORY_DSA;
    bool is_layer_norm =
        b->hp->is_layer_norm || is_of_dsa || (is_of_heads && b->hp->arch->graph & PLIM_GGML_GRAPH_QK_LAYER_NORM);
    return norm(b, x, plim_build_weight(b, il, role), plim_build_bias(b, il, role), (int)il, is_layer_norm);
}

plim_node plim_build_project(struct plim_build *b, uint32_t il, enum plim_tensor_role role, plim_node x)
{
    plim_node y = plim_build_mul_mat(b, plim_build_weight(b, il, role), x);
    y = plim_build_mul(b, y, plim_build_scale_of(b, il, role));
    return plim_build_add(b, y, plim_build_bias(b, il, role));
}

/* --- positions --- */

plim_node plim_build_positions(struct plim_build *b)
{
    enum { MROPE_SECTIONS = 4 };
    if (!b->positions)
        b->positions = plim_ggml_graph_input(b->g, PLIM_DTYPE_I32,
                                             (uint64_t)b->n_tokens * (b->hp->use_mrope ? MROPE_SECTIONS : 1), 1, 1, 1);
    return b->positions;
}

static bool uses_rope(const struct plim_build *b, uint32_t il)
{
    const struct plim_hparams *hp = b->hp;
    switch ((enum plim_rope_rule)hp->arch->rope) {
    case PLIM_ROPE_ALL:
        return !hp->has_no_rope[il];
    case PLIM_ROPE_NEVER:
        return false;
    case PLIM_ROPE_SLIDING:
        return hp->is_swa[il] || hp->n_swa == 0;
    case PLIM_ROPE_SLIDING_OR_DENSE:
        return hp->is_swa[il] || il < hp->n_layer_dense_lead;
    case PLIM_ROPE_NOT_4TH:
        return (il + 1) % 4 != 0;
    case PLIM_ROPE_NOT_FIRST_OF_4:
        return hp->n_swa == 0 || il % 4 != 0;
    case PLIM_ROPE_FINETUNED:
        return !hp->rope_not_finetuned;
    case PLIM_ROPE_NOT_40_LAYERS:
        return hp->n_layer != 40;
    }
    return true;
}

plim_node plim_build_rope(struct plim_build *b, plim_node x, uint32_t il)
{
    if (!uses_rope(b, il))
        return x;
    plim_node n = plim_ggml_graph_like(b->g, PLIM_OP_ROPE, x, plim_build_positions(b));
    plim_ggml_graph_source(b->g, n, rope_factors(b, il));
    return n;
}
