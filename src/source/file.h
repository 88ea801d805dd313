/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_SOURCE_FILE_H
#define PLIMSOLL_SOURCE_FILE_H

/*
 * A regular file, read from its start through a window. Not mapped: a file that another program shortens, or a disk
 * that fails, would then end the whole process with SIGBUS; and what was read would stay resident.
 */

#include "base/cursor.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct plim_file {
    int fd;
    uint64_t file_bytes; /* when it was opened */
    unsigned char *window;
    const struct plim_files *files; /* where it lies; NULL: on this machine, and the following says nothing */
    void *entry;                    /* what `files` knows of it */
    uint64_t start_at;              /* where in fd its first byte is */
    uint64_t here_bytes;            /* how many from its start fd has */
};

/*
 * Files that lie elsewhere, of which fd holds the beginning. Names are like paths: the files of one model differ after
 * the last slash. What goes wrong is recorded in `error`, for readers know only that they cannot read on.
 */
struct plim_files {
    int (*open)(const struct plim_files *files, const char *name, struct plim_file *ret_file,
                struct plim_error *reterr);
    bool (*exists)(const struct plim_files *files, const char *name);
    /* Have at least the first `least` bytes here; `most` is where reading will end, the end of the file if unknown. */
    bool (*grow)(struct plim_file *file, uint64_t least, uint64_t most);
    void (*close)(struct plim_file *file);
    struct plim_error *error;
};

/* Open a file. Directories, FIFOs, devices, empty and unreadable files are errors that say so. */
int plim_file_open(const char *path, struct plim_file *ret_file, struct plim_error *reterr) PLIM_MUST_CHECK;

/* The same for a file of `files`; NULL: of this machine. */
int plim_files_open(const struct plim_files *files, const char *path, struct plim_file *ret_file,
                    struct plim_error *reterr) PLIM_MUST_CHECK;
bool plim_files_have(const struct plim_files *files, const char *path);

/* A cursor over at most max_bytes from the start of a file, which must outlive it. */
struct plim_cursor plim_file_cursor(struct plim_file *file, uint64_t max_bytes);

void plim_file_close(struct plim_file *file);

/* Read a small text file (of /proc or /sys) whole; the result is NUL-terminated. Returns its length or PLIM_E_*. */
long plim_file_read_text(const char *path, char *buffer, size_t size) PLIM_MUST_CHECK;

#endif
