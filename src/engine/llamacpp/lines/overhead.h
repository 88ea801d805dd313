/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_ENGINE_LLAMACPP_LINES_OVERHEAD_H
#define PLIMSOLL_ENGINE_LLAMACPP_LINES_OVERHEAD_H

/*
 * The memory of a process beside the buffers llama.cpp prints: the driver's context, workspaces and pools of the CUDA
 * backend, and on the host the process itself. No line here is exact; each is a band.
 */

#include "bill/bill.h"
#include "engine/llamacpp/place.h"

/* On a GPU that has layers or computes for the host. */
void plim_overhead_device(const struct plim_llama *llama, const struct plim_llama_context *cx,
                          const struct plim_epoch *epoch, enum plim_backend backend, const struct plim_card *card,
                          struct plim_device_bill *device);

void plim_overhead_host(const struct plim_llamacpp_setup *setup, int n_gpu, struct plim_device_bill *device);

#endif
