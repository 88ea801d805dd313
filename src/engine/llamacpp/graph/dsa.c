/* SPDX-License-Identifier: MIT */
/*
 * Sparse latent attention (DeepSeek-3.2, GLM-5): an indexer, a small attention with a cache of keys of its own, scores
 * the past and chooses the tokens that may be attended to. In GLM-5 only some layers have one; the others take over
 * the choice of the layer before.
 * Source: src/models/deepseek32.cpp, glm-dsa.cpp, llm_graph_context::build_attn() with llm_graph_input_attn_k_dsa of
 * llama.cpp v0.5.0.
 */
#include "engine/llamacpp/graph/build.h"

/* The inputs of all indexers: the rows of the keys to write, the mask, the rotation of queries and keys. */
struct inputs {
    plim_node k_rows, mask, rot;
};

static struct inputs indexer_inputs(struct plim_build *b)
{
    const struct plim_llama_context *cx = b->cx;
    const uint32_t head = b->hp->indexer_head_size;
    return (struct inputs){
        .k_rows = plim_ggml_graph_input(b->g, PLIM_DTYPE_I64, b->n_tokens, 1, 1, 1),
        .mask = plim_ggml_graph_input(b->g, PLIM_DTYPE_F16, cx->n_ctx_seq, b->n_tokens / cx->n_stream, 1, cx->n_stream),
        .rot = plim_ggml_graph_input(b->g, PLIM_DTYPE_F32, head, head, 1, 1),
    };
}

/* --- the indexer --- */

/* Shapes that CUDA has a kernel for (lightning-indexer.cu: ggml_cuda_lightning_indexer_supported). */
static bool has_kernel(const struct plim_build *b)
{
    const struct plim_hparams *hp = b->hp;
    return hp->indexer_head_size == 128 && (hp->indexer_n_head == 32 || hp->indexer_n_head == 64) &&
           plim_flash_has_type(b->cx->type_k);
}

plim_node plim_build_store_index_keys(struct plim_build *b, uint32_t il, plim_node k, plim_node rows)
{
    const struct plim_llama_context *cx = b->cx;
    const uint32_t head = b->hp->indexer_head_size;
    const int home = cx->offload_kqv ? b->place->layer[il] : b->place->cpu;
    plim_node cache = plim_ggml_graph_external(b->g, home, 0, cx->type_k, head, cx->n_ctx_seq, cx->n_stream, 1);
    plim_ggml_graph_expand(b->g,
                           plim_ggml_graph_store(b->g, cache, plim_build_strided(b, k, head, b->n_tokens, 1, 1), rows));
    return plim_build_strided(b, cache, head, 1, cx->n_ctx_seq, cx->n_stream);
}

static plim_node index_keys(struct plim_build *b, uint32_t il, plim_node h, const struct inputs *in)
{
    const uint32_t head = b->hp->indexer_head_size;
    plim_node k = plim_build_mul_mat(b, plim_build_weight(b, il, PLIM_TENSOR_ROLE_INDEXER_ATTN_K), h);
    k = plim_build_norm_by(b, k, il, PLIM_TENSOR_ROLE_INDEXER_K_NORM);
    k = plim_build_rope(b, plim_build_reshape(b, k, head, 1, b->n_tokens, 1), il);
    return plim_build_store_index_keys(b, il, plim_build_mul_mat(b, in->rot, k), in->k_rows);
}

