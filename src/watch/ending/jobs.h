/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_WATCH_ENDING_JOBS_H
#define PLIMSOLL_WATCH_ENDING_JOBS_H

/*
 * Programs of several processes: a launcher and its ranks, a server and its workers, a script and the processes it has
 * forked. One of them alone is not worth ending: the launcher starts it again, or the others wait for it for ever.
 */

#include "watch/ending/kinship.h"

/*
 * True when the child works for its parent only: the parent is a launcher (torchrun, mpirun, accelerate), or the child
 * was made by Python's multiprocessing, or by fork without a program of its own.
 */
bool plim_job_is_worker(const struct plim_kin *child, const struct plim_kin *parent);

/* The process that a job ends with: the topmost for which all below it work; the process itself, if it works for none.
 */
const struct plim_kin *plim_job_root(const struct plim_kinship *kinship, const struct plim_kin *kin);

/* True for the root, and for each that works for it, directly or for one of its workers. */
bool plim_job_has(const struct plim_kinship *kinship, const struct plim_kin *root, const struct plim_kin *kin);

#endif
