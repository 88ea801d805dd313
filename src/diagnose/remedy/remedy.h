/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_DIAGNOSE_REMEDY_REMEDY_H
#define PLIMSOLL_DIAGNOSE_REMEDY_REMEDY_H

/*
 * What to do about a finding, the best first, and what will not help. Values are computed where the log has the
 * figures; what would free less than is missing is left out. (A fix of a setup is plimsoll/plan.h; this one is of a
 * crash.)
 */

#include "diagnose/cause/cause.h"

enum {
    PLIM_MAX_REMEDIES = 8,
    PLIM_MAX_USELESS = 4,
    PLIM_REMEDY_TEXT_BYTES = 240,
    PLIM_REMEDY_COMMAND_BYTES = 400,
    PLIM_REMEDY_CHECK_BYTES = 160,
};

struct plim_remedy {
    char change[PLIM_REMEDY_TEXT_BYTES];     /* "a context of 29232 tokens instead of 131072" */
    char command[PLIM_REMEDY_COMMAND_BYTES]; /* to paste; "" when no command helps */
    char costs[PLIM_REMEDY_TEXT_BYTES];      /* what is given up, "nothing" included */
    int64_t frees_bytes;                     /* PLIM_UNKNOWN: not known */
    bool is_exact;                           /* its value was computed from figures of the log */
    char verified[PLIM_REMEDY_CHECK_BYTES];  /* the result of a bill for it; "" without a bill */
};

struct plim_useless {
    char what[PLIM_REMEDY_TEXT_BYTES];
    char why[PLIM_REMEDY_TEXT_BYTES];
};

struct plim_remedies {
    struct plim_remedy item[PLIM_MAX_REMEDIES];
    uint32_t n;
    struct plim_useless useless[PLIM_MAX_USELESS];
    uint32_t n_useless;
};

void plim_remedies_find(const struct plim_finding *finding, const struct plim_log_context *context,
                        const struct plim_cause_answer *answer, struct plim_remedies *ret_remedies);

#endif
