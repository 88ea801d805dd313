/* SPDX-License-Identifier: MIT */
/* Attention: inputs, projections, cache, the product itself. See build.h. */
#include "engine/llamacpp/graph/build.h"

#include "base/numbers.h"

/* --- inputs --- */

/* Quantized caches are rotated by a Hadamard matrix if the heads allow it (llama_kv_cache: attn_rot_k, attn_rot_v). */
static plim_node rotation(struct plim_build *b, uint32_t head, bool is_k)
{
    uint32_t size = 64;
    if (head == 0 || head % size)
        return 0;
    while (is_k && head % (size * 2) == 0)
        size *= 2;
    return plim_ggml_graph_input(b->g, PLIM_DTYPE_F32, size, size, 1, 1);
}

static bool same_heads(const struct plim_build *b, bool is_swa, bool is_k, uint32_t *ret_head)
{
    *ret_head = 0;
    for (uint32_t il = 0; il < b->hp->n_layer; il++) {
        if (!plim_llama_memory_attends(b->llama, il) || b->hp->is_swa[il] != is_swa)
            continue;
        uint32_t head = is_k ? plim_hparams_head_k(b->hp, il) : plim_hparams_head_v(b->hp, il);
        if (*ret_head && *ret_head != head)
            return false;
        *ret_head = head;
    }
    return true;
}

plim_node plim_build_mask(struct plim_build *b, uint64_t n_cells, uint64_t n_rows, uint64_t n_streams)
{
    enum { MASK_STEP = 64 /* GGML_KQ_MASK_PAD of b6845 */ };
    const struct plim_epoch *epoch = b->cx->epoch;
    const enum plim_dtype type = b->cx->flash_attn && epoch->has_f16_mask ? PLIM_DTYPE_F16 : PLIM_DTYPE_F32;
    if (epoch->pads_masks)
        n_rows = plim_align_up(n_rows, MASK_STEP);
    const plim_node mask = plim_ggml_graph_input(b->g, type, n_cells, n_rows, 1, n_streams);
    return b->cx->flash_attn && type != PLIM_DTYPE_F16 ? plim_build_cast(b, mask, PLIM_DTYPE_F16) : mask;
}

static void no_cache(struct plim_build *b, struct plim_attn_inputs *in)
{
    in->mask = plim_build_mask(b, b->n_tokens, b->n_tokens, 1);
}

/* The rows of a cache to write, where they are an input. */
static plim_node rows_input(struct plim_build *b, uint64_t n)
{
    return b->cx->epoch->has_row_inputs ? plim_ggml_graph_input(b->g, PLIM_DTYPE_I64, n, 1, 1, 1) : 0;
}

static void one_cache(struct plim_build *b, bool is_swa, struct plim_attn_inputs *in)
{
    const struct plim_llama_context *cx = b->cx;
    bool is_mla = plim_hparams_is_mla(b->hp);
    uint32_t head;
    in->cells = is_swa ? cx->n_ctx_swa : cx->n_ctx_seq;
    in->k_rows = rows_input(b, b->n_tokens);
    uint64_t v_rows = (uint64_t)b->n_tokens * (cx->v_trans ? plim_hparams_v_gqa_max(b->hp) : 1);
    in->v_rows = is_mla ? 0 : rows_input(b, v_rows);
    in->mask = plim_build_mask(b, in->cells, b->n_tokens / cx->n_stream, cx->n_stream);
    /* hybrids with a window forget to (build_inp_mem_hybrid_iswa) */
    const bool is_rotated =
        cx->epoch->has_rotation && !is_mla && !(b->hp->n_swa && b->hp->arch->memory == PLIM_LLAMA_MEMORY_HYBRID);
    const bool rotates_k = is_rotated && plim_dtype_is_quantized(cx->type_k) && b->hp->n_embd_head_k % 64 == 0;
    const bool rotates_v = is_rotated && plim_dtype_is_quantized(cx->type_v) && b->hp->n_embd_head_v % 64 == 0;
    if (rotates_k && same_heads(b, is_swa, true, &head))
        in->k_rot = rotation(b, head, true);
    if (rotates_v && same_heads(b, is_swa, false, &head))
        in->v_rot = rotation(b, head, false);
}

