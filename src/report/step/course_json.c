/* SPDX-License-Identifier: MIT */
#include "report/json_text.h"
#include "report/step/course.h"

static json_t *bytes(uint64_t n) { return json_integer((json_int_t)(n < INT64_MAX ? n : INT64_MAX)); }
static json_t *bytes_or_null(uint64_t n) { return n < INT64_MAX ? bytes(n) : json_null(); }
static json_t *value_or_null(uint64_t n) { return n ? bytes(n) : json_null(); }

static json_t *phase_name_json(enum plim_phase phase)
{
    return phase < PLIM_PHASE_MAX_ ? plim_text_json(plim_phase_name(phase)) : json_null();
}

static json_t *variables_json(const struct plim_course *course)
{
    json_t *list = json_array();
    for (uint32_t i = 0; list && i < course->n_variables; i++) {
        const struct plim_course_variable *v = &course->variables[i];
        json_array_append_new(list, json_pack("{s:o, s:o, s:o, s:o}", "name", plim_text_json(v->name), "value",
                                              bytes(v->value), "least_recorded", bytes(v->least_recorded),
                                              "most_recorded", bytes(v->most_recorded)));
    }
    return list;
}

static json_t *phases_json(const struct plim_course *course)
{
    json_t *list = json_array();
    for (unsigned i = 0; list && i < PLIM_PHASE_MAX_; i++)
        if (course->phases[i].is_there)
            json_array_append_new(list, json_pack("{s:o, s:I, s:o, s:o}", "phase", phase_name_json((enum plim_phase)i),
                                                  "step", (json_int_t)course->phases[i].step, "allocated_peak_bytes",
                                                  bytes(course->phases[i].allocated_bytes), "reserved_peak_bytes",
                                                  bytes(course->phases[i].reserved_bytes)));
    return list;
}

static json_t *site_json(const struct plim_course_site *site)
{
    return json_pack("{s:o, s:o, s:o, s:I, s:o, s:o, s:o}", "file", plim_text_or_null_json(site->file), "line",
                     *site->file ? json_integer(site->line) : json_null(), "function",
                     plim_text_or_null_json(site->function), "allocations", (json_int_t)site->n, "bytes",
                     bytes(site->bytes), "pillar",
                     site->pillar < PLIM_PILLAR_MAX_ ? plim_text_json(plim_pillar_name(site->pillar)) : json_null(),
                     "phase", phase_name_json(site->phase));
}

static json_t *sites_json(const struct plim_course *course)
{
    json_t *list = json_array();
    for (uint32_t i = 0; list && i < course->n_sites; i++)
        json_array_append_new(list, site_json(&course->sites[i]));
    return list;
}

static json_t *oom_json(const struct plim_course *course)
{
    if (!course->is_oom)
        return json_null();
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "tried_bytes", bytes(course->oom_bytes), "held_bytes",
                     bytes(course->oom_held_bytes), "allocated_peak_bytes", bytes(course->oom_allocated_peak_bytes),
                     "reserved_peak_bytes", bytes(course->oom_reserved_peak_bytes), "live_over_bytes",
                     bytes(course->live_over_bytes));
}

static json_t *largest_json(const struct plim_course_largest *largest)
{
    if (!largest->variable)
        return json_null();
    return json_pack("{s:o, s:o, s:o, s:o, s:b, s:o, s:o, s:i}", "variable", plim_text_json(largest->variable), "value",
                     value_or_null(largest->value), "fails_at", value_or_null(largest->fails_at), "by_making_room",
                     value_or_null(largest->by_making_room), "is_monotonic", !largest->fits_again, "fits_again_at",
                     value_or_null(largest->fits_again), "unknown_at", value_or_null(largest->unknown_at), "tried",
                     (int)largest->n_tried);
}

json_t *plim_course_json(const struct plim_course *course)
{
    static const char *const sources[] = {
        [PLIM_COURSE_RECORDED] = "recorded", [PLIM_COURSE_BETWEEN] = "between", [PLIM_COURSE_BEYOND] = "beyond"
    };
    json_t *object = json_pack(
        "{s:o, s:o, s:o, s:s, s:b, s:o, s:I, s:I, s:I}", "command", plim_text_or_null_json(course->command),
        "alloc_conf", plim_text_json(course->settings), "variables", variables_json(course), "source",
        sources[course->source], "replay_equals_recording", course->is_replay_equal, "error", json_real(course->error),
        "rank", (json_int_t)course->rank, "device", (json_int_t)course->device, "tracks", (json_int_t)course->n_tracks);
    json_object_set_new(object, "allocated_peak_bytes", bytes(course->allocated_peak_bytes));
    json_object_set_new(object, "reserved_peak_bytes", bytes(course->reserved_peak_bytes));
    json_object_set_new(object, "requested_peak_bytes", bytes(course->requested_peak_bytes));
    json_object_set_new(object, "retries", bytes(course->n_retries));
    json_t *peak = json_pack("{s:o, s:I, s:o}", "phase", phase_name_json(course->binding_phase), "step",
                             (json_int_t)course->binding_step, "event", bytes(course->binding_event));
    json_object_set_new(object, "peak", peak);
    json_object_set_new(object, "room_bytes", bytes_or_null(course->room_bytes));
    json_object_set_new(object, "oom", oom_json(course));
    json_object_set_new(object, "phases", phases_json(course));
    json_object_set_new(object, "sites", sites_json(course));
    json_object_set_new(object, "other_sites_bytes", bytes(course->other_sites_bytes));
    json_t *doubts = json_array();
    for (uint32_t i = 0; i < course->n_doubts; i++)
        json_array_append_new(doubts, json_pack("{s:s, s:o}", "kind", course->doubts[i].kind, "text",
                                                plim_text_json(course->doubts[i].text)));
    json_object_set_new(object, "doubts", doubts);
    json_object_set_new(object, "largest", largest_json(&course->largest));
    return object;
}
