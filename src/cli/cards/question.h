/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_CLI_CARDS_QUESTION_H
#define PLIMSOLL_CLI_CARDS_QUESTION_H

/* A question about cards and models: which carry one (carriers.c), and two of them side by side (compare.c). */

#include "card/prices.h"
#include "cli/fit/options.h"
#include "report/report.h"

struct plim_cards_question {
    const char *model;               /* of --for; NULL: not given */
    struct plim_fit_options options; /* its paths are the words of the query, or the cards to compare */
    struct plim_prices prices;       /* of_card is NULL without --prices */
    struct plim_style style;
    bool is_all;
};

/* Print the answer. Returns an exit status, or an error. */
int plim_cards_for_model(struct plim_cards_question *question, struct plim_error *reterr);
int plim_cards_compare(struct plim_cards_question *question, struct plim_error *reterr);

#endif
