/* SPDX-License-Identifier: MIT */
/*
 * Fixes, one function each, in the order they are offered. A fix that can be more or less of a thing (context, layers,
 * experts) is the least that makes the setup fit; when even the most does not, it is offered with the verdict it gets.
 */
#include "plimsoll/plan.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/units.h"

#include <stdio.h>
#include <string.h>

enum { CONTEXT_STEP = 256, LEAST_CONTEXT = 1024, SMALL_CONTEXT = 4096 };

struct planner {
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

/* --- trying --- */

static enum plim_verdict attempt(struct planner *p, const struct plim_setup *setup)
{
    if (p->result < 0)
        return PLIM_VERDICT_UNKNOWN;
    p->result = plim_engine_bill(p->engine, setup, p->machine, p->margin, p->bill, p->err);
    return p->result < 0 ? PLIM_VERDICT_UNKNOWN : p->bill->verdict;
}

static int64_t freed_bytes(const struct planner *p)
{
    uint32_t i = p->before->limiting_device;
    return (int64_t)p->before->device[i].need_bytes - (int64_t)p->bill->device[i].need_bytes;
}

/*
 * Offer the setup that was tried last; NULL when it frees nothing where it matters or there is no more room. The
 * caller fills in what it changes and what it costs.
 */
static struct plim_fix *offer(struct planner *p, enum plim_fix_kind kind, const struct plim_setup *setup)
{
    if (p->result < 0 || p->n == p->max || p->bill->is_refused || freed_bytes(p) <= 0)
        return NULL;
    struct plim_fix *fix = &p->fixes[p->n++];
    memset(fix, 0, sizeof *fix);
    fix->kind = kind;
    fix->frees_bytes = freed_bytes(p);
    fix->verdict_after = p->bill->verdict;
    fix->tokens_per_s_low = p->bill->tokens_per_s_low;
    fix->tokens_per_s_high = p->bill->tokens_per_s_high;
    fix->setup = *setup;
    return fix;
}

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

static void change_switch(struct plim_fix *fix, const char *flag)
{
    fix->changes[fix->n_changes++] = (struct plim_flag_change){ .flag = flag, .is_switch = true };
}

/* The speed a fix leaves, as part of what there was. */
static void write_slowdown(const struct planner *p, struct plim_fix *fix)
{
    if (fix->tokens_per_s_high <= 0 || p->before->tokens_per_s_high <= 0) {
        snprintf(fix->costs, sizeof fix->costs, "slower: part of the model is computed on the CPU");
        return;
    }
    double ratio =
        (fix->tokens_per_s_low + fix->tokens_per_s_high) / (p->before->tokens_per_s_low + p->before->tokens_per_s_high);
    snprintf(fix->costs, sizeof fix->costs, "about %.0f %% of the speed: %.3g to %.3g tokens/s", 100 * ratio,
             fix->tokens_per_s_low, fix->tokens_per_s_high);
}

/* --- searching --- */

typedef void set_value(struct plim_setup *setup, uint32_t value);

/* The largest value in [low, high) that fits, or 0; what fits at a value fits at all smaller ones. */
static uint32_t largest_that_fits(struct planner *p, const struct plim_setup *from, set_value *set, uint32_t low,
                                  uint32_t high)
{
    uint32_t best = 0;
    while (low < high && p->result >= 0) {
        uint32_t middle = low + (high - low) / 2;
        struct plim_setup s = *from;
        set(&s, middle);
        if (attempt(p, &s) == PLIM_VERDICT_FITS) {
            best = middle;
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return best;
}

static void set_context_steps(struct plim_setup *s, uint32_t n) { s->n_ctx = n * CONTEXT_STEP; }
static void set_layers(struct plim_setup *s, uint32_t n) { s->n_gpu_layers = (int32_t)n; }

/* --- the fixes --- */

static void free_others(struct planner *p)
{
    const struct plim_device_bill *device = &p->before->device[p->before->limiting_device];
    struct plim_machine machine = *p->machine;
    if (device->is_host)
        return;
    struct plim_card *card = &machine.card[device->index];
    if (card->others_bytes == 0)
        return;
    uint32_t n_others = card->n_others;
    card->others_bytes = 0;
    p->result = plim_engine_bill(p->engine, p->setup, &machine, p->margin, p->bill, p->err);
    struct plim_fix *fix = offer(p, PLIM_FIX_OTHERS, p->setup);
    if (!fix)
        return;
    snprintf(fix->change, sizeof fix->change, "stop the %s%u other process%s on this GPU",
             n_others ? "" : "(unlisted) ", n_others, n_others == 1 ? "" : "es");
    snprintf(fix->costs, sizeof fix->costs, "whatever they are doing");
}

static uint32_t best_context(struct planner *p, const struct plim_setup *from, uint32_t n_ctx)
{
    uint32_t steps = largest_that_fits(p, from, set_context_steps, LEAST_CONTEXT / CONTEXT_STEP, n_ctx / CONTEXT_STEP);
    /* a round number where it costs little */
    uint32_t round = 1;
    while (round * 16 <= steps)
        round *= 2;
    return steps / round * round * CONTEXT_STEP;
}

static void shrink_context(struct planner *p)
{
    const uint32_t n_ctx = p->before->resolved.n_ctx;
    struct plim_model_shape shape;
    struct plim_setup s = *p->setup;
    plim_engine_shape(p->engine, &shape);
    if (!shape.has_attention || n_ctx <= LEAST_CONTEXT)
        return;
    s.n_ctx = best_context(p, p->setup, n_ctx);
    if (s.n_ctx == 0)
        s.n_ctx = n_ctx > SMALL_CONTEXT ? SMALL_CONTEXT : LEAST_CONTEXT;
    attempt(p, &s);
    struct plim_fix *fix = offer(p, PLIM_FIX_CONTEXT, &s);
    if (!fix)
        return;
    snprintf(fix->change, sizeof fix->change, "context of %u tokens instead of %u", s.n_ctx, n_ctx);
    snprintf(fix->costs, sizeof fix->costs, "conversations longer than that are cut off");
    change_number(fix, "-c", s.n_ctx);
}

static void quantize_cache(struct planner *p)
{
    struct plim_setup s = *p->setup;
    if (p->before->resolved.type_k != PLIM_DTYPE_F16 && p->before->resolved.type_k != PLIM_DTYPE_F32)
        return;
    s.type_k = s.type_v = PLIM_DTYPE_Q8_0;
    bool needs_flash = s.flash_attn == PLIM_OFF;
    if (needs_flash)
        s.flash_attn = PLIM_ON;
    attempt(p, &s);
    struct plim_fix *fix = offer(p, PLIM_FIX_CACHE_TYPE, &s);
    if (!fix)
        return;
    snprintf(fix->change, sizeof fix->change, "KV cache in q8_0%s", needs_flash ? ", with flash attention" : "");
    snprintf(fix->costs, sizeof fix->costs, "a little accuracy; its f16 copies are counted in the compute buffer");
    change_text(fix, "-ctk", "q8_0");
    change_text(fix, "-ctv", "q8_0");
    if (needs_flash)
        change_text(fix, "-fa", "on");
}

static void use_flash_attention(struct planner *p)
{
    struct plim_setup s = *p->setup;
    if (p->setup->flash_attn != PLIM_OFF)
        return;
    s.flash_attn = PLIM_ON;
    attempt(p, &s);
    struct plim_fix *fix = p->bill->resolved.flash_attn ? offer(p, PLIM_FIX_FLASH_ATTN, &s) : NULL;
    if (!fix)
        return;
    snprintf(fix->change, sizeof fix->change, "flash attention on");
    snprintf(fix->costs, sizeof fix->costs, "nothing: it is faster as well");
    change_text(fix, "-fa", "on");
}

static void shrink_ubatch(struct planner *p)
{
    struct plim_setup s = *p->setup;
    const uint32_t n_ubatch = p->before->resolved.n_ubatch;
    uint32_t n = n_ubatch / 2;
    if (n < 64)
        return;
    for (; n >= 64; n /= 2) {
        s.n_ubatch = n;
        if (attempt(p, &s) == PLIM_VERDICT_FITS)
            break;
    }
    if (n < 64) {
        s.n_ubatch = n_ubatch > 128 ? 128 : 64;
        attempt(p, &s);
    }
    struct plim_fix *fix = offer(p, PLIM_FIX_UBATCH, &s);
    if (!fix)
        return;
    snprintf(fix->change, sizeof fix->change, "micro-batch of %u tokens instead of %u", s.n_ubatch, n_ubatch);
    snprintf(fix->costs, sizeof fix->costs, "prompts are read more slowly");
    change_number(fix, "-ub", s.n_ubatch);
}

static void drop_slots(struct planner *p)
{
    struct plim_setup s = *p->setup;
    if (p->before->resolved.n_seq <= 1)
        return;
    s.n_parallel = 1;
    if (p->setup->n_ctx && !p->before->resolved.kv_unified)
        s.n_ctx = p->before->resolved.n_ctx_seq; /* the one that is left keeps its context */
    attempt(p, &s);
    struct plim_fix *fix = offer(p, PLIM_FIX_SLOTS, &s);
    if (!fix)
        return;
    snprintf(fix->change, sizeof fix->change, "one slot instead of %u", p->before->resolved.n_seq);
    snprintf(fix->costs, sizeof fix->costs, "one request at a time");
    change_number(fix, "-np", 1);
    if (s.n_ctx != p->setup->n_ctx)
        change_number(fix, "-c", s.n_ctx);
}

/* The fewest layers whose experts have to leave; all of them when that is what it takes. */
static uint32_t fewest_expert_layers(struct planner *p, const struct plim_setup *from, uint32_t n_layer)
{
    uint32_t low = 1, high = n_layer;
    while (low < high && p->result >= 0) {
        uint32_t middle = low + (high - low) / 2;
        struct plim_setup s = *from;
        s.n_cpu_moe = middle;
        if (attempt(p, &s) == PLIM_VERDICT_FITS)
            high = middle;
        else
            low = middle + 1;
    }
    return high;
}

static bool has_experts_to_move(const struct planner *p)
{
    struct plim_model_shape shape;
    plim_engine_shape(p->engine, &shape);
    return shape.n_expert > 0 && !p->setup->cpu_moe && p->before->n_devices > 1;
}

static void move_experts(struct planner *p)
{
    struct plim_setup s = *p->setup;
    const uint32_t n_layer = p->before->resolved.n_layer;
    if (!has_experts_to_move(p))
        return;
    s.n_cpu_moe = fewest_expert_layers(p, p->setup, n_layer);
    attempt(p, &s);
    struct plim_fix *fix = offer(p, PLIM_FIX_EXPERTS, &s);
    if (!fix)
        return;
    snprintf(fix->change, sizeof fix->change, "experts of %u of %u layers on the CPU", s.n_cpu_moe, n_layer);
    write_slowdown(p, fix);
    if (s.n_cpu_moe == n_layer)
        change_switch(fix, "-cmoe");
    else
        change_number(fix, "-ncmoe", s.n_cpu_moe);
}

static void offload_less(struct planner *p)
{
    struct plim_setup s = *p->setup;
    const uint32_t n = p->before->resolved.n_gpu_layers;
    if (n == 0 || p->before->n_devices < 2 || p->before->device[p->before->limiting_device].is_host)
        return;
    uint32_t best = largest_that_fits(p, p->setup, set_layers, 1, n);
    s.n_gpu_layers = (int32_t)best;
    attempt(p, &s);
    struct plim_fix *fix = offer(p, PLIM_FIX_LAYERS, &s);
    if (!fix)
        return;
    snprintf(fix->change, sizeof fix->change, "%u of %u layers on the GPU%s", best, p->before->resolved.n_layer + 1,
             p->before->n_devices > 2 ? "s" : "");
    write_slowdown(p, fix);
    change_number(fix, "-ngl", best);
}

/* --- several at once --- */

static bool has_a_fix(const struct planner *p)
{
    for (uint32_t i = 0; i < p->n; i++)
        if (p->fixes[i].verdict_after == PLIM_VERDICT_FITS)
            return true;
    return false;
}

/* A small context, a quantized cache, one slot; then as many layers, or experts, as still fit. */
static void combine(struct planner *p)
{
    struct plim_setup s = *p->setup;
    if (has_a_fix(p) || p->result < 0)
        return;
    if (p->before->resolved.n_ctx > SMALL_CONTEXT)
        s.n_ctx = SMALL_CONTEXT;
    if (s.flash_attn != PLIM_OFF)
        s.type_k = s.type_v = PLIM_DTYPE_Q8_0;
    s.n_parallel = 1;
    if (attempt(p, &s) != PLIM_VERDICT_FITS && has_experts_to_move(p))
        s.n_cpu_moe = fewest_expert_layers(p, &s, p->before->resolved.n_layer);
    if (attempt(p, &s) != PLIM_VERDICT_FITS && p->before->n_devices > 1)
        s.n_gpu_layers = (int32_t)largest_that_fits(p, &s, set_layers, 1, p->before->resolved.n_gpu_layers);
    attempt(p, &s);
    struct plim_fix *fix = offer(p, PLIM_FIX_TOGETHER, &s);
    if (!fix)
        return;
    snprintf(fix->change, sizeof fix->change, "all of it: small context, q8_0 cache, one slot%s",
             s.n_gpu_layers >= 0 ? ", fewer layers"
             : s.n_cpu_moe       ? ", experts on the CPU"
                                 : "");
    write_slowdown(p, fix);
    if (s.n_ctx != p->setup->n_ctx)
        change_number(fix, "-c", s.n_ctx);
    if (s.type_k == PLIM_DTYPE_Q8_0 && p->setup->type_k != PLIM_DTYPE_Q8_0) {
        change_text(fix, "-ctk", "q8_0");
        change_text(fix, "-ctv", "q8_0");
    }
    change_number(fix, "-np", 1);
    if (s.n_cpu_moe != p->setup->n_cpu_moe)
        change_number(fix, "-ncmoe", s.n_cpu_moe);
    else if (s.n_gpu_layers >= 0)
        change_number(fix, "-ngl", (uint32_t)s.n_gpu_layers);
}

int plim_plan_fixes(struct plim_engine *engine, const struct plim_setup *setup, const struct plim_machine *machine,
                    const struct plim_margin *margin, const struct plim_bill *bill, struct plim_fix *ret_fixes,
                    uint32_t max, uint32_t *ret_n, struct plim_error *reterr)
{
    static void (*const fixes[])(struct planner *) = { free_others,         shrink_context, quantize_cache,
                                                       use_flash_attention, shrink_ubatch,  drop_slots,
                                                       move_experts,        offload_less,   combine };
    struct planner p = { engine, setup, machine, margin, bill, NULL, ret_fixes, max, 0, reterr, 0 };
    *ret_n = 0;
    if (bill->verdict != PLIM_VERDICT_NO && bill->verdict != PLIM_VERDICT_TIGHT)
        return 0;
    p.bill = plim_alloc(1, sizeof *p.bill);
    if (!p.bill)
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    for (size_t i = 0; i < sizeof fixes / sizeof *fixes && p.result >= 0; i++)
        fixes[i](&p);
    plim_free(p.bill);
    *ret_n = p.result < 0 ? 0 : p.n;
    return p.result < 0 ? p.result : 0;
}
