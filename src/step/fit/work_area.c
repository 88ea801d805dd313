/* SPDX-License-Identifier: MIT */
/*
 * PyTorch's reductions (aten/src/ATen/native/cuda/Reduce.cuh, setReduceConfig; the same in 2.1 to 2.15): when each
 * thread would have 256 values or more, the rows are split over as many blocks as leave 16 values to a thread, but not
 * more than the card can have at work. Each block has a part of the work area, which so is a number of parts of one
 * size:
 *
 *     parts = min(rows / (16 x threads beside each other), threads of the card / (threads of a block x blocks side by
 * side))
 *
 * and the area is taken from 256 / 16 parts on. Beside it are semaphores: 4 bytes for each block side by side.
 */
#include "step/fit/work_area.h"

#include "base/mem.h"
#include "step/fit/wide.h"

#include <string.h>

enum { LEAST_PARTS = 16, VALUES = 255, SEMAPHORE_BYTES = 4, ELEMENT_BYTES = 4, MOST_THREADS = 512, WARP = 32 };

/* A step in which the parts grow with the product. */
struct stairs {
    uint64_t part_bytes, width; /* parts = product / width, rounded up */
    uint64_t most_parts;        /* 0: no end was seen */
};

static uint64_t product_at(const struct plim_step_work_area *area, size_t point)
{
    bool is_inside = true;
    plim_wide value = 1;
    for (uint32_t i = 0; i < area->n_variables; i++)
        for (uint32_t k = 0; k < area->usual[i]; k++)
            value = plim_wide_times(value, (plim_wide)area->points[point].value[i], &is_inside);
    return is_inside && plim_wide_bits(value) <= 62 ? (uint64_t)value : UINT64_MAX;
}

/* The number in (low, high] with the most zeros at its end: where a program would draw a line. */
static uint64_t roundest(uint64_t low, uint64_t high)
{
    for (int bit = 62; bit >= 0; bit--) {
        const uint64_t number = high >> bit << bit;
        if (number > low)
            return number;
    }
    return high;
}

/* Values of the product: the largest without the allocation, the smallest with it. */
static void find_limits(const struct plim_step_work_area *area, uint64_t *ret_without, uint64_t *ret_with)
{
    *ret_without = 0;
    *ret_with = UINT64_MAX;
    for (size_t i = 0; i < area->n_points; i++) {
        const uint64_t product = product_at(area, i);
        if (area->bytes[i] == 0 && product > *ret_without)
            *ret_without = product;
        if (area->bytes[i] && product < *ret_with)
            *ret_with = product;
    }
}

/* --- stairs --- */

/* The widths with which all that are below the largest have their number of parts: [*low, *high). */
static bool find_width(const struct plim_step_work_area *area, uint64_t part_bytes, uint64_t most, bool has_end,
                       uint64_t *ret_width)
{
    uint64_t low = 1, high = UINT64_MAX; /* low <= width < high */
    for (size_t i = 0; i < area->n_points; i++) {
        const uint64_t parts = area->bytes[i] / part_bytes, product = product_at(area, i);
        if (parts == 0 || product == UINT64_MAX || (has_end && parts == most))
            continue;
        const uint64_t least = (product + parts - 1) / parts;
        const uint64_t end = parts > 1 ? (product + parts - 2) / (parts - 1) : UINT64_MAX;
        low = least > low ? least : low;
        high = end < high ? end : high;
    }
    for (size_t i = 0; has_end && i < area->n_points; i++) /* the end of the stairs is not before them */
        if (area->bytes[i] / part_bytes == most) {
            const uint64_t end = (product_at(area, i) + most - 2) / (most > 1 ? most - 1 : 1);
            high = end < high ? end : high;
        }
    *ret_width = high > low ? roundest(low - 1, high - 1) : 0;
    return high > low && high != UINT64_MAX;
}

