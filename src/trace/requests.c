/* SPDX-License-Identifier: MIT */
#include "trace/requests.h"

#include "base/mem.h"
#include "trace/before.h"

#include <string.h>

struct maker {
    struct plim_memory_trace *trace;
    const struct plim_trace_entry *entries;
    size_t n_entries;
    const struct plim_torch_settings *recorded;
    struct plim_trace_requests *out;
    struct plim_trace_live live; /* by address; number: the id */
    size_t events_room;
    uint32_t ids_room;
    uint64_t reserved_bytes, most_reserved_bytes;
    uint64_t retry_bytes; /* the least that did not fit: reserved and a new segment */
    bool *is_released;    /* [pool] */
    bool is_broken;
    size_t returns_end; /* of the run of late returns that was looked at last, and whether a request waited for it */
    bool are_needed;
};

/* --- growing lists --- */

static struct plim_torch_event *add_event(struct maker *m, enum plim_torch_event_kind kind, uint32_t entry)
{
    static struct plim_torch_event nowhere;
    struct plim_trace_requests *out = m->out;
    if (out->n_events == m->events_room) {
        const size_t room = m->events_room ? 2 * m->events_room : 1024;
        struct plim_torch_event *events = plim_realloc(out->events, room, sizeof *events);
        out->events = events ? events : out->events;
        uint32_t *entry_of = events ? plim_realloc(out->entry_of, room, sizeof *entry_of) : NULL;
        out->entry_of = entry_of ? entry_of : out->entry_of;
        if (!entry_of) {
            m->is_broken = true;
            return &nowhere;
        }
        m->events_room = room;
    }
    out->entry_of[out->n_events] = entry;
    struct plim_torch_event *event = &out->events[out->n_events++];
    *event = (struct plim_torch_event){ .kind = (uint8_t)kind };
    return event;
}

static uint32_t add_id(struct maker *m, uint32_t taken_by, uint64_t bytes)
{
    struct plim_trace_requests *out = m->out;
    if (out->n_ids == m->ids_room) {
        const uint32_t room = m->ids_room ? 2 * m->ids_room : 1024;
        uint32_t *by = plim_realloc(out->taken_by, room, sizeof *by);
        out->taken_by = by ? by : out->taken_by;
        uint64_t *id_bytes = by ? plim_realloc(out->id_bytes, room, sizeof *id_bytes) : NULL;
        out->id_bytes = id_bytes ? id_bytes : out->id_bytes;
        if (!id_bytes) {
            m->is_broken = true;
            return 0;
        }
        m->ids_room = room;
    }
    out->taken_by[out->n_ids] = taken_by;
    out->id_bytes[out->n_ids] = bytes;
    return out->n_ids++;
}

/* --- the state before --- */

/* The bytes of a block of which only the request is known: with what was too little to split off. */
static uint64_t block_bytes(const struct maker *m, const struct plim_trace_range *range,
                            const struct plim_trace_live_row *row, uint64_t room)
{
    if (row->number != UINT32_MAX)
        return m->trace->blocks[row->number].bytes;
    const uint64_t bytes = plim_torch_round(m->recorded, row->bytes);
    const bool is_unsplit = !range->is_small && !range->is_expandable &&
                            (room - bytes <= PLIM_TORCH_SMALL_BYTES || bytes >= m->recorded->max_split_bytes);
    return bytes > room || is_unsplit ? room : bytes;
}

static void add_block(struct maker *m, uint64_t bytes, uint64_t requested_bytes, uint32_t id, bool is_pending)
{
    m->out->blocks[m->out->n_blocks++] = (struct plim_torch_block_before){ bytes, requested_bytes, id, is_pending };
}

/* Small and large ranges are told apart by what lies in them, where the end of the trace does not say. */
static bool is_small(const struct plim_trace_range *range, const struct plim_trace_live_row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (rows[i].bytes > PLIM_TORCH_SMALL_BYTES)
            return false;
    return range->is_expandable ? range->is_small : range->bytes == PLIM_TORCH_SMALL_SEGMENT_BYTES;
}

static void add_range(struct maker *m, const struct plim_trace_range *range, const struct plim_trace_live_row *rows,
                      size_t n)
{
    struct plim_trace_requests *out = m->out;
    const uint64_t end = range->address + range->bytes;
    uint64_t address = range->address;
    struct plim_trace_range known = *range;
    known.is_small = is_small(range, rows, n);
    struct plim_torch_segment_before *segment = &out->segments[out->n_segments++];
    *segment = (struct plim_torch_segment_before){ range->address,
                                                   out->stream_rank[range->stream],
                                                   range->pool,
                                                   known.is_small,
                                                   range->is_expandable,
                                                   out->blocks + out->n_blocks,
                                                   0 };
    for (size_t i = 0; i < n; i++) {
        const uint64_t next = i + 1 < n ? rows[i + 1].address : end;
        const uint32_t id = (uint32_t)(&rows[i] - m->live.rows);
        if (rows[i].address > address)
            add_block(m, rows[i].address - address, 0, UINT32_MAX, false);
        const uint64_t bytes = block_bytes(m, &known, &rows[i], next - rows[i].address);
        add_block(m, bytes, rows[i].bytes, id, rows[i].is_pending);
        address = rows[i].address + bytes;
    }
    if (address < end)
        add_block(m, end - address, 0, UINT32_MAX, false);
    segment->n_blocks = (size_t)(out->blocks + out->n_blocks - segment->blocks);
    out->before_reserved_bytes += range->bytes;
}

