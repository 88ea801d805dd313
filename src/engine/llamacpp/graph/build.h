/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_ENGINE_LLAMACPP_GRAPH_BUILD_H
#define PLIMSOLL_ENGINE_LLAMACPP_GRAPH_BUILD_H

/*
 * Building the graph llama.cpp would build, as far as memory sees it. A file calls only files that stand below it:
 * blocks.c has the arithmetic; attention.c, feedforward.c, ends.c and recurrent.c the pieces of all models; mla.c,
 * mamba.c, delta_net.c and shortconv.c the mixers that replace attention; decoder.c joins them for most models. The
 * other files hold a family each. On top of all, arch.c maps an architecture to its builder.
 *
 * Shapes come from the tensors themselves, so a row of arch.c only has facts that the tensors cannot show. All
 * functions take and return graph tensors (plim_node); an absent weight is 0, and adding or multiplying by 0 is
 * skipped.
 *
 * Source: src/llama-graph.cpp and src/models/ of llama.cpp v0.5.0.
 */

#include "engine/ggml/graph.h"
#include "engine/llamacpp/memory.h"

/* The inputs of one attention cache: rows to write, mask, rotation of quantized caches. */
struct plim_attn_inputs {
    plim_node k_rows, v_rows, mask, k_rot, v_rot;
    uint32_t cells; /* 0: no cache, the batch attends to itself */
};

struct plim_build {
    struct plim_ggml_graph *g;
    const struct plim_llama *llama;
    const struct plim_hparams *hp;
    const struct plim_llama_context *cx;
    const struct plim_placement *place;
    uint32_t n_tokens, n_seqs, n_outputs;
    bool is_full_offload;

    const uint16_t *layers; /* the layers to build: all, or a sample that stands for them (layer_dedup.h) */
    int n_layers;
    plim_node start[PLIM_MAX_LAYERS]; /* the first tensor of each layer built, about: where its first weight is read */
    int n_started;

    plim_node positions, out_ids, attn_scale;
    plim_node embd, first; /* the embeddings of the batch; the input of the first layer */
    struct plim_attn_inputs attn, attn_swa;
    plim_node kq_bias; /* added to the logits of the next attention (T5): rules out flash attention */
    plim_node state_copy, state_copy_main, state_copy_extra;

    /* flash attention nodes: "auto" holds only if each is computed on the device of its layer */
    struct plim_flash {
        plim_node node;
        uint16_t layer;
    } flash[2 * PLIM_MAX_LAYERS];
    int n_flash;

    /* a weight is one leaf however often it is read: its copy on another backend is made once */
    plim_node *weight; /* [n_tensors] of the model */
    plim_node rope_factors[PLIM_MAX_DEVICES + 1];
};

static inline const struct plim_gtensor *plim_build_at(const struct plim_build *b, plim_node n)
{
    return &b->g->tensor[n];
}

/* --- leaves --- */

/* The tensor of a layer's role, 0 when the model has none. */
plim_node plim_build_weight(struct plim_build *b, uint32_t il, enum plim_tensor_role role);
plim_node plim_build_bias(struct plim_build *b, uint32_t il, enum plim_tensor_role role);
plim_node plim_build_scale_of(struct plim_build *b, uint32_t il, enum plim_tensor_role role);
plim_node plim_build_global(struct plim_build *b, enum plim_global role);
plim_node plim_build_global_bias(struct plim_build *b, enum plim_global role);
plim_node plim_build_tied_output(struct plim_build *b); /* the copy of the token embedding beside the output layer */
bool plim_build_has(const struct plim_build *b, uint32_t il, enum plim_tensor_role role);

/* The positions of the batch. */
plim_node plim_build_positions(struct plim_build *b);

/* --- arithmetic; results are f32 unless x is not --- */

plim_node plim_build_mul_mat(struct plim_build *b, plim_node weight, plim_node x); /* weight 0: x */
plim_node plim_build_mul_mat_id(struct plim_build *b, plim_node weights, plim_node x, plim_node ids);
plim_node plim_build_add(struct plim_build *b, plim_node x,
                         plim_node y); /* in place where it can be, like all of these */
