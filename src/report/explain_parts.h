/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_REPORT_EXPLAIN_PARTS_H
#define PLIMSOLL_REPORT_EXPLAIN_PARTS_H

/* The parts of the screen of `plimsoll explain`, and what they have in common. explain_text.c puts them together. */

#include "report/explain.h"

static inline bool plim_explain_is_known(int64_t value) { return value != PLIM_UNKNOWN; }

void plim_explain_print_head(FILE *out, const char *text, const struct plim_style *style);
void plim_explain_print_paragraph(FILE *out, const char *text);

/* A message about memory after which the program went on. */
bool plim_explain_is_recovered(const struct plim_explained *item);

/* A program's name as it is written: "vLLM". */
const char *plim_explain_program_name(const char *framework);

/* The title of the finding's entry; text is NULL when it has no entry. */
struct plim_field_text plim_explain_title(const struct plim_explained *item);

/* explain_account.c: the processes on the card with their bytes; the lines of the log that the figures came from. */
void plim_explain_print_account(FILE *out, const struct plim_explained *item, const struct plim_style *style);
void plim_explain_print_evidence(FILE *out, const struct plim_explained *item, const struct plim_style *style);

/* explain_related.c: the other findings of the log. */
void plim_explain_print_related(FILE *out, const struct plim_explanation *explanation, const struct plim_style *style);

/* explain_unread.c: what was not read of the log, if anything. */
void plim_explain_print_unread(FILE *out, const struct plim_explanation *explanation);

/* explain_nothing.c: the screen when the source is not text, or no message was recognised. */
void plim_explain_print_nothing(FILE *out, const struct plim_explanation *explanation);

#endif
