/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_CLI_FIT_ANSWER_H
#define PLIMSOLL_CLI_FIT_ANSWER_H

/* One answer: one model on one machine, and everything it points to. */

#include "base/notes.h"
#include "cli/fit/options.h"
#include "cli/watch/holders.h"
#include "engine/course.h"
#include "report/report.h"
#include "source/paths.h"

struct plim_result {
    struct plim_setup setup;
    struct plim_adjustment adjustment;
    struct plim_machine machine;
    struct plim_bill bill, adjusted_bill;
    struct plim_fix fixes[PLIM_MAX_FIXES];
    struct plim_room room;
    struct plim_course course;
    struct plim_command command;
    char file[160];              /* the name of the file that the model is to become; "" */
    struct plim_holders holders; /* of live cards, when the first model did not fit: */
    bool has_looked;
    struct plim_answer answer; /* points into the others */
};

/*
 * The engine that answers for a model: the one of the options, but for files that another alone answers for.
 * PLIM_E_USAGE when options of an engine are given that does not.
 */
int plim_answer_engine_type(const struct plim_fit_options *options, const struct plim_model *model,
                            const struct plim_engine_type **ret_type, struct plim_error *reterr);

/*
 * Answer for ret_result->machine, which is set before; has_looked is false at the first. The engine, the options, the
 * path and the notes must outlive the result.
 */
int plim_answer_make(const struct plim_fit_options *options, const struct plim_path *path,
                     const struct plim_notes *notes, bool has_fixes, struct plim_engine *engine,
                     struct plim_result *ret_result, struct plim_error *reterr);

#endif
