/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_TRACE_LIVE_H
#define PLIMSOLL_TRACE_LIVE_H

/* The allocations that are live at a moment of a trace, by their addresses. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct plim_trace_live_row {
    uint64_t address; /* UINT64_MAX: nothing here */
    uint64_t bytes;   /* requested */
    uint32_t number;
    bool is_pending;
};

struct plim_trace_live {
    struct plim_trace_live_row *rows;
    size_t n, room; /* room is 0 or a power of two */
};

/* The row of an address, or NULL. */
struct plim_trace_live_row *plim_trace_live_find(const struct plim_trace_live *live, uint64_t address);
/* Add a row, or replace the one of that address; false when memory ran out. */
bool plim_trace_live_add(struct plim_trace_live *live, struct plim_trace_live_row row);
void plim_trace_live_remove(struct plim_trace_live *live, struct plim_trace_live_row *row);
/* Sort the rows by address, at the front; it is no table any more. */
void plim_trace_live_sort(struct plim_trace_live *live);
void plim_trace_live_done(struct plim_trace_live *live);

#endif
