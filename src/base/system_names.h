/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_BASE_SYSTEM_NAMES_H
#define PLIMSOLL_BASE_SYSTEM_NAMES_H

/* Making the list that plim_system_list() returns; for the files of the systems. */

#include "base/system.h"

/* Add a copy, but for "." and ".."; beyond PLIM_MAX_FOLDER_NAMES the last in order is left out. Returns 0 or ENOMEM. */
int plim_names_add(struct plim_names *names, const char *name);

void plim_names_sort(struct plim_names *names);

#endif
