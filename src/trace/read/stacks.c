/* SPDX-License-Identifier: MIT */
/*
 * Frames and stacks, each kept once: a snapshot writes a list of frames for every entry, and JSON the frames as well,
 * of which a program has few that differ.
 */
#include "trace/read/objects.h"

#include "base/mem.h"

#include <string.h>

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 32;
}

static uint64_t frame_hash(const struct plim_memory_trace *trace, size_t number)
{
    const struct plim_trace_frame *frame = &trace->frames[number];
    return mix(mix(frame->file, frame->name), frame->line);
}

static uint64_t stack_hash(const struct plim_memory_trace *trace, size_t number)
{
    const struct plim_trace_stack *stack = &trace->stacks[number];
    const uint32_t *frames = trace->stack_frames + stack->first;
    uint64_t hash = stack->n;
    uint32_t i = 0;
    for (; i + 2 <= stack->n; i += 2)
        hash = mix(hash, (uint64_t)frames[i] << 32 | frames[i + 1]);
    return i < stack->n ? mix(hash, frames[i]) : hash;
}

typedef uint64_t (*hash_function)(const struct plim_memory_trace *trace, size_t number);

/* A table with room for one more than the n that it has, half full at most. */
static bool make_room(struct plim_trace_objects *objects, uint32_t **table, size_t *room, size_t n, hash_function hash)
{
    if (2 * (n + 1) <= *room)
        return true;
    const size_t larger = *room ? 2 * *room : 256;
    if (!plim_trace_may_take(objects, (larger - *room) * sizeof **table))
        return false;
    uint32_t *rows = plim_alloc(larger, sizeof *rows);
    if (!rows)
        return false;
    for (size_t i = 0; i < n; i++) {
        size_t at = hash(&objects->trace, i) & (larger - 1);
        while (rows[at])
            at = (at + 1) & (larger - 1);
        rows[at] = (uint32_t)i + 1;
    }
    plim_free(*table);
    *table = rows;
    *room = larger;
    return true;
}

bool plim_trace_frame(struct plim_trace_objects *objects, struct plim_trace_frame frame, uint32_t *ret_number)
{
    struct plim_memory_trace *trace = &objects->trace;
    if (!PLIM_TRACE_GROW(objects, trace->frames, trace->n_frames, objects->frames_room) ||
        !make_room(objects, &objects->frame_table, &objects->frame_table_room, trace->n_frames, frame_hash))
        return false;
    trace->frames[trace->n_frames] = frame; /* for now: it stays if there is no other */
    const size_t mask = objects->frame_table_room - 1;
    size_t at = frame_hash(trace, trace->n_frames) & mask;
    for (; objects->frame_table[at]; at = (at + 1) & mask) {
        *ret_number = objects->frame_table[at] - 1;
        if (memcmp(&trace->frames[*ret_number], &frame, sizeof frame) == 0)
            return true;
    }
    *ret_number = (uint32_t)trace->n_frames++;
    objects->frame_table[at] = *ret_number + 1;
    return true;
}

static bool are_same(const struct plim_memory_trace *trace, const struct plim_trace_stack *a,
                     const struct plim_trace_stack *b)
{
    return a->n == b->n && memcmp(trace->stack_frames + a->first, trace->stack_frames + b->first,
                                  a->n * sizeof *trace->stack_frames) == 0;
}

bool plim_trace_stack(struct plim_trace_objects *objects, size_t first_frame, uint32_t *ret_number)
{
    struct plim_memory_trace *trace = &objects->trace;
    if (!PLIM_TRACE_GROW(objects, trace->stacks, trace->n_stacks, objects->stacks_room) ||
        !make_room(objects, &objects->stack_table, &objects->stack_table_room, trace->n_stacks, stack_hash))
        return false;
    struct plim_trace_stack *stack = &trace->stacks[trace->n_stacks];
    *stack = (struct plim_trace_stack){ (uint32_t)first_frame, (uint32_t)(trace->n_stack_frames - first_frame) };
    const size_t mask = objects->stack_table_room - 1;
    size_t at = stack_hash(trace, trace->n_stacks) & mask;
    for (; objects->stack_table[at]; at = (at + 1) & mask) {
        *ret_number = objects->stack_table[at] - 1;
        if (are_same(trace, &trace->stacks[*ret_number], stack)) {
            trace->n_stack_frames = first_frame;
            return true;
        }
    }
    *ret_number = (uint32_t)trace->n_stacks++;
    objects->stack_table[at] = *ret_number + 1;
    return true;
}
