/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_WATCH_RECORD_H
#define PLIMSOLL_WATCH_RECORD_H

/*
 * What was seen of one process. It is what a state file keeps: numbers only, no names and no command lines.
 *
 * Times are of the wall clock, as two runs of the program share no other; a clock that was set back is told by a
 * record from the future, which counts as none.
 */

#include "watch/program.h"

struct plim_record {
    int64_t pid;
    uint64_t start_ticks;
    int64_t started_unix_s;             /* pids and ticks come again after the machine was started anew */
    int64_t seen_ms;                    /* when the figures below were taken */
    int64_t cpu_ms, bytes, gpu_busy_ms; /* -1: unknown */
    int64_t idle_since_ms;              /* idle from then to seen_ms; 0: not known to be idle */
    bool is_idle_at_least;              /* it may have been idle before */
    int32_t idle_ppm;                   /* of a core, while idle: its housekeeping; -1: not measured */
    int64_t anchor_ms, anchor_cpu_ms;   /* where the measurement of idle_ppm began; 0: not begun */
    int64_t gone_since_ms;              /* first seen without a process; 0: it is there */
    struct plim_watch_known_program program;
    int64_t mark; /* the number of the last sample that had it */
};

struct plim_watch_activity {
    int64_t idle_s; /* -1: unknown */
    bool is_idle_at_least;
    bool is_busy;       /* active on the GPU or the processor in the time that was seen */
    bool is_gpu_silent; /* the driver says nothing about activity */
};

/*
 * Bring a record up to this sample. A record whose seen_ms is 0 is a new one. log_unix_s: when the process last wrote
 * its log; 0: unknown.
 */
void plim_record_update(struct plim_record *record, const struct plim_sample *sample, uint32_t process,
                        int64_t log_unix_s, struct plim_watch_activity *ret_activity);

#endif