static bool find_stairs(const struct plim_step_work_area *area, struct stairs *ret_stairs)
{
    uint64_t part_bytes = 0, largest = 0;
    for (size_t i = 0; i < area->n_points; i++) {
        part_bytes = (uint64_t)plim_wide_gcd((plim_wide)part_bytes, (plim_wide)area->bytes[i]);
        largest = area->bytes[i] > largest ? area->bytes[i] : largest;
    }
    struct stairs stairs = { .part_bytes = part_bytes };
    if (part_bytes == largest)
        return false;
    if (!find_width(area, part_bytes, largest / part_bytes, false, &stairs.width)) {
        if (!find_width(area, part_bytes, largest / part_bytes, true, &stairs.width))
            return false;
        stairs.most_parts = largest / part_bytes;
    }
    *ret_stairs = stairs;
    return true;
}

static uint64_t semaphores_of(const struct plim_step_work_area *area)
{
    uint64_t bytes = 0;
    for (size_t i = 0; area->semaphore_bytes && i < area->n_points; i++) {
        if (area->semaphore_bytes[i] && bytes && area->semaphore_bytes[i] != bytes)
            return 0;
        bytes = area->semaphore_bytes[i] ? area->semaphore_bytes[i] : bytes;
    }
    return bytes;
}

/*
 * The parts that fill the card. A part has 4 bytes for each output, and its block as many outputs as it has threads
 * side by side: width x width x blocks side by side x 4 bytes, of which the width, 32 to 128, says how many threads a
 * block has: 512 in all, shared by the 1, 2 or 4 outputs of a thread.
 */
static uint64_t parts_of_card(const struct plim_step_work_area *area, const struct stairs *stairs)
{
    const uint64_t blocks = semaphores_of(area) / SEMAPHORE_BYTES;
    if (blocks == 0 || area->n_threads == 0)
        return 0;
    for (uint64_t vector = 1; vector <= 4; vector *= 2) {
        const uint64_t width = WARP * vector, n_threads = MOST_THREADS / vector;
        if (stairs->part_bytes == ELEMENT_BYTES * width * width * blocks) {
            const uint64_t grid = area->n_threads / n_threads;
            return (grid + blocks - 1) / blocks;
        }
    }
    return 0;
}

/* --- forms --- */

static void set_product(const struct plim_step_work_area *area, int64_t coefficient, uint32_t denominator,
                        struct plim_step_form *form)
{
    *form = (struct plim_step_form){ .n_terms = 1, .denominator = denominator };
    form->term[0].coefficient = coefficient;
    memcpy(form->term[0].power, area->usual, sizeof area->usual);
}

static bool write_stairs(const struct plim_step_work_area *area, const struct stairs *stairs,
                         struct plim_step_form *ret_form)
{
    const uint64_t common = (uint64_t)plim_wide_gcd((plim_wide)stairs->part_bytes, (plim_wide)stairs->width);
    uint64_t without, with, parts = stairs->most_parts ? stairs->most_parts : parts_of_card(area, stairs);
    if (stairs->width / common > UINT32_MAX || stairs->part_bytes > UINT64_MAX >> 24)
        return false;
    set_product(area, (int64_t)(stairs->part_bytes / common), (uint32_t)(stairs->width / common), ret_form);
    ret_form->multiple_bytes = stairs->part_bytes;
    ret_form->most_bytes = parts * stairs->part_bytes;
    find_limits(area, &without, &with);
    const plim_wide line =
        (plim_wide)stairs->width * VALUES / LEAST_PARTS; /* of the product, beyond which it is taken */
    const uint64_t least = stairs->part_bytes * VALUES / LEAST_PARTS + 1;
    if (line >= (plim_wide)without && line < (plim_wide)with)
        ret_form->least_bytes = least;
    else if (without < with)
        ret_form->least_bytes =
            (uint64_t)((plim_wide)stairs->part_bytes * (plim_wide)roundest(without, with) / (plim_wide)stairs->width);
    return true;
}

/* One size from a value of the product on: the product itself, rounded up to more than it ever is. */
static void write_constant(const struct plim_step_work_area *area, uint64_t bytes, struct plim_step_form *ret_form)
{
    uint64_t without, with;
    set_product(area, 1, 1, ret_form);
    find_limits(area, &without, &with);
    ret_form->least_bytes = without < with ? roundest(without, with) : 0;
    ret_form->multiple_bytes = UINT64_C(1) << 62;
    ret_form->most_bytes = bytes;
}

