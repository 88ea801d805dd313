/* SPDX-License-Identifier: MIT */
#include "step/choose.h"

#include "base/text.h"
#include "step/pieces.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A design has some dozens; each is compared with each. */
enum { MOST_POINTS = 4096, TEXT_BYTES = 160 };

/* From the least to the greatest recorded value of each variable. */
struct box {
    uint64_t low[PLIM_STEP_MAX_VARIABLES], high[PLIM_STEP_MAX_VARIABLES];
};

static void include_shape(struct box *box, const struct plim_step_shape *shape, uint32_t n)
{
    for (size_t i = 0; i < shape->n_points; i++)
        for (uint32_t v = 0; v < n; v++) {
            const uint64_t value = shape->points[i].value[v];
            box->low[v] = value < box->low[v] ? value : box->low[v];
            box->high[v] = value > box->high[v] ? value : box->high[v];
        }
}

static struct box empty_box(void)
{
    struct box box;
    memset(box.low, 0xff, sizeof box.low);
    memset(box.high, 0, sizeof box.high);
    return box;
}

static struct box box_of(const struct plim_step *step, size_t shape)
{
    struct box box = empty_box();
    include_shape(&box, &step->shapes[shape], step->n_variables);
    return box;
}

static struct box box_of_all(const struct plim_step *step)
{
    struct box box = empty_box();
    for (size_t i = 0; i < step->n_shapes; i++)
        include_shape(&box, &step->shapes[i], step->n_variables);
    return box;
}

static bool has_point(const struct box *box, const struct plim_step_point *point, uint32_t n)
{
    for (uint32_t v = 0; v < n; v++)
        if (point->value[v] < box->low[v] || point->value[v] > box->high[v])
            return false;
    return true;
}

static struct plim_step_point clamp(const struct box *box, const struct plim_step_point *point, uint32_t n)
{
    struct plim_step_point clamped = *point;
    for (uint32_t v = 0; v < n; v++)
        clamped.value[v] = point->value[v] < box->low[v]    ? box->low[v]
                           : point->value[v] > box->high[v] ? box->high[v]
                                                            : point->value[v];
    return clamped;
}

