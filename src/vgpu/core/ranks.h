/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_CORE_RANKS_H
#define PLIMSOLL_VGPU_CORE_RANKS_H

/* Processes that train together meet at a socket: one listens, and waits for the others. It is no server. */

#include <stdbool.h>

/* As the launchers of torch.distributed and their like say it in the environment. */
bool plim_ranks_in_environment(void);

/* The code at `caller` listens for other processes of its program, not for users. */
bool plim_ranks_meet(const void *caller);

#endif
