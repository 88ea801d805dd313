/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_REPORT_ERRORS_H
#define PLIMSOLL_REPORT_ERRORS_H

/* Entries of the knowledge base, for people and as plimsoll.errors/1. */

#include "diagnose/remedy/knowledge.h"
#include "report/report.h"

/* The entries that were found, and how. */
struct plim_errors_found {
    const char *query;                     /* NULL: everything was asked for */
    const struct plim_search_result *hits; /* the best first */
    size_t n;
    bool is_recognised; /* the first is what the scanner made of the query, or is named by its id */
};

/* A list: id and title; the last line says how to go on. */
/* The entries nearest to a message that no entry has. */
void plim_report_errors_near(FILE *out, const struct plim_errors_found *found, const struct plim_style *style);
void plim_report_errors_list(FILE *out, const struct plim_errors_found *found, const struct plim_style *style);

/* All of the first entry; what to do comes last. */
void plim_report_errors_entry(FILE *out, const struct plim_errors_found *found, const struct plim_style *style);

/* False: out of memory, or the output is full. */
bool plim_report_errors_json(FILE *out, const struct plim_errors_found *found);

#endif
