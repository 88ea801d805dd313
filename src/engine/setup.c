/* SPDX-License-Identifier: MIT */
#include "plimsoll/setup.h"

void plim_setup_init(struct plim_setup *setup)
{
    *setup = (struct plim_setup){ .n_gpu_layers = PLIM_NGL_AUTO,
                                  .n_gpu_layers_draft = PLIM_NGL_AUTO,
                                  .cache_ram_mib = PLIM_CACHE_RAM_DEFAULT };
}
