/* SPDX-License-Identifier: MIT */
#include "sweep/csv.h"

#include "base/error.h"

#include <string.h>

/* --- reading --- */

struct reader {
    const char *text;
    size_t length, at, line;
    char *buffer; /* as long as the text */
};

/* A cell in quotation marks; false: they are not closed. */
static bool read_quoted(struct reader *r, size_t *ret_length)
{
    size_t n = 0;
    for (r->at++; r->at < r->length; r->at++) {
        const char c = r->text[r->at];
        r->line += c == '\n';
        if (c != '"') {
            r->buffer[n++] = c;
        } else if (r->at + 1 < r->length && r->text[r->at + 1] == '"') {
            r->buffer[n++] = c;
            r->at++;
        } else {
            r->at++;
            *ret_length = n;
            return true;
        }
    }
    return false;
}

static bool is_end(const struct reader *r) { return r->at == r->length || strchr(",\r\n", r->text[r->at]) != NULL; }

/* False: it is no cell. */
static bool read_cell(struct reader *r, size_t *ret_length)
{
    if (r->at < r->length && r->text[r->at] == '"')
        return read_quoted(r, ret_length) && is_end(r);
    size_t n = 0;
    for (; !is_end(r); r->at++) {
        if (r->text[r->at] == '"' || !r->text[r->at])
            return false;
        r->buffer[n++] = r->text[r->at];
    }
    *ret_length = n;
    return true;
}

/* Behind a cell: true when another one follows on this line. */
static bool next_cell(struct reader *r)
{
    if (r->at < r->length && r->text[r->at] == ',') {
        r->at++;
        return true;
    }
    r->at += r->at < r->length && r->text[r->at] == '\r';
    if (r->at < r->length && r->text[r->at] == '\n') {
        r->at++;
        r->line++;
    }
    return false;
}

static int damaged(const struct reader *r, struct plim_error *reterr)
{
    plim_fail(reterr, PLIM_E_CORRUPT, r->at, "line %zu is no row of the table", r->line);
    plim_error_hint(reterr, "mend the line, or write another file with --output");
    return PLIM_E_CORRUPT;
}

static int no_memory(const struct plim_arena *arena, struct plim_error *reterr)
{
    return arena->is_full ? plim_fail(reterr, PLIM_E_TOO_BIG, PLIM_NO_OFFSET, "the table has too many cells")
                          : plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
}

/* At most that many cells: each but the first of a row has a comma before it. */
static size_t most_cells(const char *text, size_t length)
{
    size_t n = 2;
    for (size_t i = 0; i < length; i++)
        n += text[i] == ',' || text[i] == '\n' || text[i] == '\r';
    return n;
}

int plim_csv_read(struct plim_arena *arena, const char *text, size_t length, struct plim_csv *ret_csv,
                  struct plim_error *reterr)
{
    struct plim_csv csv = { .n_rows = 0 };
    struct reader r = { .text = text, .length = length, .line = 1 };
    r.buffer = plim_arena_alloc(arena, length + 1, 1);
    csv.cell = plim_arena_alloc(arena, most_cells(text, length), sizeof *csv.cell);
    if (!r.buffer || !csv.cell)
        return no_memory(arena, reterr);
    for (size_t n = 0; r.at < length; csv.n_rows++) {
        const size_t first = n;
        const struct reader row = r;
        do {
            size_t n_bytes;
            if (!read_cell(&r, &n_bytes) || memchr(r.buffer, '\0', n_bytes))
                return damaged(&r, reterr);
            csv.cell[n] = plim_arena_copy(arena, r.buffer, n_bytes);
            if (!csv.cell[n++])
                return no_memory(arena, reterr);
        } while (next_cell(&r));
        if (!csv.n_rows)
            csv.n_columns = n;
        if (n - first != csv.n_columns || r.at == row.at)
            return damaged(&row, reterr);
    }
    *ret_csv = csv;
    return 0;
}

/* --- writing --- */

static void write_cell(FILE *out, const char *text)
{
    if (!text[strcspn(text, ",\"\r\n")]) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

void plim_csv_write(FILE *out, const char *const *cells, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (i)
            fputc(',', out);
        write_cell(out, cells[i] ? cells[i] : "");
    }
    fputc('\n', out);
}
