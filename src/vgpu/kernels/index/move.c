/* SPDX-License-Identifier: MIT */
#include "vgpu/kernels/index/move.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- ranges of memory --- */

struct range {
    int64_t below, above; /* from the first to behind the last byte, seen from the address */
};

static bool reach(struct range *range, int64_t steps, int64_t stride)
{
    int64_t most;
    return !__builtin_mul_overflow(steps, stride, &most) &&
           !__builtin_add_overflow(most < 0 ? range->below : range->above, most,
                                   most < 0 ? &range->below : &range->above);
}

static bool reach_all(struct range *range, const struct plim_view *tensor)
{
    for (unsigned i = 0; i < tensor->n_dimensions; i++)
        if (!reach(range, tensor->size[i] - 1, tensor->stride_bytes[i]))
            return false;
    return true;
}

/* What a walk and its indices can get to. */
static bool range_of(const struct plim_move *move, bool is_source, struct range *ret_range)
{
    const struct plim_view *tensor = is_source ? &move->from : &move->to;
    *ret_range = (struct range){ 0, move->width };
    if (!reach_all(ret_range, tensor))
        return false;
    for (unsigned k = 0; k < move->n_indices; k++) {
        const struct plim_move_index *index = &move->indices[k];
        if (index->selects_source != is_source)
            continue;
        if (index->size <= 0 ||
            !(move->shape ? reach_all(ret_range, move->shape) : reach(ret_range, index->size - 1, index->stride_bytes)))
            return false;
    }
    return (uint64_t)-ret_range->below <= tensor->address && (uint64_t)ret_range->above < UINT64_MAX - tensor->address;
}

static uint64_t size_of(const struct range *range) { return (uint64_t)range->above + (uint64_t)-range->below; }

static void *start_of(const struct range *range, uint64_t address)
{
    return (void *)(uintptr_t)(address - (uint64_t)-range->below);
}

/* --- a range on the host --- */

struct window {
    struct range range;
    uint8_t *bytes, *known; /* where the address points to */
    void *memory;
};

static bool open_window(struct window *window, uint64_t address, bool is_read)
{
    const uint64_t size = size_of(&window->range);
    uint8_t *memory = size <= PLIM_VIEW_MAX_SPAN_BYTES ? malloc(2 * size) : NULL;
    if (!memory)
        return false;
    if (is_read)
        plim_shadow_read_each(memory, memory + size, start_of(&window->range, address), size);
    window->memory = memory;
    window->bytes = memory + (uint64_t)-window->range.below;
    window->known = window->bytes + size;
    return true;
}

/* --- what is moved --- */

void plim_move_make(struct plim_move *ret_move, unsigned width)
{
    memset(ret_move, 0, sizeof *ret_move);
    ret_move->width = width;
    ret_move->index_element = PLIM_ELEMENT_I64;
}

bool plim_move_add(struct plim_move *move, uint64_t address, int64_t size, int64_t stride_bytes, bool selects_source)
{
    if (move->n_indices == PLIM_VIEW_MAX_DIMENSIONS)
        return false;
    move->indices[move->n_indices++] = (struct plim_move_index){ address, size, stride_bytes, selects_source };
    return true;
}

/* A launch, while it is carried out. */
struct work {
    const struct plim_move *move;
    struct window to, from, index[PLIM_VIEW_MAX_DIMENSIONS];
    uint64_t row_bytes; /* of what is moved at once: an element, or a row of them */
    struct plim_view to_rows, from_rows, index_rows;
    enum plim_shadow_known target; /* the least certainty of an index that says to which element */
};

static enum plim_shadow_known least_of(const uint8_t *known, uint64_t n)
{
    uint8_t least = PLIM_SHADOW_KNOWN;
    for (uint64_t i = 0; known && i < n; i++)
        least = known[i] < least ? known[i] : least;
    return (enum plim_shadow_known)least;
}

static int64_t offset_in(const struct plim_view *shape, int64_t n)
{
    int64_t offset = 0;
    for (unsigned i = 0; i < shape->n_dimensions; i++) {
        offset += n % shape->size[i] * shape->stride_bytes[i];
        n /= shape->size[i];
    }
    return offset;
}

/* Where the indices say. False: nothing is moved. An index that is out of range is taken as 0, and a guess. */
static bool locate(struct work *work, int64_t at, int64_t *to, int64_t *from, enum plim_shadow_known *ret_known)
{
    const struct plim_move *move = work->move;
    const unsigned width = plim_element_bytes(move->index_element);
    *ret_known = PLIM_SHADOW_KNOWN;
    for (unsigned k = 0; k < move->n_indices; k++) {
        const struct plim_move_index *index = &move->indices[k];
        int64_t value = plim_element_load(move->index_element, work->index[k].bytes + at).i;
        enum plim_shadow_known known = least_of(work->index[k].known + at, width);
        if (move->has_skip && k == 0 && value == move->skip && known == PLIM_SHADOW_KNOWN)
            return false;
        if (value < 0)
            value += index->size;
        if (value < 0 || value >= index->size) {
            value = 0;
            known = PLIM_SHADOW_UNKNOWN;
        }
        *(index->selects_source ? from : to) +=
            move->shape ? offset_in(move->shape, value) : value * index->stride_bytes;
        *ret_known = plim_less_known(*ret_known, known);
        if (!index->selects_source)
            work->target = plim_less_known(work->target, known);
    }
    return true;
}

