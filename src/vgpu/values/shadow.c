/* SPDX-License-Identifier: MIT */
/* One lock over the store of extents. Large bytes are compared and copied before it is taken. */
#include "vgpu/values/shadow.h"

#include "vgpu/values/policy.h"
#include "vgpu/values/store.h"
#include "vgpu/values/zeros.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static uint64_t address_of(const void *pointer) { return (uint64_t)(uintptr_t)pointer; }
static uint64_t end_of(uint64_t start, size_t size) { return size <= UINT64_MAX - start ? start + size : UINT64_MAX; }
static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* --- writes --- */

/* The elements repeat: so does the pattern, for a width divides its length. */
static void make_pattern(struct plim_extent *extent, const uint8_t *element, size_t width)
{
    for (size_t i = 0; i < sizeof extent->pattern && extent->start + i < extent->end; i++)
        extent->pattern[(extent->start + i) % sizeof extent->pattern] = element[i % width];
}

static void put_constant(uint64_t start, uint64_t end, const uint8_t *element, size_t width,
                         enum plim_shadow_known known)
{
    struct plim_extent extent = { .start = start, .end = end, .known = (uint8_t)known };
    if (plim_values_policy() == PLIM_VALUES_OFF)
        return;
    if (known == PLIM_SHADOW_UNKNOWN && plim_zeros_are(element, width)) {
        plim_shadow_forget((const void *)(uintptr_t)start, end - start);
        return;
    }
    make_pattern(&extent, element, width);
    pthread_mutex_lock(&lock);
    if (plim_store_make_room(2, 0))
        plim_store_put(&extent);
    pthread_mutex_unlock(&lock);
}

void plim_shadow_write(void *to, const void *from, size_t size, enum plim_shadow_known known)
{
    enum { PATTERN = PLIM_STORE_PATTERN_BYTES };
    const uint64_t start = address_of(to), end = end_of(start, size);
    const uint8_t *bytes = from;
    if (size == 0 || plim_values_policy() == PLIM_VALUES_OFF)
        return;
    if (size > PLIM_SHADOW_BUFFER_BYTES || end - start != size) {
        plim_shadow_forget(to, size);
        return;
    }
    if (size <= PATTERN || memcmp(bytes, bytes + PATTERN, size - PATTERN) == 0) {
        put_constant(start, end, bytes, size < PATTERN ? size : PATTERN, known);
        return;
    }
    struct plim_extent extent = { .start = start, .end = end, .known = (uint8_t)known };
    extent.piece = plim_piece_make(bytes, size);
    extent.origin = start;
    if (!extent.piece) {
        plim_shadow_forget(to, size);
        return;
    }
    pthread_mutex_lock(&lock);
    if (plim_store_make_room(2, size))
        plim_store_put(&extent);
    else
        free(extent.piece);
    pthread_mutex_unlock(&lock);
}

void plim_shadow_fill(void *to, const void *value, unsigned width, size_t count, enum plim_shadow_known known)
{
    const uint64_t start = address_of(to);
    size_t size;
    if (__builtin_mul_overflow(count, (size_t)width, &size))
        size = SIZE_MAX;
    if (size > 0 && width <= PLIM_SHADOW_MAX_WIDTH)
        put_constant(start, end_of(start, size), value, width, known);
}

void plim_shadow_forget(const void *start, size_t size)
{
    const uint64_t from = address_of(start), end = end_of(from, size);
    if (!plim_store_may_hold(from, end))
        return;
    pthread_mutex_lock(&lock);
    if (plim_store_make_room(1, 0))
        plim_store_clear(from, end);
    pthread_mutex_unlock(&lock);
}

/* --- memory that others write --- */

void plim_shadow_share(const void *start, size_t size)
{
    const uint64_t from = address_of(start), end = end_of(from, size);
    pthread_mutex_lock(&lock);
    if (plim_store_make_room(2, 0)) {
        plim_store_cut(from);
        plim_store_cut(end);
    }
    plim_store_share(from, end);
    for (struct plim_extent *extent = plim_store_at(from); extent && extent->start < end;
         extent = plim_store_after(extent))
        extent->known = extent->known > PLIM_SHADOW_KEPT ? PLIM_SHADOW_KEPT : extent->known;
    pthread_mutex_unlock(&lock);
}

void plim_shadow_release(const void *start, size_t size)
{
    const uint64_t from = address_of(start), end = end_of(from, size);
    if (plim_store_is_shared(from, end)) {
        pthread_mutex_lock(&lock);
        plim_store_unshare(from, end);
        pthread_mutex_unlock(&lock);
    }
    plim_shadow_forget(start, size);
}

