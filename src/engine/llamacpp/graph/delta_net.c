/* SPDX-License-Identifier: MIT */
/*
 * Gated delta nets: Qwen3-Next and Qwen3.5. Three layers in four convolve queries, keys and values along the sequence
 * and keep a matrix per head that every token corrects; the fourth is attention whose query brings an output gate.
 * Source: src/models/delta-net-base.cpp, qwen3next.cpp, qwen35.cpp, qwen35moe.cpp of llama.cpp v0.5.0.
 */
#include "engine/llamacpp/graph/build.h"

/* --- the rule: queries, keys, values, decay, learning rate and old states to outputs and new states --- */

plim_node plim_build_l2_norm(struct plim_build *b, plim_node x)
{
    return plim_build_unary(b, plim_build_unary(b, x)); /* RMS norm and scale */
}

plim_node plim_build_delta_rule(struct plim_build *b, uint32_t il, const struct plim_delta *in)
{
    const struct plim_gtensor v = *plim_build_at(b, in->v);
    const uint64_t width = (uint64_t)v.ne[0] * v.ne[1], n_seqs = b->n_seqs;
    const uint64_t n_slots = 1 + (uint64_t)b->cx->n_rs_seq;
    plim_node state = plim_build_reshape(b, in->state, v.ne[0], v.ne[0], v.ne[1], n_seqs);
    /* the outputs of all tokens, then the states, in one tensor */
    plim_node y = plim_ggml_graph_op(b->g, PLIM_OP_COMPUTE, PLIM_DTYPE_F32, width,
                                     b->n_tokens + n_slots * v.ne[0] * n_seqs, 1, 1);
    const plim_node sources[] = { in->q, in->k, in->v, in->decay, in->beta, state };
    for (unsigned i = 0; i < sizeof sources / sizeof *sources; i++)
        plim_ggml_graph_source(b->g, y, sources[i]);
    plim_node states = plim_build_reshape(b, y, v.ne[0] * width, n_seqs, plim_build_n_snapshots(b), 1);
    plim_build_store_state(b, plim_build_state_cache(b, il, true), states);
    return plim_build_reshape(b, y, v.ne[0], v.ne[1], b->n_tokens, 1);
}

/* --- shapes --- */

struct shape {
    uint64_t head_k, n_k, head_v, n_v;     /* heads of keys (and queries), of values */
    uint64_t n_seq_tokens, n_seqs, n_past; /* n_past: inputs of earlier batches that the convolution sees */
};

static struct shape shape_of(const struct plim_build *b)
{
    const struct plim_hparams *hp = b->hp;
    return (struct shape){
        .head_k = hp->ssm_d_state,
        .n_k = hp->ssm_n_group ? hp->ssm_n_group : 1,
        .head_v = hp->ssm_d_inner / (hp->ssm_dt_rank ? hp->ssm_dt_rank : 1),
        .n_v = hp->ssm_dt_rank ? hp->ssm_dt_rank : 1,
        .n_seq_tokens = b->n_tokens / b->n_seqs,
        .n_seqs = b->n_seqs,
        .n_past = hp->ssm_d_conv ? hp->ssm_d_conv - 1 : 0,
    };
}

/* --- projections: queries, keys and values side by side; the output's gate z --- */

struct qkvz {
    plim_node qkv, z;
};

/* One matrix for all four, a group of heads after the other (the first conversions of Qwen3-Next). */
static struct qkvz project_grouped(struct plim_build *b, uint32_t il, plim_node h, const struct shape *s)
{
    const uint64_t per_group = s->head_v * s->n_v / s->n_k, n_tokens = b->n_tokens;
    plim_node y = plim_build_project(b, il, PLIM_TENSOR_ROLE_SSM_IN, h);
    y = plim_build_reshape(b, y, 2 * s->head_k + 2 * per_group, s->n_k, n_tokens, 1);
    plim_node q =
        plim_build_compute(b, plim_ggml_graph_columns(b->g, y, s->head_k), s->head_k * s->n_k, n_tokens, 1, 1);
    plim_node k =
        plim_build_compute(b, plim_ggml_graph_columns(b->g, y, s->head_k), s->head_k * s->n_k, n_tokens, 1, 1);
    plim_node v =
        plim_build_compute(b, plim_ggml_graph_columns(b->g, y, per_group), per_group * s->n_k, n_tokens, 1, 1);
    plim_node z = plim_build_cont(b, plim_ggml_graph_columns(b->g, y, per_group));
    return (struct qkvz){ plim_build_concat(b, plim_build_concat(b, q, k), v), z };
}

