/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_TESTS_HOSTILE_LOG_H
#define PLIMSOLL_TESTS_HOSTILE_LOG_H

/*
 * Logs that are made to take long: of the anchors and the words of the patterns themselves, in the six ways of an
 * attacker who has read them. No two lines are alike, so that none is passed over as a repetition.
 */

#include <stddef.h>
#include <stdint.h>

enum hostile_kind {
    HOSTILE_NEAR_MISSES, /* words of the expensive patterns, in any order */
    HOSTILE_ANCHORS,     /* long lines of nothing but anchors, of all patterns */
    HOSTILE_NESTED,      /* long lines of what begins something: leads, quotes, brackets, escapes */
    HOSTILE_FAILURES,    /* real messages of all patterns with other figures, processes and ranks */
    HOSTILE_TRACEBACKS,  /* frames without end, of many ranks at a time */
    HOSTILE_BYTES,       /* any bytes, UTF-16, sequences for terminals, one line of all of it */
    HOSTILE_KIND_MAX
};

struct hostile_log {
    enum hostile_kind kind;
    uint64_t state, n_lines;
};

const char *hostile_name(enum hostile_kind kind);

void hostile_begin(struct hostile_log *log, enum hostile_kind kind, uint64_t seed);

/* The next `size` bytes. */
void hostile_write(struct hostile_log *log, char *data, size_t size);

#endif
