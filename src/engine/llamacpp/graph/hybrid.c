/* SPDX-License-Identifier: MIT */
/*
 * Hybrids whose layers are not a mixer and a feed-forward part: Falcon-H1 has both kinds of mixer side by side,
 * Nemotron-H one thing per layer. The other hybrids are plain decoders (decoder.c).
 * Source: src/models/falcon-h1.cpp, nemotron-h.cpp of llama.cpp v0.5.0.
 */
#include "engine/llamacpp/graph/build.h"

static plim_node start(struct plim_build *b)
{
    plim_node x = plim_build_embeddings(b);
    plim_build_attn_inputs(b);
    plim_build_state_inputs(b);
    return x;
}

static plim_node attend(struct plim_build *b, uint32_t il, plim_node h)
{
    struct plim_qkv y = plim_build_qkv(b, il, h);
    return plim_build_project(b, il, PLIM_TENSOR_ROLE_ATTN_OUT, plim_build_attn(b, il, y.q, y.k, y.v));
}

/* --- Falcon-H1 --- */

static plim_node falcon_h1_layer(struct plim_build *b, uint32_t il, plim_node x)
{
    plim_node a = attend(b, il, plim_build_norm_by(b, x, il, PLIM_TENSOR_ROLE_ATTN_NORM));
    plim_node m =
        plim_build_mamba2(b, il, plim_build_norm_by(b, x, il, PLIM_TENSOR_ROLE_ATTN_NORM)); /* normalized once more */
    x = plim_build_last_rows(b, il, plim_build_add(b, plim_build_add(b, a, m), x));
    plim_node y = plim_build_norm_by(b, x, il, PLIM_TENSOR_ROLE_FFN_NORM);
    return plim_build_add(
        b, plim_build_ffn(b, il, y, PLIM_TENSOR_ROLE_FFN_GATE, PLIM_TENSOR_ROLE_FFN_UP, PLIM_TENSOR_ROLE_FFN_DOWN), x);
}

void plim_build_falcon_h1(struct plim_build *b)
{
    plim_node x = start(b);
    for (int i = 0; i < b->n_layers; i++)
        x = falcon_h1_layer(b, b->layers[i], x);
    plim_build_head(b, x);
}

/* --- Nemotron-H --- */

/* Experts may work in a narrower space than the layer; the router and the shared expert do not. */
static plim_node nemotron_h_ffn(struct plim_build *b, uint32_t il, plim_node h)
{
    if (!plim_build_has(b, il, PLIM_TENSOR_ROLE_FFN_GATE_INP))
        return plim_build_ffn(b, il, h, PLIM_TENSOR_ROLE_FFN_GATE, PLIM_TENSOR_ROLE_FFN_UP, PLIM_TENSOR_ROLE_FFN_DOWN);
    plim_node latent = plim_build_mul_mat(b, plim_build_weight(b, il, PLIM_TENSOR_ROLE_FFN_LATENT_DOWN), h);
    plim_node logits = plim_build_mul_mat(b, plim_build_weight(b, il, PLIM_TENSOR_ROLE_FFN_GATE_INP), h);
    plim_node y = plim_build_moe(b, il, latent, logits);
    y = plim_build_mul_mat(b, plim_build_weight(b, il, PLIM_TENSOR_ROLE_FFN_LATENT_UP), y);
    return plim_build_add(b, y,
                          plim_build_ffn(b, il, h, PLIM_TENSOR_ROLE_FFN_GATE_SHEXP, PLIM_TENSOR_ROLE_FFN_UP_SHEXP,
                                         PLIM_TENSOR_ROLE_FFN_DOWN_SHEXP));
}

void plim_build_nemotron_h(struct plim_build *b)
{
    plim_node x = start(b);
    for (int i = 0; i < b->n_layers; i++) {
        const uint32_t il = b->layers[i];
        plim_node h = plim_build_norm_by(b, x, il, PLIM_TENSOR_ROLE_ATTN_NORM);
        plim_node y = plim_llama_memory_recurs(b->llama, il)    ? plim_build_mamba2(b, il, h)
                      : plim_llama_memory_attends(b->llama, il) ? attend(b, il, h)
                                                                : nemotron_h_ffn(b, il, h);
        x = plim_build_add(b, y, x);
    }
    plim_build_head(b, x);
}
