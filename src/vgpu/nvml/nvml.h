/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_NVML_NVML_H
#define PLIMSOLL_VGPU_NVML_NVML_H

/* Shared by the files of the virtual NVML. A device is a card in the ledger. */

#include "vgpu/core/attributes.h"

typedef int status;
typedef struct plim_ledger_card *device;

enum {
    SUCCESS = 0,
    UNINITIALIZED = 1,
    INVALID_ARGUMENT = 2,
    NOT_SUPPORTED = 3,
    NOT_FOUND = 6,
    INSUFFICIENT_SIZE = 7,
    DRIVER_NOT_LOADED = 9,
    VERSION_MISMATCH = 25,
};

/* NULL before nvmlInit(). */
struct plim_ledger *plim_nvml_ledger(void);

/* The number of a card; -1: not a device. */
int plim_nvml_index(device card);

/*
 * The pids of the ledger's processes, by slot, as they are called where this library runs. As the driver does it: one
 * of a pid namespace that cannot be seen from here has none (0). With the ledger's lock.
 */
struct plim_nvml_pids {
    unsigned of[PLIM_LEDGER_MAX_PROCESSES];
};
void plim_nvml_pids(const struct plim_ledger *ledger, struct plim_nvml_pids *ret_pids);

/* Whether a process of the ledger is on the lists of a card: it lives, and holds memory there. */
bool plim_nvml_is_listed(const struct plim_ledger_process *process, int card);

int plim_vgpu_unsupported(const char *function, const void *caller);

#endif
