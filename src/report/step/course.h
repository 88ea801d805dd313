/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_REPORT_STEP_COURSE_H
#define PLIMSOLL_REPORT_STEP_COURSE_H

/* The course of a program's memory, as part of an answer. */

#include "report/report.h"

#include <jansson.h>

/* The command, and the point and settings at which it was evaluated: instead of a model's architecture. */
void plim_report_course_head(FILE *out, const struct plim_answer *answer);

/* The peak: when it is, how it is reached, and the lines of the program that hold it. */
void plim_report_course_peak(FILE *out, const struct plim_answer *answer, const struct plim_style *style);

/* Before the verdict: what no setting can change, and the largest value that was asked for. */
void plim_report_course_end(FILE *out, const struct plim_answer *answer, const struct plim_style *style);

/* The object "step" of plimsoll.fit/1. */
json_t *plim_course_json(const struct plim_course *course);

#endif
