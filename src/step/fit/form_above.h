/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_STEP_FIT_FORM_ABOVE_H
#define PLIMSOLL_STEP_FIT_FORM_ABOVE_H

#include "step/fit/basis.h"
#include "step/fit/form.h"

/* The nearest form that is below none of the sizes: a product of variables, alone or with a constant. */
void plim_step_form_above(const struct plim_step_basis *basis, const uint64_t *bytes, struct plim_step_form *ret_form);

#endif
