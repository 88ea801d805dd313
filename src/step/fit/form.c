/* SPDX-License-Identifier: MIT */
#include "step/fit/form.h"

#include "base/mem.h"
#include "step/fit/basis.h"
#include "step/fit/form_above.h"
#include "step/fit/solve.h"
#include "step/size.h"

#include <string.h>

struct plim_step_former {
    struct plim_step_basis basis;
};

/*
 * Natural denominators: a power of two from halved sides, strides and packed bits, times what patches (14 x 14) and
 * odd strides leave. With others a rounding up is likelier: 500 that count as 512 look like 128/125 of 500.
 */
enum { MAX_ODD_DENOMINATOR = 64, MAX_DENOMINATOR = 1 << 20 };

/* A kind of form; the least level that has a form wins. */
struct kind {
    uint8_t n_terms, level;
    bool is_rounded;
};

static const struct kind kinds[] = {
    { 1, 1, false }, { 2, 2, false }, { 1, 2, true }, { 3, 3, false }, { 2, 3, true }
};

enum { N_KINDS = sizeof kinds / sizeof *kinds, N_LEVELS = 3 };

/* What was found on a level: the form that is the shortest to write down, and whether it is the only one. */
struct found {
    size_t n, n_solved; /* natural ones; with those that have strange numbers */
    unsigned cost;
    bool is_ambiguous;
    struct plim_step_form form;
};

struct search {
    const struct plim_step_basis *basis;
    const uint64_t *bytes;
    bool is_used[PLIM_STEP_MAX_PRODUCTS];
    struct found found;
};

static unsigned odd_part(uint32_t number)
{
    while (number && number % 2 == 0)
        number /= 2;
    return number;
}

/* Coefficient `over / under` of a product whose column was divided. */
static bool reduce(plim_wide over, plim_wide under, plim_wide divisor, plim_wide *ret_over, plim_wide *ret_under)
{
    bool is_inside = true;
    plim_wide common = plim_wide_gcd(over, under);
    over /= common;
    under = plim_wide_times(under / common, divisor / plim_wide_gcd(over, divisor), &is_inside);
    over /= plim_wide_gcd(over, divisor);
    *ret_over = over;
    *ret_under = under;
    return is_inside && plim_wide_bits(over) <= 62 && under <= MAX_DENOMINATOR;
}

/* The form of a solution; false when its numbers are not those of a size in bytes. */
static bool write_form(const struct search *s, const struct plim_step_grid *grid, const size_t *products, size_t n,
                       const struct plim_step_solution *solution, struct plim_step_form *ret_form)
{
    plim_wide over[PLIM_STEP_FORM_TERMS], under[PLIM_STEP_FORM_TERMS], common = 1;
    struct plim_step_form form = { .n_terms = (uint32_t)n, .meets_all = true };
    for (size_t k = 0; k < n; k++) {
        if (!reduce(solution->over[k], solution->under, grid->divisor[products[k]], &over[k], &under[k]))
            return false;
        common = common / plim_wide_gcd(common, under[k]) * under[k];
        if (common > MAX_DENOMINATOR)
            return false;
    }
    for (size_t k = 0; k < n; k++) {
        const plim_wide coefficient = over[k] * (common / under[k]); /* of at most 62 + 20 bits */
        if (plim_wide_bits(coefficient) > 62)
            return false;
        form.term[k].coefficient = (int64_t)coefficient;
        memcpy(form.term[k].power, s->basis->power[products[k]], sizeof form.term[k].power);
    }
    form.denominator = (uint32_t)common;
    form.rounding[grid->variable] = grid->rounding;
    *ret_form = form;
    return form.term[n - 1].coefficient > 0 && odd_part(form.denominator) <= MAX_ODD_DENOMINATOR;
}

/* The length of a form when it is written down, in bits; a minus is rare in sizes. */
static unsigned cost_of(const struct plim_step_form *form)
{
    enum { MINUS = 8, POWER = 2 };
    unsigned cost = 2 * (unsigned)plim_wide_bits(odd_part(form->denominator));
    for (uint32_t k = 0; k < form->n_terms; k++) {
        int64_t number = form->term[k].coefficient;
        cost += number < 0 ? MINUS : 0;
        while (number % 2 == 0)
            number /= 2;
        cost += (unsigned)plim_wide_bits(number);
        for (unsigned i = 0; i < PLIM_STEP_MAX_VARIABLES; i++)
            cost += POWER * form->term[k].power[i];
    }
    return cost;
}

