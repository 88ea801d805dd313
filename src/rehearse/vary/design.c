/* SPDX-License-Identifier: MIT */
#include "rehearse/vary/design.h"

#include "base/error.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- the command line --- */

static bool add_value(struct plim_vary *vary, uint32_t variable, const char **text)
{
    char *end;
    uint32_t *n = &vary->n_values[variable];
    errno = 0;
    if (**text < '0' || **text > '9' || *n == PLIM_VARY_MAX_VALUES)
        return false;
    const unsigned long long value = strtoull(*text, &end, 10);
    if (errno || value > (uint64_t)INT64_MAX)
        return false;
    for (uint32_t i = 0; i < *n; i++)
        if (vary->value[variable][i] == value)
            return false;
    vary->value[variable][(*n)++] = value;
    *text = end;
    return true;
}

/* The variable behind the last one that the option is of: its name and its values. */
static bool read_variable(const char *text, struct plim_vary *vary)
{
    const char *equals = strchr(text, '=');
    const uint32_t number = vary->n_variables;
    const size_t n = equals ? (size_t)(equals - text) : PLIM_STEP_NAME_BYTES;
    if (n >= PLIM_STEP_NAME_BYTES || number == PLIM_STEP_MAX_VARIABLES)
        return false;
    memcpy(vary->variable[number].name, text, n);
    vary->variable[number].name[n] = '\0';
    vary->n_values[number] = 0;
    const char *p = equals + 1;
    bool is_read = add_value(vary, number, &p);
    while (is_read && *p == ',') {
        p++;
        is_read = add_value(vary, number, &p);
    }
    return is_read && !*p && plim_step_is_name(vary->variable[number].name);
}

/* The variable of this name before the last one; that one: there is none. */
static uint32_t same_before(const struct plim_vary *vary, uint32_t last)
{
    uint32_t i = 0;
    while (i < last && strcmp(vary->variable[i].name, vary->variable[last].name) != 0)
        i++;
    return i;
}

/* With the values of both in the command to write. */
static int refuse_twice(struct plim_vary *vary, uint32_t first, uint32_t second, struct plim_error *reterr)
{
    char values[160] = "";
    size_t n = 0;
    plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "--vary names '%s' twice", vary->variable[first].name);
    for (uint32_t i = 0; i < vary->n_values[second]; i++) {
        char text[24];
        snprintf(text, sizeof text, "%" PRIu64, vary->value[second][i]);
        const char *p = text;
        (void)add_value(vary, first, &p); /* false: it has it already, or has enough */
    }
    for (uint32_t i = 0; i < vary->n_values[first] && n < sizeof values; i++)
        n += (size_t)snprintf(values + n, sizeof values - n, "%s%" PRIu64, i ? "," : "", vary->value[first][i]);
    plim_error_hint(reterr, "one list has all its values: --vary %.31s=%.110s", vary->variable[first].name,
                    n < sizeof values ? values : "2,3,4");
    return PLIM_E_USAGE;
}

int plim_vary_parse(const char *text, struct plim_vary *vary, struct plim_error *reterr)
{
    const uint32_t number = vary->n_variables;
    const bool is_read = read_variable(text, vary);
    const uint32_t same = is_read ? same_before(vary, number) : number;
    if (same < number)
        return refuse_twice(vary, same, number, reterr);
    if (!is_read || vary->n_values[number] < 2) {
        plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET,
                  "invalid value '%.60s' for --vary: expected a name and two values of it at least", text);
        plim_error_hint(reterr, "write --vary B=2,3,4, and {B} where the command has the number");
        return PLIM_E_USAGE;
    }
    vary->n_variables++;
    return 0;
}

