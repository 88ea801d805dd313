/* SPDX-License-Identifier: MIT */
/* What the recordings of a step cannot show of the point and the card that are asked for. */
#include "engine/torch/engine.h"

#include "base/numbers.h"
#include "step/size.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* --- the card --- */

const char *plim_torch_card_doubt(struct plim_torch *engine, const struct plim_card *card)
{
    char text[320];
    const enum plim_torch_kinship kinship = plim_torch_kinship_of(engine, card);
    const char *recorded =
        *engine->step->card_name ? engine->step->card_name : "a card that the recording does not name";
    if (kinship == PLIM_TORCH_KIN_SAME || engine->card_doubts[kinship])
        return engine->card_doubts[kinship];
    snprintf(text, sizeof text, "recorded on %.150s%s PyTorch may choose other kernels and work areas", recorded,
             kinship == PLIM_TORCH_KIN_OTHER ? "; on this card, of another generation,"
                                             : "; on a card of another generation");
    return engine->card_doubts[kinship] = plim_torch_keep(engine, text);
}

/* --- sizes of one --- */

static const char *one_doubt(struct plim_torch *engine, uint32_t variable)
{
    const struct plim_step *step = engine->step;
    uint64_t least = UINT64_MAX;
    char text[256];
    for (size_t i = 0; i < step->n_shapes; i++)
        for (size_t k = 0; k < step->shapes[i].n_points; k++)
            least = plim_min_u64(least, step->shapes[i].points[k].value[variable]);
    if (engine->scene.point.value[variable] != 1 || least <= 1)
        return NULL;
    snprintf(text, sizeof text,
             "%s=1 was not recorded, the least is %" PRIu64 ": with a size of 1 most programs take another way (views "
             "in the place of copies, other kernels); record it to be sure",
             step->variables[variable].name, least);
    return plim_torch_keep(engine, text);
}

/* --- work areas --- */

/*
 * PyTorch's sums over rows take a work area as soon as each thread has 256 values (Reduce.cuh; step/fit/work_area.c):
 * from 1,024 rows on where four threads stand above each other, from 4,096 on with sixteen.
 */
enum { FIRST_ROWS = 1024, LAST_ROWS = 4096, MOST_BYTES_OF_A_ROW = 8 };

/* The variables that have several values in the recordings, a bit each. */
static uint32_t varied_in(const struct plim_step_shape *shape, uint32_t n_variables)
{
    uint32_t varied = 0;
    for (uint32_t v = 0; v < n_variables; v++)
        for (size_t i = 1; i < shape->n_points; i++)
            if (shape->points[i].value[v] != shape->points[0].value[v])
                varied |= 1u << v;
    return varied;
}

static bool is_constant(const struct plim_step_shape *shape, const struct plim_step_size *size)
{
    unsigned powers = 0;
    for (uint32_t v = 0; size->n_terms == 1 && v < PLIM_STEP_MAX_VARIABLES; v++)
        powers += shape->terms[size->first_term].power[v];
    return size->n_terms == 1 && powers == 0;
}

static bool grows_with(const struct plim_step_shape *shape, const struct plim_step_size *size, uint32_t variables)
{
    for (uint32_t i = 0; i < size->n_terms; i++)
        for (uint32_t v = 0; v < PLIM_STEP_MAX_VARIABLES; v++)
            if (shape->terms[size->first_term + i].power[v] > 0)
                variables &= ~(1u << v);
    return variables == 0;
}

/*
 * The smallest allocation that grows with all variables has one element of a row: a mask's byte, a token's number of 8
 * bytes. So there are at most as many rows as it has bytes, and an eighth of that is likely at least. Its size, and its
 * bytes at the point that is asked for; 0: there is none.
 */
static uint64_t find_smallest(const struct plim_torch *engine, uint32_t *ret_size)
{
    const struct plim_step_shape *shape = engine->scene.choice.shape;
    const uint32_t varied = varied_in(shape, engine->step->n_variables);
    uint64_t smallest = 0;
    for (size_t i = 0; i < shape->n_sizes; i++) {
        if (!grows_with(shape, &shape->sizes[i], varied))
            continue;
        const uint64_t bytes = plim_step_size_bytes(shape, (uint32_t)i, &engine->scene.point);
        if (bytes && (!smallest || bytes < smallest)) {
            smallest = bytes;
            *ret_size = (uint32_t)i;
        }
    }
    return smallest;
}

