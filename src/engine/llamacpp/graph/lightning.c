/* SPDX-License-Identifier: MIT */
/*
 * Lightning attention (MiniMax-01): seven layers in eight attend without softmax, with weights that decay with the
 * distance, and keep a matrix per head. They read the normalized input, and add it to their output as the residual.
 * Source: src/models/minimax-01.cpp of llama.cpp v0.5.0.
 */
#include "engine/llamacpp/graph/build.h"

/* Logarithms of the decays, for a slope of one: made by the engine per batch. */
struct decays {
    plim_node slopes;   /* per head */
    plim_node to_start; /* per head and token */
    plim_node to_end;
    plim_node in_between; /* per head and pair of tokens */
};

static struct decays decay_inputs(struct plim_build *b)
{
    const uint64_t n_head = b->hp->n_head[0], n_seq_tokens = b->n_tokens / b->n_seqs, n_seqs = b->n_seqs;
    return (struct decays){
        .slopes = plim_ggml_graph_input(b->g, PLIM_DTYPE_F32, n_head, 1, 1, 1),
        .to_start = plim_ggml_graph_input(b->g, PLIM_DTYPE_F32, 1, n_head, n_seq_tokens, n_seqs),
        .to_end = plim_ggml_graph_input(b->g, PLIM_DTYPE_F32, 1, n_head, n_seq_tokens, n_seqs),
        .in_between = plim_ggml_graph_input(b->g, PLIM_DTYPE_F32, n_seq_tokens, n_seq_tokens, n_head, n_seqs),
    };
}

/* Scaled for the layer and made a factor. */
static plim_node factor(struct plim_build *b, plim_node logarithm)
{
    return plim_build_unary(b, plim_build_unary(b, logarithm));
}

struct qkv {
    plim_node q, k, v, state; /* q, k, v: [head, heads, tokens, seqs]; state: [head, head, heads, seqs] */
};

/* Heads and tokens change places. */
static plim_node by_head(struct plim_build *b, plim_node x)
{
    const struct plim_gtensor t = *plim_build_at(b, x);
    return plim_build_strided(b, x, t.ne[0], t.ne[2], t.ne[1], t.ne[3]);
}

/* [head, heads, tokens, seqs] -> [tokens, head, heads, seqs] */
static plim_node transposed(struct plim_build *b, plim_node x)
{
    const struct plim_gtensor t = *plim_build_at(b, x);
    return plim_build_compute(b, x, t.ne[2], t.ne[0], t.ne[1], t.ne[3]);
}

static struct qkv project(struct plim_build *b, uint32_t il, plim_node h)
{
    const struct plim_hparams *hp = b->hp;
    const uint64_t head = hp->n_embd_head_la, n_head = hp->n_head[il], n_seqs = b->n_seqs;
    plim_node x = plim_build_unary(b, plim_build_project(b, il, PLIM_TENSOR_ROLE_ATTN_QKV, h));
    x = plim_build_reshape(b, x, 3 * head, n_head, b->n_tokens / n_seqs, n_seqs);
    plim_node state = plim_build_states(b, plim_build_state_cache(b, il, true));
    return (struct qkv){
        .q = plim_ggml_graph_columns(b->g, x, head),
        .k = plim_ggml_graph_columns(b->g, x, head),
        .v = plim_ggml_graph_columns(b->g, x, head),
        .state = plim_build_reshape(b, state, head, head, n_head, n_seqs),
    };
}

static plim_node attend_linear(struct plim_build *b, uint32_t il, plim_node h, const struct decays *decays)
{
    const uint64_t n_head = b->hp->n_head[il], n_seq_tokens = b->n_tokens / b->n_seqs, n_seqs = b->n_seqs;
    plim_build_states(b, plim_build_state_cache(b, il, false)); /* empty, but there */
    h = plim_build_reshape(b, h, plim_build_at(b, h)->ne[0], n_seq_tokens, 1, n_seqs);
    const struct qkv x = project(b, il, h);

    plim_node q = plim_build_mul(b, x.q, factor(b, decays->to_start));
    plim_node past = plim_build_mul_mat(b, x.state, by_head(b, q));
    plim_node score = plim_build_mul_mat(b, by_head(b, x.k), by_head(b, x.q));
    score = plim_build_mul(b, score, factor(b, decays->in_between));
    plim_node v = transposed(b, x.v);
    plim_node y = plim_build_add(b, past, plim_build_mul_mat(b, v, score));
    plim_ggml_graph_expand(b->g, y);

    plim_node slope = plim_build_reshape(b, factor(b, plim_build_unary(b, decays->slopes)), 1, 1, n_head, 1);
    plim_node kept = plim_build_mul(b, x.state, slope);
    plim_node k = transposed(b, plim_build_mul(b, x.k, factor(b, decays->to_end)));
    plim_build_store_state(b, plim_build_state_cache(b, il, true),
                           plim_build_add(b, kept, plim_build_mul_mat(b, k, v)));

    y = plim_build_cont(b, by_head(b, y));
    y = plim_build_reshape(b, y, (uint64_t)b->hp->n_embd_head_la * n_head, n_seq_tokens, 1, n_seqs);
    y = plim_build_norm_by(b, y, il, PLIM_TENSOR_ROLE_ATTN_NORM_2);
    y = plim_build_mul(b, plim_build_unary(b, plim_build_project(b, il, PLIM_TENSOR_ROLE_ATTN_GATE, h)), y);
    y = plim_build_project(b, il, PLIM_TENSOR_ROLE_ATTN_OUT, y);
    return plim_build_reshape(b, y, plim_build_at(b, y)->ne[0], b->n_tokens, 1, 1);
}

static plim_node attend(struct plim_build *b, uint32_t il, plim_node h)
{
    struct plim_qkv y = plim_build_qkv(b, il, h);
    return plim_build_project(b, il, PLIM_TENSOR_ROLE_ATTN_OUT, plim_build_attn(b, il, y.q, y.k, y.v));
}

void plim_build_lightning(struct plim_build *b)
{
    plim_node x = plim_build_embeddings(b);
    plim_build_attn_inputs(b);
    plim_build_state_inputs(b);
    const struct decays decays = decay_inputs(b);
    for (int i = 0; i < b->n_layers; i++) {
        const uint32_t il = b->layers[i];
        plim_node h = plim_build_norm_by(b, x, il, PLIM_TENSOR_ROLE_ATTN_NORM);
        plim_node y = plim_llama_memory_recurs(b->llama, il) ? attend_linear(b, il, h, &decays) : attend(b, il, h);
        y = plim_build_last_rows(b, il, y);
        h = plim_build_unary(b, plim_build_last_rows(b, il, h));
        h = plim_build_norm_by(b, plim_build_add(b, y, h), il, PLIM_TENSOR_ROLE_FFN_NORM);
        y = plim_build_ffn_or_moe(b, il, h, 0);
        x = plim_build_add(b, y, plim_build_unary(b, h));
    }
    plim_build_head(b, x);
}
