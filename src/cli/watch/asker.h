/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_CLI_WATCH_ASKER_H
#define PLIMSOLL_CLI_WATCH_ASKER_H

/* This process, as the one that wants to end others. */

#include "watch/ending/choice.h"

/* root: of /proc, nvml: the driver's library; NULL: the system's own. */
struct plim_asker plim_cli_asker(const char *root, const char *nvml);

#endif
