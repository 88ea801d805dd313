/* SPDX-License-Identifier: MIT */
/* The short convolutions of LFM2. Source: src/models/lfm2.cpp of llama.cpp v0.5.0. */
#include "engine/llamacpp/graph/build.h"

/* One of the three thirds of x [3 * n, tokens, seqs]. */
static plim_node third(struct plim_build *b, plim_node x)
{
    return plim_ggml_graph_columns(b->g, x, plim_build_at(b, x)->ne[0] / 3);
}

/* The inputs of earlier batches before x, or, for models that see both ways, zeros around both. */
static plim_node with_past(struct plim_build *b, plim_node past, plim_node x, uint64_t n_past)
{
    const struct plim_gtensor t = *plim_build_at(b, past);
    if (b->hp->causal_attn)
        return plim_build_concat(b, past, x);
    const uint64_t pad = n_past / 2;
    plim_node left = plim_ggml_graph_columns(b->g, past, pad);
    left = plim_build_concat(b, plim_build_cont(b, left), x);
    return plim_build_compute(b, left, plim_build_at(b, left)->ne[0] + pad, t.ne[1], t.ne[2], 1);
}

plim_node plim_build_shortconv(struct plim_build *b, uint32_t il, plim_node h)
{
    const uint64_t n_embd = b->hp->n_embd, n_past = b->hp->n_shortconv_l_cache - 1;
    h = plim_build_reshape(b, h, plim_build_at(b, h)->ne[0], b->n_tokens / b->n_seqs, b->n_seqs, 1);
    plim_node bcx = plim_build_project(b, il, PLIM_TENSOR_ROLE_SHORTCONV_INPROJ, h);
    plim_node in = third(b, bcx), out = third(b, bcx), x = third(b, bcx);
    plim_node bx = plim_build_mul(b, in, x);
    const struct plim_gtensor t = *plim_build_at(b, bx);
    bx = plim_build_strided(b, bx, t.ne[1], t.ne[0], t.ne[2], 1);
    plim_node cache = plim_build_state_cache(b, il, false);
    plim_node past = plim_build_reshape(b, plim_build_states(b, cache), n_past, n_embd, b->n_seqs, 1);
    bx = with_past(b, past, bx, n_past);
    for (uint32_t i = 0; i < (b->hp->causal_attn ? plim_build_n_snapshots(b) : 1); i++)
        plim_build_store_state(b, cache, plim_ggml_graph_columns(b->g, bx, n_past));
    plim_node y = plim_build_conv(b, bx, plim_build_weight(b, il, PLIM_TENSOR_ROLE_SHORTCONV_CONV));
    y = plim_build_project(b, il, PLIM_TENSOR_ROLE_SHORTCONV_OUTPROJ, plim_build_mul(b, out, y));
    return plim_build_reshape(b, y, plim_build_at(b, y)->ne[0], b->n_tokens, 1, 1);
}
