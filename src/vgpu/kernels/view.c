/* SPDX-License-Identifier: MIT */
#include "vgpu/kernels/view.h"

#include "vgpu/core/space.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct plim_view plim_view_flat(const void *address, enum plim_element element, uint64_t n)
{
    struct plim_view view;
    view.address = (uint64_t)(uintptr_t)address;
    view.element = element;
    view.n_dimensions = 1;
    view.size[0] = n <= INT64_MAX ? (int64_t)n : INT64_MAX;
    view.stride_bytes[0] = plim_element_bytes(element);
    return view;
}

bool plim_view_add_fastest(struct plim_view *view, uint64_t n, int64_t stride_bytes)
{
    if (view->n_dimensions >= PLIM_VIEW_MAX_DIMENSIONS || n > INT64_MAX)
        return false;
    for (unsigned i = view->n_dimensions; i > 0; i--) {
        view->size[i] = view->size[i - 1];
        view->stride_bytes[i] = view->stride_bytes[i - 1];
    }
    view->size[0] = (int64_t)n;
    view->stride_bytes[0] = stride_bytes;
    view->n_dimensions++;
    return true;
}

uint64_t plim_view_n(const struct plim_view *view)
{
    uint64_t n = 1;
    for (unsigned i = 0; i < view->n_dimensions; i++) {
        if (view->size[i] <= 0)
            return 0;
        if (__builtin_mul_overflow(n, (uint64_t)view->size[i], &n))
            n = UINT64_MAX;
    }
    return n;
}

bool plim_view_is_memory(const void *address) { return plim_space_owner_of((uint64_t)(uintptr_t)address) != 0; }

/* --- the range of memory from the first to the last byte --- */

struct span {
    uint64_t start, size;
    bool is_dense; /* every byte of it belongs to one element */
};

static bool span_of(const struct plim_view *view, uint64_t n, struct span *ret_span)
{
    int64_t below = 0, above = plim_element_bytes(view->element);
    for (unsigned i = 0; i < view->n_dimensions; i++) {
        int64_t reach;
        if (__builtin_mul_overflow(view->size[i] - 1, view->stride_bytes[i], &reach) ||
            __builtin_add_overflow(reach < 0 ? below : above, reach, reach < 0 ? &below : &above))
            return false;
    }
    if ((below < 0 && (uint64_t)-below > view->address) || (uint64_t)above > UINT64_MAX - view->address)
        return false;
    ret_span->start = view->address - (uint64_t)-below;
    ret_span->size = (uint64_t)above + (uint64_t)-below;
    ret_span->is_dense = n <= UINT64_MAX / 8 && ret_span->size == n * plim_element_bytes(view->element);
    return true;
}

static void *pointer_to(uint64_t address) { return (void *)(uintptr_t)address; }

static bool is_flat(const struct plim_view *view)
{
    return view->n_dimensions == 0 ||
           (view->n_dimensions == 1 && view->stride_bytes[0] == (int64_t)plim_element_bytes(view->element));
}

/* --- arrays --- */

bool plim_array_make(struct plim_array *ret_array, enum plim_element element, uint64_t n, bool is_constant)
{
    ret_array->element = element;
    ret_array->n = n;
    ret_array->is_constant = is_constant || n <= 1;
    ret_array->known = PLIM_SHADOW_KNOWN;
    ret_array->each = NULL;
    ret_array->one.i = 0;
    ret_array->number = &ret_array->one;
    if (!ret_array->is_constant)
        ret_array->number = n <= PLIM_VIEW_MAX_ELEMENTS ? calloc(n, sizeof *ret_array->number) : NULL;
    return ret_array->number != NULL;
}

bool plim_array_make_each(struct plim_array *array)
{
    if (!array->each && array->n <= PLIM_VIEW_MAX_ELEMENTS && (array->each = malloc(array->n ? array->n : 1)))
        memset(array->each, (int)array->known, array->n);
    return array->each != NULL;
}

void plim_array_free(struct plim_array *array)
{
    if (array->number != &array->one)
        free(array->number);
    free(array->each);
    array->number = NULL;
    array->each = NULL;
}

/* --- reading --- */

static bool read_constant(const struct plim_view *view, const struct span *span, uint64_t n,
                          struct plim_array *ret_array)
{
    uint8_t bytes[PLIM_SHADOW_MAX_WIDTH] = { 0 };
    const unsigned width = plim_element_bytes(view->element);
    enum plim_shadow_known known = PLIM_SHADOW_UNKNOWN;
    if (plim_view_is_memory(pointer_to(span->start)) &&
        !plim_shadow_constant(pointer_to(span->start), span->size, width, bytes, &known))
        return false;
    if ((view->address - span->start) % width) /* elements of another phase than the constant's */
        return false;
    plim_array_make(ret_array, view->element, n, true);
    ret_array->one = plim_element_load(view->element, bytes);
    ret_array->known = known;
    return true;
}

