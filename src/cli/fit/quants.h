/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_CLI_FIT_QUANTS_H
#define PLIMSOLL_CLI_FIT_QUANTS_H

/* One model in all quantizations worth choosing: on one machine, or on a card of each common size. */

#include "cli/fit/machine.h"
#include "report/report.h"

/* The question; all of it outlives the answer. */
struct plim_quants_question {
    const struct plim_fit_options *options;
    const struct plim_setup *setup;
    const struct plim_model *model; /* in full or half precision */
    const struct plim_machine *machine;
    const struct plim_notes *notes;
    const struct plim_style *style;
    int argc; /* of the command line, for the next question */
    char **argv;
    size_t *n_answers; /* in JSON, so far */
};

/* Print the table. Returns an exit status, or an error; *ret_best is the quantization to take, "" when none fits. */
int plim_quants_answer(const struct plim_quants_question *question, char ret_best[16], struct plim_error *reterr);
int plim_quants_answer_ladder(const struct plim_quants_question *question, struct plim_error *reterr);

#endif
