/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_REHEARSE_REHEARSAL_H
#define PLIMSOLL_REHEARSE_REHEARSAL_H

/* From a ledger to the receipt of a rehearsal. */

#include "plimsoll/card.h"
#include "receipt/rehearsal.h"
#include "vgpu/core/ledger.h"

/*
 * A new ledger in an anonymous file whose size nobody can change: a program that could cut it would take us down with a
 * SIGBUS. Returns the file, or -1 with errno set; there is no other way than memfd_create(2) with seals.
 */
int plim_rehearsal_ledger(struct plim_ledger **ret_ledger);

/* Record what is held now: at the end of the program, or before it is stopped and gives its memory back. */
void plim_rehearsal_take(struct plim_rehearsal *rehearsal);

/* Once the program has ended: warnings, and the request that did not fit. */
void plim_rehearsal_finish(struct plim_rehearsal *rehearsal);

/* Describe a card of the catalogue to the ledger. */
void plim_rehearsal_describe(const struct plim_card *card, struct plim_ledger_card *ret_card);

#endif
