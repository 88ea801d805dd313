/* SPDX-License-Identifier: MIT */
/*
 * Gemma 3n and Gemma 4: decoders in which every layer has an embedding of its own for each token, some layers attend to
 * the cache of an earlier one, and V is normalized. Source: src/models/gemma3n.cpp, gemma4.cpp.
 */
#include "engine/llamacpp/graph/build.h"

/* Layers of Gemma 3n whose feed-forward part keeps only outliers (n_layer_sparsity). */
enum { SPARSE_LAYERS = 10 };

/* --- embeddings per layer --- */

/* One row per layer and token: from the second token table and a projection of the first. [width, tokens, layers] */
static plim_node per_layer_inputs(struct plim_build *b, plim_node x)
{
    plim_node table = plim_build_global(b, PLIM_GLOBAL_PER_LAYER_TOKEN_EMBD);
    plim_node norm = plim_build_global(b, PLIM_GLOBAL_PER_LAYER_PROJ_NORM);
    if (!table || !norm || plim_build_at(b, norm)->ne[0] == 0) /* the engine does not load such a file */
        return 0;
    const uint32_t width = plim_build_at(b, norm)->ne[0], n_layer = plim_build_at(b, table)->ne[0] / width;
    plim_node tokens = plim_ggml_graph_input(b->g, PLIM_DTYPE_I32, b->n_tokens, 1, 1, 1);
    plim_node own = plim_build_reshape(b, plim_build_get_rows(b, table, tokens), width, n_layer, b->n_tokens, 1);
    own = plim_build_unary(b, own);
    if (b->cx->epoch->expands_layer_inputs)
        plim_ggml_graph_expand(b->g, own);
    plim_node projected =
        plim_build_unary(b, plim_build_mul_mat(b, plim_build_global(b, PLIM_GLOBAL_PER_LAYER_MODEL_PROJ), x));
    projected = plim_build_norm(b, plim_build_reshape(b, projected, width, n_layer, b->n_tokens, 1), norm, 0, -1);
    plim_node sum = plim_build_unary(b, plim_build_add(b, projected, own));
    return plim_build_cont(b, plim_build_strided(b, sum, width, b->n_tokens, n_layer, 1));
}

/* A layer's own embedding, gated by x and brought to the width of the model. */
static plim_node per_layer_part(struct plim_build *b, uint32_t il, plim_node x, plim_node inputs)
{
    plim_node gate =
        plim_build_unary(b, plim_build_mul_mat(b, plim_build_weight(b, il, PLIM_TENSOR_ROLE_PER_LAYER_INP_GATE), x));
    plim_node own =
        plim_build_reshape(b, inputs, plim_build_at(b, inputs)->ne[0], plim_build_at(b, inputs)->ne[1], 1, 1);
    plim_node y =
        plim_build_mul_mat(b, plim_build_weight(b, il, PLIM_TENSOR_ROLE_PER_LAYER_PROJ), plim_build_mul(b, gate, own));
    return plim_build_norm_by(b, y, il, PLIM_TENSOR_ROLE_PER_LAYER_POST_NORM);
}

/* --- attention --- */

/* A part of a fused projection, or a projection by itself, in heads. */
static plim_node project(struct plim_build *b, uint32_t il, plim_node x, plim_node fused, enum plim_tensor_role role,
                         uint32_t head, uint32_t n_head)
{
    plim_node y = fused ? plim_build_cont(b, plim_ggml_graph_columns(b->g, fused, (uint64_t)head * n_head))
                        : plim_build_project(b, il, role, x);
    return plim_build_reshape(b, y, head, n_head, b->n_tokens, 1);
}

