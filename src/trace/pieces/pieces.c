/* SPDX-License-Identifier: MIT */
#include "trace/pieces/pieces.h"

#include "base/mem.h"
#include "trace/holders.h"

#include <stdio.h>
#include <stdlib.h>

/* Segments for small requests are never full: less than a few of them is nothing to tell of. */
static const uint64_t least_bytes = 64 * PLIM_MIB;
enum {
    LEAST_SHARE = 8,     /* of what cannot be given back, 1/8 has to be in pieces */
    LARGE_SHARE = 3,     /* that much is told even if no setting does better */
    LEAST_PIN_SHARE = 4, /* of what is in pieces, 1/4 has to be in segments that a line holds */
};

/* Mildest first. */
static const char *const usual_settings[] = {
    "expandable_segments:True",
    "max_split_size_mb:128",
    "roundup_power2_divisions:8",
};

struct finder {
    const struct plim_memory_trace *trace;
    const struct plim_trace_entry *entries;
    const struct plim_trace_requests *requests;
    const struct plim_trace_loop *loop;
    uint32_t *turn_of;           /* by id: when it was taken */
    uint32_t turn;               /* now */
    struct plim_trace_pin *pins; /* one for each block of a mostly free segment */
    size_t n_pins, room;
    bool is_broken;
};

static uint32_t stack_of(const struct finder *f, uint32_t id)
{
    const uint32_t by = f->requests->taken_by[id];
    if (id >= f->requests->n_before)
        return f->loop->stacks[id];
    return by < f->trace->n_blocks ? f->trace->blocks[by].stack : PLIM_TRACE_NO_STACK;
}

/* What the turn under way holds goes with it. */
static bool is_earlier(const struct finder *f, uint32_t id) { return !f->turn || f->turn_of[id] < f->turn; }

static void add_pin(struct finder *f, struct plim_trace_pin pin)
{
    if (f->n_pins == f->room) {
        const size_t room = f->room ? 2 * f->room : 256;
        struct plim_trace_pin *pins = plim_realloc(f->pins, room, sizeof *pins);
        if (!pins) {
            f->is_broken = true;
            return;
        }
        f->pins = pins;
        f->room = room;
    }
    f->pins[f->n_pins++] = pin;
}

static struct plim_trace_pin pin_of(const struct finder *f, const struct plim_torch_part *part)
{
    const uint32_t stack = stack_of(f, part->id);
    const bool is_in_loop = stack < f->trace->n_stacks && f->turn_of[part->id];
    const uint32_t call = is_in_loop ? f->loop->calls[stack] : PLIM_TRACE_NO_STACK;
    return (struct plim_trace_pin){ .frame = plim_trace_frame_of(f->trace, stack),
                                    .call = call != PLIM_TRACE_NO_STACK ? call : plim_trace_caller_of(f->trace, stack),
                                    .held_bytes = part->bytes,
                                    .n = 1 };
}

static void look_at_segment(void *finder, const struct plim_torch_part *parts, size_t n_parts)
{
    struct finder *f = finder;
    uint64_t held = 0, unused = 0;
    for (size_t i = 0; i < n_parts; i++) {
        if (parts[i].id == UINT32_MAX)
            unused += parts[i].bytes;
        else if (is_earlier(f, parts[i].id))
            held += parts[i].bytes;
    }
    for (size_t i = 0; i < n_parts && held && unused; i++) {
        if (parts[i].id == UINT32_MAX || !is_earlier(f, parts[i].id))
            continue;
        struct plim_trace_pin pin = pin_of(f, &parts[i]);
        pin.free_bytes = (uint64_t)((double)unused * ((double)parts[i].bytes / (double)held));
        add_pin(f, pin);
    }
}

static uint64_t line_of(const struct plim_memory_trace *trace, uint32_t frame)
{
    if (frame == PLIM_TRACE_NO_STACK)
        return UINT64_MAX;
    return (uint64_t)trace->frames[frame].file << 32 | trace->frames[frame].line;
}

size_t plim_trace_pins_unite(const struct plim_memory_trace *trace, struct plim_trace_pin *pins, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        size_t at = 0;
        while (at < kept && (line_of(trace, pins[at].frame) != line_of(trace, pins[i].frame) ||
                             line_of(trace, pins[at].call) != line_of(trace, pins[i].call)))
            at++;
        if (at == kept) {
            pins[kept++] = pins[i];
            continue;
        }
        pins[at].held_bytes += pins[i].held_bytes;
        pins[at].free_bytes += pins[i].free_bytes;
        pins[at].n += pins[i].n;
    }
    return kept;
}

static int by_free_bytes(const void *a, const void *b)
{
    const struct plim_trace_pin *x = a, *y = b;
    return x->free_bytes != y->free_bytes ? (x->free_bytes < y->free_bytes) - (x->free_bytes > y->free_bytes)
                                          : (x->frame > y->frame) - (x->frame < y->frame);
}

static struct plim_trace_share share_of(const struct finder *f, const struct plim_torch_result *now, size_t event)
{
    return (struct plim_trace_share){ f->requests->entry_of[event], now->reserved_bytes, now->allocated_bytes,
                                      now->inactive_split_bytes };
}

static bool is_much(const struct plim_trace_share *share, uint64_t part)
{
    const uint64_t bound = share->pieces_bytes + share->allocated_bytes;
    return share->pieces_bytes >= least_bytes && share->pieces_bytes >= bound / part;
}

