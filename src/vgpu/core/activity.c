/* SPDX-License-Identifier: MIT */
#include "vgpu/core/activity.h"

#include <stdatomic.h>
#include <stdbool.h>

enum { SECOND_US = 1000000 };

static const uint64_t ticks_mask = ((uint64_t)1 << PLIM_ACTIVITY_TICKS) - 1;

uint64_t plim_activity_tick_of(uint64_t time_us)
{
    return time_us / SECOND_US * PLIM_ACTIVITY_TICKS + time_us % SECOND_US * PLIM_ACTIVITY_TICKS / SECOND_US;
}

/* Rounded up: the tick of that time is this one. */
uint64_t plim_activity_tick_start_us(uint64_t tick)
{
    const uint64_t part = tick % PLIM_ACTIVITY_TICKS * SECOND_US;
    return tick / PLIM_ACTIVITY_TICKS * SECOND_US + (part + PLIM_ACTIVITY_TICKS - 1) / PLIM_ACTIVITY_TICKS;
}

/* The upper part of a word: the rounds of the ring. They repeat after 48 days. */
static uint64_t rounds_of(uint64_t second) { return second / PLIM_ACTIVITY_SECONDS << PLIM_ACTIVITY_TICKS; }

void plim_activity_note(struct plim_activity *activity, uint64_t now_us)
{
    const uint64_t tick = plim_activity_tick_of(now_us), second = tick / PLIM_ACTIVITY_TICKS;
    const uint64_t mark = (uint64_t)1 << tick % PLIM_ACTIVITY_TICKS, rounds = rounds_of(second);
    _Atomic uint64_t *place = &activity->second[second % PLIM_ACTIVITY_SECONDS];
    uint64_t word = atomic_load_explicit(place, memory_order_relaxed), wanted;
    do {
        const bool is_same = (word & ~ticks_mask) == rounds;
        if (is_same && (word & mark))
            return;
        wanted = (is_same ? word : rounds) | mark;
    } while (!atomic_compare_exchange_weak_explicit(place, &word, wanted, memory_order_relaxed, memory_order_relaxed));
    atomic_fetch_add_explicit(&activity->n_ticks, 1, memory_order_relaxed);
}

uint64_t plim_activity_of_second(const struct plim_activity *activity, uint64_t second)
{
    const uint64_t word = atomic_load_explicit(&activity->second[second % PLIM_ACTIVITY_SECONDS], memory_order_relaxed);
    return (word & ~ticks_mask) == rounds_of(second) ? word & ticks_mask : 0;
}

unsigned plim_activity_count(const struct plim_activity *activity, uint64_t first, uint64_t last, uint64_t *ret_latest)
{
    const uint64_t last_second = last / PLIM_ACTIVITY_TICKS;
    uint64_t from = first / PLIM_ACTIVITY_TICKS;
    unsigned n = 0;
    if (last_second >= from + PLIM_ACTIVITY_SECONDS)
        from = last_second - PLIM_ACTIVITY_SECONDS + 1; /* the others are forgotten */
    for (uint64_t second = from; second <= last_second; second++) {
        uint64_t marked = plim_activity_of_second(activity, second);
        if (second == first / PLIM_ACTIVITY_TICKS)
            marked &= ~(uint64_t)0 << first % PLIM_ACTIVITY_TICKS;
        if (second == last_second)
            marked &= ((uint64_t)2 << last % PLIM_ACTIVITY_TICKS) - 1;
        if (marked)
            *ret_latest = second * PLIM_ACTIVITY_TICKS + 63 - (unsigned)__builtin_clzll(marked);
        n += (unsigned)__builtin_popcountll(marked);
    }
    return n;
}
