/* SPDX-License-Identifier: MIT */
#include "trace/pieces.h"

#include "base/mem.h"
#include "trace/holders.h"

#include <stdlib.h>

/*
 * Segments that are free as a whole, and still the driver gives new ones: requests come to be larger than those before,
 * and a segment takes no larger one than it was made for. Little of that is in pieces, and a request that finds no room
 * would give it back; until then nobody else has it, and of a card's memory a multiple of what is used is gone.
 *
 * That a program reserves twice what it uses is usual where sizes vary, and comes to an end when all of them have been
 * there: this is told only when it goes on to the end of the history, and when other settings do without.
 */
static const uint64_t least_bytes = 256 * PLIM_MIB; /* a dozen segments of 20 MiB, as programs have them at any time */
enum {
    LEAST_TIMES = 2,     /* what is reserved, of the most that was in use */
    LEAST_RISE = 16,     /* of what is reserved, 1/16 has to come in the third quarter, and as much in the last */
    LEAST_PIN_SHARE = 4, /* of new segments, 1/4 has to be for a line */
    N_QUARTERS = 4,
};

struct finder {
    const struct plim_memory_trace *trace;
    const struct plim_trace_entry *entries;
    const struct plim_trace_requests *requests;
    const struct plim_trace_loop *loop;
    struct plim_trace_pin *pins;     /* by stack; the last has none */
    uint64_t most_bytes[N_QUARTERS]; /* reserved */
};

/* A request for which the driver gave segments though as much was free. */
static void note(struct finder *f, const struct plim_torch_event *event, uint32_t entry, uint64_t free_bytes,
                 uint64_t given_bytes)
{
    if (event->kind != PLIM_TORCH_TAKE || !given_bytes || free_bytes < event->bytes)
        return;
    const uint32_t of = f->entries[entry].stack, stack = of < f->trace->n_stacks ? of : (uint32_t)f->trace->n_stacks;
    f->pins[stack].held_bytes += given_bytes;
    f->pins[stack].n++;
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
        note(f, &f->requests->events[i], share.entry, free_bytes, given);
        *most = now->reserved_bytes > *most ? now->reserved_bytes : *most;
        if (i == then)
            pieces->then = share;
        if ((i + 1) * PLIM_TRACE_N_SHARES / n != i * PLIM_TRACE_N_SHARES / n)
            pieces->shares[pieces->n_shares++] = share;
    }
    return 0;
}

static bool is_rising(const struct finder *f)
{
    for (size_t q = N_QUARTERS / 2; q < N_QUARTERS; q++)
        if (f->most_bytes[q] < f->most_bytes[q - 1] + f->most_bytes[N_QUARTERS - 1] / LEAST_RISE)
            return false;
    return true;
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
    if (result < 0 || !is_rising(f))
        return result;
    name_lines(f, pieces);
    /* By at least half of what was never in use. */
    result = plim_trace_pieces_try(f->trace, device, f->requests, conditions, reserved - (reserved - live) / 2, pieces,
                                   reterr);
    pieces->is_found = pieces->is_unfit = pieces->n_pins && pieces->settings[0];
    return result;
}

int plim_trace_unfit_find(const struct plim_memory_trace *trace, size_t device,
                          const struct plim_trace_requests *requests, const struct plim_trace_loop *loop,
                          const struct plim_trace_conditions *conditions, const struct plim_trace_replay *recorded,
                          struct plim_trace_pieces *ret_pieces, struct plim_error *reterr)
{
    size_t n_entries;
    struct plim_trace_pieces pieces = { 0 };
    struct finder f = { .trace = trace, .requests = requests, .loop = loop };
    const uint64_t reserved = recorded->result.reserved_peak_bytes, live = recorded->result.allocated_peak_bytes;
    f.entries = plim_trace_history(trace, device, &n_entries);
    if (!requests->n_events || recorded->oom_entry != UINT32_MAX || reserved < LEAST_TIMES * live ||
        reserved - live < least_bytes)
        return 0;
    f.pins = plim_alloc(trace->n_stacks + 1, sizeof *f.pins);
    if (!f.pins)
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    const int result = find(&f, device, conditions, recorded, &pieces, reterr);
    plim_free(f.pins);
    if (pieces.is_found)
        *ret_pieces = pieces;
    return result;
}
