/* SPDX-License-Identifier: MIT */
/*
 * Fixes, one function each, in the order they are offered. A fix that can be more or less of a thing (context, layers,
 * experts) is the least that makes the setup fit; when even the most does not, it is offered with the verdict it gets.
 */
#include "plan/planner.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/units.h"

#include <stdio.h>
#include <string.h>

enum { LEAST_UBATCH = 64 };

static void free_others(struct plim_planner *p)
{
    const struct plim_device_bill *device = &p->before->device[p->before->limiting_device];
    if (device->is_host || p->machine->card[device->index].others_bytes == 0)
        return;
    const struct plim_machine *before = p->machine;
    struct plim_machine machine = *before;
    const uint32_t n_others = machine.card[device->index].n_others;
    machine.card[device->index].others_bytes = 0;
    p->machine = &machine;
    plim_try(p, p->setup);
    p->machine = before;
    struct plim_fix *fix = plim_offer(p, PLIM_FIX_OTHERS, p->setup);
    if (!fix)
        return;
    if (n_others)
        snprintf(fix->change, sizeof fix->change, "the %u other process%s on this GPU stopped", n_others,
                 n_others == 1 ? "" : "es");
    else
        snprintf(fix->change, sizeof fix->change, "the other programs on this GPU stopped");
    snprintf(fix->costs, sizeof fix->costs, "whatever they are doing");
}

static void shrink_context(struct plim_planner *p)
{
    const struct plim_resolved *r = &p->before->resolved;
    struct plim_setup s = *p->setup;
    if (!plim_can_change_context(p))
        return;
    s.n_ctx = plim_search_context(p, p->setup);
    if (s.n_ctx == 0)
        s.n_ctx = r->n_ctx > PLIM_SMALL_CONTEXT ? PLIM_SMALL_CONTEXT : PLIM_LEAST_CONTEXT;
    plim_try(p, &s);
    struct plim_fix *fix = plim_offer(p, PLIM_FIX_CONTEXT, &s);
    if (!fix)
        return;
    const uint32_t n_slots = s.client == PLIM_CLIENT_OLLAMA ? r->n_seq : 1; /* Ollama counts the context of one slot */
    snprintf(fix->change, sizeof fix->change, "a context of %u tokens instead of %u%s", s.n_ctx / n_slots,
             r->n_ctx / n_slots, n_slots > 1 ? " per slot" : "");
    snprintf(fix->costs, sizeof fix->costs, "conversations longer than that are cut off");
}

static void quantize_cache(struct plim_planner *p)
{
    struct plim_setup s = *p->setup;
    if (p->before->resolved.type_k != PLIM_DTYPE_F16 && p->before->resolved.type_k != PLIM_DTYPE_F32)
        return;
    s.type_k = s.type_v = PLIM_DTYPE_Q8_0;
    const bool needs_flash = s.flash_attn == PLIM_OFF;
    if (needs_flash)
        s.flash_attn = PLIM_ON;
    plim_try(p, &s);
    struct plim_fix *fix = plim_offer(p, PLIM_FIX_CACHE_TYPE, &s);
    if (!fix)
        return;
    snprintf(fix->change, sizeof fix->change, "the KV cache in q8_0%s", needs_flash ? " and flash attention" : "");
    snprintf(fix->costs, sizeof fix->costs, "a little accuracy; its f16 copies are counted in the compute buffer");
}

static void use_flash_attention(struct plim_planner *p)
{
    struct plim_setup s = *p->setup;
    if (p->setup->flash_attn != PLIM_OFF)
        return;
    s.flash_attn = PLIM_ON;
    plim_try(p, &s);
    struct plim_fix *fix = p->bill->resolved.flash_attn ? plim_offer(p, PLIM_FIX_FLASH_ATTN, &s) : NULL;
    if (!fix)
        return;
    snprintf(fix->change, sizeof fix->change, "flash attention on");
    snprintf(fix->costs, sizeof fix->costs, "nothing: it is faster as well");
}

static void shrink_ubatch(struct plim_planner *p)
{
    struct plim_setup s = *p->setup;
    const uint32_t n_ubatch = p->before->resolved.n_ubatch;
    uint32_t n = n_ubatch / 2;
    if (n < LEAST_UBATCH)
        return;
    for (; n >= LEAST_UBATCH; n /= 2) {
        s.n_ubatch = n;
        if (plim_try(p, &s) == PLIM_VERDICT_FITS)
            break;
    }
    if (n < LEAST_UBATCH) {
        s.n_ubatch = n_ubatch > PLIM_SMALL_UBATCH ? PLIM_SMALL_UBATCH : LEAST_UBATCH;
        plim_try(p, &s);
    }
    struct plim_fix *fix = plim_offer(p, PLIM_FIX_UBATCH, &s);
    if (!fix)
        return;
    snprintf(fix->change, sizeof fix->change, "a micro-batch of %u tokens instead of %u", s.n_ubatch, n_ubatch);
    snprintf(fix->costs, sizeof fix->costs, "prompts are read more slowly");
}

