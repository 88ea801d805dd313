/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_ENGINE_PROGRAMS_H
#define PLIMSOLL_ENGINE_PROGRAMS_H

/* The program that a command line runs: behind variables and launchers, in front of its flags. */

#include "plimsoll/setup.h"

#include <stddef.h>

/*
 * Find the program: argv[*ret_first] up to argv[*ret_after], with its subcommand. The setup becomes one of its runtime,
 * for its client. Fails for programs whose flags no runtime here takes; the hint names a command to write instead.
 */
int plim_engine_program_find(int argc, char *const *argv, struct plim_setup *setup, int *ret_first, int *ret_after,
                             struct plim_error *reterr);

/* "NAME=value": the length of the name; 0 for words of another form. */
size_t plim_engine_variable_length(const char *word);

#endif
