/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_SOURCE_FILE_H
#define PLIMSOLL_SOURCE_FILE_H

/* A regular file mapped for reading. */

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

struct plim_file {
    const void *data; /* the first map_bytes of the file */
    uint64_t map_bytes;
    uint64_t file_bytes;
};

/*
 * Map at most max_bytes from the start of a regular file. Directories, FIFOs, devices, empty and unreadable files are
 * errors that say so. The mapping is private and read-only; a file that shrinks meanwhile is the caller's risk, so
 * unmap soon.
 */
int plim_file_map(const char *path, uint64_t max_bytes, struct plim_file *ret_file,
                  struct plim_error *reterr) PLIM_MUST_CHECK;

void plim_file_unmap(struct plim_file *file);

/* Read a small text file (of /proc or /sys) whole; the result is NUL-terminated. Returns its length or PLIM_E_*. */
long plim_file_read_text(const char *path, char *buffer, size_t size) PLIM_MUST_CHECK;

#endif
