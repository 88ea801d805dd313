/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_CARD_DRM_SCAN_H
#define PLIMSOLL_CARD_DRM_SCAN_H

/*
 * Who holds memory on the cards of DRM drivers: from the open devices of all processes, and for ROCm from the driver's
 * own list, which tells of other users' processes as well.
 */

#include "card/drm/cards.h"
#include "card/drm/fdinfo.h"

struct plim_drm_use {
    int64_t pid;
    uint32_t card; /* an index of the cards */
    int64_t bytes;
    int64_t busy_ms;               /* -1: the driver does not say */
    uint64_t cycles, total_cycles; /* as in struct plim_drm_client */
    bool is_rocm;                  /* its queues are not the kernel's: the engines' figures do not tell its work */
};

struct plim_drm_scan {
    struct plim_drm_found *found; /* the clients of the drivers */
    uint32_t n_found, found_room;
    struct plim_drm_use *use; /* by card and pid, each pair once */
    uint32_t n_uses, use_room;
    bool is_partial; /* open files of some processes may not be read */
};

/*
 * Look at the open files of all processes, or of those alone that had memory in the scan before. Cards that are not
 * `is_asked` are left alone. Returns 0 or PLIM_E_NOMEM.
 */
int plim_drm_scan(const char *root, const struct plim_drm_card *cards, const bool *is_asked, uint32_t n_cards,
                  bool is_whole, struct plim_drm_scan *scan);

void plim_drm_scan_done(struct plim_drm_scan *scan);

#endif
