/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_EMIT_HOLLOW_PYTHON_H
#define PLIMSOLL_EMIT_HOLLOW_PYTHON_H

/* The checkpoint that a config.json is of, as the transformers of a Python interpreter would save it (hollow.py). */

#include "emit/checkpoint.h"

enum { PLIM_HOLLOW_MAKER = 128 };

struct plim_hollow_python {
    const char *interpreter; /* as for execvp(3) */
    const char *libraries;   /* folder of the virtual libraries, for a PyTorch that lacks NVIDIA's; "" without */
};

/*
 * *ret_maker becomes the class and the version. What the child answers is parsed like any safetensors file. After
 * success or failure, plim_checkpoint_head_done().
 */
int plim_hollow_python(const struct plim_hollow_python *python, const char *config,
                       struct plim_checkpoint_head *ret_head, char ret_maker[PLIM_HOLLOW_MAKER],
                       struct plim_error *reterr) PLIM_MUST_CHECK;

#endif
