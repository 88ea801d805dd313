/* SPDX-License-Identifier: MIT */
#include "base/error.h"
#include "base/limits.h"
#include "sweep/columns.h"
#include "sweep/command.h"
#include "sweep/condition.h"
#include "sweep/scan.h"
#include "sweep/sweep.h"
#include "sweep/values.h"

#include <stdio.h>
#include <string.h>

/* --- words of our own --- */

static int end_of(struct plim_sweep_scan *scan, const char *hint)
{
    plim_sweep_blanks(scan);
    return scan->at == scan->end ? 0 : plim_sweep_fail(scan, scan->at, hint, "something is left over here");
}

/* "draw = 40 seed 7" */
static int read_draw(struct plim_sweep_scan *scan, struct plim_sweep *sweep)
{
    static const char usage[] = "write draw = 40 seed 7";
    const char *word;
    plim_sweep_blanks(scan);
    const size_t at = scan->at;
    if (!plim_sweep_number(scan, &sweep->draw) || !sweep->draw)
        return plim_sweep_fail(scan, at, usage, "how many rows to draw is missing");
    plim_sweep_blanks(scan);
    const size_t next = scan->at, n = plim_sweep_name(scan, &word);
    if (n && (n != 4 || memcmp(word, "seed", 4) != 0 || !plim_sweep_number(scan, &sweep->seed)))
        return plim_sweep_fail(scan, next, usage, "a draw goes on with 'seed' and a number");
    return end_of(scan, usage);
}

/* "timeout = 600", in seconds, or "600s", "10m", "2h" */
static int read_timeout(struct plim_sweep_scan *scan, struct plim_sweep *sweep)
{
    static const char usage[] = "write timeout = 10m";
    enum { MOST_S = 30 * 24 * 3600 };
    const char *unit;
    plim_sweep_blanks(scan);
    const size_t at = scan->at;
    uint64_t n;
    if (!plim_sweep_number(scan, &n))
        return plim_sweep_fail(scan, at, usage, "a time is missing");
    const size_t length = plim_sweep_name(scan, &unit);
    const uint64_t factor = !length || (length == 1 && *unit == 's') ? 1
                            : length == 1 && *unit == 'm'            ? 60
                            : length == 1 && *unit == 'h'            ? 3600
                                                                     : 0;
    if (!factor || !n || n > MOST_S / factor)
        return plim_sweep_fail(scan, at, usage, "not a time from 1s to 720h");
    sweep->timeout_s = n * factor;
    return end_of(scan, usage);
}

/* Of the paths of columns: "devices.*.need_bytes". */
static size_t read_path(struct plim_sweep_scan *scan)
{
    plim_sweep_blanks(scan);
    const size_t start = scan->at;
    while (scan->at < scan->end && !strchr(" \t\r\n,=", scan->text[scan->at]))
        scan->at++;
    return scan->at - start;
}

/* "peak_bytes, need = devices.*.need_bytes" */
static int read_columns(struct plim_sweep_scan *scan, struct plim_sweep *sweep)
{
    static const char usage[] = "write columns = peak_bytes, verdict, need = devices.*.need_bytes";
    do {
        struct plim_sweep_column column = { .path = NULL };
        plim_sweep_blanks(scan);
        const size_t at = scan->at;
        const char *name;
        const size_t length = plim_sweep_name(scan, &name);
        if (!length)
            return plim_sweep_fail(scan, at, usage, "the name of a column is missing");
        column.name = plim_arena_copy(&sweep->arena, name, length);
        if (plim_sweep_take(scan, '=')) {
            const size_t n = read_path(scan);
            if (!n)
                return plim_sweep_fail(scan, scan->at, usage, "a path is missing");
            column.path = plim_arena_copy(&sweep->arena, scan->text + scan->at - n, n);
        }
        if (!column.name || (!column.path && !plim_sweep_column_is_known(column.name)))
            return plim_sweep_fail(scan, at, "NAME = PATH is a figure by its path; docs/sweep.md lists the columns",
                                   "no column '%.*s'", (int)(length < 60 ? length : 60), name);
        if (sweep->n_columns == PLIM_SWEEP_MAX_COLUMNS)
            return plim_sweep_fail(scan, at, usage, "more than %d columns", (int)PLIM_SWEEP_MAX_COLUMNS);
        sweep->column[sweep->n_columns++] = column;
    } while (plim_sweep_take(scan, ','));
    return end_of(scan, usage);
}

/* --- variables --- */

static int add_variable(struct plim_sweep_scan *scan, struct plim_sweep *sweep, size_t at, const char *name, size_t n)
{
    if (sweep->n_words)
        return plim_sweep_fail(scan, at, "variables stand above the command", "a variable below the command");
    if (sweep->n_variables == PLIM_SWEEP_MAX_VARIABLES)
        return plim_sweep_fail(scan, at, "let several change together: B, S = 1 512, 2 512", "more than %d variables",
                               (int)PLIM_SWEEP_MAX_VARIABLES);
    if (plim_sweep_variable(sweep, name, n) < sweep->n_variables)
        return plim_sweep_fail(scan, at, "put all of its values on one line", "the variable '%.*s' is there twice",
                               (int)(n < 60 ? n : 60), name);
    const char *copy = n <= PLIM_MAX_SWEEP_NAME_BYTES ? plim_arena_copy(&sweep->arena, name, n) : NULL;
    if (!copy)
        return plim_sweep_fail(scan, at, "a name has up to 64 letters", "the name is too long");
    sweep->variable[sweep->n_variables++] = copy;
    return 0;
}

