/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_REHEARSE_PROCESSES_DEPARTURES_H
#define PLIMSOLL_REHEARSE_PROCESSES_DEPARTURES_H

/*
 * The ends of processes. What a process held is in the accounts of the ledger until another process asks; the launcher
 * sees the end itself, and notes its time. Between the two the memory is in the account and not on the card. The
 * accounts stay as they are: the receipt has the same lines, whenever the launcher looked.
 */

#include "receipt/rehearsal.h"
#include "vgpu/core/ledger.h"

/* Note which processes have ended by now; one whose end is not to be noted: but_pid, or 0. */
void plim_departures_note(struct plim_ledger *ledger, int but_pid);

/* Bytes in the account of a card that ended processes held. */
uint64_t plim_departures_bytes(const struct plim_ledger *ledger, uint32_t device);

/* What processes held that have ended: from their end until it left the account. */
struct plim_departures {
    uint32_t n;
    struct {
        uint64_t ended_us, left_us, bytes[PLIM_LEDGER_MAX_CARDS];
    } of[PLIM_LEDGER_MAX_PROCESSES];
};

/* The ledger is locked. */
void plim_departures_copy(const struct plim_ledger *ledger, struct plim_departures *ret_departures);

/* Take it out of the timeline of a card, and add a point for each end. */
void plim_departures_take_out(const struct plim_departures *departures, uint32_t device,
                              struct plim_rehearsal_card *card);

#endif
