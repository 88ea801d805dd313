/* SPDX-License-Identifier: MIT */
/*
 * Auxiliary models: a draft model with a context of its own, the context in which the model's own next-token-prediction
 * layers draft, a multimodal projector, LoRA adapters.
 */
#include "engine/llamacpp/engine.h"

#include "base/numbers.h"
#include "base/units.h"
#include "engine/ggml/buffer.h"

#include <string.h>

/* --- a draft model --- */

/* Its lines would be in the bill of another model. */
static int check_draft(const struct plim_llama *draft, struct plim_error *reterr)
{
    char contradiction[PLIM_LLAMA_CONTRADICTION];
    plim_llama_find_contradiction(draft, false, contradiction);
    if (!contradiction[0])
        return 0;
    int code = plim_fail(reterr, PLIM_E_CORRUPT, PLIM_NO_OFFSET, "the file contradicts itself: %s", contradiction);
    plim_error_hint(reterr, "download or convert it again");
    plim_error_where(reterr, plim_model_path(draft->model));
    return code;
}

int plim_llamacpp_draft(struct plim_llamacpp *engine, const struct plim_llamacpp_setup *setup,
                        const struct plim_llama **ret_llama, struct plim_error *reterr)
{
    *ret_llama = NULL;
    if (!setup->draft)
        return 0;
    if (engine->draft != setup->draft) {
        engine->draft_llama = plim_llama_free(engine->draft_llama);
        engine->draft = NULL;
        int result = plim_llama_check_format(setup->draft, reterr);
        if (result == 0)
            result = plim_llama_new(setup->draft, &engine->epoch, &engine->draft_llama, reterr);
        if (result == 0)
            result = check_draft(engine->draft_llama, reterr);
        if (result < 0)
            return result;
        engine->draft = setup->draft;
    }
    *ret_llama = engine->draft_llama;
    return 0;
}

/* common_base_params_to_speculative(): the main setup, except for settings with a draft flag of their own. */
void plim_llamacpp_draft_setup(const struct plim_llamacpp_setup *setup, const struct plim_llama_context *main_context,
                               struct plim_llamacpp_setup *ret_setup)
{
    struct plim_llamacpp_setup *d = ret_setup;
    *d = *setup;
    d->n_ctx = main_context->n_ctx;
    d->n_parallel = main_context->n_seq_max;
    d->kv_unified = main_context->kv_unified ? PLIM_ON : PLIM_OFF;
    d->n_outputs_max = main_context->n_seq_max;
    d->n_gpu_layers = setup->n_gpu_layers_draft;
    d->type_k = setup->type_k_draft;
    d->type_v = setup->type_v_draft;
    d->embedding = PLIM_OFF;
    d->draft = NULL;
    d->mtp = false;
    d->n_rs_seq = 0;
    d->cpu_moe = false;
    d->n_cpu_moe = d->n_cpu_ffn = d->n_overrides = d->n_overflows = 0;
}

