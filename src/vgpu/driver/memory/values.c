/* SPDX-License-Identifier: MIT */
#include "vgpu/driver/memory/values.h"

#include "vgpu/core/space.h"
#include "vgpu/driver/graphs/capture.h"
#include "vgpu/driver/memory/device_memory.h"
#include "vgpu/driver/memory/host.h"
#include "vgpu/values/reads.h"
#include "vgpu/values/shadow.h"
#include "vgpu/values/zeros.h"

#include <stdatomic.h>
#include <string.h>

/* A larger write to managed memory is not made: it would take host memory of the size of the model. */
enum { MANAGED_BYTES = 64 << 10 };

static void note_evictions(void)
{
    static atomic_ullong noted;
    int error;
    const unsigned long long n = plim_shadow_n_evicted();
    struct plim_ledger *ledger = n != atomic_load(&noted) ? plim_vgpu_ledger(&error) : NULL;
    if (!ledger)
        return;
    atomic_store(&noted, n);
    plim_ledger_warn(ledger, "value_lost",
                     "more was written to the card than is kept: what was not read for longest counts as zero");
}

/* --- copies --- */

enum place { PLACE_DEVICE, PLACE_PINNED, PLACE_MANAGED, PLACE_HOST, PLACE_NONE };

/*
 * PLACE_NONE: device memory that is not allocated, or more than the memory that CUDA knows there. "Memory regions
 * requested must be either entirely registered with CUDA, or in the case of host pageable transfers, not registered at
 * all" (CUDA driver API, notes on cuMemcpy).
 */
static enum place place_of(const void *start, size_t size)
{
    enum plim_ledger_kind kind;
    const uint64_t first = (uint64_t)(uintptr_t)start;
    if (size > UINT64_MAX - first)
        return PLACE_NONE;
    if (plim_space_contains(first))
        return plim_device_memory_holds(first, size) ? PLACE_DEVICE : PLACE_NONE;
    if (!plim_vgpu_host_holds(start, size, &kind))
        return PLACE_NONE;
    return kind == PLIM_KIND_MAX_ ? PLACE_HOST : kind == PLIM_KIND_MANAGED ? PLACE_MANAGED : PLACE_PINNED;
}

static bool is_right(enum place to, enum place from, enum plim_copy_kind kind)
{
    const bool is_device_to = to != PLACE_HOST, is_device_from = from != PLACE_HOST;
    if (to == PLACE_NONE || from == PLACE_NONE)
        return false;
    switch (kind) {
    case PLIM_COPY_HOST:
        return to != PLACE_DEVICE && from != PLACE_DEVICE;
    case PLIM_COPY_TO_DEVICE:
        return is_device_to && from != PLACE_DEVICE;
    case PLIM_COPY_TO_HOST:
        return to != PLACE_DEVICE && is_device_from;
    case PLIM_COPY_ON_DEVICE:
        return is_device_to && is_device_from;
    case PLIM_COPY_ANY:
        return true;
    }
    return false;
}

/* A read by the host. */
static void read_box(const struct plim_copy *copy, size_t total)
{
    struct plim_read read = { .known = PLIM_SHADOW_KNOWN, .size_bytes = total, .bytes = copy->to };
    for (size_t z = 0; z < copy->depth; z++)
        for (size_t y = 0; y < copy->height; y++) {
            enum plim_shadow_known row =
                plim_shadow_read((char *)copy->to + z * copy->to_slice + y * copy->to_pitch,
                                 (const char *)copy->from + z * copy->from_slice + y * copy->from_pitch, copy->width);
            read.known = row < read.known ? row : read.known;
        }
    plim_values_note_read(&read);
}

/* Kernels write managed memory too, and nothing of that is done here. */
static void write_row(char *to, const char *from, size_t size, enum place to_place, enum place from_place)
{
    if (to_place != PLACE_DEVICE)
        memmove(to, from, size);
    else if (from_place == PLACE_DEVICE)
        plim_shadow_move(to, from, size);
    else
        plim_shadow_write(to, from, size, from_place == PLACE_MANAGED ? PLIM_SHADOW_KEPT : PLIM_SHADOW_KNOWN);
}

size_t plim_vgpu_slice(size_t pitch, size_t height)
{
    size_t slice;
    return __builtin_mul_overflow(pitch, height, &slice) ? SIZE_MAX : slice;
}

