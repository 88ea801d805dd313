/* SPDX-License-Identifier: MIT */
/* The bill of a step: what its tracks hold when most is reserved, and what else takes memory of their cards. */
#include "engine/torch/engine.h"

#include "base/numbers.h"
#include "bill/bill.h"
#include "card/cuda_overhead.h"
#include "engine/cuda_lines.h"

#include <stdio.h>
#include <string.h>

struct writer {
    struct plim_torch *engine;
    const struct plim_torch_wish *wish;
    size_t track;
    const struct plim_card *card;
    struct plim_device_bill *device;
    struct plim_torch_need need;
    struct plim_torch_moment moment;
    double error;
    bool is_recorded; /* the recording is replayed, as it was, for a card like the recorded one */
};

/* --- PyTorch's memory --- */

static uint64_t part_of(uint64_t bytes, double part) { return (uint64_t)((double)bytes * part); }

/* The requests of a step are those of the recording where the point was recorded and its replay is PyTorch's own. */
static struct plim_line *add_held(const struct writer *w, enum plim_pillar pillar, const char *label, uint64_t bytes)
{
    const uint64_t slack = part_of(bytes, w->error);
    return plim_bill_add_band(w->device, pillar, label, w->is_recorded ? PLIM_BASIS_EXACT : PLIM_BASIS_FORMULA, bytes,
                              bytes - slack, bytes + slack);
}

/*
 * Segments less requests. Their number is PyTorch's own where the recording itself is replayed, and nothing but its
 * requests decides it.
 */
static void add_unused(const struct writer *w)
{
    const uint64_t reserved_bytes = w->need.least.reserved_peak_bytes, held_bytes = w->moment.held_bytes;
    const uint64_t bytes = reserved_bytes > held_bytes ? reserved_bytes - held_bytes : 0;
    const bool is_free = w->need.there.n_ooms == 0 && w->need.there.n_retries == 0 &&
                         reserved_bytes <= w->need.room.worst_capacity_bytes &&
                         !(w->need.room.conditions.settings.fraction > 0);
    const bool is_exact = is_free && w->is_recorded && w->need.room.are_recorded;
    /* replays under other settings than the recorded ones were up to 1 % off (tests/unit/test_torch_allocator.c) */
    const uint64_t slack = is_exact ? 0 : part_of(reserved_bytes, 0.01) + part_of(bytes, w->error);
    const uint64_t free_bytes = w->need.free_peak_bytes > held_bytes ? w->need.free_peak_bytes - held_bytes : 0;
    const uint64_t high_bytes = plim_max_u64(bytes, free_bytes) + slack;
    struct plim_line *line = plim_bill_add_band(w->device, PLIM_PILLAR_OVERHEAD, "reserved, unused",
                                                is_exact ? PLIM_BASIS_EXACT : PLIM_BASIS_FORMULA, bytes,
                                                bytes > slack ? bytes - slack : 0, high_bytes);
    plim_line_because(
        line,
        w->need.there.n_retries || w->need.there.n_ooms
            ? "PyTorch's segments (%b0) less what is held (%b1); with memory enough it would take %b2"
            : "PyTorch's segments (%b0) less what is held (%b1): rounding, and free blocks between others",
        (const uint64_t[]){ reserved_bytes, held_bytes, w->need.free_peak_bytes }, 3);
}

static void add_pillars(const struct writer *w)
{
    static const struct {
        enum plim_pillar pillar;
        const char *label;
    } rows[] = {
        { PLIM_PILLAR_WEIGHTS, "parameters" },        { PLIM_PILLAR_KV_CACHE, "KV cache" },
        { PLIM_PILLAR_ACTIVATIONS, "activations" },   { PLIM_PILLAR_GRADIENTS, "gradients" },
        { PLIM_PILLAR_OPTIMIZER, "optimizer state" }, { PLIM_PILLAR_OVERHEAD, "work areas" },
    };
    const uint64_t *bytes = w->moment.pillar_bytes;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct plim_line *line = add_held(w, rows[i].pillar, rows[i].label, bytes[rows[i].pillar]);
        plim_line_because(line, "held after event %0 of the step, when most is reserved",
                          (const uint64_t[]){ w->moment.event }, 1);
    }
    struct plim_line *line = add_held(w, PLIM_PILLAR_ACTIVATIONS, "tensors of unknown use",
                                      plim_bytes_sum(bytes[PLIM_PILLAR_OTHERS], bytes[PLIM_PILLAR_MAX_]));
    plim_line_because(line, "the recording does not say what they are; counted with the activations", NULL, 0);
}

