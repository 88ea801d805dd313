/* SPDX-License-Identifier: MIT */
#include "report/trace/pack.h"

#include "base/mem.h"
#include "trace/holders.h"
#include "trace/step/told.h"

#include <stdlib.h>
#include <string.h>

/* Rows as they are written. */
struct numbered {
    uint32_t *number; /* of each row of the trace, + 1; 0: not used */
    uint32_t *firsts; /* the row that a number stands for */
    size_t n;
};

struct packer {
    const struct plim_memory_trace *trace;
    const struct plim_trace_analysis *analysis;
    const struct plim_trace_entry *entries;
    size_t n_entries;
    const struct plim_pack_sink *sink;
    struct numbered stacks, frames;
    uint32_t *texts; /* of these frames, in order */
    size_t n_texts;
    uint32_t *event_of;    /* for each entry: its event + 1 */
    uint64_t *block_bytes; /* for each allocation, of a replay */
    uint8_t *pillar_of;
    uint64_t last_address, last_us;
    uint16_t last_stream;
};

static void put_number(const struct packer *p, uint64_t value)
{
    uint8_t bytes[10];
    size_t n = 0;
    for (; value >= 0x80; value >>= 7)
        bytes[n++] = (uint8_t)(value | 0x80);
    bytes[n++] = (uint8_t)value;
    p->sink->write(p->sink->to, bytes, n);
}

static void put_signed(const struct packer *p, uint64_t difference)
{
    put_number(p, difference << 1 ^ (difference >> 63 ? UINT64_MAX : 0));
}

/* --- texts, frames, stacks: those that the history names, each once --- */

/* Rows of a trace that are numbered by their contents. */
struct kind {
    uint64_t (*hash)(const struct packer *p, uint32_t row);
    bool (*are_equal)(const struct packer *p, uint32_t a, uint32_t b);
};

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 29;
}

static uint64_t hash_frame(const struct packer *p, uint32_t row)
{
    const struct plim_trace_frame *frame = &p->trace->frames[row];
    return mix(mix(mix(1, frame->file), frame->name), frame->line);
}

static bool are_frames_equal(const struct packer *p, uint32_t a, uint32_t b)
{
    const struct plim_trace_frame *x = &p->trace->frames[a], *y = &p->trace->frames[b];
    return x->file == y->file && x->name == y->name && x->line == y->line;
}

static uint32_t frame_in(const struct packer *p, uint32_t stack, uint32_t nth)
{
    return p->frames.number[p->trace->stack_frames[p->trace->stacks[stack].first + nth]];
}

static uint64_t hash_stack(const struct packer *p, uint32_t row)
{
    uint64_t hash = 1;
    for (uint32_t i = 0; i < p->trace->stacks[row].n; i++)
        hash = mix(hash, frame_in(p, row, i));
    return hash;
}

static bool are_stacks_equal(const struct packer *p, uint32_t a, uint32_t b)
{
    const uint32_t n = p->trace->stacks[a].n;
    uint32_t same = 0;
    if (n != p->trace->stacks[b].n)
        return false;
    while (same < n && frame_in(p, a, same) == frame_in(p, b, same))
        same++;
    return same == n;
}

/* Numbers the rows that are used, equal ones with one number; and lists the first of each. */
static bool number_rows(const struct packer *p, struct numbered *rows, size_t n, const struct kind *kind)
{
    size_t n_used = 0, room = 64;
    for (size_t i = 0; i < n; i++)
        n_used += rows->number[i] != 0;
    while (room < 2 * n_used)
        room *= 2;
    uint32_t *places = plim_alloc(room, sizeof *places); /* numbers, by hash; 0 is empty */
    rows->firsts = plim_alloc_unset(n_used + 1, sizeof *rows->firsts);
    for (uint32_t i = 0; places && rows->firsts && i < n; i++) {
        if (!rows->number[i])
            continue;
        size_t at = (size_t)kind->hash(p, i) & (room - 1);
        while (places[at] && !kind->are_equal(p, rows->firsts[places[at] - 1], i))
            at = (at + 1) & (room - 1);
        if (!places[at]) {
            rows->firsts[rows->n++] = i;
            places[at] = (uint32_t)rows->n;
        }
        rows->number[i] = places[at];
    }
    const bool has_memory = places && rows->firsts;
    plim_free(places);
    return has_memory;
}

