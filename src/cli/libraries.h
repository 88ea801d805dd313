/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_CLI_LIBRARIES_H
#define PLIMSOLL_CLI_LIBRARIES_H

/* The folder of the virtual libraries. */

#include <stdbool.h>

enum { PLIM_LIBRARIES_PATH = 4096 };

/* Beside this program when it was not installed; else where the installation put them, wherever it was moved to. */
bool plim_libraries_find(char ret_folder[PLIM_LIBRARIES_PATH]);

#endif
