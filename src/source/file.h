/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_SOURCE_FILE_H
#define PLIMSOLL_SOURCE_FILE_H

/*
 * A regular file, read from its start through a window. Not mapped: a file that another program shortens, or a disk
 * that fails, would then end the whole process with SIGBUS; and what was read would stay resident.
 */

#include "base/cursor.h"
#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

struct plim_file {
    int fd;
    uint64_t file_bytes; /* when it was opened */
    unsigned char *window;
};

/* Open a file. Directories, FIFOs, devices, empty and unreadable files are errors that say so. */
int plim_file_open(const char *path, struct plim_file *ret_file, struct plim_error *reterr) PLIM_MUST_CHECK;

/* A cursor over at most max_bytes from the start of a file, which must outlive it. */
struct plim_cursor plim_file_cursor(struct plim_file *file, uint64_t max_bytes);

void plim_file_close(struct plim_file *file);

/* Read a small text file (of /proc or /sys) whole; the result is NUL-terminated. Returns its length or PLIM_E_*. */
long plim_file_read_text(const char *path, char *buffer, size_t size) PLIM_MUST_CHECK;

#endif
