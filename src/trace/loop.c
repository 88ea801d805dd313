/* SPDX-License-Identifier: MIT */
#include "trace/loop.h"

#include "base/mem.h"
#include "trace/backward.h"
#include "trace/snapshot.h"

#include <string.h>

enum {
    MAX_DEPTH = 32, /* from the outermost frame on; a loop deeper than that is not looked for */
    MAX_KEYS = 512,
    MAX_PROBES = 16, /* functions that find no place are not looked at */
};

#define HASH UINT64_C(0x9E3779B97F4A7C15)

enum frame_kind { FRAME_NATIVE, FRAME_PYTHON, FRAME_WORK, FRAME_MODULE };

/*
 * How far a stack has been walked from outside. It is over at its end, and at the call of a module, of an optimizer or
 * of the backward pass: these have loops of their own, over layers and parameters.
 */
struct walk {
    uint64_t callers; /* hash of the lines so far */
    uint32_t next;    /* frames that are left; UINT32_MAX: over */
    uint32_t frame;   /* the next one; PLIM_TRACE_NO_STACK: over */
    uint32_t key;     /* the row of its function; MAX_KEYS: none */
    bool has_work;
};

/* Requests of one line, one after the other: they come back to the stack that they began with. */
struct run {
    uint32_t line, frame, first, last; /* first, last: stacks */
    uint64_t n_returns;
    bool has_work, has_plain;
};

/* A function under the same callers. */
struct level_key {
    uint64_t key; /* 0: none */
    uint32_t line, frame;
    uint64_t n_turns, n_work_turns;
    bool has_work; /* in this turn */
    struct run run, best;
};

struct finder {
    const struct plim_memory_trace *trace;
    const struct plim_trace_entry *entries;
    const struct plim_trace_requests *requests;
    uint8_t *kinds;     /* by frame */
    struct walk *walks; /* by stack */
    struct level_key *keys;
    uint32_t *stacks; /* of the requests in order, each once as long as it does not change */
    size_t n_stacks;
};

/* The loop while it is looked for; only_line is 0 unless all of it is one line. */
struct candidate {
    uint64_t key, n_turns;
    uint32_t frame, only_line;
    unsigned depth;
    bool has_work;
};

static bool ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text), n_end = strlen(end);
    return n >= n_end && strcmp(text + n - n_end, end) == 0;
}

static enum frame_kind kind_of(const char *file, const char *name)
{
    if (ends_with(file, "torch/nn/modules/module.py") && ends_with(name, "_call_impl"))
        return FRAME_MODULE;
    if (strstr(file, "torch/optim/") || ends_with(file, "torch/autograd/__init__.py") ||
        (ends_with(file, "torch/_tensor.py") && strcmp(name, "backward") == 0))
        return FRAME_WORK;
    return ends_with(file, ".py") ? FRAME_PYTHON : FRAME_NATIVE;
}

static void sort_frames(struct finder *f)
{
    for (size_t i = 0; i < f->trace->n_frames; i++)
        f->kinds[i] = (uint8_t)kind_of(plim_trace_words(f->trace, f->trace->frames[i].file),
                                       plim_trace_words(f->trace, f->trace->frames[i].name));
    for (size_t i = 0; i < f->trace->n_stacks; i++) {
        const struct plim_trace_stack *stack = &f->trace->stacks[i];
        for (uint32_t k = 0; k < stack->n && !f->walks[i].has_work; k++)
            f->walks[i].has_work = f->kinds[f->trace->stack_frames[stack->first + k]] >= FRAME_WORK;
    }
}

/* --- walking inwards --- */

/* Autograd's own threads compute again what checkpoints left out: their loops go over layers. */
static bool is_of_autograd(const struct finder *f, const struct plim_trace_stack *stack)
{
    for (uint32_t k = stack->n; k > 0; k--) {
        const uint32_t frame = f->trace->stack_frames[stack->first + k - 1];
        const char *file = plim_trace_words(f->trace, f->trace->frames[frame].file);
        if (f->kinds[frame] != FRAME_NATIVE)
            return ends_with(file, "torch/utils/checkpoint.py") || strstr(file, "torch/autograd/");
    }
    return false;
}