plim_node plim_build_mul(struct plim_build *b, plim_node x, plim_node y);
plim_node plim_build_unary(struct plim_build *b, plim_node x);
plim_node plim_build_glu(struct plim_build *b, plim_node gate, plim_node up); /* up 0: both halves of gate */
plim_node plim_build_compute(struct plim_build *b, plim_node x, uint64_t ne0, uint64_t ne1, uint64_t ne2, uint64_t ne3);
plim_node plim_build_cont(struct plim_build *b, plim_node x);
plim_node plim_build_cast(struct plim_build *b, plim_node x, enum plim_dtype type);
plim_node plim_build_concat(struct plim_build *b, plim_node x, plim_node y); /* along the first dimension */
plim_node plim_build_get_rows(struct plim_build *b, plim_node x, plim_node rows);
plim_node plim_build_reshape(struct plim_build *b, plim_node x, uint64_t ne0, uint64_t ne1, uint64_t ne2, uint64_t ne3);
plim_node plim_build_strided(struct plim_build *b, plim_node x, uint64_t ne0, uint64_t ne1, uint64_t ne2, uint64_t ne3);
plim_node plim_build_rope(struct plim_build *b, plim_node x, uint32_t il); /* x itself in layers without */

/* weight and bias may be 0. il < 0 outside the layers. */
plim_node plim_build_norm(struct plim_build *b, plim_node x, plim_node weight, plim_node bias, int il);
plim_node plim_build_norm_by(struct plim_build *b, plim_node x, uint32_t il,
                             enum plim_tensor_role role); /* no weight: x */

/* x projected by a role's weight, with its scale and bias. */
plim_node plim_build_project(struct plim_build *b, uint32_t il, enum plim_tensor_role role, plim_node x);

/* --- pieces --- */

plim_node plim_build_tokens(struct plim_build *b);     /* the embeddings of the batch */
plim_node plim_build_embeddings(struct plim_build *b); /* with positions and norm: the input of the first layer */
void plim_build_attn_inputs(struct plim_build *b);     /* masks and cache rows of every cache the model has */

struct plim_qkv {
    plim_node q, k, v;
};

/* Q, K and V of a layer in heads, from fused or separate projections; normalized and rotated. */
struct plim_qkv plim_build_qkv(struct plim_build *b, uint32_t il, plim_node x);

/* Store K and V (k 0: the cache of an earlier layer is used), attend; heads side by side, not yet projected. */
plim_node plim_build_attn(struct plim_build *b, uint32_t il, plim_node q, plim_node k, plim_node v);

/* Attention itself: q, k, v in heads; v_mla decompresses; v_is_k: V is a part of K's memory. */
plim_node plim_build_attn_mha(struct plim_build *b, uint32_t il, plim_node mask, plim_node q, plim_node k, plim_node v,
                              plim_node sinks, plim_node v_mla, bool v_is_k);

/* Q times a number per token, which grows with the position (Llama 4, Mistral). */
plim_node plim_build_scale_q(struct plim_build *b, plim_node q);

/* The node of flash attention alone: q [head, heads, tokens, streams], k and v [head, heads, cells, streams]. */
plim_node plim_build_flash(struct plim_build *b, plim_node q, plim_node k, plim_node v, plim_node mask, plim_node sinks,
                           bool v_is_k);

/* The mask of so many cells and rows, as attention reads it. */
plim_node plim_build_mask(struct plim_build *b, uint64_t n_cells, uint64_t n_rows, uint64_t n_streams);

/* Store K or V in a layer's cache, or the keys of its indexer; the view of it that attention reads. */
plim_node plim_build_store_k(struct plim_build *b, uint32_t il, plim_node k, const struct plim_attn_inputs *in);
plim_node plim_build_store_v(struct plim_build *b, uint32_t il, plim_node v, const struct plim_attn_inputs *in);
plim_node plim_build_store_index_keys(struct plim_build *b, uint32_t il, plim_node k, plim_node rows);

/* x times the rotation of a quantized cache, head by head; without one x itself. */
plim_node plim_build_rotate(struct plim_build *b, plim_node x, plim_node rot);

/* The K (or V) cache tensor of a layer, and the view of it that attention reads: [head, n_kv, cells, stream]. */
plim_node plim_build_cache(struct plim_build *b, uint32_t il, bool is_k, const struct plim_attn_inputs *in);

