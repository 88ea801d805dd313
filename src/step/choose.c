/* SPDX-License-Identifier: MIT */
#include "step/choose.h"

#include "base/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

struct box {
    uint64_t low[PLIM_STEP_MAX_VARIABLES], high[PLIM_STEP_MAX_VARIABLES];
};

static void include_point(struct box *box, const struct plim_step_point *point, uint32_t n)
{
    for (uint32_t v = 0; v < n; v++) {
        box->low[v] = point->value[v] < box->low[v] ? point->value[v] : box->low[v];
        box->high[v] = point->value[v] > box->high[v] ? point->value[v] : box->high[v];
    }
}

static struct box box_of(const struct plim_step_shape *shape, uint32_t n)
{
    struct box box;
    memset(box.low, 0xff, sizeof box.low);
    memset(box.high, 0, sizeof box.high);
    for (size_t i = 0; i < shape->n_points; i++)
        include_point(&box, &shape->points[i], n);
    return box;
}

static bool has_point(const struct box *box, const struct plim_step_point *point, uint32_t n)
{
    for (uint32_t v = 0; v < n; v++)
        if (point->value[v] < box->low[v] || point->value[v] > box->high[v])
            return false;
    return true;
}

static bool do_meet(const struct box *a, const struct box *b, uint32_t n)
{
    for (uint32_t v = 0; v < n; v++)
        if (a->high[v] < b->low[v] || b->high[v] < a->low[v])
            return false;
    return true;
}

char *plim_step_point_text(const struct plim_step *step, const struct plim_step_point *point, char *text, size_t size)
{
    text[0] = '\0';
    for (uint32_t v = 0; v < step->n_variables; v++) {
        const size_t n = strlen(text);
        snprintf(text + n, size - n, "%s%s=%" PRIu64, v ? " " : "", step->variables[v].name, point->value[v]);
    }
    plim_text_clean(text);
    return text;
}

/* The recorded point that is the same; SIZE_MAX: none. */
static size_t find_recorded(const struct plim_step *step, const struct plim_step_shape *shape,
                            const struct plim_step_point *point)
{
    for (size_t i = 0; i < shape->n_points; i++)
        if (!memcmp(shape->points[i].value, point->value, step->n_variables * sizeof *point->value))
            return i;
    return SIZE_MAX;
}

/* A variable with one recorded value in this shape, and another one in the point; n_variables: there is none. */
static uint32_t find_fixed(const struct plim_step *step, const struct box *box, const struct plim_step_point *point)
{
    uint32_t v = 0;
    while (v < step->n_variables && (box->low[v] != box->high[v] || box->low[v] == point->value[v]))
        v++;
    return v;
}

static int refuse_fixed(const struct plim_step *step, const struct box *box, uint32_t v, struct plim_error *reterr)
{
    const char *name = step->variables[v].name;
    const int code =
        plim_fail(reterr, PLIM_E_UNSUPPORTED, PLIM_NO_OFFSET,
                  "recorded at %s=%" PRIu64 " only: how sizes follow %s is not known", name, box->low[v], name);
    plim_error_hint(reterr, "record it again at several values: plimsoll rehearse --record FILE --vary %s=...", name);
    return code;
}

/* Two recordings that differ in this variable alone. */
static bool is_alone(const struct plim_step_point *a, const struct plim_step_point *b, uint32_t variable, uint32_t n)
{
    for (uint32_t v = 0; v < n; v++)
        if ((a->value[v] == b->value[v]) == (v == variable))
            return false;
    return true;
}

/* A variable that has several values in a shape, but was never the only one that changed; n: there is none. */
static uint32_t find_mixed(const struct plim_step_shape *shape, const struct box *box, uint32_t n)
{
    for (uint32_t v = 0; v < n; v++) {
        bool is_told = box->low[v] == box->high[v];
        for (size_t i = 0; i < shape->n_points && !is_told; i++)
            for (size_t k = 0; k < i && !is_told; k++)
                is_told = is_alone(&shape->points[i], &shape->points[k], v, n);
        if (!is_told)
            return v;
    }
    return n;
}

static int refuse_mixed(const struct plim_step *step, uint32_t v, struct plim_error *reterr)
{
    const char *name = step->variables[v].name;
    const int code = plim_fail(reterr, PLIM_E_UNSUPPORTED, PLIM_NO_OFFSET,
                               "%s changed with other variables only in the recordings of this shape: which of them "
                               "sizes follow is not known",
                               name);
    plim_error_hint(reterr, "record it again with one more point where %s alone is another: --vary %s=...", name, name);
    return code;
}

