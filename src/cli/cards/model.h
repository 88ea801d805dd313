/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_CLI_CARDS_MODEL_H
#define PLIMSOLL_CLI_CARDS_MODEL_H

/* The one model of --for: a file or a name, as `plimsoll fit` takes it. */

#include "cli/cards/question.h"
#include "cli/fit/sources.h"
#include "cli/fit/subject.h"

struct plim_cards_model {
    struct plim_cli_sources sources;
    struct plim_paths paths;
    struct plim_subject subject;
};

/* quant as in plim_subject_open(). Freed with plim_cards_model_done(), also after an error. */
int plim_cards_model_open(const struct plim_cards_question *question, const char *name, const char *quant,
                          struct plim_cards_model *ret_model, struct plim_error *reterr);
void plim_cards_model_done(struct plim_cards_model *model);

#endif
