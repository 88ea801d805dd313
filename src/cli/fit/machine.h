/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_CLI_FIT_MACHINE_H
#define PLIMSOLL_CLI_FIT_MACHINE_H

/* The machine of a question: cards by name, by size, or of this machine; and host memory. */

#include "base/notes.h"
#include "cli/fit/options.h"
#include "plimsoll/card.h"

/* Common sizes, for when no card is named and this machine has no card. */
enum { PLIM_LADDER_STEPS = 8 };

/*
 * The cards that are used, in the order of -dev; devices that the setup names by number are renumbered. Returns 1
 * without any card: then the question is about each step of the ladder, which plim_cli_ladder_card() gives.
 */
int plim_cli_machine(struct plim_fit_options *options, struct plim_machine *ret_machine, struct plim_notes *notes,
                     struct plim_error *reterr);

/* Add the card, or the cards ("2x RTX 3090"), that text names; a size ("7.5GiB") is any card of that much memory. */
int plim_cli_add_cards(const char *text, struct plim_machine *machine, struct plim_notes *notes,
                       struct plim_error *reterr);

void plim_cli_ladder_card(unsigned step, struct plim_card *ret_card);

#endif
