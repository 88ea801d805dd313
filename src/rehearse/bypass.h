/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_REHEARSE_BYPASS_H
#define PLIMSOLL_REHEARSE_BYPASS_H

/* NVIDIA's own libraries that a process of the rehearsal loaded beside the virtual ones in the folder `libraries`. */

#include "receipt/rehearsal.h"
#include "rehearse/processes/tree.h"

/* Each is a warning of the rehearsal. */
void plim_bypass_find(const struct plim_tree *tree, const char *libraries, struct plim_rehearsal *rehearsal);

#endif
