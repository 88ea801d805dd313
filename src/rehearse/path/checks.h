/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_REHEARSE_PATH_CHECKS_H
#define PLIMSOLL_REHEARSE_PATH_CHECKS_H

/* Conditions that only look whether all is well: `if not isfinite(loss):`, `assert x.all()`. */

#include "rehearse/path/python_source.h"

enum plim_check_value {
    PLIM_CHECK_MIXED,  /* a flag that was set sometimes */
    PLIM_CHECK_SET,    /* a flag that was set each time */
    PLIM_CHECK_UNSET,  /* and one that never was */
    PLIM_CHECK_NUMBER, /* a number: a guess is finite */
};

/* Whether the condition at this line is such a check, and all was well: so it would be on a card. */
bool plim_check_has_passed(const struct plim_python_source *source, uint32_t line, enum plim_check_value value);

#endif
