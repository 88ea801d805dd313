/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_REHEARSE_OUTSIDERS_H
#define PLIMSOLL_REHEARSE_OUTSIDERS_H

/* Processes of a rehearsal that cannot take part in it: why no card was used. */

#include "receipt/rehearsal.h"
#include "rehearse/processes/tree.h"

/* Among the first n members; PLIM_OUTSIDER_NONE: none was seen. Reads two files for each. */
enum plim_outsider plim_outsiders_find(const struct plim_tree *tree, size_t n);

#endif