void *plim_vgpu_within(void *start, size_t pitch, size_t height, size_t x, size_t y, size_t z)
{
    size_t at;
    if (!start || __builtin_mul_overflow(z, height, &at) || __builtin_add_overflow(at, y, &at) ||
        __builtin_mul_overflow(at, pitch, &at) || __builtin_add_overflow(at, x, &at) ||
        at > UINTPTR_MAX - (uintptr_t)start)
        return NULL;
    return (char *)start + at;
}

/*
 * The length from the first byte to the last. SIZE_MAX: overflow, or rows or layers overlap: then the number of rows
 * would say nothing about the memory, and a few bytes could be written for years.
 */
static size_t extent(size_t width, size_t height, size_t depth, size_t pitch, size_t slice)
{
    size_t layer, sum;
    if ((height > 1 && pitch < width) || __builtin_mul_overflow(height - 1, pitch, &layer) ||
        __builtin_add_overflow(layer, width, &layer) || (depth > 1 && slice < layer) ||
        __builtin_mul_overflow(depth - 1, slice, &sum) || __builtin_add_overflow(sum, layer, &sum))
        return SIZE_MAX;
    return sum;
}

/* To look at each row of a box of very many would take minutes: what it writes becomes unknown, with the gaps. */
static bool has_too_many_rows(size_t n_rows)
{
    enum { MANY_ROWS = 1 << 16 };
    return n_rows > MANY_ROWS;
}

static void write_box(const struct plim_copy *copy, enum place to, enum place from)
{
    for (size_t z = 0; z < copy->depth; z++)
        for (size_t y = 0; y < copy->height; y++)
            write_row((char *)copy->to + z * copy->to_slice + y * copy->to_pitch,
                      (const char *)copy->from + z * copy->from_slice + y * copy->from_pitch, copy->width, to, from);
}

struct places {
    enum place to, from;
    size_t to_extent, from_extent;
};

static status check_copy(const struct plim_copy *copy, enum plim_copy_kind kind, struct places *ret_places)
{
    const size_t width = copy->width, height = copy->height, depth = copy->depth;
    ret_places->to_extent = extent(width, height, depth, copy->to_pitch, copy->to_slice);
    ret_places->from_extent = extent(width, height, depth, copy->from_pitch, copy->from_slice);
    ret_places->to = place_of(copy->to, ret_places->to_extent);
    ret_places->from = place_of(copy->from, ret_places->from_extent);
    return copy->to && copy->from && is_right(ret_places->to, ret_places->from, kind) ? PLIM_CUDA_SUCCESS
                                                                                      : PLIM_CUDA_INVALID_VALUE;
}

static void do_copy(const struct plim_copy *copy, const struct places *places)
{
    struct plim_copy box = *copy;
    const size_t total = box.width * box.height * box.depth; /* within the extents */
    if (places->to == PLACE_MANAGED && total > MANAGED_BYTES)
        return;
    if (places->to_extent == total && places->from_extent == total) { /* without gaps */
        box.width = total;
        box.height = box.depth = 1;
    }
    const bool is_kept = places->from == PLACE_DEVICE || total <= PLIM_SHADOW_BUFFER_BYTES;
    const bool is_to_device = places->to == PLACE_DEVICE;
    if (!is_to_device && places->from == PLACE_DEVICE)
        read_box(&box, total);
    else if (is_to_device && (has_too_many_rows(box.height * box.depth) || !is_kept))
        plim_shadow_forget(box.to, places->to_extent);
    else
        write_box(&box, places->to, places->from);
    if (is_to_device) {
        plim_shadow_join(box.to, places->to_extent);
        note_evictions();
    }
}

static void fill_row(char *to, const struct plim_fill *fill, enum place place)
{
    if (place == PLACE_DEVICE)
        plim_shadow_fill(to, &fill->value, fill->width, fill->count, PLIM_SHADOW_KNOWN);
    else if (fill->value == 0)
        plim_zeros_put(to, fill->count * fill->width);
    else if (fill->width == 1)
        memset(to, (int)fill->value, fill->count);
    else
        for (size_t i = 0; i < fill->count; i++)
            memcpy(to + i * fill->width, &fill->value, fill->width);
}

static status check_fill(const struct plim_fill *fill, enum place *ret_place, size_t *ret_extent)
{
    size_t width;
    if (__builtin_mul_overflow(fill->count, fill->width, &width))
        return PLIM_CUDA_INVALID_VALUE;
    *ret_extent = extent(width, fill->height, fill->depth, fill->pitch, fill->slice);
    *ret_place = place_of(fill->to, *ret_extent);
    return *ret_place == PLACE_NONE || *ret_place == PLACE_HOST ? PLIM_CUDA_INVALID_VALUE : PLIM_CUDA_SUCCESS;
}