static void try_products(struct search *s, const struct plim_step_grid *grid, const size_t *products, size_t n)
{
    const plim_wide *columns[PLIM_STEP_FORM_TERMS];
    struct plim_step_solution solution;
    struct plim_step_form form;
    for (size_t k = 0; k < n; k++)
        columns[k] = plim_step_column(s->basis, grid, products[k]);
    if (!plim_step_solve(columns, n, s->bytes, s->basis->n_points, &solution))
        return;
    s->found.n_solved++;
    if (!write_form(s, grid, products, n, &solution, &form))
        return;
    const unsigned cost = cost_of(&form);
    if (s->found.n++ == 0 || cost < s->found.cost) {
        s->found.cost = cost;
        s->found.form = form;
    }
    s->found.is_ambiguous |= grid->is_ambiguous;
}

static bool has_rounded(const struct plim_step_basis *basis, const struct plim_step_grid *grid, const size_t *products,
                        size_t n)
{
    for (size_t k = 0; k < n; k++)
        if (basis->power[products[k]][grid->variable])
            return true;
    return false;
}

/* All sets of so many products, the last of the highest degree. */
static void try_sets(struct search *s, const struct plim_step_grid *grid, size_t n)
{
    const size_t n_products = s->basis->n_products;
    size_t set[PLIM_STEP_FORM_TERMS] = { 0, 1, 2 };
    while (n <= n_products) {
        bool is_used = !grid->rounding || has_rounded(s->basis, grid, set, n);
        for (size_t k = 0; k < n; k++)
            is_used = is_used && s->is_used[set[k]] && grid->divisor[set[k]] > 0;
        if (is_used)
            try_products(s, grid, set, n);
        size_t k = n; /* the next set in order */
        while (k > 0 && set[k - 1] == n_products - n + k - 1)
            k--;
        if (k == 0)
            return;
        set[k - 1]++;
        for (; k < n; k++)
            set[k] = set[k - 1] + 1;
    }
}

static void try_level(struct search *s, unsigned level)
{
    for (size_t i = 0; i < N_KINDS; i++) {
        if (kinds[i].level != level || kinds[i].n_terms > s->basis->n_points)
            continue;
        const size_t first = kinds[i].is_rounded ? 1 : 0, end = kinds[i].is_rounded ? s->basis->n_grids : 1;
        for (size_t grid = first; grid < end; grid++)
            try_sets(s, &s->basis->grid[grid], kinds[i].n_terms);
    }
}

/* --- which variables matter --- */

static bool differ_only_in(const struct plim_step_basis *basis, size_t a, size_t b, uint32_t variable)
{
    for (uint32_t i = 0; i < basis->n_variables; i++)
        if ((basis->points[a].value[i] != basis->points[b].value[i]) != (i == variable))
            return false;
    return true;
}

/* False when points show that the size does not change with the variable alone. */
static bool may_matter(const struct search *s, uint32_t variable)
{
    bool is_seen = false;
    for (size_t a = 0; a < s->basis->n_points; a++)
        for (size_t b = 0; b < a; b++)
            if (differ_only_in(s->basis, a, b, variable)) {
                is_seen = true;
                if (s->bytes[a] != s->bytes[b])
                    return true;
            }
    return !is_seen;
}

static void choose_products(struct search *s)
{
    for (size_t i = 0; i < s->basis->n_products; i++)
        s->is_used[i] = true;
    for (uint32_t k = 0; k < s->basis->n_variables; k++)
        if (s->basis->varies[k] && !may_matter(s, k))
            for (size_t i = 0; i < s->basis->n_products; i++)
                s->is_used[i] = s->is_used[i] && s->basis->power[i][k] == 0;
}

/* --- the search --- */

