/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_WATCH_ENDING_GENTLE_H
#define PLIMSOLL_WATCH_ENDING_GENTLE_H

/*
 * Ways to get memory back other than ending a process: by the program's own means, or by those of what has started it.
 * They are told and never taken. For what has no process any more: what does help.
 */

#include "watch/ending/rules.h"

/* Fills `gentle` and `gentle_command` of the candidate. */
void plim_gentle_fill(const struct plim_ending_subject *subject, struct plim_ending_candidate *candidate);

#endif
