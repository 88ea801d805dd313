/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_STEP_FIT_FORM_CAPPED_H
#define PLIMSOLL_STEP_FIT_FORM_CAPPED_H

#include "step/fit/form.h"

/*
 * A formula up to an end: two recordings or more have the largest size, all others follow a formula exactly, and that
 * is not below the end where it was met. *ret_is_capped: there is one.
 */
PLIM_MUST_CHECK int plim_step_form_capped(const struct plim_step_point *points, const uint64_t *bytes, size_t n_points,
                                          uint32_t n_variables, struct plim_step_form *ret_form, bool *ret_is_capped,
                                          struct plim_error *reterr);

#endif
