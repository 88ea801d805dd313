/* SPDX-License-Identifier: MIT */
#include "step/fit/basis.h"

#include "base/mem.h"

#include <string.h>

/*
 * FlashAttention pads sequences to 128 and its logsumexp to 32 (PyTorch 2.15, aten/src/ATen/native/transformers/cuda),
 * tensor cores want multiples of 8 or 16, TMA and swizzled scales of 128 and 256: of two that recordings cannot tell
 * apart, the one nearest to this.
 */
enum { LEAST_ROUNDING = 3, MOST_ROUNDING = 8, USUAL_ROUNDING = 7, MAX_TOTAL_DEGREE = 5 };

static uint64_t rounded(uint64_t value, unsigned rounding)
{
    const uint64_t step = UINT64_C(1) << rounding;
    return value > UINT64_MAX - step ? value : (value + step - 1) & ~(step - 1);
}

/* --- the products --- */

static void add_products(struct plim_step_basis *basis, uint8_t power[PLIM_STEP_MAX_VARIABLES], uint32_t variable,
                         uint32_t left, uint32_t degree)
{
    if (basis->n_products == PLIM_STEP_MAX_PRODUCTS)
        return;
    if (variable == basis->n_variables) {
        if (left == 0) {
            memcpy(basis->power[basis->n_products], power, PLIM_STEP_MAX_VARIABLES);
            basis->degree[basis->n_products++] = degree;
        }
        return;
    }
    const uint32_t most = !basis->varies[variable] ? 0 : left < PLIM_STEP_MAX_DEGREE ? left : PLIM_STEP_MAX_DEGREE;
    for (uint32_t n = 0; n <= most; n++) {
        power[variable] = (uint8_t)n;
        add_products(basis, power, variable + 1, left - n, degree);
    }
    power[variable] = 0;
}

static void list_products(struct plim_step_basis *basis)
{
    uint8_t power[PLIM_STEP_MAX_VARIABLES] = { 0 };
    for (uint32_t i = 0; i < basis->n_variables; i++)
        for (size_t k = 1; k < basis->n_points; k++)
            basis->varies[i] |= basis->points[k].value[i] != basis->points[0].value[i];
    for (uint32_t degree = 0; degree <= MAX_TOTAL_DEGREE; degree++)
        add_products(basis, power, 0, degree, degree);
}

/* --- their values --- */

/* False when a value is beyond 120 bits: the product is not used then. */
static bool fill_column(const struct plim_step_basis *basis, const struct plim_step_grid *grid, size_t product,
                        plim_wide *column, plim_wide *ret_divisor)
{
    bool is_inside = true;
    plim_wide divisor = 0;
    for (size_t i = 0; i < basis->n_points; i++) {
        plim_wide value = 1;
        for (uint32_t k = 0; k < basis->n_variables; k++) {
            const uint64_t own = basis->points[i].value[k];
            const bool is_rounded = grid->rounding && grid->variable == k;
            for (uint32_t n = 0; n < basis->power[product][k]; n++)
                value =
                    plim_wide_times(value, (plim_wide)(is_rounded ? rounded(own, grid->rounding) : own), &is_inside);
        }
        column[i] = value;
        divisor = plim_wide_gcd(divisor, value);
    }
    for (size_t i = 0; i < basis->n_points && divisor > 1; i++)
        column[i] /= divisor;
    *ret_divisor = divisor;
    return is_inside && divisor > 0;
}

static bool add_grid(struct plim_step_basis *basis, uint8_t variable, uint8_t rounding, bool is_ambiguous)
{
    struct plim_step_grid *grid = &basis->grid[basis->n_grids];
    grid->variable = variable;
    grid->rounding = rounding;
    grid->is_ambiguous = is_ambiguous;
    grid->column = plim_alloc(basis->n_products * basis->n_points, sizeof *grid->column);
    if (!grid->column)
        return false;
    for (size_t i = 0; i < basis->n_products; i++)
        if (!fill_column(basis, grid, i, grid->column + i * basis->n_points, &grid->divisor[i]))
            grid->divisor[i] = 0;
    basis->n_grids++;
    return true;
}

static bool are_same(const struct plim_step_basis *basis, uint32_t variable, unsigned a, unsigned b)
{
    for (size_t i = 0; i < basis->n_points; i++) {
        const uint64_t value = basis->points[i].value[variable];
        if (rounded(value, a) != rounded(value, b))
            return false;
    }
    return true;
}

/* The roundings of a variable that change one of its values; of those that agree everywhere the likeliest. */
static bool add_roundings(struct plim_step_basis *basis, uint32_t variable)
{
    for (unsigned a = LEAST_ROUNDING; a <= MOST_ROUNDING; a++) {
        unsigned likeliest = a, last = a;
        if (are_same(basis, variable, a, 0))
            continue;
        while (last < MOST_ROUNDING && are_same(basis, variable, a, last + 1)) {
            last++;
            likeliest = last <= USUAL_ROUNDING ? last : likeliest;
        }
        if (!add_grid(basis, (uint8_t)variable, (uint8_t)likeliest, last > a))
            return false;
        a = last;
    }
    return true;
}

int plim_step_basis_make(const struct plim_step_point *points, size_t n_points, uint32_t n_variables,
                         struct plim_step_basis *ret_basis, struct plim_error *reterr)
{
    struct plim_step_basis *basis = ret_basis;
    memset(basis, 0, sizeof *basis);
    basis->n_variables = n_variables;
    basis->n_points = n_points;
    basis->points = plim_alloc(n_points, sizeof *points);
    bool is_made = basis->points != NULL;
    if (is_made) {
        memcpy(basis->points, points, n_points * sizeof *points);
        list_products(basis);
        is_made = add_grid(basis, 0, 0, false);
    }
    for (uint32_t i = 0; is_made && i < n_variables; i++)
        is_made = !basis->varies[i] || add_roundings(basis, i);
    if (is_made)
        return 0;
    plim_step_basis_done(basis);
    return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
}

void plim_step_basis_done(struct plim_step_basis *basis)
{
    for (size_t i = 0; i < basis->n_grids; i++)
        plim_free(basis->grid[i].column);
    plim_free(basis->points);
    memset(basis, 0, sizeof *basis);
}
