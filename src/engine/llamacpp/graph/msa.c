/* SPDX-License-Identifier: MIT */
/*
 * Sparse attention over blocks of positions (MiniMax-M3): one indexer head for each group of query heads scores the
 * past, the best blocks of it may be attended to. A batch gets a mask for that, a token per sequence the keys and
 * values themselves. The engine reserves buffers with an empty cache, and so for the fewest positions there can be.
 * Source: src/models/minimax-m3.cpp of llama.cpp v0.5.0.
 */
#include "engine/llamacpp/graph/build.h"

#include "base/units.h"

enum { MIN_POSITIONS = 256 /* llama_kv_cache_msa_context::get_n_pos() */ };

struct msa {
    plim_node k_rows;                             /* where the indexer's keys go */
    plim_node bias, pos_mask;                     /* per token: of blocks, of positions */
    plim_node pos_slot;                           /* the cell of a position, as an index */
    plim_node pos_slot_f;                         /* ... as a number; a token per sequence only */
    plim_node cell_block;                         /* the block of a cell; batches only */
    plim_node mask;                               /* of all visible cells, in f32 */
    uint64_t block, n_blocks, n_best;             /* positions in a block, blocks, blocks that are chosen */
    uint64_t n_pos, n_cells, n_tokens, n_streams; /* tokens of a stream */
};

/* Without flash attention, or where sequences share a cache, the engine attends to everything. */
static bool is_enabled(const struct plim_build *b)
{
    return b->cx->flash_attn && (b->cx->n_seq_max == 1 || !b->cx->kv_unified);
}

static struct msa inputs(struct plim_build *b)
{
    const uint64_t block = b->hp->indexer_block_size ? b->hp->indexer_block_size : 1;
    struct msa m = {
        .block = block,
        .n_pos = (MIN_POSITIONS + block - 1) / block * block,
        .n_cells = b->cx->n_ctx_seq,
        .n_tokens = b->n_tokens / b->cx->n_stream,
        .n_streams = b->cx->n_stream,
    };
    m.n_blocks = m.n_pos / block;
    m.n_best = b->hp->indexer_top_k < m.n_blocks ? b->hp->indexer_top_k : m.n_blocks;
    m.k_rows = plim_ggml_graph_input(b->g, PLIM_DTYPE_I64, b->n_tokens, 1, 1, 1);
    m.bias = plim_ggml_graph_input(b->g, PLIM_DTYPE_F32, m.n_blocks, b->n_tokens, 1, 1);
    m.pos_mask = plim_ggml_graph_input(b->g, PLIM_DTYPE_F32, m.n_pos, b->n_tokens, 1, 1);
    m.pos_slot = plim_ggml_graph_input(b->g, PLIM_DTYPE_I32, m.n_pos, m.n_streams, 1, 1);
    if (m.n_tokens == 1) {
        m.pos_slot_f = plim_ggml_graph_input(b->g, PLIM_DTYPE_F32, m.n_pos, m.n_streams, 1, 1);
    } else {
        m.cell_block = plim_ggml_graph_input(b->g, PLIM_DTYPE_I32, m.n_cells, m.n_streams, 1, 1);
        m.mask = plim_build_cast(b, b->attn.mask, PLIM_DTYPE_F32);
    }
    return m;
}

/* --- small things --- */

/* x + y written over x, even if x has other readers (ggml_add_inplace). */
static plim_node add_into(struct plim_build *b, plim_node x, plim_node y)
{
    plim_node n = plim_ggml_graph_like(b->g, PLIM_OP_STORE, x, y);
    b->g->tensor[n].root = plim_build_at(b, x)->root ? plim_build_at(b, x)->root : x;
    return n;
}

static plim_node best(struct plim_build *b, plim_node x, uint64_t n)
{
    const struct plim_gtensor t = *plim_build_at(b, x);
    plim_node top = plim_ggml_graph_op(b->g, PLIM_OP_COMPUTE, PLIM_DTYPE_I32, n, t.ne[1], t.ne[2], t.ne[3]);
    plim_ggml_graph_source(b->g, top, x);
    return top;
}

static plim_node transposed(struct plim_build *b, plim_node x)
{
    const struct plim_gtensor t = *plim_build_at(b, x);
    return plim_build_cont(b, plim_build_strided(b, x, t.ne[1], t.ne[0], t.ne[2], t.ne[3]));
}

static plim_node range(struct plim_build *b, uint64_t n)
{
    return plim_ggml_graph_op(b->g, PLIM_OP_COMPUTE, PLIM_DTYPE_F32, n, 1, 1, 1);
}

