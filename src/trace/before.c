/* SPDX-License-Identifier: MIT */
#include "trace/before.h"

#include "base/units.h"

static bool read_segment(struct plim_trace_before *before, const struct plim_memory_trace *trace,
                         const struct plim_trace_segment *segment)
{
    uint64_t address = segment->address;
    if (!plim_trace_ranges_add(&before->ranges,
                               (struct plim_trace_range){ address, segment->bytes, segment->stream, segment->pool,
                                                          segment->is_small, segment->is_expandable }))
        return false;
    for (uint32_t i = 0; i < segment->n_blocks; i++) {
        const struct plim_trace_block *block = &trace->blocks[segment->first_block + i];
        if (block->state != PLIM_TRACE_INACTIVE &&
            !plim_trace_live_add(&before->live, (struct plim_trace_live_row){ address, block->requested_bytes,
                                                                              segment->first_block + i,
                                                                              block->state == PLIM_TRACE_PENDING }))
            return false;
        address += block->bytes;
    }
    return true;
}

static uint16_t pool_at(const struct plim_trace_before *before, const struct plim_trace_entry *entry)
{
    const struct plim_trace_range *range = plim_trace_ranges_find(&before->ranges, entry->address);
    return range ? range->pool : 0;
}

static bool take_back_segment(struct plim_trace_before *before, struct plim_trace_entry *entry)
{
    bool is_found = true;
    const bool is_over = entry->action == PLIM_TRACE_SEGMENT_FREE || entry->action == PLIM_TRACE_SEGMENT_UNMAP;
    if (entry->pool == PLIM_TRACE_NO_POOL)
        entry->pool = is_over ? 0 : pool_at(before, entry);
    if (is_over)
        return plim_trace_ranges_add(&before->ranges,
                                     (struct plim_trace_range){ entry->address, entry->bytes, entry->stream,
                                                                entry->pool, entry->bytes == 2 * PLIM_MIB,
                                                                entry->action == PLIM_TRACE_SEGMENT_UNMAP });
    const bool has_memory = plim_trace_ranges_cut(&before->ranges, entry->address, entry->bytes, &is_found);
    before->n_lost += !is_found;
    return has_memory;
}

static bool take_back(struct plim_trace_before *before, struct plim_trace_entry *entry)
{
    struct plim_trace_live_row *row = plim_trace_live_find(&before->live, entry->address);
    switch (entry->action) {
    case PLIM_TRACE_ALLOC:
        if (entry->pool == PLIM_TRACE_NO_POOL)
            entry->pool = pool_at(before, entry);
        if (row)
            plim_trace_live_remove(&before->live, row);
        else
            before->n_lost++;
        return true;
    case PLIM_TRACE_FREE_COMPLETED:
        before->n_lost += row != NULL;
        return plim_trace_live_add(&before->live,
                                   (struct plim_trace_live_row){ entry->address, entry->bytes, UINT32_MAX, true });
    case PLIM_TRACE_FREE_REQUESTED:
        if (row)
            row->is_pending = false;
        else
            before->n_lost++;
        return true;
    case PLIM_TRACE_SEGMENT_ALLOC:
    case PLIM_TRACE_SEGMENT_FREE:
    case PLIM_TRACE_SEGMENT_MAP:
    case PLIM_TRACE_SEGMENT_UNMAP:
        return take_back_segment(before, entry);
    default:
        if (entry->pool == PLIM_TRACE_NO_POOL)
            entry->pool = 0;
        return true;
    }
}

int plim_trace_before_find(struct plim_memory_trace *trace, size_t device, struct plim_trace_before *ret_before,
                           struct plim_error *reterr)
{
    *ret_before = (struct plim_trace_before){ 0 };
    bool has_memory = true;
    for (size_t i = 0; i < trace->n_segments && has_memory; i++)
        if (trace->segments[i].device == device)
            has_memory = read_segment(ret_before, trace, &trace->segments[i]);
    size_t n;
    struct plim_trace_entry *entries = plim_trace_history(trace, device, &n);
    while (n-- > 0 && has_memory)
        has_memory = take_back(ret_before, &entries[n]);
    if (!has_memory) {
        plim_trace_before_done(ret_before);
        return plim_fail(reterr, PLIM_E_NOMEM, 0, "out of memory");
    }
    plim_trace_live_sort(&ret_before->live);
    return 0;
}

void plim_trace_before_done(struct plim_trace_before *before)
{
    plim_trace_live_done(&before->live);
    plim_trace_ranges_done(&before->ranges);
}
