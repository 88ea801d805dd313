/* SPDX-License-Identifier: MIT */
/* The llama.cpp engine: from its buffers to a bill. */
#include "engine/llamacpp/engine.h"

#include "base/mem.h"
#include "base/units.h"
#include "engine/llamacpp/bound.h"
#include "engine/llamacpp/flags/options.h"
#include "engine/llamacpp/lines/forecast.h"
#include "engine/llamacpp/lines/overhead.h"

#include <stdio.h>

/* --- the engine itself --- */

static int check_kind(const struct plim_model *model, struct plim_error *reterr)
{
    int code = plim_llama_check_format(model, reterr);
    if (code < 0)
        return code;
    switch (plim_model_kind(model)) {
    case PLIM_MODEL_PROJECTOR:
        code = plim_fail(reterr, PLIM_E_UNSUPPORTED, PLIM_NO_OFFSET,
                         "this is a multimodal projector, not a language model");
        plim_error_hint(reterr, "name the language model and add --mmproj %s", plim_model_path(model));
        break;
    case PLIM_MODEL_ADAPTER:
        code = plim_fail(reterr, PLIM_E_UNSUPPORTED, PLIM_NO_OFFSET, "this is a LoRA adapter, not a model");
        plim_error_hint(reterr, "name the base model and add --lora %s", plim_model_path(model));
        break;
    default:
        return 0;
    }
    plim_error_where(reterr, plim_model_path(model));
    return code;
}

int plim_llamacpp_open(const struct plim_model *model, const char *version, struct plim_engine **ret_engine,
                       struct plim_error *reterr)
{
    struct plim_epoch epoch;
    int result = check_kind(model, reterr);
    if (result == 0)
        result = plim_epoch_find(version, &epoch, reterr);
    if (result < 0)
        return result;
    struct plim_llamacpp *engine = plim_alloc(1, sizeof *engine);
    if (!engine)
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    engine->epoch = epoch;
    engine->base.version = engine->epoch.version;
    engine->workspace = plim_workspace_new();
    result = engine->workspace ? plim_llama_new(model, &engine->epoch, &engine->llama, reterr)
                               : plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    if (result < 0) {
        plim_llamacpp_close(&engine->base);
        return result;
    }
    plim_llama_find_contradiction(engine->llama, false, engine->contradiction);
    plim_forecast_write_doubts(model, engine->doubts, sizeof engine->doubts);
    *ret_engine = &engine->base;
    return 0;
}

void plim_llamacpp_close(struct plim_engine *base)
{
    struct plim_llamacpp *engine = (struct plim_llamacpp *)base;
    plim_llama_free(engine->llama);
    plim_llama_free(engine->draft_llama);
    plim_workspace_free(engine->workspace);
    plim_free(engine);
}

bool plim_llamacpp_knows_model(const struct plim_engine *base)
{
    return !plim_bound_applies(((const struct plim_llamacpp *)base)->llama);
}

const char *plim_llamacpp_contradiction(const struct plim_engine *base)
{
    return ((const struct plim_llamacpp *)base)->contradiction;
}

void plim_llamacpp_shape(const struct plim_engine *base, struct plim_model_shape *ret_shape)
{
    const struct plim_hparams *hp = &((const struct plim_llamacpp *)base)->llama->hp;
    *ret_shape = (struct plim_model_shape){
        .n_layer = hp->n_layer,
        .n_embd = hp->n_embd,
        .n_vocab = hp->n_vocab,
        .n_ctx_train = hp->n_ctx_train,
        .n_expert = hp->n_expert,
        .n_expert_used = hp->n_expert_used,
        .has_mtp = hp->n_layer_nextn > 0,
        .has_attention = hp->arch->memory != PLIM_LLAMA_MEMORY_RECURRENT && hp->arch->memory != PLIM_LLAMA_MEMORY_NONE,
    };
}

/* --- lines --- */

struct writer {
    const struct plim_llamacpp *engine;
    const struct plim_llamacpp_setup *setup;
    const struct plim_buffers *buffers;
    enum plim_basis basis; /* of figures by the engine's rules: exact, unless the version or backend is not proven */
};

/* The schedules of these backends are not modelled: they support other operations, and copy other tensors. */
static bool is_foreign(const struct writer *w)
{
    return w->setup->backend == PLIM_BACKEND_VULKAN || w->setup->backend == PLIM_BACKEND_METAL;
}

/* A figure without known rules: an upper bound. */
static struct plim_line *add_bound(struct plim_device_bill *device, enum plim_pillar pillar, const char *label,
                                   uint64_t low_bytes, uint64_t bytes)
{
    return plim_bill_add_band(device, pillar, label, PLIM_BASIS_ASSUMED, bytes, low_bytes, bytes);
}