/* Latent attention: the low-rank query, Q, K and V made from it, and all of it up to the output projection. */
plim_node plim_build_low_query(struct plim_build *b, uint32_t il, plim_node x); /* x itself in models without */
struct plim_qkv plim_build_latent_qkv(struct plim_build *b, uint32_t il, plim_node x, plim_node low);
plim_node plim_build_latent_attn(struct plim_build *b, uint32_t il, plim_node x);

plim_node plim_build_ffn(struct plim_build *b, uint32_t il, plim_node x, enum plim_tensor_role gate,
                         enum plim_tensor_role up, enum plim_tensor_role down);

/* Routed experts; logits 0: from ffn_gate_inp. */
plim_node plim_build_moe(struct plim_build *b, uint32_t il, plim_node x, plim_node logits);

/* Routed experts with the shared expert, or the dense feed-forward of this layer. */
plim_node plim_build_ffn_or_moe(struct plim_build *b, uint32_t il, plim_node x, plim_node logits);

/* In the last layer keep only the rows that need logits; elsewhere x. Needs plim_build_embeddings() before. */
plim_node plim_build_last_rows(struct plim_build *b, uint32_t il, plim_node x);

/* Output norm, logits, pooling. */
void plim_build_head(struct plim_build *b, plim_node x);

/* One embedding per sequence from one per token, for a setup with embeddings. */
void plim_build_pooling(struct plim_build *b, plim_node x);

/* --- recurrent states (recurrent.c) --- */

void plim_build_state_inputs(struct plim_build *b);

/* The cache of a layer's states: of its convolution or token shift (R), or the state proper (S); a row per cell. */
plim_node plim_build_state_cache(struct plim_build *b, uint32_t il, bool is_s);

/* The rows of the batch's sequences: [width, n_seqs]. */
plim_node plim_build_states(struct plim_build *b, plim_node cache);

/* The same for an op that picks the rows by itself: opened before it is made, closed with it. */
plim_node plim_build_open_states(struct plim_build *b, plim_node cache);
void plim_build_close_states(struct plim_build *b, plim_node cache, plim_node rows, plim_node output);

void plim_build_store_state(struct plim_build *b, plim_node cache, plim_node value);

/* The number of states of a sequence that a batch leaves: one, or one for each of the last tokens (n_rs_seq). */
uint32_t plim_build_n_snapshots(const struct plim_build *b);

/* x [kernel - 1 + tokens, channels, seqs] convolved along each channel -> [channels, tokens, seqs] */
plim_node plim_build_conv(struct plim_build *b, plim_node x, plim_node weight);

/* The mixers of recurrent layers: normalized input to projected output, [width, tokens]. */
plim_node plim_build_mamba(struct plim_build *b, uint32_t il, plim_node h);
plim_node plim_build_mamba2(struct plim_build *b, uint32_t il, plim_node h);
plim_node plim_build_plamo2_mamba(struct plim_build *b, uint32_t il, plim_node h);
plim_node plim_build_shortconv(struct plim_build *b, uint32_t il, plim_node h);

/* The inputs of the delta rule: [head, heads, tokens]; decay and learning rate per head (or channel); old states. */
struct plim_delta {
    plim_node q, k, v, decay, beta, state;
};

/* Outputs [head, heads, tokens]; the new states are stored. */
plim_node plim_build_delta_rule(struct plim_build *b, uint32_t il, const struct plim_delta *in);
plim_node plim_build_l2_norm(struct plim_build *b, plim_node x);

/* --- families --- */

void plim_build_bert(struct plim_build *b);
void plim_build_decoder(struct plim_build *b);
void plim_build_falcon_h1(struct plim_build *b);
void plim_build_nemotron_h(struct plim_build *b);
void plim_build_rwkv(struct plim_build *b);
void plim_build_delta_net(struct plim_build *b);
void plim_build_dsa(struct plim_build *b);
void plim_build_kda(struct plim_build *b);
void plim_build_lightning(struct plim_build *b);
void plim_build_mla(struct plim_build *b);
void plim_build_msa(struct plim_build *b);
void plim_build_gemma3n(struct plim_build *b);
void plim_build_gemma4(struct plim_build *b);
void plim_build_t5(struct plim_build *b);

#endif
