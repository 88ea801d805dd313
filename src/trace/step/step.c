/* SPDX-License-Identifier: MIT */
#include "trace/step/step.h"

#include "base/mem.h"
#include "trace/holders.h"
#include "trace/replay.h"
#include "trace/step/parts.h"

#include <string.h>

struct maker {
    struct plim_memory_trace *trace;
    const struct plim_trace_step_question *question;
    const struct plim_trace_entry *entries;
    size_t n_entries;
    struct plim_trace_requests requests;
    struct plim_step *step;
    struct plim_step_track track;
    struct plim_step_life *lives;
    uint32_t *id_of;     /* of an id of the requests; UINT32_MAX: not in the track */
    size_t *first_event; /* for each entry and the end: the first event of it or of a later one */
    size_t *places;
    struct plim_step_words words;
    struct plim_step_pieces pieces;
    bool is_out_of_memory;
    size_t last_oom; /* the event of the requests that failed and ended the program; SIZE_MAX: none */
};

/* --- events --- */

static bool is_failure(const struct maker *m, size_t event)
{
    const uint32_t entry = m->requests.entry_of[event];
    return entry != UINT32_MAX && m->requests.events[event].kind == PLIM_TORCH_TAKE &&
           m->entries[entry].action == PLIM_TRACE_OOM;
}

/* A request that failed, and nothing was asked for after it: the recording ends there. */
static size_t find_last_oom(const struct maker *m)
{
    for (size_t i = m->requests.n_events; i-- > 0;)
        if (m->requests.events[i].kind == PLIM_TORCH_TAKE)
            return is_failure(m, i) ? i : SIZE_MAX;
    return SIZE_MAX;
}

static uint32_t add_allocation(struct maker *m, uint32_t id, struct plim_step_life life)
{
    const uint32_t number = m->track.n_allocations++;
    const uint32_t frame = plim_trace_frame_of(m->trace, life.stack);
    struct plim_step_allocation *allocation = &m->track.allocations[number];
    *allocation = (struct plim_step_allocation){ .site = PLIM_STEP_NO_SITE,
                                                 .pillar = PLIM_PILLAR_MAX_,
                                                 .phase = PLIM_PHASE_MAX_ };
    allocation->size = plim_step_words_size(&m->words, m->requests.id_bytes[id]);
    if (frame != PLIM_TRACE_NO_STACK)
        allocation->site = plim_step_words_site(&m->words, m->trace, frame);
    if (allocation->site != PLIM_STEP_NO_SITE &&
        !plim_step_pieces_note(&m->pieces, &m->words, life.stack, allocation->site))
        m->is_out_of_memory = true;
    m->lives[number] = life;
    m->id_of[id] = number;
    return number;
}

static void add_event(struct maker *m, enum plim_step_event_kind kind, uint32_t id, uint16_t stream, uint16_t pool)
{
    m->track.events[m->track.n_events++] =
        (struct plim_step_event){ .id = id, .stream = stream, .pool = pool, .kind = (uint8_t)kind };
}

/* What was held before the history is taken at its beginning, in the order of addresses. */
static void take_before(struct maker *m)
{
    const struct plim_trace_requests *r = &m->requests;
    for (size_t i = 0; i < r->n_segments; i++) {
        const struct plim_torch_segment_before *segment = &r->segments[i];
        uint64_t address = segment->address;
        for (size_t k = 0; k < segment->n_blocks; address += segment->blocks[k++].bytes) {
            const struct plim_torch_block_before *block = &segment->blocks[k];
            if (block->id == UINT32_MAX || m->id_of[block->id] != UINT32_MAX)
                continue;
            const uint32_t by = r->taken_by[block->id];
            const uint32_t stack = by < m->trace->n_blocks ? m->trace->blocks[by].stack : PLIM_TRACE_NO_STACK;
            const struct plim_step_life life = { address, m->track.n_events, SIZE_MAX, stack };
            const uint32_t id = add_allocation(m, block->id, life);
            add_event(m, PLIM_STEP_TAKE, id, segment->stream, segment->pool);
            if (block->is_pending)
                add_event(m, PLIM_STEP_GIVE_LATER, id, segment->stream, segment->pool);
        }
    }
}