void plim_build_attn_inputs(struct plim_build *b)
{
    bool has_cache = !(b->hp->arch->graph & (PLIM_GGML_GRAPH_ENCODER | PLIM_GGML_GRAPH_NOT_CAUSAL));
    if (has_cache)
        one_cache(b, false, &b->attn);
    else
        no_cache(b, &b->attn);
    if (b->hp->n_swa && has_cache)
        one_cache(b, true, &b->attn_swa);
    else if (b->hp->n_swa)
        no_cache(b, &b->attn_swa);
}

/* x times a small square matrix, head by head (llama_mul_mat_hadamard) */
plim_node plim_build_rotate(struct plim_build *b, plim_node x, plim_node rot)
{
    if (!rot || !x)
        return x;
    const struct plim_gtensor t = *plim_build_at(b, x);
    uint64_t n = plim_build_at(b, rot)->ne[0], rows = (uint64_t)t.ne[0] * t.ne[1] * t.ne[2] * t.ne[3] / n;
    plim_node flat;
    if (t.flags & PLIM_TENSOR_STRIDED) {
        flat = plim_ggml_graph_op(b->g, PLIM_OP_COMPUTE, PLIM_DTYPE_F32, n, rows, 1, 1);
        plim_ggml_graph_source(b->g, flat, x);
    } else {
        flat = plim_build_reshape(b, x, n, rows, 1, 1);
    }
    return plim_build_reshape(b, plim_build_mul_mat(b, rot, flat), t.ne[0], t.ne[1], t.ne[2], t.ne[3]);
}

/* --- projections --- */

/* Q, K or V by itself, in heads unless it is to be normalized flat. */
static plim_node project(struct plim_build *b, uint32_t il, plim_node x, enum plim_tensor_role role, uint32_t head)
{
    plim_node y = plim_build_project(b, il, role, x);
    if (b->hp->arch->graph & PLIM_GGML_GRAPH_QK_NORM_FLAT || head == 0)
        return y;
    return plim_build_reshape(b, y, head, plim_build_at(b, y)->ne[0] / head, b->n_tokens, 1);
}

static struct plim_qkv project_fused(struct plim_build *b, uint32_t il, plim_node x)
{
    const struct plim_hparams *hp = b->hp;
    const uint32_t head_k = plim_hparams_head_k(hp, il), head_v = plim_hparams_head_v(hp, il);
    plim_node y = plim_build_project(b, il, PLIM_TENSOR_ROLE_ATTN_QKV, x);
    /* old files have one matrix but three biases */
    plim_node q = plim_build_bias(b, il, PLIM_TENSOR_ROLE_ATTN_Q), k = plim_build_bias(b, il, PLIM_TENSOR_ROLE_ATTN_K);
    plim_node v = plim_build_bias(b, il, PLIM_TENSOR_ROLE_ATTN_V);
    if (q && k && v && !plim_build_bias(b, il, PLIM_TENSOR_ROLE_ATTN_QKV))
        y = plim_build_add(b, y, plim_build_concat(b, plim_build_concat(b, q, k), v));
    return (struct plim_qkv){
        .q = plim_ggml_graph_heads(b->g, y, head_k, hp->n_head[il]),
        .k = plim_ggml_graph_heads(b->g, y, head_k, hp->n_head_kv[il]),
        .v = plim_ggml_graph_heads(b->g, y, head_v, hp->n_head_kv[il]),
    };
}

static plim_node in_heads(struct plim_build *b, plim_node x, uint32_t head, uint32_t n_head)
{
    return plim_build_reshape(b, x, head, n_head, b->n_tokens, 1);
}

plim_node plim_build_scale_q(struct plim_build *b, plim_node q)
{
    if (!b->attn_scale)
        b->attn_scale = plim_ggml_graph_input(b->g, PLIM_DTYPE_F32, 1, 1, b->n_tokens, 1);
    return plim_build_mul(b, q, b->attn_scale);
}

