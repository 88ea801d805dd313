/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_SWEEP_TABLE_FILE_H
#define PLIMSOLL_SWEEP_TABLE_FILE_H

/* The file of a table: held by one sweep at a time, and replaced by the next state of it, which is on the disk then. */

#include "base/mem.h"
#include "plimsoll/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/*
 * The text of the file, "" when there is none; it is in the arena. With `holds` it is made when it is not there, and
 * held through *ret_fd until that is closed; else *ret_fd is -1.
 */
int plim_sweep_file_open(const char *path, bool holds, struct plim_arena *arena, int *ret_fd, const char **ret_text,
                         size_t *ret_length, struct plim_error *reterr);

/* The new file is held through *fd, and the old one no more. */
int plim_sweep_file_replace(const char *path, int *fd, void (*write_text)(FILE *out, const void *context),
                            const void *context, struct plim_error *reterr);

void plim_sweep_file_close(int fd); /* -1: none */

#endif