static int adopt_before(struct maker *m, struct plim_trace_before *before, struct plim_error *reterr)
{
    struct plim_trace_requests *out = m->out;
    const size_t n_live = before->live.n, n_ranges = before->ranges.n;
    out->blocks = plim_alloc(2 * n_live + n_ranges + 1, sizeof *out->blocks);
    out->segments = plim_alloc(n_ranges + 1, sizeof *out->segments);
    if (!out->blocks || !out->segments)
        return plim_fail(reterr, PLIM_E_NOMEM, 0, "out of memory");
    m->live = before->live; /* as sorted rows, for now */
    for (size_t i = 0; i < n_live; i++) {
        add_id(m, before->live.rows[i].number, before->live.rows[i].bytes);
        out->before_bytes += before->live.rows[i].bytes;
    }
    out->n_before = out->n_ids;
    for (size_t i = 0, at = 0; i < n_ranges; i++) {
        const struct plim_trace_range *range = &before->ranges.ranges[i];
        for (; at < n_live && before->live.rows[at].address < range->address; at++)
            out->n_lost++;
        const size_t from = at;
        while (at < n_live && before->live.rows[at].address - range->address < range->bytes)
            at++;
        add_range(m, range, at > from ? before->live.rows + from : NULL, at - from);
    }
    m->live = (struct plim_trace_live){ 0 };
    for (size_t i = 0; i < n_live && !m->is_broken; i++) {
        struct plim_trace_live_row row = before->live.rows[i];
        row.number = (uint32_t)i;
        m->is_broken = !plim_trace_live_add(&m->live, row);
    }
    out->n_lost += before->n_lost;
    m->reserved_bytes = out->before_reserved_bytes;
    return m->is_broken ? plim_fail(reterr, PLIM_E_NOMEM, 0, "out of memory") : 0;
}

/* --- forward --- */

static void take(struct maker *m, size_t at)
{
    const struct plim_trace_entry *entry = &m->entries[at];
    const uint32_t id = add_id(m, (uint32_t)at, entry->bytes);
    struct plim_torch_event *event = add_event(m, PLIM_TORCH_TAKE, (uint32_t)at);
    event->id = id;
    event->bytes = entry->bytes;
    event->stream = m->out->stream_rank[entry->stream];
    event->pool = entry->pool;
    if (entry->action == PLIM_TRACE_ALLOC)
        m->is_broken |=
            !plim_trace_live_add(&m->live, (struct plim_trace_live_row){ entry->address, entry->bytes, id, false });
}

static void give(struct maker *m, size_t at, enum plim_torch_event_kind kind)
{
    struct plim_trace_live_row *row = plim_trace_live_find(&m->live, m->entries[at].address);
    if (!row) {
        m->out->n_lost++;
        return;
    }
    add_event(m, kind, (uint32_t)at)->id = row->number;
    if (kind != PLIM_TORCH_GIVE_LATER)
        plim_trace_live_remove(&m->live, row);
}

static bool is_release(const struct plim_trace_entry *entry)
{
    return entry->action == PLIM_TRACE_SEGMENT_FREE || entry->action == PLIM_TRACE_SEGMENT_UNMAP;
}

static bool is_growth(const struct plim_trace_entry *entry)
{
    return entry->action == PLIM_TRACE_SEGMENT_ALLOC || entry->action == PLIM_TRACE_SEGMENT_MAP;
}

static void note_segment(struct maker *m, const struct plim_trace_entry *entry)
{
    if (is_growth(entry))
        m->reserved_bytes += entry->bytes;
    else if (is_release(entry))
        m->reserved_bytes -= entry->bytes < m->reserved_bytes ? entry->bytes : m->reserved_bytes;
}

/* More than this was there at once, so no request of less can have failed for want of room. */
static uint64_t most_reserved(struct maker *m)
{
    const uint64_t before = m->reserved_bytes;
    uint64_t most = before;
    for (size_t i = 0; i < m->n_entries; i++) {
        note_segment(m, &m->entries[i]);
        if (m->reserved_bytes > most)
            most = m->reserved_bytes;
    }
    m->reserved_bytes = before;
    return most;
}

