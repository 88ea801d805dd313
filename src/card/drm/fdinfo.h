/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_CARD_DRM_FDINFO_H
#define PLIMSOLL_CARD_DRM_FDINFO_H

/*
 * The text of /proc/PID/fdinfo/FD of an open DRM device (Documentation/gpu/drm-usage-stats.rst of the kernel): how much
 * memory a client of the driver holds, and how long it kept the engines busy.
 */

#include <stdbool.h>
#include <stdint.h>

struct plim_drm_client {
    char driver[16]; /* "amdgpu", "i915", "xe" */
    char pci[16];
    uint64_t id;
    bool has_id;
    int64_t local_bytes;           /* in the card's own memory; -1: it has none, or does not say */
    int64_t shared_bytes;          /* in the host's memory, for the card to use; -1: it does not say */
    int64_t busy_ms;               /* all engines; -1: it does not say */
    uint64_t cycles, total_cycles; /* xe says this instead: of its busiest engine, and of the clock; 0: it does not */
};

/* False when the text is of no DRM device. */
bool plim_drm_parse(const char *text, struct plim_drm_client *ret_client);

#endif
