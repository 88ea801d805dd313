/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_CLI_TRACE_RECORD_H
#define PLIMSOLL_CLI_TRACE_RECORD_H

/* plimsoll trace --record FILE -- COMMAND: record a program on the cards of this machine. */

#include <stdbool.h>

/* Whether the command line asks for that. */
bool plim_trace_is_recording(int argc, char **argv);

/* Runs the program and writes FILE: a step, or PyTorch's own snapshot when its name ends in .pickle. Returns the exit
 * status of the program, or one of ours (cli/cli.h). */
int plim_trace_record(int argc, char **argv);

#endif
