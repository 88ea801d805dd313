/* SPDX-License-Identifier: MIT */
#include "diagnose/cause/growth.h"

#include "diagnose/cause/rules.h"
#include "diagnose/scan/stamp.h"

enum {
    HOUR_S = 3600,
    DAY_S = 24 * HOUR_S,
    LEAST_RATE_S = 60,
    LEAST_WITHOUT_STEPS_S = 600,
    LEAST_TO_FILL = 4, /* figures */
    LEAST_OF_ONE = 3,  /* figures, of one thing that grows */
    PART_OF_CARD = 100,
    PART_OF_CARD_UNSTEPPED = 20, /* [assumed] without steps, figures of a warm-up are among them */
    LONGEST_LIFE_S = 10 * 365 * DAY_S
};

/* Spearman's rank correlation of bytes with time; ties get their mean rank. */
static double rank_correlation(const struct plim_point *points, uint32_t n)
{
    double sum = 0, squares = 0, time_squares = 0;
    for (uint32_t i = 0; i < n; i++) {
        double below = 0;
        for (uint32_t k = 0; k < n; k++)
            below += points[k].bytes < points[i].bytes ? 1 : points[k].bytes == points[i].bytes && k != i ? 0.5 : 0;
        double rank = below - (double)(n - 1) / 2, time = (double)i - (double)(n - 1) / 2;
        sum += rank * time;
        squares += rank * rank;
        time_squares += time * time;
    }
    return squares > 0 && time_squares > 0 ? sum / (__builtin_sqrt(squares) * __builtin_sqrt(time_squares)) : 0;
}

/* Fewer figures do where each is higher and they rise by half of the card. */
static bool fills_card(const struct plim_point *points, uint32_t n, int64_t total_bytes)
{
    for (uint32_t i = 1; i < n; i++)
        if (points[i].bytes <= points[i - 1].bytes)
            return false;
    return n > 0 && plim_is_known(total_bytes) && points[n - 1].bytes - points[0].bytes >= total_bytes / 2;
}

/* Less than a part of the card, or than figures are printed to, is no rise. */
static int64_t least_rise(int64_t total_bytes, int part)
{
    return plim_is_known(total_bytes) && total_bytes / part > PLIM_ROUNDING_BYTES ? total_bytes / part
                                                                                  : PLIM_ROUNDING_BYTES;
}

bool plim_rise_read(const struct plim_log_context *context, int64_t total_bytes, struct plim_rise *ret_rise)
{
    const uint32_t n = context ? context->n_series : 0;
    if (n == 0 || (n < PLIM_MIN_POINTS && (n < LEAST_TO_FILL || !fills_card(context->series, n, total_bytes))))
        return false;
    const struct plim_point *first = &context->series[0], *last = &context->series[n - 1];
    if (first->bytes < 0 || last->bytes < 0)
        return false;
    const int64_t grown = last->bytes - first->bytes, seconds = plim_stamp_between(first->stamp, last->stamp);
    if (grown < least_rise(total_bytes, PART_OF_CARD) || rank_correlation(context->series, n) <= PLIM_MIN_CORRELATION ||
        (!plim_is_known(first->step) && seconds < LEAST_WITHOUT_STEPS_S))
        return false;
    *ret_rise = (struct plim_rise){ n, first->bytes, last->bytes, PLIM_UNKNOWN, PLIM_UNKNOWN };
    if (seconds >= LEAST_RATE_S && grown < INT64_MAX / HOUR_S) {
        ret_rise->seconds = seconds;
        ret_rise->bytes_per_hour = grown * HOUR_S / seconds;
    }
    return true;
}

bool plim_rise_read_printed(const struct plim_printed *printed, int64_t total_bytes, struct plim_rise *ret_rise)
{
    const bool is_of_one = printed->series_of == PLIM_PURPOSE_KV || printed->series_of == PLIM_PURPOSE_WORK ||
                           printed->series_of == PLIM_PURPOSE_WEIGHTS;
    const uint32_t n = printed->n_series;
    if (n < (is_of_one || fills_card(printed->series, n, total_bytes) ? LEAST_OF_ONE : PLIM_MIN_POINTS))
        return false;
    const int64_t first = printed->series[0].bytes, last = printed->series[n - 1].bytes;
    if (last - first < least_rise(total_bytes, PART_OF_CARD_UNSTEPPED) ||
        rank_correlation(printed->series, n) <= PLIM_MIN_CORRELATION)
        return false;
    *ret_rise = (struct plim_rise){ n, first, last, PLIM_UNKNOWN, PLIM_UNKNOWN };
    return true;
}

int64_t plim_rise_lasts(const struct plim_log_context *context, int64_t total_bytes)
{
    struct plim_rise rise;
    if (!plim_rise_read(context, total_bytes, &rise) || !plim_is_known(rise.bytes_per_hour) || rise.bytes_per_hour <= 0)
        return PLIM_UNKNOWN;
    const int64_t full = plim_is_known(total_bytes) && total_bytes > rise.last_bytes ? total_bytes : rise.last_bytes;
    const double seconds = (double)(full - rise.first_bytes) * HOUR_S / (double)rise.bytes_per_hour;
    return seconds >= LEAST_RATE_S && seconds <= LONGEST_LIFE_S ? (int64_t)seconds : PLIM_UNKNOWN;
}

int64_t plim_lifetime(const struct plim_finding *finding)
{
    const int64_t *value = finding->numbers.value;
    int64_t seconds = value[PLIM_N_LIFETIME_S];
    if (!plim_is_known(seconds) && plim_is_known(value[PLIM_N_STARTED_AT]) &&
        plim_is_known(value[PLIM_N_FINISHED_AT]) &&
        __builtin_sub_overflow(value[PLIM_N_FINISHED_AT], value[PLIM_N_STARTED_AT], &seconds))
        return PLIM_UNKNOWN;
    return seconds >= 0 && seconds <= LONGEST_LIFE_S ? seconds : PLIM_UNKNOWN;
}
