/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_CLI_EXPLAIN_INPUT_H
#define PLIMSOLL_CLI_EXPLAIN_INPUT_H

/* Where explain's log comes from: a file, a pipe, or a file that grows. */

#include "base/error.h"
#include "diagnose/diagnose.h"

struct plim_explain_input {
    const char *path; /* NULL: standard input */
    bool is_follow;   /* until the pipe ends, or for ever */
    void (*when_quiet)(struct plim_diagnose *diagnose,
                       void *context); /* followed, and nothing new has come for a while */
    void *context;
};

/* ret_is_text: false when the beginning is not text in any encoding; nothing more is read then. */
int plim_explain_read(const struct plim_explain_input *input, struct plim_diagnose *diagnose, bool *ret_is_text,
                      struct plim_error *reterr);

#endif