/* --- what else takes memory --- */

static void add_overhead(const struct writer *w)
{
    const struct plim_step_track *track = &w->engine->scene.choice.shape->tracks[w->track];
    const bool is_measured = track->outside_bytes != PLIM_STEP_UNKNOWN_BYTES;
    struct plim_overhead_band band = plim_torch_outside_band(w->engine, w->card, track);
    struct plim_line *line = plim_bill_add_band(w->device, PLIM_PILLAR_OVERHEAD, "libraries",
                                                is_measured ? PLIM_BASIS_FORMULA : PLIM_BASIS_ASSUMED, band.bytes,
                                                band.low_bytes, band.high_bytes);
    plim_line_because(line,
                      is_measured ? "handles and work areas that CUDA's libraries took when it was recorded"
                                  : "a handle of cuBLAS; what libraries took was not recorded",
                      NULL, 0);
    plim_cuda_lines_add(w->card, w->device);
    plim_bill_add_card(w->card, w->device);
}

/* What the recording knows of, but has no requests of. */
static void add_unseen(const struct writer *w)
{
    const struct plim_overhead_band others = plim_torch_others_band(w->engine, w->card, w->track);
    const uint64_t missing_bytes = w->engine->scene.checks[w->track].missing_bytes;
    struct plim_line *line =
        plim_bill_add(w->device, PLIM_PILLAR_ACTIVATIONS, "not in the recording", PLIM_BASIS_FORMULA, missing_bytes);
    plim_line_because(line, "PyTorch had so much more reserved than the replay of the recording", NULL, 0);
    const uint64_t hidden_bytes = plim_torch_hidden_bytes(w->engine, w->track, &w->need.room, w->card);
    line = plim_bill_add_band(w->device, PLIM_PILLAR_OVERHEAD, "work areas to come", PLIM_BASIS_ASSUMED, 0, 0,
                              hidden_bytes);
    plim_line_because(line, "PyTorch's sums take one from 1,024 rows on; no recording was large enough for it", NULL,
                      0);
    line = plim_bill_add_band(w->device, PLIM_PILLAR_OTHERS, "other ranks", PLIM_BASIS_FORMULA, others.bytes,
                              others.low_bytes, others.high_bytes);
    plim_line_because(line, "of this job on the same card, if all have their peaks at the same time", NULL, 0);
}

/* --- one device --- */

static int add_track(struct writer *w, struct plim_error *reterr)
{
    struct plim_torch_room room;
    int result = plim_torch_room_of(w->engine, w->wish, w->track, w->card, &room, reterr);
    if (result == 0)
        result = plim_torch_need_of(w->engine, w->track, &room, &w->need, reterr);
    const struct plim_torch_result *least = &w->need.least;
    if (result == 0)
        result = plim_torch_moment_at(&w->engine->scene.tapes[w->track], least->reserved_peak_at,
                                      least->n_ooms ? least->oom_at : SIZE_MAX, &w->moment, reterr);
    if (result < 0)
        return result;
    w->error = plim_torch_error_of(w->engine);
    w->is_recorded = w->error == 0 && w->engine->scene.checks[w->track].is_equal &&
                     plim_torch_kinship_of(w->engine, w->card) == PLIM_TORCH_KIN_SAME;
    add_pillars(w);
    add_unused(w);
    add_unseen(w);
    add_overhead(w);
    return 0;
}

/* --- what is said of all of it --- */

