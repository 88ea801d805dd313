/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_TRACE_GROWTH_SERIES_H
#define PLIMSOLL_TRACE_GROWTH_SERIES_H

/* A figure of a loop's turns, in their order, summed by bins of turns. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PLIM_TRACE_N_QUARTERS = 4, PLIM_TRACE_MAX_BINS = 16 }; /* four bins to a quarter at the most */

struct plim_trace_series {
    uint64_t sums[PLIM_TRACE_MAX_BINS], turns[PLIM_TRACE_MAX_BINS]; /* no bin without a turn */
    size_t n;
};

/* None is 0, and none is many times another. */
bool plim_trace_are_even(const uint64_t parts[], size_t n);

/* Three of four are the same. */
bool plim_trace_are_alike(const uint64_t sizes[], size_t n);

/*
 * They come in the same order again, as those of weights do with each layer: half of them are as foreseen by the two
 * before. Lengths that requests bring are not, be they many or few.
 */
bool plim_trace_do_recur(const uint64_t sizes[], size_t n);

/*
 * From quarter to quarter by about as much, nearly always from bin to bin, and no first one reaches a last one.
 * What grows in a few steps, as lengths do in stages, is meant to. n_bins: those that there could be; where
 * more than a quarter of them are missing, false.
 */
bool plim_trace_is_rising(const struct plim_trace_series *series, size_t n_bins);

/* Of a turn. */
uint64_t plim_trace_first_quarter(const struct plim_trace_series *series);
uint64_t plim_trace_last_quarter(const struct plim_trace_series *series);

#endif
