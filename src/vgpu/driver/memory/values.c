/* SPDX-License-Identifier: MIT */
#include "vgpu/driver/memory/values.h"

#include "vgpu/core/callsite.h"
#include "vgpu/core/space.h"
#include "vgpu/driver/memory/device_memory.h"
#include "vgpu/driver/memory/host.h"
#include "vgpu/driver/memory/shadow.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A copy to the host up to this size may steer the program: .item(), a count, a token, a flag. */
enum { STEERING_BYTES = 64 };

/* A larger write to managed memory is not made: it would take host memory of the size of the model. */
enum { MANAGED_BYTES = 64 << 10 };

enum policy { POLICY_SHADOW, POLICY_ZERO, POLICY_MAX };

static enum policy policy;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void read_policy(void)
{
    const char *text = getenv("PLIM_VGPU_VALUES");
    policy = text && !strcmp(text, "zero") ? POLICY_ZERO : text && !strcmp(text, "max") ? POLICY_MAX : POLICY_SHADOW;
}

/* The number of inputs that the last kernel of this thread selects from; 0: it does not select. */
static _Thread_local uint64_t n_to_select;

void plim_vgpu_selects(uint64_t n) { n_to_select = n; }

/* --- remarks about values --- */

/* The innermost frame of Python, "folder/file:line function"; empty: no Python, or no time left for it. */
static void find_place(const struct plim_ledger *ledger, char *ret_text, size_t size)
{
    enum { MOST_PART = 50 }; /* at most one part in so many of the time */
    static atomic_ullong spent_us;
    char stack[PLIM_LEDGER_STACK_BYTES];
    const uint64_t start_us = plim_ledger_now_us(ledger);
    ret_text[0] = '\0';
    if (atomic_load(&spent_us) > start_us / MOST_PART)
        return;
    plim_python_stack(stack, sizeof stack);
    stack[strcspn(stack, "\n")] = '\0';
    const char *from = stack + strlen(stack);
    for (int n_slashes = 0; from > stack && n_slashes < 2; from--)
        n_slashes += from[-1] == '/';
    while (*from == '/')
        from++;
    snprintf(ret_text, size, "%s", from);
    atomic_fetch_add(&spent_us, plim_ledger_now_us(ledger) - start_us);
}

/* kind: "value" (unknown) or "value_kept" (written by the host before kernels ran). */
static void remark(const char *kind, const char *what, size_t size)
{
    enum { MAX_PLACES = 24 }; /* the ledger holds few remarks */
    static atomic_uint n_places;
    char text[PLIM_LEDGER_WHAT_BYTES], place[64] = "";
    int error;
    struct plim_ledger *ledger = plim_vgpu_ledger(&error);
    if (!ledger)
        return;
    if (atomic_load(&n_places) < MAX_PLACES)
        find_place(ledger, place, sizeof place);
    snprintf(text, sizeof text, "%zu bytes read back: %s%s%s", size, what, *place ? ", at " : "", place);
    if (plim_ledger_warn(ledger, kind, text) && *place)
        atomic_fetch_add(&n_places, 1);
}

void plim_vgpu_answered(size_t size) { remark("value", "computed by the card, taken as zero", size); }

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
                     "more small values were written to the card than are kept: the oldest count as zero");
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

static enum plim_shadow_known read_row(void *to, const void *from, size_t size)
{
    if (policy != POLICY_ZERO)
        return plim_shadow_read(to, from, size);
    memset(to, 0, size);
    return PLIM_SHADOW_UNKNOWN;
}

/* A read by the host, with the remarks about it. */
static void read_box(const struct plim_copy *copy, size_t total)
{
    enum plim_shadow_known known = PLIM_SHADOW_KNOWN;
    for (size_t z = 0; z < copy->depth; z++)
        for (size_t y = 0; y < copy->height; y++) {
            enum plim_shadow_known row =
                read_row((char *)copy->to + z * copy->to_slice + y * copy->to_pitch,
                         (const char *)copy->from + z * copy->from_slice + y * copy->from_pitch, copy->width);
            known = row < known ? row : known;
        }
    const uint64_t count = n_to_select;
    n_to_select = 0;
    if (count && (total == 4 || total == 8)) { /* the kernel has overwritten the earlier value */
        const uint64_t value = policy == POLICY_MAX ? count : 0;
        memcpy(copy->to, &value, total);
        remark("value",
               policy == POLICY_MAX ? "number of selected elements, taken as all"
                                    : "number of selected elements, taken as zero",
               total);
    } else if (total <= STEERING_BYTES && known == PLIM_SHADOW_UNKNOWN) {
        remark("value", "computed by the card, taken as zero", total);
    } else if (total <= STEERING_BYTES && known == PLIM_SHADOW_KEPT) {
        remark("value_kept", "written by the host, taken as unchanged", total);
    }
}

