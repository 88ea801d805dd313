/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_CLI_REHEARSE_RUN_H
#define PLIMSOLL_CLI_REHEARSE_RUN_H

/* One run of the command of a rehearsal, of which some answers need several. */

#include "cli/rehearse/options.h"
#include "rehearse/rehearsal.h"

/* Say why a run could not begin; its exit status. */
int plim_rehearse_fail(const struct plim_error *error);

/* Show a line of progress during runs, on a terminal that understands what that takes. */
void plim_rehearse_watch(struct plim_rehearse_options *o);

/* On a ledger of its own, which the rehearsal keeps. 0, or an exit status: then the reason was printed. */
int plim_rehearse_once(struct plim_rehearse_options *o, struct plim_rehearsal *rehearsal);

#endif
