/* SPDX-License-Identifier: MIT */
/*
 * Fixes in the order they are offered: other processes, the engine's levers one by one, then several at once, then
 * another quantization. A lever with many values (context, layers, experts) gets the least change that makes the setup
 * fit; when even the largest does not, it is offered with the verdict it gets.
 */
#include "plan/planner.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/units.h"
#include "engine/type.h"

#include <stdio.h>
#include <string.h>

const char *plim_fix_name(const struct plim_fix *fix)
{
    static const char *const names[PLIM_FIX_MAX_] = { "others", "lever", "together", "quant", "end" };
    return fix->lever ? fix->lever->name : names[fix->kind < PLIM_FIX_MAX_ ? fix->kind : PLIM_FIX_OTHERS];
}

static void pull(struct plim_planner *p, const struct plim_lever *lever)
{
    struct plim_setup s = *p->at.setup;
    struct plim_lever_range range;
    if (!lever->range(&p->at, &s, &range))
        return;
    uint32_t value = plim_search(p, lever, &range, p->at.setup);
    const bool is_fallback = value == 0;
    if (is_fallback)
        value = range.fallback;
    lever->set(&p->at, value, &s);
    const enum plim_verdict verdict = plim_try(p, &s);
    if (is_fallback && lever->needs_a_verdict && verdict == PLIM_VERDICT_NO)
        return;
    if (lever->works && !lever->works(p->bill))
        return;
    struct plim_fix *fix = plim_offer(p, PLIM_FIX_LEVER, lever, &s);
    if (!fix)
        return;
    lever->describe(&p->at, &s, fix);
    if (lever->is_slow)
        plim_offer_slowdown(p, fix);
}

/* --- all of them --- */

/* Memory that moved to the host may not fit there. */
static void say_what_host_lacks(struct plim_fix *fix)
{
    char lacks[PLIM_SIZE_TEXT];
    const size_t n = strlen(fix->costs);
    if (fix->host_lacks_bytes && n < sizeof fix->costs)
        snprintf(fix->costs + n, sizeof fix->costs - n, "; %s more RAM than available",
                 plim_size_text(lacks, fix->host_lacks_bytes));
}

/* Where nothing fits: the fixes that free a good part of the missing bytes, and in any case the one that frees most. */
static bool frees_much(const struct plim_planner *p, const struct plim_fix *fix)
{
    const int64_t missing = -plim_device_left_bytes(&p->at.before->device[p->at.before->limiting_device]);
    int64_t most = 0;
    for (uint32_t i = 0; i < p->n; i++)
        most = p->fixes[i].frees_bytes > most ? p->fixes[i].frees_bytes : most;
    return fix->frees_bytes == most || fix->frees_bytes >= missing / 10;
}

/* Where a fix fits, those that do not are dropped; and a tight setup that stays tight has gained nothing. */
static void keep_the_useful(struct plim_planner *p)
{
    struct plim_fix *const end = p->fixes + p->n, *kept = p->fixes;
    enum plim_verdict worst = PLIM_VERDICT_NO;
    for (uint32_t i = 0; i < p->n; i++)
        if (p->fixes[i].verdict_after == PLIM_VERDICT_FITS || p->fixes[i].verdict_after == PLIM_VERDICT_TIGHT)
            worst = PLIM_VERDICT_TIGHT;
    if (p->at.before->verdict == PLIM_VERDICT_TIGHT)
        worst = plim_has_fix(p) ? PLIM_VERDICT_FITS : PLIM_VERDICT_TIGHT;
    for (struct plim_fix *fix = p->fixes; fix < end; fix++)
        if (worst == PLIM_VERDICT_NO ? frees_much(p, fix) : fix->verdict_after <= worst)
            *kept++ = *fix;
    for (struct plim_fix *fix = p->fixes; fix < kept; fix++)
        say_what_host_lacks(fix);
    p->n = (uint32_t)(kept - p->fixes);
}

int plim_plan_fixes(struct plim_engine *engine, const struct plim_setup *setup, const struct plim_machine *machine,
                    const struct plim_margin *margin, const struct plim_bill *bill, struct plim_fix *ret_fixes,
                    uint32_t max, uint32_t *ret_n, struct plim_error *reterr)
{
    struct plim_planner p = {
        .engine = engine,
        .at = { engine, setup, bill },
        .machine = machine,
        .margin = margin,
        .fixes = ret_fixes,
        .max = max,
        .err = reterr,
    };
    *ret_n = 0;
    if (bill->verdict != PLIM_VERDICT_NO && bill->verdict != PLIM_VERDICT_TIGHT)
        return 0;
    p.bill = plim_alloc(1, sizeof *p.bill);
    if (!p.bill)
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    plim_fix_others(&p);
    for (const struct plim_lever *const *lever = setup->type->levers; lever && *lever && p.result >= 0; lever++)
        pull(&p, *lever);
    if (p.result >= 0)
        plim_fix_together(&p);
    if (p.result >= 0 && setup->type->has_quant_recipes)
        plim_fix_quant(&p);
    plim_free(p.bill);
    if (p.result < 0)
        return p.result;
    keep_the_useful(&p);
    *ret_n = p.n;
    return 0;
}
