/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_CARD_DRM_CARDS_H
#define PLIMSOLL_CARD_DRM_CARDS_H

/* The cards of the drivers amdgpu, i915 and xe, from /sys/class/drm and /sys/class/kfd. */

#include "card/sample.h"

enum { PLIM_DRM_MAX_CARDS = 32, PLIM_DRM_NONE = -1 };

struct plim_drm_card {
    char name[80];
    char pci[16];
    char driver[16];
    char minor[16];  /* "card0": its folder in /sys/class/drm */
    char render[16]; /* "renderD128"; "" without */
    uint64_t kfd_id; /* of the driver for computing with ROCm; 0: none */
    enum plim_vendor vendor;
    uint32_t pci_id;
    bool is_integrated; /* it has no memory of its own */
};

/* Up to PLIM_DRM_MAX_CARDS, by their addresses. root: "" or that of a tree. Returns 0 or PLIM_E_NOMEM. */
int plim_drm_find(const char *root, struct plim_drm_card *ret_cards, uint32_t *ret_n);

/* The card of a device: "/dev/dri/renderD128"; its index or PLIM_DRM_NONE. */
int plim_drm_card_of(const struct plim_drm_card *cards, uint32_t n, const char *device);

/* Memory, and whether it is asleep, as they are now. */
void plim_drm_read_card(const char *root, const struct plim_drm_card *card, struct plim_sample_card *ret_card);

#endif