static plim_node attend(struct plim_build *b, uint32_t il, plim_node x)
{
    const struct plim_hparams *hp = b->hp;
    const uint32_t head = plim_hparams_head_k(hp, il), n_kv = hp->n_head_kv[il];
    plim_node fused =
        plim_build_has(b, il, PLIM_TENSOR_ROLE_ATTN_QKV) ? plim_build_project(b, il, PLIM_TENSOR_ROLE_ATTN_QKV, x) : 0;
    plim_node q = project(b, il, x, fused, PLIM_TENSOR_ROLE_ATTN_Q, head, hp->n_head[il]), k = 0, v = 0;
    q = plim_build_rope(b, plim_build_norm_by(b, q, il, PLIM_TENSOR_ROLE_ATTN_Q_NORM), il);
    if (plim_hparams_has_kv(hp, il)) {
        k = project(b, il, x, fused, PLIM_TENSOR_ROLE_ATTN_K, head, n_kv);
        bool has_v = fused || plim_build_has(b, il, PLIM_TENSOR_ROLE_ATTN_V);
        v = has_v ? project(b, il, x, fused, PLIM_TENSOR_ROLE_ATTN_V, head, n_kv)
                  : plim_build_reshape(b, plim_build_at(b, k)->source[0], head, n_kv, b->n_tokens, 1);
        k = plim_build_rope(b, plim_build_norm_by(b, k, il, PLIM_TENSOR_ROLE_ATTN_K_NORM), il);
        v = plim_build_norm(b, v, 0, 0, (int)il);
    }
    plim_node a = plim_build_project(b, il, PLIM_TENSOR_ROLE_ATTN_OUT, plim_build_attn(b, il, q, k, v));
    return plim_build_norm_by(b, a, il, PLIM_TENSOR_ROLE_ATTN_POST_NORM);
}

/* --- Gemma 4 --- */

/* The dense part and the experts read the same sum through norms of their own; so does the router. */
static plim_node dense_and_experts(struct plim_build *b, uint32_t il, plim_node x)
{
    plim_node dense = plim_build_norm_by(b, x, il, PLIM_TENSOR_ROLE_FFN_NORM);
    dense = plim_build_ffn(b, il, dense, PLIM_TENSOR_ROLE_FFN_GATE, PLIM_TENSOR_ROLE_FFN_UP, PLIM_TENSOR_ROLE_FFN_DOWN);
    if (!plim_build_has(b, il, PLIM_TENSOR_ROLE_FFN_GATE_INP))
        return dense;
    dense = plim_build_norm_by(b, dense, il, PLIM_TENSOR_ROLE_FFN_POST_NORM_1);
    plim_node in = plim_build_norm_by(b, x, il, PLIM_TENSOR_ROLE_FFN_PRE_NORM_2);
    plim_node router = plim_build_unary(b, plim_build_norm(b, x, 0, 0, (int)il));
    router = plim_build_mul(b, router, plim_build_scale_of(b, il, PLIM_TENSOR_ROLE_FFN_GATE_INP));
    plim_node logits = plim_build_mul_mat(b, plim_build_weight(b, il, PLIM_TENSOR_ROLE_FFN_GATE_INP), router);
    plim_node sparse = plim_build_norm_by(b, plim_build_moe(b, il, in, logits), il, PLIM_TENSOR_ROLE_FFN_POST_NORM_2);
    return plim_build_add(b, dense, sparse);
}

static plim_node gemma4_layer(struct plim_build *b, uint32_t il, plim_node x, plim_node inputs)
{
    plim_node sum = plim_build_add(b, attend(b, il, plim_build_norm_by(b, x, il, PLIM_TENSOR_ROLE_ATTN_NORM)), x);
    plim_node y = dense_and_experts(b, il, sum);
    y = plim_build_norm(b, y, plim_build_weight(b, il, PLIM_TENSOR_ROLE_FFN_POST_NORM), 0, -1);
    y = plim_build_add(b, y, sum);
    if (inputs)
        y = plim_build_add(b, y, per_layer_part(b, il, y, inputs));
    return plim_build_mul(b, y, plim_build_weight(b, il, PLIM_TENSOR_ROLE_LAYER_OUT_SCALE));
}

void plim_build_gemma4(struct plim_build *b)
{
    plim_node x = plim_build_embeddings(b);
    plim_build_attn_inputs(b);
    plim_node inputs = per_layer_inputs(b, x);
    for (int i = 0; i < b->n_layers; i++)
        x = gemma4_layer(b, b->layers[i], x, inputs);
    plim_build_head(b, x);
}

/* --- Gemma 3n: several residual streams (AltUp), the first of which goes through the layer --- */

