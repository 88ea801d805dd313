/* SPDX-License-Identifier: MIT */
#include "report/top/grid.h"

#include "base/mem.h"
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

bool plim_grid_resize(struct plim_grid *grid, int lines, int columns)
{
    lines = lines < 1 ? 1 : lines > PLIM_GRID_MAX_LINES ? PLIM_GRID_MAX_LINES : lines;
    columns = columns < 1 ? 1 : columns > PLIM_GRID_MAX_COLUMNS ? PLIM_GRID_MAX_COLUMNS : columns;
    struct plim_cell *cell = plim_alloc((size_t)lines * (size_t)columns, sizeof *cell);
    if (!cell)
        return false;
    plim_free(grid->cell);
    grid->lines = lines;
    grid->columns = columns;
    grid->cell = cell;
    plim_grid_clear(grid);
    return true;
}

void plim_grid_clear(struct plim_grid *grid)
{
    const int n = grid->lines * grid->columns;
    for (int i = 0; i < n; i++)
        grid->cell[i] = (struct plim_cell){ .code = ' ' };
}

void plim_grid_done(struct plim_grid *grid)
{
    plim_free(grid->cell);
    grid->cell = NULL;
    grid->lines = grid->columns = 0;
}

struct plim_strip plim_strip(struct plim_grid *grid, int line, int column, int n_columns)
{
    const bool is_inside = line >= 0 && line < grid->lines && column >= 0 && column < grid->columns && n_columns > 0;
    const int room = is_inside ? grid->columns - column : 0;
    return (struct plim_strip){ grid, line, column, column + (n_columns < room ? n_columns : room), PLIM_CELL_PLAIN };
}

/* --- characters --- */

struct glyph {
    uint32_t code;
    int width; /* 0: it combines with the one before */
};

/* The next character of a text that has one, as this grid shows it; returns its bytes. */
static size_t next_glyph(const struct plim_grid *grid, const char *text, struct glyph *ret_glyph)
{
    uint32_t code;
    const size_t n = plim_text_character(text, strnlen(text, 4), &code);
    if (!plim_text_is_shown(code) || (grid->is_ascii && code > '~'))
        code = '?';
    int width = code >= ' ' && code <= '~' ? 1 : wcwidth((wchar_t)code);
    if (width < 0 || width > 2) { /* this locale has no glyph for it */
        code = '?';
        width = 1;
    }
    *ret_glyph = (struct glyph){ code, width };
    return n;
}

static struct plim_cell *cell_at(const struct plim_strip *strip, int column)
{
    return &strip->grid->cell[strip->line * strip->grid->columns + column];
}

/* The left half of a character whose right half is at this column goes, and so does the other way round. */
static void split_wide(const struct plim_strip *strip, int column)
{
    struct plim_cell *cell = cell_at(strip, column);
    if (cell->code == 0 && column > 0)
        cell[-1].code = ' ';
    if (column + 1 < strip->grid->columns && cell[1].code == 0)
        cell[1].code = ' ';
}

static void put(struct plim_strip *strip, const struct glyph *glyph, enum plim_role_of_cell role)
{
    for (int i = 0; i < glyph->width; i++) {
        split_wide(strip, strip->column + i);
        *cell_at(strip, strip->column + i) = (struct plim_cell){ .code = i ? 0 : glyph->code, .role = (uint8_t)role };
    }
    strip->column += glyph->width;
}

static void put_mark(const struct plim_strip *strip, int begin, uint32_t mark)
{
    int column = strip->column - 1;
    if (column > begin && cell_at(strip, column)->code == 0)
        column--;
    if (column >= begin && !cell_at(strip, column)->mark)
        cell_at(strip, column)->mark = mark;
}

