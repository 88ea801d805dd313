/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_REPORT_TIMELINE_H
#define PLIMSOLL_REPORT_TIMELINE_H

/* The memory of a card over the time of a rehearsal, drawn in the terminal. */

#include "rehearse/rehearsal.h"

#include <stdio.h>

/* Nothing when nothing was taken. Without is_unicode in ASCII. */
void plim_report_timeline(FILE *out, const struct plim_rehearsal *receipt, uint32_t device, bool is_unicode);

#endif
