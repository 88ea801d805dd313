/* SPDX-License-Identifier: MIT */
/*
 * All of a step as JSON. Events and allocations are columns, as a step has tens of thousands of them; words and small
 * numbers that repeat are one value with many owners.
 */
#include "report/step/step.h"

#include "base/mem.h"
#include "report/json_text.h"

static json_t *number(uint64_t value) { return value > INT64_MAX ? json_null() : json_integer((json_int_t)value); }

static const char *const kinds[PLIM_STEP_EVENT_MAX_] = {
    [PLIM_STEP_TAKE] = "take",
    [PLIM_STEP_GIVE] = "give",
    [PLIM_STEP_GIVE_LATER] = "give_later",
    [PLIM_STEP_GIVEN] = "given",
    [PLIM_STEP_EMPTY] = "empty",
    [PLIM_STEP_RELEASE_POOL] = "release_pool",
    [PLIM_STEP_EMPTY_POOL] = "empty_pool",
};

static const char *const ends[PLIM_STEP_END_MAX_] = {
    [PLIM_STEP_END_EXIT] = "exit",
    [PLIM_STEP_END_STEPS] = "steps",
    [PLIM_STEP_END_MEMORY] = "memory",
};

static json_t *pillar_json(unsigned pillar)
{
    return pillar < PLIM_PILLAR_MAX_ ? plim_text_json(plim_pillar_name((enum plim_pillar)pillar)) : json_null();
}

static json_t *phase_json(unsigned phase)
{
    return phase < PLIM_PHASE_MAX_ ? plim_text_json(plim_phase_name((enum plim_phase)phase)) : json_null();
}

/* --- columns --- */

/* Values 0 to n - 1 of a column, each made once. */
struct words {
    json_t **words;
    size_t n;
};

static bool words_init(struct words *w, size_t n, json_t *(*make)(unsigned value))
{
    *w = (struct words){ plim_alloc(n, sizeof *w->words), n };
    for (size_t i = 0; w->words && i < n; i++)
        w->words[i] = make((unsigned)i);
    return w->words != NULL;
}

static void words_done(struct words *w)
{
    for (size_t i = 0; w->words && i < w->n; i++)
        json_decref(w->words[i]);
    plim_free(w->words);
}

static void append(json_t *column, const struct words *w, size_t value)
{
    json_array_append(column, w->words[value < w->n ? value : w->n - 1]);
}

static json_t *number_json(unsigned value) { return json_integer((json_int_t)value); }
static json_t *kind_json(unsigned kind) { return plim_text_json(kinds[kind]); }

static json_t *events_json(const struct plim_step_track *track)
{
    struct words words, handles = { NULL, 0 }, ids = { NULL, 0 };
    const unsigned n_handles = track->n_streams > track->n_pools ? track->n_streams : track->n_pools;
    json_t *kind = json_array(), *id = json_array(), *stream = json_array(), *pool = json_array();
    const bool is_made = words_init(&words, PLIM_STEP_EVENT_MAX_, kind_json) &&
                         words_init(&handles, n_handles, number_json) &&
                         words_init(&ids, (size_t)track->n_allocations + 1, number_json);
    for (size_t i = 0; is_made && i < track->n_events; i++) {
        const struct plim_step_event *event = &track->events[i];
        append(kind, &words, event->kind);
        if (event->kind <= PLIM_STEP_GIVEN)
            append(id, &ids, event->id);
        else
            json_array_append_new(id, json_null());
        append(stream, &handles, event->stream);
        append(pool, &handles, event->pool);
    }
    words_done(&words);
    words_done(&handles);
    words_done(&ids);
    if (is_made)
        return json_pack("{s:o, s:o, s:o, s:o}", "kind", kind, "id", id, "stream", stream, "pool", pool);
    json_decref(kind);
    json_decref(id);
    json_decref(stream);
    json_decref(pool);
    return NULL;
}

