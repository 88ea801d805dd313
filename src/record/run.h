/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_RECORD_RUN_H
#define PLIMSOLL_RECORD_RUN_H

#include "base/error.h"

/*
 * Run a program as it is: its input, output and terminal are ours, signals that a process sends to us are passed on to
 * it, and those of the terminal reach it directly. *ret_status is its exit status, 128 + N when signal N ended it.
 */
PLIM_MUST_CHECK int plim_record_run(const char *path, char *const *arguments, char *const *environment, int *ret_status,
                                    struct plim_error *reterr);

#endif