static enum plim_shadow_known least_of(const uint8_t *known, unsigned n)
{
    uint8_t least = PLIM_SHADOW_KNOWN;
    for (unsigned i = 0; i < n; i++)
        least = known[i] < least ? known[i] : least;
    return (enum plim_shadow_known)least;
}

/* Elements out of the bytes of the span. */
static void gather(const struct plim_view *view, const struct span *span, const uint8_t *bytes, const uint8_t *known,
                   struct plim_array *array)
{
    const unsigned width = plim_element_bytes(view->element);
    const uint64_t first = view->address - span->start;
    struct plim_walk walk = { .offset = 0 };
    enum plim_shadow_known most = PLIM_SHADOW_UNKNOWN;
    array->known = PLIM_SHADOW_KNOWN;
    for (uint64_t i = 0; i < array->n; i++) {
        const uint64_t at = first + (uint64_t)walk.offset;
        array->number[i] = plim_element_load(view->element, bytes + at);
        const enum plim_shadow_known certainty = least_of(known + at, width);
        array->each[i] = (uint8_t)certainty;
        array->known = plim_less_known(array->known, certainty);
        most = certainty > most ? certainty : most;
        plim_walk_on(&walk, view);
    }
    if (most == array->known) {
        free(array->each);
        array->each = NULL;
    }
}

static bool read_each(const struct plim_view *view, const struct span *span, uint64_t n, struct plim_array *ret_array)
{
    if (n > PLIM_VIEW_MAX_ELEMENTS || span->size > PLIM_VIEW_MAX_SPAN_BYTES ||
        !plim_array_make(ret_array, view->element, n, false))
        return false;
    uint8_t *bytes = malloc(2 * span->size);
    if (bytes && plim_array_make_each(ret_array)) {
        plim_shadow_read_each(bytes, bytes + span->size, pointer_to(span->start), span->size);
        gather(view, span, bytes, bytes + span->size, ret_array);
        free(bytes);
        return true;
    }
    free(bytes);
    plim_array_free(ret_array);
    return false;
}

bool plim_view_read(const struct plim_view *view, struct plim_array *ret_array)
{
    struct span span;
    const uint64_t n = plim_view_n(view);
    if (n == 0)
        return plim_array_make(ret_array, view->element, 0, true);
    if (!plim_element_bytes(view->element) || !span_of(view, n, &span))
        return false;
    return read_constant(view, &span, n, ret_array) || read_each(view, &span, n, ret_array);
}

bool plim_view_read_constant(const struct plim_view *view, struct plim_array *ret_array)
{
    struct span span;
    const uint64_t n = plim_view_n(view);
    if (n == 0)
        return plim_array_make(ret_array, view->element, 0, true);
    return plim_element_bytes(view->element) && span_of(view, n, &span) && read_constant(view, &span, n, ret_array);
}

/* --- writing --- */

/* An element as it is stored: of the tensor's type, and finite if it is a guess. */
static void encode(enum plim_element to, const struct plim_array *array, uint64_t i, uint8_t *ret_bytes)
{
    union plim_scalar number = plim_array_at(array, i);
    if (plim_array_known_at(array, i) < PLIM_SHADOW_KNOWN && plim_element_is_float(array->element) &&
        !isfinite(number.f))
        number.f = 0;
    plim_element_store(to, ret_bytes, plim_element_convert(to, array->element, number));
}

/* Bytes with certainties: run by run, or, of very many runs, all with the least certainty. */
void plim_view_write_bytes(uint64_t address, const uint8_t *bytes, const uint8_t *known, uint64_t size)
{
    enum { MAX_RUNS = 256 };
    uint64_t n_runs = 1;
    uint8_t least = known[0];
    for (uint64_t i = 1; i < size; i++) {
        n_runs += known[i] != known[i - 1];
        least = known[i] < least ? known[i] : least;
    }
    if (n_runs > MAX_RUNS) {
        plim_shadow_write(pointer_to(address), bytes, size, (enum plim_shadow_known)least);
        return;
    }
    for (uint64_t i = 0, end; i < size; i = end) {
        for (end = i + 1; end < size && known[end] == known[i];)
            end++;
        plim_shadow_write(pointer_to(address + i), bytes + i, end - i, (enum plim_shadow_known)known[i]);
    }
    plim_shadow_join(pointer_to(address), size);
}