static json_t *allocations_json(const struct plim_step *step, const struct plim_step_shape *shape,
                                const struct plim_step_track *track)
{
    struct words sizes, sites = { NULL, 0 }, pillars = { NULL, 0 }, phases = { NULL, 0 };
    json_t *size = json_array(), *site = json_array(), *pillar = json_array(), *phase = json_array();
    const bool is_made =
        words_init(&sizes, shape->n_sizes, number_json) && words_init(&sites, step->n_sites, number_json) &&
        words_init(&pillars, PLIM_PILLAR_MAX_ + 1, pillar_json) && words_init(&phases, PLIM_PHASE_MAX_ + 1, phase_json);
    for (uint32_t i = 0; is_made && i < track->n_allocations; i++) {
        const struct plim_step_allocation *allocation = &track->allocations[i];
        append(size, &sizes, allocation->size);
        if (allocation->site == PLIM_STEP_NO_SITE)
            json_array_append_new(site, json_null());
        else
            append(site, &sites, allocation->site);
        append(pillar, &pillars, allocation->pillar);
        append(phase, &phases, allocation->phase);
    }
    words_done(&sizes);
    words_done(&sites);
    words_done(&pillars);
    words_done(&phases);
    if (is_made)
        return json_pack("{s:o, s:o, s:o, s:o}", "size", size, "site", site, "pillar", pillar, "phase", phase);
    json_decref(size);
    json_decref(site);
    json_decref(pillar);
    json_decref(phase);
    return NULL;
}

static json_t *site_json(const struct plim_step *step, const struct plim_step_site *site)
{
    return json_pack("{s:o, s:I, s:o, s:o, s:o}", "file", plim_text_json(plim_step_text(step, site->file)), "line",
                     (json_int_t)site->line, "function", plim_text_or_null_json(plim_step_text(step, site->function)),
                     "loop", plim_text_or_null_json(plim_step_text(step, site->loop)), "piece",
                     site->piece ? number(site->piece) : json_null());
}

/* --- a shape --- */

/* {"B": 2, "S": 512} of what each variable has. */
static json_t *by_variable(const struct plim_step *step, const uint64_t *values)
{
    json_t *object = json_object();
    for (uint32_t v = 0; v < step->n_variables; v++)
        json_object_set_new(object, step->variables[v].name, number(values[v]));
    return object;
}

static json_t *term_json(const struct plim_step *step, const struct plim_step_term *term)
{
    json_t *powers = json_object();
    for (uint32_t v = 0; v < step->n_variables; v++)
        if (term->power[v])
            json_object_set_new(powers, step->variables[v].name, json_integer(term->power[v]));
    return json_pack("{s:I, s:o}", "coefficient", (json_int_t)term->coefficient, "powers", powers);
}

static json_t *bound_json(uint64_t bytes) { return bytes ? number(bytes) : json_null(); }

static json_t *size_json(const struct plim_step *step, const struct plim_step_shape *shape,
                         const struct plim_step_size *size)
{
    json_t *terms = json_array(), *multiples = json_object();
    for (uint32_t i = 0; i < size->n_terms; i++)
        json_array_append_new(terms, term_json(step, &shape->terms[size->first_term + i]));
    for (uint32_t v = 0; v < step->n_variables; v++)
        if (size->rounding[v])
            json_object_set_new(multiples, step->variables[v].name, json_integer((json_int_t)1 << size->rounding[v]));
    return json_pack("{s:o, s:I, s:o, s:o, s:o, s:o, s:b, s:b}", "terms", terms, "denominator",
                     (json_int_t)size->denominator, "multiples", multiples, "least_bytes",
                     bound_json(size->least_bytes), "multiple_bytes", bound_json(size->multiple_bytes), "most_bytes",
                     bound_json(size->most_bytes), "is_rest", (int)size->is_rest, "is_exact", (int)size->is_exact);
}

static json_t *peaks_json(const struct plim_step_shape *shape, const struct plim_step_track *track)
{
    json_t *peaks = json_array();
    for (size_t i = 0; track->recorded && i < shape->n_points; i++)
        json_array_append_new(peaks,
                              json_pack("{s:o, s:o}", "allocated_bytes", number(track->recorded[i].allocated_bytes),
                                        "reserved_bytes", number(track->recorded[i].reserved_bytes)));
    if (track->recorded)
        return peaks;
    json_decref(peaks);
    return json_null();
}

static json_t *retries_json(const struct plim_step_track *track)
{
    json_t *retries = json_array();
    for (unsigned i = 0; i < track->n_pools; i++)
        json_array_append_new(retries, json_boolean(track->has_retries && track->has_retries[i]));
    return retries;
}

