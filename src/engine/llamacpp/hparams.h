/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_ENGINE_LLAMACPP_HPARAMS_H
#define PLIMSOLL_ENGINE_LLAMACPP_HPARAMS_H

/*
 * Hyperparameters: the numbers of a model that decide about memory, under llama.cpp's names.
 * Source: llama_model_base::load_hparams() and load_arch_hparams() of llama.cpp v0.5.0.
 */

#include "base/error.h"
#include "base/limits.h"
#include "engine/llamacpp/arch.h"
#include "plimsoll/model.h"

/* How the embeddings of a sequence's tokens become one. */
enum plim_pooling {
    PLIM_POOLING_NONE = 0,
    PLIM_POOLING_MEAN = 1,
    PLIM_POOLING_FIRST = 2,
    PLIM_POOLING_LAST = 3,
    PLIM_POOLING_RANK = 4, /* a classifier over one of them: rank_pooling_type */
};

struct plim_hparams {
    const struct plim_arch *arch;

    uint32_t n_layer_all; /* with next-token-prediction layers */
    uint32_t n_layer;     /* without */
    uint32_t n_layer_nextn;
    uint32_t n_layer_dec;  /* T5: layers of the decoder; n_layer counts the encoder's */
    uint32_t n_layer_file; /* layers in the file; n_layer counts a layer that runs several times as often */
    uint32_t n_embd, n_embd_out, n_embd_inp;
    uint32_t n_vocab, n_ctx_train;
    uint32_t n_embd_head_k, n_embd_head_v;         /* of layers that see everything */
    uint32_t n_embd_head_k_swa, n_embd_head_v_swa; /* of sliding layers */
    uint32_t n_embd_head_k_mla;                    /* of "decompressed" heads; 0 without MLA */
    uint32_t n_rot, n_lora_kv;
    uint32_t n_swa;                /* window; 0 when no layer slides */
    int32_t n_layer_kv_from_start; /* the layers after these share their cache; -1: none does */

    uint32_t n_expert, n_expert_used, n_expert_groups, n_group_used, n_layer_dense_lead;
    bool expert_weights_norm, has_expert_weights_norm, expert_weights_scale;

    uint32_t ssm_d_conv, ssm_d_inner, ssm_d_state, ssm_dt_rank, ssm_n_group;
    uint32_t wkv_head_size, token_shift_count, n_shortconv_l_cache, n_embd_head_kda, n_embd_head_la;
    uint32_t indexer_n_head, indexer_head_size, indexer_top_k, indexer_block_size;
    uint32_t n_deepstack_layers;
    bool ssm_dt_b_c_rms, rope_not_finetuned;
    bool is_layer_norm; /* LayerNorm, not RMS: not in place */
    bool swin_norm;     /* Chameleon: norms after the two parts of a layer, not before */
    bool has_loop_norm; /* Nanbeige: the output norm also comes between two runs through the layers */
    bool causal_attn, use_parallel_residual, use_mrope, has_alibi, has_embedding_scale, has_attn_scale;
    uint32_t pooling_type, rank_pooling_type; /* enum plim_pooling */

    uint32_t n_head[PLIM_MAX_LAYERS], n_head_kv[PLIM_MAX_LAYERS], n_ff[PLIM_MAX_LAYERS];
    uint32_t n_expert_used_in[PLIM_MAX_LAYERS]; /* at most n_expert_used */
    bool is_swa[PLIM_MAX_LAYERS], is_recurrent[PLIM_MAX_LAYERS], is_indexer[PLIM_MAX_LAYERS];
    bool has_no_rope[PLIM_MAX_LAYERS];
    bool adds_deepstack[PLIM_MAX_LAYERS]; /* a slice of an image's extra embeddings is added ... */
    bool is_deepstack_first;              /* ... before the layer, not after it */
};

/* Read them from the metadata. Fails when a key that llama.cpp requires is missing or out of range. */
int plim_hparams_read(const struct plim_model *model, const struct plim_arch *arch, struct plim_hparams *ret_hparams,
                      struct plim_error *reterr) PLIM_MUST_CHECK;

static inline bool plim_hparams_is_mla(const struct plim_hparams *hp) { return hp->n_embd_head_k_mla != 0; }

static inline uint32_t plim_hparams_head_k(const struct plim_hparams *hp, uint32_t il)
{
    return hp->is_swa[il] ? hp->n_embd_head_k_swa : hp->n_embd_head_k;
}

static inline uint32_t plim_hparams_head_v(const struct plim_hparams *hp, uint32_t il)
{
    return hp->is_swa[il] ? hp->n_embd_head_v_swa : hp->n_embd_head_v;
}

/* Elements per token in the K and V cache of a layer (llama_hparams::n_embd_k_gqa, n_embd_v_gqa). */
static inline uint64_t plim_hparams_k_gqa(const struct plim_hparams *hp, uint32_t il)
{
    return (uint64_t)plim_hparams_head_k(hp, il) * hp->n_head_kv[il];
}

static inline uint64_t plim_hparams_v_gqa(const struct plim_hparams *hp, uint32_t il)
{
    return (uint64_t)plim_hparams_head_v(hp, il) * hp->n_head_kv[il];
}

/* The widest V of all layers: without flash attention every layer's cache is padded to it. */
uint64_t plim_hparams_v_gqa_max(const struct plim_hparams *hp);

/* True when layer il has a cache of its own (not one shared with an earlier layer). */
bool plim_hparams_has_kv(const struct plim_hparams *hp, uint32_t il);

/* True when layer il is the last of a run through the file's layers, and another run follows. */
static inline bool plim_hparams_ends_loop(const struct plim_hparams *hp, uint32_t il)
{
    return (il + 1) % hp->n_layer_file == 0 && il + 1 < hp->n_layer;
}

/* Elements of the two recurrent states of one layer and sequence (llama_hparams::n_embd_r, n_embd_s). */
uint64_t plim_hparams_n_embd_r(const struct plim_hparams *hp);
uint64_t plim_hparams_n_embd_s(const struct plim_hparams *hp);

#endif
