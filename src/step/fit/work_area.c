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

/* What the program grows with: rows of a batch, in most. */
static uint64_t usual_at(const struct plim_step_work_area *area, size_t point)
{
    const uint64_t value = plim_step_form_bytes(&area->usual, &area->points[point]);
    return value >> 62 ? UINT64_MAX : value;
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

/* Values of the usual formula: the largest without the allocation, the smallest with it. */
static void find_limits(const struct plim_step_work_area *area, uint64_t *ret_without, uint64_t *ret_with)
{
    *ret_without = 0;
    *ret_with = UINT64_MAX;
    for (size_t i = 0; i < area->n_points; i++) {
        const uint64_t product = usual_at(area, i);
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
        const uint64_t parts = area->bytes[i] / part_bytes, product = usual_at(area, i);
        if (parts == 0 || product == UINT64_MAX || (has_end && parts == most))
            continue;
        const uint64_t least = (product + parts - 1) / parts;
        const uint64_t end = parts > 1 ? (product + parts - 2) / (parts - 1) : UINT64_MAX;
        low = least > low ? least : low;
        high = end < high ? end : high;
    }
    for (size_t i = 0; has_end && i < area->n_points; i++) /* the end of the stairs is not before them */
        if (area->bytes[i] / part_bytes == most) {
            const uint64_t end = (usual_at(area, i) + most - 2) / (most > 1 ? most - 1 : 1);
            high = end < high ? end : high;
        }
    *ret_width = high > low ? roundest(low - 1, high - 1) : 0;
    return high > low && high != UINT64_MAX;
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

/* Whether areas with steps of this width are taken where they were, and only there. */
static bool is_line_right(const struct plim_step_work_area *area, uint64_t width)
{
    uint64_t without, with;
    const plim_wide line = (plim_wide)width * VALUES / LEAST_PARTS;
    find_limits(area, &without, &with);
    return line >= (plim_wide)without && line < (plim_wide)with;
}

static void sum_up(const struct plim_step_work_area *area, uint64_t *ret_common, uint64_t *ret_largest)
{
    *ret_common = *ret_largest = 0;
    for (size_t i = 0; i < area->n_points; i++) {
        *ret_common = (uint64_t)plim_wide_gcd((plim_wide)*ret_common, (plim_wide)area->bytes[i]);
        *ret_largest = area->bytes[i] > *ret_largest ? area->bytes[i] : *ret_largest;
    }
}

/*
 * Of a reduction: a part has 4 bytes for each output and each of the threads side by side in a block; these are 32 to
 * 128, of 512 in all that are shared by the 1, 2 or 4 outputs of a thread; and the blocks side by side, of which the
 * semaphores tell, have the outputs between them. One recording is enough.
 */
static bool find_reduction(const struct plim_step_work_area *area, struct stairs *ret_stairs)
{
    enum { MOST_TRIES = 4096 };
    const uint64_t blocks = semaphores_of(area) / SEMAPHORE_BYTES;
    uint64_t common, largest;
    sum_up(area, &common, &largest);
    if (blocks == 0 || blocks >> 24 || area->n_threads == 0)
        return false;
    for (uint64_t vector = 4; vector > 0; vector /= 2) {
        const uint64_t width = WARP * vector, unit = ELEMENT_BYTES * width,
                       grid = area->n_threads / (MOST_THREADS / vector);
        const uint64_t outputs = common / unit, first = (outputs + width * blocks - 1) / (width * blocks);
        for (uint64_t k = first; common % unit == 0 && k < first + MOST_TRIES && k <= outputs; k++) {
            if (k * width * (blocks - 1) >= outputs)
                break;
            struct stairs stairs = { .part_bytes = unit * (outputs / k), .most_parts = (grid + blocks - 1) / blocks };
            if (outputs % k || largest / stairs.part_bytes > stairs.most_parts)
                continue;
            if (find_width(area, stairs.part_bytes, stairs.most_parts, true, &stairs.width) &&
                is_line_right(area, stairs.width)) {
                *ret_stairs = stairs;
                return true;
            }
        }
    }
    return false;
}

/* Of anything that grows in steps of one size. */
static bool find_stairs(const struct plim_step_work_area *area, struct stairs *ret_stairs)
{
    uint64_t part_bytes, largest;
    sum_up(area, &part_bytes, &largest);
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

/* --- forms --- */

/* over / under of the usual formula; false: too large. */
static bool set_usual(const struct plim_step_work_area *area, uint64_t over, uint64_t under,
                      struct plim_step_form *form)
{
    const uint64_t common = (uint64_t)plim_wide_gcd((plim_wide)over, (plim_wide)under);
    bool is_inside = under / common <= UINT32_MAX && over >> 62 == 0;
    *form = (struct plim_step_form){ .n_terms = area->usual.n_terms, .denominator = (uint32_t)(under / common) };
    for (uint32_t i = 0; i < area->usual.n_terms; i++) {
        const plim_wide product =
            plim_wide_times((plim_wide)area->usual.term[i].coefficient, (plim_wide)(over / common), &is_inside);
        is_inside = is_inside && plim_wide_bits(product) <= 60;
        form->term[i] = area->usual.term[i];
        form->term[i].coefficient = is_inside ? (int64_t)product : 0;
    }
    return is_inside;
}

static bool write_stairs(const struct plim_step_work_area *area, const struct stairs *stairs,
                         struct plim_step_form *ret_form)
{
    uint64_t without, with;
    if (stairs->part_bytes >> 40 || !set_usual(area, stairs->part_bytes, stairs->width, ret_form))
        return false;
    ret_form->multiple_bytes = stairs->part_bytes;
    ret_form->most_bytes = stairs->most_parts * stairs->part_bytes;
    find_limits(area, &without, &with);
    if (is_line_right(area, stairs->width))
        ret_form->least_bytes = stairs->part_bytes * VALUES / LEAST_PARTS + 1;
    else if (without < with)
        ret_form->least_bytes =
            (uint64_t)((plim_wide)stairs->part_bytes * (plim_wide)roundest(without, with) / (plim_wide)stairs->width);
    return true;
}

/* One size from a value of the product on: the product itself, rounded up to more than it ever is. */
static void write_constant(const struct plim_step_work_area *area, uint64_t bytes, struct plim_step_form *ret_form)
{
    uint64_t without, with;
    (void)set_usual(area, 1, 1, ret_form);
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

/* Made once, and large: with the program. */
static void write_single(const struct plim_step_work_area *area, uint64_t bytes, struct plim_step_form *ret_form)
{
    uint64_t without, with;
    find_limits(area, &without, &with);
    if (with == UINT64_MAX || with == 0 || !set_usual(area, bytes, with, ret_form))
        write_constant(area, bytes, ret_form);
    else
        draw_line(area, ret_form);
}

static int write_several(const struct plim_step_work_area *area, size_t n_made, struct plim_step_form *ret_form,
                         struct plim_error *reterr)
{
    struct stairs stairs;
    const int result = write_usual(area, n_made, ret_form, reterr);
    const bool is_simple = ret_form->meets_all && ret_form->n_terms == 1;
    if (result == 0 && (is_simple || !find_stairs(area, &stairs) || !write_stairs(area, &stairs, ret_form)))
        draw_line(area, ret_form);
    return result;
}

bool plim_step_work_area_find_reduction(const struct plim_step_work_area *area, struct plim_step_form *ret_form)
{
    struct stairs stairs;
    struct plim_step_form form = { 0 };
    if (!find_reduction(area, &stairs) || !write_stairs(area, &stairs, &form))
        return false;
    for (size_t i = 0; i < area->n_points; i++)
        if (plim_step_form_bytes(&form, &area->points[i]) != area->bytes[i])
            return false;
    *ret_form = form;
    return true;
}

int plim_step_work_area_find(const struct plim_step_work_area *area, struct plim_step_form *ret_form,
                             struct plim_error *reterr)
{
    enum { ONE_BLOCK = 512 };
    struct plim_step_form form = { 0 };
    struct stairs stairs;
    uint64_t bytes = 0;
    size_t n_made = 0;
    bool is_one = true;
    for (size_t i = 0; i < area->n_points; i++)
        if (area->bytes[i]) {
            is_one = is_one && (n_made == 0 || area->bytes[i] == bytes);
            bytes = area->bytes[i];
            n_made++;
        }
    if (find_reduction(area, &stairs) && write_stairs(area, &stairs, &form)) {
        /* it ends where the card is full, which no recording may show */
    } else if (!is_one) {
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
