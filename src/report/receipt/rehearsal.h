/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_REPORT_RECEIPT_REHEARSAL_H
#define PLIMSOLL_REPORT_RECEIPT_REHEARSAL_H

/* The receipt of a rehearsal. */

#include "receipt/rehearsal.h"
#include "rehearse/find.h"

#include <stdio.h>

/* The receipt of the engine's own log stands beside it; NULL: there is none. */
void plim_report_rehearsal_text(FILE *out, const struct plim_rehearsal *rehearsal,
                                const struct plim_receipt *engine_log, bool is_unicode);

/* As plimsoll.receipt/1. find is NULL when nothing was searched for. False: it could not be written. */
bool plim_report_rehearsal_json(FILE *out, const struct plim_rehearsal *rehearsal, const struct plim_find *find);

/* The result of a search; the line that matters last. */
void plim_report_find_text(FILE *out, const struct plim_find *find);

#endif