static uint32_t stack_of_id(const struct packer *p, uint32_t id)
{
    return plim_trace_stack_of(p->trace, p->analysis->device, &p->analysis->requests, id);
}

static void use(struct packer *p, uint32_t stack)
{
    const struct plim_memory_trace *trace = p->trace;
    if (stack >= trace->n_stacks || p->stacks.number[stack])
        return;
    p->stacks.number[stack] = 1;
    for (uint32_t i = 0; i < trace->stacks[stack].n; i++)
        p->frames.number[trace->stack_frames[trace->stacks[stack].first + i]] = 1;
}

static int by_number(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static bool list_texts(struct packer *p)
{
    const size_t n = 2 * p->frames.n;
    p->texts = plim_alloc_unset(n + 1, sizeof *p->texts);
    if (!p->texts)
        return false;
    for (size_t i = 0; i < p->frames.n; i++) {
        p->texts[2 * i] = p->trace->frames[p->frames.firsts[i]].file;
        p->texts[2 * i + 1] = p->trace->frames[p->frames.firsts[i]].name;
    }
    qsort(p->texts, n, sizeof *p->texts, by_number);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || p->texts[i] != p->texts[i - 1])
            p->texts[p->n_texts++] = p->texts[i];
    return true;
}

static bool list_used(struct packer *p)
{
    static const struct kind frames = { hash_frame, are_frames_equal }, stacks = { hash_stack, are_stacks_equal };
    const struct plim_memory_trace *trace = p->trace;
    p->stacks.number = plim_alloc(trace->n_stacks + 1, sizeof *p->stacks.number);
    p->frames.number = plim_alloc(trace->n_frames + 1, sizeof *p->frames.number);
    if (!p->stacks.number || !p->frames.number)
        return false;
    for (uint32_t id = 0; id < p->analysis->requests.n_ids; id++)
        use(p, stack_of_id(p, id));
    return number_rows(p, &p->frames, trace->n_frames, &frames) &&
           number_rows(p, &p->stacks, trace->n_stacks, &stacks) && list_texts(p);
}

static void put_text_number(const struct packer *p, uint32_t text)
{
    const uint32_t *found = bsearch(&text, p->texts, p->n_texts, sizeof text, by_number);
    put_number(p, found ? (uint64_t)(found - p->texts) : 0);
}

static void put_stacks(const struct packer *p)
{
    const struct plim_memory_trace *trace = p->trace;
    put_number(p, p->n_texts);
    for (size_t i = 0; i < p->n_texts; i++) {
        const char *text = trace->text + p->texts[i];
        put_number(p, strlen(text));
        p->sink->write(p->sink->to, (const uint8_t *)text, strlen(text));
    }
    put_number(p, p->frames.n);
    for (size_t i = 0; i < p->frames.n; i++) {
        const struct plim_trace_frame *frame = &trace->frames[p->frames.firsts[i]];
        put_text_number(p, frame->file);
        put_number(p, frame->line);
        put_text_number(p, frame->name);
    }
    put_number(p, p->stacks.n);
    for (size_t i = 0; i < p->stacks.n; i++) {
        const uint32_t stack = p->stacks.firsts[i], frame = plim_trace_frame_of(trace, stack);
        put_number(p, frame == PLIM_TRACE_NO_STACK ? 0 : p->frames.number[frame]);
        put_number(p, trace->stacks[stack].n);
        for (uint32_t f = 0; f < trace->stacks[stack].n; f++)
            put_number(p, frame_in(p, stack, f) - 1);
    }
}

static uint32_t stack_number(const struct packer *p, uint32_t stack)
{
    return stack < p->trace->n_stacks ? p->stacks.number[stack] : 0;
}

/* --- what was there before --- */

static void put_handles(const struct packer *p)
{
    put_number(p, p->trace->n_streams);
    for (size_t i = 0; i < p->trace->n_streams; i++)
        put_number(p, p->trace->streams[i]);
    put_number(p, p->trace->n_pools);
    for (size_t i = 0; i < p->trace->n_pools; i++) {
        put_number(p, p->trace->pools[i].first);
        put_number(p, p->trace->pools[i].second);
    }
}

