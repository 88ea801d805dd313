/* SPDX-License-Identifier: MIT */
#include "trace/growth.h"

#include "base/mem.h"
#include "trace/holders.h"
#include "trace/snapshot.h"

#include <stdlib.h>
#include <string.h>

enum {
    MAX_DEPTH = 32, /* from the outermost frame on; a loop deeper than that is not looked for */
    MAX_KEYS = 512,
    MAX_PROBES = 16, /* functions that find no place are not looked at */
    N_PARTS = 4,
    FIRST_TURNS = 2, /* warm-up */
    MOST_UNEVEN = 4, /* the part with the most bytes has at most so many times those of the least */
};

#define HASH UINT64_C(0x9E3779B97F4A7C15)

enum frame_kind { FRAME_NATIVE, FRAME_PYTHON, FRAME_MODULE };

/* How far a stack has been walked from outside; at its end, or at the call of a module, it is over. */
struct walk {
    uint64_t callers; /* hash of the lines so far */
    uint32_t next;    /* frames that are left; UINT32_MAX: over */
    bool has_module;
};

/* A function under the same callers. */
struct level_key {
    uint64_t key; /* 0: none */
    uint32_t line, frame;
    uint64_t n_turns, n_module_turns;
    bool has_module; /* in this turn */
};

struct finder {
    const struct plim_memory_trace *trace;
    const struct plim_trace_entry *entries;
    const struct plim_trace_requests *requests;
    uint8_t *kinds;     /* by frame */
    struct walk *walks; /* by stack */
    uint32_t *turns;    /* by event: the turn of the loop, from 1 on; 0: before it */
    size_t end;         /* the event behind the loop's last */
};

static bool ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text), n_end = strlen(end);
    return n >= n_end && strcmp(text + n - n_end, end) == 0;
}

/* False: no module is called anywhere, so there is no loop to look for. */
static bool sort_frames(struct finder *f)
{
    bool has_module = false;
    for (size_t i = 0; i < f->trace->n_frames; i++) {
        const struct plim_trace_frame *frame = &f->trace->frames[i];
        const char *file = plim_trace_words(f->trace, frame->file);
        const bool is_call = ends_with(file, "torch/nn/modules/module.py") &&
                             ends_with(plim_trace_words(f->trace, frame->name), "_call_impl");
        has_module |= is_call;
        f->kinds[i] = is_call ? FRAME_MODULE : ends_with(file, ".py") ? FRAME_PYTHON : FRAME_NATIVE;
    }
    for (size_t i = 0; i < f->trace->n_stacks; i++) {
        const struct plim_trace_stack *stack = &f->trace->stacks[i];
        f->walks[i].next = stack->n;
        for (uint32_t k = 0; k < stack->n && !f->walks[i].has_module; k++)
            f->walks[i].has_module = f->kinds[f->trace->stack_frames[stack->first + k]] == FRAME_MODULE;
    }
    return has_module;
}

/* The next frame of Python inwards, without a step; PLIM_TRACE_NO_STACK: over. */
static uint32_t frame_at(const struct finder *f, uint32_t stack)
{
    struct walk *walk = &f->walks[stack];
    const struct plim_trace_stack *s = &f->trace->stacks[stack];
    while (walk->next && walk->next != UINT32_MAX &&
           f->kinds[f->trace->stack_frames[s->first + walk->next - 1]] == FRAME_NATIVE)
        walk->next--;
    if (!walk->next || walk->next == UINT32_MAX)
        return PLIM_TRACE_NO_STACK;
    const uint32_t frame = f->trace->stack_frames[s->first + walk->next - 1];
    return f->kinds[frame] == FRAME_MODULE ? PLIM_TRACE_NO_STACK : frame;
}

/* False: all stacks are over. */
static bool step_inwards(struct finder *f)
{
    bool is_left = false;
    for (uint32_t i = 0; i < f->trace->n_stacks; i++) {
        const uint32_t number = frame_at(f, i);
        if (number == PLIM_TRACE_NO_STACK) {
            f->walks[i].next = UINT32_MAX;
            continue;
        }
        const struct plim_trace_frame *frame = &f->trace->frames[number];
        f->walks[i].callers = (f->walks[i].callers ^ ((uint64_t)frame->file << 32 | frame->line)) * HASH;
        f->walks[i].callers ^= f->walks[i].callers >> 29;
        f->walks[i].next--;
        is_left = true;
    }
    return is_left;
}

static uint64_t key_of(const struct finder *f, uint32_t stack, uint32_t frame)
{
    const struct plim_trace_frame *there = &f->trace->frames[frame];
    const uint64_t key = (f->walks[stack].callers ^ ((uint64_t)there->file << 32 | there->name)) * HASH;
    return key ? key : 1;
}

