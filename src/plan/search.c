/* SPDX-License-Identifier: MIT */
/* Trying setups, searching for the least change that fits, and offering it. */
#include "plan/planner.h"

#include "engine/type.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- trying --- */

enum plim_verdict plim_try(struct plim_planner *p, const struct plim_setup *setup)
{
    if (p->result < 0)
        return PLIM_VERDICT_UNKNOWN;
    p->result = plim_engine_bill(p->engine, setup, p->machine, p->margin, p->bill, p->err);
    return p->result < 0 ? PLIM_VERDICT_UNKNOWN : p->bill->verdict;
}

int plim_need_verdict(const struct plim_bill *bill, struct plim_error *reterr)
{
    if (!bill->is_refused && bill->verdict != PLIM_VERDICT_UNKNOWN)
        return 0;
    const char *why = bill->is_refused ? bill->refusal : bill->caveat;
    const int code = plim_fail(reterr, PLIM_E_UNSUPPORTED, PLIM_NO_OFFSET, "there is no verdict on it: %s",
                               why ? why : "the figures are not known");
    plim_error_hint(reterr, "the bill on one card: plimsoll fit MODEL --quant NAME --card CARD");
    return code;
}

/* --- searching --- */

static bool fits_at(struct plim_planner *p, const struct plim_lever *lever, uint32_t value,
                    const struct plim_setup *from)
{
    struct plim_setup s = *from;
    lever->set(&p->at, value, &s);
    return plim_try(p, &s) == PLIM_VERDICT_FITS;
}

/* The largest value in [low, high) that fits, or 0; a setup that fits at a value fits at all smaller ones. */
static uint32_t largest_that_fits(struct plim_planner *p, const struct plim_lever *lever,
                                  const struct plim_lever_range *range, const struct plim_setup *from)
{
    const uint32_t unit = range->unit ? range->unit : 1;
    uint32_t best = 0, low = range->low, high = range->high, round = 1;
    while (low < high && p->result >= 0) {
        const uint32_t middle = low + (high - low) / 2;
        if (fits_at(p, lever, middle * unit, from)) {
            best = middle;
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    while (range->is_rounded && round * 16 <= best)
        round *= 2;
    return best / round * round * unit;
}

static uint32_t smallest_that_fits(struct plim_planner *p, const struct plim_lever *lever,
                                   const struct plim_lever_range *range, const struct plim_setup *from)
{
    uint32_t low = range->low, high = range->high;
    while (low < high && p->result >= 0) {
        const uint32_t middle = low + (high - low) / 2;
        if (fits_at(p, lever, middle, from))
            high = middle;
        else
            low = middle + 1;
    }
    return high;
}

static uint32_t first_half_that_fits(struct plim_planner *p, const struct plim_lever *lever,
                                     const struct plim_lever_range *range, const struct plim_setup *from)
{
    for (uint32_t value = range->high; value >= range->low && value > 0; value /= 2)
        if (fits_at(p, lever, value, from))
            return value;
    return 0;
}

uint32_t plim_search(struct plim_planner *p, const struct plim_lever *lever, const struct plim_lever_range *range,
                     const struct plim_setup *from)
{
    switch (lever->search) {
    case PLIM_LEVER_LARGEST:
        return largest_that_fits(p, lever, range, from);
    case PLIM_LEVER_SMALLEST:
        return smallest_that_fits(p, lever, range, from);
    case PLIM_LEVER_HALVES:
        return first_half_that_fits(p, lever, range, from);
    case PLIM_LEVER_ONE:
        break;
    }
    return 0;
}

/* --- offering --- */

struct plim_fix *plim_offer(struct plim_planner *p, enum plim_fix_kind kind, const struct plim_lever *lever,
                            const struct plim_setup *setup)
{
    const struct plim_bill *before = p->at.before;
    const uint32_t i = before->limiting_device;
    if (p->result < 0 || p->n == p->max || p->bill->is_refused || i >= p->bill->n_devices)
        return NULL;
    const int64_t freed = (int64_t)before->device[i].need_bytes - (int64_t)p->bill->device[i].need_bytes;
    const bool is_started = before->is_refused && p->bill->verdict != PLIM_VERDICT_NO;
    if (freed <= 0 && !is_started)
        return NULL;
    struct plim_fix *fix = &p->fixes[p->n++];
    memset(fix, 0, sizeof *fix);
    fix->kind = kind;
    fix->lever = lever;
    fix->frees_bytes = freed;
    const struct plim_device_bill *host = &p->bill->device[p->bill->n_devices - 1];
    if (host->is_host && host->total_bytes && plim_device_held_bytes(host) > host->total_bytes)
        fix->host_lacks_bytes = plim_device_held_bytes(host) - host->total_bytes;
    fix->verdict_after = p->bill->verdict;
    fix->tokens_per_s_low = p->bill->tokens_per_s_low;
    fix->tokens_per_s_high = p->bill->tokens_per_s_high;
    fix->setup = *setup;
    fix->n_changes = setup->type->write_changes(&p->at, lever, setup, fix->changes);
    return fix;
}

void plim_offer_slowdown(const struct plim_planner *p, struct plim_fix *fix)
{
    const double before = p->at.before->tokens_per_s_low * p->at.before->tokens_per_s_high;
    if (fix->tokens_per_s_high <= 0 || before <= 0) {
        snprintf(fix->costs, sizeof fix->costs, "slower: part of the model is computed on the CPU");
        return;
    }
    const double ratio = sqrt(fix->tokens_per_s_low * fix->tokens_per_s_high / before);
    if (ratio > 0.99)
        snprintf(fix->costs, sizeof fix->costs, "hardly any speed: %.3g to %.3g tokens/s", fix->tokens_per_s_low,
                 fix->tokens_per_s_high);
    else
        snprintf(fix->costs, sizeof fix->costs, "leaves about %.0f %% of the speed: %.3g to %.3g tokens/s", 100 * ratio,
                 fix->tokens_per_s_low, fix->tokens_per_s_high);
}

bool plim_has_fix(const struct plim_planner *p)
{
    for (uint32_t i = 0; i < p->n; i++)
        if (p->fixes[i].verdict_after == PLIM_VERDICT_FITS)
            return true;
    return false;
}