static struct qkvz project(struct plim_build *b, uint32_t il, plim_node h, const struct shape *s)
{
    if (!plim_build_has(b, il, PLIM_TENSOR_ROLE_ATTN_QKV))
        return project_grouped(b, il, h, s);
    return (struct qkvz){ plim_build_project(b, il, PLIM_TENSOR_ROLE_ATTN_QKV, h),
                          plim_build_project(b, il, PLIM_TENSOR_ROLE_ATTN_GATE, h) };
}

struct gates {
    plim_node decay, beta;
};

static struct gates gates(struct plim_build *b, uint32_t il, plim_node h, const struct shape *s)
{
    plim_node alpha, beta;
    if (plim_build_has(b, il,
                       PLIM_TENSOR_ROLE_SSM_BETA_ALPHA)) { /* both in one matrix, a group of heads after the other */
        plim_node both = plim_build_project(b, il, PLIM_TENSOR_ROLE_SSM_BETA_ALPHA, h);
        both = plim_build_reshape(b, both, 2 * s->n_v / s->n_k, s->n_k, b->n_tokens, 1);
        beta = plim_build_unary(b, plim_build_cont(b, plim_ggml_graph_columns(b->g, both, s->n_v / s->n_k)));
        beta = plim_build_reshape(b, beta, 1, s->n_v, b->n_tokens, 1);
        alpha = plim_build_compute(b, plim_ggml_graph_columns(b->g, both, s->n_v / s->n_k), s->n_v, b->n_tokens, 1, 1);
    } else {
        beta =
            plim_build_reshape(b, plim_build_project(b, il, PLIM_TENSOR_ROLE_SSM_BETA, h), 1, s->n_v, b->n_tokens, 1);
        beta = plim_build_unary(b, beta);
        alpha =
            plim_build_reshape(b, plim_build_project(b, il, PLIM_TENSOR_ROLE_SSM_ALPHA, h), s->n_v, b->n_tokens, 1, 1);
    }
    alpha = plim_build_unary(b, plim_build_add(b, alpha, plim_build_bias(b, il, PLIM_TENSOR_ROLE_SSM_DT)));
    plim_node decay = plim_build_mul(b, alpha, plim_build_weight(b, il, PLIM_TENSOR_ROLE_SSM_A));
    return (struct gates){ plim_build_reshape(b, decay, 1, s->n_v, b->n_tokens, 1), beta };
}

/* --- a recurrent layer --- */

/* The last inputs of earlier batches before those of this one, convolved: [channels, tokens]. */
static plim_node convolve(struct plim_build *b, uint32_t il, plim_node x, const struct shape *s)
{
    const uint64_t n_channels = plim_build_at(b, x)->ne[0];
    plim_node cache = plim_build_state_cache(b, il, false);
    plim_node past = plim_build_reshape(b, plim_build_states(b, cache), s->n_past, n_channels, s->n_seqs, 1);
    x = plim_build_concat(b, past, plim_build_strided(b, x, s->n_seq_tokens, n_channels, s->n_seqs, 1));
    for (uint64_t i = 0; i <= b->cx->n_rs_seq && !b->g->overflow; i++)
        plim_build_store_state(b, cache, plim_ggml_graph_columns(b->g, x, s->n_past));
    x = plim_build_unary(b, plim_build_conv(b, x, plim_build_weight(b, il, PLIM_TENSOR_ROLE_SSM_CONV1D)));
    return plim_build_reshape(b, x, n_channels, b->n_tokens, 1, 1);
}

/* Keys for every head of values, where the model's code does not leave that to the kernel. */
static plim_node repeated(struct plim_build *b, plim_node x, const struct shape *s)
{
    if (s->n_k == s->n_v || !(b->hp->arch->graph & PLIM_GGML_GRAPH_REPEAT_KEYS))
        return x;
    x = plim_build_reshape(b, x, s->head_k, 1, s->n_k, b->n_tokens);
    x = plim_build_compute(b, x, s->head_k, s->n_v / s->n_k, s->n_k, b->n_tokens);
    return plim_build_reshape(b, x, s->head_k, s->n_v, b->n_tokens, 1);
}