static int add_draft(struct plim_llamacpp *engine, const struct plim_llamacpp_setup *setup,
                     const struct plim_buffers *main, int n_gpu, const uint64_t *split_bytes, struct plim_bill *bill,
                     struct plim_error *reterr)
{
    const struct plim_llama *llama;
    struct plim_llamacpp_setup draft_setup;
    struct plim_buffers b;
    int result = plim_llamacpp_draft(engine, setup, &llama, reterr);
    if (result < 0 || !llama)
        return result;
    plim_llamacpp_draft_setup(setup, &main->context, &draft_setup);
    result = plim_buffers_measure(engine->workspace, llama, &engine->epoch, &draft_setup, n_gpu, split_bytes, false, &b,
                                  reterr);
    if (result < 0)
        return result;
    for (int i = 0; i <= n_gpu; i++) {
        struct plim_device_bill *device = &bill->device[i];
        enum plim_basis basis =
            engine->epoch.is_proven && llama->hp.arch->build ? PLIM_BASIS_EXACT : PLIM_BASIS_FORMULA;
        uint64_t compute = b.compute.bytes[i];
        struct plim_line *line = plim_bill_add(device, PLIM_PILLAR_WEIGHTS, "draft model buffer", basis,
                                               i == n_gpu ? b.weights.host_bytes : b.weights.device_bytes[i]);
        plim_line_because(line, "the weights of the draft model", NULL, 0);
        line = plim_bill_add(device, PLIM_PILLAR_KV_CACHE, "draft KV buffer", basis,
                             b.memory.kv_bytes[i] + b.memory.rs_bytes[i]);
        plim_line_because(line, "the draft model's context holds the same %0 tokens",
                          (const uint64_t[]){ b.context.n_ctx }, 1);
        const bool is_bound = b.compute.basis == PLIM_COMPUTE_BOUNDED;
        const uint64_t slack = is_bound ? 0 : compute / 50;
        line = plim_bill_add_band(device, PLIM_PILLAR_ACTIVATIONS, "draft compute buffer",
                                  is_bound ? PLIM_BASIS_ASSUMED : PLIM_BASIS_FORMULA, compute,
                                  is_bound ? 0 : compute - slack, compute + slack);
        plim_line_because(line,
                          is_bound ? "at most, by the widths of its tensors; its graph is not modelled"
                                   : "the draft model's own graph, replayed",
                          NULL, 0);
    }
    plim_buffers_done(&b);
    return 0;
}

/* --- the model's own draft layers --- */

/* A second context on the same weights, whose cache has the next-token-prediction layers only. */
static void add_mtp(const struct plim_llamacpp *engine, const struct plim_llamacpp_setup *setup,
                    const struct plim_buffers *main, int n_gpu, struct plim_bill *bill)
{
    const struct plim_hparams *hp = &engine->llama->hp;
    const struct plim_llama_context *cx = &main->context;
    const enum plim_dtype type_k = setup->type_k_draft ? setup->type_k_draft : PLIM_DTYPE_F16;
    const enum plim_dtype type_v = setup->type_v_draft ? setup->type_v_draft : PLIM_DTYPE_F16;
    const uint64_t cells = (uint64_t)cx->n_ctx_seq * cx->n_stream;
    uint64_t bytes[PLIM_MAX_DEVICES + 1] = { 0 }, n_layers[PLIM_MAX_DEVICES + 1] = { 0 };
    for (uint32_t il = hp->n_layer; il < hp->n_layer_all && setup->mtp; il++) {
        const int backend = main->place.layer[il];
        bytes[backend] += plim_bytes_product(plim_dtype_row_bytes(type_k, plim_hparams_k_gqa(hp, il)), cells);
        if (!plim_hparams_is_mla(hp))
            bytes[backend] += plim_bytes_product(plim_dtype_row_bytes(type_v, plim_hparams_v_gqa(hp, il)), cells);
        n_layers[backend]++;
    }
    for (int i = 0; i <= n_gpu; i++) {
        struct plim_device_bill *device = &bill->device[i];
        const uint64_t compute = n_layers[i] ? main->compute.bytes[i] : 0;
        struct plim_line *line =
            plim_bill_add(device, PLIM_PILLAR_KV_CACHE, "MTP KV buffer", PLIM_BASIS_FORMULA, bytes[i]);
        plim_line_because(line, "the cache of the draft context: %0 of the model's own draft layers, %1 cells",
                          (const uint64_t[]){ n_layers[i], cells }, 2);
        line = plim_bill_add_band(device, PLIM_PILLAR_ACTIVATIONS, "MTP compute buffer", PLIM_BASIS_ASSUMED,
                                  compute / 4 * 3, compute / 4, compute);
        plim_line_because(line, "the graph of the draft layers: not more than that of the model", NULL, 0);
    }
}

/* --- projector --- */

static uint64_t tensor_bytes(const struct plim_model *model)
{
    size_t n;
    const struct plim_tensor *tensors = plim_model_tensors(model, &n);
    uint64_t bytes = 0;
    for (size_t i = 0; i < n; i++)
        bytes += plim_align_up(tensors[i].bytes, PLIM_CUDA_ALIGNMENT);
    return bytes;
}

