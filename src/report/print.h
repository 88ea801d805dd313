/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_REPORT_PRINT_H
#define PLIMSOLL_REPORT_PRINT_H

/*
 * The border to the terminal. Names, labels, logs and arguments keep their bytes inside the program; whatever goes to
 * a terminal goes through these functions, which write '?' for each character that base/text.h says is not shown.
 * Formats are ours and pass as they are: line ends and sequences for the terminal stand in formats only. What a format
 * inserts is cleaned, all but the colours of report/paint.h. tools/check-print.py keeps other output out of src/report
 * and src/cli.
 */

#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>

/*
 * As fprintf(), in one write, with the conversions %s %c %d %i %u %x %f %g and %%, the flags '-' and '+', and the
 * lengths l, ll, z and j. The width and the precision of %s and %c count characters; %s takes a text with an end.
 * Returns the number of characters.
 */
int plim_print(FILE *out, const char *format, ...) PLIM_PRINTF(2, 3);

/* The same of a caller's arguments, which are used up. */
int plim_print_list(FILE *out, const char *format, va_list *arguments);

/* Part of a text. */
void plim_print_part(FILE *out, const char *text, size_t n_bytes);

/* Each line of a text behind so many blanks; lines without text are left out. */
void plim_print_lines(FILE *out, const char *text, int indent);

#endif