/* A form of the points where it is made; below a line where it never was, it is not made. */
static int write_usual(const struct plim_step_work_area *area, size_t n_made, struct plim_step_form *ret_form,
                       struct plim_error *reterr)
{
    struct plim_step_former *former = NULL;
    struct plim_step_point *points = plim_alloc(n_made, sizeof *points);
    uint64_t *bytes = plim_alloc(n_made, sizeof *bytes);
    size_t n = 0;
    int result = points && bytes ? 0 : plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    for (size_t i = 0; result == 0 && i < area->n_points; i++)
        if (area->bytes[i]) {
            points[n] = area->points[i];
            bytes[n++] = area->bytes[i];
        }
    if (result == 0)
        result = plim_step_former_open(points, n, area->n_variables, &former, reterr);
    if (result == 0)
        plim_step_former_find(former, bytes, ret_form);
    plim_step_former_free(former);
    plim_free(points);
    plim_free(bytes);
    return result;
}

static void draw_line(const struct plim_step_work_area *area, struct plim_step_form *form)
{
    uint64_t without = 0, with = UINT64_MAX;
    for (size_t i = 0; i < area->n_points; i++) {
        const uint64_t bytes = plim_step_form_bytes(form, &area->points[i]);
        if (area->bytes[i] == 0 && bytes > without)
            without = bytes;
        if (area->bytes[i] && bytes < with)
            with = bytes;
    }
    form->least_bytes = without < with ? without + 1 : 0;
}

/* Made once, and large: with the product with which the program grows. */
static void write_single(const struct plim_step_work_area *area, uint64_t bytes, struct plim_step_form *ret_form)
{
    uint64_t without, with;
    find_limits(area, &without, &with);
    const uint64_t common = (uint64_t)plim_wide_gcd((plim_wide)bytes, (plim_wide)with);
    if (with == UINT64_MAX || with == 0 || with / common > UINT32_MAX) {
        write_constant(area, bytes, ret_form);
        return;
    }
    set_product(area, (int64_t)(bytes / common), (uint32_t)(with / common), ret_form);
    draw_line(area, ret_form);
}

static int write_several(const struct plim_step_work_area *area, size_t n_made, struct plim_step_form *ret_form,
                         struct plim_error *reterr)
{
    struct stairs stairs;
    const bool has_stairs = find_stairs(area, &stairs);
    if (has_stairs && parts_of_card(area, &stairs) && write_stairs(area, &stairs, ret_form))
        return 0; /* those of a reduction: they end where the card is full, which no recording may show */
    const int result = write_usual(area, n_made, ret_form, reterr);
    const bool is_simple = ret_form->meets_all && ret_form->n_terms == 1;
    if (result == 0 && (is_simple || !has_stairs || !write_stairs(area, &stairs, ret_form)))
        draw_line(area, ret_form);
    return result;
}

int plim_step_work_area_find(const struct plim_step_work_area *area, struct plim_step_form *ret_form,
                             struct plim_error *reterr)
{
    enum { ONE_BLOCK = 512 };
    struct plim_step_form form = { 0 };
    uint64_t bytes = 0;
    size_t n_made = 0;
    bool is_one = true;
    for (size_t i = 0; i < area->n_points; i++)
        if (area->bytes[i]) {
            is_one = is_one && (n_made == 0 || area->bytes[i] == bytes);
            bytes = area->bytes[i];
            n_made++;
        }
    if (!is_one) {
        const int result = write_several(area, n_made, &form, reterr);
        if (result < 0)
            return result;
    } else if (n_made > 1 || bytes <= ONE_BLOCK)
        write_constant(area, bytes, &form);
    else
        write_single(area, bytes, &form);
    form.is_exact = false; /* from where on it is made lies between two recordings */
    *ret_form = form;
    return 0;
}
