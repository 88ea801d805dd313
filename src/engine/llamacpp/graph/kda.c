/* SPDX-License-Identifier: MIT */
/*
 * Kimi delta attention: the delta rule with a decay per channel, mixed with layers of latent attention (Kimi Linear,
 * Ling 3). Queries, keys and values are convolved each by itself; their past lies side by side in one state.
 * Source: src/models/kimi-linear.cpp, bailingmoe3.cpp of llama.cpp v0.5.0.
 */
#include "engine/llamacpp/graph/build.h"

/* --- a recurrent layer --- */

struct inputs {
    plim_node cache, past; /* of the convolutions: [width, seqs] */
    plim_node q, k, v;     /* projected: [inner, tokens] */
};

static struct inputs project(struct plim_build *b, uint32_t il, plim_node h)
{
    struct inputs in = { .cache = plim_build_state_cache(b, il, false) };
    in.past = plim_build_states(b, in.cache);
    if (plim_build_has(b, il, PLIM_TENSOR_ROLE_ATTN_QKV)) {
        plim_node qkv = plim_build_project(b, il, PLIM_TENSOR_ROLE_ATTN_QKV, h);
        const uint64_t n_inner = plim_build_at(b, qkv)->ne[0] / 3;
        in.q = plim_build_cont(b, plim_ggml_graph_columns(b->g, qkv, n_inner));
        in.k = plim_build_cont(b, plim_ggml_graph_columns(b->g, qkv, n_inner));
        in.v = plim_build_cont(b, plim_ggml_graph_columns(b->g, qkv, n_inner));
    } else {
        in.q = plim_build_mul_mat(b, plim_build_weight(b, il, PLIM_TENSOR_ROLE_ATTN_Q), h);
        in.k = plim_build_mul_mat(b, plim_build_weight(b, il, PLIM_TENSOR_ROLE_ATTN_K), h);
        in.v = plim_build_mul_mat(b, plim_build_weight(b, il, PLIM_TENSOR_ROLE_ATTN_V), h);
    }
    return in;
}

/* x after its own past, convolved: [head, heads, tokens] */
static plim_node convolve(struct plim_build *b, uint32_t il, const struct inputs *in, plim_node x,
                          enum plim_tensor_role role)
{
    const uint64_t head = b->hp->n_embd_head_kda, n_inner = plim_build_at(b, x)->ne[0], n_seqs = b->n_seqs;
    const uint64_t n_past = b->hp->ssm_d_conv ? b->hp->ssm_d_conv - 1 : 0;
    const uint64_t row_bytes = 4 * (uint64_t)plim_build_at(b, in->past)->ne[0];
    plim_node past = plim_ggml_graph_part(b->g, in->past, (n_seqs - 1) * row_bytes + 4 * n_past * n_inner, n_past,
                                          n_inner, n_seqs, 1);
    x = plim_build_concat(b, past, plim_build_strided(b, x, b->n_tokens / n_seqs, n_inner, n_seqs, 1));
    for (uint32_t i = 0; i < plim_build_n_snapshots(b); i++)
        plim_build_store_state(b, in->cache, plim_ggml_graph_columns(b->g, x, n_past));
    plim_node weight = plim_build_reshape(b, plim_build_weight(b, il, role), n_past + 1, n_inner, 1, 1);
    x = plim_build_reshape(b, plim_build_conv(b, x, weight), n_inner, b->n_tokens, 1, 1);
    return plim_build_reshape(b, plim_build_unary(b, x), head, head ? n_inner / head : 0, b->n_tokens, 1);
}

/* x through a matrix, or through the two a low-rank one is made of: in heads. */
static plim_node project_low(struct plim_build *b, uint32_t il, plim_node x, enum plim_tensor_role first,
                             enum plim_tensor_role second, plim_node bias)
{
    const uint32_t n_head = b->hp->n_head[il];
    x = plim_build_mul_mat(b, plim_build_weight(b, il, first), x);
    x = plim_build_mul_mat(b, plim_build_weight(b, il, second), x);
    x = plim_build_add(b, x, bias);
    /* softplus before the heads are told apart (Kimi), or sigmoid after (Ling): in place both */
    return plim_build_reshape(b, x, b->hp->n_embd_head_kda, n_head, b->n_tokens, 1);
}

