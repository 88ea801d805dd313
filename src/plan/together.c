/* SPDX-License-Identifier: MIT */
/*
 * Several changes at once, for setups that no single change makes fit at full speed. The engine's pairs come in the
 * order of their cost: free ones, then a shorter context, then lower speed. The first that fits is offered. Where only
 * lower speed fits, an ordinary context buys some of it back. The last resort changes everything.
 */
#include "plan/planner.h"

#include "base/error.h"
#include "engine/type.h"

#include <stdio.h>
#include <string.h>

/*
 * Pull a lever beside others; false when it has nothing to change, or is not worth its price: a context too short for a
 * conversation does not help someone who needs a long one.
 */
static bool pull_too(struct plim_planner *p, const struct plim_lever *lever, struct plim_setup *s)
{
    struct plim_lever_range range;
    if (!lever->range(&p->at, s, &range) || (range.small && range.now <= range.small))
        return false;
    uint32_t value = range.fallback;
    if (lever->search == PLIM_LEVER_HALVES) {
        value = range.small;
    } else if (lever->search != PLIM_LEVER_ONE) {
        value = plim_search(p, lever, &range, s);
        if (value == 0)
            return false;
    }
    lever->set(&p->at, value, s);
    return lever->search != PLIM_LEVER_LARGEST || value >= range.small;
}

/* --- in words --- */

/* The changes so far; the last two are joined when all are there. */
struct list {
    char *text;
    size_t size, n, last_comma;
};

static void add(struct list *list, const char *text)
{
    if (list->n + 2 + strlen(text) >= list->size)
        return;
    if (list->n) {
        list->last_comma = list->n;
        list->n += (size_t)snprintf(list->text + list->n, list->size - list->n, ", ");
    }
    list->n += (size_t)snprintf(list->text + list->n, list->size - list->n, "%s", text);
}

/* "a, b" to "a and b" */
static void join_last(struct list *list)
{
    static const char and[] = " and ";
    const size_t more = strlen(and) - strlen(", "), rest = list->last_comma + strlen(", ");
    if (list->last_comma == 0 || list->n + more >= list->size)
        return;
    memmove(list->text + rest + more, list->text + rest, list->n - rest + 1);
    memcpy(list->text + list->last_comma, and, strlen(and));
}

static void describe(const struct plim_planner *p, struct plim_fix *fix)
{
    struct list list = { fix->change, sizeof fix->change, 0, 0 };
    bool is_slow = false;
    for (const struct plim_lever *const *lever = fix->setup.type->levers; *lever; lever++) {
        char text[96];
        if (!(*lever)->list(&p->at, &fix->setup, p->bill, text, sizeof text))
            continue;
        add(&list, text);
        is_slow = is_slow || (*lever)->is_slow;
    }
    join_last(&list);
    if (is_slow)
        plim_offer_slowdown(p, fix);
    else
        snprintf(fix->costs, sizeof fix->costs, "those of each change%s",
                 p->at.setup->type->model_kind == PLIM_MODEL_UNKNOWN ? "; tokens come as fast as before" : "");
}

/* Offer the setup that was tried last. */
static bool offer(struct plim_planner *p, const struct plim_setup *s)
{
    struct plim_fix *fix = plim_offer(p, PLIM_FIX_TOGETHER, NULL, s);
    if (fix)
        describe(p, fix);
    return fix != NULL;
}

/* --- pairs --- */

static bool try_pair(struct plim_planner *p, const struct plim_lever_pair *pair)
{
    struct plim_setup s = *p->at.setup;
    return pull_too(p, pair->first, &s) && pull_too(p, pair->second, &s) && plim_try(p, &s) == PLIM_VERDICT_FITS &&
           offer(p, &s);
}

/* The first pair that fits, of those that slow tokens down or of the others. */
static bool try_pairs(struct plim_planner *p, bool are_slow)
{
    for (const struct plim_lever_pair *pair = p->at.setup->type->pairs; pair && pair->first && p->result >= 0; pair++)
        if (!pair->spares && pair->second->is_slow == are_slow && try_pair(p, pair))
            return true;
    return false;
}

/* --- pairs that spare some of their second change --- */

/* The value that a lever has in the fix that it is by itself, 1 where nothing is left to pull; 0: no value fits. */
static uint32_t value_alone(const struct plim_planner *p, const struct plim_lever *lever)
{
    struct plim_lever_range range;
    for (uint32_t i = 0; i < p->n; i++)
        if (p->fixes[i].lever == lever && p->fixes[i].verdict_after == PLIM_VERDICT_FITS)
            return lever->range(&p->at, &p->fixes[i].setup, &range) ? range.now : 1;
    return 0;
}

static bool try_sparing(struct plim_planner *p, const struct plim_lever_pair *pair)
{
    struct plim_setup s = *p->at.setup;
    struct plim_lever_range range;
    const uint32_t alone = value_alone(p, pair->second);
    if (!pull_too(p, pair->first, &s) || !pair->second->range(&p->at, &s, &range) || alone + 1 >= range.high)
        return false;
    range.low = alone + 1;
    const uint32_t value = plim_search(p, pair->second, &range, &s);
    if (value <= alone)
        return false;
    pair->second->set(&p->at, value, &s);
    return plim_try(p, &s) == PLIM_VERDICT_FITS && offer(p, &s);
}

