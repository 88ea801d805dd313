/* SPDX-License-Identifier: MIT */
#include "engine/llamacpp/overhead.h"

#include "base/units.h"

enum { COMPUTE_CAPABILITY_HOPPER = 90, POOL_GRANULE_MIB = 2, DEFAULT_CACHE_RAM_MIB = 8192 };

static uint64_t mib(double n) { return (uint64_t)(n * (double)PLIM_MIB); }

/*
 * The CUDA context with the kernels it has loaded grows with the number of multiprocessors, each of which has stacks
 * and local memory set aside. Seen: 73 MiB on one small card, just under 300 on an A40 (84), 506 on an RTX 5090 (170),
 * about 700 on an RTX PRO 6000 (188). Without a count the memory of the card stands in for it.
 */
static void add_context(const struct plim_card *card, struct plim_device_bill *device)
{
    double n = card->sm_count ? card->sm_count : 20 + 3 * ((double)card->total_bytes / (double)PLIM_GIB);
    n = n > 200 ? 200 : n;
    struct plim_line *line = plim_bill_add_band(device, PLIM_PILLAR_OVERHEAD, "CUDA context", PLIM_BASIS_ASSUMED,
                                                mib(60 + 2.5 * n), mib(35 + 1.5 * n), mib(160 + 3.3 * n));
    plim_line_because(line, "grows with the card's %0 multiprocessors; seen: 73 to 700 MiB",
                      (const uint64_t[]){ (uint64_t)n }, 1);
}

/* Taken when a product first goes through cuBLAS, which quantized weights may never need. */
static void add_workspace(const struct plim_card *card, const struct plim_epoch *epoch, struct plim_device_bill *device)
{
    bool is_hopper = card->compute_capability >= COMPUTE_CAPABILITY_HOPPER;
    uint64_t bytes = (is_hopper ? 32 : epoch->has_cublas_workspace ? 4 : 8) * PLIM_MIB;
    struct plim_line *line =
        plim_bill_add_band(device, PLIM_PILLAR_OVERHEAD, "cuBLAS workspace", PLIM_BASIS_FORMULA, bytes, 0, bytes);
    plim_line_because(line,
                      is_hopper ? "32 MiB from compute capability 9.0 on, once cuBLAS is used"
                                : "4 MiB below compute capability 9.0 (8 in older builds), once cuBLAS is used",
                      NULL, 0);
}

/*
 * The pool grows in steps of 2 MiB to the largest set of temporaries and stays: activations quantized to q8_1 (36 bytes
 * for 32 values) or halved for the products, and before mid-2026 the f16 copy of a quantized cache.
 */
static void add_pool(const struct plim_llama *llama, const struct plim_context *cx, struct plim_device_bill *device)
{
    uint64_t quantized_bytes = llama->quantized_width * cx->n_ubatch * 36 / 32;
    uint64_t float_bytes = llama->float_width * cx->n_ubatch * 2;
    uint64_t bytes = quantized_bytes > float_bytes ? quantized_bytes : float_bytes;
    bool has_quantized_cache = plim_dtype_is_quantized(cx->type_k) || plim_dtype_is_quantized(cx->type_v);
    if (has_quantized_cache && !cx->has_kv_scratch)
        bytes += 2 * (uint64_t)cx->n_ctx * (plim_hparams_k_gqa(&llama->hp, 0) + plim_hparams_v_gqa(&llama->hp, 0));
    bytes = plim_align_up(bytes, POOL_GRANULE_MIB * PLIM_MIB);
    struct plim_line *line = plim_bill_add_band(device, PLIM_PILLAR_OVERHEAD, "memory pool", PLIM_BASIS_FORMULA, bytes,
                                                bytes / 4, 2 * bytes + 16 * PLIM_MIB);
    plim_line_because(line, "activations of %0 tokens, converted for the products; the pool keeps its largest size",
                      (const uint64_t[]){ cx->n_ubatch }, 1);
}

void plim_overhead_device(const struct plim_llama *llama, const struct plim_context *cx, const struct plim_epoch *epoch,
                          enum plim_backend backend, const struct plim_card *card, struct plim_device_bill *device)
{
    if (backend == PLIM_BACKEND_CUDA || backend == PLIM_BACKEND_HIP) {
        add_context(card, device);
        add_workspace(card, epoch, device);
        add_pool(llama, cx, device);
        return;
    }
    struct plim_line *line = plim_bill_add_band(device, PLIM_PILLAR_OVERHEAD, "runtime", PLIM_BASIS_ASSUMED,
                                                120 * PLIM_MIB, 20 * PLIM_MIB, 400 * PLIM_MIB);
    plim_line_because(line, "context, pipelines and staging of the backend; not measured", NULL, 0);
}

void plim_overhead_host(const struct plim_setup *setup, int n_gpu, struct plim_device_bill *device)
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