/* Does a variable have a larger value than in all recordings of the shape? */
static bool is_above(const struct plim_torch *engine)
{
    const struct plim_step_shape *shape = engine->scene.choice.shape;
    for (uint32_t v = 0; v < engine->step->n_variables; v++) {
        size_t n_below = 0;
        for (size_t i = 0; i < shape->n_points; i++)
            n_below += shape->points[i].value[v] < engine->scene.point.value[v];
        if (n_below == shape->n_points)
            return true;
    }
    return false;
}

/* A larger value that is recorded shows what no smaller ones can: from some size on programs work in pieces. */
static const char *beyond(const struct writer *w)
{
    static const char why[] = "this point lies beyond the recorded ones";
    char point[PLIM_COURSE_POINT_BYTES], text[sizeof why + sizeof point + 128];
    plim_step_point_text(w->engine->step, &w->engine->scene.point, point, sizeof point);
    snprintf(text, sizeof text, "%s:%s a recording that has %s, too, settles it", why,
             is_above(w->engine) ? " a program that works in pieces from some size on takes less;" : "", point);
    const char *kept = plim_torch_keep(w->engine, text);
    return kept ? kept : why;
}

static const char *caveat_of(const struct writer *w)
{
    const struct plim_torch_scene *scene = &w->engine->scene;
    const struct plim_step_track *track = &scene->choice.shape->tracks[w->track];
    const struct plim_step_peaks *recorded =
        track->recorded && scene->choice.point != SIZE_MAX ? &track->recorded[scene->choice.point] : NULL;
    if (track->end == PLIM_STEP_END_MEMORY)
        return "the recording ends where memory ran out: the need of what would follow is not known";
    if (scene->choice.source == PLIM_STEP_BEYOND)
        return beyond(w);
    if (scene->choice.source == PLIM_STEP_BETWEEN)
        return "this point was not recorded: its sizes follow from those that were";
    if (track->end == PLIM_STEP_END_UNKNOWN)
        return "the recording ends before the program does";
    if (track->starts_late)
        return "the recording begins in the middle of the program: what PyTorch held free then is not known";
    if (!recorded || recorded->reserved_bytes == PLIM_STEP_UNKNOWN_BYTES)
        return "the peaks that PyTorch counted itself were not recorded";
    if (!scene->checks[w->track].is_equal)
        return "the replay of the recording does not have the peaks that PyTorch had";
    if (w->card->vendor != PLIM_VENDOR_NVIDIA && w->card->vendor != PLIM_VENDOR_UNKNOWN)
        return "the rules are those of PyTorch's allocator for CUDA";
    const char *card_doubt = plim_torch_card_doubt(w->engine, w->card);
    if (card_doubt)
        return card_doubt;
    if (!w->need.room.are_recorded)
        return "recorded under other settings of the allocator";
    if (w->need.there.n_retries)
        return "PyTorch empties its cache to make room: how often depends on the last MiB of the card";
    return NULL;
}

/* The memory limit of the settings stops the step on any card. */
static void refuse(struct plim_bill *bill)
{
    bill->is_refused = true;
    bill->refusal = "the memory fraction of the allocator's settings is too small for the step";
}

static void put(struct plim_bill *bill, int option, const char *text, bool is_default)
{
    plim_bill_add_setting(bill, &plim_torch_options[option], plim_torch_options[option].key, PLIM_SETTING_TEXT, 0,
                          text);
    bill->settings[bill->n_settings - 1].is_default = is_default;
}

static void put_values(const struct plim_torch *engine, struct plim_bill *bill)
{
    const struct plim_step *step = engine->step;
    for (uint32_t v = 0; v < step->n_variables; v++)
        plim_bill_add_setting(bill, &plim_torch_options[PLIM_TORCH_SET], step->variables[v].name, PLIM_SETTING_INTEGER,
                              (int64_t)plim_min_u64(engine->scene.point.value[v], INT64_MAX), NULL);
}

