/* SPDX-License-Identifier: MIT */
/* The course of a step's memory, for reports: of the track that decides the bill. */
#include "engine/torch/engine.h"

#include "base/numbers.h"

#include <string.h>

static void add_variables(const struct plim_torch *engine, struct plim_course *course)
{
    const struct plim_step *step = engine->step;
    for (uint32_t v = 0; v < step->n_variables; v++) {
        struct plim_course_variable *variable = &course->variables[course->n_variables++];
        *variable =
            (struct plim_course_variable){ step->variables[v].name, engine->scene.point.value[v], UINT64_MAX, 0 };
        for (size_t i = 0; i < step->n_shapes; i++)
            for (size_t k = 0; k < step->shapes[i].n_points; k++) {
                const uint64_t value = step->shapes[i].points[k].value[v];
                variable->least_recorded = plim_min_u64(variable->least_recorded, value);
                variable->most_recorded = plim_max_u64(variable->most_recorded, value);
            }
    }
    plim_step_point_text(step, &engine->scene.point, course->point, sizeof course->point);
}

static void add_sites(const struct plim_step *step, const struct plim_torch_moment *moment, struct plim_course *course)
{
    for (uint32_t i = 0; i < moment->n_sites && i < PLIM_COURSE_MAX_SITES; i++) {
        const struct plim_torch_site *from = &moment->sites[i];
        struct plim_course_site *site = &course->sites[course->n_sites++];
        *site = (struct plim_course_site){ "", "", 0, from->n, from->bytes, from->pillar, from->phase };
        if (from->site >= step->n_sites)
            continue;
        site->file = plim_step_text(step, step->sites[from->site].file);
        site->function = plim_step_text(step, step->sites[from->site].function);
        site->line = step->sites[from->site].line;
    }
    course->n_other_sites = moment->n_other_sites;
    course->other_sites_bytes = moment->other_sites_bytes;
}

/* --- phases --- */

/* The peaks of a stretch of events that has one phase. */
static void note_phase(const struct plim_torch_result *r, const struct plim_step_mark *mark, struct plim_course *course)
{
    if (mark->phase >= PLIM_PHASE_MAX_)
        return;
    struct plim_course_phase *phase = &course->phases[mark->phase];
    if (!phase->is_there || r->allocated_peak_bytes > phase->allocated_bytes) {
        phase->allocated_bytes = r->allocated_peak_bytes;
        phase->step = mark->step;
    }
    phase->reserved_bytes = plim_max_u64(phase->reserved_bytes, r->reserved_peak_bytes);
    phase->is_there = true;
}

/* One more replay, stopped at every mark. */
static int add_phases(const struct plim_torch_tape *tape, const struct plim_torch_conditions *conditions,
                      struct plim_course *course, struct plim_error *reterr)
{
    const struct plim_step_track *track = tape->track;
    struct plim_torch_allocator *allocator;
    int result = plim_torch_tape_open(tape, conditions, &allocator, reterr);
    if (result < 0)
        return result;
    for (size_t i = 0, at = 0; i <= track->n_marks && result == 0; i++) {
        const size_t until = i < track->n_marks ? track->marks[i].event : track->n_events;
        const size_t end = until < track->n_events ? until : track->n_events;
        plim_torch_allocator_forget_peaks(allocator);
        if (end > at)
            result = plim_torch_allocator_run(allocator, tape->events + at, end - at, reterr);
        if (i > 0 && end > at && result == 0)
            note_phase(plim_torch_allocator_result(allocator), &track->marks[i - 1], course);
        at = end > at ? end : at;
    }
    plim_torch_allocator_free(allocator);
    return result;
}

/* --- the whole --- */

