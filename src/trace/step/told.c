/* SPDX-License-Identifier: MIT */
#include "trace/step/told.h"

#include "base/mem.h"
#include "base/table.h"
#include "trace/holders.h"
#include "trace/step/parts.h"

#include <string.h>

enum work { WORK_UNKNOWN, WORK_OPTIMIZER, WORK_CACHE, WORK_LOAD, WORK_FORWARD, WORK_BACKWARD };

/* An allocation, while the history goes by. Steps are those of an optimizer, counted at its first event of each. */
struct life {
    uint32_t step; /* when it was taken */
    uint16_t n_ooms;
    uint8_t pillar;
    bool is_held; /* at the moment asked about */
};

struct teller {
    const struct plim_memory_trace *trace;
    const struct plim_trace_requests *requests;
    const struct plim_trace_entry *entries;
    size_t device;
    uint8_t *work_of; /* [stack] */
    struct life *lives;
    uint32_t step;
    uint16_t n_ooms;
    bool is_stepping, is_training; /* is_training: allocations without a stack are those of the backward pass */
};

/* --- stacks --- */

/* The work that a function is a sign of, by data/frames.csv. */
static enum work listed_work(const char *file, const char *function)
{
    enum { FILE_NAME, FUNCTION, WORK, READ_BY };
    static const struct {
        const char *name;
        enum work work;
    } works[] = { { "optimizer", WORK_OPTIMIZER }, { "kv", WORK_CACHE }, { "pool", WORK_CACHE } };
    const struct plim_table *table = &plim_frames_table;
    for (size_t row = 0; row < table->n_rows; row++) {
        const char *name = plim_table_cell(table, row, FUNCTION);
        if (!strstr(plim_table_cell(table, row, READ_BY), "trace") || (*name && strcmp(name, function)) ||
            !strstr(file, plim_table_cell(table, row, FILE_NAME)))
            continue;
        for (size_t i = 0; i < sizeof works / sizeof *works; i++)
            if (!strcmp(works[i].name, plim_table_cell(table, row, WORK)))
                return works[i].work;
    }
    return WORK_UNKNOWN;
}

static enum work signed_work(unsigned signs)
{
    return signs & PLIM_STACK_LOADS         ? WORK_LOAD
           : signs & PLIM_STACK_IN_BACKWARD ? WORK_BACKWARD
           : signs & PLIM_STACK_IN_MODULE   ? WORK_FORWARD
                                            : WORK_UNKNOWN;
}

/* The innermost function that is known counts: a module that is called in the step of an optimizer is a forward pass.
 */
static enum work work_of_stack(const struct plim_memory_trace *trace, const uint8_t *frame_works,
                               const uint16_t *frame_signs, uint32_t stack)
{
    const struct plim_trace_stack *s = &trace->stacks[stack];
    for (uint32_t i = 0; i < s->n; i++)
        if (frame_works[trace->stack_frames[s->first + i]])
            return (enum work)frame_works[trace->stack_frames[s->first + i]];
    return plim_step_stack_signs(trace, frame_signs, stack) & PLIM_STACK_IN_BACKWARD ? WORK_BACKWARD : WORK_UNKNOWN;
}

static bool read_stacks(struct teller *t)
{
    const struct plim_memory_trace *trace = t->trace;
    uint16_t *signs = plim_step_frame_signs(trace);
    uint8_t *works = plim_alloc(trace->n_frames + 1, sizeof *works);
    t->work_of = plim_alloc(trace->n_stacks + 1, sizeof *t->work_of);
    const bool has_memory = signs && works && t->work_of;
    for (size_t i = 0; i < trace->n_frames && has_memory; i++) {
        works[i] = (uint8_t)listed_work(trace->text + trace->frames[i].file, trace->text + trace->frames[i].name);
        if (!works[i])
            works[i] = (uint8_t)signed_work(signs[i]);
    }
    for (size_t i = 0; i < trace->n_stacks && has_memory; i++) {
        t->work_of[i] = (uint8_t)work_of_stack(trace, works, signs, (uint32_t)i);
        t->is_training |= t->work_of[i] == WORK_BACKWARD || t->work_of[i] == WORK_OPTIMIZER;
    }
    plim_free(signs);
    plim_free(works);
    return has_memory;
}

static enum work work_at(const struct teller *t, uint32_t stack)
{
    if (stack < t->trace->n_stacks && t->trace->stacks[stack].n)
        return (enum work)t->work_of[stack];
    return t->is_training ? WORK_BACKWARD : WORK_UNKNOWN;
}

/* --- lives --- */

