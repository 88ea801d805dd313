/* SPDX-License-Identifier: MIT */
#include "trace/ranges.h"

#include "base/mem.h"

#include <string.h>

/* The first range that begins behind an address. */
static size_t behind(const struct plim_trace_ranges *ranges, uint64_t address)
{
    size_t from = 0, to = ranges->n;
    while (from < to) {
        const size_t middle = (from + to) / 2;
        if (ranges->ranges[middle].address <= address)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static struct plim_trace_range *holder(const struct plim_trace_ranges *ranges, uint64_t address)
{
    const size_t i = behind(ranges, address);
    struct plim_trace_range *range = i ? &ranges->ranges[i - 1] : NULL;
    return range && address - range->address < range->bytes ? range : NULL;
}

const struct plim_trace_range *plim_trace_ranges_find(const struct plim_trace_ranges *ranges, uint64_t address)
{
    return holder(ranges, address);
}

static bool insert(struct plim_trace_ranges *ranges, size_t at, struct plim_trace_range range)
{
    if (ranges->n == ranges->room) {
        const size_t room = ranges->room ? 2 * ranges->room : 64;
        struct plim_trace_range *grown = plim_realloc(ranges->ranges, room, sizeof *grown);
        if (!grown)
            return false;
        ranges->ranges = grown;
        ranges->room = room;
    }
    memmove(ranges->ranges + at + 1, ranges->ranges + at, (ranges->n - at) * sizeof range);
    ranges->ranges[at] = range;
    ranges->n++;
    return true;
}

static void erase(struct plim_trace_ranges *ranges, size_t at)
{
    ranges->n--;
    memmove(ranges->ranges + at, ranges->ranges + at + 1, (ranges->n - at) * sizeof *ranges->ranges);
}

static bool are_one(const struct plim_trace_range *left, const struct plim_trace_range *right)
{
    return left->is_expandable && right->is_expandable && left->address + left->bytes == right->address &&
           left->stream == right->stream && left->pool == right->pool;
}

bool plim_trace_ranges_add(struct plim_trace_ranges *ranges, struct plim_trace_range range)
{
    size_t at = behind(ranges, range.address);
    if (at < ranges->n && are_one(&range, &ranges->ranges[at])) {
        range.bytes += ranges->ranges[at].bytes;
        range.is_small = ranges->ranges[at].is_small;
        erase(ranges, at);
    }
    if (at > 0 && are_one(&ranges->ranges[at - 1], &range)) {
        ranges->ranges[at - 1].bytes += range.bytes;
        return true;
    }
    return insert(ranges, at, range);
}

bool plim_trace_ranges_cut(struct plim_trace_ranges *ranges, uint64_t address, uint64_t bytes, bool *ret_found)
{
    struct plim_trace_range *range = holder(ranges, address);
    *ret_found = range && bytes <= range->bytes - (address - range->address);
    if (!*ret_found)
        return true;
    const size_t at = (size_t)(range - ranges->ranges);
    struct plim_trace_range rest = *range;
    rest.address = address + bytes;
    rest.bytes = range->address + range->bytes - rest.address;
    range->bytes = address - range->address;
    if (!range->bytes)
        erase(ranges, at);
    return !rest.bytes || insert(ranges, behind(ranges, rest.address), rest);
}

void plim_trace_ranges_done(struct plim_trace_ranges *ranges)
{
    plim_free(ranges->ranges);
    *ranges = (struct plim_trace_ranges){ 0 };
}
