/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_CARD_PROC_PROCESS_H
#define PLIMSOLL_CARD_PROC_PROCESS_H

/* One process, from /proc: its figures at each look, the rest when it is new and now and then. */

#include "card/proc/entry.h"

/* root: NULL or that of a tree. */
void plim_proc_open(const char *root, struct plim_proc_reader *ret_reader);

void plim_proc_close(struct plim_proc_reader *reader);

/* A new look: the clocks. */
void plim_proc_begin(struct plim_proc_reader *reader);

/* Look at a process again. Returns 0, or PLIM_E_NOMEM. */
int plim_proc_read(struct plim_proc_reader *reader, struct plim_proc_entry *entry);

#endif
