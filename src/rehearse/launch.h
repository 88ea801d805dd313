/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_REHEARSE_LAUNCH_H
#define PLIMSOLL_REHEARSE_LAUNCH_H

/* Run a program on the virtual cards until it ends or its stop condition holds. */

#include "rehearse/processes/tree.h"
#include "rehearse/rehearsal.h"
#include "rehearse/stop_condition.h"

#include "plimsoll/error.h"

struct plim_launch {
    const char *path;         /* of the program */
    char *const *arguments;   /* with its name; NULL-terminated */
    char *const *environment; /* of the caller */
    const char *libraries;    /* folder of the virtual libraries */
    const char *values;       /* what copies from the card bring: "zero", "max" or "off"; NULL: zero */
    const char *tokens;       /* after how many an answer ends; NULL: at the program's limit */
    const char *schedule;     /* when work in streams is done: "eager" or "lazy"; NULL: eager */
    const char *log;          /* file for the program's output; NULL: it goes where ours goes */
    struct plim_stop_condition stop;
    /* Called often, and once when the program has ended; may be NULL. */
    void (*progress)(const struct plim_tree *tree, const struct plim_ledger *ledger, double elapsed_s, bool is_over);
};

/* The rehearsal has a ledger, in which the cards are described. Fails when the program could not be started. */
int plim_launch_run(const struct plim_launch *launch, int ledger_fd, struct plim_rehearsal *rehearsal,
                    struct plim_error *reterr);

#endif
