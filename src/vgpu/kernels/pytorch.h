/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_KERNELS_PYTORCH_H
#define PLIMSOLL_VGPU_KERNELS_PYTORCH_H

#include <stdbool.h>

/*
 * Whether the PyTorch of this process is older than the oldest whose kernels were read (2.5): what its kernels have in
 * their parameters is not known, even where their names are the same. False: newer, of no known version, or none.
 */
bool plim_pytorch_is_old(void);

#endif
