/* SPDX-License-Identifier: MIT */
/*
 * Several changes at once, for setups that no single one saves without making them slow. The first pair that fits is
 * offered, the cheapest first: what costs nothing one notices, then the length of the context, then speed. Where only
 * speed is left to give, a context of ordinary length buys some of it back. Last, all of it.
 */
#include "plan/planner.h"

#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

enum {
    ORDINARY_CONTEXT =
        8192, /* enough for a conversation; llama.cpp without -c takes all that the model was trained for */
};

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
        s->n_ubatch = PLIM_SMALL_UBATCH;
        return r->n_ubatch > PLIM_SMALL_UBATCH;
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
    case LAYERS: {
        if (!plim_can_move_layers(p))
            return false;
        const uint32_t most = plim_search_layers(p, s);
        if (most > 0)
            s->n_gpu_layers = (int32_t)most;
        return most > 0;
    }
    }
    return false;
}

/* --- in words --- */

/* The changes so far; the last two are joined when all are there. */
struct list {
    char *text;
    size_t size, n, last_comma;
};

static void PLIM_PRINTF(2, 3) add(struct list *list, const char *format, ...)
{
    va_list arguments;
    if (list->n + 2 >= list->size)
        return;
    if (list->n) {
        list->last_comma = list->n;
        list->n += (size_t)snprintf(list->text + list->n, list->size - list->n, ", ");
    }
    va_start(arguments, format);
    list->n += (size_t)vsnprintf(list->text + list->n, list->size - list->n, format, arguments);
    va_end(arguments);
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
    const struct plim_setup *s = &fix->setup, *from = p->setup;
    const uint32_t n_slots = s->client == PLIM_CLIENT_OLLAMA ? p->bill->resolved.n_seq : 1; /* as in fixes.c */
    struct list list = { fix->change, sizeof fix->change, 0, 0 };
    if (s->n_ctx != from->n_ctx)
        add(&list, "a context of %u tokens", s->n_ctx / n_slots);
    if (s->type_k != from->type_k)
        add(&list, "a q8_0 cache");
    if (s->flash_attn != from->flash_attn)
        add(&list, "flash attention");
    if (s->n_ubatch != from->n_ubatch)
        add(&list, "a micro-batch of %u", s->n_ubatch);
    if (s->n_parallel != from->n_parallel)
        add(&list, "one slot");
    if (s->n_cpu_moe != from->n_cpu_moe)
        add(&list, "the experts of %u layers on the CPU", s->n_cpu_moe);
    if (s->n_gpu_layers != from->n_gpu_layers)
        add(&list, "%u layers on the GPU", (unsigned)s->n_gpu_layers);
    join_last(&list);
    if (s->n_cpu_moe != from->n_cpu_moe || s->n_gpu_layers != from->n_gpu_layers)
        plim_offer_slowdown(p, fix);
    else
        snprintf(fix->costs, sizeof fix->costs, "what each of them costs; tokens come as fast as before");
}

/* Offer the setup that was tried last. */
static bool offer(struct plim_planner *p, const struct plim_setup *s)
{
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

/* An ordinary context and a quantized cache, when they keep a tenth of the layers from the CPU. */
static bool try_ordinary(struct plim_planner *p)
{
    const struct plim_resolved *r = &p->before->resolved;
    const bool has_experts = plim_can_move_experts(p);
    struct plim_setup s = *p->setup;
    s.n_ctx = ORDINARY_CONTEXT * (r->kv_unified ? 1 : r->n_seq);
    if (s.n_ctx >= r->n_ctx || !plim_can_change_context(p))
        return false;
    apply(p, CACHE, &s);
    if (!apply(p, has_experts ? EXPERTS : LAYERS, &s) || plim_try(p, &s) != PLIM_VERDICT_FITS)
        return false;
    for (uint32_t i = 0; i < p->n; i++) {
        const struct plim_fix *fix = &p->fixes[i];
        const int64_t gained = has_experts ? (int64_t)fix->setup.n_cpu_moe - s.n_cpu_moe
                                           : (int64_t)s.n_gpu_layers - fix->setup.n_gpu_layers;
        const bool is_alike =
            fix->kind == (has_experts ? PLIM_FIX_EXPERTS : PLIM_FIX_LAYERS) || fix->kind == PLIM_FIX_TOGETHER;
        if (is_alike && fix->verdict_after == PLIM_VERDICT_FITS && gained < ((int64_t)r->n_layer + 9) / 10)
            return false;
    }
    return offer(p, &s);
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
    if (plim_try(p, &s) != PLIM_VERDICT_FITS)
        apply(p, LAYERS, &s);
    plim_try(p, &s);
    offer(p, &s);
}

/* The first pair, of those that slow tokens down or of the others. */
static bool try_pairs(struct plim_planner *p, bool are_slow)
{
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs && p->result >= 0; i++)
        if (is_slow(&pairs[i]) == are_slow && try_pair(p, &pairs[i]))
            return true;
    return false;
}

void plim_fix_together(struct plim_planner *p)
{
    const bool has_fix = plim_has_fix(p);
    if (plim_has_mild_fix(p) || try_pairs(p, false))
        return;
    const bool has_slow = has_fix || try_pairs(p, true);
    if (!try_ordinary(p) && !has_slow)
        try_all(p);
}
