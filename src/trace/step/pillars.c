/* SPDX-License-Identifier: MIT */
#include "trace/step/parts.h"

#include "base/mem.h"
#include "base/units.h"
#include "step/size.h"

/* What is known of a moment between two events. */
struct moment {
    uint32_t step;
    bool is_stepping; /* an optimizer is */
    bool has_stepped; /* since the event before */
    size_t next_mark;
};

struct teller {
    struct plim_step_history *history;
    struct plim_trace_live live; /* by address; number: the id */
    uint16_t *signs;             /* of allocations */
    size_t loaded_at;            /* the event of the last weight that no module made when it was called */
    struct moment moment;
    bool is_training, has_steps /* of an optimizer */, has_modules;
};

static struct plim_step_allocation *allocation(const struct teller *t, uint32_t id)
{
    return &t->history->track->allocations[id];
}

/* --- by address --- */

static void claim(struct teller *t, struct plim_trace_addresses list, enum plim_pillar pillar)
{
    for (size_t i = 0; i < list.n; i++) {
        const struct plim_trace_live_row *row =
            plim_trace_live_find(&t->live, t->history->marks->addresses[list.first + i]);
        if (row && allocation(t, row->number)->pillar == PLIM_PILLAR_MAX_)
            allocation(t, row->number)->pillar = (uint8_t)pillar;
    }
}

static void claim_at(struct teller *t, const struct plim_trace_mark *mark)
{
    claim(t, mark->weights, PLIM_PILLAR_WEIGHTS);
    claim(t, mark->gradients, PLIM_PILLAR_GRADIENTS);
    claim(t, mark->states, PLIM_PILLAR_OPTIMIZER);
}

static bool claim_all(struct teller *t)
{
    const struct plim_step_history *h = t->history;
    const struct plim_step_track *track = h->track;
    size_t next = 0;
    for (size_t at = 0; at <= track->n_events; at++) {
        for (; next < h->marks->n_marks && h->places[next] <= at; next++)
            claim_at(t, &h->marks->marks[next]);
        if (at == track->n_events)
            break;
        const struct plim_step_event *event = &track->events[at];
        const struct plim_trace_live_row row = { .address = h->lives[event->id].address, .number = event->id };
        if (event->kind == PLIM_STEP_TAKE && !plim_trace_live_add(&t->live, row))
            return false;
        struct plim_trace_live_row *old = event->kind == PLIM_STEP_GIVE || event->kind == PLIM_STEP_GIVEN
                                              ? plim_trace_live_find(&t->live, row.address)
                                              : NULL;
        if (old)
            plim_trace_live_remove(&t->live, old);
    }
    return true;
}

/* --- phases --- */

/* Where loading ends: with the last weight before the first step of an optimizer or, without one, the first call. */
static void find_loaded(struct teller *t)
{
    const struct plim_step_track *track = t->history->track;
    size_t first_step = track->n_events;
    for (size_t i = 0; i < t->history->marks->n_marks; i++)
        if (t->history->marks->marks[i].kind == PLIM_TRACE_BEFORE_STEP) {
            first_step = t->history->places[i];
            t->is_training = t->has_steps = true;
            break;
        }
    for (uint32_t id = 0; id < track->n_allocations; id++)
        t->is_training = t->is_training || t->signs[id] & PLIM_STACK_CALLS_BACKWARD;
    for (uint32_t id = 0; id < track->n_allocations; id++) {
        const unsigned signs = t->signs[id];
        const bool is_made = !(signs & (PLIM_STACK_IN_MODULE | PLIM_STACK_IN_BACKWARD | PLIM_STACK_IS_EMPTY));
        const bool is_weight = track->allocations[id].pillar == PLIM_PILLAR_WEIGHTS || signs & PLIM_STACK_LOADS;
        const size_t taken_at = t->history->lives[id].taken_at;
        t->has_modules = t->has_modules || signs & PLIM_STACK_IN_MODULE;
        if (is_weight && is_made && taken_at < first_step && (t->is_training || !t->has_modules) &&
            taken_at > t->loaded_at)
            t->loaded_at = taken_at;
    }
}

static void pass_marks(struct teller *t, size_t at)
{
    const struct plim_step_history *h = t->history;
    struct moment *m = &t->moment;
    m->has_stepped = false;
    for (; m->next_mark < h->marks->n_marks && h->places[m->next_mark] <= at; m->next_mark++) {
        const struct plim_trace_mark *mark = &h->marks->marks[m->next_mark];
        const uint32_t step = mark->step + (mark->kind == PLIM_TRACE_AFTER_STEP);
        m->step = step > m->step ? step : m->step;
        if (mark->kind != PLIM_TRACE_INNER_STEP)
            m->is_stepping = mark->kind == PLIM_TRACE_BEFORE_STEP;
        m->has_stepped = m->has_stepped || mark->kind == PLIM_TRACE_AFTER_STEP;
    }
}

