/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_DIAGNOSE_UNKNOWN_H
#define PLIMSOLL_DIAGNOSE_UNKNOWN_H

/*
 * What no pattern knows at the end of a log: a line there that says that something failed. What was found before it may
 * then not be what ended the program.
 */

#include "diagnose/finding.h"
#include "diagnose/scan/log_buffer.h"

enum { PLIM_MAX_KNOWN_LINES = 128 };

struct plim_known_lines {
    struct {
        uint64_t from, to; /* offsets */
        uint64_t message_from, message_to;
    } last[PLIM_MAX_KNOWN_LINES];
    uint64_t n; /* of all: the last ones are kept */
};

void plim_known_lines_reset(struct plim_known_lines *known);

/* The lines of data[start..end) in the buffer are a message that a pattern knows. */
void plim_known_lines_add(struct plim_known_lines *known, const struct plim_log_buffer *buffer, size_t start,
                          size_t end);

/*
 * The lines at the end of the buffer that say that something failed and are not known: the last ones of more than
 * `most`. In a short text also what somebody tells of a failure beside its messages. Returns how many.
 */
uint32_t plim_unknown_find(const struct plim_known_lines *known, struct plim_log_buffer *buffer,
                           struct plim_unknown_line *ret_lines, uint32_t most);

/* True when line[0..n) says that something failed, whatever it was: by its level, an exception's name, a signal. */
bool plim_unknown_is_alarm(const char *line, size_t n);

#endif