/* An allocation that was made at some of the recorded points only, as work areas are. */
static bool shows_work_areas(const struct plim_step_shape *shape)
{
    for (size_t i = 0; i < shape->n_sizes; i++)
        if (shape->sizes[i].least_bytes || shape->sizes[i].multiple_bytes)
            return true;
    return false;
}

static bool hides_work_areas(const struct plim_torch *engine)
{
    const struct plim_step_choice *choice = &engine->scene.choice;
    const struct plim_step_shape *shape = choice->shape;
    uint32_t smallest = 0;
    if (choice->source != PLIM_STEP_BEYOND || shows_work_areas(shape) || find_smallest(engine, &smallest) < FIRST_ROWS)
        return false;
    for (size_t i = 0; i < shape->n_points; i++)
        if (plim_step_size_bytes(shape, smallest, &shape->points[i]) / MOST_BYTES_OF_A_ROW >= LAST_ROWS)
            return false;
    return true;
}

/*
 * One such area has 4 bytes for each of up to 128 outputs beside each other, each block and each of its outputs: at
 * most 512 bytes for each thread that the card can have at work, and, as each thread sums up 16 values at least, at
 * most twice the tensor that is summed, in 16 bits four times. They are there one at a time.
 */
uint64_t plim_torch_hidden_bytes(const struct plim_torch *engine, size_t track, const struct plim_torch_room *room,
                                 const struct plim_card *card)
{
    enum { BYTES_OF_A_THREAD = 512, MOST_THREADS = 2048, MOST_MULTIPROCESSORS = 160, MOST_TIMES = 4 };
    const struct plim_torch_tape *tape = &engine->scene.tapes[track];
    const uint64_t n = card->sm_count ? card->sm_count : MOST_MULTIPROCESSORS;
    uint64_t largest = 0;
    if (!hides_work_areas(engine))
        return 0;
    for (size_t i = 0; i < tape->track->n_events; i++)
        if (tape->events[i].kind == PLIM_TORCH_TAKE)
            largest = plim_max_u64(largest, tape->events[i].bytes);
    const uint64_t bytes =
        plim_min_u64(n * MOST_THREADS * BYTES_OF_A_THREAD, plim_min_u64(largest, UINT64_MAX / MOST_TIMES) * MOST_TIMES);
    const struct plim_torch_settings *settings = &room->conditions.settings;
    return plim_torch_segment_bytes(settings, plim_torch_round(settings, bytes));
}

/* --- less than a piece --- */

/* Is there less of all that grows with the variables than in any recording? */
static bool is_small(const struct plim_torch *engine)
{
    const struct plim_step_shape *shape = engine->scene.choice.shape;
    uint32_t smallest = 0;
    const uint64_t bytes = find_smallest(engine, &smallest);
    for (size_t i = 0; bytes && i < shape->n_points; i++)
        if (plim_step_size_bytes(shape, smallest, &shape->points[i]) <= bytes)
            return false;
    return bytes > 0;
}

/* An activation that is as large in all recordings, on a line that works in pieces: all of them had whole ones. */
static bool is_whole_piece(const struct plim_torch *engine, const struct plim_step_allocation *own)
{
    const struct plim_step *step = engine->step;
    const struct plim_step_shape *shape = engine->scene.choice.shape;
    const bool stays = own->pillar == PLIM_PILLAR_WEIGHTS || own->pillar == PLIM_PILLAR_OPTIMIZER ||
                       own->pillar == PLIM_PILLAR_GRADIENTS;
    return !stays && own->site < step->n_sites && step->sites[own->site].loop && own->size < shape->n_sizes &&
           is_constant(shape, &shape->sizes[own->size]);
}

/* Turns that leave nothing behind are no loop of the track: it does not matter how many there are, if they are whole.
 */
static const char *piece_doubt(struct plim_torch *engine)
{
    const struct plim_step *step = engine->step;
    const struct plim_step_shape *shape = engine->scene.choice.shape;
    char text[320];
    if (engine->scene.choice.source == PLIM_STEP_RECORDED || !is_small(engine))
        return NULL;
    for (size_t t = 0; t < shape->n_tracks; t++)
        for (uint32_t i = 0; i < shape->tracks[t].n_allocations; i++) {
            if (!is_whole_piece(engine, &shape->tracks[t].allocations[i]))
                continue;
            const struct plim_step_site *site = &step->sites[shape->tracks[t].allocations[i].site];
            const char *place = plim_step_text(step, site->loop), *slash = strrchr(place, '/');
            snprintf(
                text, sizeof text,
                "the program works in pieces at %.120s, and those of all recordings are alike: what is less than a "
                "piece takes less; record smaller values to know",
                slash ? slash + 1 : place);
            return plim_torch_keep(engine, text);
        }
    return NULL;
}