static plim_node recur(struct plim_build *b, uint32_t il, plim_node h)
{
    const uint32_t n_head = b->hp->n_head[il];
    const struct inputs in = project(b, il, h);
    plim_node q = convolve(b, il, &in, in.q, PLIM_TENSOR_ROLE_SSM_CONV1D_Q);
    plim_node k = convolve(b, il, &in, in.k, PLIM_TENSOR_ROLE_SSM_CONV1D_K);
    plim_node v = convolve(b, il, &in, in.v, PLIM_TENSOR_ROLE_SSM_CONV1D_V);
    plim_node bias = plim_build_bias(b, il, PLIM_TENSOR_ROLE_SSM_DT);
    plim_node decay = project_low(b, il, h, PLIM_TENSOR_ROLE_SSM_F_A, PLIM_TENSOR_ROLE_SSM_F_B, bias);
    decay = plim_build_mul(b, decay,
                           plim_build_reshape(b, plim_build_weight(b, il, PLIM_TENSOR_ROLE_SSM_A), 1, n_head, 1, 1));
    plim_node beta = plim_build_mul_mat(b, plim_build_weight(b, il, PLIM_TENSOR_ROLE_SSM_BETA), h);
    const struct plim_delta delta = {
        .q = plim_build_l2_norm(b, q),
        .k = plim_build_l2_norm(b, k),
        .v = v,
        .decay = decay,
        .beta = plim_build_unary(b, plim_build_reshape(b, beta, 1, n_head, b->n_tokens, 1)),
        .state = plim_build_states(b, plim_build_state_cache(b, il, true)),
    };
    plim_node y = plim_build_cont(b, plim_build_delta_rule(b, il, &delta));
    y = plim_build_reshape(b, y, b->hp->n_embd_head_kda, n_head, b->n_tokens, 1);
    y = plim_build_norm_by(b, y, il, PLIM_TENSOR_ROLE_SSM_NORM);
    y = plim_build_mul(
        b, y, plim_build_unary(b, project_low(b, il, h, PLIM_TENSOR_ROLE_SSM_G_A, PLIM_TENSOR_ROLE_SSM_G_B, 0)));
    y = plim_build_compute(b, y, (uint64_t)b->hp->n_embd_head_kda * n_head, b->n_tokens, 1, 1);
    return plim_build_project(b, il, PLIM_TENSOR_ROLE_ATTN_OUT, y);
}

/* --- an attention layer --- */

static plim_node attend(struct plim_build *b, uint32_t il, plim_node h)
{
    plim_node y = plim_build_latent_attn(b, il, h);
    if (plim_build_has(b, il, PLIM_TENSOR_ROLE_ATTN_GATE)) { /* one number per head */
        const uint32_t width = plim_build_at(b, y)->ne[0], n_head = b->hp->n_head[il];
        plim_node gate = plim_build_mul_mat(b, plim_build_weight(b, il, PLIM_TENSOR_ROLE_ATTN_GATE), h);
        gate = plim_build_unary(b, plim_build_reshape(b, gate, 1, n_head, b->n_tokens, 1));
        y = plim_build_mul(b, plim_build_reshape(b, y, n_head ? width / n_head : 0, n_head, b->n_tokens, 1), gate);
        y = plim_build_compute(b, y, width, b->n_tokens, 1, 1);
    }
    return plim_build_project(b, il, PLIM_TENSOR_ROLE_ATTN_OUT, y);
}

/* --- the decoder --- */

void plim_build_kda(struct plim_build *b)
{
    plim_node x = plim_build_embeddings(b);
    plim_build_attn_inputs(b);
    plim_build_state_inputs(b);
    for (int i = 0; i < b->n_layers; i++) {
        const uint32_t il = b->layers[i];
        plim_node h = plim_build_norm_by(b, x, il, PLIM_TENSOR_ROLE_ATTN_NORM);
        if (b->hp->arch->rope == PLIM_ROPE_NEVER) /* Kimi's code alone does this */
            plim_ggml_graph_expand(b->g, h);
        plim_node y = plim_llama_memory_recurs(b->llama, il) ? recur(b, il, h) : attend(b, il, h);
        y = plim_build_last_rows(b, il, y);
        x = plim_build_add(b, y, plim_build_last_rows(b, il, x));
        h = plim_build_norm_by(b, x, il, PLIM_TENSOR_ROLE_FFN_NORM);
        x = plim_build_add(b, plim_build_ffn_or_moe(b, il, h, 0), x);
    }
    plim_build_head(b, x);
}
