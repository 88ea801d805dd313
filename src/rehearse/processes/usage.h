/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_REHEARSE_PROCESSES_USAGE_H
#define PLIMSOLL_REHEARSE_PROCESSES_USAGE_H

/* What the processes of a rehearsal take of the host: memory, and whether they compute. */

#include "rehearse/processes/tree.h"

struct plim_usage {
    uint64_t peak_rss_bytes, peak_anonymous_bytes; /* of all together; shared pages count for each */
    size_t peak_n;                                 /* the most processes at one time */
    double cpu_s, cpu_seen_s;                      /* CPU time at the last look */
    double busy_s;                                 /* when they were last seen computing */
};

void plim_usage_look(struct plim_usage *usage, const struct plim_tree *tree, double now_s);

#endif
