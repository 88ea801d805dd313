/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_SWEEP_SCAN_H
#define PLIMSOLL_SWEEP_SCAN_H

/* The text of a sweep, statement by statement; every error has its line and column. */

#include "plimsoll/error.h"

#include <stdbool.h>
#include <stddef.h>

struct plim_sweep_scan {
    const char *text; /* of the file */
    const char *name; /* of the file */
    size_t at, end;   /* of the statement: up to where it is read, and its end */
    size_t length;    /* of the text */
    struct plim_error *err;
};

/* Go to the next statement: at is where it begins, end is behind it. False: there is none. */
bool plim_sweep_next(struct plim_sweep_scan *scan);

/* Comments lie between the lines of a statement as well. */
void plim_sweep_blanks(struct plim_sweep_scan *scan);

/* Step over this character, blanks before it too. */
bool plim_sweep_take(struct plim_sweep_scan *scan, char c);

/* The bytes of the name ("B", "hidden_size") that begins here, behind blanks; 0: none does. It is stepped over. */
size_t plim_sweep_name(struct plim_sweep_scan *scan, const char **ret_name);

/* Record an error of the place `at`; returns PLIM_E_CORRUPT. */
int plim_sweep_fail(const struct plim_sweep_scan *scan, size_t at, const char *hint, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
