/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_DIAGNOSE_FINDINGS_H
#define PLIMSOLL_DIAGNOSE_FINDINGS_H

/*
 * Matches, in the order of the log, become findings: the same message again is counted, a more exact one is merged into
 * the one before, a failure that the program got over is marked. Neighbours become the context.
 */

#include "diagnose/observation.h"

struct plim_findings;

/* NULL: out of memory. */
struct plim_findings *plim_findings_new(void);
void plim_findings_free(struct plim_findings *findings);

/* As new. */
void plim_findings_reset(struct plim_findings *findings);

/* Which finding it became, or -1: a neighbour, or one too many. */
int plim_findings_add(struct plim_findings *findings, const struct plim_observation *observation);

/* A program was named where messages do not reach: in the prefix of a logger. */
void plim_findings_see_program(struct plim_findings *findings, const struct plim_pattern *program);

/* True when no message was found, or nothing but a few words that anybody uses. */
bool plim_findings_are_bare(const struct plim_findings *findings);

/* The programs that a text without a message shows, by paths and words as around messages. */
void plim_findings_look_around(struct plim_findings *findings, const char *text);

/* The sizes that a short text tells in passing. */
void plim_findings_read_sizes(struct plim_findings *findings, const char *text, size_t size);

/* The words that a short text has. */
void plim_findings_read_words(struct plim_findings *findings, const char *text, size_t size);

/* The programs that a short text names, where no failure in it has a pattern of its own. */
void plim_findings_name_programs(struct plim_findings *findings, const char *text, size_t size);

/* The message of this finding occurred once more. */
void plim_findings_count(struct plim_findings *findings, int which, uint64_t line);

/* True when a traceback is worth looking for: a match of this pattern could become the root. */
bool plim_findings_wants_frames(const struct plim_findings *findings, const struct plim_pattern *pattern);

/* Where to read to what was printed before this finding, which begins at the offset: NULL when it began before, or is
 * not the one that the log is about so far. */
struct plim_printed *plim_findings_printed_of(struct plim_findings *findings, int which, uint64_t offset);

/* A command ended so, its log says nothing: killed by signal 9, as after memory ran out, or not. */
void plim_findings_exit_status(struct plim_findings *findings, int exit_status);

/* Findings before this offset have been reported: the next order has the later ones. */
void plim_findings_forget(struct plim_findings *findings, uint64_t offset);

/* The root first. The diagnosis lives in `findings` until the next call. */
struct plim_diagnosis *plim_findings_order(struct plim_findings *findings);

#endif