/* Pools of which segments go back are over. */
static void end_pools(struct maker *m, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        const uint16_t pool = m->entries[i].pool;
        if (!is_release(&m->entries[i]) || pool == 0 || m->is_released[pool])
            continue;
        m->is_released[pool] = true;
        add_event(m, PLIM_TORCH_RELEASE_POOL, UINT32_MAX)->pool = pool;
    }
}

/* The one private pool that a burst is about; 0 when it is about more. */
static uint16_t only_pool(const struct maker *m, size_t from, size_t to)
{
    const uint16_t pool = m->entries[from].pool;
    for (size_t i = from; i < to; i++)
        if (m->entries[i].pool != pool)
            return 0;
    return pool;
}

/* Garbage collection takes segments of large blocks only. */
static bool may_be_garbage(const struct maker *m, size_t from, size_t next)
{
    bool may_be = m->recorded->gc_threshold > 0 && m->recorded->fraction > 0;
    for (size_t i = from; i < next; i++)
        may_be &= m->entries[i].bytes != PLIM_TORCH_SMALL_SEGMENT_BYTES;
    return may_be;
}

/*
 * Was the burst of releases before entry `next` made by a request that found no memory? Then a segment, or an OOM,
 * follows; empty_cache() before a request that needs a segment looks the same but for its stack and for the room.
 */
static bool is_for_request(const struct maker *m, size_t from, size_t next, uint64_t reserved_bytes)
{
    if (next >= m->n_entries || m->entries[from].is_emptying)
        return false;
    if (m->entries[next].action == PLIM_TRACE_OOM)
        return true;
    if (!is_growth(&m->entries[next]))
        return false;
    return may_be_garbage(m, from, next) || reserved_bytes + m->entries[next].bytes > m->most_reserved_bytes;
}

/* A run of releases; returns the entry behind it. */
static size_t read_burst(struct maker *m, size_t from)
{
    const uint64_t reserved_bytes = m->reserved_bytes;
    size_t to = from;
    for (; to < m->n_entries && is_release(&m->entries[to]); to++)
        note_segment(m, &m->entries[to]);
    end_pools(m, from, to);
    if (!is_for_request(m, from, to, reserved_bytes)) {
        const uint16_t pool = only_pool(m, from, to);
        add_event(m, pool ? PLIM_TORCH_EMPTY_POOL : PLIM_TORCH_EMPTY, UINT32_MAX)->pool = pool;
    } else if (is_growth(&m->entries[to]) && reserved_bytes + m->entries[to].bytes < m->retry_bytes) {
        m->retry_bytes = reserved_bytes + m->entries[to].bytes;
    }
    return to;
}

static bool is_given_at_once(const struct maker *m, size_t at)
{
    return m->entries[at].action == PLIM_TRACE_FREE_REQUESTED && at + 1 < m->n_entries &&
           m->entries[at + 1].action == PLIM_TRACE_FREE_COMPLETED &&
           m->entries[at + 1].address == m->entries[at].address;
}

/*
 * Late returns that a request waited for come before it in the trace. Behind it in the events: the allocator waits for
 * them itself, and must not find them when it first looks. Returns the end of the run when it belongs to a request.
 */
static size_t late_returns(struct maker *m, size_t from)
{
    size_t to = from, next;
    if (from < m->returns_end) /* it has been looked at from its beginning */
        return m->are_needed ? m->returns_end : from;
    while (to < m->n_entries && m->entries[to].action == PLIM_TRACE_FREE_COMPLETED)
        to++;
    for (next = to; next < m->n_entries && is_release(&m->entries[next]);)
        next++;
    m->returns_end = to;
    m->are_needed = next < m->n_entries && !(next > to && m->entries[to].is_emptying) &&
                    (is_growth(&m->entries[next]) || m->entries[next].action == PLIM_TRACE_OOM);
    return m->are_needed ? to : from;
}

static void note_oom(struct maker *m, const struct plim_trace_entry *entry)
{
    const uint64_t segment_bytes = plim_torch_segment_bytes(m->recorded, entry->bytes);
    const uint64_t room = m->reserved_bytes + entry->address;
    if (entry->address < segment_bytes && !m->out->is_room_exact) {
        m->out->room_bytes = room;
        m->out->is_room_exact = true;
    } else if (entry->address >= segment_bytes && m->reserved_bytes + segment_bytes < m->retry_bytes) {
        m->retry_bytes = m->reserved_bytes + segment_bytes; /* a memory fraction, not the card, was the limit */
    }
}