/* Streams of requests are in the order of their handles. */
static uint16_t stream_of_rank(const struct packer *p, uint16_t rank)
{
    for (size_t i = 0; i < p->trace->n_streams; i++)
        if (p->analysis->requests.stream_rank[i] == rank)
            return (uint16_t)i;
    return 0;
}

struct place {
    uint64_t address, bytes; /* 0 bytes: unknown */
};

static void put_segments(const struct packer *p, struct place *places)
{
    const struct plim_trace_requests *requests = &p->analysis->requests;
    put_number(p, requests->n_segments);
    for (size_t i = 0; i < requests->n_segments; i++) {
        const struct plim_torch_segment_before *segment = &requests->segments[i];
        uint64_t address = segment->address;
        for (size_t b = 0; b < segment->n_blocks; b++) {
            const struct plim_torch_block_before *block = &segment->blocks[b];
            if (block->id < requests->n_before)
                places[block->id] = (struct place){ address, block->bytes };
            address += block->bytes;
        }
        put_number(p, segment->address);
        put_number(p, address - segment->address);
        put_number(p, stream_of_rank(p, segment->stream));
        put_number(p, segment->pool);
        put_number(p, (unsigned)segment->is_small | (unsigned)segment->is_expandable << 1);
    }
}

static bool put_before(const struct packer *p)
{
    const struct plim_trace_requests *requests = &p->analysis->requests;
    struct place *places = plim_alloc((size_t)requests->n_before + 1, sizeof *places);
    if (!places)
        return false;
    put_segments(p, places);
    put_number(p, requests->n_before);
    for (uint32_t id = 0; id < requests->n_before; id++) {
        put_number(p, places[id].bytes ? places[id].address + 1 : 0);
        put_number(p, requests->id_bytes[id]);
        put_number(p, places[id].bytes);
        put_number(p, stack_number(p, stack_of_id(p, id)));
        put_number(p, p->pillar_of[id]);
    }
    plim_free(places);
    return true;
}

/* --- the history --- */

static void put_head(struct packer *p, const struct plim_trace_entry *entry, unsigned code, bool has_address)
{
    const uint64_t difference = entry->address - p->last_address;
    if (has_address && difference % 512)
        code |= PLIM_PACK_ODD_ADDRESS;
    if (has_address && entry->stream != p->last_stream)
        code |= PLIM_PACK_STREAM;
    p->sink->write(p->sink->to, &(uint8_t){ (uint8_t)code }, 1);
    put_signed(p, entry->time_us - p->last_us);
    p->last_us = entry->time_us;
    if (!has_address)
        return;
    if (code & PLIM_PACK_ODD_ADDRESS)
        put_signed(p, difference);
    else
        put_signed(p, (uint64_t)((int64_t)difference / 512));
    if (code & PLIM_PACK_STREAM)
        put_number(p, entry->stream);
    p->last_address = entry->address;
    p->last_stream = entry->stream;
}

static void put_alloc(struct packer *p, const struct plim_trace_entry *entry, uint32_t id)
{
    const uint64_t block_bytes =
        p->block_bytes[id] ? p->block_bytes[id] : plim_torch_round(&p->analysis->settings, entry->bytes);
    const uint64_t rounded = entry->bytes ? (entry->bytes + 511) / 512 * 512 : 512;
    put_head(p, entry, (unsigned)entry->action | (block_bytes != rounded ? PLIM_PACK_BLOCK : 0), true);
    put_number(p, entry->bytes);
    if (block_bytes != rounded)
        put_number(p, block_bytes);
    put_number(p, stack_number(p, entry->stack));
    put_number(p, p->pillar_of[id]);
}

/* Returns the entry behind it. */
static size_t put_free(struct packer *p, size_t at, uint32_t n_ids)
{
    const struct plim_trace_entry *entry = &p->entries[at];
    const struct plim_torch_event *event = p->event_of[at] ? &p->analysis->requests.events[p->event_of[at] - 1] : NULL;
    if (!event || event->id >= n_ids) {
        put_head(p, entry, (unsigned)entry->action | PLIM_PACK_UNKNOWN, false);
        return at + 1;
    }
    const bool is_at_once = event->kind == PLIM_TORCH_GIVE && at + 1 < p->n_entries;
    put_head(p, entry, is_at_once ? PLIM_PACK_FREED : (unsigned)entry->action, false);
    put_number(p, n_ids - 1 - event->id);
    if (!is_at_once)
        return at + 1;
    put_signed(p, p->entries[at + 1].time_us - p->last_us);
    p->last_us = p->entries[at + 1].time_us;
    return at + 2;
}