struct plim_qkv plim_build_qkv(struct plim_build *b, uint32_t il, plim_node x)
{
    const struct plim_hparams *hp = b->hp;
    const uint32_t head_k = plim_hparams_head_k(hp, il), head_v = plim_hparams_head_v(hp, il), flags = hp->arch->graph;
    struct plim_qkv y;
    if (plim_build_has(b, il, PLIM_TENSOR_ROLE_ATTN_QKV)) {
        y = project_fused(b, il, x);
        if (flags & (PLIM_GGML_GRAPH_QK_NORM_FLAT | PLIM_GGML_GRAPH_QKV_CONT))
            y = (struct plim_qkv){ plim_build_cont(b, y.q), plim_build_cont(b, y.k), plim_build_cont(b, y.v) };
    } else {
        y.q = project(b, il, x, PLIM_TENSOR_ROLE_ATTN_Q, head_k);
        y.k = project(b, il, x, PLIM_TENSOR_ROLE_ATTN_K, head_k);
        y.v = project(b, il, x, PLIM_TENSOR_ROLE_ATTN_V, head_v);
    }
    if (!(flags & PLIM_GGML_GRAPH_QK_NORM_LATE)) {
        y.q = plim_build_norm_by(b, y.q, il, PLIM_TENSOR_ROLE_ATTN_Q_NORM);
        y.k = plim_build_norm_by(b, y.k, il, PLIM_TENSOR_ROLE_ATTN_K_NORM);
    }
    if (flags & PLIM_GGML_GRAPH_QK_NORM_FLAT)
        y = (struct plim_qkv){ in_heads(b, y.q, head_k, hp->n_head[il]), in_heads(b, y.k, head_k, hp->n_head_kv[il]),
                               in_heads(b, y.v, head_v, hp->n_head_kv[il]) };
    const plim_node unrotated = y.q;
    y.q = plim_build_rope(b, y.q, il);
    y.k = plim_build_rope(b, y.k, il);
    if (flags & PLIM_GGML_GRAPH_QK_NORM_LATE) {
        y.q = plim_build_norm_by(b, y.q, il, PLIM_TENSOR_ROLE_ATTN_Q_NORM);
        bool is_bare = flags & PLIM_GGML_GRAPH_BARE_NORM && !plim_build_has(b, il, PLIM_TENSOR_ROLE_ATTN_K_NORM);
        y.k = is_bare ? plim_build_norm(b, y.k, 0, 0, (int)il)
                      : plim_build_norm_by(b, y.k, il, PLIM_TENSOR_ROLE_ATTN_K_NORM);
    }
    bool has_rope = y.q != unrotated;
    if (flags & PLIM_GGML_GRAPH_QK_RMS && has_rope) {
        y.q = plim_build_unary(b, y.q);
        y.k = plim_build_unary(b, y.k);
    }
    /* Llama 4 scales where it does not rotate, Mistral 3 everywhere */
    if ((flags & PLIM_GGML_GRAPH_ATTN_SCALE && !has_rope) || hp->has_attn_scale)
        y.q = plim_build_scale_q(b, y.q);
    return y;
}

/* --- the product --- */

/*
 * The most tokens CUDA's vector kernel takes, which reads these cache types as they are (fattn.cu v0.5.0:
 * ggml_cuda_get_best_fattn_kernel(), built without GGML_CUDA_FA_ALL_QUANTS, on compute capability 8.9 and above). Below
 * 8.9 it takes one token less; that decides only where a whole micro-batch has no more than two tokens per sequence, as
 * the buffers are those of the largest graph.
 */
