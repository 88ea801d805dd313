/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_CARD_PROCESSES_H
#define PLIMSOLL_CARD_PROCESSES_H

/* The processes that compute on the NVIDIA cards of this machine now. */

#include <stdint.h>

struct plim_card_process {
    int64_t pid;
    int64_t bytes; /* -1: the driver does not report it */
    char name[64]; /* "" when /proc lacks it: the process of another container */
    char card[80];
};

/* Up to max; 0 when no driver answers. library and root as in plim_cards_live() and plim_host_live(). */
uint32_t plim_card_processes(const char *library, const char *root, struct plim_card_process *ret_processes,
                             uint32_t max);

#endif
