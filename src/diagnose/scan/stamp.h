/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_DIAGNOSE_SCAN_STAMP_H
#define PLIMSOLL_DIAGNOSE_SCAN_STAMP_H

/* Times as programs print them. Seconds count from 1970; a zone that is printed is taken off. */

#include "diagnose/finding.h"

/*
 * text[0..n): "Tue, 29 Apr 2025 13:43:32 +0800", "2025-04-29T05:43:32Z", or a span: "3d 2h 11min 5.2s". False when it
 * is neither.
 */
bool plim_stamp_read(const char *text, size_t n, int64_t *ret_seconds);

/* The first time at the beginning of a line of a log; kind NONE when there is none. */
struct plim_stamp plim_stamp_of_line(const char *line, size_t n);

/* Seconds from one to the other; a clock without a date, or a date without a year, begins anew at most once. -1: no
 * difference is known. */
int64_t plim_stamp_between(struct plim_stamp first, struct plim_stamp last);

#endif
