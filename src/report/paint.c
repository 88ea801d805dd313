/* SPDX-License-Identifier: MIT */
#include "report/paint.h"

#include <stdint.h>

static const char codes[PLIM_COLOUR_MAX_][8] = {
    [PLIM_PLAIN] = "\033[0m", [PLIM_BOLD] = "\033[1m",     [PLIM_DIM] = "\033[2m",
    [PLIM_RED] = "\033[31m",  [PLIM_GREEN] = "\033[32m",   [PLIM_YELLOW] = "\033[33m",
    [PLIM_BLUE] = "\033[34m", [PLIM_MAGENTA] = "\033[35m", [PLIM_CYAN] = "\033[36m",
};

const char *plim_paint(const struct plim_style *style, enum plim_colour colour)
{
    return style->has_colour ? codes[colour] : "";
}

bool plim_paint_is(const char *text) { return (uintptr_t)text - (uintptr_t)codes < sizeof codes; }

const char *plim_paint_verdict(const struct plim_style *style, enum plim_verdict verdict)
{
    return plim_paint(style, verdict == PLIM_VERDICT_FITS    ? PLIM_GREEN
                             : verdict == PLIM_VERDICT_TIGHT ? PLIM_YELLOW
                                                             : PLIM_RED);
}