static uint32_t vector_kernel_tokens(const struct plim_build *b, const struct plim_gtensor *q,
                                     const struct plim_gtensor *k, const struct plim_gtensor *v)
{
    enum { MAX_HEAD = 256, HEAD_STEP = 64, MANY_QUERIES = 4, LONG_CACHE = 8192, WIDE_HEAD = 256 };
    const uint32_t n_gqa = k->ne[1] ? q->ne[1] / k->ne[1] : 0;
    const bool is_grouped = n_gqa >= 2 && !b->hp->has_alibi;
    const bool is_long = n_gqa > MANY_QUERIES && (k->ne[0] >= WIDE_HEAD || k->ne[2] >= LONG_CACHE);
    if (k->type != v->type || k->ne[0] > MAX_HEAD || k->ne[0] % HEAD_STEP)
        return 0;
    switch (k->type) {
    case PLIM_DTYPE_Q4_0:
    case PLIM_DTYPE_Q8_0:
        return 2;
    case PLIM_DTYPE_BF16: /* of one sequence, unless heads of K have one of Q each */
        return is_grouped && (q->ne[3] > 1 || is_long) ? 0 : 1;
    default:
        return 0;
    }
}

static uint64_t f16_bytes(const struct plim_gtensor *t)
{
    return plim_bytes_product(plim_bytes_product(2 * (uint64_t)t->ne[0], t->ne[1]), (uint64_t)t->ne[2] * t->ne[3]);
}

/* A GPU gets copies of what the host holds, and the copy of V is no part of that of K. */
static bool is_on_host(const struct plim_build *b, plim_node x)
{
    const plim_node root = plim_build_at(b, x)->root;
    return root && plim_build_at(b, root)->home == b->place->cpu;
}

/* Bytes the CUDA kernels want beside the result: f16 copies of a cache of another type (fattn.cu: get_alloc_size). */
static uint64_t flash_extra(const struct plim_build *b, plim_node q, plim_node k, plim_node v, bool v_is_k)
{
    const struct plim_gtensor *qt = plim_build_at(b, q), *kt = plim_build_at(b, k), *vt = plim_build_at(b, v);
    uint64_t bytes = 0;
    if (qt->ne[2] <= vector_kernel_tokens(b, qt, kt, vt) || !b->cx->epoch->reserves_kv_scratch)
        return 0;
    if (kt->type != PLIM_DTYPE_F16)
        bytes += f16_bytes(kt);
    if (vt->type != PLIM_DTYPE_F16 && (!v_is_k || is_on_host(b, v)))
        bytes += f16_bytes(vt);
    return bytes;
}

/* Without GGML_CUDA_FA_ALL_QUANTS older builds had fewer kernels (fattn.cu of b8390 and b9842). */
static bool had_flash_types(const struct plim_epoch *epoch, enum plim_dtype type_k, enum plim_dtype type_v)
{
    if (epoch->has_flash_types)
        return true;
    return type_k == type_v && (type_k == PLIM_DTYPE_F32 || type_k == PLIM_DTYPE_F16 || type_k == PLIM_DTYPE_Q4_0 ||
                                type_k == PLIM_DTYPE_Q8_0 || (type_k == PLIM_DTYPE_BF16 && epoch->has_flash_bf16));
}

static bool has_flash_kernel(const struct plim_build *b, plim_node q, plim_node k, plim_node v)
{
    const struct plim_gtensor *kt = plim_build_at(b, k), *vt = plim_build_at(b, v);
    uint32_t n_gqa = kt->ne[1] ? plim_build_at(b, q)->ne[1] / kt->ne[1] : 0;
    return had_flash_types(b->cx->epoch, (enum plim_dtype)kt->type, (enum plim_dtype)vt->type) &&
           plim_flash_has_kernel((enum plim_dtype)kt->type, (enum plim_dtype)vt->type, kt->ne[0], vt->ne[0], n_gqa,
                                 b->hp->has_alibi);
}

static bool is_cached(const struct plim_build *b, plim_node x)
{
    plim_node root = plim_build_at(b, x)->root;
    return root && plim_build_at(b, root)->home != PLIM_BACKEND_NONE;
}

/* Flash attention reads f16: K and V straight from the batch are converted first. */
static plim_node to_f16(struct plim_build *b, plim_node x)
{
    return plim_build_at(b, x)->type == PLIM_DTYPE_F32 ? plim_build_cast(b, x, PLIM_DTYPE_F16) : x;
}