static size_t read_entry(struct maker *m, size_t at, size_t *late_from, size_t *late_to)
{
    const struct plim_trace_entry *entry = &m->entries[at];
    switch (entry->action) {
    case PLIM_TRACE_OOM:
        note_oom(m, entry); /* fall through */
    case PLIM_TRACE_ALLOC:
        take(m, at);
        for (; *late_from < *late_to; ++*late_from)
            give(m, *late_from, PLIM_TORCH_GIVEN);
        return at + 1;
    case PLIM_TRACE_FREE_REQUESTED:
        if (!is_given_at_once(m, at)) {
            give(m, at, PLIM_TORCH_GIVE_LATER);
            return at + 1;
        }
        give(m, at, PLIM_TORCH_GIVE);
        return at + 2;
    case PLIM_TRACE_FREE_COMPLETED: {
        const size_t end = late_returns(m, at);
        if (end > at && *late_from == *late_to) {
            *late_from = at;
            *late_to = end;
            return end;
        }
        give(m, at, PLIM_TORCH_GIVEN);
        return at + 1;
    }
    case PLIM_TRACE_SEGMENT_FREE:
    case PLIM_TRACE_SEGMENT_UNMAP:
        return read_burst(m, at);
    default:
        note_segment(m, entry);
        return at + 1;
    }
}

static void read_entries(struct maker *m)
{
    size_t late_from = 0, late_to = 0;
    m->most_reserved_bytes = most_reserved(m);
    for (size_t at = 0; at < m->n_entries && !m->is_broken;)
        at = read_entry(m, at, &late_from, &late_to);
    if (!m->out->is_room_exact && m->retry_bytes != UINT64_MAX)
        m->out->room_bytes = m->retry_bytes - 1 > m->most_reserved_bytes ? m->retry_bytes - 1 : m->most_reserved_bytes;
}

/* Streams are released in the order of their handles. */
static void rank_streams(const struct plim_memory_trace *trace, uint16_t *rank)
{
    for (size_t i = 0; i < trace->n_streams; i++)
        for (size_t j = 0; j < trace->n_streams; j++)
            rank[i] = (uint16_t)(rank[i] + (trace->streams[j] < trace->streams[i]));
}

/* Versions whose entries name the pool try again for a MemPool; its id is (0, n), that of a capture (n, 0). */
static void find_retries(const struct plim_memory_trace *trace, size_t device, bool *has_retries)
{
    if (device >= trace->n_devices || !trace->devices[device].n_entries ||
        trace->entries[trace->devices[device].first_entry].pool == PLIM_TRACE_NO_POOL)
        return;
    for (size_t i = 1; i < trace->n_pools; i++)
        has_retries[i] = trace->pools[i].first == 0;
}

static int make(struct maker *m, size_t device, struct plim_error *reterr)
{
    struct plim_trace_before before;
    struct plim_memory_trace *trace = m->trace;
    m->out->n_streams = (uint16_t)trace->n_streams;
    m->out->n_pools = (uint16_t)trace->n_pools;
    m->out->stream_rank = plim_alloc(trace->n_streams + 1, sizeof *m->out->stream_rank);
    m->is_released = plim_alloc(trace->n_pools + 1, sizeof *m->is_released);
    m->out->has_retries = plim_alloc(trace->n_pools + 1, sizeof *m->out->has_retries);
    if (!m->out->stream_rank || !m->is_released || !m->out->has_retries)
        return plim_fail(reterr, PLIM_E_NOMEM, 0, "out of memory");
    rank_streams(trace, m->out->stream_rank);
    find_retries(trace, device, m->out->has_retries);
    int result = plim_trace_before_find(trace, device, &before, reterr);
    if (result < 0)
        return result;
    result = adopt_before(m, &before, reterr);
    plim_trace_before_done(&before);
    if (result < 0)
        return result;
    m->entries = plim_trace_history(trace, device, &m->n_entries);
    read_entries(m);
    return m->is_broken ? plim_fail(reterr, PLIM_E_NOMEM, 0, "out of memory") : 0;
}

int plim_trace_requests_make(struct plim_memory_trace *trace, size_t device, const struct plim_torch_settings *recorded,
                             struct plim_trace_requests *ret_requests, struct plim_error *reterr)
{
    *ret_requests = (struct plim_trace_requests){ 0 };
    struct maker m = { .trace = trace, .recorded = recorded, .out = ret_requests, .retry_bytes = UINT64_MAX };
    const int result = make(&m, device, reterr);
    plim_trace_live_done(&m.live);
    plim_free(m.is_released);
    if (result < 0)
        plim_trace_requests_done(ret_requests);
    return result;
}

void plim_trace_requests_done(struct plim_trace_requests *requests)
{
    plim_free(requests->events);
    plim_free(requests->entry_of);
    plim_free(requests->taken_by);
    plim_free(requests->id_bytes);
    plim_free(requests->segments);
    plim_free(requests->blocks);
    plim_free(requests->has_retries);
    plim_free(requests->stream_rank);
    *requests = (struct plim_trace_requests){ 0 };
}
