/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_WATCH_ENDING_STATE_H
#define PLIMSOLL_WATCH_ENDING_STATE_H

/* What ending.c and verify.c share. */

#include "watch/ending/ending.h"

/* A holding as it was before the first signal. */
struct plim_held {
    uint32_t card; /* index in `returned` */
    int64_t pid, bytes;
    uint64_t start_ticks;
    int32_t ended; /* index of the process that is ended; -1: another's */
};

struct plim_ending {
    struct plim_ended *ended;
    int *file;        /* pidfds; -1: none */
    int64_t *term_ms; /* when it was sent SIGTERM; 0: not yet */
    uint32_t n;
    int64_t grace_ms, begin_ms, kill_ms; /* the beginning is the first signal; kill_ms: when SIGKILL was sent; 0 */
    bool is_confirmed;
    struct plim_returned *returned;
    int64_t *used_bytes; /* of these cards, before; -1: unknown */
    uint32_t n_returned;
    struct plim_held *held;
    uint32_t n_held;
};

/* Note what the cards held before the first signal. */
int plim_ending_note(struct plim_ending *ending, const struct plim_sample *sample,
                     struct plim_error *reterr) PLIM_MUST_CHECK;

#endif
