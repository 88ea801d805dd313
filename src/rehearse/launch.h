/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_REHEARSE_LAUNCH_H
#define PLIMSOLL_REHEARSE_LAUNCH_H

/* Run a program on the virtual cards and wait for it, or for what is enough to know. */

#include "rehearse/rehearsal.h"

#include "plimsoll/error.h"

enum plim_until {
    PLIM_UNTIL_AUTO, /* exit; but a program that takes connections is stable */
    PLIM_UNTIL_EXIT,
    PLIM_UNTIL_READY,  /* takes connections, and nothing new for 2 s */
    PLIM_UNTIL_STABLE, /* holds memory on a card, and no new peak for stable_s */
};

struct plim_launch {
    const char *path;         /* of the program */
    char *const *arguments;   /* with its name; NULL-terminated */
    char *const *environment; /* of the caller */
    const char *libraries;    /* folder of the virtual libraries */
    const char *log;          /* file for the program's output; NULL: as ours */
    enum plim_until until;
    double stable_s, timeout_s; /* timeout 0: none */
};

/* The ledger of the receipt is there and its cards are described. Fails when the program could not be started. */
int plim_launch_run(const struct plim_launch *launch, int ledger_fd, struct plim_rehearsal *receipt,
                    struct plim_error *reterr);

#endif
