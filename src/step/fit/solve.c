/* SPDX-License-Identifier: MIT */
#include "step/fit/solve.h"

/* The determinant of the rows of the first n columns; *is_inside becomes false when it is too large. */
static plim_wide determinant(const plim_wide *const *columns, size_t n, const size_t *rows, bool *is_inside)
{
    if (n == 1)
        return columns[0][rows[0]];
    plim_wide sum = 0;
    for (size_t skip = 0; skip < n; skip++) { /* along the last column */
        size_t others[PLIM_STEP_MAX_UNKNOWNS], k = 0;
        for (size_t i = 0; i < n; i++)
            if (i != skip)
                others[k++] = rows[i];
        const plim_wide part =
            plim_wide_times(columns[n - 1][rows[skip]], determinant(columns, n - 1, others, is_inside), is_inside);
        sum = plim_wide_plus(sum, (n - 1 - skip) % 2 ? -part : part, is_inside);
    }
    return sum;
}

/* The first rows that settle the unknowns, one for each. */
static bool choose_rows(const plim_wide *const *columns, size_t n, size_t n_points, size_t *rows, plim_wide *ret_under)
{
    bool is_inside = true;
    for (size_t k = 0; k < n; k++) {
        plim_wide value = 0;
        for (size_t row = 0; row < n_points && value == 0; row++) {
            rows[k] = row; /* one that is there already gives 0 */
            value = determinant(columns, k + 1, rows, &is_inside);
        }
        if (value == 0 || !is_inside)
            return false;
        *ret_under = value;
    }
    return true;
}

static bool is_met(const plim_wide *const *columns, size_t n, const uint64_t *bytes, size_t row,
                   const struct plim_step_solution *solution)
{
    bool is_inside = true;
    plim_wide sum = 0;
    for (size_t k = 0; k < n; k++)
        sum = plim_wide_plus(sum, plim_wide_times(columns[k][row], solution->over[k], &is_inside), &is_inside);
    const plim_wide own = plim_wide_times((plim_wide)bytes[row], solution->under, &is_inside);
    return is_inside && sum == own;
}

bool plim_step_solve(const plim_wide *const *columns, size_t n_unknowns, const uint64_t *bytes, size_t n_points,
                     struct plim_step_solution *ret_solution)
{
    struct plim_step_solution solution = { 0 };
    size_t rows[PLIM_STEP_MAX_UNKNOWNS], own[PLIM_STEP_MAX_UNKNOWNS];
    plim_wide right[PLIM_STEP_MAX_UNKNOWNS];
    bool is_inside = true;
    if (!choose_rows(columns, n_unknowns, n_points, rows, &solution.under))
        return false;
    /* Cramer's rule, on a square of its own: column k is the right side. */
    plim_wide square[PLIM_STEP_MAX_UNKNOWNS][PLIM_STEP_MAX_UNKNOWNS];
    const plim_wide *sides[PLIM_STEP_MAX_UNKNOWNS];
    for (size_t i = 0; i < n_unknowns; i++) {
        own[i] = i;
        right[i] = (plim_wide)bytes[rows[i]];
        for (size_t k = 0; k < n_unknowns; k++)
            square[k][i] = columns[k][rows[i]];
    }
    for (size_t k = 0; k < n_unknowns; k++) {
        for (size_t i = 0; i < n_unknowns; i++)
            sides[i] = i == k ? right : square[i];
        solution.over[k] = determinant(sides, n_unknowns, own, &is_inside);
        if (!is_inside || solution.over[k] == 0)
            return false;
    }
    for (size_t i = 0; i < n_points; i++)
        if (!is_met(columns, n_unknowns, bytes, i, &solution))
            return false;
    for (size_t k = 0; k < n_unknowns && solution.under < 0; k++)
        solution.over[k] = -solution.over[k];
    solution.under = plim_wide_magnitude(solution.under);
    *ret_solution = solution;
    return true;
}
