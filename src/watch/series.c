/* SPDX-License-Identifier: MIT */
#include "watch/series.h"

#include "base/numbers.h"
#include "base/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MIN_SPACING_MS = 250,
    MAX_SPACING_MS = 15000, /* of 240 points: one hour */
    FIT_POINTS = 24,        /* 276 pairs: enough for a median, quick for hundreds of processes each second */
    MIN_FIT_POINTS = 5,
    MIN_FIT_MS = 8000,
    MIN_GROWTH_MS = 15000,     /* less may be the beginning of a saw */
    LEVEL_MS = 30000,          /* so long without growth ends a warm-up: between two steps of training is less */
    LONG_GROWTH_MS = 60000,    /* steady growth for so long is no warm-up either, though it was never level */
    FIT_WINDOW_MS = 10 * 60000 /* older growth says nothing of the next minutes */
};

/* Growth below this is noise: allocators round to 2 MiB and keep what they have (c10/cuda/CUDACachingAllocator.h,
 * kSmallBuffer and kLargeBuffer). */
#define NOISE_BYTES (int64_t)(8 * PLIM_MIB)

void plim_series_init(struct plim_series *series, bool is_old)
{
    memset(series, 0, sizeof *series);
    series->last_ms = INT64_MIN;
    series->spacing_ms = MIN_SPACING_MS;
    series->was_level = is_old;
}

/* Level: within 1 % or the noise, whichever is more. */
static void follow_level(struct plim_series *s, int64_t time_ms, int64_t bytes)
{
    const int64_t band = bytes / 100 > NOISE_BYTES ? bytes / 100 : NOISE_BYTES;
    if (s->n && bytes >= s->level_low && bytes <= s->level_high) {
        if (time_ms - s->level_since_ms >= LEVEL_MS)
            s->was_level = true;
        return;
    }
    s->level_since_ms = time_ms;
    s->level_low = bytes - band;
    s->level_high = bytes < INT64_MAX - band ? bytes + band : INT64_MAX;
}

static void make_room(struct plim_series *s)
{
    if (s->spacing_ms * 2 > MAX_SPACING_MS) {
        s->n--;
        memmove(s->bytes, s->bytes + 1, s->n * sizeof *s->bytes);
        memmove(s->lows, s->lows + 1, s->n * sizeof *s->lows);
        memmove(s->times_ms, s->times_ms + 1, s->n * sizeof *s->times_ms);
        return;
    }
    for (uint32_t i = 0; i < s->n / 2; i++) {
        s->bytes[i] = s->bytes[2 * i];
        s->lows[i] = s->lows[2 * i] < s->lows[2 * i + 1] ? s->lows[2 * i] : s->lows[2 * i + 1];
        s->times_ms[i] = s->times_ms[2 * i];
    }
    s->n /= 2;
    s->spacing_ms *= 2;
}

void plim_series_add(struct plim_series *s, int64_t time_ms, int64_t bytes)
{
    if (time_ms <= s->last_ms || bytes < 0)
        return;
    follow_level(s, time_ms, bytes);
    s->last_ms = time_ms;
    s->last_bytes = bytes;
    if (s->n && time_ms - s->times_ms[s->n - 1] < s->spacing_ms) {
        s->lows[s->n - 1] = bytes < s->lows[s->n - 1] ? bytes : s->lows[s->n - 1];
        return;
    }
    if (s->n == PLIM_WATCH_MAX_POINTS)
        make_room(s);
    s->times_ms[s->n] = time_ms;
    s->lows[s->n] = bytes;
    s->bytes[s->n++] = bytes;
}

uint32_t plim_series_points(const struct plim_series *s, int64_t *ret_bytes, uint32_t max)
{
    const uint32_t n = plim_min_u32(s->n, max);
    for (uint32_t i = 0; i < n; i++)
        ret_bytes[i] = s->bytes[s->n - n + i];
    if (n)
        ret_bytes[n - 1] = s->last_bytes;
    return n;
}

/* --- the fit --- */

struct fit {
    double times_s[FIT_POINTS], bytes[FIT_POINTS]; /* oldest first */
    uint32_t n;
    double slope; /* bytes per second */
};

