/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_STEP_FIT_BASIS_H
#define PLIMSOLL_STEP_FIT_BASIS_H

/*
 * The products of variables from which forms are made, and their values at the points of recordings: once for the
 * variables as they are, and for each that changes by it once with one variable rounded up.
 */

#include "base/error.h"
#include "step/fit/wide.h"
#include "step/step.h"

/* 19 products of two variables; with more variables those of the lowest degree. */
enum { PLIM_STEP_MAX_PRODUCTS = 64, PLIM_STEP_MAX_GRIDS = 1 + 8 * PLIM_STEP_MAX_VARIABLES };

struct plim_step_grid {
    uint8_t variable, rounding; /* 0: none is rounded */
    bool is_ambiguous;          /* another rounding gives the same values */
    plim_wide *column;          /* [product][point], divided by ... */
    plim_wide divisor[PLIM_STEP_MAX_PRODUCTS];
};

struct plim_step_basis {
    struct plim_step_point *points;
    size_t n_points;
    uint32_t n_variables;
    bool varies[PLIM_STEP_MAX_VARIABLES];
    uint8_t power[PLIM_STEP_MAX_PRODUCTS][PLIM_STEP_MAX_VARIABLES]; /* by rising degree: the first is 1 */
    uint32_t degree[PLIM_STEP_MAX_PRODUCTS];
    size_t n_products;
    struct plim_step_grid grid[PLIM_STEP_MAX_GRIDS]; /* the first without a rounding */
    size_t n_grids;
};

PLIM_MUST_CHECK int plim_step_basis_make(const struct plim_step_point *points, size_t n_points, uint32_t n_variables,
                                         struct plim_step_basis *ret_basis, struct plim_error *reterr);
void plim_step_basis_done(struct plim_step_basis *basis);

static inline const plim_wide *plim_step_column(const struct plim_step_basis *basis, const struct plim_step_grid *grid,
                                                size_t product)
{
    return grid->column + product * basis->n_points;
}

#endif
