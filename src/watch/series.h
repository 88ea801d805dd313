/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_WATCH_SERIES_H
#define PLIMSOLL_WATCH_SERIES_H

/*
 * The memory of a card or of a process over time, in bounded space, and how it grows.
 *
 * Points are evenly spaced. When the series is full, every second point goes and the spacing doubles, up to an hour in
 * all; from then on the oldest point makes room. The newest value is kept apart until its turn comes.
 */

#include "watch/watch.h"

#define PLIM_SERIES_UNKNOWN INT64_MIN

struct plim_series {
    int64_t bytes[PLIM_WATCH_MAX_POINTS];
    int64_t lows[PLIM_WATCH_MAX_POINTS]; /* the least from this point to the next */
    int64_t times_ms[PLIM_WATCH_MAX_POINTS];
    uint32_t n;
    int64_t spacing_ms;
    int64_t last_ms, last_bytes;
    int64_t level_since_ms; /* since then the memory has stayed within a band */
    int64_t level_low, level_high;
    bool was_level; /* long enough, once: what comes later is no warm-up */
};

/* `is_old`: the process has run for long enough to be past its warm-up. */
void plim_series_init(struct plim_series *series, bool is_old);
/* Times go forward; a value of an earlier time is dropped. */
void plim_series_add(struct plim_series *series, int64_t time_ms, int64_t bytes);
uint32_t plim_series_points(const struct plim_series *series, int64_t *ret_bytes, uint32_t max);

/* How it grows, and when `free_bytes` (-1: unknown) will be taken. */
void plim_series_growth(const struct plim_series *series, int64_t free_bytes, struct plim_watch_growth *ret_growth);

#endif
