/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_REPORT_REPORT_H
#define PLIMSOLL_REPORT_REPORT_H

/* Answers for people and for programs. The only code that formats either. */

#include "emit/hollow.h"
#include "engine/command.h"
#include "engine/course.h"
#include "plimsoll/plan.h"
#include "source/paths.h"

#include <stdio.h>

enum { PLIM_REPORT_MAX_NOTES = 16, PLIM_DEVICE_ID_BYTES = 16 };

struct plim_style {
    bool has_colour;
    bool is_verbose; /* with the reason of every line */
    bool is_unicode; /* charts of block elements, else of ASCII */
};

/* The complete answer for one model on one machine. */
struct plim_answer {
    const struct plim_path *path; /* as the model was named */
    const struct plim_engine *engine;
    const struct plim_setup *setup;
    const struct plim_machine *machine;
    const struct plim_bill *bill;
    struct plim_margin margin;
    const struct plim_fix *fixes;
    uint32_t n_fixes;
    const struct plim_room *room;
    const struct plim_course *course;         /* that the bill stands on; NULL: none */
    const struct plim_quant_row *quant;       /* it is of a table of quantizations, this row; NULL: it is not */
    const struct plim_command *command;       /* the command line that the fixes change */
    const struct plim_adjustment *adjustment; /* the engine would start with this; NULL: with the setup as it is */
    const struct plim_bill *adjusted_bill;
    enum plim_verdict verdict_alone; /* without other processes, where they hold memory that is missing; or unknown */
    const char *notes[PLIM_REPORT_MAX_NOTES]; /* assumptions and omissions */
    uint32_t n_notes;
};

/* --- for people: at most 80 columns but for commands, the most important line last --- */

/* One model on one machine. */
void plim_report_fit_text(FILE *out, const struct plim_answer *answer, const struct plim_style *style);

/* One model on cards of several sizes: the setup, one row for each card, the smallest that fits. */
void plim_report_cards_head(FILE *out, const struct plim_answer *answer, const struct plim_style *style);
void plim_report_cards_row(FILE *out, const struct plim_answer *answer, const struct plim_style *style);
void plim_report_cards_end(FILE *out, const char *smallest, enum plim_verdict verdict, const char *smallest_fitting,
                           const struct plim_style *style);

/*
 * Several models on one machine: the machine, one row for each model, the number that fit. largest: the file of the
 * largest quantization that fits, where all are quantizations of one model, or NULL.
 */
void plim_report_models_head(FILE *out, const struct plim_answer *answer, const struct plim_style *style);
void plim_report_models_row(FILE *out, const struct plim_answer *answer, const struct plim_style *style);
void plim_report_models_end(FILE *out, size_t n_yes, size_t n, const char *largest, const struct plim_style *style);

/* Several models on cards of several sizes: a grid of verdicts. */
void plim_report_grid_head(FILE *out, const char *const *cards, unsigned n_cards, const struct plim_style *style);
void plim_report_grid_row(FILE *out, const struct plim_answer *answer, const enum plim_verdict *verdicts,
                          unsigned n_cards, const struct plim_style *style);
void plim_report_grid_end(FILE *out);

/*
 * The quantizations of one model on one machine: the model, the setup and the cards; a row for each; which to take.
 * command: the question about that one, or "".
 */
void plim_report_quants_head(FILE *out, const struct plim_answer *answer, bool has_rows,
                             const struct plim_style *style);
void plim_report_quants_row(FILE *out, const struct plim_quant_row *row, const struct plim_style *style);
void plim_report_quants_end(FILE *out, const struct plim_quant_table *table, const char *command,
                            const struct plim_style *style);

/* The same on cards of several sizes: a verdict for each. has_rows is false for its head. */
void plim_report_quants_grid(FILE *out, const struct plim_quant_table *tables, const char *const *cards,
                             unsigned n_cards, const struct plim_style *style);

/* The last lines of an answer: the verdict, and what decides it. */
void plim_report_verdict(FILE *out, const struct plim_answer *answer, const struct plim_style *style);

/* What a table or a list does not answer, as directories or command lines are too large; nothing for 0 and 0. */
void plim_report_left_out(FILE *out, size_t n_models, size_t n_entries);

/* The files of a hollow model that was written; the last line is the sum. */
void plim_report_hollow_text(FILE *out, const struct plim_hollow *hollow);

/* --- for programs --- */

/* plimsoll.fit/1; in a list, the nth of plimsoll.fits/1. False: out of memory. */
bool plim_report_json(FILE *out, const struct plim_answer *answer, bool is_list, size_t nth);

/* What a list says of all its answers. */
struct plim_list_end {
    const char *largest;     /* as for the text */
    const char *recommended; /* of the quantizations of one model the one to take; "": none fits; NULL: no such list */
    size_t n_models_left_out, n_entries_left_out;
};

/* Closes plimsoll.fits/1, with n results. */
void plim_report_json_end(FILE *out, size_t n, const struct plim_list_end *end);

bool plim_report_hollow_json(FILE *out, const struct plim_hollow *hollow);

/* --- for both --- */

/* How the engine would start by itself: "-c 9216 and the experts of 3 layers in RAM". Returns buffer. */
enum { PLIM_ADJUSTMENT_BYTES = 240 };
char *plim_report_adjustment(const struct plim_answer *answer, char buffer[PLIM_ADJUSTMENT_BYTES]);

/*
 * A fix to paste: a command, lines of a configuration, or a command that makes another file. False: nothing to paste;
 * *ret_is_unsupported tells whether the runtime has no setting for it.
 */
bool plim_report_paste(const struct plim_answer *answer, const struct plim_fix *fix, char buffer[PLIM_COMMAND_BYTES],
                       bool *ret_is_unsupported);

/* "gpu0", "host". Returns buffer. */
char *plim_report_device_id(const struct plim_device_bill *device, char buffer[PLIM_DEVICE_ID_BYTES]);

/* A host of which the bill knows no line. */
static inline bool plim_report_says_nothing(const struct plim_device_bill *device)
{
    return device->is_host && device->n_lines == 0;
}

/* The program that the answer is for: "llama-server". */
const char *plim_report_client(const struct plim_answer *answer);

#endif
