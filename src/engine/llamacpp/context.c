/* SPDX-License-Identifier: MIT */
#include "engine/llamacpp/context.h"

#include "base/numbers.h"
#include "base/units.h"

#include <string.h>

enum {
    CONTEXT_STEP = 256,     /* llama_context: n_ctx and SWA caches are padded to this */
    NARROW_STEP = 32,       /* before, and without flash attention: llama_kv_cache::get_padding() of b6845 */
    LEAST_BATCH = 64,       /* GGML_KQ_MASK_PAD of b6845 */
    DEFAULT_N_BATCH = 2048, /* llama_context_default_params(), common_params */
    DEFAULT_N_UBATCH = 512,
    LIBRARY_N_CTX = 512,
    DEFAULT_N_DRAFT = 3,   /* common_params_speculative_draft */
    SERVER_AUTO_SLOTS = 4, /* llama-server with -np -1, which also unifies the KV cache */
};

static uint32_t or_default(uint32_t value, uint32_t otherwise) { return value ? value : otherwise; }

static bool is_on(enum plim_switch value, bool otherwise) { return value == PLIM_UNSET ? otherwise : value == PLIM_ON; }

static enum plim_dtype cache_type(enum plim_dtype type)
{
    return type > PLIM_DTYPE_UNKNOWN && type < PLIM_DTYPE_MAX_ ? type : PLIM_DTYPE_F16;
}

static uint32_t round_context(uint64_t n_ctx, uint32_t step)
{
    uint64_t rounded = plim_align_up(n_ctx, step);
    return rounded > UINT32_MAX - step ? (UINT32_MAX / step - 1) * step : (uint32_t)rounded;
}

/* --- flash attention --- */

/* Cache types the CUDA kernels read (fattn.cu: ggml_cuda_fattn_kv_type_supported). */
bool plim_flash_has_type(enum plim_dtype type)
{
    switch (type) {
    case PLIM_DTYPE_F32:
    case PLIM_DTYPE_F16:
    case PLIM_DTYPE_BF16:
    case PLIM_DTYPE_Q4_0:
    case PLIM_DTYPE_Q4_1:
    case PLIM_DTYPE_Q5_0:
    case PLIM_DTYPE_Q5_1:
    case PLIM_DTYPE_Q8_0:
        return true;
    default:
        return false;
    }
}

/* Head sizes the CUDA kernels exist for (fattn.cu: ggml_cuda_get_best_fattn_kernel). */
static bool can_flash_heads(uint32_t head_k, uint32_t head_v, uint32_t n_gqa, bool has_alibi)
{
    bool grouped = n_gqa >= 2 && !has_alibi;
    switch (head_k) {
    case 40:
    case 64:
    case 72:
    case 80:
    case 96:
    case 112:
    case 128:
    case 256:
        return head_v == head_k;
    case 192:
        return head_v == 128 && grouped && n_gqa % 8 == 0;
    case 320:
        return head_v == 256 && grouped && n_gqa % 32 == 0;
    case 512:
        return head_v == 512 && grouped;
    case 576:
        return head_v == 512 && grouped;
    default:
        return false;
    }
}

bool plim_flash_has_kernel(enum plim_dtype type_k, enum plim_dtype type_v, uint32_t head_k, uint32_t head_v,
                           uint32_t n_gqa, bool has_alibi)
{
    return plim_flash_has_type(type_k) && plim_flash_has_type(type_v) &&
           can_flash_heads(head_k, head_v, n_gqa, has_alibi);
}

bool plim_llama_context_can_flash(const struct plim_llama *llama, enum plim_dtype type_k, enum plim_dtype type_v)
{
    const struct plim_hparams *hp = &llama->hp;
    for (uint32_t il = 0; il < hp->n_layer; il++) {
        if (hp->n_head_kv[il] == 0 || (hp->is_recurrent[il] && hp->arch->recurrent != PLIM_RECURRENT_EVERY_BOTH))
            continue;
        uint32_t head_v = plim_hparams_is_mla(hp) ? hp->n_lora_kv : plim_hparams_head_v(hp, il);
        if (!plim_flash_has_kernel(type_k, plim_hparams_is_mla(hp) ? type_k : type_v, plim_hparams_head_k(hp, il),
                                   head_v, hp->n_head[il] / hp->n_head_kv[il], hp->has_alibi))
            return false;
    }
    return true;
}

