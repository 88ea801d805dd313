/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_DRIVER_MEMORY_POOLS_H
#define PLIMSOLL_VGPU_DRIVER_MEMORY_POOLS_H

/* Memory pools, for the files that free memory and synchronize. */

#include "vgpu/core/cuda_api.h"

/* Free what cuMemAllocAsync() gave; the pool keeps it until the program synchronizes. */
status plim_pool_free(device_pointer address);

/* The program synchronized: what was freed goes back to the card, down to each pool's threshold. */
void plim_pools_settle(void);

#endif