/* The variable whose place the text begins with, and the length of "{B}"; n_variables: none. */
static uint32_t place_at(const struct plim_vary *vary, const char *text, size_t *ret_length)
{
    for (uint32_t i = 0; *text == '{' && i < vary->n_variables; i++) {
        const char *name = vary->variable[i].name;
        const size_t n = strlen(name);
        *ret_length = n + 2;
        if (!strncmp(text + 1, name, n) && text[n + 1] == '}')
            return i;
    }
    return vary->n_variables;
}

const char *plim_vary_without_place(const struct plim_vary *vary, char *const *arguments)
{
    bool has_place[PLIM_STEP_MAX_VARIABLES + 1] = { false };
    for (; *arguments; arguments++)
        for (const char *p = *arguments; *p; p++) {
            size_t length;
            has_place[place_at(vary, p, &length)] = true;
        }
    for (uint32_t i = 0; i < vary->n_variables; i++)
        if (!has_place[i])
            return vary->variable[i].name;
    return NULL;
}

static char *fill(struct plim_arena *arena, const struct plim_vary *vary, const char *text,
                  const struct plim_step_point *point)
{
    enum { DIGITS = 20 };
    size_t size = strlen(text) + 1, length, n = 0;
    for (const char *p = text; *p; p++)
        size += place_at(vary, p, &length) < vary->n_variables ? DIGITS : 0;
    char *copy = plim_arena_alloc(arena, size, 1);
    while (copy && *text) {
        const uint32_t variable = place_at(vary, text, &length);
        if (variable < vary->n_variables) {
            n += (size_t)snprintf(copy + n, size - n, "%" PRIu64, point->value[variable]);
            text += length;
        } else {
            copy[n++] = *text++;
        }
    }
    return copy;
}

char **plim_vary_arguments(struct plim_arena *arena, const struct plim_vary *vary, char *const *arguments,
                           const struct plim_step_point *point)
{
    size_t n = 0;
    while (arguments[n])
        n++;
    char **list = plim_arena_alloc(arena, n + 1, sizeof *list);
    for (size_t i = 0; list && i < n; i++) {
        list[i] = fill(arena, vary, arguments[i], point);
        if (!list[i])
            return NULL;
    }
    return list;
}

/* --- the design --- */

static bool is_same(const struct plim_step_point *a, const struct plim_step_point *b)
{
    return !memcmp(a->value, b->value, sizeof a->value);
}

static bool has_point(const struct plim_vary_plan *plan, const struct plim_step_point *point)
{
    for (size_t i = 0; i < plan->n; i++)
        if (is_same(&plan->points[i].point, point))
            return true;
    return false;
}

/* A point that is there already is not added again. False: there is no room. */
static bool add(struct plim_vary_plan *plan, const struct plim_step_point *point, bool is_left_out)
{
    if (has_point(plan, point))
        return true;
    if (plan->n == PLIM_VARY_MAX_RECORDINGS)
        return false;
    plan->points[plan->n++] = (struct plim_vary_point){ .point = *point, .is_left_out = is_left_out };
    return true;
}

bool plim_vary_design(const struct plim_vary *vary, struct plim_vary_plan *ret_plan)
{
    struct plim_step_point base = { { 0 } }, last = { { 0 } };
    struct plim_vary_plan *plan = ret_plan;
    bool has_room = true;
    plan->n = 0;
    for (uint32_t i = 0; i < vary->n_variables; i++) {
        base.value[i] = vary->value[i][0];
        last.value[i] = vary->value[i][vary->n_values[i] - 1];
    }
    add(plan, &base, false);
    for (uint32_t i = 0; i < vary->n_variables; i++)
        for (uint32_t k = 1; k < vary->n_values[i]; k++) {
            struct plim_step_point point = base;
            point.value[i] = vary->value[i][k];
            has_room = add(plan, &point, false) && has_room;
        }
    for (uint32_t i = 0; i < vary->n_variables; i++)
        for (uint32_t k = 0; k < i; k++) {
            struct plim_step_point point = base;
            point.value[i] = vary->value[i][1];
            point.value[k] = vary->value[k][1];
            has_room = add(plan, &point, false) && has_room;
        }
    has_room = add(plan, &last, true) && has_room;
    plan->n_first = plan->n;
    return has_room;
}

