/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_REHEARSE_PROGRESS_H
#define PLIMSOLL_REHEARSE_PROGRESS_H

/*
 * One line about a rehearsal while it lasts, on a terminal that the program may write to as well. Nobody tells us when
 * the program writes: the line waits until the program has been silent, always stands on a row of its own with the
 * cursor below it, and is only written anew, or erased, where nothing was written after it.
 */

#include "rehearse/processes/tree.h"
#include "vgpu/core/ledger.h"

enum { PLIM_PROGRESS_TEXT = 96 };

enum plim_progress_act {
    PLIM_PROGRESS_NOTHING,
    PLIM_PROGRESS_NEW,   /* write it on a row of its own, wherever the cursor is */
    PLIM_PROGRESS_AGAIN, /* write it over the row above the cursor, which is ours */
    PLIM_PROGRESS_ERASE, /* the row above the cursor is ours: erase it */
};

struct plim_rehearsal_progress {
    bool is_alone;    /* the program's output goes elsewhere */
    bool is_shown;    /* the row above the cursor is ours, unless the program wrote since */
    double looked_s;  /* when the program was last looked at */
    double shown_s;   /* when it was last written */
    double wait_s;    /* for how long the program has to be silent; 0: not looked yet */
    double written_s; /* when the program was last seen to write */
    uint64_t written_bytes;
};

/* What the program has written to files, pipes and terminals, and for how long its terminal has been left alone. */
struct plim_progress_output {
    bool is_known; /* written_bytes is */
    uint64_t written_bytes;
    double silent_s; /* at least; 0: unknown */
};

struct plim_progress_output plim_progress_output_of(const struct plim_tree *tree, int terminal);

/* The time is that since the program's start; is_over: the program has ended. */
enum plim_progress_act plim_progress_decide(struct plim_rehearsal_progress *progress,
                                            const struct plim_progress_output *output, double now_s, bool is_over);

/* "plimsoll: 34 s, load, gpu0 3.10 GiB of 24.0 GiB, peak 3.20 GiB, 2 steps". The ledger need not be locked. */
void plim_progress_text(const struct plim_ledger *ledger, double now_s, char ret_text[PLIM_PROGRESS_TEXT]);

#endif