static union plim_scalar combine(const struct plim_move *move, union plim_scalar a, union plim_scalar b)
{
    const bool is_float = plim_element_is_float(move->element);
    const bool is_max = move->operation == PLIM_MOVE_MAXIMUM;
    switch (move->operation) {
    case PLIM_MOVE_ASSIGN:
        return b;
    case PLIM_MOVE_ADD:
        if (is_float)
            return (union plim_scalar){ .f = a.f + b.f };
        return (union plim_scalar){ .i = (int64_t)((uint64_t)a.i + (uint64_t)b.i) };
    case PLIM_MOVE_MULTIPLY:
        if (is_float)
            return (union plim_scalar){ .f = a.f * b.f };
        return (union plim_scalar){ .i = (int64_t)((uint64_t)a.i * (uint64_t)b.i) };
    case PLIM_MOVE_MAXIMUM:
    case PLIM_MOVE_MINIMUM:
        if (is_float)
            return isnan(a.f) || (!isnan(b.f) && (is_max ? a.f >= b.f : a.f <= b.f)) ? a : b;
        if (move->element == PLIM_ELEMENT_U64)
            return ((uint64_t)a.i > (uint64_t)b.i) == is_max ? a : b;
        return (a.i > b.i) == is_max ? a : b;
    }
    return b;
}

/* An operation on one element; a guess is finite. */
static void compute(const struct plim_move *move, uint8_t *to, const uint8_t *from, enum plim_shadow_known known)
{
    union plim_scalar value = plim_element_load(move->element, from);
    if (move->is_scaled && plim_element_is_float(move->element))
        value.f *= move->scale.f;
    else if (move->is_scaled)
        value.i = (int64_t)((uint64_t)value.i * (uint64_t)move->scale.i);
    value = combine(move, plim_element_load(move->element, to), value);
    if (known < PLIM_SHADOW_KNOWN && plim_element_is_float(move->element) && !isfinite(value.f))
        value.f = 0;
    plim_element_store(move->element, to, value);
}

static void move_one(struct work *work, int64_t to, int64_t from, enum plim_shadow_known known)
{
    const struct plim_move *move = work->move;
    const uint8_t *source = move->is_value ? move->value : work->from.bytes + from;
    if (!work->from.bytes && !move->is_value)
        return;
    uint8_t *target = work->to.bytes + to, *target_known = work->to.known + to;
    if (move->operation == PLIM_MOVE_ASSIGN) {
        memcpy(target, source, work->row_bytes);
        if (move->is_value || known == PLIM_SHADOW_UNKNOWN)
            memset(target_known, (int)known, work->row_bytes);
        else
            for (uint64_t i = 0; i < work->row_bytes; i++)
                target_known[i] =
                    work->from.known[from + (int64_t)i] < known ? work->from.known[from + (int64_t)i] : (uint8_t)known;
        return;
    }
    if (!move->is_value)
        known = plim_less_known(known, least_of(work->from.known + from, move->width));
    known = plim_less_known(known, least_of(target_known, move->width));
    compute(move, target, source, known);
    memset(target_known, (int)known, move->width);
}

static void move_all(struct work *work)
{
    struct plim_walk to = { .offset = 0 }, from = { .offset = 0 }, index = { .offset = 0 };
    const uint64_t n = plim_view_n(&work->to_rows);
    for (uint64_t i = 0; i < n; i++) {
        int64_t to_offset = to.offset, from_offset = from.offset;
        enum plim_shadow_known known;
        if (locate(work, index.offset, &to_offset, &from_offset, &known))
            move_one(work, to_offset, from_offset, known);
        plim_walk_on(&to, &work->to_rows);
        if (!work->move->is_value)
            plim_walk_on(&from, &work->from_rows);
        if (work->move->n_indices)
            plim_walk_on(&index, &work->index_rows);
    }
}

/* Elements that lie side by side in both and have the same indices are moved at once. */
static void find_rows(struct work *work)
{
    const struct plim_move *move = work->move;
    struct plim_view *tensors[] = { &work->to_rows, &work->from_rows, &work->index_rows };
    const unsigned n = move->n_indices ? 3 : 2;
    work->row_bytes = move->width;
    work->to_rows = move->to;
    work->from_rows = move->from;
    work->index_rows = move->index;
    if (move->operation != PLIM_MOVE_ASSIGN || move->is_value)
        return;
    for (unsigned i = 0; i < n; i++)
        if (tensors[i]->n_dimensions == 0 || tensors[i]->size[0] != move->to.size[0] ||
            tensors[i]->stride_bytes[0] != (i < 2 ? (int64_t)move->width : 0))
            return;
    work->row_bytes *= (uint64_t)move->to.size[0];
    for (unsigned i = 0; i < n; i++) {
        struct plim_view *tensor = tensors[i];
        tensor->n_dimensions--;
        memmove(tensor->size, tensor->size + 1, tensor->n_dimensions * sizeof *tensor->size);
        memmove(tensor->stride_bytes, tensor->stride_bytes + 1, tensor->n_dimensions * sizeof *tensor->stride_bytes);
    }
}

