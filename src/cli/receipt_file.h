/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_CLI_RECEIPT_FILE_H
#define PLIMSOLL_CLI_RECEIPT_FILE_H

/* The file of --receipt: the whole receipt, or what was there before. */

#include "report/receipt/rehearsal.h"

#include <stdbool.h>

/* Checked before the program runs for an hour. Nothing is created or opened: the path may be a pipe. Sets errno. */
bool plim_receipt_file_can_be_written(const char *path);

/*
 * Write it. Pipes, devices and files in a folder that takes no new ones are written as they are; to a file that our
 * output goes to, it is added. Sets errno.
 */
bool plim_receipt_file_write(const char *path, const struct plim_rehearsal *rehearsal, const struct plim_find *find);

#endif
