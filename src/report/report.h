/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_REPORT_REPORT_H
#define PLIMSOLL_REPORT_REPORT_H

/* Answers for people and for programs. The only code that formats either. */

#include "emit/command.h"
#include "plimsoll/plan.h"

#include <stdio.h>

enum { PLIM_REPORT_MAX_NOTES = 16 };

struct plim_style {
    bool has_colour;
    bool is_verbose; /* the why of every line */
};

/* Everything there is to say about one model on one machine. */
struct plim_answer {
    const struct plim_engine *engine;
    const struct plim_setup *setup;
    const struct plim_machine *machine;
    const struct plim_bill *bill;
    struct plim_margin margin;
    const struct plim_fix *fixes;
    uint32_t n_fixes;
    const struct plim_command *command;   /* the command line the fixes change */
    const struct plim_setup *starts_with; /* what the engine would start with; NULL: the setup as it is */
    const struct plim_bill *starts_with_bill;
    const char *notes[PLIM_REPORT_MAX_NOTES]; /* what was assumed, what was left out */
    uint32_t n_notes;
    bool is_for_ollama; /* fixes in Ollama's words first */
};

/* The table of one model: at most 80 columns, the verdict last. */
void plim_report_fit_text(FILE *out, const struct plim_answer *answer, const struct plim_style *style);

/* One line per answer, under a heading before the first (nth 0); by_card names the card instead of the model. */
void plim_report_row(FILE *out, const struct plim_answer *answer, bool by_card, size_t nth,
                     const struct plim_style *style);

/* The lines about the model and the setup, as before a table of cards; and the line after one. */
void plim_report_head(FILE *out, const struct plim_answer *answer, const struct plim_style *style);
void plim_report_ladder_end(FILE *out, const char *smallest, const struct plim_style *style);

/* plimsoll.fit/1; in a list, the nth of plimsoll.fits/1, which plim_report_json_end() closes. False: out of memory. */
bool plim_report_json(FILE *out, const struct plim_answer *answer, bool is_list, size_t nth);
void plim_report_json_end(FILE *out, size_t n);

/* Cards of the catalogue whose numbers are in rows[n]. */
void plim_report_cards_text(FILE *out, const size_t *rows, size_t n, const struct plim_style *style);
bool plim_report_cards_json(FILE *out, const size_t *rows, size_t n);

/* The flags that --fit has changed in answer->starts_with, as one would type them: "-c 9216 -ngl 31". Returns buffer.
 */
char *plim_report_starts_with(const struct plim_answer *answer, char *buffer, size_t size);

#endif
