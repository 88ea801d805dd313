/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_RECORD_ABSENCE_H
#define PLIMSOLL_RECORD_ABSENCE_H

/* Why a program wrote nothing, by what its hook noted on the way: each stage is a line of the file `stages`. */

#include "record/record.h"

/* What the hook noted, without repetitions: "...; ...". */
void plim_record_notes(const char *folder, char ret_notes[PLIM_RECORD_TEXT_BYTES]);

/* PLIM_E_NOT_FOUND with the reason. */
PLIM_MUST_CHECK int plim_record_absence(const char *folder, const char *notes, struct plim_error *reterr);

#endif
