/* SPDX-License-Identifier: MIT */
/*
 * Latent attention (MLA): of a token remain one low-rank vector and a short rotated key that all heads share. Files
 * that split the expansion matrix keep just these in the cache and move the heads' own parts over to the query and the
 * result ("absorbed"); older files, MiniCPM3 and PLM expand them and cache full heads.
 * Source: src/models/deepseek2.cpp, minicpm3.cpp, plm.cpp of llama.cpp v0.5.0.
 */
#include "engine/llamacpp/graph/build.h"

plim_node plim_build_low_query(struct plim_build *b, uint32_t il, plim_node x)
{
    if (!plim_build_has(b, il, PLIM_TENSOR_ROLE_ATTN_Q_A))
        return x;
    plim_node low = plim_build_mul_mat(b, plim_build_weight(b, il, PLIM_TENSOR_ROLE_ATTN_Q_A), x);
    return plim_build_norm_by(b, low, il, PLIM_TENSOR_ROLE_ATTN_Q_A_NORM);
}

/* low is the query before its last projection: [head, heads, tokens] */
static plim_node query(struct plim_build *b, uint32_t il, plim_node low, uint32_t head)
{
    enum plim_tensor_role role =
        plim_build_has(b, il, PLIM_TENSOR_ROLE_ATTN_Q_B) ? PLIM_TENSOR_ROLE_ATTN_Q_B : PLIM_TENSOR_ROLE_ATTN_Q;
    return plim_build_reshape(b, plim_build_mul_mat(b, plim_build_weight(b, il, role), low), head, b->hp->n_head[il],
                              b->n_tokens, 1);
}

/* --- the cached parts --- */

struct latent {
    plim_node kv;   /* the vector, normalized */
    plim_node k_pe; /* the key that carries the position */
};

static struct latent compress(struct plim_build *b, uint32_t il, plim_node x)
{
    plim_node both = plim_build_mul_mat(b, plim_build_weight(b, il, PLIM_TENSOR_ROLE_ATTN_KV_A_MQA), x);
    plim_node kv = plim_ggml_graph_columns(b->g, both, b->hp->n_lora_kv);
    plim_node k_pe = plim_ggml_graph_heads(b->g, both, b->hp->n_rot, 1);
    return (struct latent){ plim_build_norm_by(b, kv, il, PLIM_TENSOR_ROLE_ATTN_KV_A_NORM),
                            plim_build_rope(b, k_pe, il) };
}

static struct plim_qkv absorbed(struct plim_build *b, uint32_t il, plim_node q, struct latent latent)
{
    const uint32_t n_head = b->hp->n_head[il], n_rot = b->hp->n_rot, n_lora = b->hp->n_lora_kv;
    plim_node k_b = plim_build_weight(b, il, PLIM_TENSOR_ROLE_ATTN_K_B);
    const uint32_t n_nope = plim_build_at(b, k_b)->ne[0];
    plim_node nope = plim_build_strided(b, plim_ggml_graph_columns(b->g, q, n_nope), n_nope, b->n_tokens, n_head, 1);
    nope = plim_build_strided(b, plim_build_mul_mat(b, k_b, nope), n_lora, n_head, b->n_tokens, 1);
    plim_node pe = plim_build_rope(b, plim_ggml_graph_columns(b->g, q, n_rot), il);
    plim_node v = plim_build_reshape(b, latent.kv, n_lora, 1, b->n_tokens, 1);
    return (struct plim_qkv){ plim_build_concat(b, nope, pe), plim_build_concat(b, v, latent.k_pe), v };
}

static struct plim_qkv expanded(struct plim_build *b, uint32_t il, plim_node q, struct latent latent)
{
    const struct plim_hparams *hp = b->hp;
    const uint32_t head_k = plim_hparams_head_k(hp, il), n_head = hp->n_head[il], n_rot = hp->n_rot;
    const uint32_t n_nope = head_k > n_rot ? head_k - n_rot : 0, head_v = plim_hparams_head_v(hp, il);
    plim_node kv = plim_build_mul_mat(b, plim_build_weight(b, il, PLIM_TENSOR_ROLE_ATTN_KV_B), latent.kv);
    kv = plim_build_reshape(b, kv, (uint64_t)n_nope + head_v, n_head, b->n_tokens, 1);
    plim_node v = plim_build_cont(b, plim_ggml_graph_columns(b->g, kv, head_v));
    plim_node k_pe = plim_build_compute(b, latent.k_pe, n_rot, n_head, b->n_tokens, 1); /* for every head */
    plim_node k = plim_build_concat(b, plim_ggml_graph_columns(b->g, kv, n_nope), k_pe);
    return (struct plim_qkv){ plim_build_rope(b, q, il), k, v };
}

static bool is_absorbed(const struct plim_build *b, uint32_t il)
{
    return plim_hparams_is_mla(b->hp) && plim_build_has(b, il, PLIM_TENSOR_ROLE_ATTN_K_B);
}

struct plim_qkv plim_build_latent_qkv(struct plim_build *b, uint32_t il, plim_node x, plim_node low)
{
    const bool absorb = is_absorbed(b, il);
    plim_node q = query(b, il, low, absorb ? b->hp->n_embd_head_k_mla : plim_hparams_head_k(b->hp, il));
    const struct latent latent = compress(b, il, x);
    struct plim_qkv y = absorb ? absorbed(b, il, q, latent) : expanded(b, il, q, latent);
    if (b->hp->has_attn_scale)
        y.q = plim_build_scale_q(b, y.q);
    return y;
}

/* --- attention over it --- */

/* The cache has K alone; V is the part of it without the rotated key. */
static plim_node attend_latent(struct plim_build *b, uint32_t il, struct plim_qkv y)
{
    const struct plim_attn_inputs *in = &b->attn;
    plim_ggml_graph_expand(b->g, y.q);
    plim_ggml_graph_expand(b->g, y.v);
    plim_ggml_graph_expand(b->g, y.k);
    plim_node k = plim_build_store_k(b, il, y.k, in);
    plim_node v = plim_ggml_graph_columns(b->g, k, plim_build_at(b, y.v)->ne[0]);
    return plim_build_attn_mha(b, il, in->mask, y.q, k, v, 0, plim_build_weight(b, il, PLIM_TENSOR_ROLE_ATTN_V_B),
                               true);
}

plim_node plim_build_latent_attn(struct plim_build *b, uint32_t il, plim_node x)
{
    struct plim_qkv y = plim_build_latent_qkv(b, il, x, plim_build_low_query(b, il, x));
    return is_absorbed(b, il) ? attend_latent(b, il, y) : plim_build_attn(b, il, y.q, y.k, y.v);
}

/* --- the decoder --- */

static plim_node layer(struct plim_build *b, uint32_t il, plim_node x)
{
    plim_node a = plim_build_latent_attn(b, il, plim_build_norm_by(b, x, il, PLIM_TENSOR_ROLE_ATTN_NORM));
    a = plim_build_last_rows(b, il, plim_build_project(b, il, PLIM_TENSOR_ROLE_ATTN_OUT, a));
    x = plim_build_add(b, a, plim_build_last_rows(b, il, x));
    return plim_build_add(b, plim_build_ffn_or_moe(b, il, plim_build_norm_by(b, x, il, PLIM_TENSOR_ROLE_FFN_NORM), 0),
                          x);
}

void plim_build_mla(struct plim_build *b)
{
    plim_node x = plim_build_embeddings(b);
    plim_build_attn_inputs(b);
    for (int i = 0; i < b->n_layers; i++)
        x = layer(b, b->layers[i], x);
    plim_build_head(b, x);
}