/* The best blocks by the best positions in them, for [n_pos, heads, tokens ...] */
static plim_node choose(struct plim_build *b, const struct msa *m, plim_node score, plim_node bias)
{
    const struct plim_gtensor t = *plim_build_at(b, score);
    score = plim_build_compute(b, score, m->n_blocks, t.ne[1], t.ne[2], t.ne[3]);
    return best(b, plim_build_add(b, score, bias), m->n_best);
}

/* --- a layer's parts --- */

struct layer {
    plim_node q, k, v;           /* q [head, heads, tokens]; k, v: views of the cache */
    plim_node index_q, index_k;  /* the indexer's; index_k: a view of its cache */
    uint64_t head, n_head, n_kv; /* of attention */
    uint64_t index_head, n_index;
};

/* Groups of query heads side by side with streams: one call for all (build_attn_msa_fa). */
static plim_node attend_grouped(struct plim_build *b, const struct layer *l, plim_node q, plim_node k, plim_node v,
                                plim_node mask)
{
    const uint64_t n_channels = plim_build_at(b, k)->ne[3], n_group = l->n_kv ? l->n_head / l->n_kv : 0;
    const uint64_t n_tokens = plim_build_at(b, q)->ne[2], n_rows = n_channels ? l->n_kv * n_tokens / n_channels : 0;
    q = plim_build_strided(b, plim_build_reshape(b, q, l->head, n_group, n_channels, n_rows), l->head, n_group, n_rows,
                           n_channels);
    plim_node y = plim_build_flash(b, q, k, v, mask, 0, false);
    if (n_rows > 1 && n_channels > 1)
        y = plim_build_compute(b, plim_build_strided(b, y, l->head, n_group, n_channels, n_rows), l->head, n_group,
                               n_channels, n_rows);
    return plim_build_reshape(b, y, l->head * l->n_head, n_tokens, 1, 1);
}

/* The part of one stream in a cache: [head, 1, cells, heads] */
static plim_node stream_part(struct plim_build *b, const struct msa *m, plim_node cache, uint64_t head, uint64_t n_head)
{
    const uint64_t row_bytes = plim_dtype_row_bytes((enum plim_dtype)plim_build_at(b, cache)->type, head * n_head);
    return plim_ggml_graph_part(b->g, cache, row_bytes * m->n_cells, head, 1, m->n_cells, n_head);
}

/* --- a batch: one stream after the other, under a mask made of blocks --- */

static plim_node block_mask(struct plim_build *b, const struct msa *m, const struct layer *l, plim_node score)
{
    const uint64_t n_rows = l->n_index * m->n_tokens;
    plim_node bias = plim_build_reshape(b, m->bias, m->n_blocks, 1, m->n_tokens, 1);
    plim_node chosen = choose(b, m, score, bias);
    plim_node hidden = plim_build_cast(b, plim_build_unary(b, bias), PLIM_DTYPE_F16);
    hidden = plim_build_compute(b, hidden, m->n_blocks, l->n_index, m->n_tokens, 1);
    plim_node zeros =
        plim_build_reshape(b, plim_build_unary(b, plim_build_cast(b, chosen, PLIM_DTYPE_F32)), 1, m->n_best, n_rows, 1);
    plim_node shown = plim_ggml_graph_store(b->g, plim_build_reshape(b, hidden, 1, m->n_blocks, n_rows, 1), zeros,
                                            plim_build_reshape(b, chosen, m->n_best, n_rows, 1, 1));
    shown = plim_build_strided(b, shown, m->n_blocks, m->n_tokens, l->n_index, 1);
    shown = plim_build_reshape(b, plim_build_cont(b, shown), m->n_blocks, n_rows, 1, 1);
    return transposed(b, shown);
}

