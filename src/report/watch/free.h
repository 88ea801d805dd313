/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_REPORT_WATCH_FREE_H
#define PLIMSOLL_REPORT_WATCH_FREE_H

/* The answers of `plimsoll free`. */

#include "report/report.h"
#include "watch/ending/ending.h"

/* What was done with a choice. */
enum plim_free_stage {
    PLIM_FREE_LISTED,   /* nothing: neither was it agreed to, nor could one be asked */
    PLIM_FREE_DRY_RUN,  /* nothing, as wished */
    PLIM_FREE_DECLINED, /* nothing: the answer was no */
    PLIM_FREE_DONE,
};

enum { PLIM_FREE_MAX_USERS = 8 };

struct plim_free_answer {
    enum plim_free_stage stage;
    bool is_bare; /* nothing was asked for: what is stale is listed */
    const struct plim_choice *choice;
    struct plim_ending *ending; /* PLIM_FREE_DONE only */
    /* Memory is not back: these have a card open, and the driver lists no memory of theirs. */
    const struct plim_kin *user[PLIM_FREE_MAX_USERS];
    uint32_t n_users; /* may be more than there is room for */
};

/* Whom it would end, what that returns, and who is kept. */
void plim_report_free_list(FILE *out, const struct plim_free_answer *answer, const struct plim_style *style);

/* One process that has ended, or was let go. */
void plim_report_free_end(FILE *out, const struct plim_ended *ended, const struct plim_style *style);

/* What came back, card by card, and the outcome as the last line. */
void plim_report_free_outcome(FILE *out, const struct plim_free_answer *answer, const struct plim_style *style);

/* plimsoll.free/1; false: it could not be written. */
bool plim_report_free_json(FILE *out, const struct plim_free_answer *answer);

/* True when all that was asked for has ended, and its memory is back. */
bool plim_free_is_done(const struct plim_free_answer *answer);

#endif