static void copy_event(struct maker *m, size_t at)
{
    const struct plim_torch_event *event = &m->requests.events[at];
    const uint32_t entry = m->requests.entry_of[at];
    uint32_t id = 0;
    if (event->kind == PLIM_TORCH_TAKE) {
        if (is_failure(m, at) && at != m->last_oom)
            return;
        const struct plim_trace_entry *e = &m->entries[entry];
        const uint64_t address = e->action == PLIM_TRACE_OOM ? 0 : e->address;
        id = add_allocation(m, event->id, (struct plim_step_life){ address, m->track.n_events, SIZE_MAX, e->stack });
    } else if (event->kind == PLIM_TORCH_GIVE || event->kind == PLIM_TORCH_GIVE_LATER ||
               event->kind == PLIM_TORCH_GIVEN) {
        id = m->id_of[event->id];
        if (id == UINT32_MAX)
            return;
        if (m->lives[id].given_at == SIZE_MAX)
            m->lives[id].given_at = m->track.n_events;
    }
    add_event(m, (enum plim_step_event_kind)event->kind, id, event->stream, event->pool);
}

static void copy_events(struct maker *m)
{
    size_t next = 0; /* entry */
    take_before(m);
    for (size_t at = 0; at < m->requests.n_events; at++) {
        const uint32_t entry = m->requests.entry_of[at];
        for (; entry != UINT32_MAX && next <= entry; next++)
            m->first_event[next] = m->track.n_events;
        copy_event(m, at);
        if (at == m->last_oom)
            break;
    }
    for (; next <= m->n_entries; next++)
        m->first_event[next] = m->track.n_events;
    for (uint32_t id = 0; id < m->track.n_allocations; id++)
        if (m->lives[id].given_at == SIZE_MAX)
            m->lives[id].given_at = m->track.n_events;
}

static bool make_events(struct maker *m)
{
    const struct plim_trace_requests *r = &m->requests;
    const size_t n_ids = (size_t)r->n_ids + 1;
    m->track.events = plim_alloc_unset(r->n_events + 2 * (size_t)r->n_before + 1, sizeof *m->track.events);
    m->track.allocations = plim_alloc_unset(n_ids, sizeof *m->track.allocations);
    m->lives = plim_alloc_unset(n_ids, sizeof *m->lives);
    m->id_of = plim_alloc_unset(n_ids, sizeof *m->id_of);
    m->first_event = plim_alloc_unset(m->n_entries + 1, sizeof *m->first_event);
    if (!m->track.events || !m->track.allocations || !m->lives || !m->id_of || !m->first_event)
        return false;
    memset(m->id_of, 0xff, n_ids * sizeof *m->id_of);
    m->last_oom = find_last_oom(m);
    copy_events(m);
    for (uint32_t id = 0; id < m->track.n_allocations; id++)
        if (m->track.allocations[id].size == UINT32_MAX)
            return false;
    return !m->is_out_of_memory;
}

/* --- marks --- */

/*
 * The allocator's counts at a mark and at the end say how many allocations and returns follow the mark; the history,
 * read from its end, has them. A mark that is older than the history is at its beginning.
 */
static bool find_places(struct maker *m)
{
    const struct plim_trace_marks *marks = m->question->marks;
    uint64_t n_taken = 0, n_given = 0; /* that are still to be passed */
    size_t at = m->n_entries;
    m->places = plim_alloc(marks->n_marks + 1, sizeof *m->places);
    for (size_t i = marks->n_marks; m->places && i-- > 0;) {
        if (i + 1 < marks->n_marks) {
            n_taken += marks->marks[i + 1].n_taken - marks->marks[i].n_taken;
            n_given += marks->marks[i + 1].n_given - marks->marks[i].n_given;
        }
        while (at > 0 && (n_taken || n_given)) {
            at--;
            n_taken -= m->entries[at].action == PLIM_TRACE_ALLOC && n_taken > 0;
            n_given -= m->entries[at].action == PLIM_TRACE_FREE_REQUESTED && n_given > 0;
        }
        m->places[i] = m->first_event[at];
    }
    return m->places != NULL;
}

/* --- the track --- */

static uint64_t reserved_peak(const struct maker *m)
{
    uint64_t bytes = m->requests.before_reserved_bytes, peak = bytes;
    for (size_t i = 0; i < m->n_entries; i++) {
        const struct plim_trace_entry *entry = &m->entries[i];
        if (entry->action == PLIM_TRACE_SEGMENT_ALLOC || entry->action == PLIM_TRACE_SEGMENT_MAP)
            bytes += entry->bytes;
        else if (entry->action == PLIM_TRACE_SEGMENT_FREE || entry->action == PLIM_TRACE_SEGMENT_UNMAP)
            bytes -= entry->bytes < bytes ? entry->bytes : bytes;
        peak = bytes > peak ? bytes : peak;
    }
    return peak;
}

