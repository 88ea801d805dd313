/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_CLI_PROGRESS_H
#define PLIMSOLL_CLI_PROGRESS_H

/* One line on a terminal's stderr while something takes more than a second. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct plim_progress {
    bool is_on, is_shown;
    uint64_t start_us, last_us;
};

/* Off when stderr is not a terminal, or when stdout is one: then rows of the answer show the progress. */
void plim_progress_begin(struct plim_progress *progress);

/* "12 of 340: name", not more than ten times a second. */
void plim_progress_step(struct plim_progress *progress, size_t i, size_t n, const char *name);

/* The same with words of one's own, for what takes long by itself. */
void plim_progress_say(struct plim_progress *progress, const char *text);

/* Erase the line; before anything else is printed. */
void plim_progress_clear(struct plim_progress *progress);

#endif
