/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_REHEARSE_REHEARSAL_H
#define PLIMSOLL_REHEARSE_REHEARSAL_H

/* The receipt of a rehearsal: what was taken on each card at the peak and at the end, and what stopped it. */

#include "vgpu/ledger.h"

#include "plimsoll/card.h"

/* What the program held when it ended, one amount each. */
struct plim_rehearsal_allocation {
    uint32_t device, kind;
    uint64_t bytes, time_us;
};

enum { PLIM_REHEARSAL_MAX_ALLOCATIONS = 256 };

struct plim_rehearsal {
    char *const *command;   /* NULL-terminated; the caller's */
    char card_name[160];    /* as asked for */
    int exit_code;          /* of the program: 128 + N when signal N ended it */
    const char *stopped_by; /* "exit", "signal", "ready", "stable", "timeout", "interrupt" */
    double seconds;
    struct plim_ledger *ledger;
    /* as they were when the program was stopped or had ended: before what it held was given back */
    struct plim_ledger_card card[PLIM_LEDGER_MAX_CARDS];
    uint32_t n_allocations, n_allocations_left_out;
    struct plim_rehearsal_allocation allocation[PLIM_REHEARSAL_MAX_ALLOCATIONS]; /* the largest first */
    uint64_t peak_rss_bytes, peak_anonymous_bytes;
};

/* Keep what the ledger says now. */
void plim_rehearsal_take(struct plim_rehearsal *receipt);

struct plim_rehearsal_line {
    const char *label;
    uint64_t bytes, low_bytes, high_bytes;
    enum plim_basis basis;
    const char *why;
};

enum { PLIM_REHEARSAL_MAX_LINES = PLIM_KIND_MAX_ + 1 };

/* Lines of a card at its peak, or at the end; returns how many. */
size_t plim_rehearsal_lines(const struct plim_ledger_card *card, bool is_peak,
                            struct plim_rehearsal_line ret_lines[PLIM_REHEARSAL_MAX_LINES]);

const char *plim_rehearsal_kind(uint32_t kind);

/* Describe a card of the catalogue to the ledger. */
void plim_rehearsal_describe(const struct plim_card *card, struct plim_ledger_card *ret_card);

#endif
