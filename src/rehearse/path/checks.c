/* SPDX-License-Identifier: MIT */
#include "rehearse/path/checks.h"

#include <string.h>

/* What a condition is made of. */
struct condition {
    uint32_t n_negations;
    bool is_finite, is_nan; /* isfinite(), isnan() or isinf() is called */
    bool is_other;          /* it has words that are not understood here */
};

static bool is_sign(const struct plim_python_source *source, uint32_t word, const char *text)
{
    return source->word[word].kind == PLIM_PYTHON_SIGN && plim_python_is(source, word, text);
}

static struct condition look_at(const struct plim_python_source *source, uint32_t from, uint32_t to)
{
    static const char *const others[] = { "if", "else", "lambda", "in", "is", "<", ">", "<=", ">=", "==", "!=", ":=" };
    struct condition c = { .is_other = false };
    for (uint32_t i = from; i < to; i++) {
        for (size_t k = 0; k < sizeof others / sizeof *others; k++)
            c.is_other = c.is_other || plim_python_is(source, i, others[k]);
        c.n_negations += plim_python_is(source, i, "not") || is_sign(source, i, "~");
        c.is_finite = c.is_finite || plim_python_is(source, i, "isfinite");
        c.is_nan = c.is_nan || plim_python_is(source, i, "isnan") || plim_python_is(source, i, "isinf");
    }
    return c;
}

static bool has_and(const struct plim_python_source *source, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++)
        if (plim_python_is(source, i, "and") || plim_python_is(source, i, "or"))
            return true;
    return false;
}

/* `assert x.all()`: the value itself, without another one beside it. */
static bool is_kept_assertion(const struct plim_python_source *source, const struct plim_python_statement *s,
                              enum plim_check_value value)
{
    const uint32_t from = s->first + 1, to = s->first + s->n;
    const struct condition c = look_at(source, from, to);
    const bool is_negated = c.n_negations == 1 && plim_python_is(source, from, "not");
    if (c.is_other || has_and(source, from, to) || c.n_negations > is_negated)
        return false;
    return value == (is_negated ? PLIM_CHECK_UNSET : PLIM_CHECK_SET);
}

/* `if not torch.isfinite(loss):`, `if torch.isnan(x).any() or torch.isinf(x).any():` */
static bool is_finite_check(const struct plim_python_source *source, const struct plim_python_statement *s,
                            enum plim_check_value value)
{
    const uint32_t from = s->first + 1, to = s->first + s->n;
    const struct condition c = look_at(source, from, to);
    if (c.is_other || c.is_finite == c.is_nan)
        return false;
    if (value == PLIM_CHECK_NUMBER)
        return true;
    const bool is_inside = c.n_negations && !plim_python_is(source, from, "not") && !has_and(source, from, to);
    if (c.n_negations > 1 || is_inside) /* the flag is of the negation */
        return false;
    return value == (c.is_finite ? PLIM_CHECK_SET : PLIM_CHECK_UNSET);
}

bool plim_check_has_passed(const struct plim_python_source *source, uint32_t line, enum plim_check_value value)
{
    bool is_found = false;
    for (uint32_t i = 0; i < source->n_statements; i++) {
        const struct plim_python_statement *s = &source->statement[i];
        if (line < s->first_line || line > s->last_line)
            continue;
        const bool is_if = plim_python_is(source, s->first, "if") || plim_python_is(source, s->first, "elif");
        const bool is_assertion = plim_python_is(source, s->first, "assert");
        if (is_found || !(is_if || is_assertion)) /* something else is on the line */
            return false;
        is_found = (is_assertion && is_kept_assertion(source, s, value)) || is_finite_check(source, s, value);
        if (!is_found)
            return false;
    }
    return is_found;
}
