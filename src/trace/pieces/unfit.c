/* SPDX-License-Identifier: MIT */
#include "trace/pieces/pieces.h"

#include "base/mem.h"
#include "trace/holders.h"

#include <stdlib.h>

/*
 * Segments that are free as a whole, and still the driver gives new ones: requests come to be larger than those before,
 * and a segment takes no larger one than it was made for; or what is free is another stream's or pool's. Little of that
 * is in pieces, and a request that finds no room would give it back; until then nobody else has it, and of a card's
 * memory a multiple of what is used is gone.
 *
 * That a program reserves twice what it uses is usual where sizes vary, and comes to an end when all of them have been
 * there: this is told only when it goes on to the end of the history, again and again, or when it is far more than
 * that; and when other settings do without. Streams and pools come to an end as well (torch.cuda.Stream() has 32):
 * there have to be a dozen of them for which the driver gave segments though as much was free, and the same history
 * needs less with them in one.
 */
static const uint64_t least_bytes = 128 * PLIM_MIB; /* half a dozen segments of 20 MiB, as programs have at any time */
enum {
    LEAST_APART = 12,    /* streams, or pools */
    LEAST_TIMES = 2,     /* what is reserved, of the most that was in use */
    MUCH_TIMES = 3,      /* the same; then it need not go on */
    LEAST_RISE = 16,     /* of what is reserved, 1/16 has to come in the third quarter, and as much in the last */
    LEAST_PIN_SHARE = 4, /* of new segments, 1/4 has to be for a line */
    LEAST_BURSTS = 4,    /* of new segments in the second half: sizes that are drawn have 0.7 new largest ones there */
    N_BURSTS = 100,      /* of a history without a loop at the most; else those of a turn are one */
    N_QUARTERS = 4,
};

struct finder {
    const struct plim_memory_trace *trace;
    const struct plim_trace_requests *requests;
    const struct plim_trace_loop *loop;
    struct plim_trace_pin *pins;     /* by stack; the last has none */
    uint64_t most_bytes[N_QUARTERS]; /* reserved */
    bool *has_stream, *has_pool;     /* segments were given for it though as much was free */
    size_t n_bursts, last;           /* of that in the second half, and the event that the last begins with */
};

/* A request for which the driver gave segments though as much was free. */
static void note(struct finder *f, const struct plim_torch_event *event, uint64_t free_bytes, uint64_t given_bytes)
{
    if (event->kind != PLIM_TORCH_TAKE || !given_bytes || free_bytes < event->bytes)
        return;
    const uint32_t of = f->loop->stacks[event->id], stack = of < f->trace->n_stacks ? of : (uint32_t)f->trace->n_stacks;
    f->pins[stack].held_bytes += given_bytes;
    f->pins[stack].n++;
    f->has_stream[event->stream] = f->has_pool[event->pool] = true;
    const size_t n = f->requests->n_events, at = (size_t)(event - f->requests->events);
    if (event->bytes <= PLIM_TORCH_SMALL_BYTES || at < n / 2)
        return;
    const bool is_same =
        f->loop->turns[at] ? f->loop->turns[at] == f->loop->turns[f->last] : at - f->last <= n / N_BURSTS;
    if (f->n_bursts && is_same)
        return;
    f->n_bursts++;
    f->last = at;
}

static int follow(struct finder *f, struct plim_torch_allocator *allocator, size_t then,
                  struct plim_trace_pieces *pieces, struct plim_error *reterr)
{
    const struct plim_torch_result *now = plim_torch_allocator_result(allocator);
    const size_t n = f->requests->n_events;
    for (size_t i = 0; i < n; i++) {
        const uint64_t reserved = now->reserved_bytes, free_bytes = reserved - now->allocated_bytes;
        uint64_t *most = &f->most_bytes[i * N_QUARTERS / n];
        const int result = plim_torch_allocator_run(allocator, &f->requests->events[i], 1, reterr);
        if (result < 0)
            return result;
        const uint64_t given = now->reserved_bytes > reserved ? now->reserved_bytes - reserved : 0;
        const struct plim_trace_share share = { f->requests->entry_of[i], now->reserved_bytes, now->allocated_bytes,
                                                now->inactive_split_bytes };
        note(f, &f->requests->events[i], free_bytes, given);
        *most = now->reserved_bytes > *most ? now->reserved_bytes : *most;
        if (i == then)
            pieces->then = share;
        if ((i + 1) * PLIM_TRACE_N_SHARES / n != i * PLIM_TRACE_N_SHARES / n)
            pieces->shares[pieces->n_shares++] = share;
    }
    return 0;
}

static bool is_far_more(const struct plim_torch_result *result)
{
    return result->reserved_peak_bytes >= MUCH_TIMES * result->allocated_peak_bytes;
}

static bool is_rising(const struct finder *f)
{
    for (size_t q = N_QUARTERS / 2; q < N_QUARTERS; q++)
        if (f->most_bytes[q] < f->most_bytes[q - 1] + f->most_bytes[N_QUARTERS - 1] / LEAST_RISE)
            return false;
    return f->n_bursts >= LEAST_BURSTS;
}

static int by_bytes(const void *a, const void *b)
{
    const struct plim_trace_pin *x = a, *y = b;
    return x->held_bytes != y->held_bytes ? (x->held_bytes < y->held_bytes) - (x->held_bytes > y->held_bytes)
                                          : (x->frame > y->frame) - (x->frame < y->frame);
}

