/* SPDX-License-Identifier: MIT */
#include "trace/timeline.h"

struct walk {
    const struct plim_trace_requests *requests;
    const struct plim_trace_entry *entries;
    size_t at_event;
    uint64_t requested_bytes, reserved_bytes;
};

static uint64_t changed(uint64_t bytes, int64_t by)
{
    if (by >= 0)
        return bytes > UINT64_MAX - (uint64_t)by ? UINT64_MAX : bytes + (uint64_t)by;
    return bytes > (uint64_t)-by ? bytes - (uint64_t)-by : 0;
}

/* What is asked for and given back up to an entry. Events are in the order of entries but for late returns, which
 * change nothing here. */
static void follow(struct walk *w, size_t entry)
{
    const struct plim_trace_requests *requests = w->requests;
    for (; w->at_event < requests->n_events; w->at_event++) {
        const struct plim_torch_event *event = &requests->events[w->at_event];
        const uint32_t from = requests->entry_of[w->at_event];
        if (from != UINT32_MAX && from > entry)
            return;
        if (event->kind == PLIM_TORCH_TAKE && w->entries[from].action != PLIM_TRACE_OOM)
            w->requested_bytes = changed(w->requested_bytes, (int64_t)(event->bytes & INT64_MAX));
        else if (event->kind == PLIM_TORCH_GIVE || event->kind == PLIM_TORCH_GIVE_LATER)
            w->requested_bytes = changed(w->requested_bytes, -(int64_t)(requests->id_bytes[event->id] & INT64_MAX));
    }
}

static void note(struct plim_trace_slice *slice, const struct walk *w)
{
    if (w->requested_bytes > slice->requested_bytes)
        slice->requested_bytes = w->requested_bytes;
    if (w->reserved_bytes > slice->reserved_bytes)
        slice->reserved_bytes = w->reserved_bytes;
}

/* The slice that an entry is in. */
static size_t slice_of(const struct plim_trace_timeline *timeline, size_t entry)
{
    size_t at = 0;
    while (at + 1 < timeline->n_slices && timeline->slices[at + 1].first_entry <= entry)
        at++;
    return at;
}

void plim_trace_timeline_make(const struct plim_memory_trace *trace, const struct plim_trace_analysis *analysis,
                              struct plim_trace_timeline *ret_timeline)
{
    struct plim_trace_timeline *timeline = ret_timeline;
    struct walk w = { .requests = &analysis->requests,
                      .requested_bytes = analysis->requests.before_bytes,
                      .reserved_bytes = analysis->requests.before_reserved_bytes };
    size_t n;
    w.entries = plim_trace_history(trace, analysis->device, &n);
    *timeline = (struct plim_trace_timeline){ 0 };
    timeline->n_slices = n < PLIM_TRACE_MAX_SLICES ? n : PLIM_TRACE_MAX_SLICES;
    for (size_t s = 0; s < timeline->n_slices; s++) {
        struct plim_trace_slice *slice = &timeline->slices[s];
        const size_t end = (size_t)((uint64_t)(s + 1) * n / timeline->n_slices);
        slice->first_entry = (size_t)((uint64_t)s * n / timeline->n_slices);
        note(slice, &w);
        for (size_t i = slice->first_entry; i < end; i++) {
            w.reserved_bytes = changed(w.reserved_bytes, plim_trace_reserved_change(&w.entries[i]));
            follow(&w, i);
            note(slice, &w);
        }
        if (slice->reserved_bytes > timeline->most_reserved_bytes)
            timeline->most_reserved_bytes = slice->reserved_bytes;
    }
    timeline->peak_at = analysis->peak_entry == UINT32_MAX ? 0 : slice_of(timeline, analysis->peak_entry);
    timeline->oom_at = analysis->has_oom ? slice_of(timeline, analysis->oom.entry) : timeline->n_slices;
}
