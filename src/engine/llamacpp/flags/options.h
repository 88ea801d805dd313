/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_ENGINE_LLAMACPP_FLAGS_OPTIONS_H
#define PLIMSOLL_ENGINE_LLAMACPP_FLAGS_OPTIONS_H

/*
 * llama.cpp's options that change memory: the one place where its flags are spelled.
 *
 * Source: common/arg.cpp of llama.cpp v0.4.1 and v0.6.0.
 */

#include "engine/option.h"

enum plim_llamacpp_option {
    PLIM_LLAMACPP_MODEL,
    PLIM_LLAMACPP_CTX_SIZE,
    PLIM_LLAMACPP_BATCH,
    PLIM_LLAMACPP_UBATCH,
    PLIM_LLAMACPP_N_PARALLEL,
    PLIM_LLAMACPP_N_OUTPUTS_MAX,
    PLIM_LLAMACPP_N_GPU_LAYERS,
    PLIM_LLAMACPP_CACHE_TYPE_K,
    PLIM_LLAMACPP_CACHE_TYPE_V,
    PLIM_LLAMACPP_FLASH_ATTN,
    PLIM_LLAMACPP_KV_OFFLOAD,
    PLIM_LLAMACPP_KV_UNIFIED,
    PLIM_LLAMACPP_SWA_FULL,
    PLIM_LLAMACPP_TENSOR_SPLIT,
    PLIM_LLAMACPP_SPLIT_MODE,
    PLIM_LLAMACPP_MAIN_GPU,
    PLIM_LLAMACPP_DEVICE,
    PLIM_LLAMACPP_RPC,
    PLIM_LLAMACPP_OVERRIDE_TENSOR,
    PLIM_LLAMACPP_CPU_MOE,
    PLIM_LLAMACPP_N_CPU_MOE,
    PLIM_LLAMACPP_N_CPU_FFN,
    PLIM_LLAMACPP_OP_OFFLOAD,
    PLIM_LLAMACPP_MMAP,
    PLIM_LLAMACPP_LOAD_MODE,
    PLIM_LLAMACPP_MMPROJ,
    PLIM_LLAMACPP_MMPROJ_AUTO,
    PLIM_LLAMACPP_MMPROJ_OFFLOAD,
    PLIM_LLAMACPP_LORA,
    PLIM_LLAMACPP_LORA_SCALED,
    PLIM_LLAMACPP_SPEC_DRAFT_MODEL,
    PLIM_LLAMACPP_N_GPU_LAYERS_DRAFT,
    PLIM_LLAMACPP_SPEC_DRAFT_CACHE_TYPE_K,
    PLIM_LLAMACPP_SPEC_DRAFT_CACHE_TYPE_V,
    PLIM_LLAMACPP_SPEC_DRAFT_N_MAX,
    PLIM_LLAMACPP_SPEC_TYPE,
    PLIM_LLAMACPP_MTP,
    PLIM_LLAMACPP_CACHE_RAM,
    PLIM_LLAMACPP_EMBEDDINGS,
    PLIM_LLAMACPP_RERANKING,
    PLIM_LLAMACPP_FIT,
    PLIM_LLAMACPP_FIT_TARGET,
    PLIM_LLAMACPP_FIT_CTX,
    PLIM_LLAMACPP_CTX_SEQ,
    PLIM_LLAMACPP_N_LAYER,
    PLIM_LLAMACPP_EXPERTS_ON_CPU,
    PLIM_LLAMACPP_CLIENT,
    PLIM_LLAMACPP_BACKEND,
    PLIM_LLAMACPP_MAX_OPTIONS
};

extern const struct plim_option plim_llamacpp_options[PLIM_LLAMACPP_MAX_OPTIONS];

/* The names of enum plim_client, without the runner, and of enum plim_backend; NULL at their ends. */
extern const char *const plim_llamacpp_clients[], *const plim_llamacpp_backends[];

/* The changes of --fit as flags: "-c 9216 -ngl 31". n_ctx is the context it started from. */
void plim_llamacpp_write_flags(const struct plim_llamacpp_setup *before, const struct plim_llamacpp_setup *after,
                               uint32_t n_ctx, char *text, size_t size);

#endif
