/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_CLI_REHEARSE_VARY_H
#define PLIMSOLL_CLI_REHEARSE_VARY_H

/* plimsoll rehearse --record FILE --vary NAME=A,B,...: recordings at several values become one step. */

#include "cli/rehearse/options.h"

/* The options are ready for a run. Returns the exit status. */
int plim_rehearse_vary(struct plim_rehearse_options *o);

#endif
