/* SPDX-License-Identifier: MIT */
#include "report/paint.h"

const char *plim_paint(const struct plim_style *style, enum plim_colour colour)
{
    static const char *const codes[PLIM_COLOUR_MAX_] = {
        [PLIM_PLAIN] = "\033[0m", [PLIM_BOLD] = "\033[1m",     [PLIM_DIM] = "\033[2m",
        [PLIM_RED] = "\033[31m",  [PLIM_GREEN] = "\033[32m",   [PLIM_YELLOW] = "\033[33m",
        [PLIM_BLUE] = "\033[34m", [PLIM_MAGENTA] = "\033[35m", [PLIM_CYAN] = "\033[36m",
    };
    return style->has_colour ? codes[colour] : "";
}

const char *plim_paint_verdict(const struct plim_style *style, enum plim_verdict verdict)
{
    return plim_paint(style, verdict == PLIM_VERDICT_FITS    ? PLIM_GREEN
                             : verdict == PLIM_VERDICT_TIGHT ? PLIM_YELLOW
                                                             : PLIM_RED);
}
