/* SPDX-License-Identifier: MIT */
/*
 * Sizes that follow no polynomial: work areas that a heuristic chooses, tiles of several variables together. The line
 * through two of the recordings that is above all others, over each product of variables; the one that is nowhere far
 * above wins. Its coefficient has a denominator of its own, rounded up, and nothing is said to be exact.
 */
#include "step/fit/form_above.h"

#include <string.h>

enum { DENOMINATOR = 1 << 10 };

struct line {
    double constant, slope; /* over the product as it is */
    double excess;          /* the largest part by which it is above a size */
};

/* A number as it will be written, rounded up: a slope of a millionth is not one of a thousandth, of a fourth power. */
static double written(double value)
{
    const double scaled = value * (1 + 1e-12) * DENOMINATOR;
    return (scaled >= 0x1p52 ? 0x1p52 : (double)((int64_t)scaled + 1)) / DENOMINATOR;
}

static int64_t numerator(double written_value) { return (int64_t)(written_value * DENOMINATOR); }

/* Where the line is below a size it is of no use: an excess above all. */
static void rate(struct line *line, const struct plim_step_basis *basis, const plim_wide *column, double divisor,
                 const uint64_t *bytes)
{
    line->excess = 0;
    for (size_t i = 0; i < basis->n_points; i++) {
        const double value = line->constant + line->slope * divisor * (double)column[i], own = (double)bytes[i];
        const double excess = (value - own) / (own + 1);
        if (excess < -1e-9)
            line->excess = 1e300;
        else if (excess > line->excess)
            line->excess = excess;
    }
}

static void keep_better(struct line *best, const struct line *line, size_t *ret_product, size_t product)
{
    static const double as_good = 0.01; /* of two that are as good the one of the lower degree, which comes first */
    if (line->excess < best->excess - as_good) {
        *best = *line;
        *ret_product = product;
    }
}

static void try_product(const struct plim_step_basis *basis, size_t product, const uint64_t *bytes, struct line *best,
                        size_t *ret_product)
{
    const plim_wide *column = plim_step_column(basis, &basis->grid[0], product);
    const double divisor = (double)basis->grid[0].divisor[product];
    struct line line = { 0 };
    for (size_t i = 0; i < basis->n_points; i++)
        if (column[i] > 0 && (double)bytes[i] / ((double)column[i] * divisor) > line.slope)
            line.slope = (double)bytes[i] / ((double)column[i] * divisor);
    line.slope = written(line.slope);
    rate(&line, basis, column, divisor, bytes);
    keep_better(best, &line, ret_product, product);
    for (size_t a = 0; a < basis->n_points; a++)
        for (size_t b = 0; b < a; b++) {
            if (column[a] == column[b])
                continue;
            const double width = ((double)column[a] - (double)column[b]) * divisor;
            line.slope = ((double)bytes[a] - (double)bytes[b]) / width;
            line.constant = (double)bytes[a] - line.slope * divisor * (double)column[a];
            if (line.slope <= 0 || line.constant < 0)
                continue;
            line.slope = written(line.slope);
            line.constant = line.constant > 0 ? written(line.constant) : 0;
            rate(&line, basis, column, divisor, bytes);
            keep_better(best, &line, ret_product, product);
        }
}

void plim_step_form_above(const struct plim_step_basis *basis, const uint64_t *bytes, struct plim_step_form *ret_form)
{
    struct line best = { 0, 0, 1e300 };
    size_t product = 0;
    for (size_t i = 0; i < basis->n_products; i++)
        if (basis->grid[0].divisor[i] > 0)
            try_product(basis, i, bytes, &best, &product);
    *ret_form = (struct plim_step_form){ .denominator = DENOMINATOR };
    if (product == 0 || best.constant > 0)
        ret_form->term[ret_form->n_terms++].coefficient = numerator(product ? best.constant : best.slope);
    if (product) {
        struct plim_step_term *term = &ret_form->term[ret_form->n_terms++];
        term->coefficient = numerator(best.slope);
        memcpy(term->power, basis->power[product], sizeof term->power);
    }
}
