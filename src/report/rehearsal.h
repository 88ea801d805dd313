/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_REPORT_REHEARSAL_H
#define PLIMSOLL_REPORT_REHEARSAL_H

#include "rehearse/rehearsal.h"

#include <stdio.h>

void plim_report_rehearsal_text(FILE *out, const struct plim_rehearsal *receipt);

/* plimsoll.receipt/1; false when it could not be made. */
bool plim_report_rehearsal_json(FILE *out, const struct plim_rehearsal *receipt);

#endif
