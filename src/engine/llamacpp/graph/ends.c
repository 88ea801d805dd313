/* SPDX-License-Identifier: MIT */
/*
 * The two ends of a graph: the input of the first layer; and norm, logits and embeddings after the last.
 * Source: llama-graph.cpp: build_inp_embd(), build_pooling(), build_dense_out() of llama.cpp v0.5.0.
 */
#include "engine/llamacpp/graph/build.h"

/* --- the input of the first layer --- */

plim_node plim_build_tokens(struct plim_build *b)
{
    const struct plim_hparams *hp = b->hp;
    plim_node tokens = plim_ggml_graph_input(b->g, PLIM_DTYPE_I32, b->n_tokens, 1, 1, 1);
    const bool has_input = b->cx->epoch->has_embd_input;
    const plim_node given =
        has_input ? plim_ggml_graph_input(b->g, PLIM_DTYPE_F32, hp->n_embd_inp, b->n_tokens, 1, 1) : 0;
    plim_node x = plim_build_get_rows(b, plim_build_global(b, PLIM_GLOBAL_TOKEN_EMBD), tokens);
    if (hp->n_embd_inp != hp->n_embd) /* room for the extra embeddings of images */
        x = plim_build_compute(b, x, hp->n_embd_inp, b->n_tokens, 1, 1);
    if (has_input) {
        plim_ggml_graph_expand(b->g, x);
        plim_ggml_graph_expand(b->g, given); /* the other way to give a batch: has memory, used or not */
    }
    b->embd = x;
    if (hp->n_embd_inp != hp->n_embd)
        x = plim_ggml_graph_columns(b->g, x, hp->n_embd);
    if (hp->has_embedding_scale) {
        bool has_gaps = plim_build_at(b, x)->flags & PLIM_TENSOR_STRIDED && b->n_tokens > 1; /* one row has no gaps */
        x = plim_build_unary(b, has_gaps ? plim_build_cont(b, x) : x);
        plim_ggml_graph_expand(b->g, x);
    }
    b->out_ids = plim_ggml_graph_input(b->g, PLIM_DTYPE_I32, b->n_outputs, 1, 1, 1);
    return x;
}

plim_node plim_build_embeddings(struct plim_build *b)
{
    const uint32_t flags = b->hp->arch->graph;
    plim_node x = plim_build_tokens(b);
    if (flags & PLIM_GGML_GRAPH_EMBD_SCALE)
        x = plim_build_unary(b, x);
    plim_node learned = plim_build_global(b, PLIM_GLOBAL_POS_EMBD);
    if (learned)
        x = plim_build_add(b, x, plim_build_get_rows(b, learned, plim_build_positions(b)));
    if (flags & PLIM_GGML_GRAPH_EMBD_NORM) {
        plim_node weight = plim_build_global(b, PLIM_GLOBAL_TOKEN_EMBD_NORM);
        x = plim_build_norm(b, x, weight, plim_build_global_bias(b, PLIM_GLOBAL_TOKEN_EMBD_NORM), 0);
    }
    b->first = x;
    return x;
}

plim_node plim_build_last_rows(struct plim_build *b, uint32_t il, plim_node x)
{
    bool here = il + 1 == b->hp->n_layer && b->hp->arch->rows == PLIM_ROWS_LAST_LAYER;
    return here && x ? plim_build_get_rows(b, x, b->out_ids) : x;
}

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

/* --- logits --- */

/* Logits of x. */
static void build_logits(struct plim_build *b, plim_node x)
{
    plim_node output = plim_build_global(b, PLIM_GLOBAL_OUTPUT);
    if (!output && b->hp->arch->no_output) /* BitNet: tied, without a copy */
        output = plim_build_global(b, PLIM_GLOBAL_TOKEN_EMBD);
    else if (!output) /* tied: the copy of the token embedding beside the output layer */
        output = plim_build_tied_output(b);
    if (b->hp->arch->graph & PLIM_GGML_GRAPH_HEAD_SCALE)
        x = plim_build_unary(b, x);
    x = plim_build_add(b, plim_build_mul_mat(b, output, x), plim_build_global_bias(b, PLIM_GLOBAL_OUTPUT));
    if (b->hp->arch->graph & PLIM_GGML_GRAPH_IMAGE_LOGITS) {
        enum { IMAGE_TOKENS = 8192 }; /* a tensor that is never filled: its reader decides where it lives */
        plim_node none = plim_ggml_graph_op(b->g, PLIM_OP_LEAF, PLIM_DTYPE_F32, IMAGE_TOKENS, 1, 1, 1);
        x = plim_build_cont(b, x);
        plim_ggml_graph_source(b->g, x, plim_build_unary(b, none));
    }
    b->g->tensor[x].flags |= PLIM_TENSOR_OUTPUT;
    plim_ggml_graph_expand(b->g, x);
}

void plim_build_head(struct plim_build *b, plim_node x)
{
    const uint8_t rows = b->hp->arch->rows;
    if (rows == PLIM_ROWS_BEFORE_NORM) {
        b->g->tensor[x].flags |= PLIM_TENSOR_OUTPUT; /* for a draft model */
        x = plim_build_get_rows(b, x, b->out_ids);
    }
    plim_node weight = plim_build_global(b, PLIM_GLOBAL_OUTPUT_NORM),
              bias = plim_build_global_bias(b, PLIM_GLOBAL_OUTPUT_NORM);
    if (!weight)
        weight = plim_build_global(b, PLIM_GLOBAL_DEC_OUTPUT_NORM);
    if (!weight)
        weight = plim_build_global(b, PLIM_GLOBAL_ENC_OUTPUT_NORM);
    if (weight || (b->hp->arch->graph & PLIM_GGML_GRAPH_BARE_NORM))
        x = plim_build_norm(b, x, weight, bias, -1);
    b->g->tensor[x].flags |= PLIM_TENSOR_OUTPUT; /* the embeddings are kept for the caller */
    if (rows == PLIM_ROWS_AFTER_NORM) {
        x = plim_build_get_rows(b, x, b->out_ids);
        b->g->tensor[x].flags |= PLIM_TENSOR_OUTPUT;
    }
    const bool is_embedding = b->hp->arch->no_logits_when_embedding && b->cx->embeddings;
    if (b->hp->arch->graph & PLIM_GGML_GRAPH_ENCODER || is_embedding)
        plim_ggml_graph_expand(b->g, x);
    else
        build_logits(b, x);
    plim_build_pooling(b, x);
}
