/* SPDX-License-Identifier: MIT */
#include "cli/trace/choose.h"

#include "cli/cli.h"

/* The device with the longest history, or of a snapshot without histories the first segment's. */
static size_t choose_device(const struct plim_memory_trace *trace)
{
    size_t best = 0;
    for (size_t i = 1; i < trace->n_devices; i++)
        if (trace->devices[i].n_entries > trace->devices[best].n_entries)
            best = i;
    const bool has_history = trace->n_devices && trace->devices[best].n_entries;
    return has_history || !trace->n_segments ? best : trace->segments[0].device;
}

static bool has_device(const struct plim_memory_trace *trace, size_t device)
{
    for (size_t i = 0; i < trace->n_segments; i++)
        if (trace->segments[i].device == device)
            return true;
    return device < trace->n_devices && trace->devices[device].n_entries;
}

int plim_cli_trace_analyse(struct plim_memory_trace *trace, long device, const struct plim_trace_question *question,
                           struct plim_trace_analysis *ret_analysis)
{
    const size_t chosen = device >= 0 ? (size_t)device : choose_device(trace);
    struct plim_error err = { 0 };
    if (!has_device(trace, chosen))
        return plim_cli_usage("without --device the one with the longest history is shown",
                              "the snapshot says nothing of device %zu", chosen);
    if (plim_trace_analyse(trace, chosen, question, ret_analysis, &err) < 0)
        return plim_cli_fail(&err);
    return PLIM_EXIT_YES;
}