static void write_row(char *to, const char *from, size_t size, enum place to_place, enum place from_place, bool is_kept)
{
    if (to_place != PLACE_DEVICE)
        memmove(to, from, size);
    else if (!is_kept)
        plim_shadow_forget(to, size);
    else if (from_place == PLACE_DEVICE)
        plim_shadow_move(to, from, size);
    else
        plim_shadow_write(to, from, size);
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

/* A box without gaps. One of very many rows counts as such: to look for the values of each row would take minutes. */
static bool is_forgotten_whole(size_t length, size_t total, size_t n_rows)
{
    enum { MANY_ROWS = 1 << 20 };
    return length == total || n_rows > MANY_ROWS;
}

int plim_vgpu_copy_box(const struct plim_copy *copy, enum plim_copy_kind kind)
{
    const size_t width = copy->width, height = copy->height, depth = copy->depth;
    if (width == 0 || height == 0 || depth == 0)
        return PLIM_CUDA_SUCCESS;
    pthread_once(&once, read_policy);
    const size_t to_extent = extent(width, height, depth, copy->to_pitch, copy->to_slice);
    const size_t from_extent = extent(width, height, depth, copy->from_pitch, copy->from_slice);
    const enum place to = place_of(copy->to, to_extent), from = place_of(copy->from, from_extent);
    if (!copy->to || !copy->from || !is_right(to, from, kind))
        return PLIM_CUDA_INVALID_VALUE;
    const size_t total = width * height * depth; /* within the extents */
    if (to == PLACE_MANAGED && total > MANAGED_BYTES)
        return PLIM_CUDA_SUCCESS;
    if (to != PLACE_DEVICE && from == PLACE_DEVICE) {
        read_box(copy, total);
        return PLIM_CUDA_SUCCESS;
    }
    const bool is_kept = policy != POLICY_ZERO && total <= PLIM_SHADOW_COPY_BYTES;
    if (to == PLACE_DEVICE && !is_kept && is_forgotten_whole(to_extent, total, height * depth)) {
        plim_shadow_forget(copy->to, to_extent);
        return PLIM_CUDA_SUCCESS;
    }
    for (size_t z = 0; z < depth; z++)
        for (size_t y = 0; y < height; y++)
            write_row((char *)copy->to + z * copy->to_slice + y * copy->to_pitch,
                      (const char *)copy->from + z * copy->from_slice + y * copy->from_pitch, width, to, from, is_kept);
    note_evictions();
    return PLIM_CUDA_SUCCESS;
}

int plim_vgpu_copy(void *to, const void *from, size_t size, enum plim_copy_kind kind)
{
    return plim_vgpu_copy_box(&(struct plim_copy){ .to = to, .from = from, .width = size, .height = 1, .depth = 1 },
                              kind);
}

static void fill_row(char *to, const struct plim_fill *fill, enum place place)
{
    if (place == PLACE_DEVICE)
        plim_shadow_fill(to, fill->value, fill->width, fill->count);
    else if (fill->width == 1)
        memset(to, (int)fill->value, fill->count);
    else
        for (size_t i = 0; i < fill->count; i++)
            memcpy(to + i * fill->width, &fill->value, fill->width);
}

int plim_vgpu_fill(const struct plim_fill *fill)
{
    const size_t height = fill->height, depth = fill->depth;
    size_t width;
    if (fill->count == 0 || height == 0 || depth == 0)
        return PLIM_CUDA_SUCCESS;
    if (__builtin_mul_overflow(fill->count, fill->width, &width))
        return PLIM_CUDA_INVALID_VALUE;
    pthread_once(&once, read_policy);
    const size_t length = extent(width, height, depth, fill->pitch, fill->slice);
    const enum place place = place_of(fill->to, length);
    if (place == PLACE_NONE || place == PLACE_HOST)
        return PLIM_CUDA_INVALID_VALUE;
    const size_t total = width * height * depth; /* within the extent */
    if ((place == PLACE_MANAGED && total > MANAGED_BYTES) || (place == PLACE_DEVICE && policy == POLICY_ZERO))
        return PLIM_CUDA_SUCCESS;
    if (place == PLACE_DEVICE && total > PLIM_SHADOW_COPY_BYTES && is_forgotten_whole(length, total, height * depth)) {
        plim_shadow_forget(fill->to, length);
        return PLIM_CUDA_SUCCESS;
    }
    for (size_t z = 0; z < depth; z++)
        for (size_t y = 0; y < height; y++)
            fill_row((char *)fill->to + z * fill->slice + y * fill->pitch, fill, place);
    note_evictions();
    return PLIM_CUDA_SUCCESS;
}

void plim_vgpu_fill_with(void *to, const void *value, unsigned width, size_t count)
{
    unsigned char bytes[512];
    pthread_once(&once, read_policy);
    if (policy == POLICY_ZERO || width > 8)
        return;
    const size_t n_at_once = sizeof bytes / width;
    for (size_t i = 0; i < n_at_once && i < count; i++)
        memcpy(bytes + i * width, value, width);
    for (size_t i = 0; i < count; i += n_at_once)
        plim_shadow_write((char *)to + i * width, bytes, (count - i < n_at_once ? count - i : n_at_once) * width);
}
