/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_REPORT_PAINT_H
#define PLIMSOLL_REPORT_PAINT_H

/* Colours of a terminal. */

#include "report/report.h"

enum plim_colour {
    PLIM_PLAIN = 0,
    PLIM_BOLD,
    PLIM_DIM,
    PLIM_RED,
    PLIM_GREEN,
    PLIM_YELLOW,
    PLIM_BLUE,
    PLIM_MAGENTA,
    PLIM_CYAN,
    PLIM_COLOUR_MAX_
};

/* The sequence that switches a colour on, PLIM_PLAIN all of them off; "" when the style has no colours. */
const char *plim_paint(const struct plim_style *style, enum plim_colour colour);

/* True for a sequence that plim_paint() returned: known by its place, so that no text of a file can be one. */
bool plim_paint_is(const char *text);

const char *plim_paint_verdict(const struct plim_style *style, enum plim_verdict verdict);

#endif
