/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_DIAGNOSE_PREFIX_H
#define PLIMSOLL_DIAGNOSE_PREFIX_H

/* What loggers and people put before the lines of a log. */

#include <stddef.h>

/* How many bytes at the start of line[0..n) are stamps, ranks, pids, levels or quotes. No line end is in the line. */
size_t plim_prefix_bytes(const char *line, size_t n);

#endif
