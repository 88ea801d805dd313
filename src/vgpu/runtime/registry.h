/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_RUNTIME_REGISTRY_H
#define PLIMSOLL_VGPU_RUNTIME_REGISTRY_H

/* Kernels and variables that the compiler's start-up code registers with the runtime, by their address on the host. */

#include "vgpu/kernels/kernel.h"
#include "vgpu/runtime/fatbin.h"
#include "vgpu/runtime/runtime.h"

#include <pthread.h>

enum plim_registry_kind { PLIM_REGISTRY_KERNEL = 1, PLIM_REGISTRY_VARIABLE = 2 };

/* The addresses of a variable on the cards, once requested. */
struct plim_placed {
    pthread_mutex_t lock;
    uint64_t address[PLIM_LEDGER_MAX_CARDS];
};

struct plim_registered {
    const void *host;                           /* the stub of a kernel, the shadow of a variable */
    const char *name;                           /* on the card */
    _Atomic uint64_t size;                      /* of a variable; for a kernel: most dynamic shared memory, once set */
    struct plim_fat *fat;                       /* its fat binary */
    struct plim_placed *placed;                 /* a variable on each card */
    const struct plim_meaning *_Atomic meaning; /* of a kernel, from its first launch */
    enum plim_registry_kind kind;
};

void plim_registry_add(struct plim_fat *fat, const void *host, const char *name, uint64_t size,
                       enum plim_registry_kind kind);

/* NULL: not registered. Entries do not move. */
struct plim_registered *plim_registry_find(const void *host, enum plim_registry_kind kind);

#endif