/* --- what a shape still needs --- */

static bool is_of_shape(const struct plim_vary_point *point, size_t shape)
{
    return point->state == PLIM_VARY_RECORDED && point->shape == shape && !point->is_left_out;
}

uint32_t plim_vary_count_values(const struct plim_vary *vary, const struct plim_vary_plan *plan, size_t shape,
                                uint32_t variable)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < vary->n_values[variable]; k++)
        for (size_t i = 0; i < plan->n; i++)
            if (is_of_shape(&plan->points[i], shape) &&
                plan->points[i].point.value[variable] == vary->value[variable][k]) {
                n++;
                break;
            }
    return n;
}

static const struct plim_vary_point *base_of(const struct plim_vary_plan *plan, size_t shape)
{
    for (size_t i = 0; i < plan->n; i++)
        if (is_of_shape(&plan->points[i], shape))
            return &plan->points[i];
    return NULL;
}

/* A value of the variable that nobody tried beside the base of the shape. */
static bool needs_value(const struct plim_vary *vary, const struct plim_vary_plan *plan,
                        const struct plim_vary_point *base, uint32_t variable, struct plim_step_point *ret_point)
{
    enum { ENOUGH = 3 };
    if (plim_vary_count_values(vary, plan, base->shape, variable) >= ENOUGH)
        return false;
    for (uint32_t k = 0; k < vary->n_values[variable]; k++) {
        *ret_point = base->point;
        ret_point->value[variable] = vary->value[variable][k];
        if (!has_point(plan, ret_point))
            return true;
    }
    return false;
}

static bool is_crossed(const struct plim_vary_point *point, const struct plim_vary_point *base, uint32_t a, uint32_t b)
{
    return point->point.value[a] != base->point.value[a] && point->point.value[b] != base->point.value[b];
}

/* A point of the shape in which two variables change together, between values that the shape has. */
static bool needs_crossing(const struct plim_vary_plan *plan, const struct plim_vary_point *base, uint32_t a,
                           uint32_t b, struct plim_step_point *ret_point)
{
    for (size_t i = 0; i < plan->n; i++)
        if (is_of_shape(&plan->points[i], base->shape) && is_crossed(&plan->points[i], base, a, b))
            return false;
    for (size_t i = 0; i < plan->n; i++)
        for (size_t k = 0; k < plan->n; k++) {
            const struct plim_vary_point *x = &plan->points[i], *y = &plan->points[k];
            if (!is_of_shape(x, base->shape) || !is_of_shape(y, base->shape))
                continue;
            *ret_point = base->point;
            ret_point->value[a] = x->point.value[a];
            ret_point->value[b] = y->point.value[b];
            const struct plim_vary_point made = { .point = *ret_point };
            if (is_crossed(&made, base, a, b) && !has_point(plan, ret_point))
                return true;
        }
    return false;
}

bool plim_vary_extend(const struct plim_vary *vary, struct plim_vary_plan *plan)
{
    struct plim_step_point point;
    size_t n_shapes = 0;
    for (size_t i = 0; i < plan->n; i++)
        if (plan->points[i].state == PLIM_VARY_RECORDED && plan->points[i].shape >= n_shapes)
            n_shapes = plan->points[i].shape + 1;
    for (size_t shape = 0; n_shapes > 1 && shape < n_shapes && plan->n < 2 * plan->n_first; shape++) {
        const struct plim_vary_point *base = base_of(plan, shape);
        for (uint32_t a = 0; base && a < vary->n_variables; a++) {
            if (needs_value(vary, plan, base, a, &point))
                return add(plan, &point, false);
            for (uint32_t b = 0; b < a; b++)
                if (needs_crossing(plan, base, a, b, &point))
                    return add(plan, &point, false);
        }
    }
    return false;
}