/* --- kernels that nobody knows --- */

/* NULL: the end of the piece. A gap does not end it: some of it was lost before, or never written. */
static struct plim_extent *next_of_piece(const struct plim_extent *extent)
{
    enum { MAX_GAP = 1 << 20 };
    struct plim_extent *next = plim_store_after(extent);
    return next && next->start - extent->end < MAX_GAP && !next->is_head ? next : NULL;
}

void plim_shadow_doubt(const void *pointer)
{
    const uint64_t start = address_of(pointer);
    if (!plim_store_may_hold(start, end_of(start, 1)))
        return;
    pthread_mutex_lock(&lock);
    struct plim_extent *extent = plim_store_at(start);
    if (extent && extent->start <= start && plim_store_known(extent) == PLIM_SHADOW_KNOWN && plim_store_make_room(1, 0))
        plim_store_cut(start);
    extent = plim_store_at(start);
    if (extent && extent->start <= start)
        for (; extent; extent = next_of_piece(extent))
            if (extent->start >= start && extent->known > PLIM_SHADOW_KEPT)
                extent->known = PLIM_SHADOW_KEPT;
    pthread_mutex_unlock(&lock);
}

void plim_shadow_doubt_range(const void *from, size_t size)
{
    const uint64_t start = address_of(from), end = end_of(start, size);
    if (!plim_store_may_hold(start, end))
        return;
    pthread_mutex_lock(&lock);
    struct plim_extent *extent = plim_store_at(start);
    if (extent && extent->start < start && plim_store_known(extent) == PLIM_SHADOW_KNOWN && plim_store_make_room(1, 0))
        plim_store_cut(start);
    for (extent = plim_store_at(start); extent && extent->start < end; extent = plim_store_after(extent))
        if (extent->start >= start && extent->known > PLIM_SHADOW_KEPT)
            extent->known = PLIM_SHADOW_KEPT;
    pthread_mutex_unlock(&lock);
}

void plim_shadow_doubt_all(void)
{
    pthread_mutex_lock(&lock);
    plim_store_doubt_all();
    pthread_mutex_unlock(&lock);
}

void plim_shadow_lose(const void *pointer)
{
    const uint64_t start = address_of(pointer);
    if (!plim_store_may_hold(start, end_of(start, 1)))
        return;
    pthread_mutex_lock(&lock);
    struct plim_extent *extent = plim_store_make_room(1, 0) ? plim_store_at(start) : NULL;
    if (extent && extent->start <= start) {
        uint64_t end;
        do {
            end = extent->end;
        } while ((extent = next_of_piece(extent)));
        plim_store_clear(start, end);
    }
    pthread_mutex_unlock(&lock);
}

void plim_shadow_join(const void *pointer, size_t size)
{
    const uint64_t start = address_of(pointer), end = end_of(start, size);
    if (!plim_store_may_hold(start, end))
        return;
    pthread_mutex_lock(&lock);
    for (struct plim_extent *extent = plim_store_at(start); extent && extent->start < end;
         extent = plim_store_after(extent))
        if (extent->start > start) {
            extent->is_head = false;
            extent->is_inner = true;
        }
    pthread_mutex_unlock(&lock);
}

/* --- reads --- */

/*
 * Calls `visit` for every extent in the range and for every gap between them, for which it is NULL, in order, until it
 * returns false.
 */
typedef bool visitor(struct plim_extent *extent, uint64_t from, uint64_t end, void *context);

static void walk(uint64_t start, uint64_t end, visitor *visit, void *context)
{
    struct plim_extent *extent = plim_store_at(start);
    for (uint64_t at = start, to; at < end; at = to) {
        const bool is_gap = !extent || extent->start > at;
        to = least(end, is_gap ? (extent ? extent->start : end) : extent->end);
        if (!visit(is_gap ? NULL : extent, at, to, context))
            return;
        if (!is_gap)
            extent = plim_store_after(extent);
    }
}

struct reading {
    uint64_t start;
    uint8_t *to, *each; /* NULL: not wanted */
    enum plim_shadow_known known;
};

