/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_TESTS_HAND_STEP_H
#define PLIMSOLL_TESTS_HAND_STEP_H

/* Steps built by hand. Sizes are a + b * the first variable. */

#include "base/mem.h"
#include "step/step.h"
#include "unit.h"

static inline void *hand_copy(const void *from, size_t n, size_t size)
{
    void *copy = plim_alloc(n + 1, size);
    assert_non_null(copy);
    if (n)
        memcpy(copy, from, n * size);
    return copy;
}

/* One more element at the end of an array of the step. */
#define HAND_ADD(array, n, ...)                                                                                        \
    do {                                                                                                               \
        (array) = plim_realloc((array), (size_t)(n) + 1, sizeof *(array));                                             \
        assert_non_null(array);                                                                                        \
        (array)[(n)++] = (__VA_ARGS__);                                                                                \
    } while (0)

/* A line of the program: "train.py:LINE". */
static inline uint32_t hand_site(struct plim_step *step, uint32_t line)
{
    static const char text[] = "\0train.py\0forward";
    if (!step->text) {
        step->text = hand_copy(text, 1, sizeof text);
        step->text_bytes = sizeof text;
    }
    HAND_ADD(step->sites, step->n_sites, (struct plim_step_site){ .file = 1, .function = 10, .line = line });
    return (uint32_t)step->n_sites - 1;
}

static inline struct plim_step_shape *hand_shape(struct plim_step *step)
{
    HAND_ADD(step->shapes, step->n_shapes,
             (struct plim_step_shape){ .left_out_allocated_error = -1, .left_out_reserved_error = -1 });
    return &step->shapes[step->n_shapes - 1];
}

static inline void hand_point(struct plim_step_shape *shape, uint64_t first, uint64_t second)
{
    HAND_ADD(shape->points, shape->n_points, (struct plim_step_point){ { first, second } });
}

static inline struct plim_step_track *hand_track(struct plim_step_shape *shape)
{
    const uint32_t rank = (uint32_t)shape->n_tracks;
    HAND_ADD(shape->tracks, shape->n_tracks,
             (struct plim_step_track){ .rank = rank,
                                       .device = rank,
                                       .end = PLIM_STEP_END_EXIT,
                                       .n_streams = 1,
                                       .n_pools = 1,
                                       .outside_bytes = PLIM_STEP_UNKNOWN_BYTES,
                                       .capacity_bytes = PLIM_STEP_UNKNOWN_BYTES });
    return &shape->tracks[shape->n_tracks - 1];
}

/* bytes = fixed + each * the first variable */
static inline uint32_t hand_size(struct plim_step_shape *shape, int64_t fixed, int64_t each)
{
    const uint32_t first = (uint32_t)shape->n_terms;
    HAND_ADD(shape->terms, shape->n_terms, (struct plim_step_term){ .coefficient = fixed });
    if (each)
        HAND_ADD(shape->terms, shape->n_terms, (struct plim_step_term){ .coefficient = each, .power = { 1 } });
    HAND_ADD(
        shape->sizes, shape->n_sizes,
        (struct plim_step_size){ .first_term = first, .n_terms = each ? 2 : 1, .denominator = 1, .is_exact = true });
    return (uint32_t)shape->n_sizes - 1;
}

static inline uint32_t hand_take(struct plim_step_track *track, uint32_t size, uint32_t site, unsigned pillar,
                                 unsigned phase)
{
    const uint32_t id = track->n_allocations;
    HAND_ADD(track->allocations, track->n_allocations,
             (struct plim_step_allocation){ size, site, (uint8_t)pillar, (uint8_t)phase });
    HAND_ADD(track->events, track->n_events, (struct plim_step_event){ .id = id, .kind = PLIM_STEP_TAKE });
    return id;
}

static inline void hand_give(struct plim_step_track *track, uint32_t id)
{
    HAND_ADD(track->events, track->n_events, (struct plim_step_event){ .id = id, .kind = PLIM_STEP_GIVE });
}

static inline void hand_mark(struct plim_step_track *track, uint32_t step, unsigned phase)
{
    HAND_ADD(track->marks, track->n_marks, (struct plim_step_mark){ (uint32_t)track->n_events, step, (uint8_t)phase });
}

#endif
