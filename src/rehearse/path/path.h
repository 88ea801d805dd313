/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_REHEARSE_PATH_PATH_H
#define PLIMSOLL_REHEARSE_PATH_PATH_H

/* The verdict on the way that a program took: whether it is the one that it would take on a card, to its end. */

#include "receipt/rehearsal.h"
#include "vgpu/core/ledger.h"

/* Once the program has ended: its places, the most important first, and the verdict. */
void plim_path_judge(struct plim_rehearsal *rehearsal);

const char *plim_path_verdict_name(enum plim_path_verdict verdict);
const char *plim_effect_name(enum plim_effect effect);

/* The peak may be higher on a card. */
bool plim_path_is_lower_bound(const struct plim_rehearsal_path *path);

#endif
