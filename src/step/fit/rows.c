/* SPDX-License-Identifier: MIT */
/*
 * Most allocations of a program have one of a few hundred sizes, at all points: a form is looked for once for each row
 * of sizes that differs, by a table of hashes.
 */
#include "step/fit/rows.h"

#include "base/mem.h"
#include "step/fit/form.h"
#include "step/fit/form_capped.h"
#include "step/fit/wide.h"
#include "step/fit/work_area.h"
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

/* What a recording has for an allocation of the braid; 0: it does not have it. */
static uint64_t bytes_of(const struct plim_step_braid *braid, const struct plim_step_recording *recording, size_t track,
                         uint32_t allocation)
{
    const struct plim_step_shape *shape = &recording->step.shapes[0];
    const uint32_t own = braid->own[recording->strand][track][allocation];
    return own == PLIM_STEP_NO_ALLOCATION
               ? 0
               : plim_step_size_bytes(shape, shape->tracks[track].allocations[own].size, &shape->points[0]);
}

/* A row of sizes, and behind it that of the allocation after it if both are there for some points only. */
static void fill_row(const struct plim_step_braid *braid, const struct plim_step_recording *const *recordings,
                     const struct plim_step_shape *shape, size_t track, uint32_t allocation, uint64_t *row)
{
    const size_t n = shape->n_points;
    const bool has_next = allocation + 1 < shape->tracks[track].n_allocations;
    bool is_same = has_next, lacks_some = false;
    for (size_t p = 0; p < n; p++) {
        row[p] = bytes_of(braid, recordings[p], track, allocation);
        row[n + p] = has_next ? bytes_of(braid, recordings[p], track, allocation + 1) : 0;
        lacks_some = lacks_some || row[p] == 0;
        is_same = is_same && (row[p] == 0) == (row[n + p] == 0);
    }
    if (!lacks_some || !is_same)
        memset(row + n, 0, n * sizeof *row);
}

static bool list_rows(const struct plim_step_braid *braid, const struct plim_step_recording *const *recordings,
                      struct plim_step_shape *shape, struct rows *rows)
{
    uint64_t row[2 * PLIM_STEP_MAX_POINTS];
    for (size_t i = 0; i < shape->n_tracks; i++)
        for (uint32_t k = 0; k < shape->tracks[i].n_allocations; k++) {
            fill_row(braid, recordings, shape, i, k, row);
            shape->tracks[i].allocations[k].size = row_of(rows, row);
            if (shape->tracks[i].allocations[k].size == UINT32_MAX)
                return false;
        }
    return true;
}

static bool add_size(struct plim_step_shape *shape, size_t *terms_room, uint32_t number,
                     const struct plim_step_form *form)
{
    if (shape->n_terms + form->n_terms > *terms_room) {
        *terms_room = 2 * *terms_room + 64;
        struct plim_step_term *terms = plim_realloc(shape->terms, *terms_room, sizeof *terms);
        if (!terms)
            return false;
        shape->terms = terms;
    }
    shape->sizes[number] = plim_step_form_size(form, (uint32_t)shape->n_terms);
    memcpy(shape->terms + shape->n_terms, form->term, form->n_terms * sizeof *form->term);
    shape->n_terms += form->n_terms;
    return true;
}

/* --- the forms --- */

struct forms {
    struct plim_step_shape *shape;
    const struct plim_step_fit *fit;
    const struct rows *rows;
    size_t *n_users;             /* [row]: allocations of that size */
    struct plim_step_form *bare; /* [row], of zeros where it is of no use */
    size_t terms_room;
    struct plim_step_form usual;
    size_t n_usual;
};

/* Made at all points, or at none. */
static bool is_regular(const struct forms *f, size_t row)
{
    const uint64_t *bytes = f->rows->bytes + row * f->rows->n_points;
    for (size_t p = 1; p < f->shape->n_points; p++)
        if ((bytes[p] == 0) != (bytes[0] == 0))
            return false;
    return true;
}

