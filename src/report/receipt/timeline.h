/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_REPORT_RECEIPT_TIMELINE_H
#define PLIMSOLL_REPORT_RECEIPT_TIMELINE_H

#include "receipt/rehearsal.h"

#include <stdio.h>

/* The memory of a card over time, with its peak and its phases; nothing for a card that was not used. */
void plim_report_timeline(FILE *out, const struct plim_rehearsal *rehearsal, uint32_t device, bool is_unicode);

#endif