static size_t put_entry(struct packer *p, size_t at, uint32_t *n_ids)
{
    const struct plim_trace_entry *entry = &p->entries[at];
    switch (entry->action) {
    case PLIM_TRACE_ALLOC:
        put_alloc(p, entry, (*n_ids)++);
        return at + 1;
    case PLIM_TRACE_OOM:
        put_head(p, entry, entry->action, false);
        put_number(p, entry->bytes);
        put_number(p, entry->address);
        put_number(p, stack_number(p, entry->stack));
        ++*n_ids;
        return at + 1;
    case PLIM_TRACE_FREE_REQUESTED:
    case PLIM_TRACE_FREE_COMPLETED:
        return put_free(p, at, *n_ids);
    case PLIM_TRACE_SEGMENT_ALLOC:
    case PLIM_TRACE_SEGMENT_FREE:
    case PLIM_TRACE_SEGMENT_MAP:
    case PLIM_TRACE_SEGMENT_UNMAP:
        put_head(p, entry, entry->action, true);
        put_number(p, entry->bytes);
        put_number(p, entry->pool < p->trace->n_pools ? entry->pool : 0);
        return at + 1;
    default:
        put_head(p, entry, entry->action, false);
        return at + 1;
    }
}

static bool tell_pillars(struct packer *p)
{
    const struct plim_trace_requests *requests = &p->analysis->requests;
    p->pillar_of = plim_alloc((size_t)requests->n_ids + 1, sizeof *p->pillar_of);
    return p->pillar_of && plim_trace_pillars_tell(p->trace, p->analysis->device, requests, p->pillar_of, NULL) == 0;
}

/* What a moment does not show: the block of an allocation, which may be larger than its request asks for. */
static bool find_blocks(struct packer *p)
{
    const struct plim_trace_analysis *analysis = p->analysis;
    struct plim_trace_replay replay;
    p->block_bytes = plim_alloc((size_t)analysis->requests.n_ids + 1, sizeof *p->block_bytes);
    const struct plim_trace_conditions conditions = {
        .settings = analysis->settings,
        .capacity_bytes = analysis->requests.room_bytes ? analysis->requests.room_bytes : UINT64_MAX,
        .are_recorded = true,
        .block_bytes = p->block_bytes,
    };
    return p->block_bytes &&
           plim_trace_replay(p->trace, analysis->device, &analysis->requests, &conditions, &replay, NULL) == 0;
}

static bool put_history(struct packer *p)
{
    const struct plim_trace_requests *requests = &p->analysis->requests;
    p->event_of = plim_alloc(p->n_entries + 1, sizeof *p->event_of);
    if (!p->event_of)
        return false;
    for (size_t i = 0; i < requests->n_events; i++)
        if (requests->entry_of[i] < p->n_entries)
            p->event_of[requests->entry_of[i]] = (uint32_t)i + 1;
    uint32_t n_ids = requests->n_before;
    p->last_us = p->n_entries ? p->entries[0].time_us : 0;
    put_number(p, p->n_entries);
    for (size_t at = 0; at < p->n_entries;)
        at = put_entry(p, at, &n_ids);
    return true;
}

int plim_trace_pack(const struct plim_trace_answer *answer, const struct plim_pack_sink *sink,
                    struct plim_error *reterr)
{
    struct packer p = { .trace = answer->trace, .analysis = answer->analysis, .sink = sink };
    p.entries = plim_trace_history(p.trace, p.analysis->device, &p.n_entries);
    bool has_memory = list_used(&p);
    if (has_memory) {
        put_stacks(&p);
        put_handles(&p);
        has_memory = tell_pillars(&p) && put_before(&p) && find_blocks(&p) && put_history(&p);
    }
    plim_free(p.stacks.number);
    plim_free(p.stacks.firsts);
    plim_free(p.frames.number);
    plim_free(p.frames.firsts);
    plim_free(p.texts);
    plim_free(p.block_bytes);
    plim_free(p.pillar_of);
    plim_free(p.event_of);
    return has_memory ? 0 : plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
}
