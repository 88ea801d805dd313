/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_REPORT_TRACE_TRACE_H
#define PLIMSOLL_REPORT_TRACE_TRACE_H

/* The answer of `plimsoll trace`. */

#include "report/report.h"
#include "trace/comparison.h"

struct plim_trace_answer {
    const char *path;
    const struct plim_memory_trace *trace;
    const struct plim_trace_analysis *analysis;
    const struct plim_trace_question *question;
};

void plim_report_trace_text(FILE *out, const struct plim_trace_answer *answer, const struct plim_style *style);
/* plimsoll.trace/1. False: out of memory, or not written. */
bool plim_report_trace_json(FILE *out, const struct plim_trace_answer *answer);

/* The same within a page of HTML. */
bool plim_report_trace_json_in_page(FILE *out, const struct plim_trace_answer *answer);
/* A page that draws the history and needs nothing else. False: out of memory, or not written; errno says which. */
bool plim_report_trace_page(FILE *out, const struct plim_trace_answer *answer);

/* Two snapshots beside each other. */
struct plim_trace_compared {
    struct plim_trace_answer answers[2];
    struct plim_trace_changes peak, end;
};

void plim_report_trace_compared_text(FILE *out, const struct plim_trace_compared *compared,
                                     const struct plim_style *style);
bool plim_report_trace_compared_json(FILE *out, const struct plim_trace_compared *compared);

/* Memory over the history, as a chart; nothing where there is no history. */
void plim_report_trace_timeline(FILE *out, const struct plim_trace_answer *answer, const struct plim_style *style);

/* A line of the program, at the end of a line of the text. */
void plim_report_trace_frame(FILE *out, const struct plim_memory_trace *trace, uint32_t frame);

/* What grows, and what lies in pieces; nothing where nothing is found. */
void plim_report_trace_findings(FILE *out, const struct plim_trace_answer *answer, const struct plim_style *style);

/* The lines that name the snapshot. */
void plim_report_trace_head(FILE *out, const struct plim_trace_answer *answer);

/* Microseconds from the first entry of the device's trace; 0 for entries without a time. */
uint64_t plim_trace_since_start_us(const struct plim_trace_answer *answer, uint32_t entry);
/* PyTorch 2.1 writes no times. */
bool plim_trace_has_times(const struct plim_trace_answer *answer);
/* "1.25 s" since the first entry, or "entry 7" of a history without times. */
enum { PLIM_TRACE_MOMENT_BYTES = 32 };
const char *plim_trace_moment(char buffer[PLIM_TRACE_MOMENT_BYTES], const struct plim_trace_answer *answer,
                              uint32_t entry);
/* The entry with that number; NULL: there is none. */
const struct plim_trace_entry *plim_trace_entry_of(const struct plim_trace_answer *answer, uint32_t entry);

#endif
