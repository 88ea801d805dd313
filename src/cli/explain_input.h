/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_CLI_EXPLAIN_INPUT_H
#define PLIMSOLL_CLI_EXPLAIN_INPUT_H

/* Where explain's log comes from: a file, a pipe, or a file that grows. */

#include "base/error.h"
#include "diagnose/diagnose.h"

struct plim_explain_input {
    const char *path;   /* NULL: standard input */
    uint64_t max_bytes; /* that are read of it: PLIM_MAX_LOG_BYTES; no limit for what is followed */
    bool is_follow;     /* until the pipe ends, or for ever */
    void (*when_quiet)(struct plim_diagnose *diagnose,
                       void *context); /* followed, and nothing new has come for a while */
    void *context;
};

/* What was read of it. */
struct plim_explain_extent {
    bool is_no_text;         /* the beginning is not text in any encoding; nothing more was read */
    uint64_t n_bytes_before; /* a file is longer than max_bytes: its end was read, behind so many bytes */
    bool has_more;           /* a stream is longer than max_bytes: its beginning was read */
};

int plim_explain_read(const struct plim_explain_input *input, struct plim_diagnose *diagnose,
                      struct plim_explain_extent *ret_extent, struct plim_error *reterr);

#endif
