/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_DIAGNOSE_SCAN_PATTERNS_MATCH_H
#define PLIMSOLL_DIAGNOSE_SCAN_PATTERNS_MATCH_H

/* The patterns on a window: which message it is, and the figures in it. */

#include "diagnose/scan/budget.h"
#include "diagnose/scan/patterns/pattern.h"
#include "diagnose/scan/window.h"

enum { PLIM_MAX_MATCH_LINES = PLIM_MAX_EVIDENCE };

struct plim_match {
    const struct plim_pattern *pattern;
    uint32_t start, end;                   /* in the raw bytes of the window, without `more` */
    uint32_t starts[PLIM_MAX_MATCH_LINES]; /* where in the raw bytes it and its figures begin; the first is the match */
    uint32_t n_starts;
    uint32_t n_figures; /* numbers and others */
    bool has_impossible;
    const struct plim_match *dropped_by; /* this one says more about the same text; NULL: none does */
    struct plim_numbers numbers;
    struct plim_words words;
    struct plim_other others[PLIM_MAX_OTHERS];
    uint32_t n_others;
};

struct plim_matcher;

/* What it takes is spent from the budget, which has to live as long. NULL: out of memory. */
struct plim_matcher *plim_matcher_new(struct plim_budget *budget);
void plim_matcher_free(struct plim_matcher *matcher);

/*
 * All matches of plim_patterns[pattern] in the window, at most `most`, in order. is_end: the log is over or cut where
 * the window ends, so a figure that touches the end may not be whole. Returns how many.
 */
uint32_t plim_matcher_run(struct plim_matcher *matcher, const struct plim_window *window, uint16_t pattern, bool is_end,
                          struct plim_match *ret_matches, uint32_t most);

/* Matches in the window that is run next, for as long as `matches` lives; n is 0 to forget them. */
void plim_matcher_know(struct plim_matcher *matcher, const struct plim_match *matches, uint32_t n);

/* True when the pattern's regular expressions compile; else ret_what names the expression and the error, for tests. */
bool plim_matcher_compiles(struct plim_matcher *matcher, uint16_t pattern, char *ret_what, size_t size);

#endif
