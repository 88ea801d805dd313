/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_REHEARSE_PROCESSES_LEFT_BEHIND_H
#define PLIMSOLL_REHEARSE_PROCESSES_LEFT_BEHIND_H

/*
 * Processes of a rehearsal that go on after the program has ended: jobs of a shell, daemons. They belong to it, and
 * what they take of a card is in the receipt: they are waited for as long as they work. The others are ended, since
 * the virtual card goes with the rehearsal.
 */

#include "rehearse/processes/tree.h"
#include "rehearse/rehearsal.h"

/* Whether one of them holds memory of a card. */
bool plim_left_behind_has_card(const struct plim_tree *tree, const struct plim_ledger *ledger);

enum { PLIM_LEFT_BEHIND_NAME = 64 };

/* "sleep", "python3 and 2 more"; empty: there are none. */
void plim_left_behind_name(const struct plim_tree *tree, char ret_name[PLIM_LEFT_BEHIND_NAME]);

/* What became of them, for the receipt. */
void plim_left_behind_say(struct plim_rehearsal *rehearsal, const char *name, const char *what);

#endif
