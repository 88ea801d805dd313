/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_KERNELS_UNKNOWN_H
#define PLIMSOLL_VGPU_KERNELS_UNKNOWN_H

/* Kernels that have no meaning here: what they may have written is not known any more. */

#include "vgpu/kernels/kernel.h"

/* What the (demangled) name says about the parameters; NULL: nothing. */
void *plim_unknown_parse(struct plim_text name);
void plim_unknown_run(const void *parsed, const struct plim_kernel_launch *launch);

/* The number of parameters that the name says a kernel has; -1: it does not. */
int plim_unknown_n_parameters(struct plim_text name);

#endif
