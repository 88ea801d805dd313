/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_CARD_NVML_PEAKS_H
#define PLIMSOLL_CARD_NVML_PEAKS_H

/*
 * The most memory that each process of a card has held, from the driver's accounting, which is off unless root has
 * switched it on. It is asked for one process at a time: when that is new, holds more than its peak so far, or was
 * asked for a while ago.
 */

#include "card/nvml/library.h"

struct plim_nvml_peaks {
    bool is_on;
    struct plim_nvml_peak *row;
    uint32_t n, room;
};

/* Is accounting on? */
void plim_nvml_peaks_open(const struct plim_nvml *nvml, plim_nvml_device device, struct plim_nvml_peaks *ret_peaks);

/* The peak of a process that holds `bytes` now; -1: unknown. */
int64_t plim_nvml_peak_of(const struct plim_nvml *nvml, plim_nvml_device device, struct plim_nvml_peaks *peaks,
                          uint32_t pid, int64_t bytes, int64_t now_ms);

/* After a look: forget the processes that were not asked for in it. */
void plim_nvml_peaks_sweep(struct plim_nvml_peaks *peaks);

void plim_nvml_peaks_done(struct plim_nvml_peaks *peaks);

#endif
