/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_TRACE_RANGES_H
#define PLIMSOLL_TRACE_RANGES_H

/* The segments, and the mapped parts of expandable ones, at a moment of a trace: ranges in the order of addresses. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct plim_trace_range {
    uint64_t address, bytes;
    uint16_t stream, pool;
    bool is_small, is_expandable;
};

struct plim_trace_ranges {
    struct plim_trace_range *ranges;
    size_t n, room;
};

/* The range that holds an address, or NULL. */
const struct plim_trace_range *plim_trace_ranges_find(const struct plim_trace_ranges *ranges, uint64_t address);
/* Expandable ranges that touch become one. False when memory ran out. */
bool plim_trace_ranges_add(struct plim_trace_ranges *ranges, struct plim_trace_range range);
/* Cut [address, address + bytes) out of the range that holds it; *ret_found is false when none does. */
bool plim_trace_ranges_cut(struct plim_trace_ranges *ranges, uint64_t address, uint64_t bytes, bool *ret_found);
void plim_trace_ranges_done(struct plim_trace_ranges *ranges);

#endif