static plim_node attend_stream(struct plim_build *b, const struct msa *m, const struct layer *l)
{
    plim_node keys =
        plim_build_reshape(b, stream_part(b, m, l->index_k, l->index_head, 1), l->index_head, m->n_cells, 1, 1);
    keys = plim_build_get_rows(b, keys, plim_build_reshape(b, m->pos_slot, m->n_pos, 1, 1, 1));
    plim_node q = plim_build_reshape(b, l->index_q, l->index_head, l->n_index * m->n_tokens, 1, 1);
    plim_node score = plim_build_reshape(b, plim_build_mul_mat(b, keys, q), m->n_pos, l->n_index, m->n_tokens, 1);
    score = add_into(b, score, plim_build_reshape(b, m->pos_mask, m->n_pos, 1, m->n_tokens, 1));
    plim_node mask =
        plim_build_get_rows(b, block_mask(b, m, l, score), plim_build_reshape(b, m->cell_block, m->n_cells, 1, 1, 1));
    mask = plim_build_reshape(b, transposed(b, mask), m->n_cells, m->n_tokens, l->n_index, 1);
    mask = add_into(b, mask, plim_build_reshape(b, m->mask, m->n_cells, m->n_tokens, 1, 1));
    mask = plim_build_cast(b, plim_build_reshape(b, mask, m->n_cells, m->n_tokens, 1, l->n_index), PLIM_DTYPE_F16);
    plim_node k = stream_part(b, m, l->k, l->head, l->n_kv), v = stream_part(b, m, l->v, l->head, l->n_kv);
    return attend_grouped(b, l, plim_build_reshape(b, l->q, l->head, l->n_head, m->n_tokens, 1), k, v, mask);
}

static plim_node attend_batch(struct plim_build *b, const struct msa *m, const struct layer *l)
{
    plim_node y = attend_stream(b, m, l);
    for (uint64_t i = 1; i < m->n_streams; i++) {
        plim_node next = attend_stream(b, m, l);
        const struct plim_gtensor t = *plim_build_at(b, y), u = *plim_build_at(b, next);
        plim_node both =
            plim_ggml_graph_op(b->g, PLIM_OP_COMPUTE, PLIM_DTYPE_F32, t.ne[0], (uint64_t)t.ne[1] + u.ne[1], 1, 1);
        plim_ggml_graph_source(b->g, both, y);
        plim_ggml_graph_source(b->g, both, next);
        y = both;
    }
    return y;
}

/* --- a token per sequence: the chosen positions are gathered --- */

/* Rows of the cache (or of x) by number, as attention wants them: [width, chosen, 1, heads * streams] */
static plim_node gather(struct plim_build *b, const struct msa *m, const struct layer *l, plim_node x, plim_node rows)
{
    const uint64_t n_chosen = m->block * m->n_best, n_channels = l->n_index * m->n_streams;
    plim_node y = plim_build_get_rows(b, x, rows);
    return plim_build_reshape(b, y, plim_build_at(b, y)->ne[0], n_chosen, 1, n_channels);
}

static plim_node attend_tokens(struct plim_build *b, const struct msa *m, const struct layer *l)
{
    const uint64_t n_all = m->block * m->n_best * l->n_index, n_streams = m->n_streams;
    plim_node keys =
        plim_build_get_rows(b, plim_build_reshape(b, l->index_k, l->index_head, m->n_cells, n_streams, 1), m->pos_slot);
    plim_node q = plim_build_reshape(b, l->index_q, l->index_head, l->n_index, 1, n_streams);
    plim_node score = plim_build_mul_mat(b, plim_build_reshape(b, keys, l->index_head, m->n_pos, 1, n_streams), q);
    score = add_into(b, score, plim_build_reshape(b, m->pos_mask, m->n_pos, 1, 1, n_streams));
    plim_node chosen = choose(b, m, score, plim_build_reshape(b, m->bias, m->n_blocks, 1, 1, n_streams));
    chosen = plim_build_reshape(b, plim_build_unary(b, plim_build_cast(b, chosen, PLIM_DTYPE_F32)), 1, m->n_best,
                                l->n_index, n_streams);
    plim_node pos = plim_build_compute(b, chosen, m->block, m->n_best, l->n_index, n_streams);
    pos = plim_build_add(b, pos, plim_build_reshape(b, range(b, m->block), m->block, 1, 1, 1));
    pos = plim_build_cast(b, plim_build_reshape(b, pos, n_all, n_streams, 1, 1), PLIM_DTYPE_I32);
    plim_node cell = plim_build_get_rows(b, plim_build_reshape(b, m->pos_slot_f, 1, m->n_pos, n_streams, 1), pos);
    cell = plim_build_unary(b, plim_build_reshape(b, cell, m->block, m->n_best, l->n_index, n_streams));
    cell = plim_build_add(b, cell, plim_build_reshape(b, range(b, l->n_kv), 1, 1, l->n_index, 1));
    plim_node rows = plim_build_cast(b, plim_build_reshape(b, cell, n_all, n_streams, 1, 1), PLIM_DTYPE_I32);
    plim_node k = gather(b, m, l, plim_build_reshape(b, l->k, l->head, l->n_kv * m->n_cells, n_streams, 1), rows);
    plim_node v = gather(b, m, l, plim_build_reshape(b, l->v, l->head, l->n_kv * m->n_cells, n_streams, 1), rows);
    plim_node mask = plim_build_get_rows(b, plim_build_reshape(b, m->pos_mask, 1, m->n_pos, n_streams, 1), pos);
    mask = plim_build_reshape(b, mask, m->block * m->n_best, 1, 1, l->n_index * n_streams);
    k = b->cx->type_k == PLIM_DTYPE_F32
            ? k
            : plim_build_cast(b, k, plim_dtype_is_quantized(b->cx->type_k) ? PLIM_DTYPE_F16 : b->cx->type_k);
    v = b->cx->type_v == PLIM_DTYPE_F32
            ? v
            : plim_build_cast(b, v, plim_dtype_is_quantized(b->cx->type_v) ? PLIM_DTYPE_F16 : b->cx->type_v);
    return attend_grouped(b, l, l->q, k, v, plim_build_cast(b, mask, PLIM_DTYPE_F16));
}

