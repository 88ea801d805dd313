/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_CLI_TOP_SEND_H
#define PLIMSOLL_CLI_TOP_SEND_H

/* Signals of the user to processes, by the rules of `plimsoll free`: what that would keep gets none. */

#include "cli/top/look.h"

/*
 * The chosen signal to the tagged processes, else to the selected one, after another look. The view's message says what
 * came of it. Fails only where the look fails.
 */
int plim_top_send(struct plim_top_look *look, struct plim_top_view *view, struct plim_error *reterr) PLIM_MUST_CHECK;

#endif
