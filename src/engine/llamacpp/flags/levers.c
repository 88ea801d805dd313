/* SPDX-License-Identifier: MIT */
/*
 * The levers of llama.cpp, cheapest first: changes that cost little, a shorter context among them; last those that slow
 * tokens down.
 */
#include "engine/llamacpp/engine.h"
#include "engine/llamacpp/flags/flags.h"
#include "engine/llamacpp/flags/options.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    CONTEXT_STEP = 256,
    LEAST_CONTEXT = 1024,
    SMALL_CONTEXT = 4096,
    LEAST_UBATCH = 64,
    SMALL_UBATCH = 128,
    KEEP_CONTEXT = 1, /* a value of the lever of slots */
};

static uint32_t before(const struct plim_situation *at, enum plim_llamacpp_option option)
{
    return (uint32_t)plim_bill_setting_integer(at->before, plim_llamacpp_options[option].key);
}

static uint32_t n_slots(const struct plim_setup *setup, const struct plim_bill *bill)
{
    return setup->llamacpp.client == PLIM_CLIENT_RUNNER
               ? (uint32_t)plim_bill_setting_integer(bill, plim_llamacpp_options[PLIM_LLAMACPP_N_PARALLEL].key)
               : 1;
}

static void costs(struct plim_fix *fix, const char *text) { snprintf(fix->costs, sizeof fix->costs, "%s", text); }

/* --- the context --- */

static bool context_range(const struct plim_situation *at, const struct plim_setup *from,
                          struct plim_lever_range *ret_range)
{
    const uint32_t n_ctx = before(at, PLIM_LLAMACPP_CTX_SIZE);
    struct plim_model_shape shape;
    (void)from;
    plim_llamacpp_shape(at->engine, &shape);
    *ret_range = (struct plim_lever_range){
        .now = n_ctx,
        .low = LEAST_CONTEXT / CONTEXT_STEP,
        .high = n_ctx / CONTEXT_STEP,
        .unit = CONTEXT_STEP,
        .is_rounded = true,
        .fallback = n_ctx > SMALL_CONTEXT ? SMALL_CONTEXT : LEAST_CONTEXT,
        .small = SMALL_CONTEXT,
        .ordinary = PLIM_LLAMACPP_ORDINARY_CONTEXT *
                    (before(at, PLIM_LLAMACPP_KV_UNIFIED) ? 1 : before(at, PLIM_LLAMACPP_N_PARALLEL)),
    };
    return shape.has_attention && n_ctx > LEAST_CONTEXT;
}

static void context_set(const struct plim_situation *at, uint32_t n, struct plim_setup *setup)
{
    (void)at;
    setup->llamacpp.n_ctx = n;
}

static uint32_t context_value(const struct plim_setup *setup) { return setup->llamacpp.n_ctx; }

static void context_describe(const struct plim_situation *at, const struct plim_setup *after, struct plim_fix *fix)
{
    const uint32_t n = n_slots(after, at->before);
    snprintf(fix->change, sizeof fix->change, "a context of %u tokens instead of %u%s", after->llamacpp.n_ctx / n,
             before(at, PLIM_LLAMACPP_CTX_SIZE) / n, n > 1 ? " per slot" : "");
    costs(fix, "conversations longer than that are cut off");
}

static bool context_list(const struct plim_situation *at, const struct plim_setup *after, const struct plim_bill *bill,
                         char *text, size_t size)
{
    snprintf(text, size, "a context of %u tokens", after->llamacpp.n_ctx / n_slots(after, bill));
    return after->llamacpp.n_ctx != at->setup->llamacpp.n_ctx;
}

static const struct plim_lever context = {
    .name = "context",
    .search = PLIM_LEVER_LARGEST,
    .is_last_resort = true,
    .range = context_range,
    .set = context_set,
    .value_of = context_value,
    .describe = context_describe,
    .list = context_list,
};

/* --- the types of the cache --- */

static bool cache_range(const struct plim_situation *at, const struct plim_setup *from,
                        struct plim_lever_range *ret_range)
{
    const struct plim_setting *type =
        plim_bill_setting(at->before, plim_llamacpp_options[PLIM_LLAMACPP_CACHE_TYPE_K].key);
    (void)from;
    *ret_range = (struct plim_lever_range){ 0 };
    return type && (!strcmp(type->text, plim_dtype_name(PLIM_DTYPE_F16)) ||
                    !strcmp(type->text, plim_dtype_name(PLIM_DTYPE_F32)));
}

