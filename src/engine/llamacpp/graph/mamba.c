/* SPDX-License-Identifier: MIT */
/*
 * Selective state spaces: the mixers of Mamba, Mamba-2 and PLaMo-2. Each convolves its input along the sequence and
 * scans it, and keeps the end of the one and the state of the other.
 * Source: src/models/mamba-base.cpp, plamo2.cpp of llama.cpp v0.5.0; ggml_ssm_scan() for the shape of its result.
 */
#include "engine/llamacpp/graph/build.h"

struct shape {
    uint64_t n_inner, n_state, n_head, head, n_group, n_conv; /* n_conv: width of the convolution's window - 1 */
    uint64_t n_seq_tokens, n_seqs;
};

static struct shape shape_of(const struct plim_build *b)
{
    const struct plim_hparams *hp = b->hp;
    const uint32_t n_head = hp->ssm_dt_rank ? hp->ssm_dt_rank : 1;
    return (struct shape){
        .n_inner = hp->ssm_d_inner,
        .n_state = hp->ssm_d_state,
        .n_head = n_head,
        .head = hp->ssm_d_inner / n_head,
        .n_group = hp->ssm_n_group ? hp->ssm_n_group : 1,
        .n_conv = hp->ssm_d_conv ? hp->ssm_d_conv - 1 : 0,
        .n_seq_tokens = b->n_tokens / b->n_seqs,
        .n_seqs = b->n_seqs,
    };
}

/* --- parts of a row: every token's [ne0, ne1] out of x [width, tokens, seqs] --- */

static plim_node part(struct plim_build *b, plim_node x, uint64_t ne0, uint64_t ne1)
{
    const struct plim_gtensor t = *plim_build_at(b, x);
    const uint64_t n_rows = (uint64_t)t.ne[1] * t.ne[2];
    const uint64_t bytes = 4 * ((n_rows - 1) * t.ne[0] + ne0 * ne1);
    return plim_ggml_graph_part(b->g, x, bytes, ne0, ne1, t.ne[1], t.ne[2]);
}

static plim_node columns(struct plim_build *b, plim_node x, uint64_t n) { return plim_ggml_graph_columns(b->g, x, n); }

static plim_node transposed(struct plim_build *b, plim_node x)
{
    const struct plim_gtensor t = *plim_build_at(b, x);
    return plim_build_strided(b, x, t.ne[1], t.ne[0], t.ne[2], t.ne[3]);
}

/* --- convolution --- */

/* The last inputs of earlier batches before those of this one: [n_conv + tokens, channels, seqs]. */
static plim_node with_past(struct plim_build *b, plim_node past, plim_node x, const struct shape *s)
{
    past = plim_build_reshape(b, past, s->n_conv, plim_build_at(b, past)->ne[0] / (s->n_conv ? s->n_conv : 1),
                              s->n_seqs, 1);
    return plim_build_concat(b, past, transposed(b, x));
}

static plim_node convolve(struct plim_build *b, uint32_t il, plim_node x)
{
    x = plim_build_conv(b, x, plim_build_weight(b, il, PLIM_TENSOR_ROLE_SSM_CONV1D));
    return plim_build_unary(b, plim_build_add(b, x, plim_build_bias(b, il, PLIM_TENSOR_ROLE_SSM_CONV1D)));
}

/* --- scan --- */

struct scan {
    plim_node x, dt, a, b, c; /* x [head, n_head, tokens, seqs]; b, c [n_state, n_group, tokens, seqs] */
};

/* The outputs of all tokens, and after them the states, in one tensor; the states are stored. */
static plim_node scan(struct plim_build *b, uint32_t il, const struct scan *in, const struct shape *s)
{
    const struct plim_gtensor x = *plim_build_at(b, in->x);
    const uint64_t n_outputs = (uint64_t)x.ne[0] * x.ne[1] * x.ne[2] * x.ne[3];
    const uint64_t n_state = s->n_state * s->n_inner, n_states = (1 + (uint64_t)b->cx->n_rs_seq) * s->n_seqs;
    plim_node cache = plim_build_state_cache(b, il, true), rows = plim_build_open_states(b, cache);
    plim_node y = plim_ggml_graph_op(b->g, PLIM_OP_COMPUTE, PLIM_DTYPE_F32, n_outputs + n_states * n_state, 1, 1, 1);
    plim_ggml_graph_source(b->g, y,
                           plim_build_reshape(b, rows, s->n_state, x.ne[0], x.ne[1], plim_build_at(b, rows)->ne[1]));
    plim_ggml_graph_source(b->g, y, in->x);
    plim_ggml_graph_source(b->g, y, in->dt);
    plim_ggml_graph_source(b->g, y, in->a);
    plim_ggml_graph_source(b->g, y, in->b);
    plim_ggml_graph_source(b->g, y, in->c);
    plim_ggml_graph_source(b->g, y, b->state_copy_main);
    if (!plim_cuda_has_ssm_scan(plim_build_at(b, in->a)->ne[0], s->n_state, x.ne[0], x.ne[1],
                                plim_build_at(b, in->b)->ne[1]))
        b->g->tensor[y].flags |= PLIM_TENSOR_CPU_ONLY;
    plim_build_close_states(b, cache, rows, y);
    plim_build_store_state(b, cache, plim_build_reshape(b, y, n_state, s->n_seqs, plim_build_n_snapshots(b), 1));
    return plim_build_reshape(b, y, x.ne[0], x.ne[1], x.ne[2], x.ne[3]);
}

