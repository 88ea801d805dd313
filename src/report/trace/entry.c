/* SPDX-License-Identifier: MIT */
#include "report/trace/trace.h"

#include <stdio.h>

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

bool plim_trace_has_times(const struct plim_trace_answer *answer)
{
    const size_t n = answer->analysis->n_entries;
    const struct plim_trace_entry *last = n ? plim_trace_entry_of(answer, (uint32_t)n - 1) : NULL;
    return last && last->time_us != 0;
}

const char *plim_trace_moment(char buffer[PLIM_TRACE_MOMENT_BYTES], const struct plim_trace_answer *answer,
                              uint32_t entry)
{
    if (plim_trace_has_times(answer))
        snprintf(buffer, PLIM_TRACE_MOMENT_BYTES, "%.2f s", (double)plim_trace_since_start_us(answer, entry) / 1e6);
    else
        snprintf(buffer, PLIM_TRACE_MOMENT_BYTES, "entry %u", entry);
    return buffer;
}
