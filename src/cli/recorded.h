/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_CLI_RECORDED_H
#define PLIMSOLL_CLI_RECORDED_H

#include "record/record.h"

/* By its name: PyTorch's own snapshot is wanted, not a step. */
bool plim_cli_is_snapshot(const char *path);

/* Whether a recording may go there; else it says why not. A file that is none is not written over. */
bool plim_cli_can_record(const char *path);

/* On standard error, without the end of the line: "plimsoll fit PATH --card ...", to be pasted into a shell. */
void plim_cli_say_question(const char *path, const char *card);

/* On standard error: what a recording has, and how to ask it. card: NULL, or the one to ask about. */
void plim_cli_say_recorded(const char *path, const struct plim_step *step, const struct plim_recorded *recorded,
                           const char *card);

#endif
