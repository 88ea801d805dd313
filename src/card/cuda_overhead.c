/* SPDX-License-Identifier: MIT */
#include "card/cuda_overhead.h"

#include "base/units.h"

enum { COMPUTE_CAPABILITY_HOPPER = 90 };

static uint64_t mib(double n) { return (uint64_t)(n * (double)PLIM_MIB); }

/*
 * Before a process runs a kernel the driver sets memory aside for it: stacks and local memory of each multiprocessor,
 * so it grows with their number. Seen with cudaMemGetInfo or in nvidia-smi: 73 MiB on one small card, 107 on an RTX
 * 4060 Ti (34 multiprocessors), 250 and 256 on RTX 3090s (82), just under 300 on an A40 (84), 506 on an RTX 5090 (170),
 * 555 on an RTX PRO 6000 (188): ggml-org/llama.cpp#23604 and #25465, ollama/ollama#10553, invoke-ai/InvokeAI#9413.
 * Without a count the memory of the card stands in for it.
 */
static double multiprocessors(const struct plim_card *card)
{
    double n = card->sm_count ? card->sm_count : 20 + 3 * ((double)card->total_bytes / (double)PLIM_GIB);
    return n > 200 ? 200 : n;
}

uint32_t plim_cuda_multiprocessors(const struct plim_card *card) { return (uint32_t)multiprocessors(card); }

struct plim_overhead_band plim_cuda_context_band(const struct plim_card *card)
{
    const double n = multiprocessors(card);
    const bool is_counted = card->sm_count != 0;
    return (struct plim_overhead_band){ mib(20 + 2.85 * n), mib(15 + (is_counted ? 2.4 : 1.2) * n),
                                        mib(45 + (is_counted ? 3.4 : 5.1) * n) };
}

/*
 * Kernels are loaded when they first run (since CUDA 11.7). With a model loaded the same processes held 291 MiB beside
 * its buffers on an RTX 3090 (ggml-org/llama.cpp#24608) and about 700 on an RTX PRO 6000: 40 and 145 above the bare
 * context.
 */
struct plim_overhead_band plim_cuda_kernels_band(void)
{
    return (struct plim_overhead_band){ 60 * PLIM_MIB, 20 * PLIM_MIB, 160 * PLIM_MIB };
}

bool plim_card_is_hopper(const struct plim_card *card) { return card->compute_capability >= COMPUTE_CAPABILITY_HOPPER; }

/* 8 MiB at compute capability 8.9 and 64 at 9.0, measured with CUDA 13.0. */
uint64_t plim_cublas_workspace_bytes(const struct plim_card *card)
{
    return (plim_card_is_hopper(card) ? 64 : 8) * PLIM_MIB;
}

/* cublasCreate() takes 129 KiB beside its workspace. */
struct plim_overhead_band plim_cublas_band(const struct plim_card *card)
{
    const uint64_t bytes = plim_cublas_workspace_bytes(card) + 129 * PLIM_KIB;
    return (struct plim_overhead_band){ bytes, bytes, bytes };
}
