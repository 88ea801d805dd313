/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_TESTS_PATTERN_EXAMPLES_H
#define PLIMSOLL_TESTS_PATTERN_EXAMPLES_H

/* The examples of data/errors/, as tools/embed_patterns.py --examples writes them. */

#include <stdbool.h>
#include <stddef.h>

struct pattern_example {
    const char *id;
    const char *where; /* file:line */
    const char *text;
    const char *gives; /* "tried_bytes=1024 backend=CUDA"; NULL: nothing is said of it */
    bool matches;
};

extern const struct pattern_example pattern_examples[];
extern const size_t n_pattern_examples;

#endif
