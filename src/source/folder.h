/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_SOURCE_FOLDER_H
#define PLIMSOLL_SOURCE_FOLDER_H

/* Files and folders by name, without opening them. */

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

bool plim_path_exists(const char *path);
bool plim_path_is_folder(const char *path);

/*
 * The GGUF models right in a folder: how many, later parts of a split left out, and the name of the first in the order
 * of their bytes.
 */
int plim_folder_find_gguf(const char *folder, char *ret_name, size_t size, size_t *ret_n,
                          struct plim_error *reterr) PLIM_MUST_CHECK;

#endif