plim_node plim_build_flash(struct plim_build *b, plim_node q, plim_node k, plim_node v, plim_node mask, plim_node sinks,
                           bool v_is_k)
{
    const struct plim_gtensor qt = *plim_build_at(b, q);
    plim_node n = plim_ggml_graph_op(b->g, PLIM_OP_FLASH_ATTN, PLIM_DTYPE_F32, plim_build_at(b, v)->ne[0], qt.ne[1],
                                     qt.ne[2], qt.ne[3]);
    plim_ggml_graph_source(b->g, n, q);
    plim_ggml_graph_source(b->g, n, k);
    plim_ggml_graph_source(b->g, n, v);
    plim_ggml_graph_source(b->g, n, mask);
    plim_ggml_graph_source(b->g, n, sinks);
    b->g->tensor[n].extra_bytes = flash_extra(b, q, k, v, v_is_k);
    if (!has_flash_kernel(b, q, k, v))
        b->g->tensor[n].flags |= PLIM_TENSOR_CPU_ONLY;
    return n;
}

/* q [head_k, n_head, tokens], k [head_k, n_kv, cells, stream], v [head_v, n_kv, cells, stream] -> [width, tokens] */
static plim_node flash(struct plim_build *b, uint32_t il, plim_node q, plim_node k, plim_node v, plim_node mask,
                       plim_node sinks, plim_node v_mla, bool v_is_k)
{
    const struct plim_gtensor qt = *plim_build_at(b, q);
    uint64_t head_v = plim_build_at(b, v)->ne[0];
    plim_node n = plim_build_flash(b, q, to_f16(b, k), to_f16(b, v), mask, sinks, v_is_k);
    if (b->n_flash < (int)(sizeof b->flash / sizeof *b->flash))
        b->flash[b->n_flash++] = (struct plim_flash){ n, (uint16_t)il };
    if (v_mla) {
        n = plim_build_strided(b, n, head_v, qt.ne[2], qt.ne[1], qt.ne[3]);
        n = plim_build_mul_mat(b, v_mla, n);
        head_v = plim_build_at(b, n)->ne[0];
        n = plim_build_cont(b, plim_build_strided(b, n, head_v, qt.ne[1], qt.ne[2], qt.ne[3]));
    }
    return plim_build_reshape(b, n, head_v * qt.ne[1], (uint64_t)qt.ne[2] * qt.ne[3], 1, 1);
}

static plim_node classic(struct plim_build *b, plim_node q, plim_node k, plim_node v, plim_node mask, plim_node sinks,
                         plim_node v_mla, uint64_t head_v, bool v_needs_cont)
{
    const struct plim_gtensor qt = *plim_build_at(b, q);
    uint64_t cells = plim_build_at(b, k)->ne[2];
    plim_node kq = plim_ggml_graph_op(b->g, PLIM_OP_MUL_MAT, PLIM_DTYPE_F32, cells, qt.ne[2], qt.ne[1], qt.ne[3]);
    plim_ggml_graph_source(b->g, kq, k);
    plim_ggml_graph_source(b->g, kq, q);
    if (b->hp->arch->graph & PLIM_GGML_GRAPH_SOFTCAP)
        kq = plim_build_unary(b, kq);
    kq = plim_build_add(b, kq, b->kq_bias);
    kq = plim_ggml_graph_like(b->g, PLIM_OP_INPLACE, kq, mask);
    plim_ggml_graph_source(b->g, kq, sinks);
    if (v_needs_cont)
        v = plim_build_cont(b, v);
    plim_node kqv = plim_ggml_graph_op(b->g, PLIM_OP_MUL_MAT, PLIM_DTYPE_F32, head_v, qt.ne[2], qt.ne[1], qt.ne[3]);
    plim_ggml_graph_source(b->g, kqv, v);
    plim_ggml_graph_source(b->g, kqv, kq);
    if (v_mla) {
        kqv = plim_build_mul_mat(b, v_mla, kqv);
        head_v = plim_build_at(b, kqv)->ne[0];
    }
    plim_node n = plim_ggml_graph_op(b->g, PLIM_OP_COMPUTE, PLIM_DTYPE_F32, head_v * qt.ne[1],
                                     (uint64_t)qt.ne[2] * qt.ne[3], 1, 1);
    plim_ggml_graph_source(b->g, n, plim_build_strided(b, kqv, head_v, qt.ne[1], qt.ne[2], qt.ne[3]));
    if (!b->cx->offload_kqv && !b->cx->loses_pins)
        b->g->tensor[n].backend = (int8_t)b->place->cpu;
    return n;
}

