/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_REPORT_MODELS_MODELS_H
#define PLIMSOLL_REPORT_MODELS_MODELS_H

/* Models of the catalogue: a row for each, or all that is known of one. */

#include "model/catalogue/summary.h"
#include "report/report.h"

#include <jansson.h>

/* Keys that were filled in are shown up to this many; no model has half of that. */
enum { PLIM_REPORT_MAX_FILLS = 64 };

void plim_report_models_table_head(FILE *out, const struct plim_style *style);
void plim_report_models_table_row(FILE *out, const struct plim_model_summary *summary);
void plim_report_models_table_end(FILE *out, size_t n);

void plim_report_model_text(FILE *out, const struct plim_model_summary *summary, const struct plim_style *style);

/* One of the list "models" of plimsoll.models/1; NULL: out of memory. */
json_t *plim_report_model_json(const struct plim_model_summary *summary);

/* Writes the document and frees the list. False: out of memory. */
bool plim_report_models_json(FILE *out, json_t *models);

#endif
