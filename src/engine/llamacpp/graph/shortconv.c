/* SPDX-License-Identifier: MIT */
/* The short convolutions of LFM2. Source: src/models/lfm2.cpp of llama.cpp v0.5.0. */
#include "engine/llamacpp/graph/build.h"

/* One of the three thirds of x [3 * n, tokens, seqs]. */
static plim_node third(struct plim_build *b, plim_node x)
{
    return plim_graph_columns(b->g, x, plim_at(b, x)->ne[0] / 3);
}

/* The inputs of earlier batches before x, or, for models that see both ways, zeros around both. */
static plim_node with_past(struct plim_build *b, plim_node past, plim_node x, uint64_t n_past)
{
    const struct plim_gtensor t = *plim_at(b, past);
    if (b->hp->causal_attn)
        return plim_concat(b, past, x);
    const uint64_t pad = n_past / 2;
    plim_node left = plim_graph_columns(b->g, past, pad);
    left = plim_concat(b, plim_cont(b, left), x);
    return plim_compute(b, left, plim_at(b, left)->ne[0] + pad, t.ne[1], t.ne[2], 1);
}

plim_node plim_build_shortconv(struct plim_build *b, uint32_t il, plim_node h)
{
    const uint64_t n_embd = b->hp->n_embd, n_past = b->hp->n_shortconv_l_cache - 1;
    h = plim_reshape(b, h, plim_at(b, h)->ne[0], b->n_tokens / b->n_seqs, b->n_seqs, 1);
    plim_node bcx = plim_project(b, il, PLIM_ROLE_SHORTCONV_INPROJ, h);
    plim_node in = third(b, bcx), out = third(b, bcx), x = third(b, bcx);
    plim_node bx = plim_mul(b, in, x);
    const struct plim_gtensor t = *plim_at(b, bx);
    bx = plim_strided(b, bx, t.ne[1], t.ne[0], t.ne[2], 1);
    plim_node cache = plim_state_cache(b, il, false);
    plim_node past = plim_reshape(b, plim_build_states(b, cache), n_past, n_embd, b->n_seqs, 1);
    bx = with_past(b, past, bx, n_past);
    for (uint32_t i = 0; i < (b->hp->causal_attn ? plim_n_snapshots(b) : 1); i++)
        plim_store_state(b, cache, plim_graph_columns(b->g, bx, n_past));
    plim_node y = plim_build_conv(b, bx, plim_weight(b, il, PLIM_ROLE_SHORTCONV_CONV));
    y = plim_project(b, il, PLIM_ROLE_SHORTCONV_OUTPROJ, plim_mul(b, out, y));
    return plim_reshape(b, y, plim_at(b, y)->ne[0], b->n_tokens, 1, 1);
}