/* Without the factor that all terms share. */
static struct plim_step_form bare(const struct plim_step_form *form)
{
    struct plim_step_form own = { .n_terms = form->n_terms, .denominator = 1 };
    plim_wide common = 0;
    for (uint32_t i = 0; i < form->n_terms; i++)
        common = plim_wide_gcd(common, form->term[i].coefficient);
    for (uint32_t i = 0; i < form->n_terms; i++) {
        own.term[i] = form->term[i];
        own.term[i].coefficient = (int64_t)(form->term[i].coefficient / common);
    }
    return own;
}

/*
 * The formula with which most allocations grow, but for a factor: B S, or B S^2 + 256 B where pictures are cut into
 * patches of 16 x 16 and one more. A term without variables is none of a batch.
 */
static void learn_usual(struct forms *f, size_t row, const struct plim_step_form *form)
{
    static const uint8_t none[PLIM_STEP_MAX_VARIABLES];
    bool is_usable = form->meets_all && form->n_terms < PLIM_STEP_FORM_TERMS && form->term[0].coefficient > 0 &&
                     !memcmp(form->rounding, none, sizeof none);
    for (uint32_t i = 0; i < form->n_terms; i++)
        is_usable = is_usable && memcmp(form->term[i].power, none, sizeof none) != 0;
    if (!is_usable)
        return;
    const struct plim_step_form own = bare(form);
    f->bare[row] = own;
    size_t n = 0; /* with the rows before it that grow like it */
    for (size_t i = 0; i <= row; i++)
        n += f->bare[i].n_terms == own.n_terms && !memcmp(f->bare[i].term, own.term, own.n_terms * sizeof *own.term)
                 ? f->n_users[i]
                 : 0;
    if (n > f->n_usual) {
        f->n_usual = n;
        f->usual = own;
    }
}

static struct plim_step_work_area area_of(const struct forms *f)
{
    struct plim_step_work_area area = { .points = f->shape->points,
                                        .n_points = f->shape->n_points,
                                        .n_variables = f->fit->n_variables,
                                        .n_threads = f->fit->n_threads };
    area.usual = f->usual;
    if (f->n_usual == 0) {
        area.usual = (struct plim_step_form){ .n_terms = 1, .denominator = 1, .term = { { .coefficient = 1 } } };
        for (uint32_t k = 0; k < area.n_variables; k++)
            area.usual.term[0].power[k] = 1;
    }
    return area;
}

/* One small size for all points. */
static bool may_be_semaphores(const uint64_t *bytes, size_t n)
{
    enum { MOST_BYTES = 1 << 16 };
    for (size_t p = 1; p < n; p++)
        if (bytes[p] != bytes[0])
            return false;
    return bytes[0] > 0 && bytes[0] <= MOST_BYTES;
}

/* The row of what is taken after allocations of this one, if these may be the semaphores of work areas; else NULL. */
static const uint64_t *semaphores_after(const struct forms *f, size_t row)
{
    for (size_t i = 0; i < f->shape->n_tracks; i++) {
        const struct plim_step_track *track = &f->shape->tracks[i];
        for (uint32_t k = 0; k + 1 < track->n_allocations; k++) {
            const uint64_t *next = f->rows->bytes + track->allocations[k + 1].size * f->rows->n_points;
            if (track->allocations[k].size == row && may_be_semaphores(next, f->shape->n_points))
                return next;
        }
    }
    return NULL;
}

/* Sizes that no formula meets: a work area that all points have, and in some of them the largest that the card can use.
 */
