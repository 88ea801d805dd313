/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_REPORT_CARDS_CARDS_H
#define PLIMSOLL_REPORT_CARDS_CARDS_H

/* Cards of the catalogue: a list, those that carry a model, and two side by side. JSON is plimsoll.cards/1. */

#include "base/notes.h"
#include "card/prices.h"
#include "report/report.h"

/* Cards whose numbers are in rows[n]. */
void plim_report_catalogue_text(FILE *out, const size_t *rows, size_t n, const struct plim_style *style);
bool plim_report_catalogue_json(FILE *out, const size_t *rows, size_t n);

/* The cards that carry a model. */
struct plim_carriers_answer {
    const struct plim_model *model;
    const struct plim_carrier *carriers; /* smallest first */
    size_t n, n_shown;                   /* the text shows so many */
    uint32_t n_ctx;                      /* of all slots together; 0: unknown */
    bool is_ctx_assumed;
    char step[240]; /* a recorded step's point and settings; "": it is none */
    const struct plim_notes *notes;
    const struct plim_price *prices; /* one for each card of the catalogue; NULL: none are known */
};

void plim_report_carriers_text(FILE *out, const struct plim_carriers_answer *answer, const struct plim_style *style);
bool plim_report_carriers_json(FILE *out, const struct plim_carriers_answer *answer);

/* Two cards, and the best quantization of a few models on each. */
enum { PLIM_COMPARED_MODELS = 3 };

struct plim_cards_comparison {
    size_t card[2]; /* of the catalogue */
    struct {
        char name[80];
        struct plim_quant_row best[2]; /* verdict is unknown where none fits */
        uint32_t n_ctx;
    } model[PLIM_COMPARED_MODELS];
    size_t n_models;
    const struct plim_price *prices;
};

void plim_report_comparison_text(FILE *out, const struct plim_cards_comparison *comparison,
                                 const struct plim_style *style);
bool plim_report_comparison_json(FILE *out, const struct plim_cards_comparison *comparison);

#endif