/* A sum (or mean) over each row. */
static plim_node over_rows(struct plim_build *b, plim_node x)
{
    const struct plim_gtensor t = *plim_build_at(b, x);
    return plim_build_compute(b, x, 1, t.ne[1], t.ne[2], t.ne[3]);
}

static plim_node magnitude(struct plim_build *b, plim_node x)
{
    return plim_build_unary(b, over_rows(b, plim_build_unary(b, x)));
}

/* n of the streams of x, without gaps. */
static plim_node streams(struct plim_build *b, plim_node x, uint32_t n)
{
    return plim_build_reshape(b, x, plim_build_at(b, x)->ne[0], plim_build_at(b, x)->ne[1], n, 1);
}

/* The first stream and the others, one after the other. */
static plim_node stack(struct plim_build *b, plim_node first, plim_node others)
{
    const struct plim_gtensor t = *plim_build_at(b, others);
    plim_node n = plim_build_compute(b, first, t.ne[0], t.ne[1], 1 + (uint64_t)t.ne[2], 1);
    plim_ggml_graph_source(b->g, n, others);
    return n;
}

/* y by a matrix per stream, each as long as `like` is. */
static plim_node like_magnitude(struct plim_build *b, plim_node y, plim_node like)
{
    plim_node target = magnitude(b, like);
    return plim_build_mul(b, plim_build_mul(b, y, target), magnitude(b, y));
}

static plim_node spread_streams(struct plim_build *b, plim_node x)
{
    plim_node weight = plim_build_global(b, PLIM_GLOBAL_ALTUP_PROJ);
    plim_node copies =
        plim_build_compute(b, x, plim_build_at(b, x)->ne[0], b->n_tokens, plim_build_at(b, weight)->ne[2], 1);
    return stack(b, x, like_magnitude(b, plim_build_mul_mat(b, weight, copies), x));
}

static plim_node merge_streams(struct plim_build *b, plim_node x)
{
    plim_node weight = plim_build_global(b, PLIM_GLOBAL_ALTUP_UNEMBD_PROJ), first = streams(b, x, 1);
    const uint32_t n_others = plim_build_at(b, weight)->ne[2];
    plim_node others = like_magnitude(b, plim_build_mul_mat(b, weight, streams(b, x, n_others)), first);
    plim_node sum = streams(b, x, 1);
    for (uint32_t i = 0; i < n_others; i++)
        sum = plim_build_add(b, sum, streams(b, others, 1));
    return plim_build_unary(b, sum);
}

static plim_node modalities(struct plim_build *b, uint32_t il, plim_node x)
{
    x = plim_build_unary(b, plim_build_norm_by(b, x, il, PLIM_TENSOR_ROLE_ALTUP_ROUTER_NORM));
    return plim_build_unary(b, plim_build_mul_mat(b, plim_build_weight(b, il, PLIM_TENSOR_ROLE_ALTUP_ROUTER), x));
}

/* The prediction of each stream, a weighted sum of all of them. */
static plim_node predict(struct plim_build *b, uint32_t il, plim_node x)
{
    const struct plim_gtensor t = *plim_build_at(b, x);
    const uint32_t n = t.ne[2];
    plim_node coefs = modalities(b, il, streams(b, x, 1));
    coefs = plim_build_mul_mat(b, plim_build_weight(b, il, PLIM_TENSOR_ROLE_ALTUP_PREDICT_COEF), coefs);
    coefs = plim_build_reshape(b, coefs, n, n, b->n_tokens, 1);
    plim_node by_stream = plim_build_cont(b, plim_build_strided(b, x, n, t.ne[0], b->n_tokens, 1));
    plim_node mixed = plim_build_mul_mat(b, by_stream, coefs);
    return plim_build_add(b, plim_build_cont(b, plim_build_strided(b, mixed, t.ne[0], b->n_tokens, n, 1)), x);
}