/* The stack of a request at this event; PLIM_TRACE_NO_STACK: it is none, or its stack is over. */
static uint32_t stack_at(const struct finder *f, size_t event, uint32_t *ret_frame)
{
    if (f->requests->events[event].kind != PLIM_TORCH_TAKE)
        return PLIM_TRACE_NO_STACK;
    const uint32_t stack = f->entries[f->requests->entry_of[event]].stack;
    if (stack >= f->trace->n_stacks)
        return PLIM_TRACE_NO_STACK;
    *ret_frame = frame_at(f, stack);
    return *ret_frame == PLIM_TRACE_NO_STACK ? PLIM_TRACE_NO_STACK : stack;
}

static struct level_key *find_key(struct level_key *keys, uint64_t key)
{
    for (size_t n = 0, i = key % MAX_KEYS; n < MAX_PROBES; n++, i = (i + 1) % MAX_KEYS)
        if (!keys[i].key || keys[i].key == key)
            return &keys[i];
    return NULL;
}

/* The line goes back: a turn is over. */
static bool is_turn(struct level_key *row, const struct plim_trace_frame *frame, uint32_t number, bool has_module)
{
    const bool is_back = row->line && frame->line < row->line;
    if (is_back || !row->line)
        row->frame = number;
    if (is_back) {
        row->n_turns++;
        row->n_module_turns += row->has_module;
        row->has_module = false;
    }
    row->has_module |= has_module;
    row->line = frame->line;
    return is_back;
}

/* The function at this depth whose turns call modules most often. */
static struct level_key best_of_level(const struct finder *f, struct level_key *keys)
{
    struct level_key best = { 0 };
    memset(keys, 0, MAX_KEYS * sizeof *keys);
    for (size_t i = 0; i < f->requests->n_events; i++) {
        uint32_t frame = 0;
        const uint32_t stack = stack_at(f, i, &frame);
        if (stack == PLIM_TRACE_NO_STACK)
            continue;
        struct level_key *row = find_key(keys, key_of(f, stack, frame));
        if (!row)
            continue;
        row->key = key_of(f, stack, frame);
        is_turn(row, &f->trace->frames[frame], frame, f->walks[stack].has_module);
    }
    for (size_t i = 0; i < MAX_KEYS; i++)
        if (keys[i].key && keys[i].n_module_turns > best.n_module_turns)
            best = keys[i];
    return best;
}

/* The outermost loop. */
static bool find_loop(struct finder *f, struct level_key *keys, struct level_key *ret_loop)
{
    bool is_left = true;
    for (unsigned depth = 0; depth < MAX_DEPTH && is_left; depth++) {
        *ret_loop = best_of_level(f, keys);
        if (ret_loop->n_module_turns >= PLIM_TRACE_LEAST_TURNS)
            return true;
        is_left = step_inwards(f);
    }
    return false;
}

static void number_turns(struct finder *f, uint64_t key)
{
    struct level_key row = { 0 };
    uint32_t turn = 0;
    for (size_t i = 0; i < f->requests->n_events; i++) {
        uint32_t frame = 0;
        const uint32_t stack = stack_at(f, i, &frame);
        if (stack != PLIM_TRACE_NO_STACK && key_of(f, stack, frame) == key) {
            turn += is_turn(&row, &f->trace->frames[frame], frame, false) || !turn;
            f->end = i + 1;
        }
        f->turns[i] = turn;
    }
}

/* --- what is held at the loop's end, by lines and turns --- */

struct held {
    uint64_t line, bytes;
    uint32_t frame, turn;
};

static int by_line_and_turn(const void *a, const void *b)
{
    const struct held *x = a, *y = b;
    if (x->line != y->line)
        return (x->line > y->line) - (x->line < y->line);
    return (x->turn > y->turn) - (x->turn < y->turn);
}

static int by_bytes(const void *a, const void *b)
{
    const struct plim_trace_growing *x = a, *y = b;
    return x->bytes != y->bytes ? (x->bytes < y->bytes) - (x->bytes > y->bytes)
                                : (x->frame > y->frame) - (x->frame < y->frame);
}

static bool is_growing(const uint64_t parts[N_PARTS])
{
    uint64_t least = UINT64_MAX, most = 0;
    for (size_t i = 0; i < N_PARTS; i++) {
        least = parts[i] < least ? parts[i] : least;
        most = parts[i] > most ? parts[i] : most;
    }
    return least > 0 && most / least < MOST_UNEVEN;
}

