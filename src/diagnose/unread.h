/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_DIAGNOSE_UNREAD_H
#define PLIMSOLL_DIAGNOSE_UNREAD_H

/* The lines that were to be read and were not, because the log takes more steps than it may (scan/budget.h). */

#include "diagnose/finding.h"

void plim_unread_reset(struct plim_unread *unread);

/* Lines from one to another. They come in order; what was added last may come again. */
void plim_unread_add(struct plim_unread *unread, uint64_t from, uint64_t to);

/* Something was read: the next line that is not begins another range. */
void plim_unread_close(struct plim_unread *unread);

#endif
