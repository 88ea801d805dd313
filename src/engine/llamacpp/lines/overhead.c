/* SPDX-License-Identifier: MIT */
#include "engine/llamacpp/lines/overhead.h"

#include "base/numbers.h"
#include "base/units.h"
#include "card/cuda_overhead.h"
#include "engine/cuda_lines.h"

enum { POOL_GRANULE_MIB = 2, DEFAULT_CACHE_RAM_MIB = 8192 };

/*
 * Taken when a product first goes through cuBLAS, which quantized weights may never need: the workspace of its handle,
 * and another of 4 or 32 MiB that ggml gives it since August 2026 (ggml-cuda.cu; pull request 26574).
 */
static void add_workspace(const struct plim_card *card, const struct plim_epoch *epoch, struct plim_device_bill *device)
{
    const uint64_t own_bytes = plim_cublas_workspace_bytes(card);
    const uint64_t given_bytes = (plim_card_is_hopper(card) ? 32 : 4) * PLIM_MIB;
    const uint64_t bytes = own_bytes + (epoch->has_cublas_workspace ? given_bytes : 0);
    struct plim_line *line =
        plim_bill_add_band(device, PLIM_PILLAR_OVERHEAD, "cuBLAS workspace", PLIM_BASIS_FORMULA, bytes, 0, bytes);
    plim_line_because(line, "%b0 of the handle, and what ggml adds in newer builds, once cuBLAS is used",
                      (const uint64_t[]){ own_bytes }, 1);
}

/*
 * GPUs without integer kernels for large products (Volta, and Pascal's P100) turn a quantized matrix into f16 first
 * (mmq.cu: ggml_cuda_should_use_mmq()).
 */
static uint64_t unpacked_bytes(const struct plim_llama *llama, const struct plim_card *card)
{
    uint64_t largest = 0;
    if (card->compute_capability != 60 && card->compute_capability != 70)
        return 0;
    for (size_t i = 0; i < llama->n_tensors; i++) {
        const struct plim_tensor *t = &llama->tensors[i];
        if (llama->slot[i] >= 0 && plim_dtype_is_quantized(t->type))
            largest = plim_max_u64(largest, plim_bytes_product(2 * t->ne[0], t->ne[1]));
    }
    return largest;
}

/*
 * The pool grows in steps of 2 MiB to the largest set of temporaries and stays: activations quantized to q8_1 (36 bytes
 * for 32 values) or halved for the products, and before mid-2026 the f16 copy of a quantized cache.
 */
static void add_pool(const struct plim_llama *llama, const struct plim_llama_context *cx, const struct plim_card *card,
                     struct plim_device_bill *device)
{
    uint64_t quantized_bytes = plim_bytes_product(llama->quantized_width, (uint64_t)cx->n_ubatch * 36) / 32;
    uint64_t float_bytes = plim_bytes_product(llama->float_width, (uint64_t)cx->n_ubatch * 2);
    uint64_t bytes = plim_max_u64(quantized_bytes, float_bytes);
    bool has_quantized_cache = plim_dtype_is_quantized(cx->type_k) || plim_dtype_is_quantized(cx->type_v);
    if (has_quantized_cache && !cx->epoch->reserves_kv_scratch)
        bytes += plim_bytes_product(2 * (uint64_t)cx->n_ctx,
                                    plim_hparams_k_gqa(&llama->hp, 0) + plim_hparams_v_gqa(&llama->hp, 0));
    bytes += unpacked_bytes(llama, card);
    bytes = plim_align_up(bytes, POOL_GRANULE_MIB * PLIM_MIB);
    struct plim_line *line = plim_bill_add_band(device, PLIM_PILLAR_OVERHEAD, "memory pool", PLIM_BASIS_FORMULA, bytes,
                                                bytes / 4, 2 * bytes + 16 * PLIM_MIB);
    plim_line_because(line, "activations of %0 tokens, converted for the products; the pool keeps its largest size",
                      (const uint64_t[]){ cx->n_ubatch }, 1);
}

void plim_overhead_device(const struct plim_llama *llama, const struct plim_llama_context *cx,
                          const struct plim_epoch *epoch, enum plim_backend backend, const struct plim_card *card,
                          struct plim_device_bill *device)
{
    if (backend == PLIM_BACKEND_CUDA) {
        plim_cuda_lines_add(card, device);
        add_workspace(card, epoch, device);
    } else {
        struct plim_line *line = plim_bill_add_band(device, PLIM_PILLAR_OVERHEAD, "runtime", PLIM_BASIS_ASSUMED,
                                                    120 * PLIM_MIB, 20 * PLIM_MIB, 400 * PLIM_MIB);
        plim_line_because(line, "context, pipelines and staging of the backend; not measured", NULL, 0);
    }
    if (backend == PLIM_BACKEND_CUDA || backend == PLIM_BACKEND_HIP) /* one source for both */
        add_pool(llama, cx, card, device);
}

void plim_overhead_host(const struct plim_llamacpp_setup *setup, int n_gpu, struct plim_device_bill *device)
{
    struct plim_line *line = n_gpu > 0 ? plim_bill_add_band(device, PLIM_PILLAR_OVERHEAD, "process", PLIM_BASIS_ASSUMED,
                                                            350 * PLIM_MIB, 150 * PLIM_MIB, 700 * PLIM_MIB)
                                       : plim_bill_add_band(device, PLIM_PILLAR_OVERHEAD, "process", PLIM_BASIS_ASSUMED,
                                                            60 * PLIM_MIB, 20 * PLIM_MIB, 150 * PLIM_MIB);
    plim_line_because(line, "the program itself, its vocabulary and the libraries it loads", NULL, 0);
    if (setup->client == PLIM_CLIENT_LIBRARY || setup->cache_ram_mib == 0)
        return;
    int32_t limit_mib = setup->cache_ram_mib == PLIM_CACHE_RAM_DEFAULT ? DEFAULT_CACHE_RAM_MIB : setup->cache_ram_mib;
    uint64_t limit_bytes = limit_mib < 0 ? device->total_bytes : (uint64_t)limit_mib * PLIM_MIB;
    line = plim_bill_add_band(device, PLIM_PILLAR_KV_CACHE, "prompt cache", PLIM_BASIS_FORMULA, 0, 0, limit_bytes);
    plim_line_because(line, "empty at first; llama-server keeps old prompts here up to --cache-ram %b0",
                      (const uint64_t[]){ limit_bytes }, 1);
}
