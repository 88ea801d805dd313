/* SPDX-License-Identifier: MIT */
/* The text of a sweep, and behind a NUL byte its table: rows and commands of which all parts are there, or an error. */
#include "fuzz.h"

#include "sweep/command.h"
#include "sweep/csv.h"
#include "sweep/rows.h"

#include <string.h>

static void look_at(const struct plim_sweep *sweep, const struct plim_sweep_rows *rows)
{
    for (size_t i = 0; i < rows->n && i < 4; i++) {
        const char *values[PLIM_SWEEP_MAX_VARIABLES];
        struct plim_arena arena;
        plim_arena_init(&arena, 1 << 22);
        plim_sweep_row_values(sweep, rows->row[i].number, values);
        char **arguments = plim_sweep_arguments(&arena, sweep, values, "/bin/plimsoll", "log");
        for (size_t k = 0; arguments && k < sweep->n_words; k++)
            FUZZ_REQUIRE(arguments[k] && strlen(arguments[k]) < (1 << 22));
        FUZZ_REQUIRE(i == 0 || rows->row[i].number > rows->row[i - 1].number);
        plim_arena_done(&arena);
    }
}

static void read_table(const char *text, size_t length)
{
    struct plim_csv csv;
    struct plim_error error = { 0 };
    struct plim_arena arena;
    plim_arena_init(&arena, 1 << 24);
    const int result = plim_csv_read(&arena, text, length, &csv, &error);
    FUZZ_REQUIRE(result == 0 || (error.code == result && error.what[0]));
    for (size_t i = 0; result == 0 && i < csv.n_rows * csv.n_columns; i++)
        FUZZ_REQUIRE(csv.cell[i] && strlen(csv.cell[i]) <= length);
    plim_arena_done(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct plim_sweep sweep;
    struct plim_sweep_rows rows;
    struct plim_error error = { 0 };
    const char *text = (const char *)data, *end = size ? memchr(text, '\0', size) : NULL;
    const size_t length = end ? (size_t)(end - text) : size;
    if (end)
        read_table(end + 1, size - length - 1);
    const int result = plim_sweep_read(text, length, "fuzz", &sweep, &error);
    FUZZ_REQUIRE(result == 0 || (error.code == result && error.what[0] && strstr(error.where, "line ")));
    if (result < 0)
        return 0;
    FUZZ_REQUIRE(sweep.n_words && sweep.n_columns);
    uint64_t n_grid = 1;
    for (size_t i = 0; i < sweep.n_groups && n_grid <= 4096; i++)
        n_grid *= sweep.group[i].n_tuples;
    if (n_grid <= 4096 && plim_sweep_rows(&sweep, &rows, &error) == 0) {
        FUZZ_REQUIRE(rows.n <= n_grid && (!sweep.draw || rows.n <= sweep.draw));
        look_at(&sweep, &rows);
        plim_sweep_rows_done(&rows);
    }
    plim_sweep_done(&sweep);
    return 0;
}