/* What is told when it is taken; of the backward pass for now its own name, until it is given back. */
static uint8_t first_pillar(enum work work)
{
    static const uint8_t pillars[] = {
        [WORK_UNKNOWN] = PLIM_PILLAR_MAX_,        [WORK_OPTIMIZER] = PLIM_PILLAR_OPTIMIZER,
        [WORK_CACHE] = PLIM_PILLAR_KV_CACHE,      [WORK_LOAD] = PLIM_PILLAR_WEIGHTS,
        [WORK_FORWARD] = PLIM_PILLAR_ACTIVATIONS, [WORK_BACKWARD] = PLIM_PILLAR_MAX_ + 1,
    };
    return pillars[work];
}

enum { UNTOLD = PLIM_PILLAR_MAX_ + 1, PASSING = PLIM_PILLAR_MAX_ + 2 };

/*
 * Of the backward pass: what an optimizer finds and what is given back after its step is a gradient; work areas, which
 * libraries keep for ever, are not. What is given back before a step that follows was for the pass itself. After a
 * request that failed neither is sure.
 */
static void end_life(const struct teller *t, struct life *life)
{
    if (life->pillar != UNTOLD)
        return;
    life->pillar = life->n_ooms != t->n_ooms ? PLIM_PILLAR_MAX_
                   : life->step < t->step    ? PLIM_PILLAR_GRADIENTS
                                             : PASSING;
}

static void note_step(struct teller *t, enum work work)
{
    t->step += work == WORK_OPTIMIZER && !t->is_stepping;
    t->is_stepping = work == WORK_OPTIMIZER;
}

static void follow(struct teller *t, size_t at)
{
    for (size_t i = 0; i < t->requests->n_events; i++) {
        const struct plim_torch_event *event = &t->requests->events[i];
        const uint32_t entry = t->requests->entry_of[i];
        struct life *life = &t->lives[event->id];
        if (event->kind == PLIM_TORCH_TAKE && t->entries[entry].action == PLIM_TRACE_OOM) {
            t->n_ooms++;
        } else if (event->kind == PLIM_TORCH_TAKE) {
            const enum work work = work_at(t, t->entries[entry].stack);
            note_step(t, work);
            *life = (struct life){ t->step, t->n_ooms, first_pillar(work), i < at };
        } else if (event->kind == PLIM_TORCH_GIVE || event->kind == PLIM_TORCH_GIVE_LATER) {
            life->is_held &= i >= at;
            end_life(t, life);
        }
    }
}

/* What was held before the recording has the stack of its block, if it was still held in the end. */
static void begin(struct teller *t)
{
    for (uint32_t id = 0; id < t->requests->n_before; id++) {
        const uint32_t stack = plim_trace_stack_of(t->trace, t->device, t->requests, id);
        const bool has_stack = stack < t->trace->n_stacks && t->trace->stacks[stack].n;
        const enum work work = has_stack ? work_at(t, stack) : WORK_UNKNOWN;
        t->lives[id] = (struct life){ 0, 0, first_pillar(work), true };
    }
}

static uint8_t pillar_of(const struct teller *t, const struct life *life)
{
    if (life->pillar == PASSING && life->step < t->step) /* a step followed */
        return PLIM_PILLAR_ACTIVATIONS;
    return life->pillar < PLIM_PILLAR_MAX_ ? life->pillar : PLIM_PILLAR_MAX_;
}

static int tell(struct teller *t, size_t at, struct plim_error *reterr)
{
    size_t n_entries;
    t->entries = plim_trace_history(t->trace, t->device, &n_entries);
    t->lives = plim_alloc((size_t)t->requests->n_ids + 1, sizeof *t->lives);
    if (!t->lives || !read_stacks(t))
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    begin(t);
    follow(t, at);
    return 0;
}

static void teller_done(struct teller *t)
{
    plim_free(t->lives);
    plim_free(t->work_of);
}

int plim_trace_pillars_find(const struct plim_memory_trace *trace, size_t device,
                            const struct plim_trace_requests *requests, size_t at,
                            struct plim_trace_pillars *ret_pillars, struct plim_error *reterr)
{
    struct teller t = { .trace = trace, .requests = requests, .device = device };
    const int result = tell(&t, at, reterr);
    *ret_pillars = (struct plim_trace_pillars){ 0 };
    for (uint32_t id = 0; result == 0 && id < requests->n_ids; id++)
        if (t.lives[id].is_held)
            ret_pillars->bytes[pillar_of(&t, &t.lives[id])] += requests->id_bytes[id];
    teller_done(&t);
    return result;
}

int plim_trace_pillars_tell(const struct plim_memory_trace *trace, size_t device,
                            const struct plim_trace_requests *requests, uint8_t *ret_pillar_of,
                            struct plim_error *reterr)
{
    struct teller t = { .trace = trace, .requests = requests, .device = device };
    const int result = tell(&t, 0, reterr);
    for (uint32_t id = 0; result == 0 && id < requests->n_ids; id++)
        ret_pillar_of[id] = pillar_of(&t, &t.lives[id]);
    teller_done(&t);
    return result;
}