/* What a stack says goes before what a mark says: an optimizer may call forward and backward itself (LBFGS). */
static enum plim_phase phase_of(const struct teller *t, uint32_t id, size_t at)
{
    const unsigned signs = t->signs[id];
    if (id < t->history->n_before)
        return PLIM_PHASE_MAX_;
    if (signs & PLIM_STACK_IN_BACKWARD || (t->is_training && signs & PLIM_STACK_IS_EMPTY))
        return PLIM_PHASE_BACKWARD;
    if (signs & PLIM_STACK_IN_MODULE)
        return t->is_training && signs & PLIM_STACK_WITHOUT_GRAD ? PLIM_PHASE_EVALUATE : PLIM_PHASE_FORWARD;
    if (t->moment.is_stepping || signs & PLIM_STACK_IN_STEP)
        return PLIM_PHASE_STEP;
    if (signs & PLIM_STACK_LOADS)
        return PLIM_PHASE_LOAD;
    if (signs & PLIM_STACK_IS_EMPTY || (!t->is_training && !t->has_modules))
        return PLIM_PHASE_MAX_;
    return at <= t->loaded_at && t->moment.step == 0 ? PLIM_PHASE_LOAD : PLIM_PHASE_FORWARD;
}

static bool add_mark(struct plim_step_track *track, size_t *room, struct plim_step_mark mark)
{
    if (track->n_marks && track->marks[track->n_marks - 1].event == mark.event)
        track->n_marks--;
    if (track->n_marks && track->marks[track->n_marks - 1].phase == mark.phase &&
        track->marks[track->n_marks - 1].step == mark.step)
        return true;
    if (track->n_marks == *room) {
        const size_t more = *room ? 2 * *room : 64;
        struct plim_step_mark *marks = plim_realloc(track->marks, more, sizeof *marks);
        if (!marks)
            return false;
        track->marks = marks;
        *room = more;
    }
    track->marks[track->n_marks++] = mark;
    return true;
}

/* A phase lasts until something is taken in another one, or the optimizer begins or ends. */
static bool tell_phases(struct teller *t)
{
    struct plim_step_track *track = t->history->track;
    enum plim_phase phase = PLIM_PHASE_MAX_;
    size_t room = 0;
    bool has_memory = true;
    for (size_t at = 0; at < track->n_events && has_memory; at++) {
        pass_marks(t, at);
        const struct plim_step_event *event = &track->events[at];
        if (event->kind == PLIM_STEP_TAKE) {
            phase = phase_of(t, event->id, at);
            allocation(t, event->id)->phase = (uint8_t)phase;
        }
        if (t->moment.is_stepping && event->kind != PLIM_STEP_TAKE)
            phase = PLIM_PHASE_STEP;
        else if (t->moment.has_stepped && event->kind != PLIM_STEP_TAKE)
            phase = PLIM_PHASE_FORWARD;
        has_memory = add_mark(track, &room, (struct plim_step_mark){ (uint32_t)at, t->moment.step, (uint8_t)phase });
    }
    const uint32_t n_events = (uint32_t)track->n_events, step = t->moment.step;
    pass_marks(t, track->n_events); /* a step may have ended with the history */
    return has_memory && (t->moment.step == step ||
                          add_mark(track, &room, (struct plim_step_mark){ n_events, t->moment.step, PLIM_PHASE_MAX_ }));
}

/* --- lines --- */

/*
 * The thread of the backward pass has no Python above it: what it takes is the work of the line that the program waits
 * in, which is known from what that line takes itself, the gradient of the loss.
 */
static void tell_lines(struct teller *t)
{
    const struct plim_step_track *track = t->history->track;
    uint32_t line = PLIM_STEP_NO_SITE;
    for (size_t at = 0; at < track->n_events; at++) {
        struct plim_step_allocation *taken = allocation(t, track->events[at].id);
        if (track->events[at].kind != PLIM_STEP_TAKE)
            continue;
        const unsigned signs = t->signs[track->events[at].id];
        if (taken->phase != PLIM_PHASE_BACKWARD)
            line = PLIM_STEP_NO_SITE;
        else if (signs & PLIM_STACK_IS_EMPTY && taken->site == PLIM_STEP_NO_SITE)
            taken->site = line;
        else if (signs & PLIM_STACK_CALLS_BACKWARD)
            line = taken->site;
    }
}

/* --- by phase --- */