static void name_lines(struct finder *f, struct plim_trace_pieces *pieces)
{
    const uint64_t unused = pieces->then.reserved_bytes - pieces->then.allocated_bytes;
    uint64_t given = 0;
    size_t n = 0;
    for (uint32_t i = 0; i <= f->trace->n_stacks; i++) {
        if (!f->pins[i].n)
            continue;
        const uint32_t stack = i < f->trace->n_stacks ? i : PLIM_TRACE_NO_STACK;
        const bool is_in_loop = stack == i && f->loop->frame != PLIM_TRACE_NO_STACK;
        const uint32_t call = is_in_loop ? f->loop->calls[i] : PLIM_TRACE_NO_STACK;
        given += f->pins[i].held_bytes;
        f->pins[n] = f->pins[i];
        f->pins[n].frame = plim_trace_frame_of(f->trace, stack);
        f->pins[n++].call = call != PLIM_TRACE_NO_STACK ? call : plim_trace_caller_of(f->trace, stack);
    }
    n = plim_trace_pins_unite(f->trace, f->pins, n);
    if (n > 1)
        qsort(f->pins, n, sizeof *f->pins, by_bytes);
    for (size_t i = 0; i < n && i < PLIM_TRACE_MAX_PINS && f->pins[i].held_bytes >= given / LEAST_PIN_SHARE; i++) {
        f->pins[i].free_bytes = (uint64_t)((double)unused * ((double)f->pins[i].held_bytes / (double)given));
        pieces->pins[pieces->n_pins++] = f->pins[i];
    }
}

static bool are_many(const bool *has, size_t n)
{
    size_t n_had = 0;
    for (size_t i = 0; i < n; i++)
        n_had += has[i];
    return n_had >= LEAST_APART;
}

/* Notes the streams, or the pools, if with them in one the same history reserves so much at the most. */
static int try_in_one(const struct finder *f, size_t device, const struct plim_trace_conditions *conditions,
                      enum plim_trace_apart apart, uint64_t most_bytes, struct plim_trace_pieces *pieces,
                      struct plim_error *reterr)
{
    struct plim_trace_replay replay = { 0 };
    const bool is_tried = apart == PLIM_TRACE_APART_STREAMS ? are_many(f->has_stream, f->requests->n_streams)
                                                            : are_many(f->has_pool, f->requests->n_pools);
    if (!is_tried || pieces->settings[0] || pieces->apart)
        return 0;
    const int result = plim_trace_apart_replay(f->trace, device, f->requests, conditions, apart, &replay, reterr);
    if (result < 0 || replay.oom_entry != UINT32_MAX || replay.result.reserved_peak_bytes > most_bytes)
        return result;
    pieces->apart = apart;
    pieces->reserved_peak_bytes = replay.result.reserved_peak_bytes;
    return 0;
}

static int find(struct finder *f, size_t device, const struct plim_trace_conditions *conditions,
                const struct plim_trace_replay *recorded, struct plim_trace_pieces *pieces, struct plim_error *reterr)
{
    struct plim_trace_run run;
    const uint64_t reserved = recorded->result.reserved_peak_bytes, live = recorded->result.allocated_peak_bytes;
    int result = plim_trace_run_open(f->trace, device, f->requests, conditions, NULL, NULL, &run, reterr);
    if (result < 0)
        return result;
    result = follow(f, run.allocator, recorded->result.reserved_peak_at, pieces, reterr);
    plim_trace_run_done(&run);
    if (result < 0)
        return result;
    name_lines(f, pieces);
    const uint64_t most = reserved - (reserved - live) / 2; /* less by at least half of what was never in use */
    if (is_rising(f) || is_far_more(&recorded->result))
        result = plim_trace_pieces_try(f->trace, device, f->requests, conditions, most, pieces, reterr);
    if (result == 0)
        result = try_in_one(f, device, conditions, PLIM_TRACE_APART_STREAMS, most, pieces, reterr);
    if (result == 0)
        result = try_in_one(f, device, conditions, PLIM_TRACE_APART_POOLS, most, pieces, reterr);
    pieces->is_found = pieces->is_unfit = pieces->n_pins && (pieces->settings[0] || pieces->apart);
    return result;
}

int plim_trace_unfit_find(const struct plim_memory_trace *trace, size_t device,
                          const struct plim_trace_requests *requests, const struct plim_trace_loop *loop,
                          const struct plim_trace_conditions *conditions, const struct plim_trace_replay *recorded,
                          struct plim_trace_pieces *ret_pieces, struct plim_error *reterr)
{
    struct plim_trace_pieces pieces = { 0 };
    struct finder f = { .trace = trace, .requests = requests, .loop = loop };
    const uint64_t reserved = recorded->result.reserved_peak_bytes, live = recorded->result.allocated_peak_bytes;
    if (!requests->n_events || recorded->oom_entry != UINT32_MAX || reserved < LEAST_TIMES * live ||
        reserved - live < least_bytes)
        return 0;
    f.pins = plim_alloc(trace->n_stacks + 1, sizeof *f.pins);
    f.has_stream = plim_alloc(requests->n_streams, sizeof *f.has_stream);
    f.has_pool = plim_alloc(requests->n_pools, sizeof *f.has_pool);
    const bool has_room = f.pins && f.has_stream && f.has_pool;
    const int result = has_room ? find(&f, device, conditions, recorded, &pieces, reterr)
                                : plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    plim_free(f.has_pool);
    plim_free(f.has_stream);
    plim_free(f.pins);
    if (pieces.is_found)
        *ret_pieces = pieces;
    return result;
}