static void drop_slots(struct plim_planner *p)
{
    struct plim_setup s = *p->setup;
    if (p->before->resolved.n_seq <= 1)
        return;
    s.n_parallel = 1;
    if (p->setup->n_ctx && !p->before->resolved.kv_unified)
        s.n_ctx = p->before->resolved.n_ctx_seq; /* the one that is left keeps its context */
    plim_try(p, &s);
    struct plim_fix *fix = plim_offer(p, PLIM_FIX_SLOTS, &s);
    if (!fix)
        return;
    snprintf(fix->change, sizeof fix->change, "one slot instead of %u", p->before->resolved.n_seq);
    snprintf(fix->costs, sizeof fix->costs, "one request at a time");
}

static void move_experts(struct plim_planner *p)
{
    struct plim_setup s = *p->setup;
    if (!plim_can_move_experts(p))
        return;
    s.n_cpu_moe = plim_search_experts(p, p->setup);
    plim_try(p, &s);
    struct plim_fix *fix = plim_offer(p, PLIM_FIX_EXPERTS, &s);
    if (!fix)
        return;
    snprintf(fix->change, sizeof fix->change, "the experts of %u of %u layers on the CPU", s.n_cpu_moe,
             p->before->resolved.n_layer);
    plim_offer_slowdown(p, fix);
}

static void offload_less(struct plim_planner *p)
{
    struct plim_setup s = *p->setup;
    if (!plim_can_move_layers(p))
        return;
    const uint32_t best = plim_search_layers(p, p->setup);
    s.n_gpu_layers = (int32_t)best;
    if (plim_try(p, &s) == PLIM_VERDICT_NO && best == 0)
        return; /* the host has no room for it either */
    struct plim_fix *fix = plim_offer(p, PLIM_FIX_LAYERS, &s);
    if (!fix)
        return;
    snprintf(fix->change, sizeof fix->change, "%u of %u layers on the GPU%s", best, p->before->resolved.n_layer + 1,
             p->before->n_devices > 2 ? "s" : "");
    plim_offer_slowdown(p, fix);
}

/* --- all of them --- */

/* Memory that moved to the host may not fit there. */
static void say_what_host_lacks(struct plim_fix *fix)
{
    char lacks[PLIM_SIZE_TEXT];
    const size_t n = strlen(fix->costs);
    if (fix->host_lacks_bytes && n < sizeof fix->costs)
        snprintf(fix->costs + n, sizeof fix->costs - n, "; %s more RAM than there is",
                 plim_size_text(lacks, fix->host_lacks_bytes));
}

/* Where nothing fits: what frees a good part of what is missing, and in any case what frees most. */
static bool frees_much(const struct plim_planner *p, const struct plim_fix *fix)
{
    const int64_t missing = -plim_device_left_bytes(&p->before->device[p->before->limiting_device]);
    int64_t most = 0;
    for (uint32_t i = 0; i < p->n; i++)
        most = p->fixes[i].frees_bytes > most ? p->fixes[i].frees_bytes : most;
    return fix->frees_bytes == most || fix->frees_bytes >= missing / 10;
}

/* Where something fits, nothing is said of what does not; and a tight setup that stays tight has gained nothing. */
static void keep_the_useful(struct plim_planner *p)
{
    struct plim_fix *const end = p->fixes + p->n, *kept = p->fixes;
    enum plim_verdict worst = PLIM_VERDICT_NO;
    for (uint32_t i = 0; i < p->n; i++)
        if (p->fixes[i].verdict_after == PLIM_VERDICT_FITS || p->fixes[i].verdict_after == PLIM_VERDICT_TIGHT)
            worst = PLIM_VERDICT_TIGHT;
    if (p->before->verdict == PLIM_VERDICT_TIGHT)
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
    static void (*const fixes[])(struct plim_planner *) = {
        free_others, shrink_context, quantize_cache, use_flash_attention, shrink_ubatch,
        drop_slots,  move_experts,   offload_less,   plim_fix_together,   plim_fix_quant,
    };
    struct plim_planner p = { engine, setup, machine, margin, bill, NULL, ret_fixes, max, 0, reterr, 0 };
    *ret_n = 0;
    if (bill->verdict != PLIM_VERDICT_NO && bill->verdict != PLIM_VERDICT_TIGHT)
        return 0;
    p.bill = plim_alloc(1, sizeof *p.bill);
    if (!p.bill)
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    for (size_t i = 0; i < sizeof fixes / sizeof *fixes && p.result >= 0; i++)
        fixes[i](&p);
    plim_free(p.bill);
    if (p.result < 0)
        return p.result;
    keep_the_useful(&p);
    *ret_n = p.n;
    return 0;
}
