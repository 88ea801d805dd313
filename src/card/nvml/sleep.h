/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_CARD_NVML_SLEEP_H
#define PLIMSOLL_CARD_NVML_SLEEP_H

/* The cards of NVIDIA's driver that are suspended, from /sys and /proc: no file read here wakes one. */

#include "plimsoll/card.h"

#include <stdbool.h>
#include <stdint.h>

struct plim_sleepers {
    struct {
        char pci[16];
        char name[80]; /* "" unless it is asleep and the driver tells */
        bool is_asleep;
    } card[PLIM_MAX_DEVICES];
    uint32_t n, n_asleep; /* in the order of their addresses, which is NVML's */
    bool may_sleep;       /* there are some, and the system suspends each when nobody uses it */
};

/* Returns 0 or PLIM_E_NOMEM. */
int plim_nvml_find_sleepers(const char *root, struct plim_sleepers *ret_sleepers);

#endif
