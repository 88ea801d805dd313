/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_STEP_CHOOSE_H
#define PLIMSOLL_STEP_CHOOSE_H

/*
 * The shape of a step at a point. The nearest recorded points below it in every variable, and those above it, have to
 * be of one shape, and no other shape may lie farther out where that one ends; else the order of events there is not
 * known. Beyond all recorded values a point has the shape of the nearest edge.
 */

#include "base/error.h"
#include "step/step.h"

enum plim_step_source {
    PLIM_STEP_RECORDED, /* the point was recorded */
    PLIM_STEP_BETWEEN,  /* every variable lies between recorded values */
    PLIM_STEP_BEYOND,   /* some lie outside of them */
};

struct plim_step_choice {
    const struct plim_step_shape *shape;
    enum plim_step_source source;
    size_t point;    /* of the shape: the recorded one; SIZE_MAX: none */
    double distance; /* the factor between the value that lies farthest beyond and the nearest recorded one; else 1 */
};

/*
 * The shape that the program has at a point. PLIM_E_UNSUPPORTED where the recordings do not say: between two shapes
 * ("another shape from B=5: record it again"), for another value of a variable that has a single one, and where a
 * variable never was the only one that changed.
 */
PLIM_MUST_CHECK int plim_step_choose(const struct plim_step *step, const struct plim_step_point *point,
                                     struct plim_step_choice *ret_choice, struct plim_error *reterr);

/* "B=4 S=512"; "" without variables. Returns text. */
char *plim_step_point_text(const struct plim_step *step, const struct plim_step_point *point, char *text, size_t size);

#endif
