/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_REHEARSE_END_KERNEL_KILLS_H
#define PLIMSOLL_REHEARSE_END_KERNEL_KILLS_H

/* Whether the kernel ended processes for want of host memory, by its counters before and after. */

#include "receipt/rehearsal.h"

struct plim_kernel_kills {
    uint64_t of_group, of_machine; /* UINT64_MAX: unknown */
};

/* The counters of this process's control group, the program's too, and of the machine, under `root` ("": "/"). */
struct plim_kernel_kills plim_kernel_kills_read(const char *root);

enum plim_host_kill plim_kernel_kills_judge(struct plim_kernel_kills before, struct plim_kernel_kills after,
                                            bool is_by_signal_9);

#endif
