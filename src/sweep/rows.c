/* SPDX-License-Identifier: MIT */
#include "sweep/rows.h"

#include "base/error.h"
#include "base/limits.h"
#include "sweep/condition.h"

#include <stdlib.h>
#include <string.h>

/* FNV-1a. The NUL between texts belongs to them, so that "1", "12" and "11", "2" differ. */
static uint64_t add_text(uint64_t hash, const char *text)
{
    for (size_t i = 0, n = strlen(text) + 1; i < n; i++)
        hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static const uint64_t fnv_start = UINT64_C(0xcbf29ce484222325);

static uint64_t hash_of(const struct plim_sweep *sweep, const char *const *values, uint64_t start)
{
    uint64_t hash = fnv_start ^ start;
    for (size_t i = 0; i < sweep->n_variables; i++)
        hash = add_text(add_text(hash, sweep->variable[i]), values[i]);
    return hash;
}

/* The finalizer of MurmurHash3 (Appleby): every bit of the number moves every bit of the result. */
static uint64_t mixed(uint64_t x)
{
    x = (x ^ (x >> 33)) * UINT64_C(0xff51afd7ed558ccd);
    x = (x ^ (x >> 33)) * UINT64_C(0xc4ceb9fe1a85ec53);
    return x ^ (x >> 33);
}

void plim_sweep_row_values(const struct plim_sweep *sweep, uint64_t number,
                           const char *ret_values[PLIM_SWEEP_MAX_VARIABLES])
{
    for (size_t i = sweep->n_groups; i-- > 0;) {
        const struct plim_sweep_group *group = &sweep->group[i];
        for (size_t k = 0; k < group->n_variables; k++)
            ret_values[group->first_variable + k] = group->values[number % group->n_tuples * group->n_variables + k];
        number /= group->n_tuples;
    }
}

/* --- a draw: the rows with the least numbers of their own --- */

static int by_key(const void *a, const void *b)
{
    const struct plim_sweep_row *x = a, *y = b;
    return x->key != y->key ? (x->key < y->key ? -1 : 1) : (x->number > y->number) - (x->number < y->number);
}

static int by_number(const void *a, const void *b)
{
    const struct plim_sweep_row *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

/* Rows of the same values are one row. */
static size_t without_copies(struct plim_sweep_row *row, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (!kept || row[kept - 1].key != row[i].key)
            row[kept++] = row[i];
    return kept;
}

static uint64_t command_hash(const struct plim_sweep *sweep)
{
    uint64_t hash = fnv_start;
    for (size_t i = 0; i < sweep->n_words; i++)
        hash = add_text(hash, sweep->words[i]);
    return hash;
}

static uint64_t grid_size(const struct plim_sweep *sweep)
{
    uint64_t n = 1;
    for (size_t i = 0; i < sweep->n_groups && n <= PLIM_MAX_SWEEP_GRID; i++)
        n *= sweep->group[i].n_tuples;
    return n;
}

static int too_many(struct plim_error *reterr, const char *what, int most)
{
    plim_fail(reterr, PLIM_E_TOO_BIG, PLIM_NO_OFFSET, "%s of more than %d rows", what, most);
    plim_error_hint(reterr, "write fewer values, or draw = 100 seed 1");
    return PLIM_E_TOO_BIG;
}

int plim_sweep_rows(const struct plim_sweep *sweep, struct plim_sweep_rows *ret_rows, struct plim_error *reterr)
{
    const char *values[PLIM_SWEEP_MAX_VARIABLES];
    const uint64_t n_grid = grid_size(sweep), command = command_hash(sweep);
    struct plim_sweep_rows rows = { .n = 0 };
    if (n_grid > PLIM_MAX_SWEEP_GRID)
        return too_many(reterr, "a grid", PLIM_MAX_SWEEP_GRID);
    rows.row = plim_alloc_unset(n_grid, sizeof *rows.row);
    if (!rows.row)
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    for (uint64_t i = 0; i < n_grid; i++) {
        plim_sweep_row_values(sweep, i, values);
        if (!plim_sweep_is_skipped(sweep, values))
            rows.row[rows.n++] = (struct plim_sweep_row){ i, mixed(hash_of(sweep, values, mixed(sweep->seed + 1))) };
    }
    qsort(rows.row, rows.n, sizeof *rows.row, by_key);
    rows.n = without_copies(rows.row, rows.n);
    if (sweep->draw && sweep->draw < rows.n)
        rows.n = sweep->draw;
    qsort(rows.row, rows.n, sizeof *rows.row, by_number);
    if (rows.n > PLIM_MAX_SWEEP_ROWS) {
        plim_sweep_rows_done(&rows);
        return too_many(reterr, "a sweep", PLIM_MAX_SWEEP_ROWS);
    }
    for (size_t i = 0; i < rows.n; i++) {
        plim_sweep_row_values(sweep, rows.row[i].number, values);
        rows.row[i].key = hash_of(sweep, values, command);
    }
    *ret_rows = rows;
    return 0;
}

void plim_sweep_rows_done(struct plim_sweep_rows *rows)
{
    plim_free(rows->row);
    *rows = (struct plim_sweep_rows){ .n = 0 };
}
