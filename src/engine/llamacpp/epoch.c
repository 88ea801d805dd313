/* SPDX-License-Identifier: MIT */
#include "engine/llamacpp/epoch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Build numbers at which a rule changed. llama.cpp numbers builds by commits; where only the date of a change is known,
 * the number is that of the first release seen after it, so that a build in between gets the older, larger figure.
 */
enum {
    BUILD_SWA_CACHE = 5450,    /* pull request 13194, 20 May 2025 */
    BUILD_STREAMS = 6133,      /* pull request 14363, July 2025; b5640 has one cache for all, b6133 has streams */
    BUILD_ROW_INPUTS = 6133,   /* pull request 14285, the default since August 2025; b5640 has none */
    BUILD_GPU_DEFAULTS = 6330, /* pull request 15434, 30 August 2025 */
    BUILD_WIDE_CELLS = 6846,   /* b6845 pads cells and masks by llama_kv_cache::get_padding() and GGML_KQ_MASK_PAD, */
    BUILD_BARE_MASKS = 7698,   /* b7698 does neither: in between, the larger figure of both */
    BUILD_AUTOMATIC_SLOTS = 6945, /* pull request 16736, November 2025 */
    BUILD_FIT = 7418,             /* pull request 16653, December 2025 */
    BUILD_EMBD_INPUT = 7699,      /* pull request 18898, January 2026; b7698 is without it, b8121 has it */
    BUILD_ROTATION = 8391,        /* b8390 does not rotate, b9842 does */
    BUILD_PINS_1 = 4980,          /* b4980, b6133, b6431 and b7698 keep pins; b5590, b5640 and b6845 lose them */
    BUILD_PINS_2 = 6133,
    BUILD_PINS_3 = 6431,
    BUILD_PINS_4 = 7698,
    BUILD_FLASH_BF16 = 9842,   /* b8390 has no such kernel, b9842 has it */
    BUILD_FLASH_TYPES = 10508, /* b10361 wants K and V of one type, v0.5.0 does not */
    BUILD_V_PART = 8121,       /* pull request 19067, January 2026; b7698 has two caches, b8121 one */
    BUILD_QUANT_ROWS = 10361,  /* b10068 has no such kernels, b10361 has them */
    BUILD_SHARED_CELLS = 8121, /* llama_model::create_memory(): b7698 gives n_ctx, b8121 n_ctx_seq */
    BUILD_LAYER_NORMS = 9842,  /* LLM_TENSOR_INFOS: b8390 has other layers there than b9842 */
    BUILD_NEXTN_CACHE = 8391,  /* llama_kv_cache: b8390 skips these layers; b9842 and b10361 do not, v0.5.0 does */
    BUILD_NEXTN_CACHE_END = 10508,
    BUILD_NEXTN_FILTER = 10361, /* but four architectures were filtered before: b9842 does not, b10361 does */
    BUILD_NEXTN_BIAS = 8391,    /* create_tensor_qkv(): b9842 loads them, b8390 and b10361 do not */
    BUILD_NEXTN_BIAS_END = 10361,
    BUILD_LAYER_INPUTS = 8391, /* gemma3n.cpp: b8390 does not expand them, b9842 does */
    BUILD_LFM2_OUTPUT = 6134,  /* b6133 reads the embeddings instead, b6845 a copy */
    BUILD_LFM2_NORM = 7698,    /* LLM_TENSOR_OUTPUT_NORM_LFM2: b6845 is without it, b7698 has it */
    BUILD_SEQ_GRAPH = 6846,    /* llama_context: b6845 has kv_unified ? 1 : n_seq_max, b7698 n_seq_max */
    BUILD_ROUNDED_OUTPUTS =
        6846,                  /* graph_reserve(): b7698 and b8390 raise them with the tokens, b6845 and b9842 do not */
    BUILD_KEPT_FUSED = 10362,  /* ggml_backend_cuda_graph_optimize(): b10361 keeps nothing, v0.5.0 does */
    BUILD_F16_MASK = 9512,     /* pull request 23764, end of May 2026 */
    BUILD_OUTPUT_FIRST = 7418, /* b6845 has i_gpu_start = n_layer - ngl, b7698 n_layer + 1 - ngl, as --fit assumes */
    BUILD_CAPPED_OUTPUTS = 9512, /* pull requests 23861 and 23987, 1 June 2026; b9174 is of 16 May, b9512 of 4 June */
    BUILD_KV_SCRATCH = 9587,     /* pull request 23907, 8 June 2026; b9587 is of 11 June */
    BUILD_WORKSPACE = 10508,     /* pull request 26574, 21 August 2026; b10507 is of 20 August */
    BUILD_FIRST = 4000,          /* older builds have other cache and split rules */
    BUILD_LAST = 99999,
};