/* A quantized V cache is read by flash attention only. */
static void cache_set(const struct plim_situation *at, uint32_t value, struct plim_setup *setup)
{
    (void)at, (void)value;
    setup->llamacpp.type_k = setup->llamacpp.type_v = PLIM_DTYPE_Q8_0;
    if (setup->llamacpp.flash_attn == PLIM_OFF)
        setup->llamacpp.flash_attn = PLIM_ON;
}

static void cache_describe(const struct plim_situation *at, const struct plim_setup *after, struct plim_fix *fix)
{
    const bool needs_flash = after->llamacpp.flash_attn != at->setup->llamacpp.flash_attn;
    snprintf(fix->change, sizeof fix->change, "the KV cache in q8_0%s", needs_flash ? " and flash attention" : "");
    costs(fix, "a little accuracy; its f16 copies are counted in the compute buffer");
}

static bool cache_list(const struct plim_situation *at, const struct plim_setup *after, const struct plim_bill *bill,
                       char *text, size_t size)
{
    (void)bill;
    snprintf(text, size, "a q8_0 cache");
    return after->llamacpp.type_k != at->setup->llamacpp.type_k;
}

static const struct plim_lever cache_type = {
    .name = "cache_type",
    .is_cheap = true,
    .is_last_resort = true,
    .range = cache_range,
    .set = cache_set,
    .describe = cache_describe,
    .list = cache_list,
};

/* --- flash attention --- */

static bool flash_range(const struct plim_situation *at, const struct plim_setup *from,
                        struct plim_lever_range *ret_range)
{
    (void)at;
    *ret_range = (struct plim_lever_range){ 0 };
    return from->llamacpp.flash_attn == PLIM_OFF;
}

static void flash_set(const struct plim_situation *at, uint32_t value, struct plim_setup *setup)
{
    (void)at, (void)value;
    setup->llamacpp.flash_attn = PLIM_ON;
}

static bool flash_works(const struct plim_bill *after)
{
    return plim_bill_setting_integer(after, plim_llamacpp_options[PLIM_LLAMACPP_FLASH_ATTN].key) != 0;
}

static void flash_describe(const struct plim_situation *at, const struct plim_setup *after, struct plim_fix *fix)
{
    (void)at, (void)after;
    snprintf(fix->change, sizeof fix->change, "flash attention on");
    costs(fix, "nothing: it is faster as well");
}

static bool flash_list(const struct plim_situation *at, const struct plim_setup *after, const struct plim_bill *bill,
                       char *text, size_t size)
{
    (void)bill;
    snprintf(text, size, "flash attention");
    return after->llamacpp.flash_attn != at->setup->llamacpp.flash_attn;
}

static const struct plim_lever flash_attn = {
    .name = "flash_attn",
    .range = flash_range,
    .set = flash_set,
    .works = flash_works,
    .describe = flash_describe,
    .list = flash_list,
};

/* --- the micro-batch --- */

static bool ubatch_range(const struct plim_situation *at, const struct plim_setup *from,
                         struct plim_lever_range *ret_range)
{
    const uint32_t n = before(at, PLIM_LLAMACPP_UBATCH);
    (void)from;
    *ret_range = (struct plim_lever_range){ .now = n,
                                            .low = LEAST_UBATCH,
                                            .high = n / 2,
                                            .fallback = n > SMALL_UBATCH ? SMALL_UBATCH : LEAST_UBATCH,
                                            .small = SMALL_UBATCH };
    return n / 2 >= LEAST_UBATCH;
}

static void ubatch_set(const struct plim_situation *at, uint32_t n, struct plim_setup *setup)
{
    (void)at;
    setup->llamacpp.n_ubatch = n;
}

static void ubatch_describe(const struct plim_situation *at, const struct plim_setup *after, struct plim_fix *fix)
{
    snprintf(fix->change, sizeof fix->change, "a micro-batch of %u tokens instead of %u", after->llamacpp.n_ubatch,
             before(at, PLIM_LLAMACPP_UBATCH));
    costs(fix, "prompts are read more slowly");
}

static bool ubatch_list(const struct plim_situation *at, const struct plim_setup *after, const struct plim_bill *bill,
                        char *text, size_t size)
{
    (void)bill;
    snprintf(text, size, "a micro-batch of %u", after->llamacpp.n_ubatch);
    return after->llamacpp.n_ubatch != at->setup->llamacpp.n_ubatch;
}

static const struct plim_lever ubatch = {
    .name = "ubatch",
    .search = PLIM_LEVER_HALVES,
    .range = ubatch_range,
    .set = ubatch_set,
    .describe = ubatch_describe,
    .list = ubatch_list,
};

/* --- slots --- */