/* How far a point is from a box, as a factor in the variable that is farthest. */
static double distance(const struct box *box, const struct plim_step_point *point, uint32_t n)
{
    double farthest = 1;
    for (uint32_t v = 0; v < n; v++) {
        const double value = fmax((double)point->value[v], 1), low = fmax((double)box->low[v], 1),
                     high = fmax((double)box->high[v], 1);
        farthest = fmax(farthest, value < low ? low / value : value > high ? value / high : 1);
    }
    return farthest;
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

/* --- refusing --- */

/* At one value of a variable: in all recordings, or because other values have other shapes. */
static int refuse_fixed(const struct plim_step *step, const struct box *box, uint32_t v,
                        const struct plim_step_point *point, struct plim_error *reterr)
{
    const struct box all = box_of_all(step);
    const char *name = step->variables[v].name;
    if (all.low[v] != all.high[v]) {
        plim_fail(reterr, PLIM_E_UNSUPPORTED, PLIM_NO_OFFSET,
                  "the shape there was recorded at %s=%" PRIu64
                  " only, other values have other shapes: how sizes follow %s is not known",
                  name, box->low[v], name);
        plim_error_hint(reterr, "record the value itself: plimsoll rehearse --record FILE --vary %s=...,%" PRIu64, name,
                        point->value[v]);
        return PLIM_E_UNSUPPORTED;
    }
    plim_fail(reterr, PLIM_E_UNSUPPORTED, PLIM_NO_OFFSET,
              "recorded at %s=%" PRIu64 " only: how sizes follow %s is not known", name, box->low[v], name);
    plim_error_hint(reterr, "record it again at several values: plimsoll rehearse --record FILE --vary %s=...", name);
    return PLIM_E_UNSUPPORTED;
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

/* The program has another shape from `other` on, as far as the recordings tell; NULL: they tell nothing. */
static int refuse_between(const struct plim_step *step, const struct plim_step_point *point,
                          const struct plim_step_point *other, struct plim_error *reterr)
{
    char text[TEXT_BYTES], from[TEXT_BYTES] = "";
    plim_step_point_text(step, point, text, sizeof text);
    for (uint32_t v = 0; other && v < step->n_variables; v++) {
        const size_t n = strlen(from);
        if (other->value[v] != point->value[v])
            snprintf(from + n, sizeof from - n, "%s%s=%" PRIu64, n ? " " : "", step->variables[v].name,
                     other->value[v]);
    }
    if (*from)
        plim_fail(reterr, PLIM_E_UNSUPPORTED, PLIM_NO_OFFSET,
                  "%.100s lies between two shapes of the step: another shape from %.60s: record it again", text, from);
    else
        plim_fail(reterr, PLIM_E_UNSUPPORTED, PLIM_NO_OFFSET,
                  "which of the step's %zu shapes the program has at %.100s is not known: record it again",
                  step->n_shapes, text);
    plim_error_hint(reterr, "plimsoll rehearse --record FILE --vary VAR=... with these values among them");
    return PLIM_E_UNSUPPORTED;
}

/* --- the neighbours of a point --- */

/* Is a <= b in every variable, or with is_up b <= a? */
static bool is_before(const struct plim_step_point *a, const struct plim_step_point *b, uint32_t n, bool is_up)
{
    for (uint32_t v = 0; v < n; v++)
        if (is_up ? a->value[v] < b->value[v] : a->value[v] > b->value[v])
            return false;
    return true;
}

/* Is another recorded point between this one and the point that is asked for? */
static bool is_hidden(const struct plim_step *step, const struct plim_step_point *recorded,
                      const struct plim_step_point *point, bool is_up)
{
    const uint32_t n = step->n_variables;
    for (size_t i = 0; i < step->n_shapes; i++)
        for (size_t k = 0; k < step->shapes[i].n_points; k++) {
            const struct plim_step_point *other = &step->shapes[i].points[k];
            if (is_before(recorded, other, n, is_up) && is_before(other, point, n, is_up) &&
                memcmp(recorded->value, other->value, n * sizeof *other->value) != 0)
                return true;
        }
    return false;
}

/*
 * The nearest recorded points below a point, or above it with is_up, have to be of one shape: *shape, or any where that
 * is SIZE_MAX. The first of another shape is returned; NULL: there is none.
 */
static const struct plim_step_point *find_other(const struct plim_step *step, const struct plim_step_point *point,
                                                bool is_up, size_t *shape)
{
    for (size_t i = 0; i < step->n_shapes; i++)
        for (size_t k = 0; k < step->shapes[i].n_points; k++) {
            const struct plim_step_point *recorded = &step->shapes[i].points[k];
            if (!is_before(recorded, point, step->n_variables, is_up) || is_hidden(step, recorded, point, is_up))
                continue;
            if (*shape == SIZE_MAX)
                *shape = i;
            else if (*shape != i)
                return recorded;
        }
    return NULL;
}

/* A point of another shape that lies farther out in a direction in which this shape was not recorded as far. */
static const struct plim_step_point *find_beyond(const struct plim_step *step, size_t shape,
                                                 const struct plim_step_point *point)
{
    const struct box own = box_of(step, shape);
    for (size_t i = 0; i < step->n_shapes; i++)
        for (size_t k = 0; i != shape && k < step->shapes[i].n_points; k++)
            for (uint32_t v = 0; v < step->n_variables; v++) {
                const uint64_t value = step->shapes[i].points[k].value[v];
                if ((point->value[v] > own.high[v] && value > own.high[v]) ||
                    (point->value[v] < own.low[v] && value < own.low[v]))
                    return &step->shapes[i].points[k];
            }
    return NULL;
}

/* --- choosing --- */

static size_t count_points(const struct plim_step *step)
{
    size_t n = 0;
    for (size_t i = 0; i < step->n_shapes; i++)
        n += step->shapes[i].n_points;
    return n;
}

/* The recorded point that is the same. */
static bool find_recorded(const struct plim_step *step, const struct plim_step_point *point,
                          struct plim_step_choice *ret_choice)
{
    for (size_t i = 0; i < step->n_shapes; i++)
        for (size_t k = 0; k < step->shapes[i].n_points; k++)
            if (!memcmp(step->shapes[i].points[k].value, point->value, step->n_variables * sizeof *point->value)) {
                *ret_choice = (struct plim_step_choice){ &step->shapes[i], PLIM_STEP_RECORDED, k, 1 };
                return true;
            }
    return false;
}

/* The shape at a point that was not recorded. Beyond all recorded values it is that at the nearest edge. */
static int find_shape(const struct plim_step *step, const struct plim_step_point *point, size_t *ret_shape,
                      struct plim_error *reterr)
{
    const struct box all = box_of_all(step);
    const struct plim_step_point edge = clamp(&all, point, step->n_variables);
    size_t shape = SIZE_MAX;
    if (step->n_shapes == 1) {
        *ret_shape = 0;
        return 0;
    }
    if (count_points(step) > MOST_POINTS)
        return plim_fail(reterr, PLIM_E_TOO_BIG, PLIM_NO_OFFSET, "the step has more than %d recorded points",
                         MOST_POINTS);
    const struct plim_step_point *other = find_other(step, &edge, false, &shape);
    if (!other)
        other = find_other(step, &edge, true, &shape);
    if (!other && shape != SIZE_MAX)
        other = find_beyond(step, shape, &edge);
    if (other || shape == SIZE_MAX)
        return refuse_between(step, point, other, reterr);
    *ret_shape = shape;
    return 0;
}

int plim_step_choose(const struct plim_step *step, const struct plim_step_point *point,
                     struct plim_step_choice *ret_choice, struct plim_error *reterr)
{
    const uint32_t n = step->n_variables;
    size_t shape = 0;
    if (!step->n_shapes)
        return plim_fail(reterr, PLIM_E_CORRUPT, PLIM_NO_OFFSET, "the step has no recording");
    if (find_recorded(step, point, ret_choice))
        return 0;
    const int result = find_shape(step, point, &shape, reterr);
    if (result < 0)
        return result;
    const struct box box = box_of(step, shape);
    for (uint32_t v = 0; v < n; v++)
        if (box.low[v] == box.high[v] && box.low[v] != point->value[v])
            return refuse_fixed(step, &box, v, point, reterr);
    const uint32_t mixed = find_mixed(&step->shapes[shape], &box, n);
    if (mixed < n)
        return refuse_mixed(step, mixed, reterr);
    *ret_choice = (struct plim_step_choice){ &step->shapes[shape],
                                             has_point(&box, point, n) ? PLIM_STEP_BETWEEN : PLIM_STEP_BEYOND, SIZE_MAX,
                                             distance(&box, point, n) };
    return ret_choice->source == PLIM_STEP_BEYOND ? plim_step_check_pieces(step, &step->shapes[shape], point, reterr)
                                                  : 0;
}
