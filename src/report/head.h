/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_REPORT_HEAD_H
#define PLIMSOLL_REPORT_HEAD_H

/* The head of a report: the model, the setup, and the assumptions. */

#include "report/report.h"

void plim_report_head(FILE *out, const struct plim_answer *answer, const struct plim_style *style);

/* The remarks alone. */
void plim_report_notes(FILE *out, const struct plim_answer *answer, const struct plim_style *style);

#endif
