/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_CLI_DEVICES_H
#define PLIMSOLL_CLI_DEVICES_H

/* Which of a machine's cards the flags use: -dev, -sm none and -mg. */

#include "cli/notes.h"
#include "emit/flags.h"
#include "plimsoll/card.h"

/*
 * Keep the cards of -dev in their order; what the setup says by number follows. Fails for devices that are not there.
 * -sm none with -mg -1 uses none of them.
 */
int plim_cli_use_devices(const struct plim_arguments *arguments, struct plim_machine *machine, struct plim_setup *setup,
                         struct plim_notes *notes, struct plim_error *reterr);

#endif