/* --- the decoder --- */

static plim_node attend_sparse(struct plim_build *b, uint32_t il, plim_node h, const struct msa *m)
{
    const struct plim_hparams *hp = b->hp;
    struct layer l = {
        .head = plim_hparams_head_k(hp, il),
        .n_head = hp->n_head[il],
        .n_kv = hp->n_head_kv[il],
        .index_head = hp->indexer_head_size,
        .n_index = hp->indexer_n_head,
    };
    struct plim_qkv y = plim_build_qkv(b, il, h);
    plim_node q = plim_build_reshape(b, plim_build_project(b, il, PLIM_TENSOR_ROLE_INDEXER_Q_PROJ, h), l.index_head,
                                     l.n_index, b->n_tokens, 1);
    plim_node k = plim_build_reshape(b, plim_build_project(b, il, PLIM_TENSOR_ROLE_INDEXER_K_PROJ, h), l.index_head, 1,
                                     b->n_tokens, 1);
    l.index_q = plim_build_rope(b, plim_build_norm_by(b, q, il, PLIM_TENSOR_ROLE_INDEXER_Q_NORM), il);
    k = plim_build_rope(b, plim_build_norm_by(b, k, il, PLIM_TENSOR_ROLE_INDEXER_K_NORM), il);
    l.index_k = plim_build_store_index_keys(b, il, k, m->k_rows);
    l.q = plim_build_rotate(b, y.q, b->attn.k_rot);
    y.k = plim_build_rotate(b, y.k, b->attn.k_rot);
    y.v = plim_build_rotate(b, y.v, b->attn.v_rot);
    plim_ggml_graph_expand(b->g, l.q);
    plim_ggml_graph_expand(b->g, y.k);
    plim_ggml_graph_expand(b->g, y.v);
    l.k = plim_build_store_k(b, il, y.k, &b->attn);
    l.v = plim_build_store_v(b, il, y.v, &b->attn);
    plim_node a = m->n_tokens == 1 ? attend_tokens(b, m, &l) : attend_batch(b, m, &l);
    return plim_build_rotate(b, a, b->attn.v_rot);
}

static plim_node attend(struct plim_build *b, uint32_t il, plim_node h)
{
    struct plim_qkv y = plim_build_qkv(b, il, h);
    return plim_build_attn(b, il, y.q, y.k, y.v);
}

void plim_build_msa(struct plim_build *b)
{
    plim_node x = plim_build_embeddings(b);
    plim_build_attn_inputs(b);
    const bool is_sparse = is_enabled(b);
    const struct msa m = is_sparse ? inputs(b) : (struct msa){ 0 };
    for (int i = 0; i < b->n_layers; i++) {
        const uint32_t il = b->layers[i];
        plim_node h = plim_build_norm_by(b, x, il, PLIM_TENSOR_ROLE_ATTN_NORM);
        plim_node a = is_sparse && il >= b->hp->n_layer_dense_lead ? attend_sparse(b, il, h, &m) : attend(b, il, h);
        a = plim_build_last_rows(b, il, plim_build_project(b, il, PLIM_TENSOR_ROLE_ATTN_OUT, a));
        x = plim_build_add(b, a, plim_build_last_rows(b, il, x));
        x = plim_build_add(b, plim_build_ffn_or_moe(b, il, plim_build_norm_by(b, x, il, PLIM_TENSOR_ROLE_FFN_NORM), 0),
                           x);
    }
    plim_build_head(b, x);
}