/* Of each second lever the first pair that fits, unless a first one is enough by itself. */
static void spare(struct plim_planner *p)
{
    const struct plim_lever_pair *const pairs = p->at.setup->type->pairs;
    const struct plim_lever *done = NULL;
    for (const struct plim_lever_pair *pair = pairs; pair && pair->first; pair++)
        if (pair->spares && value_alone(p, pair->first))
            return;
    for (const struct plim_lever_pair *pair = pairs; pair && pair->first && p->result >= 0; pair++)
        if (pair->spares && pair->second != done && try_sparing(p, pair))
            done = pair->second;
}

/* --- an ordinary context, to get speed back --- */

/* The lever that gives most of its speed back: the first slow one that can be pulled. */
static const struct plim_lever *slow_lever(const struct plim_planner *p, struct plim_lever_range *ret_range)
{
    for (const struct plim_lever *const *lever = p->at.setup->type->levers; *lever; lever++)
        if ((*lever)->is_slow && (*lever)->range(&p->at, p->at.setup, ret_range))
            return *lever;
    return NULL;
}

/* Set what can be ordinary and is more than that; true when there was something. */
static bool make_ordinary(struct plim_planner *p, struct plim_setup *s)
{
    bool is_changed = false;
    for (const struct plim_lever *const *lever = p->at.setup->type->levers; *lever; lever++) {
        struct plim_lever_range range;
        if (!(*lever)->range(&p->at, s, &range) || range.ordinary == 0 || range.ordinary >= range.now)
            continue;
        (*lever)->set(&p->at, range.ordinary, s);
        is_changed = true;
    }
    return is_changed;
}

/* The cheap levers, those worth their price where speed is at stake. */
static void pull_cheap(struct plim_planner *p, struct plim_setup *s)
{
    for (const struct plim_lever *const *lever = p->at.setup->type->levers; *lever; lever++)
        if ((*lever)->is_cheap)
            pull_too(p, *lever, s);
}

/* An ordinary context and a quantized cache, when they keep a tenth of the layers from the CPU. */
static bool try_ordinary(struct plim_planner *p)
{
    struct plim_setup s = *p->at.setup;
    struct plim_lever_range range;
    const struct plim_lever *slow = slow_lever(p, &range);
    if (!make_ordinary(p, &s))
        return false;
    pull_cheap(p, &s);
    if (!slow || !pull_too(p, slow, &s) || plim_try(p, &s) != PLIM_VERDICT_FITS)
        return false;
    for (uint32_t i = 0; i < p->n; i++) {
        const struct plim_fix *fix = &p->fixes[i];
        const int64_t more = (int64_t)slow->value_of(&fix->setup) - slow->value_of(&s);
        const int64_t gained = slow->search == PLIM_LEVER_SMALLEST ? more : -more;
        const bool is_alike = fix->lever == slow || fix->kind == PLIM_FIX_TOGETHER;
        if (is_alike && fix->verdict_after == PLIM_VERDICT_FITS && gained < ((int64_t)range.all + 9) / 10)
            return false;
    }
    return offer(p, &s);
}

/* --- everything --- */

/* A small context, a quantized cache, one slot; then as few experts, or as many layers, as it takes. */
static void try_all(struct plim_planner *p)
{
    struct plim_setup s = *p->at.setup;
    const struct plim_lever *const *levers = p->at.setup->type->levers;
    for (const struct plim_lever *const *lever = levers; *lever; lever++) {
        struct plim_lever_range range;
        if ((*lever)->is_last_resort && (*lever)->range(&p->at, &s, &range) &&
            !(range.small && range.now <= range.small))
            (*lever)->set(&p->at, range.small, &s);
    }
    for (const struct plim_lever *const *lever = levers; *lever; lever++)
        if ((*lever)->is_slow && plim_try(p, &s) != PLIM_VERDICT_FITS)
            pull_too(p, *lever, &s);
    plim_try(p, &s);
    offer(p, &s);
}

/* --- all three --- */

static bool is_mild(const struct plim_planner *p, const struct plim_fix *fix)
{
    struct plim_lever_range range;
    if (!fix->lever || !fix->lever->range(&p->at, p->at.setup, &range))
        return true;
    const bool is_short = fix->lever->value_of && range.small && fix->lever->value_of(&fix->setup) < range.small;
    return !fix->lever->is_slow && !(is_short && range.now > range.small);
}

/* True when a fix so far makes it fit at full speed, with a context of some use. */
static bool has_mild_fix(const struct plim_planner *p)
{
    for (uint32_t i = 0; i < p->n; i++)
        if (p->fixes[i].verdict_after == PLIM_VERDICT_FITS && is_mild(p, &p->fixes[i]))
            return true;
    return false;
}

void plim_fix_together(struct plim_planner *p)
{
    const bool has_fix = plim_has_fix(p);
    spare(p);
    if (!p->at.setup->type->levers || has_mild_fix(p) || try_pairs(p, false))
        return;
    const bool has_slow = has_fix || try_pairs(p, true);
    if (!try_ordinary(p) && !has_slow)
        try_all(p);
}
