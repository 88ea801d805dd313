/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_ENGINE_VLLM_LOG_H
#define PLIMSOLL_ENGINE_VLLM_LOG_H

/*
 * vLLM's log as a receipt. Each worker prints its figures in GiB:
 *
 *     Model loading took 8.3215 GiB and 25.3 seconds        weights        "Loading model weights took", at first
 *     Available KV cache memory: 8.77 GiB                   KV cache: vLLM takes all of it
 *     GPU KV cache size: 49,152 tokens
 *     Graph capturing finished in 8 secs, took 0.31 GiB     CUDA graphs
 *     model weights take 0.52GiB; non_torch_memory takes 0.08GiB; PyTorch activation peak memory takes 1.78GiB; the
 *         rest of the memory reserved for KV Cache is 34.81GiB      versions 0.6 to 0.9
 *
 * A worker names itself before the message: "(Worker_TP1 pid=88)", "(VllmWorker rank=1 pid=88)".
 */

#include "engine/log_type.h"

extern const struct plim_engine_log_type plim_vllm_log_type;

#endif