/* Rows of one line, in the order of their turns. */
static void judge(const struct held *rows, size_t n, uint64_t n_turns, struct plim_trace_growth *growth)
{
    uint64_t parts[N_PARTS] = { 0 };
    struct plim_trace_growing line = { .frame = rows[0].frame };
    for (size_t i = 0; i < n; i++) {
        line.bytes += rows[i].bytes;
        line.n++;
        line.n_turns += i == 0 || rows[i].turn != rows[i - 1].turn;
        if (rows[i].turn > FIRST_TURNS && rows[i].turn < n_turns)
            parts[(rows[i].turn - FIRST_TURNS - 1) * N_PARTS / (n_turns - FIRST_TURNS - 1)] += rows[i].bytes;
    }
    if (!is_growing(parts))
        return;
    if (growth->n_lines < PLIM_TRACE_MAX_GROWING)
        growth->lines[growth->n_lines++] = line;
    else if (line.bytes > growth->lines[growth->n_lines - 1].bytes)
        growth->lines[growth->n_lines - 1] = line;
    qsort(growth->lines, growth->n_lines, sizeof *growth->lines, by_bytes);
}

/* Takes in the loop that nothing gave back before its end. */
static size_t list_held(const struct finder *f, uint32_t *turn_of, struct held *rows)
{
    const struct plim_trace_requests *requests = f->requests;
    size_t n = 0;
    for (size_t i = 0; i < f->end; i++) {
        const struct plim_torch_event *event = &requests->events[i];
        if (event->kind == PLIM_TORCH_TAKE)
            turn_of[event->id] = f->entries[requests->entry_of[i]].action == PLIM_TRACE_OOM ? 0 : f->turns[i];
        else if (event->kind == PLIM_TORCH_GIVE || event->kind == PLIM_TORCH_GIVE_LATER)
            turn_of[event->id] = 0;
    }
    for (uint32_t id = requests->n_before; id < requests->n_ids; id++) {
        if (!turn_of[id])
            continue;
        const uint32_t frame = plim_trace_frame_of(f->trace, f->entries[requests->taken_by[id]].stack);
        if (frame == PLIM_TRACE_NO_STACK)
            continue;
        const uint64_t line = (uint64_t)f->trace->frames[frame].file << 32 | f->trace->frames[frame].line;
        rows[n++] = (struct held){ line, requests->id_bytes[id], frame, turn_of[id] };
    }
    return n;
}

static bool find_lines(const struct finder *f, struct plim_trace_growth *growth)
{
    uint32_t *turn_of = plim_alloc((size_t)f->requests->n_ids + 1, sizeof *turn_of);
    struct held *rows = turn_of ? plim_alloc_unset((size_t)f->requests->n_ids + 1, sizeof *rows) : NULL;
    const size_t n = rows ? list_held(f, turn_of, rows) : 0;
    if (n > 1)
        qsort(rows, n, sizeof *rows, by_line_and_turn);
    for (size_t from = 0, to; from < n; from = to) {
        for (to = from + 1; to < n && rows[to].line == rows[from].line; to++)
            ;
        judge(rows + from, to - from, growth->n_turns, growth);
    }
    plim_free(turn_of);
    plim_free(rows);
    return rows != NULL;
}

static bool find(struct finder *f, struct level_key *keys, struct plim_trace_growth *growth)
{
    struct level_key loop;
    if (!sort_frames(f) || !find_loop(f, keys, &loop))
        return true;
    number_turns(f, loop.key);
    growth->has_loop = true;
    growth->loop_frame = loop.frame;
    growth->n_turns = loop.n_turns + 1;
    return find_lines(f, growth);
}

int plim_trace_growth_find(const struct plim_memory_trace *trace, size_t device,
                           const struct plim_trace_requests *requests, struct plim_trace_growth *ret_growth,
                           struct plim_error *reterr)
{
    *ret_growth = (struct plim_trace_growth){ 0 };
    if (device >= trace->n_devices || !requests->n_events)
        return 0;
    struct finder f = { .trace = trace,
                        .entries = &trace->entries[trace->devices[device].first_entry],
                        .requests = requests };
    f.kinds = plim_alloc(trace->n_frames + 1, sizeof *f.kinds);
    f.walks = plim_alloc(trace->n_stacks + 1, sizeof *f.walks);
    f.turns = plim_alloc(requests->n_events + 1, sizeof *f.turns);
    struct level_key *keys = plim_alloc(MAX_KEYS, sizeof *keys);
    const bool is_done = f.kinds && f.walks && f.turns && keys && find(&f, keys, ret_growth);
    plim_free(f.kinds);
    plim_free(f.walks);
    plim_free(f.turns);
    plim_free(keys);
    return is_done ? 0 : plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
}