/*
 * The projector warms up on its largest image. Seen with flash attention: 121 MiB (Gemma 3), 267 (Qwen2-VL), 323
 * (Qwen3-VL), 705 (Qwen2.5-VL); without it 1.1 to 4.8 GiB (gpustack/gguf-parser-go#44).
 */
static void add_projector(const struct plim_llamacpp_setup *setup, int n_gpu, struct plim_bill *bill)
{
    if (!setup->mmproj)
        return;
    bool is_on_gpu = n_gpu > 0 && setup->mmproj_offload != PLIM_OFF;
    struct plim_device_bill *device = &bill->device[is_on_gpu ? 0 : n_gpu];
    struct plim_line *line =
        plim_bill_add(device, PLIM_PILLAR_WEIGHTS, "mmproj buffer", PLIM_BASIS_FORMULA, tensor_bytes(setup->mmproj));
    plim_line_because(line, "every tensor of the projector, on the first GPU unless --no-mmproj-offload", NULL, 0);
    const bool has_flash = setup->flash_attn != PLIM_OFF;
    line = plim_bill_add_band(device, PLIM_PILLAR_ACTIVATIONS, "mmproj compute buffer", PLIM_BASIS_ASSUMED,
                              (has_flash ? 300 : 4600) * PLIM_MIB, (has_flash ? 100 : 1000) * PLIM_MIB,
                              (has_flash ? 750 : 5000) * PLIM_MIB);
    plim_line_because(line,
                      has_flash ? "its warm-up on the largest image; seen: 121 to 705 MiB with flash attention"
                                : "its warm-up on the largest image; seen: 1.1 to 4.8 GiB without flash attention",
                      NULL, 0);
}

/* --- adapters --- */

/* Each pair of matrices goes where the matrix is that it adapts; tensors of layers carry its name. */
static int backend_of_adapter(const struct plim_buffers *main, const struct plim_llama *llama, const char *name)
{
    const char *rest;
    const int il = plim_llama_layer_of_name(name, &rest);
    if (il >= 0 && (uint32_t)il < llama->hp.n_layer_all)
        return main->place.layer[il];
    return strncmp(name, "output", 6) ? main->place.cpu : main->place.layer[llama->hp.n_layer_all];
}

static void add_adapters(const struct plim_llamacpp *engine, const struct plim_llamacpp_setup *setup,
                         const struct plim_buffers *main, int n_gpu, struct plim_bill *bill)
{
    uint64_t bytes[PLIM_MAX_DEVICES + 1] = { 0 };
    for (uint32_t k = 0; k < setup->n_loras; k++) {
        size_t n;
        const struct plim_tensor *tensors = plim_model_tensors(setup->lora[k], &n);
        for (size_t i = 0; i < n; i++)
            bytes[backend_of_adapter(main, engine->llama, tensors[i].name)] +=
                plim_align_up(tensors[i].bytes, PLIM_CUDA_ALIGNMENT);
    }
    for (int i = 0; i <= n_gpu; i++) {
        struct plim_line *line =
            plim_bill_add(&bill->device[i], PLIM_PILLAR_WEIGHTS, "LoRA buffer", PLIM_BASIS_FORMULA, bytes[i]);
        plim_line_because(line,
                          setup->n_loras > 1 ? "the matrices of %0 adapters, beside those they adapt"
                                             : "the adapter's matrices, beside those they adapt",
                          (const uint64_t[]){ setup->n_loras }, 1);
    }
}

/* --- */

int plim_aux_models_add(struct plim_llamacpp *engine, const struct plim_llamacpp_setup *setup,
                        const struct plim_buffers *main, int n_gpu, const uint64_t *split_bytes, struct plim_bill *bill,
                        struct plim_error *reterr)
{
    int result = add_draft(engine, setup, main, n_gpu, split_bytes, bill, reterr);
    if (result < 0)
        return result;
    add_mtp(engine, setup, main, n_gpu, bill);
    add_projector(setup, n_gpu, bill);
    add_adapters(engine, setup, main, n_gpu, bill);
    return 0;
}