static void begin(struct finder *f)
{
    for (size_t i = 0; i < f->trace->n_stacks; i++) {
        const struct plim_trace_stack *stack = &f->trace->stacks[i];
        f->walks[i].next = is_of_autograd(f, stack) ? UINT32_MAX : stack->n;
        f->walks[i].callers = 0;
    }
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
    return f->kinds[frame] >= FRAME_WORK ? PLIM_TRACE_NO_STACK : frame;
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

/* The stack of a request at this event; PLIM_TRACE_NO_STACK: it is none. */
static uint32_t stack_at(const struct finder *f, size_t event)
{
    if (f->requests->events[event].kind != PLIM_TORCH_TAKE)
        return PLIM_TRACE_NO_STACK;
    const uint32_t stack = f->entries[f->requests->entry_of[event]].stack;
    return stack < f->trace->n_stacks ? stack : PLIM_TRACE_NO_STACK;
}

static void list_stacks(struct finder *f)
{
    for (size_t i = 0; i < f->requests->n_events; i++) {
        const uint32_t stack = stack_at(f, i);
        if (stack != PLIM_TRACE_NO_STACK && (!f->n_stacks || f->stacks[f->n_stacks - 1] != stack))
            f->stacks[f->n_stacks++] = stack;
    }
}

/* --- turns --- */

static struct level_key *find_key(struct level_key *keys, uint64_t key)
{
    for (size_t n = 0, i = key % MAX_KEYS; n < MAX_PROBES; n++, i = (i + 1) % MAX_KEYS)
        if (!keys[i].key || keys[i].key == key)
            return &keys[i];
    return NULL;
}

/* The line goes back: a turn is over. */
static bool is_turn(struct level_key *row, const struct plim_trace_frame *frame, uint32_t number, bool has_work)
{
    const bool is_back = row->line && frame->line < row->line;
    if (is_back || !row->line)
        row->frame = number;
    if (is_back) {
        row->n_turns++;
        row->n_work_turns += row->has_work;
        row->has_work = false;
    }
    row->has_work |= has_work;
    row->line = frame->line;
    return is_back;
}

/* On the same line as before, or as most often, and with the first stack of that line again: it begins anew. */
static bool is_return(struct run *run, const struct run *best, uint32_t line, uint32_t frame, uint32_t stack,
                      bool has_work)
{
    if (run->line != line)
        *run = best->line == line ? *best : (struct run){ .line = line, .frame = frame, .first = stack, .last = stack };
    const bool is_back = stack == run->first && run->last != stack;
    run->n_returns += is_back;
    run->last = stack;
    run->has_work |= has_work;
    run->has_plain |= !has_work;
    return is_back;
}

static void note_line(const struct finder *f, struct level_key *row, uint32_t stack, uint32_t number)
{
    const struct plim_trace_frame *frame = &f->trace->frames[number];
    is_turn(row, frame, number, f->walks[stack].has_work);
    is_return(&row->run, &row->best, frame->line, number, stack, f->walks[stack].has_work);
    if (row->run.n_returns > row->best.n_returns)
        row->best = row->run;
}

/* The function that each stack is in at this level. */
static void name_level(struct finder *f)
{
    memset(f->keys, 0, MAX_KEYS * sizeof *f->keys);
    for (uint32_t i = 0; i < f->trace->n_stacks; i++) {
        struct walk *walk = &f->walks[i];
        walk->frame = frame_at(f, i);
        walk->key = MAX_KEYS;
        if (walk->frame == PLIM_TRACE_NO_STACK)
            continue;
        const uint64_t key = key_of(f, i, walk->frame);
        struct level_key *row = find_key(f->keys, key);
        if (!row)
            continue;
        row->key = key;
        walk->key = (uint32_t)(row - f->keys);
    }
}

static void scan_level(struct finder *f)
{
    name_level(f);
    for (size_t i = 0; i < f->n_stacks; i++) {
        const struct walk *walk = &f->walks[f->stacks[i]];
        if (walk->key != MAX_KEYS)
            note_line(f, &f->keys[walk->key], f->stacks[i], walk->frame);
    }
}

/* Candidates of the level that was scanned: lines that go back and work; that go back; that are one, and work. */
enum { WORKS, GOES_BACK, ONE_LINE, N_WAYS };

static void choose(const struct finder *f, unsigned depth, struct candidate found[N_WAYS])
{
    struct candidate best[N_WAYS] = { 0 };
    for (size_t i = 0; i < MAX_KEYS; i++) {
        const struct level_key *k = &f->keys[i];
        if (k->key && k->n_work_turns > best[WORKS].n_turns)
            best[WORKS] = (struct candidate){ k->key, k->n_work_turns, k->frame, 0, depth, true };
        if (k->key && k->n_turns > best[GOES_BACK].n_turns)
            best[GOES_BACK] = (struct candidate){ k->key, k->n_turns, k->frame, 0, depth, false };
        /* One line may be the call of a function with the loop in it, so what is deeper takes its place. */
        if (k->key && k->best.has_work && k->best.has_plain && k->best.n_returns > best[ONE_LINE].n_turns)
            best[ONE_LINE] = (struct candidate){ k->key, k->best.n_returns, k->best.frame, k->best.line, depth, true };
    }
    for (size_t way = 0; way < N_WAYS; way++)
        if (best[way].n_turns >= PLIM_TRACE_LEAST_TURNS &&
            (!found[way].n_turns || (way == ONE_LINE && best[way].n_turns >= found[way].n_turns)))
            found[way] = best[way];
}

/* The outermost loop that works; else one on one line, which works too; else any. */
static bool find(struct finder *f, struct candidate *ret)
{
    struct candidate found[N_WAYS] = { 0 };
    bool is_left = true;
    begin(f);
    for (unsigned depth = 0; depth < MAX_DEPTH && is_left && !found[WORKS].n_turns; depth++) {
        scan_level(f);
        choose(f, depth, found);
        is_left = step_inwards(f);
    }
    *ret = found[WORKS].n_turns ? found[WORKS] : found[ONE_LINE].n_turns ? found[ONE_LINE] : found[GOES_BACK];
    return ret->n_turns > 0;
}

static void number_turns(struct finder *f, const struct candidate *loop, struct plim_trace_loop *ret)
{
    struct level_key row = { 0 };
    uint32_t turn = 0;
    for (size_t i = 0; i < f->requests->n_events; i++) {
        const uint32_t stack = stack_at(f, i);
        const uint32_t frame = stack != PLIM_TRACE_NO_STACK ? f->walks[stack].frame : PLIM_TRACE_NO_STACK;
        const struct plim_trace_frame *there = frame != PLIM_TRACE_NO_STACK ? &f->trace->frames[frame] : NULL;
        if (there && f->walks[stack].key != MAX_KEYS && f->keys[f->walks[stack].key].key == loop->key &&
            (!loop->only_line || there->line == loop->only_line)) {
            const bool is_new = loop->only_line ? is_return(&row.run, &row.run, there->line, frame, stack, false)
                                                : is_turn(&row, there, frame, false);
            turn += is_new || !turn;
            ret->calls[stack] = frame;
            ret->end = i + 1;
        }
        ret->turns[i] = turn;
    }
    ret->n_turns = turn;
}

static void number(struct finder *f, const struct candidate *loop, struct plim_trace_loop *ret)
{
    begin(f);
    for (unsigned depth = 0; depth < loop->depth; depth++)
        step_inwards(f);
    name_level(f);
    for (size_t i = 0; i < f->trace->n_stacks; i++)
        ret->calls[i] = PLIM_TRACE_NO_STACK;
    number_turns(f, loop, ret);
    ret->frame = ret->n_turns > PLIM_TRACE_LEAST_TURNS ? loop->frame : PLIM_TRACE_NO_STACK;
    ret->has_work = loop->has_work;
}

int plim_trace_loop_find(const struct plim_memory_trace *trace, size_t device,
                         const struct plim_trace_requests *requests, struct plim_trace_loop *ret_loop,
                         struct plim_error *reterr)
{
    size_t n_entries;
    struct candidate loop;
    struct finder f = { .trace = trace, .requests = requests };
    f.entries = plim_trace_history(trace, device, &n_entries);
    f.kinds = plim_alloc(trace->n_frames + 1, sizeof *f.kinds);
    f.walks = plim_alloc(trace->n_stacks + 1, sizeof *f.walks);
    f.keys = plim_alloc(MAX_KEYS, sizeof *f.keys);
    f.stacks = plim_alloc_unset(requests->n_events + 1, sizeof *f.stacks);
    *ret_loop = (struct plim_trace_loop){ .frame = PLIM_TRACE_NO_STACK };
    ret_loop->turns = plim_alloc(requests->n_events + 1, sizeof *ret_loop->turns);
    ret_loop->calls = plim_alloc(trace->n_stacks + 1, sizeof *ret_loop->calls);
    ret_loop->stacks = plim_alloc_unset((size_t)requests->n_ids + 1, sizeof *ret_loop->stacks);
    const bool is_done = f.kinds && f.walks && f.keys && f.stacks && ret_loop->turns && ret_loop->calls &&
                         ret_loop->stacks && plim_trace_backward_stacks(trace, device, requests, ret_loop->stacks);
    if (is_done) {
        sort_frames(&f);
        list_stacks(&f);
        if (find(&f, &loop))
            number(&f, &loop, ret_loop);
    }
    plim_free(f.kinds);
    plim_free(f.walks);
    plim_free(f.keys);
    plim_free(f.stacks);
    if (is_done)
        return 0;
    plim_trace_loop_done(ret_loop);
    return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
}

void plim_trace_loop_done(struct plim_trace_loop *loop)
{
    plim_free(loop->turns);
    plim_free(loop->calls);
    plim_free(loop->stacks);
    *loop = (struct plim_trace_loop){ .frame = PLIM_TRACE_NO_STACK };
}
