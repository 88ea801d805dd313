/* SPDX-License-Identifier: MIT */
#include "report/trace/trace.h"

#include "base/units.h"
#include "report/history/chart.h"
#include "report/print.h"
#include "trace/timeline.h"

#include <stdio.h>

/* Fewer slices than columns: each has several. */
static void stretch(const struct plim_trace_timeline *timeline, struct plim_history *h)
{
    for (unsigned i = 0; i < PLIM_HISTORY_COLUMNS; i++) {
        const struct plim_trace_slice *slice = &timeline->slices[i * timeline->n_slices / PLIM_HISTORY_COLUMNS];
        h->bytes[i] = slice->requested_bytes;
        h->outer_bytes[i] = slice->reserved_bytes;
    }
}

static unsigned column_of(const struct plim_trace_timeline *timeline, size_t slice)
{
    return (unsigned)((slice * PLIM_HISTORY_COLUMNS + PLIM_HISTORY_COLUMNS / 2) / timeline->n_slices);
}

void plim_report_trace_timeline(FILE *out, const struct plim_trace_answer *answer, const struct plim_style *style)
{
    const struct plim_trace_analysis *analysis = answer->analysis;
    char size[PLIM_SIZE_TEXT], peak[32], start[PLIM_TRACE_MOMENT_BYTES], end[PLIM_TRACE_MOMENT_BYTES];
    struct plim_trace_timeline timeline;
    plim_trace_timeline_make(answer->trace, analysis, &timeline);
    if (!timeline.n_slices || !timeline.most_reserved_bytes)
        return;
    snprintf(peak, sizeof peak, "peak %s", plim_size_text(size, analysis->peak.bytes));
    struct plim_history h = { .full_bytes = timeline.most_reserved_bytes,
                              .peak_column = column_of(&timeline, timeline.peak_at),
                              .oom_column = PLIM_HISTORY_COLUMNS,
                              .peak = peak,
                              .start = plim_trace_moment(start, answer, 0),
                              .end = plim_trace_moment(end, answer, (uint32_t)analysis->n_entries - 1) };
    if (analysis->has_oom)
        h.oom_column = column_of(&timeline, timeline.oom_at);
    stretch(&timeline, &h);
    plim_print(out, "\n");
    plim_history_print(out, &h, style->is_unicode);
    plim_print(out, "%*s  %s reserved, not in use%s", PLIM_HISTORY_LABEL, "",
               plim_history_outer_cell(style->is_unicode), analysis->has_oom ? "   ! out of memory" : "");
    if (analysis->n_entries > PLIM_HISTORY_COLUMNS)
        plim_print(out, "   a column: %zu entries", analysis->n_entries / PLIM_HISTORY_COLUMNS);
    plim_print(out, "\n");
}
