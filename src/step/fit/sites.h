/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_STEP_FIT_SITES_H
#define PLIMSOLL_STEP_FIT_SITES_H

/* Texts and sites of recordings, in the tables of one step. */

#include "step/step.h"

/* False: out of memory. The text "" is at 0. */
bool plim_step_add_text(struct plim_step *step, const char *text, uint32_t *ret_offset);

/* The numbers that the sites of another step have in this one, where they are added if they are not there yet; freed
 * with plim_free(). NULL: out of memory. */
uint32_t *plim_step_add_sites(struct plim_step *step, const struct plim_step *other);

/* When all are there: loops whose pieces have another size in each recording have no end that sizes could meet. */
void plim_step_settle_sites(struct plim_step *step);

#endif