static bool has_target(const struct plim_move *move)
{
    for (unsigned k = 0; k < move->n_indices; k++)
        if (!move->indices[k].selects_source)
            return true;
    return false;
}

/* --- without a look at each element --- */

static bool constant_of(const struct plim_move *move, const struct range *range, const struct plim_view *tensor,
                        void *ret_value, enum plim_shadow_known *ret_known)
{
    const void *start = start_of(range, tensor->address);
    if (move->width & (move->width - 1))
        return false;
    if (plim_view_is_memory(start))
        return plim_shadow_constant(start, size_of(range), move->width, ret_value, ret_known);
    memset(ret_value, 0, move->width);
    *ret_known = PLIM_SHADOW_UNKNOWN;
    return true;
}

/* Constants that go somewhere, whatever the indices are. False: each element must be looked at. */
static bool move_constant(const struct work *work, uint64_t n)
{
    enum { MOST_BYTES_OF_GUESSES = 256 << 10 };
    const struct plim_move *move = work->move;
    uint8_t value[PLIM_SHADOW_MAX_WIDTH] = { 0 }, old[PLIM_SHADOW_MAX_WIDTH] = { 0 };
    enum plim_shadow_known known = PLIM_SHADOW_KNOWN, old_known;
    if (move->is_value)
        memcpy(value, move->value, sizeof value);
    else if (!constant_of(move, &work->from.range, &move->from, value, &known))
        return false;
    const bool is_dense = size_of(&work->to.range) == n * move->width;
    if (is_dense && move->operation == PLIM_MOVE_ASSIGN && !has_target(move)) {
        plim_shadow_fill(start_of(&work->to.range, move->to.address), value, move->width, n, known);
        return true;
    }
    if (known == PLIM_SHADOW_UNKNOWN && n * move->width > MOST_BYTES_OF_GUESSES && !move->n_indices) {
        plim_shadow_forget(start_of(&work->to.range, move->to.address), size_of(&work->to.range));
        return true;
    }
    if (!constant_of(move, &work->to.range, &move->to, old, &old_known) || old_known != known)
        return false;
    /* The same into the same, or unknown zeros with unknown zeros: nothing changes. */
    static const uint8_t zeros[PLIM_SHADOW_MAX_WIDTH];
    return memcmp(value, old, move->width) == 0 &&
           (move->operation == PLIM_MOVE_ASSIGN ||
            (known == PLIM_SHADOW_UNKNOWN && memcmp(value, zeros, move->width) == 0));
}

/* --- a launch --- */

static bool open_windows(struct work *work)
{
    const struct plim_move *move = work->move;
    if (!open_window(&work->to, move->to.address, true) ||
        (!move->is_value && !open_window(&work->from, move->from.address, true)))
        return false;
    for (unsigned k = 0; k < move->n_indices; k++) {
        work->index[k].range = (struct range){ 0, plim_element_bytes(move->index_element) };
        if (!reach_all(&work->index[k].range, &move->index) ||
            !open_window(&work->index[k], move->indices[k].address, true))
            return false;
    }
    return true;
}

static bool move_each(struct work *work, uint64_t n)
{
    const struct plim_move *move = work->move;
    const uint64_t size = size_of(&work->to.range);
    const bool is_open = n <= PLIM_VIEW_MAX_ELEMENTS && open_windows(work);
    if (is_open) {
        find_rows(work);
        move_all(work);
        uint8_t *known = work->to.known - (uint64_t)-work->to.range.below;
        for (uint64_t i = 0; work->target < PLIM_SHADOW_KNOWN && i < size; i++)
            known[i] = known[i] < work->target ? known[i] : (uint8_t)work->target;
        plim_view_write_bytes(move->to.address - (uint64_t)-work->to.range.below, work->to.memory, known, size);
    }
    free(work->to.memory);
    free(work->from.memory);
    for (unsigned k = 0; k < move->n_indices; k++)
        free(work->index[k].memory);
    return is_open;
}

void plim_move_run(const struct plim_move *move)
{
    struct work work = { .move = move, .target = PLIM_SHADOW_KNOWN };
    const uint64_t n = plim_view_n(&move->to);
    const void *to = (const void *)(uintptr_t)move->to.address;
    if (n == 0 || move->width == 0 || !plim_view_is_memory(to))
        return;
    if (!range_of(move, false, &work.to.range)) {
        plim_shadow_lose(to);
        return;
    }
    const bool is_sound =
        (move->is_value || (plim_view_n(&move->from) == n && range_of(move, true, &work.from.range))) &&
        (!move->n_indices || plim_view_n(&move->index) == n);
    if (is_sound && (move_constant(&work, n) || move_each(&work, n)))
        return;
    plim_shadow_forget(start_of(&work.to.range, move->to.address), size_of(&work.to.range));
}