static int fit_irregular(struct forms *f, struct plim_step_former *former, struct plim_error *reterr)
{
    enum { FINER = 1 << 10 }; /* a step of the work area begins between two values of the product */
    struct plim_step_work_area area = area_of(f);
    int result = 0;
    for (uint32_t k = 0; k < area.usual.n_terms; k++)
        if (area.usual.term[k].coefficient < INT64_MAX / FINER && area.usual.term[k].coefficient > INT64_MIN / FINER)
            area.usual.term[k].coefficient *= FINER;
    for (size_t i = 0; result == 0 && i < f->rows->n; i++) {
        struct plim_step_form form;
        bool is_found;
        if (f->shape->sizes[i].denominator || !is_regular(f, i))
            continue;
        area.bytes = f->rows->bytes + i * f->rows->n_points;
        area.semaphore_bytes = semaphores_after(f, i);
        is_found = plim_step_work_area_find_reduction(&area, &form);
        if (!is_found)
            result = plim_step_form_capped(area.points, area.bytes, area.n_points, area.n_variables, &form, &is_found,
                                           reterr);
        if (!is_found)
            plim_step_former_find(former, area.bytes, &form);
        if (result == 0 && !add_size(f->shape, &f->terms_room, (uint32_t)i, &form))
            result = plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    }
    return result;
}

static int fit_regular(struct forms *f, struct plim_error *reterr)
{
    struct plim_step_former *former = NULL;
    struct plim_step_form form;
    bool is_done = true;
    int result = plim_step_former_open(f->shape->points, f->shape->n_points, f->fit->n_variables, &former, reterr);
    if (result < 0)
        return result;
    for (size_t i = 0; is_done && i < f->rows->n; i++) {
        if (!is_regular(f, i))
            continue;
        plim_step_former_find(former, f->rows->bytes + i * f->rows->n_points, &form);
        if (!form.meets_all)
            continue;
        is_done = add_size(f->shape, &f->terms_room, (uint32_t)i, &form);
        if (is_done)
            learn_usual(f, i, &form);
    }
    result =
        is_done ? fit_irregular(f, former, reterr) : plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    plim_step_former_free(former);
    return result;
}

static int fit_work_areas(struct forms *f, struct plim_error *reterr)
{
    struct plim_step_work_area area = area_of(f);
    int result = 0;
    for (size_t i = 0; result == 0 && i < f->rows->n; i++) {
        struct plim_step_form form;
        if (is_regular(f, i))
            continue;
        area.bytes = f->rows->bytes + i * f->rows->n_points;
        area.semaphore_bytes = area.bytes + area.n_points;
        result = plim_step_work_area_find(&area, &form, reterr);
        if (result == 0 && !add_size(f->shape, &f->terms_room, (uint32_t)i, &form))
            result = plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    }
    return result;
}

static int fit_rows(const struct plim_step_fit *fit, const struct rows *rows, struct plim_step_shape *shape,
                    struct plim_error *reterr)
{
    struct forms forms = { .shape = shape, .fit = fit, .rows = rows };
    if (rows->n == 0)
        return 0;
    forms.n_users = plim_alloc(rows->n, sizeof *forms.n_users);
    forms.bare = plim_alloc(rows->n, sizeof *forms.bare);
    shape->sizes = plim_alloc(rows->n, sizeof *shape->sizes);
    if (!forms.n_users || !forms.bare || !shape->sizes) {
        plim_free(forms.n_users);
        plim_free(forms.bare);
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    }
    shape->n_sizes = rows->n;
    for (size_t i = 0; i < shape->n_tracks; i++)
        for (uint32_t k = 0; k < shape->tracks[i].n_allocations; k++)
            forms.n_users[shape->tracks[i].allocations[k].size]++;
    int result = fit_regular(&forms, reterr);
    if (result == 0)
        result = fit_work_areas(&forms, reterr);
    plim_free(forms.n_users);
    plim_free(forms.bare);
    return result;
}

int plim_step_fit_sizes(const struct plim_step_fit *fit, const struct plim_step_braid *braid,
                        const struct plim_step_recording *const *recordings, struct plim_step_shape *shape,
                        struct plim_error *reterr)
{
    struct rows rows = { .n_points = 2 * shape->n_points };
    const int result = list_rows(braid, recordings, shape, &rows)
                           ? fit_rows(fit, &rows, shape, reterr)
                           : plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    plim_free(rows.bytes);
    plim_free(rows.slots);
    return result;
}
