/* SPDX-License-Identifier: MIT */
/*
 * ncurses is loaded when it is needed: other commands start as fast as without it, and the program runs where it is
 * missing. Types and numbers are those of curses.h; ABI 6 is that of all systems since 2015.
 *
 * Cells go to ncurses only where they differ from the ones shown last, and ncurses sends what that takes.
 */
#define NCURSES_NOMACROS
#define NCURSES_WIDECHAR 1
#include "cli/top/screen.h"

#include "base/mem.h"
#include "base/system.h"
#include "cli/top/interrupts.h"
#include "cli/top/keys.h"

#include <curses.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

/* After Escape so long for the rest of the sequence of a key; input without a key in it so often is its end. */
enum { ESCAPE_MS = 25, MAX_EMPTY_READS = 32 };

/* Every function of ncurses that is called here. */
/* clang-format off */
#define FUNCTIONS(X)                                                                                                   \
    X(cbreak) X(curs_set) X(delscreen) X(delwin) X(doupdate) X(endwin) X(getmaxx) X(getmaxy) X(has_colors)             \
    X(init_pair) X(keypad) X(mvwadd_wchnstr) X(newterm) X(newwin) X(nodelay) X(noecho) X(nonl) X(resizeterm)           \
    X(set_escdelay) X(setcchar) X(start_color) X(tigetstr) X(typeahead) X(use_default_colors) X(wclear)                \
    X(wget_wch) X(wnoutrefresh) X(wresize)
/* clang-format on */

struct plim_screen {
    void *library;
#define DECLARE(name) __typeof__(&(name)) name;
    FUNCTIONS(DECLARE)
#undef DECLARE
    int (*setupterm)(const char *terminal, int file, int *ret_why); /* of term.h, which has macros named "lines" ... */
    SCREEN *terminal;
    WINDOW *window;
    bool has_colour;
    unsigned n_empty_reads;
    struct plim_grid shown; /* no size: nothing is shown */
};

/* --- opening --- */

static int fail_to_load(const struct plim_screen *s, const char *library, const char *why, struct plim_error *reterr)
{
    const int code = plim_fail(reterr, PLIM_E_UNSUPPORTED, PLIM_NO_OFFSET, "'plimsoll top' needs ncurses: %s %s",
                               library, !s->library ? (*why ? why : "is not found") : "lacks functions");
    plim_error_hint(reterr, "'plimsoll ps' lists the same once; the package is libncursesw6 in Debian, ncurses-libs in "
                            "Fedora, ncurses in Arch");
    return code;
}

static int load(struct plim_screen *s, const char *library, struct plim_error *reterr)
{
    char why[PLIM_LIBRARY_WHY_BYTES];
    const struct {
        const char *name;
        void *slot;
    } symbols[] = {
#define ROW(name) { #name, &s->name },
        FUNCTIONS(ROW) ROW(setupterm)
#undef ROW
    };
    bool has_all = true;
    s->library = plim_system_library(library, why);
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols && s->library; i++) {
        void *found;
        plim_system_symbol(s->library, symbols[i].name, symbols[i].slot);
        memcpy(&found, symbols[i].slot, sizeof found);
        has_all &= found != NULL;
    }
    return s->library && has_all ? 0 : fail_to_load(s, library, why, reterr);
}

static const char *capability(const struct plim_screen *s, const char *name)
{
    const char *text = s->tigetstr(name);
    return text == NULL || text == (char *)-1 ? "" : text; /* as terminfo(3) says */
}

static int check_terminal(const struct plim_screen *s, struct plim_error *reterr)
{
    int why = 0;
    if (s->setupterm(NULL, STDOUT_FILENO, &why) == OK && *capability(s, "cup"))
        return 0;
    const int code =
        plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "%s",
                  why == 1 ? "this terminal cannot place text" : "the terminal that TERM names is unknown");
    plim_error_hint(reterr, "'plimsoll ps' lists the same once; or set TERM: TERM=xterm plimsoll top");
    return code;
}

/* What a crash sends to the terminal: attributes off, the keypad off, the cursor, the screen of before. */
static size_t make_rescue(const struct plim_screen *s, char *bytes, size_t size)
{
    static const char *const names[] = { "sgr0", "rmkx", "cnorm", "rmcup" };
    size_t n = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (const char *p = capability(s, names[i]); *p && n < size; p++)
            if (p[0] == '$' && p[1] == '<') /* a delay, of terminals that needed one */
                p += strcspn(p, ">") - (p[strcspn(p, ">")] ? 0 : 1);
            else
                bytes[n++] = *p;
    return n;
}

