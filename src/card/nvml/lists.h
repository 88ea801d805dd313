/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_CARD_NVML_LISTS_H
#define PLIMSOLL_CARD_NVML_LISTS_H

/* The processes of one card, from NVML's lists of compute, graphics and MPS processes: each process once. */

#include "card/nvml/library.h"

struct plim_nvml_process {
    uint32_t pid;
    uint32_t gpu_instance, compute_instance; /* UINT32_MAX without MIG */
    unsigned contexts;                       /* enum plim_context */
    int64_t bytes;                           /* -1: the driver does not say */
};

/* Room that is used again for the next card. All zero in the beginning. */
struct plim_nvml_processes {
    struct plim_nvml_process *process;
    uint32_t n, room;
    unsigned char *raw; /* the entries as the driver writes them */
    uint32_t raw_room;
};

/*
 * Fill `processes`. Returns PLIM_NVML_SUCCESS, the driver's answer when it has no list of compute processes (what the
 * other lists hold is there even so), or a negative PLIM_E_* code.
 */
int plim_nvml_list_processes(const struct plim_nvml *nvml, plim_nvml_device device,
                             struct plim_nvml_processes *processes);

void plim_nvml_processes_done(struct plim_nvml_processes *processes);

/* The number of compute processes. */
uint32_t plim_nvml_count_compute(const struct plim_nvml *nvml, plim_nvml_device device);

#endif
