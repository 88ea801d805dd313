/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_CLI_RECORDED_H
#define PLIMSOLL_CLI_RECORDED_H

#include "record/record.h"

/* On standard error: what a recording has, and how to ask it. card: NULL, or the one to ask about. */
void plim_cli_say_recorded(const char *path, const struct plim_step *step, const struct plim_recorded *recorded,
                           const char *card);

#endif
