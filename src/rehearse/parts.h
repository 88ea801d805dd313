/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_REHEARSE_PARTS_H
#define PLIMSOLL_REHEARSE_PARTS_H

/* Parts of a rehearsal's receipt, made from the call sites and accounts of a ledger. */

#include "receipt/rehearsal.h"
#include "vgpu/core/ledger.h"

enum plim_allocation_kind plim_rehearsal_kind(uint32_t ledger_kind);

/* Add to the warnings; those with equal kind and text are counted as one. */
void plim_rehearsal_warn(struct plim_rehearsal *rehearsal, const char *kind, const char *what, uint64_t count);

/* Copy the figures of the call sites. The ledger is locked. */
void plim_call_sites_copy(const struct plim_ledger *ledger, struct plim_rehearsal *rehearsal);

/* Read their stacks, which do not change. */
void plim_call_sites_attribute(const struct plim_ledger *ledger, struct plim_rehearsal *rehearsal);

/* By device; those that held most at its peak first. */
void plim_call_sites_sort(struct plim_rehearsal *rehearsal);

/* What the phases of the program held at the peak of a card. The call sites are in the order of the ledger. */
void plim_rehearsal_add_phases(struct plim_rehearsal *rehearsal, uint32_t device);

/* The lines of a card, at its peak or now. */
void plim_rehearsal_add_lines(const struct plim_rehearsal *rehearsal, uint32_t device, bool is_peak,
                              const struct plim_ledger_card *account, struct plim_receipt_device *ret_device);

/* Of the memory that was pinned at its peak, the part that has labels of the engine. */
void plim_rehearsal_add_host(struct plim_rehearsal *rehearsal);

#endif
