/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_CORE_ATTRIBUTES_H
#define PLIMSOLL_VGPU_CORE_ATTRIBUTES_H

/* Device attributes of a card by their public numbers, on which driver and runtime agree. */

#include "vgpu/core/ledger.h"

#include <string.h>

/* CUDA 13.2, and the driver that came with it. */
enum { PLIM_DRIVER_VERSION = 13020 };

/* False: the attribute has no value here. */
bool plim_attribute(const struct plim_ledger_card *card, int index, int attribute, int *ret_value);

/*
 * Whether two cards of this kind access each other's memory. GeForce cards without a bridge do not, as NCCL's logs
 * show.
 */
static inline bool plim_card_has_peers(const struct plim_ledger_card *card)
{
    return card && !strstr(card->name, "GeForce");
}

/*
 * Whether every card accepts the grid: table "Technical Specifications per Compute Capability", as attributes 1 to 7
 * have it.
 */
static inline bool plim_card_takes(const unsigned grid[3], const unsigned block[3])
{
    enum { GRID_YZ = 65535, BLOCK_XY = 1024, BLOCK_Z = 64, THREADS = 1024 };
    return grid[0] && grid[1] && grid[2] && block[0] && block[1] && block[2] && grid[0] <= INT32_MAX &&
           grid[1] <= GRID_YZ && grid[2] <= GRID_YZ && block[0] <= BLOCK_XY && block[1] <= BLOCK_XY &&
           block[2] <= BLOCK_Z && block[0] * block[1] * block[2] <= THREADS;
}

/* Derived from the card's number: the 16 bytes behind "GPU-..." in text. */
void plim_card_uuid(int index, unsigned char ret_uuid[16]);

enum { PLIM_PCI_TEXT = 16 };

/* "0000:01:00.0" */
void plim_card_pci(int index, char ret_text[PLIM_PCI_TEXT]);

#endif
