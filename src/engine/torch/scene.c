/* SPDX-License-Identifier: MIT */
/* A step at one point, kept for the next question about it. */
#include "engine/torch/engine.h"

#include "base/numbers.h"
#include "step/unroll.h"

#include <stdio.h>
#include <string.h>

/* --- the point --- */

static int unknown_variable(const struct plim_step *step, const char *name, struct plim_error *reterr)
{
    char names[PLIM_STEP_MAX_VARIABLES * (PLIM_STEP_NAME_BYTES + 2)] = "";
    const int code = plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "the step has no variable '%.40s'", name);
    for (uint32_t v = 0; v < step->n_variables; v++) {
        const size_t n = strlen(names);
        snprintf(names + n, sizeof names - n, "%s%s", v ? ", " : "", step->variables[v].name);
    }
    if (*names)
        plim_error_hint(reterr, "its variables: %s", names);
    else
        plim_error_hint(reterr, "it has none: plimsoll rehearse --record FILE --vary %.31s=1,2,3 -- COMMAND {%.31s}",
                        name, name);
    return code;
}

int plim_torch_find_variable(const struct plim_step *step, const char *name, uint32_t *ret_variable,
                             struct plim_error *reterr)
{
    for (uint32_t v = 0; v < step->n_variables; v++)
        if (!strcmp(step->variables[v].name, name)) {
            *ret_variable = v;
            return 0;
        }
    return unknown_variable(step, name, reterr);
}

int plim_torch_point_of(const struct plim_step *step, const struct plim_torch_wish *wish,
                        struct plim_step_point *ret_point, struct plim_error *reterr)
{
    struct plim_step_point point = step->shapes[0].points[0];
    for (uint32_t i = 0; i < wish->n_set; i++) {
        uint32_t v = 0;
        const int result = plim_torch_find_variable(step, wish->set[i].name, &v, reterr);
        if (result < 0)
            return result;
        point.value[v] = wish->set[i].value;
    }
    *ret_point = point;
    return 0;
}

/* --- the scene --- */

const char *plim_torch_keep(struct plim_torch *engine, const char *text)
{
    return plim_arena_copy(&engine->texts, text, strlen(text));
}

void plim_torch_scene_done(struct plim_torch_scene *scene)
{
    for (size_t i = 0; scene->tapes && i < scene->choice.shape->n_tracks; i++)
        plim_torch_tape_done(&scene->tapes[i]);
    plim_free(scene->tapes);
    plim_free(scene->checks);
    plim_free(scene->wholes);
    plim_free(scene->places);
    plim_step_unrolled_free(scene->unrolled);
    *scene = (struct plim_torch_scene){ .is_made = false };
}

static int replay_as_recorded(const struct plim_step *step, const struct plim_torch_tape *tape, uint64_t capacity_bytes,
                              struct plim_torch_result *ret_result, struct plim_error *reterr)
{
    struct plim_torch_conditions conditions = { .capacity_bytes = capacity_bytes, .card_bytes = step->card_bytes };
    plim_torch_settings_init(&conditions.settings);
    if (plim_torch_settings_parse(&conditions.settings, step->alloc_conf, NULL) < 0)
        plim_torch_settings_init(&conditions.settings);
    return plim_torch_tape_replay(tape, &conditions, ret_result, reterr);
}

/* Does the recording, replayed as it was made, have the peaks that PyTorch had? */
static int compare(const struct plim_step *step, const struct plim_torch_scene *scene, size_t track,
                   struct plim_torch_check *check, struct plim_error *reterr)
{
    const struct plim_step_track *t = &scene->choice.shape->tracks[track];
    const struct plim_step_peaks *recorded =
        scene->choice.source == PLIM_STEP_RECORDED && t->recorded ? &t->recorded[scene->choice.point] : NULL;
    struct plim_torch_result r;
    if (!recorded)
        return 0;
    const int result = replay_as_recorded(step, &scene->tapes[track], t->capacity_bytes, &r, reterr);
    if (result < 0)
        return result;
    check->is_equal = !r.n_ooms && r.allocated_peak_bytes == recorded->allocated_bytes &&
                      r.reserved_peak_bytes == recorded->reserved_bytes;
    if (recorded->reserved_bytes != PLIM_STEP_UNKNOWN_BYTES && recorded->reserved_bytes > r.reserved_peak_bytes)
        check->missing_bytes = plim_min_u64(recorded->reserved_bytes - r.reserved_peak_bytes, PLIM_MOST_BYTES);
    return 0;
}

/* --- cards: processes of a job may share one --- */

static void find_places(struct plim_torch_scene *scene)
{
    const struct plim_step_shape *shape = scene->choice.shape;
    for (size_t i = 0; i < shape->n_tracks; i++) {
        size_t same = 0; /* the first track of this card */
        while (shape->tracks[same].device != shape->tracks[i].device)
            same++;
        scene->checks[i].place = same < i ? scene->checks[same].place : scene->n_places++;
    }
}

static int find_peaks(const struct plim_step *step, struct plim_torch_scene *scene, struct plim_error *reterr)
{
    const size_t n_tracks = scene->choice.shape->n_tracks;
    for (size_t i = 0; i < n_tracks && scene->n_places < n_tracks; i++) {
        struct plim_torch_result r;
        const int result = replay_as_recorded(step, &scene->tapes[i], UINT64_MAX, &r, reterr);
        if (result < 0)
            return result;
        scene->checks[i].peak_bytes = plim_bytes_sum(r.reserved_peak_bytes, scene->checks[i].missing_bytes);
    }
    return 0;
}

static int fill(const struct plim_step *step, struct plim_torch_scene *scene, struct plim_error *reterr)
{
    const struct plim_step_shape *shape = scene->choice.shape;
    int result = 0;
    scene->tapes = plim_alloc(shape->n_tracks + 1, sizeof *scene->tapes);
    scene->checks = plim_alloc(shape->n_tracks + 1, sizeof *scene->checks);
    scene->wholes = plim_alloc(2 * shape->n_tracks + 1, sizeof *scene->wholes);
    scene->places = plim_alloc(shape->n_tracks + 1, sizeof *scene->places);
    if (!scene->tapes || !scene->checks || !scene->wholes || !scene->places)
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    for (size_t i = 0; i < shape->n_tracks && result == 0; i++) {
        result = plim_torch_tape_make(step, shape, &shape->tracks[i], &scene->point, &scene->tapes[i], reterr);
        if (result == 0)
            result = compare(step, scene, i, &scene->checks[i], reterr);
    }
    if (result < 0)
        return result;
    find_places(scene);
    return find_peaks(step, scene, reterr);
}

int plim_torch_scene_make(struct plim_torch *engine, const struct plim_step_point *point, struct plim_error *reterr)
{
    struct plim_torch_scene scene = { .point = *point };
    if (engine->scene.is_made && !memcmp(&engine->scene.point, point, sizeof *point))
        return 0;
    int result = plim_step_choose(engine->step, point, &scene.choice, reterr);
    if (result < 0)
        return result;
    result = plim_step_unroll(scene.choice.shape, point, &scene.unrolled, reterr);
    if (result < 0)
        return result;
    scene.choice.shape = plim_step_unrolled(scene.choice.shape, scene.unrolled);
    result = fill(engine->step, &scene, reterr);
    if (result < 0) {
        plim_torch_scene_done(&scene);
        return result;
    }
    plim_torch_scene_done(&engine->scene);
    scene.is_made = true;
    engine->scene = scene;
    return 0;
}
