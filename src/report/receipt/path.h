/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_REPORT_RECEIPT_PATH_H
#define PLIMSOLL_REPORT_RECEIPT_PATH_H

/* The way that a rehearsed program took, for people. */

#include "receipt/rehearsal.h"

#include <stdio.h>

/* The guesses that may matter, each with its place; the others in one line. */
void plim_report_places(FILE *out, const struct plim_rehearsal_path *path);

/* The verdict, in one line. */
void plim_report_path(FILE *out, const struct plim_rehearsal *rehearsal);

#endif
