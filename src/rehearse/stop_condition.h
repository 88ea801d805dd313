/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_REHEARSE_STOP_CONDITION_H
#define PLIMSOLL_REHEARSE_STOP_CONDITION_H

/* When a rehearsal has shown what there is to see. */

#include "rehearse/rehearsal.h"

enum plim_until {
    PLIM_UNTIL_AUTO, /* exit; but a program that takes connections and computes nothing is stable */
    PLIM_UNTIL_EXIT,
    PLIM_UNTIL_READY,  /* takes connections, and nothing new for 2 s: no peak, nothing computed */
    PLIM_UNTIL_STABLE, /* holds memory on a card, and no new peak for stable_s */
    PLIM_UNTIL_STEPS,  /* has taken n_steps steps */
};

struct plim_stop_condition {
    enum plim_until until;
    double stable_s, timeout_s; /* timeout 0: none */
    uint32_t n_steps;
};

/* Why it is enough, or NULL. idle_s: how long the program has computed nothing. */
const char *plim_stop_reason(const struct plim_stop_condition *enough, const struct plim_ledger *ledger,
                             double elapsed_s, double idle_s);

/*
 * How many steps the program has taken. Optimizer steps are those that PyTorch counts, of the process that has fewest.
 * Where there are none, cycles count: what is launched between two waits for the card repeats, with the same memory
 * held, n_wanted times and more at the end of what was seen. A loop that is no step repeats, too: a cycle is what it
 * is. A program with PyTorch may be on its way to its first step, with many rounds before it: there it has to repeat
 * more often, and to have no backward pass.
 */
void plim_steps_count(const struct plim_ledger *ledger, uint32_t n_wanted, struct plim_rehearsal_steps *ret_steps);

#endif
