/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_REHEARSE_STOP_CONDITION_H
#define PLIMSOLL_REHEARSE_STOP_CONDITION_H

/* When a rehearsal has seen enough of its program. */

#include "receipt/rehearsal.h"
#include "vgpu/core/ledger.h"

enum plim_until {
    PLIM_UNTIL_AUTO, /* exit; but a server that computes nothing is stable */
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

/* Why the program should be stopped, or NULL. idle_s: for how long it has computed nothing. */
const char *plim_stop_reason(const struct plim_stop_condition *condition, const struct plim_ledger *ledger,
                             double elapsed_s, double idle_s);

/*
 * How many steps the program has taken. PyTorch counts the steps of its optimizers; of several processes, the one with
 * the fewest counts. Without PyTorch, cycles count: the launches between two waits for the card repeat, with the same
 * memory held, at least n_wanted times up to now. Loops that are not steps repeat, too; the receipt says that it
 * counted cycles. A program with PyTorch repeats itself before its first step, while it loads and quantizes.
 */
void plim_steps_count(const struct plim_ledger *ledger, uint32_t n_wanted, struct plim_rehearsal_steps *ret_steps);

/* Whether memory was asked for in a backward pass of PyTorch. */
bool plim_steps_has_backward(const struct plim_ledger *ledger);

#endif