/* The streams as predicted, corrected by how far the prediction of the first was off. */
static plim_node correct(struct plim_build *b, uint32_t il, plim_node predictions, plim_node activated)
{
    const struct plim_gtensor t = *plim_build_at(b, predictions);
    plim_node coefs = modalities(b, il, activated);
    plim_node error = plim_build_add(b, activated, streams(b, predictions, 1));
    coefs = plim_build_unary(
        b, plim_build_mul_mat(b, plim_build_weight(b, il, PLIM_TENSOR_ROLE_ALTUP_CORRECT_COEF), coefs));
    coefs = plim_build_strided(b, coefs, b->n_tokens, t.ne[2], 1, 1);
    coefs = plim_build_compute(b, coefs, 1, b->n_tokens, t.ne[2], 1);
    error = plim_build_compute(b, error, t.ne[0], t.ne[1], t.ne[2], 1);
    return plim_build_add(b, plim_build_mul(b, error, coefs), predictions);
}

/* A low-rank branch beside attention (LAuReL). */
static plim_node low_rank(struct plim_build *b, uint32_t il, plim_node x)
{
    plim_node y = plim_build_mul_mat(b, plim_build_weight(b, il, PLIM_TENSOR_ROLE_LAUREL_L), x);
    y = plim_build_mul_mat(b, plim_build_weight(b, il, PLIM_TENSOR_ROLE_LAUREL_R), y);
    return plim_build_add(b, plim_build_norm_by(b, y, il, PLIM_TENSOR_ROLE_LAUREL_POST_NORM), x);
}

/* Only values some standard deviations above the mean. */
static plim_node sparsify(struct plim_build *b, plim_node x)
{
    plim_node mean = over_rows(b, x);
    plim_node deviation = over_rows(b, plim_build_unary(b, plim_build_add(b, x, mean)));
    deviation = plim_build_unary(b, plim_build_unary(b, plim_build_unary(b, deviation)));
    return plim_build_unary(b, plim_build_add(b, x, plim_build_add(b, mean, deviation)));
}

static plim_node feed_forward(struct plim_build *b, uint32_t il, plim_node x)
{
    plim_node up = plim_build_project(b, il, PLIM_TENSOR_ROLE_FFN_UP, x),
              gate = plim_build_project(b, il, PLIM_TENSOR_ROLE_FFN_GATE, x);
    if (il < SPARSE_LAYERS)
        gate = sparsify(b, gate);
    plim_node y =
        plim_build_project(b, il, PLIM_TENSOR_ROLE_FFN_DOWN, plim_build_mul(b, up, plim_build_unary(b, gate)));
    return plim_build_norm(b, y, plim_build_weight(b, il, PLIM_TENSOR_ROLE_FFN_POST_NORM), 0, -1);
}

static plim_node gemma3n_layer(struct plim_build *b, uint32_t il, plim_node x, plim_node inputs)
{
    const uint32_t n_streams = plim_build_at(b, x)->ne[2];
    plim_node predictions = predict(b, il, x);
    plim_node active = streams(b, predictions, 1);
    plim_node h = plim_build_norm_by(b, active, il, PLIM_TENSOR_ROLE_ATTN_NORM);
    plim_node branch = low_rank(b, il, h);
    plim_node sum = plim_build_add(b, attend(b, il, h), active);
    sum = plim_build_unary(b, plim_build_add(b, sum, branch));
    plim_node y =
        plim_build_add(b, feed_forward(b, il, plim_build_norm_by(b, sum, il, PLIM_TENSOR_ROLE_FFN_NORM)), sum);
    plim_node corrected = correct(b, il, predictions, y);
    plim_node first =
        plim_build_mul(b, streams(b, corrected, 1), plim_build_weight(b, il, PLIM_TENSOR_ROLE_ALTUP_CORRECT_SCALE));
    first = per_layer_part(b, il, first, inputs);
    plim_node others = plim_build_add(b, streams(b, corrected, n_streams - 1), first);
    return stack(b, streams(b, corrected, 1), others);
}

void plim_build_gemma3n(struct plim_build *b)
{
    plim_node x = plim_build_embeddings(b);
    plim_build_attn_inputs(b);
    plim_node inputs = per_layer_inputs(b, x);
    x = spread_streams(b, x);
    for (int i = 0; i < b->n_layers; i++)
        x = gemma3n_layer(b, b->layers[i], x, inputs);
    plim_build_head(b, plim_build_get_rows(b, merge_streams(b, x), b->out_ids));
}
