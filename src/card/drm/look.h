/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_CARD_DRM_LOOK_H
#define PLIMSOLL_CARD_DRM_LOOK_H

/* Looks at the cards of DRM drivers. One that is suspended is not asked: reading a client's figures would wake it. */

#include "card/draft.h"
#include "card/drm/scan.h"

struct plim_drm_look {
    const char *root;
    struct plim_drm_card card[PLIM_DRM_MAX_CARDS];
    uint32_t n;
    struct plim_drm_scan scan;
    struct plim_drm_use *before; /* the uses of the look before */
    int64_t *active_unix_ms;     /* beside each of them: when it worked last; -1: not seen */
    uint32_t n_before;
    int64_t found_ms, scanned_ms, looked_ms; /* 0: never */
};

void plim_drm_look_open(const char *root, struct plim_drm_look *ret_look);

/* Add the cards and who holds their memory. first_number: of the first card's name. Returns 0 or PLIM_E_NOMEM. */
int plim_drm_look_read(struct plim_drm_look *look, int64_t now_ms, int64_t now_unix_ms, uint32_t first_number,
                       struct plim_draft *draft);

void plim_drm_look_close(struct plim_drm_look *look);

#endif