static int write_settings(struct plim_torch *engine, const struct plim_torch_wish *wish, struct plim_bill *bill,
                          struct plim_error *reterr)
{
    char point[PLIM_COURSE_POINT_BYTES];
    plim_step_point_text(engine->step, &engine->scene.point, point, sizeof point);
    const char *conf = plim_torch_wish_conf(wish, engine->step);
    const char *point_text = plim_torch_keep(engine, point), *conf_text = plim_torch_keep(engine, conf);
    if (!point_text || !conf_text)
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    put(bill, PLIM_TORCH_POINT, point_text, wish->n_set == 0);
    put(bill, PLIM_TORCH_ALLOC_CONF, conf_text, !wish->has_alloc_conf);
    put(bill, PLIM_TORCH_COMMAND, plim_step_text(engine->step, engine->step->command), true);
    put_values(engine, bill);
    return 0;
}

static int check_cards(const struct plim_torch *engine, const struct plim_machine *machine, struct plim_error *reterr)
{
    const uint32_t n_places = engine->scene.n_places;
    if (machine->n_cards == 0)
        return plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "a recorded step runs on a GPU: name a card");
    if (machine->n_cards == 1 || machine->n_cards >= n_places)
        return 0;
    const int code = plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "the step uses %u devices, there are %u cards",
                               n_places, machine->n_cards);
    plim_error_hint(reterr, "name one card, for all of them, or one for each");
    return code;
}

/* A device of the bill: the track of it that needs most. */
static int write_worst(struct writer *w, const struct plim_machine *machine, uint32_t number, struct plim_bill *bill,
                       const char **ret_caveat, struct plim_error *reterr)
{
    struct plim_device_bill *worst = plim_alloc(1, sizeof *worst), *device = &bill->device[number];
    const struct plim_device_bill empty = *device;
    int result = worst ? 0 : plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    struct plim_torch_need most = { .never_runs = false };
    bool is_first = true;
    w->card = &machine->card[number];
    w->device = device;
    for (size_t i = 0; i < w->engine->scene.choice.shape->n_tracks && result == 0; i++) {
        if (plim_torch_device_of(w->engine, machine, i) != number)
            continue;
        *device = empty;
        w->track = i;
        result = add_track(w, reterr);
        if (result == 0 && (is_first || plim_torch_need_is_more(&w->need, &most))) {
            *worst = *device;
            most = w->need;
            *ret_caveat = caveat_of(w);
            is_first = false;
        }
        if (result == 0 && w->need.never_runs)
            refuse(bill);
    }
    if (result == 0)
        *device = *worst;
    plim_free(worst);
    return result;
}

int plim_torch_bill(struct plim_engine *base, const struct plim_setup *setup, const struct plim_machine *machine,
                    struct plim_bill *ret_bill, struct plim_error *reterr)
{
    struct plim_torch *engine = plim_torch_of(base);
    struct plim_bill *bill = ret_bill;
    struct writer w = { .engine = engine, .wish = plim_torch_wish_of(setup) };
    struct plim_step_point point;
    const char *caveat = NULL;
    int result = plim_torch_point_of(engine->step, w.wish, &point, reterr);
    if (result == 0)
        result = plim_torch_scene_make(engine, &point, reterr);
    if (result == 0)
        result = check_cards(engine, machine, reterr);
    if (result == 0)
        result = write_settings(engine, w.wish, bill, reterr);
    if (result < 0)
        return result;
    const uint32_t n_devices = machine->n_cards < engine->scene.n_places ? 1 : engine->scene.n_places;
    plim_bill_add_devices(bill, machine, n_devices);
    for (uint32_t i = 0; i < n_devices && result == 0; i++) {
        const char *own = NULL;
        result = write_worst(&w, machine, i, bill, &own, reterr);
        caveat = caveat ? caveat : own;
    }
    if (result < 0)
        return result;
    bill->caveat = caveat;
    for (size_t i = 0; i < engine->scene.choice.shape->n_tracks; i++)
        bill->is_at_least |= engine->scene.choice.shape->tracks[i].end == PLIM_STEP_END_MEMORY;
    return 0;
}
