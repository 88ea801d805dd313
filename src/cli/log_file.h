/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_CLI_LOG_FILE_H
#define PLIMSOLL_CLI_LOG_FILE_H

/* What explain and check read logs from. */

#include <stdbool.h>

/* A device but a terminal: one that gives bytes gives them for ever, or waits for ever. */
bool plim_log_file_is_device(int file);

#endif
