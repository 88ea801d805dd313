/* SPDX-License-Identifier: MIT */
#include "trace/growth/series.h"

enum {
    N_QUARTERS = PLIM_TRACE_N_QUARTERS,
    MOST_UNEVEN = 4,   /* the part with the most has at most so many times that of the least */
    MOST_DOWN = 5,     /* of so many steps one may go down */
    LEAST_UP = 2,      /* of so many steps one goes up */
    MAX_OF_LAYER = 64, /* turns that load the weights of a layer, one each */
};

bool plim_trace_are_even(const uint64_t parts[], size_t n)
{
    uint64_t least = UINT64_MAX, most = 0;
    for (size_t i = 0; i < n; i++) {
        least = parts[i] < least ? parts[i] : least;
        most = parts[i] > most ? parts[i] : most;
    }
    return least > 0 && most / least < MOST_UNEVEN;
}

bool plim_trace_are_alike(const uint64_t sizes[], size_t n)
{
    size_t n_alike = 0;
    for (size_t i = 0; i < n; i++)
        n_alike += sizes[i] == sizes[n / 2];
    return 4 * n_alike >= 3 * n;
}

bool plim_trace_do_recur(const uint64_t sizes[], size_t n)
{
    size_t n_foreseen = 0;
    for (size_t i = 2; i < n; i++) {
        size_t back = 1;
        while (back <= MAX_OF_LAYER && back + 2 <= i &&
               (sizes[i - back - 1] != sizes[i - 1] || sizes[i - back - 2] != sizes[i - 2]))
            back++;
        n_foreseen += back <= MAX_OF_LAYER && back + 2 <= i && sizes[i - back] == sizes[i];
    }
    return 2 * n_foreseen >= n;
}

/* Of a turn of these bins. */
static uint64_t mean(const struct plim_trace_series *series, size_t from, size_t to)
{
    uint64_t sum = 0, n = 0;
    for (size_t i = from; i < to; i++) {
        sum += series->sums[i];
        n += series->turns[i];
    }
    return n ? sum / n : 0;
}

static uint64_t value(const struct plim_trace_series *series, size_t i) { return mean(series, i, i + 1); }

uint64_t plim_trace_first_quarter(const struct plim_trace_series *series)
{
    return mean(series, 0, series->n / N_QUARTERS);
}

uint64_t plim_trace_last_quarter(const struct plim_trace_series *series)
{
    return mean(series, series->n - series->n / N_QUARTERS, series->n);
}

/* From quarter to quarter by about as much. */
static bool are_gains_even(const struct plim_trace_series *series)
{
    uint64_t gains[N_QUARTERS - 1];
    for (size_t q = 0; q + 1 < N_QUARTERS; q++) {
        const size_t at = q * series->n / N_QUARTERS, next = (q + 1) * series->n / N_QUARTERS;
        const uint64_t before = mean(series, at, next), after = mean(series, next, (q + 2) * series->n / N_QUARTERS);
        gains[q] = after > before ? after - before : 0;
    }
    return plim_trace_are_even(gains, N_QUARTERS - 1);
}

/* No value of the first quarter reaches one of the last. */
static bool are_ends_apart(const struct plim_trace_series *series)
{
    const size_t n = series->n;
    uint64_t most_first = 0, least_last = UINT64_MAX;
    for (size_t i = 0; i < n / N_QUARTERS; i++) {
        const uint64_t first = value(series, i), last = value(series, n - 1 - i);
        most_first = first > most_first ? first : most_first;
        least_last = last < least_last ? last : least_last;
    }
    return least_last > most_first;
}

bool plim_trace_is_rising(const struct plim_trace_series *series, size_t n_bins)
{
    size_t n_down = 0, n_up = 0;
    const size_t n = series->n;
    if (n < N_QUARTERS || N_QUARTERS * n < (N_QUARTERS - 1) * n_bins)
        return false;
    for (size_t i = 1; i < n; i++) {
        n_up += value(series, i) > value(series, i - 1);
        n_down += value(series, i) < value(series, i - 1);
    }
    return MOST_DOWN * n_down <= n - 1 && LEAST_UP * n_up >= n - 1 && are_gains_even(series) && are_ends_apart(series);
}
