/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_CORE_SPACE_H
#define PLIMSOLL_VGPU_CORE_SPACE_H

/*
 * Device addresses of this process: one range of address space without access rights, handed out in slots of 2 MiB. A
 * table has the owner of each slot. The range costs no memory, only the table does.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PLIM_SPACE_SLOT_BYTES = 2 << 20 };

/* Owner of a slot; 0: free. The caller defines the other values. */
typedef uint32_t plim_space_owner;

/* False: the system has no address space left. May be called again. */
bool plim_space_init(void);

/* Address space for size bytes whose slots belong to owner; 0: none left. */
uint64_t plim_space_take(uint64_t size, plim_space_owner owner);

/* Change the owner of all slots of a range; 0 frees them. */
void plim_space_own(uint64_t address, uint64_t size, plim_space_owner owner);

bool plim_space_contains(uint64_t address);

/* Owner of the slot at address; 0 outside. */
plim_space_owner plim_space_owner_of(uint64_t address);

#endif
