/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_WATCH_ENDING_DEVICES_H
#define PLIMSOLL_WATCH_ENDING_DEVICES_H

/*
 * Whether a process has a device file of a card open. Who holds memory on a card has one; a process that has none and
 * is listed by the driver has the number of one that ended.
 */

#include <stdbool.h>
#include <stdint.h>

enum plim_devices {
    PLIM_DEVICES_NONE,
    PLIM_DEVICES_OPEN,
    PLIM_DEVICES_UNREADABLE, /* its open files may not be read */
};

/* root: NULL is "/". */
enum plim_devices plim_devices_of(const char *root, int64_t pid);

/* True for the path of a device file by which programs use a card. */
bool plim_device_is_card(const char *path);

#endif
