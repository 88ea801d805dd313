/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_CLI_REHEARSE_PARTS_H
#define PLIMSOLL_CLI_REHEARSE_PARTS_H

/*
 * The recordings of --vary, kept in a folder beside the file until that is written: FILE.parts. A run that was broken
 * off goes on with what is there, as long as the command and the card are the same.
 */

#include "cli/rehearse/options.h"
#include "step/step.h"

/* True: *ret_step is the recording that an earlier run made of this command, in o->launch.arguments. */
bool plim_rehearse_part_read(const struct plim_rehearse_options *o, const struct plim_step_point *point,
                             struct plim_step *ret_step);

/* It does no harm when that fails: the recording is made again then. */
void plim_rehearse_part_write(const struct plim_rehearse_options *o, const struct plim_step_point *point,
                              const struct plim_step *step);

void plim_rehearse_parts_remove(const struct plim_rehearse_options *o, const struct plim_step_point *point);

#endif