static const struct {
    short colour; /* -1: that of the terminal */
    attr_t with_colour, without;
} looks[PLIM_CELL_MAX_] = {
    [PLIM_CELL_PLAIN] = { -1, A_NORMAL, A_NORMAL },
    [PLIM_CELL_TITLE] = { -1, A_REVERSE, A_REVERSE },
    [PLIM_CELL_HEADING] = { COLOR_CYAN, A_BOLD, A_BOLD },
    [PLIM_CELL_SORTED] = { COLOR_CYAN, A_BOLD | A_UNDERLINE, A_BOLD | A_UNDERLINE },
    [PLIM_CELL_SELECTED] = { -1, A_REVERSE, A_REVERSE },
    [PLIM_CELL_TAGGED] = { COLOR_YELLOW, A_BOLD, A_BOLD },
    [PLIM_CELL_DIM] = { -1, A_DIM, A_NORMAL },
    [PLIM_CELL_GOOD] = { COLOR_GREEN, A_NORMAL, A_NORMAL },
    [PLIM_CELL_WARNING] = { COLOR_YELLOW, A_NORMAL, A_BOLD },
    [PLIM_CELL_BAD] = { COLOR_RED, A_BOLD, A_BOLD | A_UNDERLINE },
    [PLIM_CELL_CHART] = { COLOR_CYAN, A_NORMAL, A_NORMAL },
    [PLIM_CELL_KEY] = { -1, A_BOLD, A_BOLD },
};

static void set_modes(struct plim_screen *s)
{
    s->cbreak(); /* Ctrl-C and Ctrl-Z stay signals */
    s->noecho();
    s->nonl();
    s->typeahead(-1);
    s->set_escdelay(ESCAPE_MS);
    s->keypad(s->window, TRUE);
    s->nodelay(s->window, TRUE);
    s->curs_set(0);
    s->has_colour = s->has_colour && s->has_colors();
    if (!s->has_colour)
        return;
    s->start_color();
    s->use_default_colors();
    for (int role = 1; role < PLIM_CELL_MAX_; role++)
        s->init_pair((short)role, looks[role].colour, -1);
}

int plim_screen_open(const char *library, bool has_colour, struct plim_screen **ret_screen, struct plim_error *reterr)
{
    char rescue[256];
    struct plim_screen *s = plim_alloc(1, sizeof *s);
    if (!s)
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    s->has_colour = has_colour;
    int result = load(s, library ? library : "libncursesw.so.6", reterr);
    if (result == 0)
        result = check_terminal(s, reterr);
    if (result < 0)
        goto out;
    plim_interrupts_open(rescue, make_rescue(s, rescue, sizeof rescue));
    s->terminal = s->newterm(NULL, stdout, stdin);
    s->window = s->terminal ? s->newwin(0, 0, 0, 0) : NULL;
    if (!s->window) {
        plim_interrupts_close();
        result = plim_fail(reterr, PLIM_E_INTERNAL, PLIM_NO_OFFSET, "ncurses cannot use this terminal");
        goto out;
    }
    set_modes(s);
    *ret_screen = s;
    return 0;
out:
    if (s->library)
        plim_system_library_close(s->library);
    plim_free(s);
    return result;
}

void plim_screen_close(struct plim_screen *s)
{
    if (!s)
        return;
    s->endwin();
    plim_interrupts_close();
    s->delwin(s->window);
    s->delscreen(s->terminal);
    plim_grid_done(&s->shown);
    plim_system_library_close(s->library);
    plim_free(s);
}

/* --- showing --- */

void plim_screen_size(const struct plim_screen *s, int *ret_lines, int *ret_columns)
{
    *ret_lines = s->getmaxy(s->window);
    *ret_columns = s->getmaxx(s->window);
}

static cchar_t character_of(const struct plim_screen *s, const struct plim_cell *cell)
{
    const wchar_t text[3] = { (wchar_t)cell->code, (wchar_t)cell->mark, L'\0' };
    cchar_t character;
    memset(&character, 0, sizeof character);
    s->setcchar(&character, text, s->has_colour ? looks[cell->role].with_colour : looks[cell->role].without,
                s->has_colour ? (short)cell->role : 0, NULL);
    return character;
}

static bool is_same(const struct plim_cell *a, const struct plim_cell *b)
{
    return a->code == b->code && a->mark == b->mark && a->role == b->role;
}

