/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_CARD_SUSPENDED_H
#define PLIMSOLL_CARD_SUSPENDED_H

#include <stdbool.h>

/* True when the file power/runtime_status of a device's folder says that it sleeps. Reading it does not wake it. */
bool plim_is_suspended(const char *folder);

#endif
