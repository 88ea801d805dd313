/* SPDX-License-Identifier: MIT */
/*
 * Encoders of the BERT kind, which normalize after each part of a layer, and what turns the output of any model into
 * embeddings. (Encoders that normalize before are decoders without a cache and without logits: decoder.c.)
 * Source: src/models/bert.cpp; llama-graph.cpp: build_pooling(), build_dense_out().
 */
#include "engine/llamacpp/graph/build.h"

/* --- pooling --- */

static plim_node mean_of_sequences(struct plim_build *b, plim_node x)
{
    const struct plim_gtensor t = *plim_build_at(b, x);
    plim_node weights = plim_ggml_graph_input(b->g, PLIM_DTYPE_F32, b->n_tokens, b->n_seqs, 1, 1);
    plim_node by_token = plim_build_cont(b, plim_build_strided(b, x, t.ne[1], t.ne[0], 1, 1));
    return plim_build_mul_mat(b, by_token, weights);
}

static plim_node one_of_sequences(struct plim_build *b, plim_node x)
{
    return plim_build_get_rows(b, x, plim_ggml_graph_input(b->g, PLIM_DTYPE_I32, b->n_seqs, 1, 1, 1));
}

/* A reranker's score. */
static plim_node classify(struct plim_build *b, plim_node x)
{
    plim_node head = plim_build_global(b, PLIM_GLOBAL_CLS), out = plim_build_global(b, PLIM_GLOBAL_CLS_OUT);
    if (head) {
        x = plim_build_unary(
            b, plim_build_add(b, plim_build_mul_mat(b, head, x), plim_build_global_bias(b, PLIM_GLOBAL_CLS)));
        plim_node norm = plim_build_global(b, PLIM_GLOBAL_CLS_NORM);
        x = norm ? plim_build_norm(b, x, norm, 0, -1) : x;
    }
    if (out)
        x = plim_build_add(b, plim_build_mul_mat(b, out, x), plim_build_global_bias(b, PLIM_GLOBAL_CLS_OUT));
    return b->hp->arch->graph & PLIM_GGML_GRAPH_RANK_SOFTMAX ? plim_build_unary(b, x) : x;
}

static plim_node pooled(struct plim_build *b, plim_node x)
{
    switch ((enum plim_pooling)b->hp->pooling_type) {
    case PLIM_POOLING_NONE:
        break;
    case PLIM_POOLING_MEAN:
        return mean_of_sequences(b, x);
    case PLIM_POOLING_FIRST:
    case PLIM_POOLING_LAST:
        return one_of_sequences(b, x);
    case PLIM_POOLING_RANK:
        return classify(b, b->hp->rank_pooling_type == PLIM_POOLING_MEAN ? mean_of_sequences(b, x)
                                                                         : one_of_sequences(b, x));
    }
    return x;
}

static void output(struct plim_build *b, plim_node x)
{
    b->g->tensor[x].flags |= PLIM_TENSOR_OUTPUT;
    plim_ggml_graph_expand(b->g, x);
}

void plim_build_pooling(struct plim_build *b, plim_node x)
{
    if (!b->cx->embeddings)
        return;
    x = pooled(b, x);
    plim_node dense_2 = plim_build_global(b, PLIM_GLOBAL_DENSE_2_OUT),
              dense_3 = plim_build_global(b, PLIM_GLOBAL_DENSE_3_OUT);
    plim_node dense_2_bias = plim_build_global_bias(b, PLIM_GLOBAL_DENSE_2_OUT);
    if (!dense_2 && !dense_2_bias && !dense_3) {
        output(b, x);
        return;
    }
    plim_ggml_graph_expand(b->g, x);
    output(b, plim_build_mul_mat(b, dense_3, plim_build_add(b, plim_build_mul_mat(b, dense_2, x), dense_2_bias)));
}

/* --- BERT --- */

/* Tokens, token types (all of the first), positions. */
static plim_node embeddings(struct plim_build *b)
{
    plim_node x = plim_build_tokens(b), types = plim_build_global(b, PLIM_GLOBAL_TOKEN_TYPES);
    if (types)
        x = plim_build_add(b, x, plim_build_reshape(b, types, b->hp->n_embd, 1, 1, 1));
    plim_node learned = plim_build_global(b, PLIM_GLOBAL_POS_EMBD);
    if (learned)
        x = plim_build_add(b, plim_build_get_rows(b, learned, plim_build_positions(b)), x);
    plim_node norm = plim_build_global(b, PLIM_GLOBAL_TOKEN_EMBD_NORM);
    return plim_build_norm(b, x, norm, plim_build_global_bias(b, PLIM_GLOBAL_TOKEN_EMBD_NORM), 0);
}

static plim_node layer(struct plim_build *b, uint32_t il, plim_node x)
{
    struct plim_qkv y = plim_build_qkv(b, il, x);
    plim_node a = plim_build_project(b, il, PLIM_TENSOR_ROLE_ATTN_OUT, plim_build_attn(b, il, y.q, y.k, y.v));
    a = plim_build_last_rows(b, il, a);
    x = plim_build_last_rows(b, il, x);
    a = plim_build_norm_by(b, plim_build_add(b, a, x), il, PLIM_TENSOR_ROLE_ATTN_OUT_NORM);
    if (plim_build_has(b, il, PLIM_TENSOR_ROLE_ATTN_NORM_2)) /* Jina v2 for code */
        a = plim_build_norm_by(b, plim_build_add(b, a, x), il, PLIM_TENSOR_ROLE_ATTN_NORM_2);
    return plim_build_norm_by(b, plim_build_add(b, plim_build_ffn_or_moe(b, il, a, 0), a), il,
                              PLIM_TENSOR_ROLE_LAYER_OUT_NORM);
}

void plim_build_bert(struct plim_build *b)
{
    plim_node x = embeddings(b);
    plim_build_attn_inputs(b);
    for (int i = 0; i < b->n_layers; i++)
        x = layer(b, b->layers[i], x);
    output(b, x);
    plim_build_pooling(b, x);
}
