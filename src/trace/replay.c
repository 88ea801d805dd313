/* SPDX-License-Identifier: MIT */
#include "trace/replay.h"

#include "base/mem.h"

struct comparison {
    const struct plim_trace_requests *requests;
    const struct plim_trace_entry *entries;
    size_t n_entries, at;
    struct plim_trace_replay *replay;
    bool is_adopting;
};

/* The action of the allocator that an entry tells of; -1: none. */
static int action_of(const struct plim_trace_entry *entry)
{
    switch (entry->action) {
    case PLIM_TRACE_SEGMENT_ALLOC:
        return PLIM_TORCH_ALLOC;
    case PLIM_TRACE_SEGMENT_FREE:
        return PLIM_TORCH_FREE;
    case PLIM_TRACE_SEGMENT_MAP:
        return PLIM_TORCH_MAP;
    case PLIM_TRACE_SEGMENT_UNMAP:
        return PLIM_TORCH_UNMAP;
    default:
        return -1;
    }
}

static void compare(void *watcher, const struct plim_torch_change *change)
{
    struct comparison *c = watcher;
    if (c->is_adopting)
        return;
    c->replay->n_replayed++;
    while (c->at < c->n_entries && action_of(&c->entries[c->at]) < 0)
        c->at++;
    if (c->at == c->n_entries)
        return;
    const struct plim_trace_entry *entry = &c->entries[c->at++];
    c->replay->n_equal += action_of(entry) == (int)change->action && entry->bytes == change->bytes &&
                          c->requests->stream_rank[entry->stream] == change->stream && entry->pool == change->pool;
}

/* The addresses that the driver gave, in order; returns how many. */
static size_t list_addresses(const struct plim_trace_entry *entries, size_t n_entries, uint64_t **ret_addresses)
{
    size_t n = 0;
    for (size_t i = 0; i < n_entries; i++)
        n += entries[i].action == PLIM_TRACE_SEGMENT_ALLOC;
    *ret_addresses = plim_alloc_unset(n + 1, sizeof **ret_addresses);
    n = 0;
    for (size_t i = 0; *ret_addresses && i < n_entries; i++)
        if (entries[i].action == PLIM_TRACE_SEGMENT_ALLOC)
            (*ret_addresses)[n++] = entries[i].address;
    return n;
}

static int adopt(const struct plim_trace_requests *requests, struct plim_torch_allocator *allocator,
                 struct plim_error *reterr)
{
    int result = 0;
    for (size_t i = 0; i < requests->n_segments && result == 0; i++)
        result = plim_torch_allocator_adopt(allocator, &requests->segments[i], reterr);
    return result;
}

int plim_trace_run_open(const struct plim_memory_trace *trace, size_t device,
                        const struct plim_trace_requests *requests, const struct plim_trace_conditions *conditions,
                        void (*watch)(void *watcher, const struct plim_torch_change *change), void *watcher,
                        struct plim_trace_run *ret_run, struct plim_error *reterr)
{
    size_t n_entries;
    const struct plim_trace_entry *entries = plim_trace_history(trace, device, &n_entries);
    struct plim_trace_run run = { 0 };
    const size_t n_addresses = list_addresses(entries, n_entries, &run.addresses);
    if (!run.addresses)
        return plim_fail(reterr, PLIM_E_NOMEM, 0, "out of memory");
    const struct plim_torch_setup setup = {
        .settings = conditions->settings,
        .capacity_bytes = conditions->capacity_bytes,
        .card_bytes = conditions->card_bytes,
        .n_ids = requests->n_ids,
        .n_streams = requests->n_streams,
        .n_pools = requests->n_pools,
        .has_retries = requests->has_retries,
        .addresses = run.addresses,
        .n_addresses = conditions->are_recorded ? n_addresses : 0,
        .block_bytes = conditions->block_bytes,
        .watch = watch,
        .watcher = watcher,
    };
    int result = plim_torch_allocator_open(&setup, &run.allocator, reterr);
    if (result == 0)
        result = adopt(requests, run.allocator, reterr);
    if (result < 0)
        plim_trace_run_done(&run);
    *ret_run = run;
    return result;
}

void plim_trace_run_done(struct plim_trace_run *run)
{
    plim_torch_allocator_free(run->allocator);
    plim_free(run->addresses);
    *run = (struct plim_trace_run){ 0 };
}

int plim_trace_replay(const struct plim_memory_trace *trace, size_t device, const struct plim_trace_requests *requests,
                      const struct plim_trace_conditions *conditions, struct plim_trace_replay *ret_replay,
                      struct plim_error *reterr)
{
    struct plim_trace_replay replay = { .oom_entry = UINT32_MAX };
    struct comparison c = { .requests = requests, .replay = &replay, .is_adopting = true };
    struct plim_trace_run run;
    c.entries = plim_trace_history(trace, device, &c.n_entries);
    for (size_t i = 0; i < c.n_entries; i++)
        replay.n_recorded += action_of(&c.entries[i]) >= 0;
    int result = plim_trace_run_open(trace, device, requests, conditions, compare, &c, &run, reterr);
    if (result < 0)
        return result;
    c.is_adopting = false;
    result = plim_torch_allocator_run(run.allocator, requests->events, requests->n_events, reterr);
    if (result == 0) {
        replay.result = *plim_torch_allocator_result(run.allocator);
        if (replay.result.oom_at < requests->n_events)
            replay.oom_entry = requests->entry_of[replay.result.oom_at];
        *ret_replay = replay;
    }
    plim_trace_run_done(&run);
    return result;
}
