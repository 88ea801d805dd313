/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_REPORT_JSON_TEXT_H
#define PLIMSOLL_REPORT_JSON_TEXT_H

/*
 * The other border: texts in JSON keep their characters. What print.h does not show is written as its number ("\u001B",
 * "\u202E"), so that a document is safe on a terminal as well; bytes that are not UTF-8 have no number, and are U+FFFD.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* Of any bytes. NULL: out of memory. */
json_t *plim_text_json(const char *raw);
json_t *plim_text_part_json(const char *raw, size_t length);

/* NULL and "" are null. */
json_t *plim_text_or_null_json(const char *raw);

/* Write a document and a line end; `root` is freed, and may be NULL. False: out of memory, or not written. */
bool plim_json_write(FILE *out, json_t *root, size_t flags);
/* The same within a script element of HTML: '<', '>' and '&' are written as their numbers as well. */
bool plim_json_write_in_page(FILE *out, json_t *root);

#endif