static plim_node recur(struct plim_build *b, uint32_t il, plim_node h)
{
    const struct shape s = shape_of(b);
    const struct qkvz x = project(b, il, h, &s);
    const struct gates gate = gates(b, il, h, &s);
    plim_node qkv = convolve(b, il, x.qkv, &s);
    const struct plim_delta in = {
        .q = repeated(b, plim_build_l2_norm(b, plim_ggml_graph_heads(b->g, qkv, s.head_k, s.n_k)), &s),
        .k = repeated(b, plim_build_l2_norm(b, plim_ggml_graph_heads(b->g, qkv, s.head_k, s.n_k)), &s),
        .v = plim_ggml_graph_heads(b->g, qkv, s.head_v, s.n_v),
        .decay = gate.decay,
        .beta = gate.beta,
        .state = plim_build_states(b, plim_build_state_cache(b, il, true)),
    };
    plim_node y = plim_build_norm_by(b, plim_build_delta_rule(b, il, &in), il, PLIM_TENSOR_ROLE_SSM_NORM);
    y = plim_build_mul(b, y, plim_build_unary(b, plim_build_reshape(b, x.z, s.head_v, s.n_v, b->n_tokens, 1)));
    /* a matrix product per sequence: short ones are not worth a copy of the weights (ggml_backend_sched: op_offload) */
    y = plim_build_project(b, il, PLIM_TENSOR_ROLE_SSM_OUT,
                           plim_build_reshape(b, y, s.head_v * s.n_v, s.n_seq_tokens, s.n_seqs, 1));
    return plim_build_reshape(b, y, plim_build_at(b, y)->ne[0], b->n_tokens, 1, 1);
}

/* --- an attention layer: every head of the query is followed by the gate of its output --- */

static plim_node attend(struct plim_build *b, uint32_t il, plim_node h)
{
    const struct plim_hparams *hp = b->hp;
    const uint32_t head = plim_hparams_head_k(hp, il), n_head = hp->n_head[il], n_kv = hp->n_head_kv[il];
    plim_node both = plim_build_project(b, il, PLIM_TENSOR_ROLE_ATTN_Q, h);
    both = plim_build_reshape(b, both, 2 * (uint64_t)head, n_head, b->n_tokens, 1);
    plim_node q = plim_build_norm_by(b, plim_ggml_graph_columns(b->g, both, head), il, PLIM_TENSOR_ROLE_ATTN_Q_NORM);
    plim_node k =
        plim_build_reshape(b, plim_build_project(b, il, PLIM_TENSOR_ROLE_ATTN_K, h), head, n_kv, b->n_tokens, 1);
    k = plim_build_norm_by(b, k, il, PLIM_TENSOR_ROLE_ATTN_K_NORM);
    plim_node v = plim_build_project(b, il, PLIM_TENSOR_ROLE_ATTN_V, h);
    v = plim_build_reshape(b, v, plim_hparams_head_v(hp, il), n_kv, b->n_tokens, 1);
    plim_node y = plim_build_attn(b, il, plim_build_rope(b, q, il), plim_build_rope(b, k, il), v);
    plim_node gate =
        plim_build_compute(b, plim_ggml_graph_columns(b->g, both, head), (uint64_t)head * n_head, b->n_tokens, 1, 1);
    return plim_build_project(b, il, PLIM_TENSOR_ROLE_ATTN_OUT, plim_build_mul(b, y, plim_build_unary(b, gate)));
}

/* --- the decoder --- */

void plim_build_delta_net(struct plim_build *b)
{
    plim_node x = plim_build_embeddings(b);
    plim_build_attn_inputs(b);
    plim_build_state_inputs(b);
    for (int i = 0; i < b->n_layers; i++) {
        const uint32_t il = b->layers[i];
        plim_node h = plim_build_norm_by(b, x, il, PLIM_TENSOR_ROLE_ATTN_NORM);
        plim_ggml_graph_expand(b->g, h);
        plim_node y = plim_llama_memory_recurs(b->llama, il) ? recur(b, il, h) : attend(b, il, h);
        x = plim_build_add(b, y, x);
        h = plim_build_norm_by(b, x, il, PLIM_TENSOR_ROLE_ATTN_POST_NORM);
        x = plim_build_add(b, plim_build_ffn_or_moe(b, il, h, 0), x);
    }
    plim_build_head(b, x);
}