/*
 * "auto" starts as on; it goes off, too late for the layout of the cache, when a kernel or a device is missing. It is
 * on for good when V is quantized: only flash attention reads that (llama_init_from_model()).
 */
static void resolve_flash(const struct plim_llama *llama, const struct plim_llamacpp_setup *setup,
                          const struct plim_epoch *epoch, int n_gpu, struct plim_llama_context *cx)
{
    const bool is_off = setup->flash_attn == PLIM_OFF || (setup->flash_attn == PLIM_UNSET && !epoch->has_gpu_defaults);
    bool is_ruled_out = !strcmp(llama->hp.arch->name, "grok"); /* llama_init_from_model() */
    bool is_forced = plim_dtype_is_quantized(cx->type_v);
    cx->flash_attn_auto = setup->flash_attn == PLIM_UNSET && !is_off && !is_ruled_out && !is_forced;
    cx->flash_attn = !is_off && !is_ruled_out;
    cx->v_trans = !cx->flash_attn;
    if (cx->flash_attn_auto && n_gpu > 0 && !llama->hp.arch->build)
        cx->flash_attn = plim_llama_context_can_flash(llama, cx->type_k, cx->type_v);
}

/* --- sizes --- */

static void resolve_slots(const struct plim_llamacpp_setup *setup, const struct plim_epoch *epoch,
                          struct plim_llama_context *cx)
{
    bool automatic = setup->client == PLIM_CLIENT_SERVER && setup->n_parallel == 0 && epoch->has_automatic_slots;
    cx->n_seq_max = automatic ? SERVER_AUTO_SLOTS : plim_min_u32(or_default(setup->n_parallel, 1), PLIM_LLAMA_MAX_SEQ);
    cx->kv_unified = is_on(setup->kv_unified, automatic);
    if (automatic || !epoch->has_streams)
        cx->kv_unified = true; /* the server sets both together */
    cx->n_stream = cx->kv_unified ? 1 : cx->n_seq_max;
    cx->swa_full = is_on(setup->swa_full, setup->client == PLIM_CLIENT_LIBRARY) || !epoch->has_swa_cache;
}

static void resolve_sizes(const struct plim_llama *llama, const struct plim_llamacpp_setup *setup,
                          struct plim_llama_context *cx)
{
    const struct plim_hparams *hp = &llama->hp;
    uint32_t n_ctx = setup->n_ctx;
    if (n_ctx == 0)
        n_ctx = setup->client == PLIM_CLIENT_LIBRARY ? LIBRARY_N_CTX : hp->n_ctx_train;
    uint32_t n_batch = or_default(setup->n_batch, DEFAULT_N_BATCH);
    uint32_t n_ubatch = or_default(setup->n_ubatch, DEFAULT_N_UBATCH);
    if (cx->embeddings && setup->client == PLIM_CLIENT_SERVER && n_batch > n_ubatch)
        n_batch = n_ubatch; /* llama-server does this for embeddings */
    const uint32_t step = cx->epoch->has_wide_cells || cx->flash_attn ? CONTEXT_STEP : NARROW_STEP;
    cx->n_batch = cx->causal_attn ? plim_min_u32(n_ctx, n_batch) : n_batch;
    if (cx->epoch->pads_masks && cx->n_batch < LEAST_BATCH)
        cx->n_batch = LEAST_BATCH;
    cx->n_ubatch = plim_min_u32(cx->n_batch, n_ubatch);
    cx->n_ctx = round_context(n_ctx, step);
    cx->n_ctx_seq = cx->n_ctx;
    const bool has_shares = hp->arch->memory != PLIM_LLAMA_MEMORY_HYBRID || cx->epoch->shares_hybrid_cells;
    if (!cx->kv_unified && has_shares) {
        /* each its share of what was asked for, rounded up, where the sum is not rounded before */
        const uint64_t share =
            cx->epoch->pads_masks ? ((uint64_t)n_ctx + cx->n_seq_max - 1) / cx->n_seq_max : cx->n_ctx / cx->n_seq_max;
        cx->n_ctx_seq = or_default(round_context(share, step), step);
        uint64_t all = (uint64_t)cx->n_ctx_seq * cx->n_seq_max;
        cx->n_ctx = all > UINT32_MAX ? UINT32_MAX : (uint32_t)all;
    }
    uint64_t window = (uint64_t)hp->n_swa * (cx->kv_unified ? cx->n_seq_max : 1) + cx->n_ubatch;
    cx->n_ctx_swa = cx->swa_full || window >= cx->n_ctx_seq ? cx->n_ctx_seq : round_context(window, step);
}