static json_t *marks_json(const struct plim_step_track *track)
{
    json_t *marks = json_array();
    for (size_t i = 0; i < track->n_marks; i++)
        json_array_append_new(marks,
                              json_pack("{s:I, s:I, s:o}", "event", (json_int_t)track->marks[i].event, "step",
                                        (json_int_t)track->marks[i].step, "phase", phase_json(track->marks[i].phase)));
    return marks;
}

static json_t *loops_json(const struct plim_step_track *track)
{
    json_t *loops = json_array();
    for (size_t i = 0; i < track->n_loops; i++) {
        const struct plim_step_loop *loop = &track->loops[i];
        json_t *sizes = json_array();
        for (uint32_t k = 0; k < loop->n_takes; k++)
            json_array_append_new(sizes, json_integer(loop->sizes[k]));
        json_array_append_new(loops, json_pack("{s:I, s:I, s:I, s:I, s:o}", "event", (json_int_t)loop->first_event,
                                               "events", (json_int_t)loop->n_events, "turns", (json_int_t)loop->turns,
                                               "marks", (json_int_t)loop->n_marks, "sizes", sizes));
    }
    return loops;
}

static json_t *track_json(const struct plim_step *step, const struct plim_step_shape *shape,
                          const struct plim_step_track *track)
{
    return json_pack(
        "{s:I, s:I, s:I, s:o, s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "rank", (json_int_t)track->rank, "device",
        (json_int_t)track->device, "streams", (json_int_t)track->n_streams, "pool_retries", retries_json(track), "end",
        ends[track->end] ? plim_text_json(ends[track->end]) : json_null(), "starts_late", (int)track->starts_late,
        "recorded", peaks_json(shape, track), "outside_bytes", number(track->outside_bytes), "capacity_bytes",
        number(track->capacity_bytes), "marks", marks_json(track), "allocations", allocations_json(step, shape, track),
        "events", events_json(track), "loops", loops_json(track));
}

static json_t *error_json(double error) { return error < 0 ? json_null() : json_real(error); }

static json_t *shape_json(const struct plim_step *step, const struct plim_step_shape *shape)
{
    json_t *points = json_array(), *sizes = json_array(), *tracks = json_array();
    for (size_t i = 0; i < shape->n_points; i++)
        json_array_append_new(points, by_variable(step, shape->points[i].value));
    for (size_t i = 0; i < shape->n_sizes; i++)
        json_array_append_new(sizes, size_json(step, shape, &shape->sizes[i]));
    for (size_t i = 0; i < shape->n_tracks; i++)
        json_array_append_new(tracks, track_json(step, shape, &shape->tracks[i]));
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "points", points, "left_out_allocated_error",
                     error_json(shape->left_out_allocated_error), "left_out_reserved_error",
                     error_json(shape->left_out_reserved_error), "sizes", sizes, "tracks", tracks);
}

bool plim_report_step_json(FILE *out, const char *path, const struct plim_step *step)
{
    json_t *variables = json_array(), *sites = json_array(), *shapes = json_array();
    for (uint32_t v = 0; v < step->n_variables; v++)
        json_array_append_new(variables, plim_text_json(step->variables[v].name));
    for (size_t i = 0; i < step->n_sites; i++)
        json_array_append_new(sites, site_json(step, &step->sites[i]));
    for (size_t i = 0; i < step->n_shapes; i++)
        json_array_append_new(shapes, shape_json(step, &step->shapes[i]));
    json_t *card = json_pack("{s:o, s:o}", "name", plim_text_or_null_json(step->card_name), "total_bytes",
                             step->card_bytes ? number(step->card_bytes) : json_null());
    json_t *root = json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "schema", "plimsoll.step/1", "file",
                             plim_text_json(path), "torch_version", plim_text_or_null_json(step->torch_version),
                             "alloc_conf", plim_text_json(step->alloc_conf), "card", card, "command",
                             plim_text_or_null_json(plim_step_text(step, step->command)), "variables", variables,
                             "sites", sites, "shapes", shapes);
    return plim_json_write(out, root, JSON_COMPACT);
}
