/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_ENGINE_LLAMACPP_CONTEXT_H
#define PLIMSOLL_ENGINE_LLAMACPP_CONTEXT_H

/*
 * A setup with every default filled in and every number rounded as llama.cpp rounds it: the context it would create.
 * Source: llama_context::llama_context() and common_params of llama.cpp v0.5.0; server defaults as of tools/server.
 */

#include "engine/llamacpp/epoch.h"
#include "engine/llamacpp/llama.h"
#include "plimsoll/llamacpp.h"

/* LLAMA_MAX_SEQ (llama-cparams.h): with more sequences the engine does not start. */
enum { PLIM_LLAMA_MAX_SEQ = 256 };

struct plim_llama_context {
    uint32_t n_ctx;     /* all sequences together, a multiple of 256 */
    uint32_t n_ctx_seq; /* one sequence: cells of a stream */
    uint32_t n_ctx_swa; /* cells of a sliding layer's stream */
    uint32_t n_batch, n_ubatch, n_seq_max, n_stream;
    uint32_t n_seq_graph; /* the sequences of a reserved graph */
    uint32_t n_outputs_max;
    uint32_t n_rs_seq;
    uint32_t n_draft;   /* tokens drafted per step; 0 without speculative decoding */
    uint32_t n_tokens;  /* of the graph whose buffers are reserved */
    uint32_t n_outputs; /* of that graph */
    enum plim_dtype type_k, type_v;
    bool flash_attn; /* given, or automatic: plim_compute_size() has the last word on the latter */
    bool flash_attn_auto;
    bool v_trans; /* V is stored transposed: flash attention was ruled out from the start */
    bool kv_unified, swa_full, offload_kqv, op_offload, mmap, embeddings, causal_attn, is_layer_split;
    bool load_mtp;                  /* the next-token-prediction layers are loaded as well */
    const struct plim_epoch *epoch; /* the rules of the graph */
    bool loses_pins;                /* nodes that are pinned to devices are not: as --fit measures, and some versions */
    bool no_pipeline;               /* a device cannot, or it was tried and did not fit (plim_buffers_settle()) */
    uint32_t n_gpu_layers;          /* resolved: n_layer_all + 1 is everything */
    int first_gpu;                  /* of those in use: not 0 with -sm none -mg N */
};

/* n_ctx of 0 means the model's own; n_gpu is the number of devices to offload to. */
void plim_llama_context_resolve(const struct plim_llama *llama, const struct plim_llamacpp_setup *setup,
                                const struct plim_epoch *epoch, int n_gpu, struct plim_llama_context *ret_context);

/* Cache types that CUDA's attention kernels read (fattn.cu: ggml_cuda_fattn_kv_type_supported). */
bool plim_flash_has_type(enum plim_dtype type);

/* True when CUDA has a kernel for these cache types and heads (fattn.cu: ggml_cuda_get_best_fattn_kernel). */
bool plim_flash_has_kernel(enum plim_dtype type_k, enum plim_dtype type_v, uint32_t head_k, uint32_t head_v,
                           uint32_t n_gqa, bool has_alibi);

/* The result of -fa auto: true when the CUDA kernels can run this model's attention with these cache types. */
bool plim_llama_context_can_flash(const struct plim_llama *llama, enum plim_dtype type_k, enum plim_dtype type_v);

#endif
