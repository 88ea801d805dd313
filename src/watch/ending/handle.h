/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_WATCH_ENDING_HANDLE_H
#define PLIMSOLL_WATCH_ENDING_HANDLE_H

/*
 * A process held by a pidfd: it stays the same one, whatever happens to its number. The kernel has that since 5.3; on
 * older ones nothing is ended, for a number may have a new owner by the time a signal arrives.
 */

#include "watch/ending/kinship.h"

enum plim_handle_result {
    PLIM_HANDLE_OPEN,
    PLIM_HANDLE_ENDED,       /* the process is no more */
    PLIM_HANDLE_OTHER,       /* the number belongs to another process now */
    PLIM_HANDLE_UNSUPPORTED, /* no pidfd: an older kernel, or a filter of system calls */
    PLIM_HANDLE_FAILED,      /* errno says why */
};

/* Opens the process that `kin` describes, and no other. *ret_file is written on PLIM_HANDLE_OPEN only. */
enum plim_handle_result plim_handle_open(const struct plim_kin *kin, int *ret_file);

/* True when it has ended. */
bool plim_handle_has_ended(int file);

/* Wait until one of the files (negative ones are left out) has ended; at most ms. */
void plim_handle_wait(const int *files, size_t n, int ms);

/* 0, or an errno: ESRCH when it has ended. */
int plim_handle_signal(int file, int signal);

#endif