/* The best tokens of the past for each token: [n_top, tokens, 1, streams] */
static plim_node choose(struct plim_build *b, uint32_t il, plim_node h, plim_node low, const struct inputs *in)
{
    const struct plim_hparams *hp = b->hp;
    const uint32_t head = hp->indexer_head_size, n_head = hp->indexer_n_head, n_cells = b->cx->n_ctx_seq;
    const uint32_t n_stream = b->cx->n_stream, n_tokens = b->n_tokens / n_stream;
    plim_node k = index_keys(b, il, h, in);
    plim_node q = plim_build_mul_mat(b, plim_build_weight(b, il, PLIM_TENSOR_ROLE_INDEXER_ATTN_Q_B), low);
    q = plim_build_rope(b, plim_build_reshape(b, q, head, n_head, b->n_tokens, 1), il);
    q = plim_build_reshape(b, plim_build_mul_mat(b, in->rot, q), head, n_head, n_tokens, n_stream);
    plim_node weights = plim_build_mul_mat(b, plim_build_weight(b, il, PLIM_TENSOR_ROLE_INDEXER_PROJ), h);
    weights = plim_build_unary(b, plim_build_reshape(b, weights, n_head, n_tokens, 1, n_stream));
    plim_node score = plim_ggml_graph_op(b->g, PLIM_OP_COMPUTE, PLIM_DTYPE_F32, n_cells, n_tokens, 1, n_stream);
    const plim_node sources[] = { q, k, weights, in->mask };
    for (unsigned i = 0; i < sizeof sources / sizeof *sources; i++)
        plim_ggml_graph_source(b->g, score, sources[i]);
    if (!has_kernel(b))
        b->g->tensor[score].flags |= PLIM_TENSOR_CPU_ONLY;
    const uint32_t n_top = n_cells < hp->indexer_top_k ? n_cells : hp->indexer_top_k;
    plim_node top = plim_ggml_graph_op(b->g, PLIM_OP_COMPUTE, PLIM_DTYPE_I32, n_top, n_tokens, 1, n_stream);
    plim_ggml_graph_source(b->g, top, score);
    return plim_build_cont(b, top);
}

/* --- attention to the chosen tokens --- */

/* A mask that hides everything, zeros written where something was chosen, and the causal mask on top. */
static plim_node mask_all_but(struct plim_build *b, plim_node top)
{
    const struct plim_gtensor mask = *plim_build_at(b, b->attn.mask), t = *plim_build_at(b, top);
    plim_node hidden = plim_build_unary(b, b->attn.mask);
    hidden = plim_build_reshape(b, hidden, 1, mask.ne[0], mask.ne[1], mask.ne[3]);
    plim_node zeros = plim_ggml_graph_op(b->g, PLIM_OP_LEAF, PLIM_DTYPE_F32, 1, t.ne[0], t.ne[1], t.ne[3]);
    top = plim_build_reshape(b, top, t.ne[0], t.ne[1], t.ne[3], 1);
    plim_node shown = plim_ggml_graph_store(b->g, hidden, plim_build_unary(b, zeros), top);
    shown = plim_build_reshape(b, shown, mask.ne[0], mask.ne[1], 1, mask.ne[3]);
    return plim_build_add(b, shown, b->attn.mask);
}

static plim_node attend(struct plim_build *b, uint32_t il, struct plim_qkv y, plim_node top)
{
    plim_ggml_graph_expand(b->g, y.q);
    plim_ggml_graph_expand(b->g, y.v);
    plim_ggml_graph_expand(b->g, y.k);
    plim_node k = plim_build_store_k(b, il, y.k, &b->attn);
    plim_node v = plim_ggml_graph_columns(b->g, k, plim_build_at(b, y.v)->ne[0]);
    plim_node v_b = plim_build_weight(b, il, PLIM_TENSOR_ROLE_ATTN_V_B);
    return plim_build_attn_mha(b, il, mask_all_but(b, top), y.q, k, v, 0, v_b, true);
}

void plim_build_dsa(struct plim_build *b)
{
    plim_node x = plim_build_embeddings(b), top = 0;
    plim_build_attn_inputs(b);
    const struct inputs in = indexer_inputs(b);
    for (int i = 0; i < b->n_layers; i++) {
        const uint32_t il = b->layers[i];
        plim_node h = plim_build_norm_by(b, x, il, PLIM_TENSOR_ROLE_ATTN_NORM), low = plim_build_low_query(b, il, h);
        if (b->hp->is_indexer[il] || !top)
            top = choose(b, il, h, low, &in);
        plim_node a = attend(b, il, plim_build_latent_qkv(b, il, h, low), top);
        a = plim_build_last_rows(b, il, plim_build_project(b, il, PLIM_TENSOR_ROLE_ATTN_OUT, a));
        x = plim_build_add(b, a, plim_build_last_rows(b, il, x));
        x = plim_build_add(b, plim_build_ffn_or_moe(b, il, plim_build_norm_by(b, x, il, PLIM_TENSOR_ROLE_FFN_NORM), 0),
                           x);
    }
    plim_build_head(b, x);
}
