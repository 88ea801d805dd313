/* SPDX-License-Identifier: MIT */
#include "trace/live.h"

#include "base/mem.h"

#include <stdlib.h>

enum { FIRST_ROOM = 1024 };

static size_t place_of(const struct plim_trace_live *live, uint64_t address)
{
    /* Addresses differ from bit 9 on (Fibonacci hashing). */
    return (size_t)((address >> 9) * UINT64_C(0x9E3779B97F4A7C15) >> 20) & (live->room - 1);
}

struct plim_trace_live_row *plim_trace_live_find(const struct plim_trace_live *live, uint64_t address)
{
    if (!live->room || address == UINT64_MAX)
        return NULL;
    for (size_t i = place_of(live, address);; i = (i + 1) & (live->room - 1)) {
        if (live->rows[i].address == address)
            return &live->rows[i];
        if (live->rows[i].address == UINT64_MAX)
            return NULL;
    }
}

static void insert(struct plim_trace_live *live, struct plim_trace_live_row row)
{
    size_t i = place_of(live, row.address);
    while (live->rows[i].address != UINT64_MAX)
        i = (i + 1) & (live->room - 1);
    live->rows[i] = row;
    live->n++;
}

static bool grow(struct plim_trace_live *live)
{
    struct plim_trace_live larger = { .room = live->room ? 2 * live->room : FIRST_ROOM };
    larger.rows = plim_alloc_unset(larger.room, sizeof *larger.rows);
    if (!larger.rows)
        return false;
    for (size_t i = 0; i < larger.room; i++)
        larger.rows[i].address = UINT64_MAX;
    for (size_t i = 0; i < live->room; i++)
        if (live->rows[i].address != UINT64_MAX)
            insert(&larger, live->rows[i]);
    plim_free(live->rows);
    *live = larger;
    return true;
}

bool plim_trace_live_add(struct plim_trace_live *live, struct plim_trace_live_row row)
{
    struct plim_trace_live_row *there = plim_trace_live_find(live, row.address);
    if (row.address == UINT64_MAX)
        return true;
    if (there) {
        *there = row;
        return true;
    }
    if (2 * (live->n + 1) > live->room && !grow(live))
        return false;
    insert(live, row);
    return true;
}

/* Rows that follow move up, so that no search ends too early. */
void plim_trace_live_remove(struct plim_trace_live *live, struct plim_trace_live_row *row)
{
    const size_t mask = live->room - 1;
    size_t hole = (size_t)(row - live->rows);
    for (size_t i = (hole + 1) & mask; live->rows[i].address != UINT64_MAX; i = (i + 1) & mask) {
        const size_t wanted = place_of(live, live->rows[i].address);
        if (((i - wanted) & mask) >= ((i - hole) & mask)) {
            live->rows[hole] = live->rows[i];
            hole = i;
        }
    }
    live->rows[hole].address = UINT64_MAX;
    live->n--;
}

static int by_address(const void *a, const void *b)
{
    const uint64_t x = ((const struct plim_trace_live_row *)a)->address;
    const uint64_t y = ((const struct plim_trace_live_row *)b)->address;
    return (x > y) - (x < y);
}

void plim_trace_live_sort(struct plim_trace_live *live)
{
    size_t n = 0;
    for (size_t i = 0; i < live->room; i++)
        if (live->rows[i].address != UINT64_MAX)
            live->rows[n++] = live->rows[i];
    if (n > 1)
        qsort(live->rows, n, sizeof *live->rows, by_address);
}

void plim_trace_live_done(struct plim_trace_live *live)
{
    plim_free(live->rows);
    *live = (struct plim_trace_live){ 0 };
}
