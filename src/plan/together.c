/* SPDX-License-Identifier: MIT */
/*
 * Several changes at once, for setups that no single one saves without making them slow. The first pair that fits is
 * offered, the cheapest first: what costs nothing one notices, then the length of the context, then speed. Last, all of
 * it.
 */
#include "plan/planner.h"

#include <stdio.h>

enum part {
    NOTHING = 0,
    CACHE,   /* q8_0, with flash attention */
    FLASH,   /* flash attention where it was ruled out */
    UBATCH,  /* prompts in smaller pieces */
    SLOT,    /* one request at a time */
    CONTEXT, /* as much as fits with the rest */
    EXPERTS, /* as few on the CPU as fit with the rest */
    LAYERS,  /* as many on the GPU as fit with the rest */
};

enum { SMALL_UBATCH = 128 };

/* The second part of a pair is the one that is searched, if any is. Pairs that slow tokens down come last. */
static const struct pair {
    enum part first, second;
} pairs[] = {
    { FLASH, UBATCH },   { SLOT, UBATCH },    { FLASH, SLOT },    { CACHE, UBATCH }, { CACHE, SLOT },
    { FLASH, CONTEXT },  { UBATCH, CONTEXT }, { CACHE, CONTEXT }, { SLOT, CONTEXT }, { CACHE, EXPERTS },
    { UBATCH, EXPERTS }, { CACHE, LAYERS },   { UBATCH, LAYERS }, { SLOT, LAYERS },
};

static bool is_slow(const struct pair *pair) { return pair->second == EXPERTS || pair->second == LAYERS; }

/* Apply a part to a setup; false when there is nothing of it to change. */
static bool apply(struct plim_planner *p, enum part part, struct plim_setup *s)
{
    const struct plim_resolved *r = &p->before->resolved;
    switch (part) {
    case NOTHING:
        return true;
    case CACHE:
        if (r->type_k != PLIM_DTYPE_F16 && r->type_k != PLIM_DTYPE_F32)
            return false;
        s->type_k = s->type_v = PLIM_DTYPE_Q8_0;
        if (s->flash_attn == PLIM_OFF)
            s->flash_attn = PLIM_ON;
        return true;
    case FLASH:
        if (s->flash_attn != PLIM_OFF)
            return false;
        s->flash_attn = PLIM_ON;
        return true;
    case UBATCH:
        s->n_ubatch = SMALL_UBATCH;
        return r->n_ubatch > SMALL_UBATCH;
    case SLOT:
        s->n_parallel = 1;
        if (s->n_ctx && !r->kv_unified)
            s->n_ctx = r->n_ctx_seq;
        return r->n_seq > 1;
    case CONTEXT:
        if (!plim_can_change_context(p) || r->n_ctx <= PLIM_SMALL_CONTEXT)
            return false;
        s->n_ctx = plim_search_context(p, s);
        return s->n_ctx >= PLIM_SMALL_CONTEXT; /* a shorter one saves little and is worth little */
    case EXPERTS:
        if (!plim_can_move_experts(p))
            return false;
        s->n_cpu_moe = plim_search_experts(p, s);
        return true;
    case LAYERS:
        if (!plim_can_move_layers(p))
            return false;
        s->n_gpu_layers = (int32_t)plim_search_layers(p, s);
        return s->n_gpu_layers > 0;
    }
    return false;
}

/* --- in words --- */

static void add(struct plim_fix *fix, size_t *n, const char *format, unsigned value)
{
    if (*n >= sizeof fix->change)
        return;
    *n += (size_t)snprintf(fix->change + *n, sizeof fix->change - *n, "%s", *n ? ", " : "");
    if (*n < sizeof fix->change)
        *n += (size_t)snprintf(fix->change + *n, sizeof fix->change - *n, format, value);
}

static void describe(const struct plim_planner *p, struct plim_fix *fix)
{
    const struct plim_setup *s = &fix->setup, *from = p->setup;
    size_t n = 0;
    if (s->n_ctx != from->n_ctx)
        add(fix, &n, "a context of %u tokens", s->n_ctx);
    if (s->type_k != from->type_k)
        add(fix, &n, "a q8_0 cache", 0);
    if (s->flash_attn != from->flash_attn)
        add(fix, &n, "flash attention", 0);
    if (s->n_ubatch != from->n_ubatch)
        add(fix, &n, "a micro-batch of %u", s->n_ubatch);
    if (s->n_parallel != from->n_parallel)
        add(fix, &n, "one slot", 0);
    if (s->n_cpu_moe != from->n_cpu_moe)
        add(fix, &n, "the experts of %u layers on the CPU", s->n_cpu_moe);
    if (s->n_gpu_layers != from->n_gpu_layers)
        add(fix, &n, "%u layers on the GPU", (unsigned)s->n_gpu_layers);
    if (s->n_cpu_moe != from->n_cpu_moe || s->n_gpu_layers != from->n_gpu_layers)
        plim_offer_slowdown(p, fix);
    else
        snprintf(fix->costs, sizeof fix->costs, "what each of them costs; tokens come as fast as before");
}

static bool offer(struct plim_planner *p, const struct plim_setup *s)
{
    plim_try(p, s);
    struct plim_fix *fix = plim_offer(p, PLIM_FIX_TOGETHER, s);
    if (fix)
        describe(p, fix);
    return fix != NULL;
}

/* --- */

static bool try_pair(struct plim_planner *p, const struct pair *pair)
{
    struct plim_setup s = *p->setup;
    return apply(p, pair->first, &s) && apply(p, pair->second, &s) && plim_try(p, &s) == PLIM_VERDICT_FITS &&
           offer(p, &s);
}

/* A small context, a quantized cache, one slot; then as few experts, or as many layers, as it takes. */
static void try_all(struct plim_planner *p)
{
    struct plim_setup s = *p->setup;
    if (p->before->resolved.n_ctx > PLIM_SMALL_CONTEXT && plim_can_change_context(p))
        s.n_ctx = PLIM_SMALL_CONTEXT;
    apply(p, CACHE, &s);
    s.n_parallel = 1;
    if (p->before->resolved.n_seq == 1)
        s.n_parallel = p->setup->n_parallel;
    if (plim_try(p, &s) != PLIM_VERDICT_FITS)
        apply(p, EXPERTS, &s);
    if (plim_try(p, &s) != PLIM_VERDICT_FITS && plim_can_move_layers(p))
        s.n_gpu_layers = (int32_t)plim_search_layers(p, &s);
    offer(p, &s);
}

void plim_fix_together(struct plim_planner *p)
{
    const bool has_fix = plim_has_fix(p);
    if (plim_has_mild_fix(p))
        return;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs && p->result >= 0; i++)
        if (!(is_slow(&pairs[i]) && has_fix) && try_pair(p, &pairs[i]))
            return;
    if (!has_fix && p->result >= 0)
        try_all(p);
}
