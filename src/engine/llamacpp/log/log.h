/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_ENGINE_LLAMACPP_LOG_LOG_H
#define PLIMSOLL_ENGINE_LLAMACPP_LOG_LOG_H

/*
 * llama.cpp's log as a receipt. Every version since the beginning of 2024 prints one line for each buffer:
 *
 *     llm_load_tensors:      CUDA0 buffer size =  5049.71 MiB           until the autumn of 2024
 *     load_tensors:        CUDA0 model buffer size =  4403.49 MiB
 *     llama_kv_cache_init:      CUDA0 KV buffer size =  1024.00 MiB     also llama_kv_cache_unified, llama_kv_cache
 *     llama_memory_recurrent:      CUDA0 RS buffer size =    95.00 MiB
 *     llama_context:  CUDA_Host  output buffer size =     1.96 MiB
 *     sched_reserve:      CUDA0 compute buffer size =   116.01 MiB      also llama_context
 *     alloc_compute_meta:      CUDA0 compute buffer size =   248.10 MiB     of the projector
 *
 * Since the end of 2025 it also prints a table in whole MiB (breakdown.h). Text before the name of the function (time,
 * container, colour) is skipped.
 *
 * One log may hold several models. A load of 0 bytes of weights is a trial of --fit; a second load is the draft model;
 * a second context on the same weights belongs to multi-token prediction. Of several starts of the program the last one
 * counts.
 */

#include "engine/log_type.h"

extern const struct plim_engine_log_type plim_llama_log_type;

#endif
