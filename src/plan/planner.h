/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_PLAN_PLANNER_H
#define PLIMSOLL_PLAN_PLANNER_H

/* Shared by the files of this folder: trying a setup, searching for one, offering it. */

#include "engine/lever.h"

struct plim_planner {
    struct plim_engine *engine;
    struct plim_situation at; /* the given setup, and its bill */
    const struct plim_machine *machine;
    const struct plim_margin *margin;
    struct plim_bill *bill; /* of the setup tried last */
    struct plim_fix *fixes;
    uint32_t max, n;
    struct plim_error *err;
    int result; /* the first failure */
};

/* The verdict on a setup, whose bill is then in p->bill. */
enum plim_verdict plim_try(struct plim_planner *p, const struct plim_setup *setup);

/* An error for a bill that memory does not decide: the engine refuses the setup, or its rules are not known. */
int plim_need_verdict(const struct plim_bill *bill, struct plim_error *reterr);

/*
 * The value of a lever that costs least and fits, in a setup in which others may have been pulled already. When no
 * value fits: 0, but of PLIM_LEVER_SMALLEST the largest.
 */
uint32_t plim_search(struct plim_planner *p, const struct plim_lever *lever, const struct plim_lever_range *range,
                     const struct plim_setup *from);

/*
 * Offer the setup that was tried last; NULL when it frees nothing on the limiting device, or the list is full. The
 * caller writes the change and its costs. lever NULL: a fix of another kind.
 */
struct plim_fix *plim_offer(struct plim_planner *p, enum plim_fix_kind kind, const struct plim_lever *lever,
                            const struct plim_setup *setup);

/* The speed a fix leaves, as part of what there was, into its costs. */
void plim_offer_slowdown(const struct plim_planner *p, struct plim_fix *fix);

/* True when one of the fixes so far makes it fit. */
bool plim_has_fix(const struct plim_planner *p);

/* --- fixes with a file of their own --- */

void plim_fix_others(struct plim_planner *p);   /* other processes ended */
void plim_fix_together(struct plim_planner *p); /* two changes, or all, when no single one is enough */
void plim_fix_quant(struct plim_planner *p);    /* another quantization of the same model */

#endif
