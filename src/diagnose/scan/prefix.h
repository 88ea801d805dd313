/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_DIAGNOSE_SCAN_PREFIX_H
#define PLIMSOLL_DIAGNOSE_SCAN_PREFIX_H

/* What loggers and people put before the lines of a log. */

#include <stdbool.h>
#include <stddef.h>

/*
 * How many bytes at the start of line[0..n) are stamps, ranks, pids, levels or quotes. No line end is in the line.
 * has_tasks: the lines of this log begin with "0: ", the number of a task.
 */
size_t plim_prefix_bytes(const char *line, size_t n, bool has_tasks);

/* False when no prefix ends with this character. */
static inline bool plim_prefix_may_end(char c) { return c < 'a' || c > 'z'; }

/* True when the line begins so. */
bool plim_prefix_has_task(const char *line, size_t n);

/* True when prefix[0..n), what loggers put before a line, has a level of failures. */
bool plim_prefix_is_alarm(const char *prefix, size_t n);

#endif
