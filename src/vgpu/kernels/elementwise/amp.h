/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_KERNELS_ELEMENTWISE_AMP_H
#define PLIMSOLL_VGPU_KERNELS_ELEMENTWISE_AMP_H

/* The kernels of torch.amp.GradScaler (ATen/native/cuda/AmpKernels.cu). */

#include "vgpu/kernels/view.h"

/*
 * _amp_foreach_non_finite_check_and_unscale_ and the same for one tensor: the gradients are multiplied in place, and a
 * flag is set if one of them is not finite. The lambda holds the addresses of the flag and of the factor.
 */
void plim_amp_unscale(const void *lambda, const struct plim_view *gradient);

#endif
