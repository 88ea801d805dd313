/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_REPORT_HEAD_H
#define PLIMSOLL_REPORT_HEAD_H

/* What a report begins with: the model, the setup, and what was assumed. */

#include "report/report.h"

void plim_report_head(FILE *out, const struct plim_answer *answer, const struct plim_style *style);

/* The remarks alone. */
void plim_report_notes(FILE *out, const struct plim_answer *answer, const struct plim_style *style);

#endif
