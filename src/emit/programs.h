/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_EMIT_PROGRAMS_H
#define PLIMSOLL_EMIT_PROGRAMS_H

/* Which program a command line runs: what stands in front of it, and whose flags follow. */

#include "emit/command.h"

struct plim_engine_program {
    int n_words; /* up to and with the program, and its subcommand if it has one */
    enum plim_client client;
    const char *visible;      /* CUDA_VISIBLE_DEVICES */
    const char *device_order; /* CUDA_DEVICE_ORDER */
};

/*
 * Find the program; variables set in front of it are applied. Fails for programs whose flags are not llama.cpp's or
 * Ollama's, and says what to write instead.
 */
int plim_engine_program_find(int argc, char *const *argv, struct plim_arguments *arguments,
                             struct plim_engine_program *ret_program, struct plim_error *reterr) PLIM_MUST_CHECK;

#endif
