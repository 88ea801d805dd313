/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_CLI_REHEARSE_VARIED_H
#define PLIMSOLL_CLI_REHEARSE_VARIED_H

/* What --vary says on standard error. */

#include "cli/rehearse/options.h"
#include "step/step.h"

/* A recording: its peaks, or why there is none. seconds < 0: it was kept from an earlier run. */
void plim_rehearse_varied_line(const struct plim_vary *vary, const struct plim_vary_point *point,
                               const struct plim_step *step, const char *failure, double seconds);

/* The step: its shapes, how sure their sizes are, and what to ask. */
void plim_rehearse_varied_text(const struct plim_rehearse_options *o, const struct plim_vary_plan *plan,
                               const struct plim_step *step);

#endif
