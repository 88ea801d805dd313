/* SPDX-License-Identifier: MIT */
/*
 * T5: positions are a bias on the attention logits, looked up by distance; the decoder also attends to the output of
 * the encoder. The engine reserves buffers for the decoder's graph, or the encoder's in files without a decoder.
 * Source: src/models/t5.cpp, t5encoder.cpp; llama-graph.cpp: build_pos_bias(), build_inp_cross_embd().
 */
#include "engine/llamacpp/graph/build.h"

struct t5 {
    plim_node buckets; /* of the distance from each token to each cell */
    plim_node encoded, cross_mask;
};

/* One bias per head, cell and token, from the table of this layer or the first. */
static plim_node position_bias(struct plim_build *b, uint32_t il, plim_node buckets)
{
    const struct plim_gtensor t = *plim_build_at(b, buckets);
    plim_node table =
        plim_build_weight(b, plim_build_has(b, il, PLIM_TENSOR_ROLE_ATTN_REL_B) ? il : 0, PLIM_TENSOR_ROLE_ATTN_REL_B);
    plim_node x = plim_build_get_rows(b, table, plim_build_reshape(b, buckets, (uint64_t)t.ne[0] * t.ne[1], 1, 1, 1));
    const uint32_t n_head = plim_build_at(b, x)->ne[0];
    x = plim_build_reshape(b, x, n_head, t.ne[0], t.ne[1], 1);
    return plim_build_cont(b, plim_build_strided(b, x, t.ne[0], t.ne[1], n_head, 1));
}

static plim_node self_attention(struct plim_build *b, uint32_t il, plim_node x, plim_node buckets)
{
    struct plim_qkv y = plim_build_qkv(b, il, x);
    b->kq_bias = position_bias(b, il, buckets);
    plim_node a = plim_build_attn(b, il, y.q, y.k, y.v);
    b->kq_bias = 0;
    return plim_build_project(b, il, PLIM_TENSOR_ROLE_ATTN_O, a);
}

static plim_node cross_project(struct plim_build *b, uint32_t il, enum plim_tensor_role role, plim_node x,
                               uint32_t n_head)
{
    plim_node y = plim_build_mul_mat(b, plim_build_weight(b, il, role), x);
    return plim_build_reshape(b, y, b->hp->n_embd_head_v, n_head, plim_build_at(b, x)->ne[1], 1);
}

static plim_node cross_attention(struct plim_build *b, uint32_t il, plim_node x, const struct t5 *t5)
{
    const uint32_t n_kv = b->hp->n_head_kv[il];
    plim_node q = cross_project(b, il, PLIM_TENSOR_ROLE_CROSS_ATTN_Q, x, b->hp->n_head[il]);
    plim_node k = cross_project(b, il, PLIM_TENSOR_ROLE_CROSS_ATTN_K, t5->encoded, n_kv);
    plim_node v = cross_project(b, il, PLIM_TENSOR_ROLE_CROSS_ATTN_V, t5->encoded, n_kv);
    plim_ggml_graph_expand(b->g, q);
    plim_ggml_graph_expand(b->g, k);
    plim_ggml_graph_expand(b->g, v);
    plim_node a = plim_build_attn_mha(b, il, t5->cross_mask, q, k, v, 0, 0, false);
    return plim_build_project(b, il, PLIM_TENSOR_ROLE_CROSS_ATTN_O, a);
}

static plim_node layer(struct plim_build *b, uint32_t il, plim_node x, const struct t5 *t5, bool is_last)
{
    plim_node a = self_attention(b, il, plim_build_norm_by(b, x, il, PLIM_TENSOR_ROLE_ATTN_NORM), t5->buckets);
    if (t5->encoded) {
        x = plim_build_add(b, a, x);
        a = cross_attention(b, il, plim_build_norm_by(b, x, il, PLIM_TENSOR_ROLE_CROSS_ATTN_NORM), t5);
    }
    if (is_last) {
        a = plim_build_get_rows(b, a, b->out_ids);
        x = plim_build_get_rows(b, x, b->out_ids);
    }
    plim_node sum = plim_build_add(b, a, x);
    plim_node y = plim_build_norm_by(b, sum, il, PLIM_TENSOR_ROLE_FFN_NORM);
    y = plim_build_ffn(b, il, y, PLIM_TENSOR_ROLE_FFN_GATE, PLIM_TENSOR_ROLE_FFN_UP, PLIM_TENSOR_ROLE_FFN_DOWN);
    return plim_build_add(b, y, sum);
}

void plim_build_t5(struct plim_build *b)
{
    const struct plim_hparams *hp = b->hp;
    const bool is_encoder = hp->arch->graph & PLIM_GGML_GRAPH_ENCODER;
    const uint32_t n_layer = is_encoder ? hp->n_layer : hp->n_layer_dec;
    plim_node x = plim_build_tokens(b);
    plim_build_attn_inputs(b);
    const uint32_t n_seen = is_encoder ? b->n_tokens : b->attn.cells;
    struct t5 t5 = { .buckets = plim_ggml_graph_input(b->g, PLIM_DTYPE_I32, n_seen, b->n_tokens, 1, 1) };
    if (!is_encoder) { /* as long as the encoder's context, until it has run */
        t5.encoded = plim_ggml_graph_input(b->g, PLIM_DTYPE_F32, hp->n_embd_inp, hp->n_ctx_train, 1, 1);
        t5.cross_mask = plim_build_mask(b, hp->n_ctx_train, b->n_tokens, 1);
    }
    for (int i = 0; i < b->n_layers; i++)
        if (b->layers[i] < n_layer)
            x = layer(b, b->layers[i], x, &t5, b->layers[i] + 1U == n_layer);
    plim_build_head(b, x);
}
