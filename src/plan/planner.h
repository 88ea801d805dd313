/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_PLAN_PLANNER_H
#define PLIMSOLL_PLAN_PLANNER_H

/* What the files of this folder share behind plimsoll/plan.h: trying a setup, searching for one, offering it. */

#include "plimsoll/plan.h"

struct plim_planner {
    struct plim_engine *engine;
    const struct plim_setup *setup;
    const struct plim_machine *machine;
    const struct plim_margin *margin;
    const struct plim_bill *before;
    struct plim_bill *bill; /* of the setup tried last */
    struct plim_fix *fixes;
    uint32_t max, n;
    struct plim_error *err;
    int result; /* the first failure */
};

/* The verdict on a setup, whose bill is then in p->bill. */
enum plim_verdict plim_try(struct plim_planner *p, const struct plim_setup *setup);

/*
 * Offer the setup that was tried last; NULL when it frees nothing where it matters or there is no more room. The
 * caller says what it changes and what it costs.
 */
struct plim_fix *plim_offer(struct plim_planner *p, enum plim_fix_kind kind, const struct plim_setup *setup);

/* The speed a fix leaves, as part of what there was, into its costs. */
void plim_offer_slowdown(const struct plim_planner *p, struct plim_fix *fix);

/* True when one of the fixes so far makes it fit; and when one does at full speed, with a context of some use. */
bool plim_has_fix(const struct plim_planner *p);
bool plim_has_mild_fix(const struct plim_planner *p);

/* --- searching: the least change that fits --- */

/* The largest context that fits, as a round number where that costs little; 0: none does. */
uint32_t plim_search_context(struct plim_planner *p, const struct plim_setup *from);

/* The most layers on the GPU that fit; 0: not even one does. */
uint32_t plim_search_layers(struct plim_planner *p, const struct plim_setup *from);

/* The fewest layers without their experts that fit; all of them when not even that does. */
uint32_t plim_search_experts(struct plim_planner *p, const struct plim_setup *from);

bool plim_can_change_context(const struct plim_planner *p);
bool plim_can_move_experts(const struct plim_planner *p);
bool plim_can_move_layers(const struct plim_planner *p);

/* --- fixes with a file of their own --- */

void plim_fix_together(struct plim_planner *p); /* two changes, or all, when no single one is enough */
void plim_fix_quant(struct plim_planner *p);    /* another quant of the same model */

enum { PLIM_CONTEXT_STEP = 256, PLIM_LEAST_CONTEXT = 1024, PLIM_SMALL_CONTEXT = 4096, PLIM_SMALL_UBATCH = 128 };

#endif