/* --- Mamba: every channel is a head of one --- */

plim_node plim_build_mamba(struct plim_build *b, uint32_t il, plim_node h)
{
    const struct shape s = shape_of(b);
    plim_node r_cache = plim_build_state_cache(b, il, false), past = plim_build_states(b, r_cache);
    h = plim_build_reshape(b, h, plim_build_at(b, h)->ne[0], s.n_seq_tokens, s.n_seqs, 1);
    plim_node xz = plim_build_project(b, il, PLIM_TENSOR_ROLE_SSM_IN, h);
    plim_node x = with_past(b, past, columns(b, xz, s.n_inner), &s);
    plim_build_store_state(b, r_cache, columns(b, x, s.n_conv));
    x = convolve(b, il, x);

    plim_node x_db = plim_build_mul_mat(b, plim_build_weight(b, il, PLIM_TENSOR_ROLE_SSM_X), x);
    plim_node dt = columns(b, x_db, plim_build_at(b, plim_build_weight(b, il, PLIM_TENSOR_ROLE_SSM_DT))->ne[0]);
    struct scan in = { .b = part(b, x_db, s.n_state, 1), .c = part(b, x_db, s.n_state, 1) };
    bool has_norms = plim_build_has(b, il, PLIM_TENSOR_ROLE_SSM_DT_NORM) &&
                     plim_build_has(b, il, PLIM_TENSOR_ROLE_SSM_B_NORM) &&
                     plim_build_has(b, il, PLIM_TENSOR_ROLE_SSM_C_NORM);
    if (has_norms || b->hp->ssm_dt_b_c_rms) { /* Jamba; FalconMamba, whose norms have no weights */
        dt = plim_build_norm(b, dt, plim_build_weight(b, il, PLIM_TENSOR_ROLE_SSM_DT_NORM), 0, (int)il);
        in.b = plim_build_norm(b, in.b, plim_build_weight(b, il, PLIM_TENSOR_ROLE_SSM_B_NORM), 0, (int)il);
        in.c = plim_build_norm(b, in.c, plim_build_weight(b, il, PLIM_TENSOR_ROLE_SSM_C_NORM), 0, (int)il);
    } else {
        dt = plim_build_cont(b, dt);
    }
    in.dt = plim_build_project(b, il, PLIM_TENSOR_ROLE_SSM_DT, dt);
    in.x = plim_build_reshape(b, x, 1, s.n_inner, s.n_seq_tokens, s.n_seqs);
    in.a = plim_build_weight(b, il, PLIM_TENSOR_ROLE_SSM_A);
    plim_node y = scan(b, il, &in, &s);
    y = plim_build_reshape(b, y, s.n_inner, s.n_seq_tokens, s.n_seqs, 1);
    y = plim_build_add(b, y, plim_build_mul(b, x, plim_build_weight(b, il, PLIM_TENSOR_ROLE_SSM_D)));
    y = plim_build_glu(b, plim_build_cont(b, columns(b, xz, s.n_inner)), y);
    y = plim_build_project(b, il, PLIM_TENSOR_ROLE_SSM_OUT, y);
    return plim_build_reshape(b, y, plim_build_at(b, y)->ne[0], b->n_tokens, 1, 1);
}

/* --- Mamba-2: heads, and B, C and the step size straight from the first projection --- */

