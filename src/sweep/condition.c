/* SPDX-License-Identifier: MIT */
#include "sweep/condition.h"

#include "base/error.h"
#include "base/text.h"
#include "sweep/values.h"

#include <stdio.h>
#include <string.h>

static const char usage[] = "write skip = B=4 S>1024, or skip = B*S > 8192";

static int read_side(struct plim_sweep_scan *scan, const struct plim_sweep *sweep, struct plim_sweep_condition *c)
{
    enum { MOST = sizeof c->variable / sizeof *c->variable };
    do {
        const char *name;
        plim_sweep_blanks(scan);
        const size_t at = scan->at, length = plim_sweep_name(scan, &name);
        if (!length)
            return plim_sweep_fail(scan, at, usage, "the name of a variable is missing");
        const size_t variable = plim_sweep_variable(sweep, name, length);
        if (variable == sweep->n_variables)
            return plim_sweep_fail(scan, at, "variables stand above what names them", "no variable '%.*s'",
                                   (int)(length < 60 ? length : 60), name);
        if (c->n_variables == MOST)
            return plim_sweep_fail(scan, at, usage, "a product of more than %d variables", (int)MOST);
        c->variable[c->n_variables++] = variable;
    } while (plim_sweep_take(scan, '*'));
    return 0;
}

static int read_relation(struct plim_sweep_scan *scan, struct plim_sweep_condition *c)
{
    static const struct {
        const char *sign;
        enum plim_sweep_relation relation;
    } signs[] = {
        { "!=", PLIM_SWEEP_NOT_EQUAL }, { "<=", PLIM_SWEEP_AT_MOST }, { ">=", PLIM_SWEEP_AT_LEAST },
        { "=", PLIM_SWEEP_EQUAL },      { "<", PLIM_SWEEP_LESS },     { ">", PLIM_SWEEP_MORE },
    };
    plim_sweep_blanks(scan);
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        const size_t n = strlen(signs[i].sign);
        if (scan->end - scan->at >= n && !memcmp(scan->text + scan->at, signs[i].sign, n)) {
            scan->at += n;
            c->relation = signs[i].relation;
            return 0;
        }
    }
    return plim_sweep_fail(scan, scan->at, usage, "=, !=, <, <=, > or >= is missing");
}

static int read_value(struct plim_sweep_scan *scan, struct plim_arena *arena, struct plim_sweep_condition *c)
{
    plim_sweep_blanks(scan);
    const bool is_quoted = scan->at < scan->end && scan->text[scan->at] == '"';
    const size_t start = scan->at += is_quoted;
    for (; scan->at < scan->end && scan->text[scan->at] != '\n'; scan->at++)
        if (is_quoted ? scan->text[scan->at] == '"' : strchr(" \t\r,", scan->text[scan->at]) != NULL)
            break;
    const size_t length = scan->at - start;
    if (!length || (is_quoted && !plim_sweep_take(scan, '"')))
        return plim_sweep_fail(scan, start, usage, "a value is missing");
    c->value = plim_arena_copy(arena, scan->text + start, length);
    double unused;
    if (!c->value)
        return plim_sweep_fail(scan, start, usage, "the values take too much memory");
    const bool is_order = c->relation > PLIM_SWEEP_NOT_EQUAL || c->n_variables > 1;
    if (is_order && !plim_sweep_are_numbers(c->value, "0", &unused))
        return plim_sweep_fail(scan, start, usage, "'%.60s' is no number", c->value);
    return 0;
}

int plim_sweep_conditions(struct plim_sweep_scan *scan, struct plim_sweep *sweep)
{
    struct plim_sweep_condition *c = NULL;
    do {
        if (sweep->n_conditions == PLIM_SWEEP_MAX_CONDITIONS)
            return plim_sweep_fail(scan, scan->at, usage, "more than %d conditions", (int)PLIM_SWEEP_MAX_CONDITIONS);
        c = &sweep->condition[sweep->n_conditions];
        *c = (struct plim_sweep_condition){ .n_variables = 0 };
        int result = read_side(scan, sweep, c);
        result = result < 0 ? result : read_relation(scan, c);
        result = result < 0 ? result : read_value(scan, &sweep->arena, c);
        if (result < 0)
            return result;
        sweep->n_conditions++;
        plim_sweep_take(scan, ',');
        plim_sweep_blanks(scan);
    } while (scan->at < scan->end);
    c->ends = true;
    return 0;
}

/* False where a value is no number, but for "=" and "!=" of one variable, which compare texts then. */
static bool holds(const struct plim_sweep_condition *c, const char *const *values)
{
    double difference, product = 1, limit = plim_decimal(c->value, NULL);
    const char *const first = values[c->variable[0]];
    if (c->n_variables == 1 && !plim_sweep_are_numbers(first, c->value, &difference)) {
        const bool is_same = !strcmp(first, c->value);
        return (c->relation == PLIM_SWEEP_EQUAL && is_same) || (c->relation == PLIM_SWEEP_NOT_EQUAL && !is_same);
    }
    for (size_t i = 0; i < c->n_variables; i++) {
        if (!plim_sweep_are_numbers(values[c->variable[i]], "0", &difference))
            return false;
        product *= difference;
    }
    switch (c->relation) {
    case PLIM_SWEEP_EQUAL:
        return product <= limit && product >= limit;
    case PLIM_SWEEP_NOT_EQUAL:
        return product < limit || product > limit;
    case PLIM_SWEEP_LESS:
        return product < limit;
    case PLIM_SWEEP_AT_MOST:
        return product <= limit;
    case PLIM_SWEEP_MORE:
        return product > limit;
    case PLIM_SWEEP_AT_LEAST:
        break;
    }
    return product >= limit;
}

bool plim_sweep_is_skipped(const struct plim_sweep *sweep, const char *const *values)
{
    bool all = true;
    for (size_t i = 0; i < sweep->n_conditions; i++) {
        const struct plim_sweep_condition *c = &sweep->condition[i];
        all = all && holds(c, values);
        if (c->ends && all)
            return true;
        all = all || c->ends;
    }
    return false;
}
