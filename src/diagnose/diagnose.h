/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_DIAGNOSE_DIAGNOSE_H
#define PLIMSOLL_DIAGNOSE_DIAGNOSE_H

/*
 * From the bytes of a log to findings. The log comes in pieces of any size and may have any length: memory does not
 * grow, time is linear, whatever the bytes are.
 */

#include "base/error.h"
#include "diagnose/finding.h"

struct plim_diagnose;

/* NULL: out of memory. */
struct plim_diagnose *plim_diagnose_new(void);
void plim_diagnose_free(struct plim_diagnose *diagnose);

/* Forget the log, for another one; expressions that were compiled stay so. */
void plim_diagnose_reset(struct plim_diagnose *diagnose);

void plim_diagnose_feed(struct plim_diagnose *diagnose, const char *data, size_t size);

/* The diagnosis so far, for --follow: as if the log ended here, but more may be fed. Valid until the next call. */
const struct plim_diagnosis *plim_diagnose_now(struct plim_diagnose *diagnose);

/* The findings so far have been reported: from here on only later ones are. */
void plim_diagnose_forget(struct plim_diagnose *diagnose);

/* The command that wrote the log ended with this status (128 + signal, as shells say it). The log is over. */
void plim_diagnose_exit_status(struct plim_diagnose *diagnose, int exit_status);

/* The log is over; nothing is fed any more. The diagnosis lives as long as `diagnose`. */
const struct plim_diagnosis *plim_diagnose_end(struct plim_diagnose *diagnose);

#endif