/* A figure that is exact where the rules are proven and within a few percent where they are not. */
static struct plim_line *add_by_rule(const struct writer *w, struct plim_device_bill *device, enum plim_pillar pillar,
                                     const char *label, uint64_t bytes)
{
    if (w->basis == PLIM_BASIS_EXACT)
        return plim_bill_add(device, pillar, label, w->basis, bytes);
    if (w->setup->has_rpc && !device->is_host)
        return add_bound(device, pillar, label, 0, bytes);
    const uint64_t slack = bytes / (is_foreign(w) ? 10 : 50);
    return plim_bill_add_band(device, pillar, label, w->basis, bytes, bytes - slack, bytes + slack);
}

static uint64_t on_backend(const struct plim_weights *weights, int backend, int cpu)
{
    return backend == cpu ? weights->host_bytes : weights->device_bytes[backend];
}

static struct plim_line *add_weight_bytes(const struct writer *w, struct plim_device_bill *device, int backend)
{
    const struct plim_placement *p = &w->buffers->place;
    const uint64_t bytes = on_backend(&w->buffers->weights, backend, p->cpu);
    struct plim_weights low, high;
    if (w->engine->doubts[0] && !plim_bound_applies(w->engine->llama)) {
        plim_forecast_weights(w->engine->llama, p, &w->buffers->weights, &low, &high);
        struct plim_line *line =
            plim_bill_add_band(device, PLIM_PILLAR_WEIGHTS, "model buffer", PLIM_BASIS_FORMULA, bytes,
                               on_backend(&low, backend, p->cpu), on_backend(&high, backend, p->cpu));
        if (line)
            line->remark = w->engine->doubts;
        return line;
    }
    if (!plim_bound_applies(w->engine->llama))
        return add_by_rule(w, device, PLIM_PILLAR_WEIGHTS, "model buffer", bytes);
    plim_bound_weights(w->engine->llama, p, &w->buffers->weights, &low, &high);
    return plim_bill_add_band(device, PLIM_PILLAR_WEIGHTS, "model buffer", PLIM_BASIS_ASSUMED, bytes,
                              on_backend(&low, backend, p->cpu), on_backend(&high, backend, p->cpu));
}

static uint32_t layers_on(const struct writer *w, int backend)
{
    uint32_t n = 0;
    for (uint32_t il = 0; il < w->engine->llama->hp.n_layer; il++)
        n += w->buffers->place.layer[il] == backend;
    return n;
}

static void add_weights(const struct writer *w, struct plim_device_bill *device, int backend)
{
    const struct plim_hparams *hp = &w->engine->llama->hp;
    const struct plim_buffers *b = w->buffers;
    const bool is_cpu = backend == b->place.cpu;
    struct plim_line *line = add_weight_bytes(w, device, backend);
    device->idle_bytes = is_cpu ? b->weights.idle_bytes : 0;
    const uint64_t arguments[] = { layers_on(w, backend), hp->n_layer };
    bool has_output = b->place.layer[hp->n_layer_all] == backend;
    plim_line_because(line, is_cpu ? "%0 of %1 layers and the token embeddings%t" : "%0 of %1 layers%t", arguments, 2);
    plim_line_text(line, b->place.has_overrides                    ? ", less the tensors that are moved"
                         : is_cpu && b->context.mmap               ? ", as mapped from the file"
                         : has_output && w->engine->llama->is_tied ? " and a copy of the embeddings as output"
                         : has_output                              ? " and the output layer"
                                                                   : "");
}

static void add_memory_bound(const struct writer *w, struct plim_device_bill *device, int backend)
{
    const struct plim_llama_memory *m = &w->buffers->memory;
    const struct plim_llama_context *cx = &w->buffers->context;
    struct plim_line *line = add_bound(device, PLIM_PILLAR_KV_CACHE, "KV buffer", 0, m->kv_bytes[backend]);
    plim_line_because(line, "at most: every layer with K in %d2 and V in %d3 for %0 cells x %1 streams",
                      (const uint64_t[]){ cx->n_ctx_seq, cx->n_stream, cx->type_k, cx->type_v }, 4);
    line = add_bound(device, PLIM_PILLAR_KV_CACHE, "RS buffer", 0, m->rs_bytes[backend]);
    plim_line_because(line, "at most: a state in every layer for %0 sequences", (const uint64_t[]){ cx->n_seq_max }, 1);
}