/* How far a point is from a box, as a factor in the variable that is farthest. */
static double distance(const struct box *box, const struct plim_step_point *point, uint32_t n)
{
    double farthest = 1;
    for (uint32_t v = 0; v < n; v++) {
        const double value = fmax((double)point->value[v], 1), low = fmax((double)box->low[v], 1),
                     high = fmax((double)box->high[v], 1);
        const double factor = value < low ? low / value : value > high ? value / high : 1;
        farthest = factor > farthest ? factor : farthest;
    }
    return farthest;
}

/* The point lies between the shapes of two boxes: it names the value from which recordings had the second. */
static int refuse_between(const struct plim_step *step, const struct plim_step_point *point, size_t near,
                          struct plim_error *reterr)
{
    char text[160];
    const uint32_t n = step->n_variables;
    const struct box here = box_of(&step->shapes[near], n);
    plim_step_point_text(step, point, text, sizeof text);
    for (uint32_t v = 0; v < n; v++) {
        uint64_t from = 0, below = 0;
        for (size_t i = 0; i < step->n_shapes; i++) {
            const struct box box = box_of(&step->shapes[i], n);
            if (box.low[v] > point->value[v] && (!from || box.low[v] < from))
                from = box.low[v];
            if (box.high[v] < point->value[v] && box.high[v] >= below)
                below = box.high[v];
        }
        if (!from || !below || (here.low[v] <= point->value[v] && point->value[v] <= here.high[v]))
            continue;
        plim_fail(reterr, PLIM_E_UNSUPPORTED, PLIM_NO_OFFSET,
                  "%s lies between two shapes of the step: another shape from %s=%" PRIu64 ": record it again", text,
                  step->variables[v].name, from);
        plim_error_hint(reterr,
                        "the order of allocations changes between %s=%" PRIu64 " and %s=%" PRIu64
                        ": plimsoll rehearse --record FILE --vary %s=%" PRIu64 ",%" PRIu64 ",...",
                        step->variables[v].name, below, step->variables[v].name, from, step->variables[v].name,
                        point->value[v], from);
        return PLIM_E_UNSUPPORTED;
    }
    plim_fail(reterr, PLIM_E_UNSUPPORTED, PLIM_NO_OFFSET,
              "which of the step's %zu shapes the program has at %s is not known: record it again", step->n_shapes,
              text);
    plim_error_hint(reterr, "plimsoll rehearse --record FILE --vary VAR=... with these values among them");
    return PLIM_E_UNSUPPORTED;
}

/* Can the box grow to the point without meeting another one? */
static bool can_grow(const struct plim_step *step, size_t shape, const struct plim_step_point *point)
{
    struct box grown = box_of(&step->shapes[shape], step->n_variables);
    include_point(&grown, point, step->n_variables);
    for (size_t i = 0; i < step->n_shapes; i++) {
        const struct box other = box_of(&step->shapes[i], step->n_variables);
        if (i != shape && do_meet(&grown, &other, step->n_variables))
            return false;
    }
    return true;
}

static int choose_unrecorded(const struct plim_step *step, const struct plim_step_point *point,
                             struct plim_step_choice *ret_choice, struct plim_error *reterr)
{
    const uint32_t n = step->n_variables;
    size_t found = SIZE_MAX, near = 0, n_found = 0;
    for (size_t i = 0; i < step->n_shapes; i++) {
        const struct box box = box_of(&step->shapes[i], n), nearest = box_of(&step->shapes[near], n);
        if (distance(&box, point, n) < distance(&nearest, point, n))
            near = i;
        if (can_grow(step, i, point)) {
            found = i;
            n_found++;
        }
    }
    if (n_found != 1)
        return refuse_between(step, point, near, reterr);
    const struct box box = box_of(&step->shapes[found], n);
    const uint32_t fixed = find_fixed(step, &box, point);
    if (fixed < n)
        return refuse_fixed(step, &box, fixed, reterr);
    const uint32_t mixed = find_mixed(&step->shapes[found], &box, n);
    if (mixed < n)
        return refuse_mixed(step, mixed, reterr);
    *ret_choice = (struct plim_step_choice){ &step->shapes[found],
                                             has_point(&box, point, n) ? PLIM_STEP_BETWEEN : PLIM_STEP_BEYOND, SIZE_MAX,
                                             distance(&box, point, n) };
    return 0;
}

int plim_step_choose(const struct plim_step *step, const struct plim_step_point *point,
                     struct plim_step_choice *ret_choice, struct plim_error *reterr)
{
    for (size_t i = 0; i < step->n_shapes; i++) {
        const size_t recorded = find_recorded(step, &step->shapes[i], point);
        if (recorded == SIZE_MAX)
            continue;
        *ret_choice = (struct plim_step_choice){ &step->shapes[i], PLIM_STEP_RECORDED, recorded, 1 };
        return 0;
    }
    if (!step->n_shapes)
        return plim_fail(reterr, PLIM_E_CORRUPT, PLIM_NO_OFFSET, "the step has no recording");
    return choose_unrecorded(step, point, ret_choice, reterr);
}
