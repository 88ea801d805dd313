/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_DIAGNOSE_PROGRAM_MARKS_H
#define PLIMSOLL_DIAGNOSE_PROGRAM_MARKS_H

/* By what a text shows a program: `path`, `near`, `package` and `name` of the patterns. */

#include "diagnose/observation.h"

/* By paths, words and packages in the text around a match or in its traceback. */
bool plim_program_is_around(const struct plim_pattern *program, const struct plim_observation *observation);

/* The first place of one of its names, as a word, in the text; NULL: none is there. */
const char *plim_program_named_at(const struct plim_pattern *program, const char *text, size_t size);

#endif
