/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_WATCH_STALE_H
#define PLIMSOLL_WATCH_STALE_H

/* Whether a process is stale, and why: the rules. */

#include "watch/program.h"
#include "watch/record.h"

/* All that a rule looks at. */
struct plim_stale_case {
    const struct plim_sample *sample;
    const struct plim_watch_program *programs;    /* of its processes */
    const struct plim_watch_activity *activities; /* of its processes */
    uint32_t process;
    unsigned contexts; /* of all its holdings: enum plim_context */
    int64_t gone_ms;   /* seen without a process for so long */
    int64_t idle_after_s;
};

struct plim_stale_verdict {
    enum plim_stale stale;
    enum plim_stale_reason reason;
    char why[PLIM_WATCH_WHY_BYTES];
};

/* True for the name of process 1 of a system or of a container, or of another that takes in processes whose parents
 * have ended. */
bool plim_stale_is_reaper(const char *program);

void plim_stale_judge(const struct plim_stale_case *c, struct plim_stale_verdict *ret_verdict);

#endif