static bool slots_range(const struct plim_situation *at, const struct plim_setup *from,
                        struct plim_lever_range *ret_range)
{
    (void)from;
    *ret_range = (struct plim_lever_range){ .now = before(at, PLIM_LLAMACPP_N_PARALLEL), .fallback = KEEP_CONTEXT };
    return ret_range->now > 1;
}

/* The slot that is left keeps its context; where everything gives way it has what all of them had. */
static void slots_set(const struct plim_situation *at, uint32_t value, struct plim_setup *setup)
{
    struct plim_llamacpp_setup *own = &setup->llamacpp;
    own->n_parallel = 1;
    if (value == KEEP_CONTEXT && own->n_ctx && !before(at, PLIM_LLAMACPP_KV_UNIFIED))
        own->n_ctx = before(at, PLIM_LLAMACPP_CTX_SEQ);
}

static void slots_describe(const struct plim_situation *at, const struct plim_setup *after, struct plim_fix *fix)
{
    (void)after;
    snprintf(fix->change, sizeof fix->change, "one slot instead of %u", before(at, PLIM_LLAMACPP_N_PARALLEL));
    costs(fix, "one request at a time");
}

static bool slots_list(const struct plim_situation *at, const struct plim_setup *after, const struct plim_bill *bill,
                       char *text, size_t size)
{
    (void)bill;
    snprintf(text, size, "one slot");
    return after->llamacpp.n_parallel != at->setup->llamacpp.n_parallel;
}

static const struct plim_lever slots = {
    .name = "slots",
    .is_last_resort = true,
    .range = slots_range,
    .set = slots_set,
    .describe = slots_describe,
    .list = slots_list,
};

/* --- layers, or their experts, on the CPU --- */

/* Layers can leave a GPU that lacks memory and holds some. */
static bool can_move_layers(const struct plim_situation *at)
{
    return before(at, PLIM_LLAMACPP_N_GPU_LAYERS) > 0 && at->before->n_devices > 1 &&
           !at->before->device[at->before->limiting_device].is_host;
}

static bool experts_range(const struct plim_situation *at, const struct plim_setup *from,
                          struct plim_lever_range *ret_range)
{
    const struct plim_llamacpp_setup *own = &at->setup->llamacpp;
    struct plim_model_shape shape;
    (void)from;
    plim_llamacpp_shape(at->engine, &shape);
    *ret_range = (struct plim_lever_range){ .low = own->n_cpu_moe + 1,
                                            .high = before(at, PLIM_LLAMACPP_N_LAYER),
                                            .fallback = before(at, PLIM_LLAMACPP_N_LAYER),
                                            .all = before(at, PLIM_LLAMACPP_N_LAYER) };
    return shape.n_expert > 0 && !own->cpu_moe && own->n_cpu_moe < shape.n_layer && can_move_layers(at);
}

static void experts_set(const struct plim_situation *at, uint32_t n, struct plim_setup *setup)
{
    (void)at;
    setup->llamacpp.n_cpu_moe = n;
}

static uint32_t experts_value(const struct plim_setup *setup) { return setup->llamacpp.n_cpu_moe; }

static void experts_describe(const struct plim_situation *at, const struct plim_setup *after, struct plim_fix *fix)
{
    snprintf(fix->change, sizeof fix->change, "the experts of %u of %u layers on the CPU", after->llamacpp.n_cpu_moe,
             before(at, PLIM_LLAMACPP_N_LAYER));
}

static bool experts_list(const struct plim_situation *at, const struct plim_setup *after, const struct plim_bill *bill,
                         char *text, size_t size)
{
    (void)bill;
    snprintf(text, size, "the experts of %u layers on the CPU", after->llamacpp.n_cpu_moe);
    return after->llamacpp.n_cpu_moe != at->setup->llamacpp.n_cpu_moe;
}

static const struct plim_lever experts = {
    .name = "experts",
    .search = PLIM_LEVER_SMALLEST,
    .is_slow = true,
    .range = experts_range,
    .set = experts_set,
    .value_of = experts_value,
    .describe = experts_describe,
    .list = experts_list,
};

static bool layers_range(const struct plim_situation *at, const struct plim_setup *from,
                         struct plim_lever_range *ret_range)
{
    (void)from;
    *ret_range = (struct plim_lever_range){ .low = 1,
                                            .high = before(at, PLIM_LLAMACPP_N_GPU_LAYERS),
                                            .all = before(at, PLIM_LLAMACPP_N_LAYER) };
    return can_move_layers(at);
}

static void layers_set(const struct plim_situation *at, uint32_t n, struct plim_setup *setup)
{
    (void)at;
    setup->llamacpp.n_gpu_layers = (int32_t)n;
}

