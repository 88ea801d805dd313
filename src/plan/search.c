/* SPDX-License-Identifier: MIT */
/* Trying setups, searching for the least change that fits, and offering it. */
#include "plan/planner.h"

#include "base/error.h"

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

/* --- searching --- */

typedef void set_value(struct plim_setup *setup, uint32_t value);

/* The largest value in [low, high) that fits, or 0; what fits at a value fits at all smaller ones. */
static uint32_t largest_that_fits(struct plim_planner *p, const struct plim_setup *from, set_value *set, uint32_t low,
                                  uint32_t high)
{
    uint32_t best = 0;
    while (low < high && p->result >= 0) {
        const uint32_t middle = low + (high - low) / 2;
        struct plim_setup s = *from;
        set(&s, middle);
        if (plim_try(p, &s) == PLIM_VERDICT_FITS) {
            best = middle;
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return best;
}

static void set_context_steps(struct plim_setup *s, uint32_t n) { s->n_ctx = n * PLIM_CONTEXT_STEP; }
static void set_layers(struct plim_setup *s, uint32_t n) { s->n_gpu_layers = (int32_t)n; }

bool plim_can_change_context(const struct plim_planner *p)
{
    struct plim_model_shape shape;
    plim_engine_shape(p->engine, &shape);
    return shape.has_attention && p->before->resolved.n_ctx > PLIM_LEAST_CONTEXT;
}

uint32_t plim_search_context(struct plim_planner *p, const struct plim_setup *from)
{
    const uint32_t n_ctx = p->before->resolved.n_ctx;
    const uint32_t steps = largest_that_fits(p, from, set_context_steps, PLIM_LEAST_CONTEXT / PLIM_CONTEXT_STEP,
                                             n_ctx / PLIM_CONTEXT_STEP);
    uint32_t round = 1;
    while (round * 16 <= steps)
        round *= 2;
    return steps / round * round * PLIM_CONTEXT_STEP;
}

bool plim_can_move_layers(const struct plim_planner *p)
{
    return p->before->resolved.n_gpu_layers > 0 && p->before->n_devices > 1 &&
           !p->before->device[p->before->limiting_device].is_host;
}

uint32_t plim_search_layers(struct plim_planner *p, const struct plim_setup *from)
{
    return largest_that_fits(p, from, set_layers, 1, p->before->resolved.n_gpu_layers);
}

bool plim_can_move_experts(const struct plim_planner *p)
{
    struct plim_model_shape shape;
    plim_engine_shape(p->engine, &shape);
    return shape.n_expert > 0 && !p->setup->cpu_moe && p->setup->n_cpu_moe < shape.n_layer && plim_can_move_layers(p);
}

uint32_t plim_search_experts(struct plim_planner *p, const struct plim_setup *from)
{
    uint32_t low = p->setup->n_cpu_moe + 1, high = p->before->resolved.n_layer;
    while (low < high && p->result >= 0) {
        const uint32_t middle = low + (high - low) / 2;
        struct plim_setup s = *from;
        s.n_cpu_moe = middle;
        if (plim_try(p, &s) == PLIM_VERDICT_FITS)
            high = middle;
        else
            low = middle + 1;
    }
    return high;
}

/* --- offering --- */

static void change_number(struct plim_fix *fix, const char *flag, uint32_t value)
{
    struct plim_flag_change *c = &fix->changes[fix->n_changes++];
    c->flag = flag;
    snprintf(c->value, sizeof c->value, "%u", value);
}

static void change_text(struct plim_fix *fix, const char *flag, const char *value)
{
    struct plim_flag_change *c = &fix->changes[fix->n_changes++];
    c->flag = flag;
    snprintf(c->value, sizeof c->value, "%s", value);
}

/*
 * The flags that make the fix's setup out of the planner's; PLIM_FIX_MAX_CHANGES counts these. Ollama's context is that
 * of one slot, which fewer slots do not change.
 */
static void write_changes(const struct plim_planner *p, struct plim_fix *fix)
{
    const struct plim_setup *from = p->setup, *to = &fix->setup;
    const bool keeps_slot = fix->kind == PLIM_FIX_SLOTS && to->client == PLIM_CLIENT_OLLAMA;
    if (to->n_ctx != from->n_ctx && !keeps_slot)
        change_number(fix, "-c", to->n_ctx);
    if (to->type_k != from->type_k)
        change_text(fix, "-ctk", plim_dtype_name(to->type_k));
    if (to->type_v != from->type_v)
        change_text(fix, "-ctv", plim_dtype_name(to->type_v));
    if (to->flash_attn != from->flash_attn)
        change_text(fix, "-fa", to->flash_attn == PLIM_ON ? "on" : "off");
    if (to->n_ubatch != from->n_ubatch)
        change_number(fix, "-ub", to->n_ubatch);
    if (to->n_parallel != from->n_parallel)
        change_number(fix, "-np", to->n_parallel);
    if (to->n_cpu_moe != from->n_cpu_moe && to->n_cpu_moe == p->before->resolved.n_layer)
        fix->changes[fix->n_changes++] = (struct plim_flag_change){ .flag = "-cmoe", .is_switch = true };
    else if (to->n_cpu_moe != from->n_cpu_moe)
        change_number(fix, "-ncmoe", to->n_cpu_moe);
    if (to->n_gpu_layers != from->n_gpu_layers)
        change_number(fix, "-ngl", (uint32_t)to->n_gpu_layers);
}

struct plim_fix *plim_offer(struct plim_planner *p, enum plim_fix_kind kind, const struct plim_setup *setup)
{
    const uint32_t i = p->before->limiting_device;
    if (p->result < 0 || p->n == p->max || p->bill->is_refused || i >= p->bill->n_devices)
        return NULL;
    const int64_t freed = (int64_t)p->before->device[i].need_bytes - (int64_t)p->bill->device[i].need_bytes;
    const bool is_started = p->before->is_refused && p->bill->verdict != PLIM_VERDICT_NO;
    if (freed <= 0 && !is_started)
        return NULL;
    struct plim_fix *fix = &p->fixes[p->n++];
    memset(fix, 0, sizeof *fix);
    fix->kind = kind;
    fix->frees_bytes = freed;
    const struct plim_device_bill *host = &p->bill->device[p->bill->n_devices - 1];
    if (host->is_host && host->total_bytes && plim_device_held_bytes(host) > host->total_bytes)
        fix->host_lacks_bytes = plim_device_held_bytes(host) - host->total_bytes;
    fix->verdict_after = p->bill->verdict;
    fix->tokens_per_s_low = p->bill->tokens_per_s_low;
    fix->tokens_per_s_high = p->bill->tokens_per_s_high;
    fix->setup = *setup;
    write_changes(p, fix);
    return fix;
}

void plim_offer_slowdown(const struct plim_planner *p, struct plim_fix *fix)
{
    const double before = p->before->tokens_per_s_low * p->before->tokens_per_s_high;
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

/* A context too short for a conversation is no help to who asked for a long one. */
static bool is_mild(const struct plim_planner *p, const struct plim_fix *fix)
{
    if (fix->kind == PLIM_FIX_CONTEXT)
        return fix->setup.n_ctx >= PLIM_SMALL_CONTEXT || p->before->resolved.n_ctx <= PLIM_SMALL_CONTEXT;
    return fix->kind != PLIM_FIX_LAYERS && fix->kind != PLIM_FIX_EXPERTS;
}

bool plim_has_mild_fix(const struct plim_planner *p)
{
    for (uint32_t i = 0; i < p->n; i++)
        if (p->fixes[i].verdict_after == PLIM_VERDICT_FITS && is_mild(p, &p->fixes[i]))
            return true;
    return false;
}
