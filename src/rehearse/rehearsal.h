/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_REHEARSE_REHEARSAL_H
#define PLIMSOLL_REHEARSE_REHEARSAL_H

/* From a ledger to the receipt of a rehearsal. */

#include "plimsoll/card.h"
#include "receipt/rehearsal.h"
#include "vgpu/core/ledger.h"

/* Record what is held now: at the end of the program, or before it is stopped and gives its memory back. */
void plim_rehearsal_take(struct plim_rehearsal *rehearsal);

/* Once the program has ended: warnings, and the request that did not fit. */
void plim_rehearsal_finish(struct plim_rehearsal *rehearsal);

/* Describe a card of the catalogue to the ledger. */
void plim_rehearsal_describe(const struct plim_card *card, struct plim_ledger_card *ret_card);

#endif