/* The worst-case graph llama.cpp reserves buffers for (llama_context::sched_reserve, graph_reserve). */
static void resolve_graph(const struct plim_llama *llama, const struct plim_llamacpp_setup *setup,
                          const struct plim_epoch *epoch, struct plim_llama_context *cx)
{
    uint32_t n_outputs_max = setup->n_outputs_max;
    bool is_capped = setup->client != PLIM_CLIENT_LIBRARY && epoch->caps_outputs;
    if (n_outputs_max == 0 && is_capped && !cx->embeddings) {
        uint64_t outputs = (uint64_t)cx->n_seq_max * (1 + (uint64_t)cx->n_draft);
        n_outputs_max = outputs < cx->n_batch ? (uint32_t)outputs : cx->n_batch;
    }
    if (llama->hp.arch->graph & PLIM_GGML_GRAPH_ALL_OUTPUTS)
        n_outputs_max = 0;
    cx->n_outputs_max = or_default(n_outputs_max, cx->n_batch);
    uint32_t n_tokens = plim_min_u32(cx->n_ctx, cx->n_ubatch);
    cx->n_outputs = plim_min_u32(n_tokens, cx->n_outputs_max);
    cx->n_seq_graph = cx->kv_unified && !epoch->reserves_all_seqs ? 1 : cx->n_seq_max;
    cx->n_tokens = (n_tokens + cx->n_seq_graph - 1) / cx->n_seq_graph * cx->n_seq_graph;
    if (epoch->rounds_outputs)
        cx->n_outputs = cx->n_tokens;
}

void plim_llama_context_resolve(const struct plim_llama *llama, const struct plim_llamacpp_setup *setup,
                                const struct plim_epoch *epoch, int n_gpu, struct plim_llama_context *ret_context)
{
    const struct plim_hparams *hp = &llama->hp;
    struct plim_llama_context *cx = ret_context;
    const bool drafts = setup->draft || setup->mtp;
    const uint32_t n_draft = drafts ? or_default(setup->n_draft, DEFAULT_N_DRAFT) : 0;
    *cx = (struct plim_llama_context){
        .type_k = cache_type(setup->type_k),
        .type_v = cache_type(setup->type_v),
        .offload_kqv = is_on(setup->kv_offload, true),
        .op_offload = is_on(setup->op_offload, true),
        .mmap = is_on(setup->mmap, true),
        .embeddings = is_on(setup->embedding, false),
        .causal_attn = hp->causal_attn,
        .is_layer_split = setup->split_mode == PLIM_SPLIT_LAYER,
        .no_pipeline = setup->has_rpc, /* the devices of other machines cannot do it */
        .first_gpu = setup->split_mode == PLIM_SPLIT_NONE && (int)setup->main_gpu < n_gpu ? (int)setup->main_gpu : 0,
        .n_draft = n_draft,
        .load_mtp = setup->mtp,
        .n_rs_seq = !hp->arch->has_rollback ? 0
                    : setup->n_rs_seq       ? setup->n_rs_seq
                    : setup->mtp            ? n_draft
                                            : 0,
        .epoch = epoch,
    };
    const bool has_default_layers = setup->n_gpu_layers == PLIM_NGL_AUTO && !epoch->has_gpu_defaults;
    cx->n_gpu_layers = n_gpu == 0 || has_default_layers ? 0
                       : setup->n_gpu_layers < 0        ? hp->n_layer_all + 1
                                                 : plim_min_u32((uint32_t)setup->n_gpu_layers, hp->n_layer_all + 1);
    resolve_flash(llama, setup, epoch, n_gpu, cx);
    resolve_slots(setup, epoch, cx);
    resolve_sizes(llama, setup, cx);
    resolve_graph(llama, setup, epoch, cx);
}
