/* SPDX-License-Identifier: MIT */
#include "watch/records.h"

#include "base/limits.h"
#include "base/mem.h"

#include <stdlib.h>

enum { FORGET_MS = 24 * 3600 * 1000 };

static int compare(const void *a, const void *b)
{
    const struct plim_record *left = a, *right = b;
    if (left->pid != right->pid)
        return left->pid < right->pid ? -1 : 1;
    return (left->start_ticks > right->start_ticks) - (left->start_ticks < right->start_ticks);
}

static bool make_room(struct plim_records *r)
{
    if (r->n < r->capacity)
        return true;
    const size_t capacity = r->capacity ? 2 * r->capacity : 64;
    struct plim_record *at = plim_realloc(r->at, capacity, sizeof *at);
    if (!at)
        return false;
    r->at = at;
    r->capacity = capacity;
    return true;
}

/* The start in seconds is reckoned from ticks and the clock, which is corrected now and then. */
static bool is_same_start(int64_t a, int64_t b) { return a <= 0 || b <= 0 || (a - b < 60 && b - a < 60); }

struct plim_record *plim_records_get(struct plim_records *r, int64_t pid, uint64_t start_ticks, int64_t started_unix_s)
{
    const struct plim_record key = { .pid = pid, .start_ticks = start_ticks };
    struct plim_record *found = r->n_sorted ? bsearch(&key, r->at, r->n_sorted, sizeof key, compare) : NULL;
    if (!found) {
        if (!make_room(r))
            return NULL;
        found = &r->at[r->n++];
    } else if (is_same_start(found->started_unix_s, started_unix_s))
        return found;
    *found = (struct plim_record){ .pid = pid, .start_ticks = start_ticks, .started_unix_s = started_unix_s };
    return found;
}

static bool is_kept(const struct plim_record *record, int64_t mark, int64_t now_ms)
{
    if (record->mark == mark)
        return true;
    return record->start_ticks && record->seen_ms <= now_ms && now_ms - record->seen_ms < FORGET_MS;
}

void plim_records_settle(struct plim_records *r, int64_t mark, int64_t now_ms)
{
    size_t n = 0;
    for (size_t i = 0; i < r->n; i++)
        if (is_kept(&r->at[i], mark, now_ms))
            r->at[n++] = r->at[i];
    r->n = r->n_sorted = n;
    if (n)
        qsort(r->at, n, sizeof *r->at, compare);
}

void plim_records_done(struct plim_records *r)
{
    plim_free(r->at);
    *r = (struct plim_records){ 0 };
}
