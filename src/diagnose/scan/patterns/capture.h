/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_DIAGNOSE_SCAN_PATTERNS_CAPTURE_H
#define PLIMSOLL_DIAGNOSE_SCAN_PATTERNS_CAPTURE_H

/* What the groups of an expression hold becomes figures and words of a match. A figure that was cut is not taken. */

#include "diagnose/scan/patterns/expression.h"
#include "diagnose/scan/patterns/match.h"

/* The groups of the expression that was found last. is_end: a figure that touches the end of the window may be cut. */
void plim_capture_groups(struct plim_match *match, const struct plim_expression *expression,
                         const struct plim_expression_scratch *scratch, const struct plim_window *window, bool is_end);

/* When all groups are taken: figures that follow from others, and the values that the pattern sets. */
void plim_capture_finish(struct plim_match *match);

/* Take figures and words from `other` that `match` does not have. */
void plim_match_fill(struct plim_match *match, const struct plim_match *other);

#endif