/* The elements go where they belong among the bytes of the span, which has others between them unless it is dense. */
static bool write_each(const struct plim_view *view, const struct span *span, const struct plim_array *array)
{
    const unsigned width = plim_element_bytes(view->element);
    const uint64_t first = view->address - span->start;
    uint8_t *bytes = span->size <= PLIM_VIEW_MAX_SPAN_BYTES ? malloc(2 * span->size) : NULL;
    if (!bytes || array->n > PLIM_VIEW_MAX_ELEMENTS) {
        free(bytes);
        return false;
    }
    uint8_t *known = bytes + span->size;
    if (!span->is_dense)
        plim_shadow_read_each(bytes, known, pointer_to(span->start), span->size);
    struct plim_walk walk = { .offset = 0 };
    for (uint64_t i = 0; i < array->n; i++) {
        const uint64_t at = first + (uint64_t)walk.offset;
        encode(view->element, array, i, bytes + at);
        memset(known + at, (int)plim_array_known_at(array, i), width);
        plim_walk_on(&walk, view);
    }
    plim_view_write_bytes(span->start, bytes, known, span->size);
    free(bytes);
    return true;
}

/*
 * The bytes of the innermost dimensions follow each other: what is the same for all of them is written run by run, if
 * there are few runs.
 */
struct runs {
    unsigned first_dimension; /* that is not of a run */
    uint64_t bytes, n;
};

enum { MAX_RUNS_OF_VIEW = 1024 };

static struct runs runs_of(const struct plim_view *view, uint64_t n)
{
    struct runs runs = { 0, plim_element_bytes(view->element), 0 };
    while (runs.first_dimension < view->n_dimensions && view->stride_bytes[runs.first_dimension] == (int64_t)runs.bytes)
        runs.bytes *= (uint64_t)view->size[runs.first_dimension++];
    runs.n = n / (runs.bytes / plim_element_bytes(view->element));
    return runs;
}

/* value: NULL forgets. */
static void write_runs(const struct plim_view *view, const struct runs *runs, const void *value,
                       enum plim_shadow_known known)
{
    const unsigned width = plim_element_bytes(view->element);
    struct plim_walk walk = { .offset = 0 };
    struct plim_view outer = { .n_dimensions = view->n_dimensions - runs->first_dimension };
    for (unsigned i = 0; i < outer.n_dimensions; i++) {
        outer.size[i] = view->size[runs->first_dimension + i];
        outer.stride_bytes[i] = view->stride_bytes[runs->first_dimension + i];
    }
    for (uint64_t i = 0; i < runs->n; i++) {
        void *start = pointer_to(view->address + (uint64_t)walk.offset);
        if (value)
            plim_shadow_fill(start, value, width, runs->bytes / width, known);
        else
            plim_shadow_forget(start, runs->bytes);
        plim_walk_on(&walk, &outer);
    }
}

/* All elements alike. False: it is too much work. */
static bool write_uniform(const struct plim_view *view, const struct span *span, uint64_t n,
                          const struct plim_array *array)
{
    enum { MOST_BYTES_OF_GUESSES = 256 << 10 };
    const unsigned width = plim_element_bytes(view->element);
    uint8_t bytes[8], before[PLIM_SHADOW_MAX_WIDTH];
    enum plim_shadow_known known;
    encode(view->element, array, 0, bytes);
    if (is_flat(view) || span->is_dense) {
        plim_shadow_fill(pointer_to(span->start), bytes, width, n, array->known);
        return true;
    }
    if ((view->address - span->start) % width == 0 &&
        plim_shadow_constant(pointer_to(span->start), span->size, width, before, &known) && known == array->known &&
        memcmp(before, bytes, width) == 0)
        return true;
    const struct runs runs = runs_of(view, n);
    if (runs.n <= MAX_RUNS_OF_VIEW) {
        write_runs(view, &runs, bytes, array->known);
        return true;
    }
    return (array->known != PLIM_SHADOW_UNKNOWN || span->size <= MOST_BYTES_OF_GUESSES) &&
           write_each(view, span, array);
}

void plim_view_write(const struct plim_view *view, const struct plim_array *array)
{
    struct span span;
    const uint64_t n = plim_view_n(view);
    if (n == 0 || !plim_view_is_memory(pointer_to(view->address)) || !span_of(view, n, &span))
        return;
    const bool is_uniform = array->is_constant && !array->each && array->n == n;
    if (is_uniform ? !write_uniform(view, &span, n, array) : array->n != n || !write_each(view, &span, array))
        plim_view_forget(view);
}

void plim_view_forget(const struct plim_view *view)
{
    struct span span;
    const uint64_t n = plim_view_n(view);
    if (n == 0 || !plim_view_is_memory(pointer_to(view->address)) || !span_of(view, n, &span))
        return;
    const struct runs runs = runs_of(view, n);
    if (!span.is_dense && runs.n <= MAX_RUNS_OF_VIEW)
        write_runs(view, &runs, NULL, PLIM_SHADOW_UNKNOWN);
    else
        plim_shadow_forget(pointer_to(span.start), span.size);
}
