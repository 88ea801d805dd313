/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_CLI_WATCH_HOLDERS_H
#define PLIMSOLL_CLI_WATCH_HOLDERS_H

/* One look at who holds memory of this machine's cards, for answers about something else: fit and explain. */

#include "plimsoll/card.h"

/* The holders of a machine, or all of this one. Nothing is said where no driver answers. */
struct plim_holders {
    struct plim_holder item[PLIM_MAX_HOLDERS];
    char card[PLIM_MAX_HOLDERS][80]; /* the name of each one's card */
    char user[PLIM_MAX_HOLDERS][33]; /* its owner, "" unknown */
    uint32_t n;
};

/*
 * Those on the live cards of `machine`, with its numbers of cards; machine NULL: on all cards of this machine, as the
 * driver counts them. By card, the largest first.
 */
void plim_cli_find_holders(const struct plim_machine *machine, struct plim_holders *ret_holders);

#endif
