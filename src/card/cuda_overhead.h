/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_CARD_CUDA_OVERHEAD_H
#define PLIMSOLL_CARD_CUDA_OVERHEAD_H

/*
 * The memory that CUDA itself takes on a card for any process: no rule is published, so each figure is a band of
 * published measurements.
 */

#include "plimsoll/card.h"

struct plim_overhead_band {
    uint64_t bytes, low_bytes, high_bytes;
};

/* Taken when a process first uses a card. It grows with the multiprocessors, whose number is assumed where unknown. */
struct plim_overhead_band plim_cuda_context_band(const struct plim_card *card);
uint32_t plim_cuda_multiprocessors(const struct plim_card *card);

/* Code of kernels, loaded when they first run. */
struct plim_overhead_band plim_cuda_kernels_band(void);

/* The workspace of a cuBLAS handle; and all that cublasCreate() takes. */
uint64_t plim_cublas_workspace_bytes(const struct plim_card *card);
struct plim_overhead_band plim_cublas_band(const struct plim_card *card);

/* Compute capability 9.0 and later have larger workspaces. */
bool plim_card_is_hopper(const struct plim_card *card);

#endif
