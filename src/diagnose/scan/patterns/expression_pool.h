/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_DIAGNOSE_SCAN_PATTERNS_EXPRESSION_POOL_H
#define PLIMSOLL_DIAGNOSE_SCAN_PATTERNS_EXPRESSION_POOL_H

/* Expressions that several patterns have in common, as those of a grammar: each is compiled once. */

#include "diagnose/scan/patterns/expression.h"

enum { PLIM_EXPRESSION_POOL_LISTS = 256 };

struct plim_pooled_expression;

/* All zero: empty. */
struct plim_expression_pool {
    struct plim_pooled_expression *lists[PLIM_EXPRESSION_POOL_LISTS];
};

void plim_expression_pool_done(struct plim_expression_pool *pool);

/* That of this text, which the pool keeps by its address. NULL: out of memory. */
struct plim_expression *plim_expression_pool_get(struct plim_expression_pool *pool, const char *text);

#endif
