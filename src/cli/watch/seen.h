/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_CLI_WATCH_SEEN_H
#define PLIMSOLL_CLI_WATCH_SEEN_H

/* Where what was seen of processes is kept between runs: $XDG_STATE_HOME/plimsoll/seen. */

#include "watch/watch.h"

/* The file that standard output goes to, as /proc names it; "" when it is none. */
enum { PLIM_SEEN_LOG_BYTES = 512 };
const char *plim_seen_own_log(char ret_path[PLIM_SEEN_LOG_BYTES]);

/* Read it into a watch that has no sample yet. */
void plim_seen_load(struct plim_watch *watch);
/* Write it; makes the folder. That it cannot be written costs the next run its memory and is no error. */
void plim_seen_save(const struct plim_watch *watch);

#endif