static void do_fill(const struct plim_fill *fill, enum place place, size_t length)
{
    struct plim_fill box = *fill;
    const size_t total = box.count * box.width * box.height * box.depth; /* within the extent */
    if (place == PLACE_MANAGED && total > MANAGED_BYTES)
        return;
    if (length == total) { /* without gaps */
        box.count = total / box.width;
        box.height = box.depth = 1;
    }
    if (place == PLACE_DEVICE && has_too_many_rows(box.height * box.depth))
        plim_shadow_forget(box.to, length);
    else
        for (size_t z = 0; z < box.depth; z++)
            for (size_t y = 0; y < box.height; y++)
                fill_row((char *)box.to + z * box.slice + y * box.pitch, &box, place);
    if (place == PLACE_DEVICE) {
        plim_shadow_join(box.to, length);
        note_evictions();
    }
}

/* --- at once, or at the launches of a graph --- */

struct copy_work {
    struct plim_copy copy;
    enum plim_copy_kind kind;
};

/* The memory may have gone since the capture: on a card an error of the launch. */
static void run_copy(const void *context)
{
    const struct copy_work *work = context;
    struct places places;
    if (!check_copy(&work->copy, work->kind, &places))
        do_copy(&work->copy, &places);
}

static void run_fill(const void *context)
{
    const struct plim_fill *fill = context;
    enum place place;
    size_t length;
    if (!check_fill(fill, &place, &length))
        do_fill(fill, place, length);
}

static const struct plim_work_kind copy_kind = { run_copy, NULL }, fill_kind = { run_fill, NULL };

/* size bytes of context: what the node does. */
static status submit(void *stream, enum plim_node_type type, const struct plim_work_kind *kind, const void *context,
                     size_t size, bool *ret_is_captured)
{
    const bool is_on = plim_capture_is_on(stream);
    struct plim_work *work = is_on ? plim_work_make(kind, context, size) : NULL;
    if (is_on && !work)
        return PLIM_CUDA_OUT_OF_MEMORY;
    status error = plim_capture_work(stream, type, NULL, work, ret_is_captured);
    plim_work_release(work);
    return error;
}

int plim_vgpu_copy_box(const struct plim_copy *copy, enum plim_copy_kind kind, void *stream)
{
    const struct copy_work work = { *copy, kind };
    const bool is_empty = copy->width == 0 || copy->height == 0 || copy->depth == 0;
    struct places places;
    bool is_captured = false;
    status error = is_empty ? PLIM_CUDA_SUCCESS : check_copy(copy, kind, &places);
    if (!error && is_empty)
        return plim_capture_work(stream, PLIM_NODE_MEMCPY, NULL, NULL, NULL);
    if (!error && !(error = submit(stream, PLIM_NODE_MEMCPY, &copy_kind, &work, sizeof work, &is_captured)) &&
        !is_captured)
        do_copy(copy, &places);
    return error;
}

int plim_vgpu_copy(void *to, const void *from, size_t size, enum plim_copy_kind kind, void *stream)
{
    return plim_vgpu_copy_box(&(struct plim_copy){ .to = to, .from = from, .width = size, .height = 1, .depth = 1 },
                              kind, stream);
}

int plim_vgpu_fill(const struct plim_fill *fill, void *stream)
{
    const bool is_empty = fill->count == 0 || fill->height == 0 || fill->depth == 0;
    enum place place;
    size_t length;
    bool is_captured = false;
    status error = is_empty ? PLIM_CUDA_SUCCESS : check_fill(fill, &place, &length);
    if (!error && is_empty)
        return plim_capture_work(stream, PLIM_NODE_MEMSET, NULL, NULL, NULL);
    if (!error && !(error = submit(stream, PLIM_NODE_MEMSET, &fill_kind, fill, sizeof *fill, &is_captured)) &&
        !is_captured)
        do_fill(fill, place, length);
    return error;
}

int plim_values_write_word(void *to, uint64_t value, unsigned width, void *stream)
{
    const struct plim_fill fill = { .to = to, .value = value, .width = width, .count = 1, .height = 1, .depth = 1 };
    bool is_captured = false;
    if (place_of(to, width) != PLACE_DEVICE)
        return plim_capture_work(stream, PLIM_NODE_BATCH_MEM_OP, NULL, NULL, NULL);
    status error = submit(stream, PLIM_NODE_BATCH_MEM_OP, &fill_kind, &fill, sizeof fill, &is_captured);
    if (!error && !is_captured)
        do_fill(&fill, PLACE_DEVICE, width);
    return error;
}