static const char *why_of_cache(const struct plim_hparams *hp, const struct plim_llama_context *cx)
{
#define WHYS(types)                                                                                                    \
    {                                                                                                                  \
        { types ": %0 layers x %1 cells", types ": %0 layers x %1 cells x %2 streams" },                               \
            { types ": %0 layers x %1 cells (%3 in sliding layers)",                                                   \
              types ": %0 layers x %1 cells (%3 in sliding layers) x %2 streams" },                                    \
    }
    static const char *const whys[3][2][2] = { WHYS("K and V in %d4"), WHYS("K in %d4, V in %d5"),
                                               WHYS("K in %d4, V is a part of it") };
#undef WHYS
    const int types = plim_hparams_is_mla(hp) ? 2 : cx->type_k != cx->type_v;
    return whys[types][hp->n_swa > 0][cx->n_stream > 1];
}

static void add_memory(const struct writer *w, struct plim_device_bill *device, int backend)
{
    const struct plim_llama_memory *m = &w->buffers->memory;
    const struct plim_llama_context *cx = &w->buffers->context;
    if (!m->is_known) {
        add_memory_bound(w, device, backend);
        return;
    }
    struct plim_line *line = add_by_rule(w, device, PLIM_PILLAR_KV_CACHE, "KV buffer", m->kv_bytes[backend]);
    plim_line_because(
        line, why_of_cache(&w->engine->llama->hp, cx),
        (const uint64_t[]){ m->n_kv_layers, cx->n_ctx_seq, cx->n_stream, cx->n_ctx_swa, cx->type_k, cx->type_v }, 6);
    line = add_by_rule(w, device, PLIM_PILLAR_KV_CACHE, "RS buffer", m->rs_bytes[backend]);
    plim_line_because(line, "recurrent state of %0 layers x %1 sequences; the context does not matter",
                      (const uint64_t[]){ m->n_rs_layers, cx->n_seq_max }, 2);
}

/*
 * A replayed graph gives the engine's own figure where the tests prove it. For another version or backend the band
 * allows for a few tensors more or less. The graphs of states changed the most: of 165 buffers of older builds that no
 * rule was fitted on, 16 are off by more than a twentieth and 3 by more than three.
 */
static uint64_t compute_slack(const struct writer *w, uint64_t bytes)
{
    const struct plim_epoch *epoch = &w->engine->epoch;
    const bool is_before = !epoch->is_proven && !epoch->is_newer;
    if (w->basis == PLIM_BASIS_EXACT)
        return bytes / 100; /* a graph of another kind than those tested */
    if (is_foreign(w))
        return bytes / 10;
    return is_before && w->buffers->memory.n_rs_layers > 0 ? bytes / 20 * 3 : bytes / 20;
}

static void add_compute(const struct writer *w, struct plim_device_bill *device, int backend)
{
    const struct plim_compute *c = &w->buffers->compute;
    const struct plim_llama_context *cx = &w->buffers->context;
    const uint64_t bytes = c->bytes[backend];
    struct plim_line *line;
    if (c->basis == PLIM_COMPUTE_BOUNDED) {
        line = add_bound(device, PLIM_PILLAR_ACTIVATIONS, "compute buffer", 0, bytes);
        plim_line_because(line, "at most, by the widths of its tensors; the graph of this architecture is not modelled",
                          NULL, 0);
        return;
    }
    const bool is_part = w->setup->has_rpc && !device->is_host;
    const uint64_t slack = compute_slack(w, bytes);
    line = plim_bill_add_band(device, PLIM_PILLAR_ACTIVATIONS, "compute buffer", PLIM_BASIS_FORMULA, bytes,
                              is_part ? 0 : bytes - slack, bytes + slack);
    plim_line_because(line,
                      cx->flash_attn ? "the graph of %0 tokens and %1 outputs, replayed; flash attention on"
                                     : "the graph of %0 tokens and %1 outputs, replayed; flash attention off",
                      (const uint64_t[]){ cx->n_tokens, cx->n_outputs }, 2);
}

static void add_output(const struct writer *w, struct plim_device_bill *host)
{
    struct plim_line *line = add_by_rule(w, host, PLIM_PILLAR_ACTIVATIONS, "output buffer", w->buffers->output_bytes);
    plim_line_because(line, "logits of %0 sequences, copied back from the GPU",
                      (const uint64_t[]){ w->buffers->context.n_seq_max }, 1);
}

/* --- the bill --- */

static void put(struct plim_bill *bill, enum plim_llamacpp_option option, enum plim_setting_kind kind, int64_t integer,
                const char *text)
{
    plim_bill_add_setting(bill, &plim_llamacpp_options[option], plim_llamacpp_options[option].key, kind, integer, text);
}