static bool read_part(struct plim_extent *extent, uint64_t from, uint64_t end, void *context)
{
    struct reading *reading = context;
    const enum plim_shadow_known known = extent ? plim_store_known(extent) : PLIM_SHADOW_UNKNOWN;
    const size_t at = from - reading->start, n = end - from;
    if (extent) {
        plim_store_touch(extent);
        plim_store_copy_out(extent, from, reading->to + at, n);
    } else {
        plim_zeros_put(reading->to + at, n);
    }
    if (reading->each)
        memset(reading->each + at, (int)known, n);
    reading->known = known < reading->known ? known : reading->known;
    return true;
}

static enum plim_shadow_known read_all(void *to, uint8_t *ret_each, uint64_t start, size_t size)
{
    struct reading reading = { start, to, ret_each, PLIM_SHADOW_KNOWN };
    const uint64_t end = end_of(start, size);
    if (size == 0)
        return PLIM_SHADOW_KNOWN;
    if (end - start != size || !plim_store_may_hold(start, end)) {
        plim_zeros_put(to, size);
        if (ret_each)
            memset(ret_each, PLIM_SHADOW_UNKNOWN, size);
        return PLIM_SHADOW_UNKNOWN;
    }
    pthread_mutex_lock(&lock);
    walk(start, end, read_part, &reading);
    pthread_mutex_unlock(&lock);
    return reading.known;
}

enum plim_shadow_known plim_shadow_read(void *to, const void *from, size_t size)
{
    return read_all(to, NULL, address_of(from), size);
}

void plim_shadow_read_each(void *to, uint8_t *ret_known, const void *from, size_t size)
{
    read_all(to, ret_known, address_of(from), size);
}

static bool note_certainty(struct plim_extent *extent, uint64_t from, uint64_t end, void *context)
{
    enum plim_shadow_known *least = context, known = extent ? plim_store_known(extent) : PLIM_SHADOW_UNKNOWN;
    (void)from, (void)end;
    *least = known < *least ? known : *least;
    return *least != PLIM_SHADOW_UNKNOWN;
}

enum plim_shadow_known plim_shadow_certainty(const void *from, size_t size)
{
    const uint64_t start = address_of(from), end = end_of(start, size);
    enum plim_shadow_known known = PLIM_SHADOW_KNOWN;
    if (size == 0)
        return known;
    if (!plim_store_may_hold(start, end))
        return PLIM_SHADOW_UNKNOWN;
    pthread_mutex_lock(&lock);
    walk(start, end, note_certainty, &known);
    pthread_mutex_unlock(&lock);
    return known;
}

struct comparison {
    uint8_t pattern[PLIM_STORE_PATTERN_BYTES];
    enum plim_shadow_known known;
    unsigned n_parts;
    bool is_started, is_equal;
};

/* Whether a part repeats the pattern; of the first part it is taken. */
static bool compare(struct plim_extent *extent, uint64_t from, uint64_t end, void *context)
{
    enum { MAX_PARTS = 16 }; /* extents and gaps */
    struct comparison *comparison = context;
    uint8_t part[PLIM_STORE_PATTERN_BYTES] = { 0 };
    const size_t n = least(end - from, sizeof part);
    comparison->is_equal =
        ++comparison->n_parts <= MAX_PARTS && (!extent || !extent->piece || end - from <= sizeof part);
    if (!comparison->is_equal)
        return false;
    if (extent) {
        plim_store_touch(extent);
        plim_store_copy_out(extent, from, part, n);
    }
    for (size_t i = 0; i < n && comparison->is_equal; i++)
        comparison->is_equal = comparison->pattern[(from + i) % sizeof part] == part[i];
    note_certainty(extent, from, end, &comparison->known);
    return comparison->is_equal;
}

/* The usual case of plim_shadow_constant(): one constant holds the range, and its elements are of this width. */
static bool is_of_constant(struct plim_extent *extent, uint64_t start, uint64_t end, unsigned width, uint8_t *ret_value)
{
    uint8_t expected[PLIM_SHADOW_MAX_WIDTH];
    if (!extent || extent->piece || extent->start > start || extent->end < end || sizeof expected % width)
        return false;
    for (unsigned i = 0; i < width; i++)
        ret_value[i] = extent->pattern[(start + i) % sizeof expected];
    for (size_t i = 0; i < sizeof expected; i++)
        expected[(start + i) % sizeof expected] = ret_value[i % width];
    plim_store_touch(extent);
    return memcmp(expected, extent->pattern, sizeof expected) == 0;
}

