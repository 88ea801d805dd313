/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_RECORD_LEFTOVERS_H
#define PLIMSOLL_RECORD_LEFTOVERS_H

/*
 * Folders of recordings that nobody removed, as the Plimsoll that made them was killed. A folder's name has the number
 * of its process, and the process holds a lock on it: it is a leftover when neither is there any more.
 */

#include <stdbool.h>
#include <stddef.h>

/* The name for mkdtemp(), "PARENT/plimsoll-record-PID-XXXXXX". False, with errno: it has no room. */
bool plim_record_name(const char *parent, char *ret_path, size_t size);

/* Hold the folder until the file is closed. -1: it cannot be held. */
int plim_record_hold(const char *path);

/* Remove the leftovers of this user below a folder that no other user can change names in. */
void plim_record_leftovers_remove(const char *parent);

/* A folder with all that is in it; links are removed, not followed. */
void plim_record_tree_remove(const char *path);

#endif
