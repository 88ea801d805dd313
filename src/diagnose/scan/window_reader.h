/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_DIAGNOSE_SCAN_WINDOW_READER_H
#define PLIMSOLL_DIAGNOSE_SCAN_WINDOW_READER_H

/* From hits to matches: the text around the hits is normalised, and the patterns that are wanted are run on it. */

#include "diagnose/scan/hits.h"
#include "diagnose/scan/matches.h"

enum { PLIM_MAX_MATCHES_OF_PATTERN = 8 };

struct plim_window_reader {
    struct plim_matcher *matcher;
    struct plim_window blank, joined; /* the same text; lines joined with a blank, and with nothing */
    struct plim_matches matches;
    struct plim_match joined_matches[PLIM_MAX_MATCHES_OF_PATTERN];
    struct plim_budget *budget;
    size_t start, end;  /* positions that the window was built of */
    uint32_t n_matches; /* of matches.sorted; the others begin behind the last hit, in the next window */
};

/* What it takes is spent from the budget, which has to live as long. False: out of memory. */
bool plim_window_reader_init(struct plim_window_reader *reader, struct plim_budget *budget);
void plim_window_reader_done(struct plim_window_reader *reader);

/* is_end: the log is over. When the budget is spent then, patterns were left out. */
void plim_window_reader_read(struct plim_window_reader *reader, const struct plim_prefilter *prefilter,
                             const struct plim_log_buffer *buffer, struct plim_hits *hits, bool is_end);

/* The whole log, PLIM_WINDOW_BYTES at most, with the patterns of what people write instead of one, or beside its
 * messages. */
void plim_window_reader_read_said(struct plim_window_reader *reader, const struct plim_log_buffer *buffer,
                                  bool is_beside);

#endif