static int compare(const void *a, const void *b)
{
    const double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static double median(double *values, uint32_t n)
{
    qsort(values, n, sizeof *values, compare);
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/* Theil and Sen: the median of the slopes of all pairs, which single jumps do not move. */
static double slope_of(const double *times_s, const double *bytes, uint32_t n)
{
    double slopes[FIT_POINTS * (FIT_POINTS - 1) / 2];
    uint32_t n_slopes = 0;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = i + 1; k < n; k++)
            slopes[n_slopes++] = (bytes[k] - bytes[i]) / (times_s[k] - times_s[i]);
    return n_slopes ? median(slopes, n_slopes) : 0;
}

/*
 * The last minutes in up to FIT_POINTS parts, each with the least of its memory: what a program takes and gives back
 * within a part is no growth.
 */
static void choose(const struct plim_series *s, struct fit *ret_fit)
{
    uint32_t first = 0;
    while (first < s->n && s->last_ms - s->times_ms[first] > FIT_WINDOW_MS)
        first++;
    const uint32_t n_points = s->n - first;
    const uint32_t n = plim_min_u32(n_points, plim_max_u32(MIN_FIT_POINTS, plim_min_u32(n_points / 3, FIT_POINTS)));
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t from = first + i * n_points / n, to = first + (i + 1) * n_points / n;
        int64_t least = s->lows[from];
        for (uint32_t k = from + 1; k < to; k++)
            least = s->lows[k] < least ? s->lows[k] : least;
        ret_fit->times_s[i] = (double)(s->times_ms[from] - s->last_ms) / 1000;
        ret_fit->bytes[i] = (double)least;
    }
    ret_fit->n = n;
}

/* Where growth began: what was level before says nothing of its rate. The first point that is above the least of all.
 */
static void drop_level_begin(struct fit *fit)
{
    uint32_t start = 0;
    double least = fit->n ? fit->bytes[0] : 0;
    for (uint32_t i = 0; i < fit->n; i++)
        if (fit->bytes[i] <= least + (double)NOISE_BYTES / 8) {
            start = i;
            least = fit->bytes[i] < least ? fit->bytes[i] : least;
        }
    fit->n -= start;
    memmove(fit->times_s, fit->times_s + start, fit->n * sizeof *fit->times_s);
    memmove(fit->bytes, fit->bytes + start, fit->n * sizeof *fit->bytes);
}

/* Most memory is level: that is told without a fit. */
static bool has_grown(const struct fit *fit)
{
    double least = fit->n ? fit->bytes[0] : 0;
    for (uint32_t i = 1; i < fit->n; i++)
        least = fmin(least, fit->bytes[i]);
    return fit->n && fit->bytes[fit->n - 1] - least >= (double)NOISE_BYTES;
}

/*
 * Steady growth: at least three steps up, and both halves of the window grow at about
 * the same rate. A single jump, a saw of allocations and releases, and growth that slows down are not steady.
 */
static bool is_steady(const struct fit *fit)
{
    const uint32_t half = fit->n / 2;
    unsigned n_steps = 0;
    for (uint32_t i = 1; i < fit->n; i++)
        n_steps += fit->bytes[i] > fit->bytes[i - 1];
    const double early = slope_of(fit->times_s, fit->bytes, half + 1);
    const double late = slope_of(fit->times_s + half, fit->bytes + half, fit->n - half);
    return n_steps >= 3 && early > fit->slope / 2 && late > fit->slope / 2 && early < fit->slope * 2 &&
           late < fit->slope * 2;
}

void plim_series_growth(const struct plim_series *s, int64_t free_bytes, struct plim_watch_growth *ret_growth)
{
    struct fit fit;
    *ret_growth = (struct plim_watch_growth){ .full_s = -1 };
    choose(s, &fit);
    if (fit.n < 2 || s->last_ms - s->times_ms[s->n - 1] > LEVEL_MS)
        return;
    const int64_t seen_ms = (int64_t)(-fit.times_s[0] * 1000);
    if (fit.n < MIN_FIT_POINTS || seen_ms < MIN_FIT_MS)
        return;
    ret_growth->trend = PLIM_TREND_STEADY;
    ret_growth->window_s = seen_ms / 1000;
    if (!has_grown(&fit))
        return;
    drop_level_begin(&fit);
    const double window_s = fit.n ? -fit.times_s[0] : 0;
    if (fit.n < MIN_FIT_POINTS || window_s * 1000 < MIN_FIT_MS)
        return;
    fit.slope = slope_of(fit.times_s, fit.bytes, fit.n);
    if (fit.slope * window_s < (double)NOISE_BYTES || !is_steady(&fit))
        return;
    const bool is_past_warm_up =
        (s->was_level && window_s * 1000 >= MIN_GROWTH_MS) || window_s * 1000 >= LONG_GROWTH_MS;
    ret_growth->trend = is_past_warm_up ? PLIM_TREND_GROWING : PLIM_TREND_WARM_UP;
    ret_growth->window_s = (int64_t)window_s;
    ret_growth->bytes_per_min = (int64_t)(fit.slope * 60);
    if (free_bytes >= 0)
        ret_growth->full_s = (int64_t)((double)free_bytes / fit.slope);
}
