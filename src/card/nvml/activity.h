/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_CARD_NVML_ACTIVITY_H
#define PLIMSOLL_CARD_NVML_ACTIVITY_H

/*
 * Which processes of a card worked, from the samples of utilization that the driver keeps. It has a sample of those
 * processes only that worked in its time; asked for the samples since a moment, silence means that a process was idle
 * since then. Asked for the first time it tells all it has kept, which is of an unknown length.
 */

#include "card/nvml/library.h"

struct plim_nvml_activity {
    unsigned long long last_us;                /* the newest sample seen: fed back to the driver */
    int64_t asked_ms;                          /* when the driver was asked before; 0: never */
    int64_t window_ms;                         /* of this look: as activity_ms of struct plim_sample_card */
    struct plim_nvml_process_utilization *row; /* of this look, one for a process: its last */
    unsigned n_rows, room;
};

/* Ask again. now_ms only goes forward; now_unix_us is the clock of the wall. Returns 0 or PLIM_E_NOMEM. */
int plim_nvml_read_activity(const struct plim_nvml *nvml, plim_nvml_device device, int64_t now_ms, int64_t now_unix_ms,
                            struct plim_nvml_activity *activity);

/* The row of a process, or NULL. */
const struct plim_nvml_process_utilization *plim_nvml_activity_of(const struct plim_nvml_activity *activity,
                                                                  uint32_t pid);

void plim_nvml_activity_done(struct plim_nvml_activity *activity);

#endif
