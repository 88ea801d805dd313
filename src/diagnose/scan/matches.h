/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_DIAGNOSE_SCAN_MATCHES_H
#define PLIMSOLL_DIAGNOSE_SCAN_MATCHES_H

/* What the patterns found in one window, and which of it stays: two messages do not share their text. */

#include "diagnose/scan/patterns/match.h"

enum { PLIM_MAX_MATCHES = 128 };

struct plim_matches {
    uint32_t n;
    struct plim_match list[PLIM_MAX_MATCHES];    /* in the order of the table */
    struct plim_match *sorted[PLIM_MAX_MATCHES]; /* by place; those of one place in the order of the table */
};

/* A match in lines that are joined with nothing: they say more where they were broken inside a word or a figure. */
void plim_matches_add_joined(struct plim_matches *matches, const struct plim_match *joined);

/* When all are there: sort them, and say which are a part of another (dropped_by). */
void plim_matches_settle(struct plim_matches *matches);

#endif
