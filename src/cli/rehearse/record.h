/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_CLI_REHEARSE_RECORD_H
#define PLIMSOLL_CLI_REHEARSE_RECORD_H

/* plimsoll rehearse --record FILE: the step of a rehearsal, as a file. */

#include "cli/rehearse/options.h"
#include "record/record.h"
#include "rehearse/rehearsal.h"

/* The folder of a recording; the program of the launch gets its environment. 0, or an exit status: it was said why. */
int plim_rehearse_record_begin(struct plim_rehearse_options *o, struct plim_record_folder *ret_folder);

/* What the run left there, as a step; the folder is removed. PLIM_E_NOT_FOUND: there is nothing, see the reason. */
PLIM_MUST_CHECK int plim_rehearse_record_take(const struct plim_rehearse_options *o,
                                              const struct plim_rehearsal *rehearsal, struct plim_record_folder *folder,
                                              struct plim_step *ret_step, struct plim_recorded *ret_recorded,
                                              struct plim_error *reterr);

/* The file, and on standard error what is in it. 0, or an exit status. */
int plim_rehearse_record_finish(const struct plim_rehearse_options *o, const struct plim_rehearsal *rehearsal,
                                struct plim_record_folder *folder);

#endif