/* The first name is read. */
static int read_group(struct plim_sweep_scan *scan, struct plim_sweep *sweep, size_t at, const char *name, size_t n)
{
    struct plim_sweep_group *group = &sweep->group[sweep->n_groups];
    *group = (struct plim_sweep_group){ .first_variable = sweep->n_variables };
    int result = add_variable(scan, sweep, at, name, n);
    while (result == 0 && plim_sweep_take(scan, ',')) {
        plim_sweep_blanks(scan);
        at = scan->at;
        n = plim_sweep_name(scan, &name);
        result = n ? add_variable(scan, sweep, at, name, n)
                   : plim_sweep_fail(scan, at, "write B, S = 1 512, 2 512", "the name of a variable is missing");
    }
    if (result < 0)
        return result;
    if (!plim_sweep_take(scan, '='))
        return plim_sweep_fail(scan, scan->at, "write B = 1, 2, 4, or run = COMMAND", "'=' is missing");
    group->n_variables = sweep->n_variables - group->first_variable;
    result = plim_sweep_values(scan, &sweep->arena, group);
    sweep->n_groups += result == 0;
    return result;
}

/* --- the whole --- */

enum word { WORD_RUN, WORD_SKIP, WORD_DRAW, WORD_COLUMNS, WORD_TIMEOUT, WORD_MAX_ };

static enum word word_of(const char *name, size_t length)
{
    static const char *const words[WORD_MAX_] = { "run", "skip", "draw", "columns", "timeout" };
    for (size_t i = 0; i < WORD_MAX_; i++)
        if (strlen(words[i]) == length && !memcmp(words[i], name, length))
            return (enum word)i;
    return WORD_MAX_;
}

static int read_statement(struct plim_sweep_scan *scan, struct plim_sweep *sweep, bool has[WORD_MAX_])
{
    const size_t at = scan->at;
    const char *name;
    const size_t length = plim_sweep_name(scan, &name);
    if (!length)
        return plim_sweep_fail(scan, at, "write B = 1, 2, 4, or run = COMMAND", "a name is missing");
    const enum word word = word_of(name, length);
    if (word == WORD_MAX_)
        return read_group(scan, sweep, at, name, length);
    if (has[word] && word != WORD_SKIP)
        return plim_sweep_fail(scan, at, "once is enough", "'%.*s' is there twice", (int)length, name);
    has[word] = true;
    if (!plim_sweep_take(scan, '='))
        return plim_sweep_fail(scan, scan->at, "write B = 1, 2, 4, or run = COMMAND", "'=' is missing");
    switch (word) {
    case WORD_RUN:
        return plim_sweep_command(scan, sweep);
    case WORD_SKIP:
        return plim_sweep_conditions(scan, sweep);
    case WORD_DRAW:
        return read_draw(scan, sweep);
    case WORD_COLUMNS:
        return read_columns(scan, sweep);
    case WORD_TIMEOUT:
    case WORD_MAX_:
        break;
    }
    return read_timeout(scan, sweep);
}

/* No two columns of the table have one name. */
static int check_names(struct plim_sweep_scan *scan, const struct plim_sweep *sweep)
{
    for (size_t i = 0; i < sweep->n_variables + sweep->n_columns; i++) {
        const char *name = i < sweep->n_variables ? sweep->variable[i] : sweep->column[i - sweep->n_variables].name;
        bool is_twice = plim_sweep_column_is_ours(name);
        for (size_t k = i + 1; k < sweep->n_variables + sweep->n_columns; k++)
            is_twice = is_twice || !strcmp(name, k < sweep->n_variables ? sweep->variable[k]
                                                                        : sweep->column[k - sweep->n_variables].name);
        if (is_twice)
            return plim_sweep_fail(scan, scan->length, "give one of them another name", "two columns are named '%s'",
                                   name);
    }
    return 0;
}

static void fill_columns(struct plim_sweep *sweep)
{
    static const char *const usual[] = { "verdict", "peak_bytes", "allocated_bytes", "reserved_bytes" };
    for (size_t i = 0; !sweep->n_columns && i < sizeof usual / sizeof *usual; i++)
        sweep->column[i].name = usual[i];
    sweep->n_columns = sweep->n_columns ? sweep->n_columns : sizeof usual / sizeof *usual;
}

int plim_sweep_read(const char *text, size_t length, const char *name, struct plim_sweep *ret_sweep,
                    struct plim_error *reterr)
{
    struct plim_error own = { 0 };
    struct plim_sweep_scan scan = { .text = text, .name = name, .length = length, .err = reterr ? reterr : &own };
    struct plim_sweep sweep = { .n_words = 0 };
    bool has[WORD_MAX_] = { false };
    int result = 0;
    plim_arena_init(&sweep.arena, PLIM_MAX_SWEEP_MEMORY_BYTES);
    if (length > PLIM_MAX_SWEEP_BYTES)
        result = plim_sweep_fail(&scan, 0, "rows come from values of variables", "the file is larger than 1 MiB");
    while (result == 0 && plim_sweep_next(&scan))
        result = read_statement(&scan, &sweep, has);
    if (result == 0 && !has[WORD_RUN])
        result =
            plim_sweep_fail(&scan, length, "write run = plimsoll rehearse --card B200 -- python train.py --batch {B}",
                            "a command is missing");
    if (result == 0) {
        fill_columns(&sweep);
        result = check_names(&scan, &sweep);
    }
    if (result < 0)
        plim_sweep_done(&sweep);
    else
        *ret_sweep = sweep;
    return result;
}
