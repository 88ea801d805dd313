/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_ENGINE_CUDA_LINES_H
#define PLIMSOLL_ENGINE_CUDA_LINES_H

/* What CUDA itself takes of a card, as lines of a bill: the context, and the kernels of a program. */

#include "plimsoll/bill.h"

void plim_cuda_lines_add(const struct plim_card *card, struct plim_device_bill *device);

#endif
