/* SPDX-License-Identifier: MIT */
#include "engine/torch/tape.h"

#include "base/mem.h"
#include "base/numbers.h"
#include "step/size.h"

#include <assert.h>

/* More than this in all requests of a tape is beyond any program; their sums stay in 64 bits. */
#define MOST_REQUESTED_BYTES ((uint64_t)1 << 62)

static_assert((int)PLIM_TORCH_TAKE == PLIM_STEP_TAKE && (int)PLIM_TORCH_GIVE == PLIM_STEP_GIVE &&
                  (int)PLIM_TORCH_GIVE_LATER == PLIM_STEP_GIVE_LATER && (int)PLIM_TORCH_GIVEN == PLIM_STEP_GIVEN &&
                  (int)PLIM_TORCH_EMPTY == PLIM_STEP_EMPTY && (int)PLIM_TORCH_RELEASE_POOL == PLIM_STEP_RELEASE_POOL &&
                  (int)PLIM_TORCH_EMPTY_POOL == PLIM_STEP_EMPTY_POOL,
              "events of a step have the allocator's numbers");

/* The bytes of each size of the shape: a size is shared by many events. */
static uint64_t *sizes_at(const struct plim_step_shape *shape, const struct plim_step_point *point)
{
    uint64_t *bytes = plim_alloc_unset(shape->n_sizes + 1, sizeof *bytes);
    for (size_t i = 0; bytes && i < shape->n_sizes; i++)
        bytes[i] = plim_step_size_bytes(shape, (uint32_t)i, point);
    return bytes;
}

/* Returns the sum of all requests. */
static uint64_t write_events(const struct plim_step_track *track, const uint64_t *bytes, size_t n_sizes,
                             struct plim_torch_event *events)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < track->n_events; i++) {
        const struct plim_step_event *event = &track->events[i];
        const bool is_take = event->kind == PLIM_STEP_TAKE && event->id < track->n_allocations;
        const uint32_t size = is_take ? track->allocations[event->id].size : UINT32_MAX;
        const uint64_t event_bytes = size < n_sizes ? bytes[size] : 0;
        events[i] = (struct plim_torch_event){
            .bytes = event_bytes,
            .id = is_take && !event_bytes ? UINT32_MAX : event->id, /* 0 bytes are never asked for */
            .stream = event->stream,
            .pool = event->pool,
            .kind = event->kind,
        };
        sum = plim_bytes_sum(sum, events[i].bytes);
    }
    return sum;
}

int plim_torch_tape_make(const struct plim_step *step, const struct plim_step_shape *shape,
                         const struct plim_step_track *track, const struct plim_step_point *point,
                         struct plim_torch_tape *ret_tape, struct plim_error *reterr)
{
    uint64_t *bytes = sizes_at(shape, point);
    struct plim_torch_event *events = plim_alloc_unset(track->n_events + 1, sizeof *events);
    int result = 0;
    if (!bytes || !events)
        result = plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    else if (write_events(track, bytes, shape->n_sizes, events) > MOST_REQUESTED_BYTES)
        result = plim_fail(reterr, PLIM_E_TOO_BIG, PLIM_NO_OFFSET, "the step asks for more memory than can be counted");
    plim_free(bytes);
    if (result < 0)
        plim_free(events);
    else
        *ret_tape = (struct plim_torch_tape){ step, shape, track, events };
    return result;
}

void plim_torch_tape_done(struct plim_torch_tape *tape)
{
    plim_free(tape->events);
    tape->events = NULL;
}

int plim_torch_tape_open(const struct plim_torch_tape *tape, const struct plim_torch_conditions *conditions,
                         struct plim_torch_allocator **ret_allocator, struct plim_error *reterr)
{
    const struct plim_step_track *track = tape->track;
    const struct plim_torch_setup setup = {
        .settings = conditions->settings,
        .capacity_bytes = conditions->capacity_bytes,
        .card_bytes = conditions->card_bytes,
        .n_ids = track->n_allocations,
        .n_streams = track->n_streams,
        .n_pools = track->n_pools,
        .has_retries = track->has_retries,
        .ends_at_oom = true,
    };
    return plim_torch_allocator_open(&setup, ret_allocator, reterr);
}

int plim_torch_tape_replay(const struct plim_torch_tape *tape, const struct plim_torch_conditions *conditions,
                           struct plim_torch_result *ret_result, struct plim_error *reterr)
{
    struct plim_torch_allocator *allocator = NULL;
    int result = plim_torch_tape_open(tape, conditions, &allocator, reterr);
    if (result == 0)
        result = plim_torch_allocator_run(allocator, tape->events, tape->track->n_events, reterr);
    if (result == 0)
        *ret_result = *plim_torch_allocator_result(allocator);
    plim_torch_allocator_free(allocator);
    return result;
}

/* Segments are whole steps of 2 MiB, so that memory between two steps changes nothing. */
int plim_torch_tape_least(const struct plim_torch_tape *tape, const struct plim_torch_conditions *conditions,
                          uint64_t *ret_capacity_bytes, struct plim_torch_result *ret_result, struct plim_error *reterr)
{
    struct plim_torch_conditions c = *conditions;
    struct plim_torch_result best = { 0 }, tried = { 0 };
    c.card_bytes = c.card_bytes ? c.card_bytes : c.capacity_bytes;
    c.capacity_bytes = UINT64_MAX;
    int result = plim_torch_tape_replay(tape, &c, &best, reterr);
    if (result < 0)
        return result;
    uint64_t high = (best.reserved_peak_bytes + PLIM_TORCH_SEGMENT_STEP_BYTES - 1) / PLIM_TORCH_SEGMENT_STEP_BYTES;
    uint64_t low = best.n_ooms ? high : best.allocated_peak_bytes / PLIM_TORCH_SEGMENT_STEP_BYTES;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        c.capacity_bytes = middle * PLIM_TORCH_SEGMENT_STEP_BYTES;
        result = plim_torch_tape_replay(tape, &c, &tried, reterr);
        if (result < 0)
            return result;
        if (tried.n_ooms) {
            low = middle + 1;
        } else {
            high = middle;
            best = tried;
        }
    }
    *ret_capacity_bytes = best.n_ooms ? UINT64_MAX : high * PLIM_TORCH_SEGMENT_STEP_BYTES;
    *ret_result = best;
    return 0;
}