/* The versions of epoch.h as numbers, with two digits for each part; b-numbers of theirs begin here. */
enum { PROVEN_FROM = 401, PROVEN_TO = 600, BUILD_V0_1_2 = 10507 };

#define NEWEST_PROVEN "v0.5.0"

const char *const plim_epoch_compared[] = { "b6133", "b6845", "b8390", "b9842", "b10361", NULL };

static void from_build(long build, struct plim_epoch *e)
{
    e->caps_outputs = build >= BUILD_CAPPED_OUTPUTS;
    e->reserves_kv_scratch = build >= BUILD_KV_SCRATCH;
    e->has_cublas_workspace = build >= BUILD_WORKSPACE;
    e->has_fit = build >= BUILD_FIT;
    e->has_automatic_slots = build >= BUILD_AUTOMATIC_SLOTS;
    e->has_gpu_defaults = build >= BUILD_GPU_DEFAULTS;
    e->has_swa_cache = build >= BUILD_SWA_CACHE;
    e->offloads_output_first = build >= BUILD_OUTPUT_FIRST;
    e->has_streams = build >= BUILD_STREAMS;
    e->has_row_inputs = build >= BUILD_ROW_INPUTS;
    e->has_wide_cells = build >= BUILD_WIDE_CELLS;
    e->pads_masks = build < BUILD_BARE_MASKS;
    e->has_embd_input = build >= BUILD_EMBD_INPUT;
    e->has_f16_mask = build >= BUILD_F16_MASK;
    e->loses_pins = (build > BUILD_PINS_1 && build < BUILD_PINS_2) || (build > BUILD_PINS_3 && build < BUILD_PINS_4);
    e->has_flash_types = build >= BUILD_FLASH_TYPES;
    e->has_flash_bf16 = build >= BUILD_FLASH_BF16;
    e->has_v_part = build >= BUILD_V_PART;
    e->gets_quant_rows = build >= BUILD_QUANT_ROWS;
    e->has_rotation = build >= BUILD_ROTATION;
    e->shares_hybrid_cells = build >= BUILD_SHARED_CELLS;
    e->has_layer_norms = build >= BUILD_LAYER_NORMS;
    e->caches_nextn = build >= BUILD_NEXTN_CACHE && build < BUILD_NEXTN_CACHE_END;
    e->filters_nextn = build >= BUILD_NEXTN_FILTER;
    e->loads_nextn_bias = build >= BUILD_NEXTN_BIAS && build < BUILD_NEXTN_BIAS_END;
    e->expands_layer_inputs = build >= BUILD_LAYER_INPUTS;
    e->has_lfm2_output = build >= BUILD_LFM2_OUTPUT;
    e->has_lfm2_norm = build >= BUILD_LFM2_NORM;
    e->reserves_all_seqs = build >= BUILD_SEQ_GRAPH;
    e->rounds_outputs = build >= BUILD_ROUNDED_OUTPUTS && build < BUILD_CAPPED_OUTPUTS;
    e->keeps_fused = build >= BUILD_KEPT_FUSED;
}

static int bad_version(const char *version, struct plim_error *reterr)
{
    int code = plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "unknown version '%.40s' of llama.cpp", version);
    plim_error_hint(reterr, "write a release (llama.cpp@%s) or a build number from b%d on (llama.cpp@b10256)",
                    NEWEST_PROVEN, BUILD_FIRST);
    return code;
}

int plim_epoch_find(const char *version, struct plim_epoch *ret_epoch, struct plim_error *reterr)
{
    struct plim_epoch e = { .is_proven = false };
    unsigned major, minor, patch = 0;
    int end = 0;
    if (!version || !*version)
        version = NEWEST_PROVEN;
    if (strlen(version) >= sizeof e.version || version[1] < '0' || version[1] > '9' ||
        version[1 + strspn(version + 1, "0123456789.")])
        return bad_version(version, reterr);
    strcpy(e.version, version);
    if (version[0] == 'b') {
        char *rest;
        long build = strtol(version + 1, &rest, 10);
        if (rest == version + 1 || *rest || build < BUILD_FIRST || build > BUILD_LAST)
            return bad_version(version, reterr);
        from_build(build, &e);
        for (size_t i = 0; plim_epoch_compared[i]; i++)
            e.is_compared = e.is_compared || !strcmp(version, plim_epoch_compared[i]);
    } else if (sscanf(version, "v%2u.%2u%n.%2u%n", &major, &minor, &end, &patch, &end) >= 2 && !version[end]) {
        unsigned number = major * 10000 + minor * 100 + patch;
        e.is_proven = number >= PROVEN_FROM && number <= PROVEN_TO;
        e.is_newer = number > PROVEN_TO;
        from_build(number <= 102 ? BUILD_V0_1_2 : BUILD_LAST, &e);
    } else {
        return bad_version(version, reterr);
    }
    *ret_epoch = e;
    return 0;
}
