/* SPDX-License-Identifier: MIT */
#include "engine/cuda_lines.h"

#include "bill/bill.h"
#include "card/cuda_overhead.h"

static void add_context(const struct plim_card *card, struct plim_device_bill *device)
{
    const struct plim_overhead_band band = plim_cuda_context_band(card);
    struct plim_line *line = plim_bill_add_band(device, PLIM_PILLAR_OVERHEAD, "CUDA context",
                                                card->sm_count ? PLIM_BASIS_FORMULA : PLIM_BASIS_ASSUMED, band.bytes,
                                                band.low_bytes, band.high_bytes);
    plim_line_because(line, "grows with the card's %0 multiprocessors; seen: 107 MiB at 34, 256 at 82, 555 at 188",
                      (const uint64_t[]){ plim_cuda_multiprocessors(card) }, 1);
}

static void add_kernels(struct plim_device_bill *device)
{
    const struct plim_overhead_band band = plim_cuda_kernels_band();
    struct plim_line *line = plim_bill_add_band(device, PLIM_PILLAR_OVERHEAD, "kernels", PLIM_BASIS_ASSUMED, band.bytes,
                                                band.low_bytes, band.high_bytes);
    plim_line_because(line, "kernels are loaded when they first run; seen: 40 to 145 MiB", NULL, 0);
}

void plim_cuda_lines_add(const struct plim_card *card, struct plim_device_bill *device)
{
    add_context(card, device);
    add_kernels(device);
}