/* In the order of the contract of JSON. */
static void write_settings(const struct plim_hparams *hp, const struct plim_setup *setup,
                           const struct plim_llamacpp_setup *own, const struct plim_llama_context *cx,
                           struct plim_bill *bill)
{
    const bool is_runner = own->client == PLIM_CLIENT_RUNNER;
    const char *client = is_runner ? setup->type->name : plim_llamacpp_clients[own->client];
    put(bill, PLIM_LLAMACPP_CTX_SIZE, PLIM_SETTING_INTEGER, cx->n_ctx, NULL);
    bill->settings[0].is_default = setup->llamacpp.n_ctx == 0;
    put(bill, PLIM_LLAMACPP_BATCH, PLIM_SETTING_INTEGER, cx->n_batch, NULL);
    put(bill, PLIM_LLAMACPP_UBATCH, PLIM_SETTING_INTEGER, cx->n_ubatch, NULL);
    put(bill, PLIM_LLAMACPP_N_PARALLEL, PLIM_SETTING_INTEGER, cx->n_seq_max, NULL);
    put(bill, PLIM_LLAMACPP_FLASH_ATTN, PLIM_SETTING_BOOL, cx->flash_attn, NULL);
    put(bill, PLIM_LLAMACPP_CACHE_TYPE_K, PLIM_SETTING_TEXT, 0, plim_dtype_name(cx->type_k));
    put(bill, PLIM_LLAMACPP_CACHE_TYPE_V, PLIM_SETTING_TEXT, 0, plim_dtype_name(cx->type_v));
    put(bill, PLIM_LLAMACPP_N_GPU_LAYERS, PLIM_SETTING_INTEGER, cx->n_gpu_layers, NULL);
    put(bill, PLIM_LLAMACPP_CTX_SEQ, PLIM_SETTING_INTEGER, cx->n_ctx_seq, NULL);
    put(bill, PLIM_LLAMACPP_N_OUTPUTS_MAX, PLIM_SETTING_INTEGER, cx->n_outputs_max, NULL);
    put(bill, PLIM_LLAMACPP_KV_UNIFIED, PLIM_SETTING_BOOL, cx->kv_unified, NULL);
    put(bill, PLIM_LLAMACPP_SWA_FULL, PLIM_SETTING_BOOL, cx->swa_full, NULL);
    put(bill, PLIM_LLAMACPP_KV_OFFLOAD, PLIM_SETTING_BOOL, cx->offload_kqv, NULL);
    put(bill, PLIM_LLAMACPP_MMAP, PLIM_SETTING_BOOL, cx->mmap, NULL);
    put(bill, PLIM_LLAMACPP_CLIENT, PLIM_SETTING_TEXT, 0, client);
    put(bill, PLIM_LLAMACPP_BACKEND, PLIM_SETTING_TEXT, 0, plim_llamacpp_backends[own->backend]);
    put(bill, PLIM_LLAMACPP_N_LAYER, PLIM_SETTING_INTEGER, hp->n_layer, NULL);
}

/* Setups that llama.cpp refuses when it starts. */
static const char *refusal_of(const struct plim_llamacpp *engine, const struct plim_llamacpp_setup *setup,
                              const struct plim_llama_context *cx)
{
    bool is_mla = plim_hparams_is_mla(&engine->llama->hp);
    if (!cx->flash_attn && plim_dtype_is_quantized(cx->type_v) && !is_mla)
        return "a quantized V cache needs flash attention, which is off or not possible here";
    if (setup->n_parallel > PLIM_LLAMA_MAX_SEQ)
        return "the engine runs at most 256 sequences";
    return NULL;
}

/* The reason why the figures of this setup are not called exact; NULL when they are. */
static const char *caveat_of(const struct plim_llamacpp *engine, const struct plim_llamacpp_setup *setup)
{
    const struct plim_llama *llama = engine->llama;
    if (plim_bound_applies(llama))
        return "the rules of this architecture are not known; the figures are upper bounds";
    if (!llama->hp.arch->build)
        return "this architecture was not compared with the engine itself";
    if (engine->contradiction[0])
        return "the file contradicts itself";
    if (engine->doubts[0])
        return engine->doubts;
    if (llama->has_unmodelled)
        return "the file has tensors that this version of the engine does not know";
    if (engine->epoch.is_newer)
        return "this version is newer than those the rules were compared with";
    if (engine->epoch.is_compared)
        return "this version was compared with the engine itself on common architectures only";
    if (!engine->epoch.is_proven)
        return "this version was not compared with the engine itself; of older ones " PLIM_EPOCH_COMPARED " were";
    if (setup->has_rpc)
        return "other machines (--rpc) take a part that is not counted; the figures of the GPUs here are at most";
    if (setup->split_mode != PLIM_SPLIT_LAYER && setup->split_mode != PLIM_SPLIT_NONE)
        return "this split mode was not compared with the engine itself";
    if (setup->backend != PLIM_BACKEND_CUDA) /* and a build for the CPU alone repacks weights */
        return "the rules are those of the CUDA backend";
    return NULL;
}