static void name_pins(struct finder *f, struct plim_trace_pieces *pieces)
{
    if (!f->pins)
        return;
    f->n_pins = plim_trace_pins_unite(f->trace, f->pins, f->n_pins);
    if (f->n_pins > 1)
        qsort(f->pins, f->n_pins, sizeof *f->pins, by_free_bytes);
    for (size_t i = 0; i < f->n_pins && i < PLIM_TRACE_MAX_PINS; i++)
        if (f->pins[i].free_bytes >= pieces->then.pieces_bytes / LEAST_PIN_SHARE)
            pieces->pins[pieces->n_pins++] = f->pins[i];
}

/* The history up to its moment, and on to its end. */
static int follow(struct finder *f, struct plim_torch_allocator *allocator, size_t then,
                  struct plim_trace_pieces *pieces, struct plim_error *reterr)
{
    const struct plim_torch_result *now = plim_torch_allocator_result(allocator);
    const size_t n = f->requests->n_events;
    for (size_t i = 0; i < n; i++) {
        const struct plim_torch_event *event = &f->requests->events[i];
        const int result = plim_torch_allocator_run(allocator, event, 1, reterr);
        if (result < 0)
            return result;
        f->turn = f->loop->turns[i];
        if (event->kind == PLIM_TORCH_TAKE)
            f->turn_of[event->id] = f->turn;
        if (i == then) {
            pieces->then = share_of(f, now, i);
            f->is_broken |= !plim_torch_allocator_parts(allocator, look_at_segment, f);
        }
        if ((i + 1) * PLIM_TRACE_N_SHARES / n != i * PLIM_TRACE_N_SHARES / n)
            pieces->shares[pieces->n_shares++] = share_of(f, now, i);
    }
    return f->is_broken ? plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory") : 0;
}

int plim_trace_pieces_try(const struct plim_memory_trace *trace, size_t device,
                          const struct plim_trace_requests *requests, const struct plim_trace_conditions *conditions,
                          uint64_t most_bytes, struct plim_trace_pieces *pieces, struct plim_error *reterr)
{
    for (size_t i = 0; i < sizeof usual_settings / sizeof *usual_settings && !pieces->settings[0]; i++) {
        struct plim_trace_conditions other = *conditions;
        struct plim_trace_replay replay = { 0 };
        other.are_recorded = false;
        int result = plim_torch_settings_parse(&other.settings, usual_settings[i], reterr);
        if (result == 0)
            result = plim_trace_replay(trace, device, requests, &other, &replay, reterr);
        if (result < 0)
            return result;
        if (replay.oom_entry != UINT32_MAX || replay.result.reserved_peak_bytes > most_bytes)
            continue;
        snprintf(pieces->settings, sizeof pieces->settings, "%s", usual_settings[i]);
        pieces->reserved_peak_bytes = replay.result.reserved_peak_bytes;
    }
    return 0;
}

static int find(struct finder *f, size_t device, const struct plim_trace_conditions *conditions,
                const struct plim_trace_replay *recorded, struct plim_trace_pieces *pieces, struct plim_error *reterr)
{
    struct plim_trace_run run;
    pieces->is_oom = recorded->oom_entry != UINT32_MAX;
    const size_t then = pieces->is_oom ? recorded->result.oom_at : recorded->result.bound_peak_at;
    int result = plim_trace_run_open(f->trace, device, f->requests, conditions, NULL, NULL, &run, reterr);
    if (result < 0)
        return result;
    result = follow(f, run.allocator, then, pieces, reterr);
    plim_trace_run_done(&run);
    if (result < 0 || !is_much(&pieces->then, LEAST_SHARE))
        return result;
    name_pins(f, pieces);
    if (!pieces->is_oom) /* by at least half of what was in pieces */
        result =
            plim_trace_pieces_try(f->trace, device, f->requests, conditions,
                                  recorded->result.bound_peak_bytes - pieces->then.pieces_bytes / 2, pieces, reterr);
    /* What the turn under way holds alone, by which no line is named, goes with it. */
    pieces->is_found =
        pieces->is_oom || (pieces->n_pins && (pieces->settings[0] || is_much(&pieces->then, LARGE_SHARE)));
    return result;
}

int plim_trace_pieces_find(const struct plim_memory_trace *trace, size_t device,
                           const struct plim_trace_requests *requests, const struct plim_trace_loop *loop,
                           const struct plim_trace_conditions *conditions, const struct plim_trace_replay *recorded,
                           struct plim_trace_pieces *ret_pieces, struct plim_error *reterr)
{
    size_t n_entries;
    struct finder f = { .trace = trace, .requests = requests, .loop = loop };
    *ret_pieces = (struct plim_trace_pieces){ 0 };
    f.entries = plim_trace_history(trace, device, &n_entries);
    if (!requests->n_events || recorded->result.inactive_split_peak_bytes < least_bytes)
        return 0;
    f.turn_of = plim_alloc((size_t)requests->n_ids + 1, sizeof *f.turn_of);
    if (!f.turn_of)
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    const int result = find(&f, device, conditions, recorded, ret_pieces, reterr);
    plim_free(f.turn_of);
    plim_free(f.pins);
    return result;
}
