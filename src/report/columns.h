/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_REPORT_COLUMNS_H
#define PLIMSOLL_REPORT_COLUMNS_H

/* Text in columns, by characters rather than bytes; cleaned as report/print.h says. */

#include <stdio.h>

enum { PLIM_TEXT_WIDTH = 79 };

/*
 * Words from `column` on, with line breaks before PLIM_TEXT_WIDTH; further lines begin at `indent`. A word that is
 * wider than a line is cut. Ends the line.
 */
void plim_print_wrapped(FILE *out, const char *text, int column, int indent);

/*
 * A command or a line of code to paste, from `indent` on. One that is too long goes over several lines where its
 * language allows that: with a backslash in the shell, inside brackets in Python. Ends the line.
 */
void plim_print_command(FILE *out, const char *text, int indent);

/* Characters, each of which takes a column. */
int plim_print_width(const char *text);

/* Exactly `width` characters: filled with spaces, or with ".." for the middle. */
void plim_print_padded(FILE *out, const char *text, int width);

/* The last column of a line: at most `width` characters, as above. Ends the line. */
void plim_print_last(FILE *out, const char *text, int width);

/* "22-44", "9.1-16": tokens per second in a cell; "-" when they are unknown. Returns cell. */
enum { PLIM_SPEED_TEXT = 40 };
char *plim_speed_text(double low, double high, char cell[PLIM_SPEED_TEXT]);

#endif
