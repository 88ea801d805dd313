/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_REHEARSE_PROCESSES_SIGNAL_H
#define PLIMSOLL_REHEARSE_PROCESSES_SIGNAL_H

/* Signals that reach the process which is meant, or nobody. */

#include "vgpu/core/process.h"

/* False: it has ended, another process has its number by now, or it must never be signalled (pid 1, ourselves). */
bool plim_signal_send(const struct plim_process *process, int number);

#endif
