/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_DIAGNOSE_ORDER_H
#define PLIMSOLL_DIAGNOSE_ORDER_H

/* Which finding is the root, which follow from it, and which stand apart. */

#include "diagnose/finding.h"

/*
 * Copy list[0..n), which is in the order of the log, into ret_ordered: the root, then what follows from it (is_related
 * is set), then the others.
 */
void plim_findings_sort(const struct plim_finding *const *list, uint32_t n, struct plim_finding *ret_ordered);

#endif
