/* SPDX-License-Identifier: MIT */
#include "diagnose/scan/stamp.h"

#include <string.h>

enum {
    DAY = 24 * 3600,
    YEAR = 365 * DAY,
    HEAD_BYTES = 64, /* of a line, within which its time begins */
    COMMON_YEAR = 2001,
};

/* What is left of a text. */
struct rest {
    const char *at, *end;
};

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* A number of `least` to `most` digits; -1 and nothing taken when it has another length. */
static int64_t take_number(struct rest *r, int least, int most)
{
    int64_t value = 0;
    const char *p = r->at;
    while (p < r->end && is_digit(*p) && p - r->at < most)
        value = 10 * value + (*p++ - '0');
    if (p - r->at < least || (p < r->end && is_digit(*p)))
        return -1;
    r->at = p;
    return value;
}

static bool take(struct rest *r, const char *any)
{
    if (r->at >= r->end || !strchr(any, *r->at))
        return false;
    r->at++;
    return true;
}

static void skip_blanks(struct rest *r)
{
    while (take(r, " "))
        ;
}

/* "Apr": 1 to 12, 0 when it is none. */
static int take_month(struct rest *r)
{
    static const char names[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    for (int i = 0; i < 12 && r->end - r->at >= 3; i++)
        if (!memcmp(r->at, names + (ptrdiff_t)3 * i, 3)) {
            r->at += 3;
            return i + 1;
        }
    return 0;
}

/* "Tue, " or "Tue " */
static void skip_weekday(struct rest *r)
{
    static const char names[] = "MonTueWedThuFriSatSun";
    for (int i = 0; i < 7 && r->end - r->at >= 4; i++)
        if (!memcmp(r->at, names + (ptrdiff_t)3 * i, 3)) {
            r->at += 3;
            take(r, ",");
            skip_blanks(r);
            return;
        }
}

/* Days from 1970, by the rule that puts the leap day at the end of its year (proleptic Gregorian calendar). */
static int64_t days_of(int64_t year, int64_t month, int64_t day)
{
    year -= month <= 2;
    const int64_t era = (year >= 0 ? year : year - 399) / 400, of_era = year - era * 400,
                  of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

/* "13:43:32", its fraction left behind; -1 when it is none. */
static int64_t take_clock(struct rest *r)
{
    struct rest try = *r;
    const int64_t hour = take_number(&try, 2, 2), minute = take(&try, ":") ? take_number(&try, 2, 2) : -1,
                  second = take(&try, ":") ? take_number(&try, 2, 2) : -1;
    if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60)
        return -1;
    if (take(&try, ".,"))
        while (try.at < try.end && is_digit(*try.at))
            try.at++;
    *r = try;
    return hour * 3600 + minute * 60 + second;
}

/* "Z", " UTC", "+0800", " -05:30": seconds that the clock is ahead. */
static int64_t take_zone(struct rest *r)
{
    struct rest try = *r;
    skip_blanks(&try);
    if (try.at >= try.end || (*try.at != '+' && *try.at != '-'))
        return 0;
    const int sign = *try.at++ == '-' ? -1 : 1;
    int64_t hours = take_number(&try, 2, 2), minutes = 0;
    if (hours < 0)
        return (hours = take_number(&try, 4, 4)) < 0 || hours > 1500 ? 0
                                                                     : sign * (hours / 100 * 3600 + hours % 100 * 60);
    if (take(&try, ":"))
        minutes = take_number(&try, 2, 2);
    return hours > 15 || minutes < 0 ? 0 : sign * (hours * 3600 + minutes * 60);
}

static struct plim_stamp stamp_of(int64_t year, int64_t month, int64_t day, int64_t clock, int64_t zone)
{
    struct plim_stamp stamp = { PLIM_STAMP_NONE, 0 };
    if (month < 1 || month > 12 || day < 1 || day > 31 || clock < 0)
        return stamp;
    stamp.kind = year < 0 ? PLIM_STAMP_YEARLESS : PLIM_STAMP_DATE;
    stamp.seconds = days_of(year < 0 ? COMMON_YEAR : year, month, day) * DAY + clock - zone;
    return stamp;
}

/* "2025-04-29T13:43:32", "2025/04/29 13:43:32", "04-29 13:43:32" */
static struct plim_stamp read_digits(struct rest r)
{
    struct rest try = r;
    int64_t year = take_number(&try, 4, 4);
    if (year >= 0 && !take(&try, "-/"))
        return (struct plim_stamp){ PLIM_STAMP_NONE, 0 };
    if (year < 0)
        try = r;
    const int64_t month = take_number(&try, 2, 2), day = take(&try, "-/") ? take_number(&try, 2, 2) : -1;
    if (day < 0 || !take(&try, "T -:_"))
        return (struct plim_stamp){ PLIM_STAMP_NONE, 0 };
    skip_blanks(&try);
    const int64_t clock = take_clock(&try);
    return stamp_of(year, month, day, clock, clock < 0 ? 0 : take_zone(&try));
}

/* "Tue, 29 Apr 2025 13:43:32 +0800", "Tue Apr 29 13:43:32 2025", "Apr 29 13:43:32" */
static struct plim_stamp read_names(struct rest r)
{
    int64_t year = -1, day, clock;
    skip_weekday(&r);
    int month = take_month(&r);
    if (month) {
        skip_blanks(&r);
        day = take_number(&r, 1, 2);
        skip_blanks(&r);
        clock = take_clock(&r);
        skip_blanks(&r);
        year = clock < 0 ? -1 : take_number(&r, 4, 4);
        return stamp_of(year, month, day, clock, 0);
    }
    day = take_number(&r, 1, 2);
    skip_blanks(&r);
    month = day < 0 ? 0 : take_month(&r);
    skip_blanks(&r);
    year = month ? take_number(&r, 4, 4) : -1;
    skip_blanks(&r);
    clock = year < 0 ? -1 : take_clock(&r);
    return stamp_of(year, month, day, clock, clock < 0 ? 0 : take_zone(&r));
}

/* "3d 2h 11min 5.2s": each unit once, the largest first. */
static bool read_span(struct rest r, int64_t *ret_seconds)
{
    static const struct {
        const char *name;
        int64_t seconds;
    } units[] = { { "month", 30 * DAY }, { "week", 7 * DAY }, { "w", 7 * DAY }, { "day", DAY }, { "d", DAY },
                  { "h", 3600 },         { "min", 60 },       { "ms", 0 },      { "m", 60 },    { "s", 1 } };
    int64_t sum = 0;
    bool has_any = false;
    for (size_t i = 0; r.at < r.end && is_digit(*r.at) && i < sizeof units / sizeof *units;) {
        struct rest try = r;
        const int64_t n = take_number(&try, 1, 6);
        if (take(&try, "."))
            while (try.at < try.end && is_digit(*try.at))
                try.at++;
        if (n < 0)
            return false;
        while (i < sizeof units / sizeof *units && ((size_t)(try.end - try.at) < strlen(units[i].name) ||
                                                    memcmp(try.at, units[i].name, strlen(units[i].name)) != 0))
            i++;
        if (i == sizeof units / sizeof *units)
            break;
        sum += n * units[i].seconds;
        has_any = true;
        r.at = try.at + strlen(units[i].name);
        take(&r, "s");
        skip_blanks(&r);
    }
    *ret_seconds = sum;
    return has_any;
}

bool plim_stamp_read(const char *text, size_t n, int64_t *ret_seconds)
{
    const struct rest r = { text, text + n };
    struct plim_stamp stamp = read_digits(r);
    if (stamp.kind != PLIM_STAMP_DATE)
        stamp = read_names(r);
    if (stamp.kind == PLIM_STAMP_DATE)
        *ret_seconds = stamp.seconds;
    return stamp.kind == PLIM_STAMP_DATE || read_span(r, ret_seconds);
}

/* "[  812.310]" */
static struct plim_stamp read_boot(struct rest r)
{
    struct plim_stamp stamp = { PLIM_STAMP_NONE, 0 };
    if (!take(&r, "["))
        return stamp;
    skip_blanks(&r);
    const int64_t seconds = take_number(&r, 1, 9);
    if (seconds < 0 || !take(&r, ".") || r.at >= r.end || !is_digit(*r.at))
        return stamp;
    while (r.at < r.end && is_digit(*r.at))
        r.at++;
    if (take(&r, "]"))
        stamp = (struct plim_stamp){ PLIM_STAMP_BOOT, seconds };
    return stamp;
}

struct plim_stamp plim_stamp_of_line(const char *line, size_t n)
{
    struct plim_stamp stamp = { PLIM_STAMP_NONE, 0 };
    for (size_t i = 0; i < n && i < HEAD_BYTES; i++) {
        const struct rest r = { line + i, line + n };
        if (i > 0 && (is_digit(line[i - 1]) || strchr("-/:.", line[i - 1])))
            continue;
        if (line[i] == '[')
            stamp = read_boot(r);
        else if (is_digit(line[i]))
            stamp = read_digits(r);
        if (stamp.kind == PLIM_STAMP_NONE && line[i] >= 'A' && line[i] <= 'W')
            stamp = read_names(r);
        if (stamp.kind == PLIM_STAMP_NONE && is_digit(line[i])) {
            struct rest clock = r;
            const int64_t seconds = take_clock(&clock);
            if (seconds >= 0 && (clock.at >= clock.end || !strchr(":-/", *clock.at) || !*clock.at))
                stamp = (struct plim_stamp){ PLIM_STAMP_DAYLESS, seconds };
        }
        if (stamp.kind != PLIM_STAMP_NONE)
            break;
    }
    return stamp;
}

int64_t plim_stamp_between(struct plim_stamp first, struct plim_stamp last)
{
    if (first.kind == PLIM_STAMP_NONE || first.kind != last.kind)
        return -1;
    const int64_t seconds = last.seconds - first.seconds;
    if (seconds >= 0)
        return seconds;
    return first.kind == PLIM_STAMP_DAYLESS ? seconds + DAY : first.kind == PLIM_STAMP_YEARLESS ? seconds + YEAR : -1;
}
