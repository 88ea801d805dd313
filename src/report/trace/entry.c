/* SPDX-License-Identifier: MIT */
#include "report/trace/trace.h"

const struct plim_trace_entry *plim_trace_entry_of(const struct plim_trace_answer *answer, uint32_t entry)
{
    const struct plim_memory_trace *trace = answer->trace;
    const size_t device = answer->analysis->device;
    if (device >= trace->n_devices || entry >= trace->devices[device].n_entries)
        return NULL;
    return &trace->entries[trace->devices[device].first_entry + entry];
}

uint64_t plim_trace_since_start_us(const struct plim_trace_answer *answer, uint32_t entry)
{
    const struct plim_trace_entry *first = plim_trace_entry_of(answer, 0), *then = plim_trace_entry_of(answer, entry);
    return first && then && then->time_us > first->time_us ? then->time_us - first->time_us : 0;
}
