/* SPDX-License-Identifier: MIT */
/* The screen of a build without ncurses: curses.h was not there, or the feature `top` was switched off. */
#include "cli/top/screen.h"

int plim_screen_open(const char *library, bool has_colour, struct plim_screen **ret_screen, struct plim_error *reterr)
{
    (void)library, (void)has_colour, (void)ret_screen;
    const int code = plim_fail(reterr, PLIM_E_UNSUPPORTED, PLIM_NO_OFFSET, "this build has no 'plimsoll top'");
    plim_error_hint(reterr, "'plimsoll ps' lists the same once; or build Plimsoll with ncurses' headers "
                            "(libncurses-dev) and -Dtop=enabled");
    return code;
}

void plim_screen_close(struct plim_screen *screen) { (void)screen; }

void plim_screen_size(const struct plim_screen *screen, int *ret_lines, int *ret_columns)
{
    (void)screen;
    *ret_lines = *ret_columns = 0;
}

void plim_screen_show(struct plim_screen *screen, const struct plim_grid *grid) { (void)screen, (void)grid; }

enum plim_screen_event plim_screen_wait(struct plim_screen *screen, int ms, uint32_t *ret_key)
{
    (void)screen, (void)ms, (void)ret_key;
    return PLIM_EVENT_END;
}

void plim_screen_obey(void) {}
