/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_CLI_ANSWER_FILE_H
#define PLIMSOLL_CLI_ANSWER_FILE_H

/* A file that an option names, such as that of --receipt: the whole answer, or what was there before. */

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Writes it; false: errno says why. */
struct plim_answer_writer {
    bool (*write)(FILE *out, const void *answer);
    const void *answer;
};

/* Checked before the answer is made, which may take an hour. Nothing is created or opened: the path may be a pipe.
 * Sets errno. */
bool plim_answer_file_can_be_written(const char *path);

/*
 * False, and errno is EEXIST, for a file that begins otherwise than answers of the kind do: a program or a snapshot
 * whose name was given by mistake is not written over. Other errors are those of reading it.
 */
bool plim_answer_file_is_replaceable(const char *path, const void *begin, size_t n_begin);

/*
 * Write it. Pipes, devices and files in a folder that takes no new ones are written as they are; to a file that our
 * output goes to, it is added. Sets errno.
 */
bool plim_answer_file_write(const char *path, const struct plim_answer_writer *writer);

#endif
