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

#endif