/* The backend for the cards of a vendor. Only CUDA is modelled, and no other is called exact. */
static enum plim_backend backend_of(enum plim_vendor vendor)
{
    switch (vendor) {
    case PLIM_VENDOR_AMD:
        return PLIM_BACKEND_HIP;
    case PLIM_VENDOR_INTEL:
        return PLIM_BACKEND_VULKAN;
    case PLIM_VENDOR_APPLE:
        return PLIM_BACKEND_METAL;
    default:
        return PLIM_BACKEND_CUDA;
    }
}

const struct plim_llamacpp_setup *plim_llamacpp_with_backend(const struct plim_llamacpp_setup *setup,
                                                             const struct plim_machine *machine,
                                                             struct plim_llamacpp_setup *copy)
{
    const enum plim_backend backend = machine->n_cards ? backend_of(machine->card[0].vendor) : PLIM_BACKEND_CUDA;
    if (setup->backend != PLIM_BACKEND_CUDA || backend == PLIM_BACKEND_CUDA)
        return setup;
    *copy = *setup;
    copy->backend = backend;
    return copy;
}

static int write_bill(struct plim_llamacpp *engine, const struct plim_llamacpp_setup *setup,
                      const struct plim_machine *machine, const struct plim_buffers *buffers, int n_gpu,
                      const uint64_t *split_bytes, struct plim_bill *bill, struct plim_error *reterr)
{
    bill->caveat = caveat_of(engine, setup);
    const struct writer w = { engine, setup, buffers, bill->caveat ? PLIM_BASIS_FORMULA : PLIM_BASIS_EXACT };
    struct plim_device_bill *host = &bill->device[n_gpu];
    plim_bill_add_devices(bill, machine, (uint32_t)n_gpu);
    for (int i = 0; i <= n_gpu; i++) {
        add_weights(&w, &bill->device[i], i);
        add_memory(&w, &bill->device[i], i);
        add_compute(&w, &bill->device[i], i);
    }
    add_output(&w, host);
    int result = plim_aux_models_add(engine, setup, buffers, n_gpu, split_bytes, bill, reterr);
    if (result < 0)
        return result;
    for (int i = 0; i < n_gpu; i++) {
        plim_overhead_device(engine->llama, &buffers->context, &engine->epoch, setup->backend, &machine->card[i],
                             &bill->device[i]);
        plim_bill_add_card(&machine->card[i], &bill->device[i]);
    }
    plim_overhead_host(setup, n_gpu, host);
    plim_bill_add_shared(bill, machine);
    plim_speed_estimate(engine->llama, buffers, machine, setup->backend, bill);
    return 0;
}

int plim_llamacpp_bill(struct plim_engine *base, const struct plim_setup *setup, const struct plim_machine *machine,
                       struct plim_bill *ret_bill, struct plim_error *reterr)
{
    struct plim_llamacpp *engine = (struct plim_llamacpp *)base;
    uint64_t split_bytes[PLIM_MAX_DEVICES];
    struct plim_buffers buffers;
    struct plim_llamacpp_setup copy;
    const struct plim_llamacpp_setup *own = plim_llamacpp_with_backend(&setup->llamacpp, machine, &copy);
    const int n_gpu = plim_visible_gpus(own, machine, split_bytes);
    int result = plim_buffers_measure(engine->workspace, engine->llama, &engine->epoch, own, n_gpu, split_bytes, false,
                                      &buffers, reterr);
    if (result < 0)
        return result;
    plim_buffers_settle(engine->workspace, engine->llama, n_gpu, split_bytes, machine->host.total_bytes, &buffers);
    write_settings(&engine->llama->hp, setup, own, &buffers.context, ret_bill);
    result = write_bill(engine, own, machine, &buffers, n_gpu, split_bytes, ret_bill, reterr);
    ret_bill->refusal = refusal_of(engine, own, &buffers.context);
    ret_bill->is_refused = ret_bill->refusal != NULL;
    ret_bill->is_at_most = own->has_rpc;
    ret_bill->is_bound = plim_bound_applies(engine->llama) || buffers.compute.basis == PLIM_COMPUTE_BOUNDED;
    plim_buffers_done(&buffers);
    return result;
}
