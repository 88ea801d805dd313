/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_WATCH_ENDING_USERS_H
#define PLIMSOLL_WATCH_ENDING_USERS_H

/* Who may hold memory that the driver lists for nobody: a child that has inherited an open card, a program that shares.
 */

#include "card/sample.h"
#include "watch/ending/kinship.h"

/*
 * Processes that have a device file of a card open and that no list of the driver names; services of the driver are
 * left out. Writes up to max of them, by pid, and returns their number.
 */
uint32_t plim_device_users(const struct plim_kinship *kinship, const char *root, const struct plim_sample *sample,
                           const struct plim_kin **ret_users, uint32_t max);

#endif
