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

/* Off when stderr is no terminal, or when rows that appear on the same terminal say enough. */
void plim_progress_begin(struct plim_progress *progress);

/* "12 of 340: name", when it is time to. */
void plim_progress_step(struct plim_progress *progress, size_t i, size_t n, const char *name);

/* Take the line away, before anything else is printed. */
void plim_progress_clear(struct plim_progress *progress);

#endif