static uint32_t layers_value(const struct plim_setup *setup) { return (uint32_t)setup->llamacpp.n_gpu_layers; }

static void layers_describe(const struct plim_situation *at, const struct plim_setup *after, struct plim_fix *fix)
{
    snprintf(fix->change, sizeof fix->change, "%d of %u layers on the GPU%s", after->llamacpp.n_gpu_layers,
             before(at, PLIM_LLAMACPP_N_LAYER) + 1, at->before->n_devices > 2 ? "s" : "");
}

static bool layers_list(const struct plim_situation *at, const struct plim_setup *after, const struct plim_bill *bill,
                        char *text, size_t size)
{
    (void)bill;
    snprintf(text, size, "%d layers on the GPU", after->llamacpp.n_gpu_layers);
    return after->llamacpp.n_gpu_layers != at->setup->llamacpp.n_gpu_layers;
}

static const struct plim_lever layers = {
    .name = "layers",
    .search = PLIM_LEVER_LARGEST,
    .is_slow = true,
    .needs_a_verdict = true,
    .range = layers_range,
    .set = layers_set,
    .value_of = layers_value,
    .describe = layers_describe,
    .list = layers_list,
};

/* --- all of them --- */

const struct plim_lever *const plim_llamacpp_levers[] = { &context, &cache_type, &flash_attn, &ubatch,
                                                          &slots,   &experts,    &layers,     NULL };

const struct plim_lever_pair plim_llamacpp_pairs[] = {
    { &flash_attn, &ubatch, false },  { &slots, &ubatch, false },       { &flash_attn, &slots, false },
    { &cache_type, &ubatch, false },  { &cache_type, &slots, false },   { &flash_attn, &context, false },
    { &ubatch, &context, false },     { &cache_type, &context, false }, { &slots, &context, false },
    { &cache_type, &experts, false }, { &ubatch, &experts, false },     { &cache_type, &layers, false },
    { &ubatch, &layers, false },      { &slots, &layers, false },       { NULL, NULL, false },
};

/* --- the flags that make a setup --- */

static void PLIM_PRINTF(3, 4) change(struct plim_change *to, enum plim_llamacpp_option option, const char *format, ...)
{
    va_list arguments;
    to->option = &plim_llamacpp_options[option];
    va_start(arguments, format);
    vsnprintf(to->value, sizeof to->value, format, arguments);
    va_end(arguments);
}

/* A runner's context is that of one slot, which fewer slots do not change. PLIM_FIX_MAX_CHANGES counts these. */
uint32_t plim_llamacpp_write_changes(const struct plim_situation *at, const struct plim_lever *lever,
                                     const struct plim_setup *to_setup,
                                     struct plim_change ret_changes[PLIM_FIX_MAX_CHANGES])
{
    const struct plim_llamacpp_setup *from = &at->setup->llamacpp, *to = &to_setup->llamacpp;
    const bool keeps_slot = lever == &slots && to->client == PLIM_CLIENT_RUNNER;
    struct plim_change *c = ret_changes;
    if (to->n_ctx != from->n_ctx && !keeps_slot)
        change(c++, PLIM_LLAMACPP_CTX_SIZE, "%u", to->n_ctx);
    if (to->type_k != from->type_k)
        change(c++, PLIM_LLAMACPP_CACHE_TYPE_K, "%s", plim_dtype_name(to->type_k));
    if (to->type_v != from->type_v)
        change(c++, PLIM_LLAMACPP_CACHE_TYPE_V, "%s", plim_dtype_name(to->type_v));
    if (to->flash_attn != from->flash_attn)
        change(c++, PLIM_LLAMACPP_FLASH_ATTN, "%s", to->flash_attn == PLIM_ON ? "on" : "off");
    if (to->n_ubatch != from->n_ubatch)
        change(c++, PLIM_LLAMACPP_UBATCH, "%u", to->n_ubatch);
    if (to->n_parallel != from->n_parallel)
        change(c++, PLIM_LLAMACPP_N_PARALLEL, "%u", to->n_parallel);
    if (to->n_cpu_moe != from->n_cpu_moe && to->n_cpu_moe == before(at, PLIM_LLAMACPP_N_LAYER))
        change(c++, PLIM_LLAMACPP_CPU_MOE, "%s", "");
    else if (to->n_cpu_moe != from->n_cpu_moe)
        change(c++, PLIM_LLAMACPP_N_CPU_MOE, "%u", to->n_cpu_moe);
    if (to->n_gpu_layers != from->n_gpu_layers)
        change(c++, PLIM_LLAMACPP_N_GPU_LAYERS, "%u", (uint32_t)to->n_gpu_layers);
    return (uint32_t)(c - ret_changes);
}