/* The first mark behind an event, or the first of a step. */
static size_t find_mark(const struct plim_step_track *track, size_t event, uint32_t step)
{
    size_t low = 0, high = track->n_marks;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (track->marks[middle].event > event && track->marks[middle].step >= step)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Whether an allocation may be a gradient that nobody marked: of a step without marks, and held when backward is over.
 */
static bool may_be_gradient(const struct teller *t, uint32_t id)
{
    const struct plim_step_life *life = &t->history->lives[id];
    const struct plim_step_track *track = t->history->track;
    const size_t next = find_mark(track, life->taken_at, 0); /* that of the next phase */
    return (t->history->marks->are_cut || !t->has_steps) && next < track->n_marks &&
           life->given_at > track->marks[next].event;
}

/*
 * The workspaces of cuBLAS and cuBLASLt, which PyTorch up to 2.10 or so takes from its allocator in a matrix product
 * and keeps: ":4096:2:16:8" of KiB and 1 MiB; on Hopper and newer 32 MiB each (aten/src/ATen/cuda/CublasHandlePool.cpp,
 * parseChosenWorkspaceSize(), parseCUDABlasLtWorkspaceSize()).
 */
static bool is_workspace(const struct teller *t, uint32_t id)
{
    static const uint64_t sizes_kib[] = { 4096 * 2 + 16 * 8, 1024, 4096 * 8 };
    static const struct plim_step_point any = { { 0 } };
    const uint64_t bytes = plim_step_size_bytes(t->history->shape, allocation(t, id)->size, &any);
    if (!(t->signs[id] & (PLIM_STACK_IN_MODULE | PLIM_STACK_IS_EMPTY)))
        return false;
    for (size_t i = 0; i < sizeof sizes_kib / sizeof *sizes_kib; i++)
        if (bytes == sizes_kib[i] * PLIM_KIB)
            return true;
    return false;
}

/* Held through all of the step that follows: no activation, but data, a cache, a buffer of a library, a leak. */
static bool is_kept(const struct teller *t, uint32_t id)
{
    const struct plim_step_life *life = &t->history->lives[id];
    const struct plim_step_track *track = t->history->track;
    const size_t next = find_mark(track, life->taken_at, 0);
    const uint32_t step = next ? track->marks[next - 1].step : 0;
    const size_t after = find_mark(track, life->taken_at, step + 2);
    return after < track->n_marks && life->given_at > track->marks[after].event && !is_workspace(t, id);
}

static enum plim_pillar pillar_of(const struct teller *t, uint32_t id)
{
    const struct plim_step_life *life = &t->history->lives[id];
    if (t->signs[id] & PLIM_STACK_REDUCES_GRADIENTS)
        return PLIM_PILLAR_GRADIENTS;
    if (t->signs[id] & PLIM_STACK_GATHERS_WEIGHTS)
        return PLIM_PILLAR_WEIGHTS;
    if (t->signs[id] & PLIM_STACK_IN_CACHE && !t->is_training) /* in training it is kept for the backward pass */
        return PLIM_PILLAR_KV_CACHE;
    switch (allocation(t, id)->phase) {
    case PLIM_PHASE_FORWARD:
    case PLIM_PHASE_EVALUATE:
        return is_kept(t, id) ? PLIM_PILLAR_MAX_ : PLIM_PILLAR_ACTIVATIONS;
    case PLIM_PHASE_BACKWARD:
        return may_be_gradient(t, id) || is_kept(t, id) ? PLIM_PILLAR_MAX_ : PLIM_PILLAR_ACTIVATIONS;
    case PLIM_PHASE_STEP: /* what it only works with: states are known by their addresses */
        return life->given_at < t->history->track->n_events ? PLIM_PILLAR_OVERHEAD : PLIM_PILLAR_MAX_;
    case PLIM_PHASE_LOAD:
        return t->signs[id] & PLIM_STACK_LOADS ? PLIM_PILLAR_WEIGHTS : PLIM_PILLAR_MAX_;
    default:
        return PLIM_PILLAR_MAX_;
    }
}

static bool tell(struct teller *t)
{
    const struct plim_step_history *h = t->history;
    uint16_t *frame_signs = plim_step_frame_signs(h->trace);
    t->signs = plim_alloc_unset((size_t)h->track->n_allocations + 1, sizeof *t->signs);
    const bool has_memory = frame_signs && t->signs;
    for (uint32_t id = 0; has_memory && id < h->track->n_allocations; id++)
        t->signs[id] = (uint16_t)plim_step_stack_signs(h->trace, frame_signs, h->lives[id].stack);
    plim_free(frame_signs);
    if (!has_memory || !claim_all(t))
        return false;
    find_loaded(t);
    if (!tell_phases(t))
        return false;
    tell_lines(t);
    for (uint32_t id = 0; id < h->track->n_allocations; id++)
        if (allocation(t, id)->pillar == PLIM_PILLAR_MAX_)
            allocation(t, id)->pillar = (uint8_t)pillar_of(t, id);
    return true;
}

bool plim_step_tell_pillars(struct plim_step_history *history)
{
    struct teller t = { .history = history };
    const bool is_told = tell(&t);
    plim_trace_live_done(&t.live);
    plim_free(t.signs);
    return is_told;
}
