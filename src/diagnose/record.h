/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_DIAGNOSE_RECORD_H
#define PLIMSOLL_DIAGNOSE_RECORD_H

/*
 * From a match to a finding: matches in prose are passed over, the others get their evidence and their traceback and go
 * to the findings. Text of a known kind is counted without being matched.
 */

#include "diagnose/findings.h"
#include "diagnose/scan/text_kind.h"
#include "diagnose/scan/traceback.h"
#include "diagnose/scan/window_reader.h"
#include "diagnose/unknown.h"

struct plim_recorder {
    struct plim_findings *findings;
    struct plim_text_kinds *text_kinds;
    struct plim_traceback traceback;
    uint64_t last_match[PLIM_MAX_PATTERNS]; /* offset + 1 of each pattern's last match: windows overlap */
    struct plim_known_lines known;
    struct plim_budget *budget;
    uint64_t counted_until;  /* messages before this offset are in the counts of findings ... */
    uint64_t counted_before; /* ... and before this one when the window was opened */
};

/* What it takes is spent from the budget, which has to live as long. False: out of memory. */
bool plim_recorder_init(struct plim_recorder *recorder, struct plim_budget *budget);
void plim_recorder_done(struct plim_recorder *recorder);

/* For another log. */
void plim_recorder_reset(struct plim_recorder *recorder);

/* A window begins: what is counted by now is not counted again by its matches. */
void plim_recorder_open_window(struct plim_recorder *recorder);

/* Record the matches of a window that was read. */
void plim_recorder_take_window(struct plim_recorder *recorder, const struct plim_window_reader *reader,
                               struct plim_log_buffer *buffer, struct plim_hits *hits);

/* Text of a known kind stands from one position to another: its finding occurred once more. */
void plim_recorder_count(struct plim_recorder *recorder, const struct plim_line_kind *kind,
                         struct plim_log_buffer *buffer, size_t start, size_t end);

#endif
