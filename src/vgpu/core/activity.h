/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_CORE_ACTIVITY_H
#define PLIMSOLL_VGPU_CORE_ACTIVITY_H

/*
 * When a process had work run on a card. A kernel takes no time on a virtual card, so time is divided into ticks, of
 * which those are marked in which work ran: the utilization of a virtual card is the share of marked ticks. No lock is
 * taken. Links libc only.
 */

#include <stdint.h>

enum {
    PLIM_ACTIVITY_TICKS = 48,   /* of a second */
    PLIM_ACTIVITY_SECONDS = 64, /* that are remembered */
};

struct plim_activity {
    /* A ring of seconds: in the low bits its ticks, above them how often the ring had gone round. */
    _Atomic uint64_t second[PLIM_ACTIVITY_SECONDS];
    _Atomic uint64_t n_ticks; /* all that were ever marked */
};

/* Ticks are counted from the time 0 of the caller's clock. */
uint64_t plim_activity_tick_of(uint64_t time_us);
uint64_t plim_activity_tick_start_us(uint64_t tick);

/* Work ran at that time. */
void plim_activity_note(struct plim_activity *activity, uint64_t now_us);

/* The marked ticks of that second, the first one in the lowest bit; 0 if it is not remembered (any more). */
uint64_t plim_activity_of_second(const struct plim_activity *activity, uint64_t second);

/* The number of marked ticks from first to last, both included; *ret_latest is the latest of them. */
unsigned plim_activity_count(const struct plim_activity *activity, uint64_t first, uint64_t last, uint64_t *ret_latest);

#endif