void plim_strip_text(struct plim_strip *strip, enum plim_role_of_cell role, const char *text)
{
    const int begin = strip->column;
    struct glyph glyph;
    for (size_t n; *text; text += n) {
        n = next_glyph(strip->grid, text, &glyph);
        if (glyph.width == 0) {
            put_mark(strip, begin, glyph.code);
            continue;
        }
        if (strip->column + glyph.width > strip->end) {
            if (strip->column < strip->end) /* half of a wide character */
                put(strip, &(struct glyph){ ' ', 1 }, role);
            if (strip->column > begin) {
                strip->column--;
                plim_strip_sign(strip, role, 0x2026, '~');
            }
            return;
        }
        put(strip, &glyph, role);
    }
}

void plim_strip_print(struct plim_strip *strip, enum plim_role_of_cell role, const char *format, ...)
{
    char text[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    plim_strip_text(strip, role, text);
}

void plim_strip_sign(struct plim_strip *strip, enum plim_role_of_cell role, uint32_t code, char ascii)
{
    const bool is_plain = strip->grid->is_ascii || wcwidth((wchar_t)code) != 1;
    if (strip->column < strip->end)
        put(strip, &(struct glyph){ is_plain ? (uint32_t)ascii : code, 1 }, role);
}

int plim_grid_width(const struct plim_grid *grid, const char *text)
{
    int width = 0;
    struct glyph glyph;
    for (; *text; width += glyph.width)
        text += next_glyph(grid, text, &glyph);
    return width;
}

/* --- alignment --- */

static struct plim_strip take(struct plim_strip *strip, int n_columns)
{
    struct plim_strip part = *strip;
    part.end = strip->column + n_columns < strip->end ? strip->column + n_columns : strip->end;
    strip->column = part.end;
    return part;
}

void plim_strip_right(struct plim_strip *strip, int n_columns, enum plim_role_of_cell role, const char *text)
{
    struct plim_strip part = take(strip, n_columns);
    const int blanks = part.end - part.column - plim_grid_width(part.grid, text);
    if (blanks > 0)
        part.column += blanks;
    plim_strip_text(&part, role, text);
}

void plim_strip_left(struct plim_strip *strip, int n_columns, enum plim_role_of_cell role, const char *text)
{
    struct plim_strip part = take(strip, n_columns);
    plim_strip_text(&part, role, text);
}

void plim_strip_shifted(struct plim_strip *strip, int n_columns, enum plim_role_of_cell role, const char *text)
{
    struct glyph glyph;
    while (*text && n_columns > 0) {
        text += next_glyph(strip->grid, text, &glyph);
        n_columns -= glyph.width;
    }
    plim_strip_text(strip, role, text);
}

void plim_grid_paint(struct plim_grid *grid, int line, enum plim_role_of_cell role)
{
    for (int column = 0; column < grid->columns && line >= 0 && line < grid->lines; column++)
        grid->cell[line * grid->columns + column].role = (uint8_t)role;
}

/* --- paragraphs --- */

/* The bytes of text that a line of so many columns takes: up to a blank if there is one, else what there is room for.
 */
static size_t line_of(const struct plim_grid *grid, const char *text, int n_columns)
{
    size_t at = 0, at_blank = 0;
    struct glyph glyph;
    for (int column = 0; text[at]; column += glyph.width) {
        const size_t n = next_glyph(grid, text + at, &glyph);
        if (text[at] == ' ')
            at_blank = at;
        if (column + glyph.width > n_columns)
            return at_blank ? at_blank : at ? at : n;
        at += n;
    }
    return at;
}

int plim_grid_wrap(struct plim_grid *grid, int line, int column, int n_columns, int most, enum plim_role_of_cell role,
                   const char *text)
{
    char piece[4 * PLIM_GRID_MAX_COLUMNS + 1];
    int n_lines = 0;
    for (; *text && n_lines < most; n_lines++) {
        struct plim_strip strip = plim_strip(grid, line + n_lines, column, n_columns);
        size_t n = line_of(grid, text, n_columns);
        if (n_lines + 1 == most || n >= sizeof piece) { /* the last: cut where it ends */
            plim_strip_text(&strip, role, text);
            return n_lines + 1;
        }
        memcpy(piece, text, n);
        piece[n] = '\0';
        plim_strip_text(&strip, role, piece);
        text += n;
        text += strspn(text, " ");
    }
    return n_lines;
}
