/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_CLI_TOP_SCREEN_H
#define PLIMSOLL_CLI_TOP_SCREEN_H

/*
 * A grid on a terminal, and the keys of its user: the one place that knows ncurses, which is loaded when the screen is
 * opened. However the program ends, but for SIGKILL, the terminal is as it was.
 */

#include "report/top/grid.h"

struct plim_screen;

/* On standard input and output, which are terminals. library: NULL is the system's own ncurses. */
int plim_screen_open(const char *library, bool has_colour, struct plim_screen **ret_screen,
                     struct plim_error *reterr) PLIM_MUST_CHECK;
void plim_screen_close(struct plim_screen *screen); /* NULL is fine */

void plim_screen_size(const struct plim_screen *screen, int *ret_lines, int *ret_columns);

/* Brings the terminal from the grid that was shown last to this one. */
void plim_screen_show(struct plim_screen *screen, const struct plim_grid *grid);

enum plim_screen_event {
    PLIM_EVENT_TIME, /* nothing happened */
    PLIM_EVENT_KEY,
    PLIM_EVENT_RESIZE, /* or the terminal is ours again after Ctrl-Z: show everything */
    PLIM_EVENT_END,    /* a signal asks for the end, or the terminal is gone */
};

/* Up to ms; *ret_key is a character or an enum plim_top_key. Ctrl-Z stops the program in here. */
enum plim_screen_event plim_screen_wait(struct plim_screen *screen, int ms, uint32_t *ret_key);

/* Behind PLIM_EVENT_END and plim_screen_close(): ends this process by the signal that asked for it, if there was one.
 */
void plim_screen_obey(void);

#endif
