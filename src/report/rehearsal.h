/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_REPORT_REHEARSAL_H
#define PLIMSOLL_REPORT_REHEARSAL_H

/* The receipt of a rehearsal. */

#include "receipt/receipt.h"
#include "rehearse/find.h"
#include "rehearse/rehearsal.h"

#include <stdio.h>

/* What the engine said in its log may be NULL. */
void plim_report_rehearsal_text(FILE *out, const struct plim_rehearsal *receipt, const struct plim_receipt *said,
                                bool is_unicode);

/*
 * As plimsoll.receipt/1. said as above; find is NULL when nothing was searched for. Returns false if it could not be
 * written.
 */
bool plim_report_rehearsal_json(FILE *out, const struct plim_rehearsal *receipt, const struct plim_receipt *said,
                                const struct plim_find *find);

/* What a search found; the line that matters last. */
void plim_report_find_text(FILE *out, const struct plim_find *find);

#endif
