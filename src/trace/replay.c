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
static size_t list_addresses(const struct comparison *c, uint64_t **ret_addresses)
{
    size_t n = 0;
    for (size_t i = 0; i < c->n_entries; i++) {
        c->replay->n_recorded += action_of(&c->entries[i]) >= 0;
        n += c->entries[i].action == PLIM_TRACE_SEGMENT_ALLOC;
    }
    *ret_addresses = plim_alloc_unset(n + 1, sizeof **ret_addresses);
    n = 0;
    for (size_t i = 0; *ret_addresses && i < c->n_entries; i++)
        if (c->entries[i].action == PLIM_TRACE_SEGMENT_ALLOC)
            (*ret_addresses)[n++] = c->entries[i].address;
    return n;
}

static int run(struct plim_torch_allocator *allocator, struct comparison *c, struct plim_error *reterr)
{
    const struct plim_trace_requests *requests = c->requests;
    c->is_adopting = true;
    for (size_t i = 0; i < requests->n_segments; i++) {
        const int result = plim_torch_allocator_adopt(allocator, &requests->segments[i], reterr);
        if (result < 0)
            return result;
    }
    c->is_adopting = false;
    return plim_torch_allocator_run(allocator, requests->events, requests->n_events, reterr);
}

int plim_trace_replay(const struct plim_memory_trace *trace, size_t device, const struct plim_trace_requests *requests,
                      const struct plim_trace_conditions *conditions, struct plim_trace_replay *ret_replay,
                      struct plim_error *reterr)
{
    struct plim_trace_replay replay = { .oom_entry = UINT32_MAX };
    struct comparison c = {
        .requests = requests,
        .replay = &replay,
    };
    c.entries = plim_trace_history(trace, device, &c.n_entries);
    uint64_t *addresses;
    const size_t n_addresses = list_addresses(&c, &addresses);
    if (!addresses)
        return plim_fail(reterr, PLIM_E_NOMEM, 0, "out of memory");
    const struct plim_torch_setup setup = {
        .settings = conditions->settings,
        .capacity_bytes = conditions->capacity_bytes,
        .card_bytes = conditions->card_bytes,
        .n_ids = requests->n_ids,
        .n_streams = requests->n_streams,
        .n_pools = requests->n_pools,
        .has_retries = requests->has_retries,
        .addresses = addresses,
        .n_addresses = conditions->are_recorded ? n_addresses : 0,
        .watch = compare,
        .watcher = &c,
    };
    struct plim_torch_allocator *allocator = NULL;
    int result = plim_torch_allocator_open(&setup, &allocator, reterr);
    if (result == 0)
        result = run(allocator, &c, reterr);
    if (result == 0) {
        replay.result = *plim_torch_allocator_result(allocator);
        if (replay.result.oom_at < requests->n_events)
            replay.oom_entry = requests->entry_of[replay.result.oom_at];
        *ret_replay = replay;
    }
    plim_torch_allocator_free(allocator);
    plim_free(addresses);
    return result;
}