static bool describe(struct maker *m)
{
    const struct plim_trace_requests *r = &m->requests;
    struct plim_step_track *t = &m->track;
    t->rank = m->question->rank;
    t->device = (uint32_t)m->question->device;
    t->n_streams = r->n_streams ? r->n_streams : 1;
    t->n_pools = r->n_pools ? r->n_pools : 1;
    t->end = (uint8_t)(m->last_oom != SIZE_MAX ? PLIM_STEP_END_MEMORY : m->question->end);
    t->starts_late = r->n_before > 0 || r->before_reserved_bytes > 0;
    t->outside_bytes = PLIM_STEP_UNKNOWN_BYTES;
    t->capacity_bytes = r->room_bytes ? r->room_bytes : PLIM_STEP_UNKNOWN_BYTES;
    t->recorded = plim_alloc(1, sizeof *t->recorded);
    t->has_retries = plim_alloc(t->n_pools, sizeof *t->has_retries);
    if (!t->recorded || !t->has_retries)
        return false;
    t->recorded->allocated_bytes = PLIM_STEP_UNKNOWN_BYTES;
    t->recorded->reserved_bytes = reserved_peak(m);
    memcpy(t->has_retries, r->has_retries, r->n_pools * sizeof *t->has_retries);
    return true;
}

static bool make(struct maker *m)
{
    if (!plim_step_words_open(&m->words, m->step, m->trace->n_frames) ||
        !plim_step_pieces_open(&m->pieces, m->trace, m->question->places, m->question->n_places) || !make_events(m) ||
        !find_places(m) || !describe(m))
        return false;
    struct plim_step_history history = { .track = &m->track,
                                         .lives = m->lives,
                                         .n_before = m->requests.n_before,
                                         .places = m->places,
                                         .marks = m->question->marks,
                                         .trace = m->trace,
                                         .shape = m->step->shapes };
    return plim_step_tell_pillars(&history);
}

/* --- figures --- */

static int replay(const struct maker *m, struct plim_trace_step_figures *ret_figures, struct plim_error *reterr)
{
    const struct plim_trace_conditions conditions = { .settings = *m->question->settings,
                                                      .capacity_bytes =
                                                          m->requests.room_bytes ? m->requests.room_bytes : UINT64_MAX,
                                                      .are_recorded = true };
    struct plim_trace_replay found;
    const int result = plim_trace_replay(m->trace, m->question->device, &m->requests, &conditions, &found, reterr);
    if (result == 0)
        *ret_figures = (struct plim_trace_step_figures){ found.result.allocated_bytes,
                                                         found.result.reserved_bytes,
                                                         found.result.allocated_peak_bytes,
                                                         found.result.reserved_peak_bytes,
                                                         found.n_recorded,
                                                         found.n_equal };
    return result;
}

/* --- the step --- */

static bool prepare(struct plim_step *step)
{
    if (step->n_shapes)
        return true;
    step->shapes = plim_alloc(1, sizeof *step->shapes);
    if (!step->shapes)
        return false;
    step->n_shapes = 1;
    step->shapes->left_out_allocated_error = step->shapes->left_out_reserved_error = -1;
    step->shapes->points = plim_alloc(1, sizeof *step->shapes->points);
    step->shapes->n_points = step->shapes->points != NULL;
    return step->shapes->points != NULL;
}

static bool adopt(struct maker *m)
{
    struct plim_step_shape *shape = m->step->shapes;
    struct plim_step_track *tracks = plim_realloc(shape->tracks, shape->n_tracks + 1, sizeof *tracks);
    if (!tracks)
        return false;
    shape->tracks = tracks;
    tracks[shape->n_tracks++] = m->track;
    return true;
}

static int add(struct maker *m, struct plim_trace_step_figures *ret_figures, struct plim_error *reterr)
{
    const int result =
        plim_trace_requests_make(m->trace, m->question->device, m->question->settings, &m->requests, reterr);
    if (result < 0)
        return result;
    m->entries = plim_trace_history(m->trace, m->question->device, &m->n_entries);
    if (make(m) && adopt(m))
        return replay(m, ret_figures, reterr);
    plim_step_track_done(&m->track);
    return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
}

int plim_trace_step_add(struct plim_memory_trace *trace, const struct plim_trace_step_question *question,
                        struct plim_step *step, struct plim_trace_step_figures *ret_figures, struct plim_error *reterr)
{
    struct maker m = { .trace = trace, .question = question, .step = step };
    if (!prepare(step))
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    const int result = add(&m, ret_figures, reterr);
    plim_step_words_done(&m.words);
    plim_step_pieces_done(&m.pieces);
    plim_trace_requests_done(&m.requests);
    plim_free(m.lives);
    plim_free(m.id_of);
    plim_free(m.first_event);
    plim_free(m.places);
    return result;
}