/* Cells that differ, together as far as they stand together; the right half of a character comes with its left. */
static void show_line(struct plim_screen *s, const struct plim_grid *grid, int line)
{
    cchar_t characters[PLIM_GRID_MAX_COLUMNS];
    const struct plim_cell *now = &grid->cell[line * grid->columns], *old = &s->shown.cell[line * grid->columns];
    for (int column = 0; column < grid->columns; column++) {
        if (is_same(&now[column], &old[column]))
            continue;
        int begin = column, n = 0;
        while (begin > 0 && (now[begin].code == 0 || old[begin].code == 0))
            begin--;
        for (column = begin; column < grid->columns; column++) {
            if (now[column].code == 0)
                continue;
            const bool is_wide = column + 1 < grid->columns && now[column + 1].code == 0;
            if (column > begin && is_same(&now[column], &old[column]) && !is_wide && old[column].code != 0)
                break;
            characters[n++] = character_of(s, &now[column]);
        }
        s->mvwadd_wchnstr(s->window, line, begin, characters, n);
    }
}

void plim_screen_show(struct plim_screen *s, const struct plim_grid *grid)
{
    if (s->shown.lines != grid->lines || s->shown.columns != grid->columns) {
        if (!plim_grid_resize(&s->shown, grid->lines, grid->columns))
            return;
        s->wclear(s->window);
    }
    for (int line = 0; line < grid->lines; line++)
        show_line(s, grid, line);
    memcpy(s->shown.cell, grid->cell, (size_t)grid->lines * (size_t)grid->columns * sizeof *grid->cell);
    s->wnoutrefresh(s->window);
    s->doupdate();
}

/* Everything is drawn next time. */
static void forget(struct plim_screen *s) { plim_grid_done(&s->shown); }

static void resize(struct plim_screen *s)
{
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0) {
        s->resizeterm(size.ws_row, size.ws_col);
        s->wresize(s->window, size.ws_row, size.ws_col);
    }
    forget(s);
}

/* --- keys --- */

static uint32_t key_of(bool is_function, wint_t code)
{
    static const struct {
        int code;
        uint32_t key;
    } keys[] = {
        { KEY_UP, PLIM_KEY_UP },         { KEY_DOWN, PLIM_KEY_DOWN },
        { KEY_LEFT, PLIM_KEY_LEFT },     { KEY_RIGHT, PLIM_KEY_RIGHT },
        { KEY_PPAGE, PLIM_KEY_PAGE_UP }, { KEY_NPAGE, PLIM_KEY_PAGE_DOWN },
        { KEY_HOME, PLIM_KEY_HOME },     { KEY_END, PLIM_KEY_END },
        { KEY_ENTER, PLIM_KEY_ENTER },   { KEY_BACKSPACE, PLIM_KEY_BACKSPACE },
    };
    if (!is_function)
        return code == 27                 ? PLIM_KEY_ESCAPE
               : code == 10 || code == 13 ? PLIM_KEY_ENTER
               : code == 8 || code == 127 ? PLIM_KEY_BACKSPACE
                                          : (uint32_t)code;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i].code == (int)code)
            return keys[i].key;
    return code >= KEY_F(1) && code <= KEY_F(10) ? (uint32_t)(PLIM_KEY_F1 + code - KEY_F(1)) : PLIM_KEY_NONE;
}

/* False: there is none. */
static bool read_key(struct plim_screen *s, uint32_t *ret_key)
{
    wint_t code;
    const int result = s->wget_wch(s->window, &code);
    if (result == ERR)
        return false;
    *ret_key = key_of(result == KEY_CODE_YES, code);
    return true;
}

enum plim_screen_event plim_screen_wait(struct plim_screen *s, int ms, uint32_t *ret_key)
{
    if (read_key(s, ret_key)) /* ncurses may have read several at once */
        return PLIM_EVENT_KEY;
    const bool has_input = plim_interrupts_wait(STDIN_FILENO, ms);
    if (plim_interrupts_ended())
        return PLIM_EVENT_END;
    if (plim_interrupts_suspended()) {
        s->endwin();
        plim_interrupts_stop();
    }
    if (plim_interrupts_resized()) {
        resize(s);
        return PLIM_EVENT_RESIZE;
    }
    if (!has_input)
        return PLIM_EVENT_TIME;
    if (read_key(s, ret_key)) {
        s->n_empty_reads = 0;
        return PLIM_EVENT_KEY;
    }
    return ++s->n_empty_reads > MAX_EMPTY_READS ? PLIM_EVENT_END : PLIM_EVENT_TIME;
}

void plim_screen_obey(void)
{
    if (plim_interrupts_ended())
        raise(plim_interrupts_ended());
}
