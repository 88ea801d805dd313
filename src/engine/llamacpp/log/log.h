/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_ENGINE_LLAMACPP_LOG_LOG_H
#define PLIMSOLL_ENGINE_LLAMACPP_LOG_LOG_H

/*
 * llama.cpp's log as a receipt. Every version since the beginning of 2024 prints its buffers, one a line:
 *
 *     llm_load_tensors:      CUDA0 buffer size =  5049.71 MiB           until the autumn of 2024
 *     load_tensors:        CUDA0 model buffer size =  4403.49 MiB
 *     llama_kv_cache_init:      CUDA0 KV buffer size =  1024.00 MiB     also llama_kv_cache_unified, llama_kv_cache
 *     llama_memory_recurrent:      CUDA0 RS buffer size =    95.00 MiB
 *     llama_context:  CUDA_Host  output buffer size =     1.96 MiB
 *     sched_reserve:      CUDA0 compute buffer size =   116.01 MiB      also llama_context,
 * llama_new_context_with_model alloc_compute_meta:      CUDA0 compute buffer size =   248.10 MiB the projector's
 *
 * Since the end of 2025 there is a table of whole MiB besides (breakdown.h). Whatever stands before the name of the
 * function (time, container, colour) does not matter.
 *
 * One log may hold several models. A load that comes to 0 bytes of weights is a trial of --fit; a further load is the
 * draft model; a further context on the same weights belongs to multi-token prediction. When the program was started
 * again, the last start counts.
 */

#include "engine/llamacpp/log/breakdown.h"
#include "receipt/receipt.h"

/* One start of the program. */
struct plim_llama_start {
    struct plim_receipt done;   /* the loads that are over */
    struct plim_receipt load;   /* the one that is being read */
    struct plim_receipt beside; /* projector, adapters; and the names of the cards */
    struct plim_breakdown table;
    uint32_t n_loads, n_contexts;
    uint64_t weights_bytes;
    bool has_weights, has_context, is_context_over;
    char projector_device[PLIM_RECEIPT_ID_BYTES];
};

struct plim_llama_log {
    struct plim_llama_start start;
    struct plim_receipt before; /* of the start before this one, for when this one comes to nothing */
    uint32_t n_before;
};

void plim_llama_log_init(struct plim_llama_log *log);

/* One line, without its end. */
void plim_llama_log_line(struct plim_llama_log *log, const char *line);

/* False when there was nothing to read. */
bool plim_llama_log_receipt(struct plim_llama_log *log, struct plim_receipt *ret_receipt);

#endif