static void add_need(const struct plim_torch_tape *tape, const struct plim_torch_need *need, struct plim_course *course)
{
    const struct plim_torch_result *least = &need->least, *there = &need->there;
    course->allocated_peak_bytes = least->allocated_peak_bytes;
    course->reserved_peak_bytes = least->reserved_peak_bytes;
    course->requested_peak_bytes = least->requested_peak_bytes;
    course->room_bytes = need->room.conditions.capacity_bytes;
    course->n_retries = there->n_retries;
    course->is_oom = there->n_ooms > 0;
    if (!course->is_oom)
        return;
    course->oom_bytes = tape->events[there->oom_at].bytes;
    course->oom_held_bytes = there->requested_bytes;
    course->oom_allocated_peak_bytes = there->allocated_peak_bytes;
    course->oom_reserved_peak_bytes = there->reserved_peak_bytes;
    if (least->requested_peak_bytes > course->room_bytes)
        course->live_over_bytes = least->requested_peak_bytes - course->room_bytes;
}

/* The track that needs most; of several devices that of the limiting one. */
static int find_track(struct plim_torch *engine, const struct plim_torch_wish *wish, const struct plim_machine *machine,
                      const struct plim_bill *bill, size_t *ret_track, struct plim_torch_need *ret_need,
                      struct plim_error *reterr)
{
    const size_t n_tracks = engine->scene.choice.shape->n_tracks;
    const uint32_t limiting = bill->limiting_device < bill->n_devices ? bill->limiting_device : 0;
    bool is_first = true;
    int result = 0;
    for (size_t i = 0; i < n_tracks && result == 0; i++) {
        struct plim_torch_room room;
        struct plim_torch_need need;
        const uint32_t device = plim_torch_device_of(engine, machine, i);
        if (device != limiting)
            continue;
        result = plim_torch_room_of(engine, wish, i, &machine->card[device], &room, reterr);
        if (result == 0)
            result = plim_torch_need_of(engine, i, &room, &need, reterr);
        if (result == 0 && (is_first || plim_torch_need_is_more(&need, ret_need))) {
            *ret_track = i;
            *ret_need = need;
            is_first = false;
        }
    }
    return result;
}

int plim_torch_course(struct plim_engine *base, const struct plim_setup *setup, const struct plim_machine *machine,
                      const struct plim_bill *bill, struct plim_course *ret_course, struct plim_error *reterr)
{
    struct plim_torch *engine = plim_torch_of(base);
    const struct plim_torch_wish *wish = plim_torch_wish_of(setup);
    struct plim_course *course = ret_course;
    struct plim_step_point point;
    struct plim_torch_moment moment;
    struct plim_torch_need need = { .never_runs = false };
    size_t track = 0;
    memset(course, 0, sizeof *course);
    int result = plim_torch_point_of(engine->step, wish, &point, reterr);
    if (result == 0)
        result = plim_torch_scene_make(engine, &point, reterr);
    if (result == 0)
        result = find_track(engine, wish, machine, bill, &track, &need, reterr);
    if (result < 0)
        return result;
    const struct plim_torch_tape *tape = &engine->scene.tapes[track];
    const struct plim_torch_result *least = &need.least;
    result =
        plim_torch_moment_at(tape, least->reserved_peak_at, least->n_ooms ? least->oom_at : SIZE_MAX, &moment, reterr);
    if (result == 0)
        result = add_phases(tape, &need.least_conditions, course, reterr);
    if (result < 0)
        return result;
    course->command = plim_step_text(engine->step, engine->step->command);
    course->settings = plim_bill_setting(bill, plim_torch_options[PLIM_TORCH_ALLOC_CONF].key)->text;
    course->source = (enum plim_course_source)engine->scene.choice.source;
    course->is_replay_equal = engine->scene.checks[track].is_equal;
    course->error = plim_torch_error_of(engine);
    course->rank = tape->track->rank;
    course->device = tape->track->device;
    course->n_devices = engine->scene.n_places;
    course->n_tracks = (uint32_t)engine->scene.choice.shape->n_tracks;
    course->binding_event = moment.event;
    course->binding_step = moment.step;
    course->binding_phase = (enum plim_phase)moment.phase;
    course->largest = wish->largest;
    add_variables(engine, course);
    plim_torch_add_doubts(engine, &machine->card[plim_torch_device_of(engine, machine, track)], course);
    add_need(tape, &need, course);
    add_sites(engine->step, &moment, course);
    return 0;
}
