/* SPDX-License-Identifier: MIT */
/*
 * Encoders of the BERT kind, which normalize after each part of a layer. (Encoders that normalize before are decoders
 * without a cache and without logits: decoder.c.) Source: src/models/bert.cpp of llama.cpp v0.5.0.
 */
#include "engine/llamacpp/graph/build.h"

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
    b->g->tensor[x].flags |= PLIM_TENSOR_OUTPUT;
    plim_ggml_graph_expand(b->g, x);
    plim_build_pooling(b, x);
}