plim_node plim_build_mamba2(struct plim_build *b, uint32_t il, plim_node h)
{
    const struct shape s = shape_of(b);
    const uint64_t n_channels = s.n_inner + 2 * s.n_group * s.n_state;
    plim_node r_cache = plim_build_state_cache(b, il, false), past = plim_build_states(b, r_cache);
    plim_node z_xbc_dt = plim_build_project(b, il, PLIM_TENSOR_ROLE_SSM_IN, h);
    z_xbc_dt = plim_build_reshape(b, z_xbc_dt, plim_build_at(b, z_xbc_dt)->ne[0], s.n_seq_tokens, s.n_seqs, 1);
    plim_node conv = with_past(b, past, columns(b, z_xbc_dt, n_channels), &s);
    for (uint32_t i = 0; i < plim_build_n_snapshots(b); i++)
        plim_build_store_state(b, r_cache, columns(b, conv, s.n_conv));
    plim_node xbc = convolve(b, il, conv);

    struct scan in = {
        .x = part(b, xbc, s.head, s.n_head),
        .dt = plim_build_add(b, plim_build_cont(b, columns(b, z_xbc_dt, s.n_head)),
                             plim_build_bias(b, il, PLIM_TENSOR_ROLE_SSM_DT)),
        .a = plim_build_weight(b, il, PLIM_TENSOR_ROLE_SSM_A),
        .b = part(b, xbc, s.n_state, s.n_group),
        .c = part(b, xbc, s.n_state, s.n_group),
    };
    plim_node y = scan(b, il, &in, &s);
    y = plim_build_add(b, y, plim_build_mul(b, in.x, plim_build_weight(b, il, PLIM_TENSOR_ROLE_SSM_D)));
    y = plim_build_glu(b, plim_build_cont(b, part(b, z_xbc_dt, s.head, s.n_head)), y);
    if (plim_build_has(b, il, PLIM_TENSOR_ROLE_SSM_NORM)) {
        y = plim_build_reshape(b, y, s.n_inner / s.n_group, s.n_group, s.n_seq_tokens, s.n_seqs);
        y = plim_build_norm_by(b, y, il, PLIM_TENSOR_ROLE_SSM_NORM);
    }
    return plim_build_project(b, il, PLIM_TENSOR_ROLE_SSM_OUT, plim_build_reshape(b, y, s.n_inner, b->n_tokens, 1, 1));
}

/* --- PLaMo-2: heads, the rest as in Mamba; z and x side by side in each head --- */

plim_node plim_build_plamo2_mamba(struct plim_build *b, uint32_t il, plim_node h)
{
    const struct shape s = shape_of(b);
    const uint64_t n_dt = plim_build_at(b, plim_build_weight(b, il, PLIM_TENSOR_ROLE_SSM_DT))->ne[0];
    plim_node r_cache = plim_build_state_cache(b, il, false), past = plim_build_states(b, r_cache);
    h = plim_build_reshape(b, h, plim_build_at(b, h)->ne[0], s.n_seq_tokens, s.n_seqs, 1);
    plim_node zx = plim_build_project(b, il, PLIM_TENSOR_ROLE_SSM_IN, h);
    zx = plim_build_strided(b, zx, 2 * s.n_inner, s.n_seqs, s.n_seq_tokens, 1);
    zx = plim_build_compute(b, zx, 2 * s.head, s.n_head, s.n_seq_tokens, s.n_seqs);
    plim_node x = plim_build_compute(b, columns(b, zx, s.head), s.n_inner, s.n_seq_tokens, s.n_seqs, 1);
    plim_node conv = with_past(b, past, x, &s);
    plim_build_store_state(b, r_cache, columns(b, conv, s.n_conv));
    x = convolve(b, il, conv);

    plim_node b_c_dt = plim_build_mul_mat(b, plim_build_weight(b, il, PLIM_TENSOR_ROLE_SSM_X), x);
    plim_node in_b = plim_build_norm_by(b, columns(b, b_c_dt, s.n_state), il, PLIM_TENSOR_ROLE_SSM_B_NORM);
    plim_node in_c = plim_build_norm_by(b, columns(b, b_c_dt, s.n_state), il, PLIM_TENSOR_ROLE_SSM_C_NORM);
    plim_node dt = plim_build_norm_by(b, columns(b, b_c_dt, n_dt), il, PLIM_TENSOR_ROLE_SSM_DT_NORM);
    const struct scan in = {
        .x = plim_build_reshape(b, x, s.head, s.n_head, s.n_seq_tokens, s.n_seqs),
        .dt = plim_build_project(b, il, PLIM_TENSOR_ROLE_SSM_DT, dt),
        .a = plim_build_reshape(b, plim_build_weight(b, il, PLIM_TENSOR_ROLE_SSM_A), 1, s.n_head, 1, 1),
        .b = plim_build_reshape(b, in_b, s.n_state, 1, s.n_seq_tokens, s.n_seqs),
        .c = plim_build_reshape(b, in_c, s.n_state, 1, s.n_seq_tokens, s.n_seqs),
    };
    plim_node y = scan(b, il, &in, &s), d = plim_build_weight(b, il, PLIM_TENSOR_ROLE_SSM_D);
    y = plim_build_add(b, y, plim_build_mul(b, in.x, plim_build_reshape(b, d, 1, s.n_head, 1, 1)));
    y = plim_build_glu(b, plim_build_cont(b, columns(b, zx, s.head)), y);
    y = plim_build_reshape(b, y, s.n_inner, s.n_seq_tokens, s.n_seqs, 1);
    y = plim_build_project(b, il, PLIM_TENSOR_ROLE_SSM_OUT, y);
    return plim_build_reshape(b, y, plim_build_at(b, y)->ne[0], b->n_tokens, 1, 1);
}