bool plim_shadow_constant(const void *from, size_t size, unsigned width, void *ret_value,
                          enum plim_shadow_known *ret_known)
{
    const uint64_t start = address_of(from), end = end_of(start, size);
    struct comparison comparison = { .known = PLIM_SHADOW_KNOWN };
    uint8_t element[PLIM_SHADOW_MAX_WIDTH];
    if (width == 0 || width > sizeof element || size < width)
        return false;
    if (!plim_store_may_hold(start, end)) {
        memset(ret_value, 0, width);
        *ret_known = PLIM_SHADOW_UNKNOWN;
        return true;
    }
    pthread_mutex_lock(&lock);
    struct plim_extent *first = plim_store_at(start);
    if (end - start >= sizeof element && is_of_constant(first, start, end, width, element)) {
        *ret_known = plim_store_known(first);
        pthread_mutex_unlock(&lock);
        memcpy(ret_value, element, width);
        return true;
    }
    struct reading reading = { start, element, NULL, PLIM_SHADOW_KNOWN };
    walk(start, start + width, read_part, &reading);
    for (size_t i = 0; i < sizeof comparison.pattern; i++)
        comparison.pattern[(start + i) % sizeof comparison.pattern] = element[i % width];
    walk(start, end, compare, &comparison);
    pthread_mutex_unlock(&lock);
    memcpy(ret_value, element, width);
    *ret_known = comparison.known;
    return comparison.is_equal;
}

/* --- moves --- */

enum { FEW_PARTS = 16 };

struct parts {
    struct plim_extent *part;
    size_t n, most;
    uint64_t to, from;
};

/* A part as it will be at its destination; it holds its piece until then. */
static bool take_part(struct plim_extent *extent, uint64_t from, uint64_t end, void *context)
{
    struct parts *parts = context;
    if (!extent)
        return true;
    if (parts->n < parts->most) {
        struct plim_extent *part = &parts->part[parts->n];
        *part = *extent;
        part->known = (uint8_t)plim_store_known(extent);
        part->start = from - parts->from + parts->to;
        part->end = part->start + (end - from);
        part->is_head = part->is_inner = false;
        if (part->piece)
            part->origin += parts->to - parts->from;
        else
            for (size_t i = 0; i < sizeof part->pattern; i++)
                part->pattern[(i + parts->to - parts->from) % sizeof part->pattern] = extent->pattern[i];
        plim_piece_hold(part->piece);
        plim_store_touch(extent);
    }
    parts->n++;
    return true;
}

static void put_parts(const struct parts *parts, uint64_t end)
{
    const bool has_room = plim_store_make_room(parts->n + 2, 0);
    const bool is_whole = parts->n == 1 && parts->part[0].start == parts->to && parts->part[0].end == end;
    if (has_room && is_whole) {
        plim_store_put(&parts->part[0]);
    } else if (has_room) {
        const bool is_cut = plim_store_clear(parts->to, end);
        for (size_t i = 0; i < parts->n; i++) {
            struct plim_extent *part = &parts->part[i];
            part->is_inner = is_cut || part->start > parts->to;
            part->is_head = !part->is_inner && part->start % PLIM_STORE_BLOCK_BYTES == 0;
            plim_store_add(part);
        }
    }
    for (size_t i = 0; i < parts->n; i++)
        plim_piece_release(parts->part[i].piece);
}

static void move(uint64_t to, uint64_t from, size_t size)
{
    struct plim_extent few[FEW_PARTS];
    struct parts parts = { few, 0, FEW_PARTS, to, from };
    walk(from, from + size, take_part, &parts);
    if (parts.n > FEW_PARTS) {
        for (size_t i = 0; i < FEW_PARTS; i++)
            plim_piece_release(few[i].piece);
        parts.most = parts.n <= PLIM_STORE_MAX_EXTENTS / 4 ? parts.n : 0;
        parts.part = malloc(parts.most * sizeof *parts.part + 1);
        parts.most = parts.part ? parts.most : 0;
        parts.n = 0;
        walk(from, from + size, take_part, &parts);
        parts.n = parts.most;
    }
    put_parts(&parts, to + size);
    if (parts.part != few)
        free(parts.part);
}

void plim_shadow_move(void *to, const void *from, size_t size)
{
    const uint64_t target = address_of(to), start = address_of(from);
    if (target == start)
        return;
    if (end_of(target, size) - target != size || end_of(start, size) - start != size ||
        !plim_store_may_hold(start, start + size)) {
        plim_shadow_forget(to, size);
        return;
    }
    pthread_mutex_lock(&lock);
    move(target, start, size);
    pthread_mutex_unlock(&lock);
}

uint64_t plim_shadow_n_evicted(void) { return plim_store_n_evicted(); }
