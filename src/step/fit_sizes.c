/* SPDX-License-Identifier: MIT */
/*
 * Most allocations of a program have one of a few hundred sizes, at all points: a form is looked for once for each row
 * of sizes that differs, by a table of hashes.
 */
#include "step/fit_sizes.h"

#include "base/mem.h"
#include "step/form.h"
#include "step/size.h"

#include <string.h>

struct rows {
    uint64_t *bytes; /* [row][point]: the rows that differ */
    size_t n, room, n_points;
    uint32_t *slots; /* row + 1, 0: none; a power of two of them, at most half full */
    size_t n_slots;
};

static uint64_t hash_of(const uint64_t *bytes, size_t n)
{
    uint64_t hash = 0xcbf29ce484222325; /* FNV-1a, by words */
    for (size_t i = 0; i < n; i++) {
        hash = (hash ^ bytes[i]) * 0x100000001b3;
        hash ^= hash >> 29;
    }
    return hash;
}

static size_t slot_of(const struct rows *rows, const uint64_t *bytes)
{
    size_t slot = hash_of(bytes, rows->n_points) & (rows->n_slots - 1);
    while (rows->slots[slot] &&
           memcmp(rows->bytes + (rows->slots[slot] - 1) * rows->n_points, bytes, rows->n_points * sizeof *bytes) != 0)
        slot = (slot + 1) & (rows->n_slots - 1);
    return slot;
}

static bool grow(struct rows *rows)
{
    const size_t room = rows->room ? 2 * rows->room : 256;
    uint64_t *bytes = plim_realloc(rows->bytes, room * rows->n_points, sizeof *bytes);
    if (!bytes)
        return false;
    rows->bytes = bytes;
    uint32_t *slots = plim_alloc(2 * room, sizeof *slots);
    if (!slots)
        return false;
    plim_free(rows->slots);
    rows->slots = slots;
    rows->n_slots = 2 * room;
    rows->room = room;
    for (size_t i = 0; i < rows->n; i++)
        slots[slot_of(rows, bytes + i * rows->n_points)] = (uint32_t)i + 1;
    return true;
}

/* The number of a row; UINT32_MAX: out of memory. */
static uint32_t row_of(struct rows *rows, const uint64_t *bytes)
{
    if (rows->n == rows->room && !grow(rows))
        return UINT32_MAX;
    const size_t slot = slot_of(rows, bytes);
    if (!rows->slots[slot]) {
        memcpy(rows->bytes + rows->n * rows->n_points, bytes, rows->n_points * sizeof *bytes);
        rows->slots[slot] = (uint32_t)++rows->n;
    }
    return rows->slots[slot] - 1;
}

static bool list_rows(const struct plim_step *const *recordings, struct plim_step_shape *shape, struct rows *rows)
{
    uint64_t bytes[PLIM_STEP_MAX_POINTS];
    for (size_t i = 0; i < shape->n_tracks; i++)
        for (uint32_t k = 0; k < shape->tracks[i].n_allocations; k++) {
            for (size_t p = 0; p < shape->n_points; p++) {
                const struct plim_step_shape *own = &recordings[p]->shapes[0];
                bytes[p] = plim_step_size_bytes(own, own->tracks[i].allocations[k].size, &own->points[0]);
            }
            shape->tracks[i].allocations[k].size = row_of(rows, bytes);
            if (shape->tracks[i].allocations[k].size == UINT32_MAX)
                return false;
        }
    return true;
}

static bool add_size(struct plim_step_shape *shape, size_t *terms_room, const struct plim_step_form *form)
{
    if (shape->n_terms + form->n_terms > *terms_room) {
        *terms_room = 2 * *terms_room + 64;
        struct plim_step_term *terms = plim_realloc(shape->terms, *terms_room, sizeof *terms);
        if (!terms)
            return false;
        shape->terms = terms;
    }
    struct plim_step_size *size = &shape->sizes[shape->n_sizes++];
    *size = (struct plim_step_size){ .first_term = (uint32_t)shape->n_terms,
                                     .n_terms = form->n_terms,
                                     .denominator = form->denominator,
                                     .is_exact = form->is_exact };
    memcpy(size->rounding, form->rounding, sizeof size->rounding);
    memcpy(shape->terms + shape->n_terms, form->term, form->n_terms * sizeof *form->term);
    shape->n_terms += form->n_terms;
    return true;
}

int plim_step_fit_sizes(const struct plim_step *const *recordings, uint32_t n_variables, struct plim_step_shape *shape,
                        struct plim_error *reterr)
{
    struct rows rows = { .n_points = shape->n_points };
    struct plim_step_former *former = NULL;
    struct plim_step_form form;
    size_t terms_room = 0;
    int result = plim_step_former_open(shape->points, shape->n_points, n_variables, &former, reterr);
    if (result < 0)
        return result;
    bool is_done = list_rows(recordings, shape, &rows);
    shape->sizes = is_done && rows.n ? plim_alloc(rows.n, sizeof *shape->sizes) : NULL;
    is_done = is_done && (shape->sizes || rows.n == 0);
    for (size_t i = 0; is_done && i < rows.n; i++) {
        plim_step_former_find(former, rows.bytes + i * rows.n_points, &form);
        is_done = add_size(shape, &terms_room, &form);
    }
    if (!is_done)
        result = plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    plim_step_former_free(former);
    plim_free(rows.bytes);
    plim_free(rows.slots);
    return result;
}