plim_node plim_build_attn_mha(struct plim_build *b, uint32_t il, plim_node mask, plim_node q, plim_node k, plim_node v,
                              plim_node sinks, plim_node v_mla, bool v_is_k)
{
    const struct plim_gtensor qt = *plim_build_at(b, q);
    uint64_t n_stream = plim_build_at(b, k)->ne[3], head_v = plim_build_at(b, v)->ne[0];
    bool v_needs_cont = v_is_k || !b->cx->v_trans || !is_cached(b, v);
    q = plim_build_strided(b, q, qt.ne[0], qt.ne[1], qt.ne[2] / n_stream, n_stream);
    q = plim_build_strided(b, q, qt.ne[0], qt.ne[1], qt.ne[2] / n_stream, n_stream);
    plim_node n = b->cx->flash_attn && !b->kq_bias ? flash(b, il, q, k, v, mask, sinks, v_mla, v_is_k)
                                                   : classic(b, q, k, v, mask, sinks, v_mla, head_v, v_needs_cont);
    plim_ggml_graph_expand(b->g, n);
    return n;
}

/* --- with a cache --- */

/* A cache tensor of a layer; layers without one use that of the last layer of their kind that has. */
static uint32_t cache_owner(const struct plim_build *b, uint32_t il)
{
    if (plim_hparams_has_kv(b->hp, il))
        return il;
    return (uint32_t)b->hp->n_layer_kv_from_start - (b->hp->is_swa[il] ? 2 : 1);
}

plim_node plim_build_cache(struct plim_build *b, uint32_t il, bool is_k, const struct plim_attn_inputs *in)
{
    uint32_t owner = cache_owner(b, il);
    int home = b->cx->offload_kqv ? b->place->layer[owner] : b->place->cpu;
    uint64_t width = is_k             ? plim_hparams_k_gqa(b->hp, owner)
                     : b->cx->v_trans ? plim_hparams_v_gqa_max(b->hp)
                                      : plim_hparams_v_gqa(b->hp, owner);
    return plim_ggml_graph_external(b->g, home, 0, is_k ? b->cx->type_k : b->cx->type_v, width, in->cells,
                                    b->cx->n_stream, 1);
}

/* The part of a cache that attention sees: [head, n_kv, cells, stream]. */
static plim_node cache_view(struct plim_build *b, plim_node c, uint32_t head, uint32_t n_kv,
                            const struct plim_attn_inputs *in)
{
    return plim_build_strided(b, c, head, n_kv, in->cells, b->cx->n_stream);
}

/* Transposed, V is stored element by element; strided or narrow rows are copied first. */
static plim_node v_to_store(struct plim_build *b, plim_node v, plim_node c)
{
    const struct plim_gtensor t = *plim_build_at(b, v);
    uint64_t width = (uint64_t)t.ne[0] * t.ne[1];
    if (!b->cx->v_trans || !b->cx->epoch->has_row_inputs) /* copied from where it is to where it goes */
        return plim_build_strided(b, v, width, t.ne[2], 1, 1);
    if (t.flags & PLIM_TENSOR_STRIDED) {
        plim_node flat = plim_ggml_graph_op(b->g, PLIM_OP_COMPUTE, PLIM_DTYPE_F32, width, t.ne[2], 1, 1);
        plim_ggml_graph_source(b->g, flat, v);
        v = flat;
    } else {
        v = plim_build_reshape(b, v, width, t.ne[2], 1, 1);
    }
    if (width < plim_build_at(b, c)->ne[0]) {
        plim_node padded =
            plim_ggml_graph_op(b->g, PLIM_OP_COMPUTE, PLIM_DTYPE_F32, plim_build_at(b, c)->ne[0], t.ne[2], 1, 1);
        plim_ggml_graph_source(b->g, padded, v);
        v = padded;
        width = plim_build_at(b, c)->ne[0];
    }
    return plim_build_reshape(b, v, 1, width * t.ne[2], 1, 1);
}