/* One of several curves through few points, which goes up and down: it says nothing of other points. */
static bool is_wild(const struct found *found)
{
    bool has_minus = false;
    for (uint32_t i = 0; i < found->form.n_terms; i++)
        has_minus = has_minus || found->form.term[i].coefficient < 0;
    return has_minus && found->form.n_terms == PLIM_STEP_FORM_TERMS && found->n_solved > 1;
}

static bool has_constant(const struct plim_step_basis *basis, const uint64_t *bytes, struct plim_step_form *ret_form)
{
    for (size_t i = 1; i < basis->n_points; i++)
        if (bytes[i] != bytes[0])
            return false;
    *ret_form = (struct plim_step_form){ .n_terms = 1, .denominator = 1, .meets_all = true, .is_exact = true };
    for (size_t k = 1; k < basis->n_products;
         k++) { /* where variables change only together, a product may stand still */
        const plim_wide *column = plim_step_column(basis, &basis->grid[0], k);
        bool is_constant = true;
        for (size_t i = 1; i < basis->n_points; i++)
            is_constant = is_constant && column[i] == column[0];
        ret_form->is_exact = ret_form->is_exact && !is_constant;
    }
    ret_form->term[0].coefficient = bytes[0] > INT64_MAX ? INT64_MAX : (int64_t)bytes[0];
    return true;
}

void plim_step_former_find(const struct plim_step_former *former, const uint64_t *bytes,
                           struct plim_step_form *ret_form)
{
    struct search search = { .basis = &former->basis, .bytes = bytes };
    if (has_constant(search.basis, bytes, ret_form))
        return;
    choose_products(&search);
    for (unsigned level = 1; level <= N_LEVELS && search.found.n == 0; level++) {
        search.found.n_solved = 0;
        try_level(&search, level);
    }
    if (search.found.n == 0 || is_wild(&search.found)) {
        plim_step_form_above(search.basis, bytes, ret_form);
        return;
    }
    *ret_form = search.found.form;
    const bool is_rounded =
        memcmp(ret_form->rounding, (uint8_t[PLIM_STEP_MAX_VARIABLES]){ 0 }, PLIM_STEP_MAX_VARIABLES);
    ret_form->is_exact = search.found.n_solved == 1 && !search.found.is_ambiguous &&
                         search.basis->n_points > ret_form->n_terms + is_rounded;
}

uint64_t plim_step_form_bytes(const struct plim_step_form *form, const struct plim_step_point *point)
{
    struct plim_step_form own = *form;
    struct plim_step_size size = plim_step_form_size(form, 0);
    const struct plim_step_shape shape = { .sizes = &size, .n_sizes = 1, .terms = own.term, .n_terms = own.n_terms };
    return plim_step_size_bytes(&shape, 0, point);
}

struct plim_step_size plim_step_form_size(const struct plim_step_form *form, uint32_t first_term)
{
    struct plim_step_size size = { .first_term = first_term,
                                   .n_terms = form->n_terms,
                                   .denominator = form->denominator,
                                   .is_exact = form->is_exact,
                                   .least_bytes = form->least_bytes,
                                   .multiple_bytes = form->multiple_bytes,
                                   .most_bytes = form->most_bytes,
                                   .is_rest = form->is_rest };
    memcpy(size.rounding, form->rounding, sizeof size.rounding);
    return size;
}

int plim_step_former_open(const struct plim_step_point *points, size_t n_points, uint32_t n_variables,
                          struct plim_step_former **ret_former, struct plim_error *reterr)
{
    if (n_points == 0 || n_points > PLIM_STEP_MAX_POINTS || n_variables > PLIM_STEP_MAX_VARIABLES)
        return plim_fail(reterr, PLIM_E_TOO_BIG, PLIM_NO_OFFSET, "%zu recordings of one program: at most %d", n_points,
                         PLIM_STEP_MAX_POINTS);
    struct plim_step_former *former = plim_alloc(1, sizeof *former);
    if (!former)
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    const int result = plim_step_basis_make(points, n_points, n_variables, &former->basis, reterr);
    if (result < 0) {
        plim_free(former);
        return result;
    }
    *ret_former = former;
    return 0;
}

void plim_step_former_free(struct plim_step_former *former)
{
    if (former)
        plim_step_basis_done(&former->basis);
    plim_free(former);
}
