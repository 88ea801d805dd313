/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_REPORT_STEP_STEP_H
#define PLIMSOLL_REPORT_STEP_STEP_H

/* A recorded step, as it is in its file. What follows from it on a card is a bill's matter. */

#include "engine/torch/step.h"
#include "report/report.h"
#include "step/step.h"

/* plimsoll.step/1: all of it. False: out of memory, or not written. */
bool plim_report_step_json(FILE *out, const char *path, const struct plim_step *step);

/* A track at the first point of its shape, under the settings of the recording. */
struct plim_step_shown {
    const struct plim_step_shape *shape;
    const struct plim_step_track *track;
    const struct plim_torch_run *run; /* NULL: cannot be replayed */
};

void plim_report_step_head(FILE *out, const char *path, const struct plim_step *step, const struct plim_style *style);
void plim_report_step_shape(FILE *out, const struct plim_step *step, const struct plim_step_shape *shape,
                            const struct plim_style *style);
void plim_report_step_track(FILE *out, const struct plim_step *step, const struct plim_step_shown *shown,
                            const struct plim_style *style);

#endif