static void store_k(struct plim_build *b, plim_node cache, plim_node k, const struct plim_attn_inputs *in)
{
    uint64_t width = (uint64_t)plim_build_at(b, k)->ne[0] * plim_build_at(b, k)->ne[1];
    plim_node flat = plim_build_strided(b, k, width, b->n_tokens, 1, 1);
    plim_ggml_graph_expand(b->g, plim_ggml_graph_store(b->g, cache, flat, in->k_rows));
}

plim_node plim_build_store_k(struct plim_build *b, uint32_t il, plim_node k, const struct plim_attn_inputs *in)
{
    plim_node cache = plim_build_cache(b, il, true, in);
    store_k(b, cache, k, in);
    return cache_view(b, cache, plim_hparams_head_k(b->hp, il), b->hp->n_head_kv[il], in);
}

plim_node plim_build_store_v(struct plim_build *b, uint32_t il, plim_node v, const struct plim_attn_inputs *in)
{
    plim_node cache = plim_build_cache(b, il, false, in);
    plim_ggml_graph_expand(b->g, plim_ggml_graph_store(b->g, cache, v_to_store(b, v, cache), in->v_rows));
    return cache_view(b, cache, plim_hparams_head_v(b->hp, il), b->hp->n_head_kv[il], in);
}

static plim_node attend_batch(struct plim_build *b, uint32_t il, const struct plim_attn_inputs *in, plim_node q,
                              plim_node k, plim_node v)
{
    plim_ggml_graph_expand(b->g, q);
    plim_ggml_graph_expand(b->g, k);
    plim_ggml_graph_expand(b->g, v);
    return plim_build_attn_mha(b, il, in->mask, q, k, v, plim_build_weight(b, il, PLIM_TENSOR_ROLE_ATTN_SINKS), 0,
                               false);
}

plim_node plim_build_attn(struct plim_build *b, uint32_t il, plim_node q, plim_node k, plim_node v)
{
    const struct plim_hparams *hp = b->hp;
    const struct plim_attn_inputs *in = hp->is_swa[il] ? &b->attn_swa : &b->attn;
    const bool has_own_kv = k != 0;
    if (in->cells == 0)
        return attend_batch(b, il, in, q, k, v);
    q = plim_build_rotate(b, q, in->k_rot);
    k = plim_build_rotate(b, k, in->k_rot);
    v = plim_build_rotate(b, v, in->v_rot);
    plim_ggml_graph_expand(b->g, q);
    /* the two cache classes expand in different order, which decides the tensors alive together */
    plim_ggml_graph_expand(b->g, hp->n_swa ? k : v);
    plim_ggml_graph_expand(b->g, hp->n_swa ? v : k);
    plim_node k_cache = plim_build_cache(b, il, true, in), v_cache = plim_build_cache(b, il, false, in);
    if (has_own_kv) {
        store_k(b, k_cache, k, in);
        plim_ggml_graph_expand(b->g, plim_ggml_graph_store(b->g, v_cache, v_to_store(b, v, v_cache), in->v_rows));
    }
    plim_node k_view = cache_view(b, k_cache, plim_hparams_head_k(hp, il), hp->n_head_kv[il], in);
    plim_node v_view = cache_view(b, v_cache, plim_hparams_head_v(hp, il), hp->n_head_kv[il], in);
    plim_node sinks = plim_build_weight(b, il, PLIM_TENSOR_ROLE_ATTN_SINKS);
    return plim_build_rotate(b, plim_build_attn_mha(b, il, in->mask, q, k_view, v_view, sinks, 0, false), in->v_rot);
}