/* --- ends and orders --- */

/*
 * A size that was the same in the largest recordings is taken to have its end there. Where the source says so that is
 * known (step/pieces.h); lengths that are padded to a few sizes look alike, and do not end.
 */
static const char *end_doubt(struct plim_torch *engine)
{
    const struct plim_step *step = engine->step;
    const struct plim_step_choice *choice = &engine->scene.choice;
    const struct plim_step_shape *shape = choice->shape;
    char text[320];
    for (size_t t = 0; choice->source == PLIM_STEP_BEYOND && t < shape->n_tracks; t++)
        for (uint32_t i = 0; i < shape->tracks[t].n_allocations; i++) {
            const struct plim_step_allocation *own = &shape->tracks[t].allocations[i];
            const struct plim_step_size *size = own->size < shape->n_sizes ? &shape->sizes[own->size] : NULL;
            const struct plim_step_site *site = own->site < step->n_sites ? &step->sites[own->site] : NULL;
            if (!site || !size || !size->most_bytes || size->least_bytes || size->multiple_bytes || size->is_rest ||
                site->loop || plim_step_size_bytes(shape, own->size, &engine->scene.point) < size->most_bytes)
                continue;
            const char *file = plim_step_text(step, site->file), *slash = strrchr(file, '/');
            snprintf(text, sizeof text,
                     "what line %" PRIu32
                     " of %.120s takes is the same in the largest recordings, and taken to stay so; "
                     "record larger values to know",
                     site->line, slash ? slash + 1 : file);
            return plim_torch_keep(engine, text);
        }
    return NULL;
}

/* Has this shape other values of the variable than that one? */
static bool differs_along(const struct plim_step_shape *own, const struct plim_step_shape *other, uint32_t variable)
{
    for (size_t i = 0; i < other->n_points; i++) {
        bool is_there = false;
        for (size_t k = 0; k < own->n_points; k++)
            is_there = is_there || own->points[k].value[variable] == other->points[i].value[variable];
        if (!is_there)
            return true;
    }
    return false;
}

/* Where the order of requests changed from one recorded value to the next, it may change again. */
static const char *order_doubt(struct plim_torch *engine, uint32_t variable)
{
    const struct plim_step *step = engine->step;
    const struct plim_step_choice *choice = &engine->scene.choice;
    const uint64_t value = engine->scene.point.value[variable];
    uint64_t most = 0;
    bool is_other = false;
    char text[256];
    for (size_t i = 0; i < step->n_shapes; i++) {
        for (size_t k = 0; k < step->shapes[i].n_points; k++)
            most = plim_max_u64(most, step->shapes[i].points[k].value[variable]);
        is_other = is_other || differs_along(choice->shape, &step->shapes[i], variable);
    }
    if (choice->source != PLIM_STEP_BEYOND || !is_other || value <= most)
        return NULL;
    snprintf(text, sizeof text,
             "other values of %s have another order of requests in the recordings, and beyond %s=%" PRIu64
             " there may be yet another; record larger values to know",
             step->variables[variable].name, step->variables[variable].name, most);
    return plim_torch_keep(engine, text);
}

/* --- all of them --- */

static void add(struct plim_course *course, const char *kind, const char *text)
{
    if (text && course->n_doubts < PLIM_COURSE_MAX_DOUBTS)
        course->doubts[course->n_doubts++] = (struct plim_course_doubt){ kind, text };
}

void plim_torch_add_doubts(struct plim_torch *engine, const struct plim_card *card, struct plim_course *course)
{
    add(course, "other_card", plim_torch_card_doubt(engine, card));
    if (hides_work_areas(engine))
        add(course, "work_areas",
            "no recording is large enough for the work areas that PyTorch's sums take from 1,024 rows on (batch x "
            "length): a line of the bill has room for one; record larger values to know");
    add(course, "whole_pieces", piece_doubt(engine));
    add(course, "end_of_growth", end_doubt(engine));
    for (uint32_t v = 0; v < engine->step->n_variables; v++) {
        add(course, "value_of_one", one_doubt(engine, v));
        add(course, "other_orders", order_doubt(engine, v));
    }
}
