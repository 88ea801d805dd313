/* SPDX-License-Identifier: MIT */
/* The room in a setup of llama.cpp that fits: a longer context, and more slots of the context that each has now. */
#include "engine/llamacpp/engine.h"
#include "engine/llamacpp/flags/flags.h"
#include "engine/llamacpp/flags/options.h"

#include "base/numbers.h"

enum { CONTEXT_STEP = 256 /* llama_context: n_ctx is padded to this */ };

static uint32_t now(const struct plim_situation *at, enum plim_llamacpp_option option)
{
    return (uint32_t)plim_bill_setting_integer(at->before, plim_llamacpp_options[option].key);
}

/* --- the context --- */

static uint32_t n_streams(const struct plim_situation *at)
{
    return now(at, PLIM_LLAMACPP_KV_UNIFIED) ? 1 : now(at, PLIM_LLAMACPP_N_PARALLEL);
}

static bool context_range(const struct plim_situation *at, const struct plim_setup *from,
                          struct plim_lever_range *ret_range)
{
    struct plim_model_shape shape;
    const uint32_t unit = CONTEXT_STEP * n_streams(at), n_ctx = now(at, PLIM_LLAMACPP_CTX_SIZE);
    (void)from;
    plim_llamacpp_shape(at->engine, &shape);
    const uint64_t trained = (uint64_t)shape.n_ctx_train * n_streams(at);
    *ret_range = (struct plim_lever_range){
        .now = n_ctx,
        .low = n_ctx / unit + 1,
        .high = (uint32_t)plim_min_u64(trained, UINT32_MAX / 2) / unit + 1,
        .unit = unit,
        .ordinary = PLIM_LLAMACPP_ORDINARY_CONTEXT * n_streams(at),
    };
    return shape.has_attention && shape.n_ctx_train;
}

static void context_set(const struct plim_situation *at, uint32_t n, struct plim_setup *setup)
{
    (void)at;
    setup->llamacpp.n_ctx = n;
}

static uint32_t context_value(const struct plim_setup *setup) { return setup->llamacpp.n_ctx; }

static const struct plim_lever context = {
    .name = "context",
    .search = PLIM_LEVER_LARGEST,
    .range = context_range,
    .set = context_set,
    .value_of = context_value,
};

/* --- slots --- */

static uint32_t slot_tokens(const struct plim_situation *at) { return now(at, PLIM_LLAMACPP_CTX_SEQ); }

static bool slots_range(const struct plim_situation *at, const struct plim_setup *from,
                        struct plim_lever_range *ret_range)
{
    const uint32_t n_ctx = slot_tokens(at), most = n_ctx ? UINT32_MAX / 2 / n_ctx : 0;
    *ret_range = (struct plim_lever_range){
        .now = n_streams(at),
        .low = n_streams(at) + 1,
        .high = plim_min_u32(PLIM_LLAMA_MAX_SEQ, most) + 1,
        .unit = 1,
    };
    return from->llamacpp.client == PLIM_CLIENT_SERVER && n_ctx;
}

/* Slots that share a cache get one each. */
static void slots_set(const struct plim_situation *at, uint32_t n, struct plim_setup *setup)
{
    setup->llamacpp.n_parallel = n;
    setup->llamacpp.kv_unified = PLIM_OFF;
    setup->llamacpp.n_ctx = n * slot_tokens(at);
}

static const struct plim_lever slots = {
    .name = "slots",
    .search = PLIM_LEVER_LARGEST,
    .range = slots_range,
    .set = slots_set,
};

const struct plim_growth plim_llamacpp_growth = { &context, &slots, slot_tokens };
