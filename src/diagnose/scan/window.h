/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_DIAGNOSE_SCAN_WINDOW_H
#define PLIMSOLL_DIAGNOSE_SCAN_WINDOW_H

/*
 * A piece of a log as the programs wrote it: what terminals, loggers, shells, mail and JSON have added is taken away.
 *
 * Line prefixes (stamps, ranks, pids, levels, quotes) go, escapes of JSON, HTML and mail are decoded, every run of
 * white space and every line end becomes one blank. Lines that were broken in the middle of a word are joined with
 * nothing when that is asked for. Each byte knows where it came from.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PLIM_WINDOW_BYTES = 16 << 10 };

struct plim_window {
    size_t length;
    bool has_blank_end;                      /* white space follows the last character */
    char text[PLIM_WINDOW_BYTES + 1];        /* ends with NUL */
    uint32_t from[PLIM_WINDOW_BYTES + 1];    /* where in the raw bytes; of the end, too */
    uint8_t is_join[PLIM_WINDOW_BYTES + 1];  /* a blank that was a line end, or the byte behind a line end without one;
                                                or PLIM_NEW_LINE */
    uint8_t is_alarm[PLIM_WINDOW_BYTES + 1]; /* first of a line with a prefix like ERROR */
};

/* Not only a line end: the next line has a stamp of its own, or an empty one is between. */
enum { PLIM_NEW_LINE = 2 };

enum plim_join { PLIM_JOIN_BLANK, PLIM_JOIN_NOTHING };

/* At most PLIM_WINDOW_BYTES of raw are read. */
void plim_window_build(struct plim_window *window, const char *raw, size_t size, enum plim_join join);

#endif
