/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_REPORT_RECEIPT_END_H
#define PLIMSOLL_REPORT_RECEIPT_END_H

/* How a rehearsal ended, for people: the last line of its receipt. */

#include "rehearse/end/end.h"

#include <stdio.h>

void plim_report_end_text(const struct plim_rehearsal *rehearsal, char ret_text[PLIM_END_TEXT_BYTES]);

/* What led to it, and the line. */
void plim_report_end(FILE *out, const struct plim_rehearsal *rehearsal);

#endif
