/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_REHEARSE_POOL_H
#define PLIMSOLL_REHEARSE_POOL_H

/* Frameworks that take most of a card at once, whatever the program needs. */

#include "receipt/rehearsal.h"

/* One request for at least 70 % of a card, by the library of such a framework. Once the call sites are known. */
void plim_pool_find(struct plim_rehearsal *rehearsal);

#endif
