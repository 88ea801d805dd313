/* SPDX-License-Identifier: MIT */
/*
 * RWKV 6 and 7, and the models that put their time mix into a transformer's layer (QRWKV6, ARWKV7).
 * Source: src/models/rwkv6-base.cpp, rwkv7-base.cpp, rwkv6.cpp, rwkv6qwen2.cpp, rwkv7.cpp, arwkv7.cpp of llama.cpp
 * v0.5.0; ggml_rwkv_wkv6(), ggml_gated_linear_attn(), ggml_rwkv_wkv7() for the shapes of their results.
 */
#include "engine/llamacpp/graph/build.h"

/* A model's layers share this: the values of the first layer (RWKV 7). */
struct mix {
    uint64_t n_embd, head, n_head, n_tokens, n_seq_tokens, n_seqs;
    plim_node first_value;
};

static struct mix mix_of(const struct plim_build *b)
{
    const struct plim_hparams *hp = b->hp;
    return (struct mix){
        .n_embd = hp->n_embd,
        .head = hp->wkv_head_size,
        .n_head = hp->wkv_head_size ? hp->n_embd / hp->wkv_head_size : 0,
        .n_tokens = b->n_tokens,
        .n_seq_tokens = b->n_tokens / b->n_seqs,
        .n_seqs = b->n_seqs,
    };
}

/* --- small steps --- */

static plim_node weight(struct plim_build *b, uint32_t il, enum plim_tensor_role role)
{
    return plim_build_weight(b, il, role);
}

static plim_node through(struct plim_build *b, uint32_t il, enum plim_tensor_role role, plim_node x)
{
    return plim_build_mul_mat(b, plim_build_weight(b, il, role), x);
}

/* x times a weight, plus y */
static plim_node lerp(struct plim_build *b, uint32_t il, enum plim_tensor_role role, plim_node x, plim_node y)
{
    return plim_build_add(b, plim_build_mul(b, x, weight(b, il, role)), y);
}

static plim_node flat(struct plim_build *b, plim_node x, const struct mix *m)
{
    return plim_build_reshape(b, x, m->n_embd, m->n_tokens, 1, 1);
}

static plim_node by_sequence(struct plim_build *b, plim_node x, const struct mix *m)
{
    return plim_build_reshape(b, x, m->n_embd, m->n_seq_tokens, m->n_seqs, 1);
}

static plim_node in_heads(struct plim_build *b, plim_node x, const struct mix *m)
{
    return plim_build_reshape(b, x, m->head, m->n_head, m->n_tokens, 1);
}

/* n of x's vectors per sequence: [n_embd, n, seqs] */
static plim_node some(struct plim_build *b, plim_node x, uint64_t n)
{
    const struct plim_gtensor t = *plim_build_at(b, x);
    const uint64_t bytes = n ? 4 * (uint64_t)t.ne[0] * ((uint64_t)t.ne[1] * (t.ne[2] - 1) + n) : 0;
    return plim_ggml_graph_part(b->g, x, bytes, t.ne[0], n, t.ne[2], 1);
}

/* One after the other along the second dimension. */
static plim_node stack(struct plim_build *b, plim_node x, plim_node y)
{
    const struct plim_gtensor t = *plim_build_at(b, x);
    plim_node n = plim_build_compute(b, x, t.ne[0], (uint64_t)t.ne[1] + plim_build_at(b, y)->ne[1], t.ne[2], 1);
    plim_ggml_graph_source(b->g, n, y);
    return n;
}

/* Every token's predecessor: the last token of the batch before, then x without its last. */
static plim_node predecessors(struct plim_build *b, plim_node shift, plim_node x, const struct mix *m)
{
    return stack(b, shift, some(b, x, m->n_seq_tokens - 1));
}

static plim_node token_shift(struct plim_build *b, uint32_t il, const struct mix *m)
{
    plim_node states = plim_build_states(b, plim_build_state_cache(b, il, false));
    return plim_build_reshape(b, states, m->n_embd, b->hp->token_shift_count, m->n_seqs, 1);
}

static void store_token_shift(struct plim_build *b, uint32_t il, plim_node shift)
{
    const struct plim_gtensor t = *plim_build_at(b, shift);
    const uint64_t n = (uint64_t)t.ne[0] * t.ne[1] * t.ne[2];
    plim_build_store_state(b, plim_build_state_cache(b, il, false),
                           plim_ggml_graph_part(b->g, shift, 4 * n, n, 1, 1, 1));
}

/* --- the state --- */

/* The result holds the outputs and after them the states, which are stored; returns the outputs. */
static plim_node advance(struct plim_build *b, plim_node cache, const plim_node *sources, int n_sources,
                         const struct mix *m)
{
    plim_node y =
        plim_ggml_graph_op(b->g, PLIM_OP_COMPUTE, PLIM_DTYPE_F32, m->n_embd, m->n_tokens + m->head * m->n_seqs, 1, 1);
    for (int i = 0; i < n_sources; i++)
        plim_ggml_graph_source(b->g, y, sources[i]);
    plim_node outputs = plim_build_reshape(b, y, m->n_embd * m->n_tokens, 1, 1, 1);
    plim_build_store_state(b, cache, plim_build_reshape(b, y, m->n_embd * m->head * m->n_seqs, 1, 1, 1));
    return outputs;
}

/* Heads are normalized one by one. */
static plim_node norm_heads(struct plim_build *b, uint32_t il, plim_node x, const struct mix *m)
{
    x = flat(b, plim_build_cont(b, in_heads(b, x, m)), m);
    return plim_build_add(b, lerp(b, il, PLIM_TENSOR_ROLE_TIME_MIX_LN, x, 0),
                          plim_build_bias(b, il, PLIM_TENSOR_ROLE_TIME_MIX_LN));
}

/* --- RWKV 6 --- */

struct inputs6 {
    plim_node w, k, v, r, g;
};

/* x mixed with its predecessors in five ways. */
static struct inputs6 mix6(struct plim_build *b, uint32_t il, plim_node x, plim_node x_prev, const struct mix *m)
{
    enum { N_INPUTS = 5 };
    plim_node sx = flat(b, plim_build_add(b, x_prev, x), m);
    x = flat(b, x, m);
    plim_node y = plim_build_unary(
        b, through(b, il, PLIM_TENSOR_ROLE_TIME_MIX_W1, lerp(b, il, PLIM_TENSOR_ROLE_TIME_MIX_LERP_X, sx, x)));
    const uint64_t rank = plim_build_at(b, y)->ne[0] / N_INPUTS;
    y = plim_build_strided(b, plim_build_reshape(b, y, rank, 1, N_INPUTS, m->n_tokens), rank, 1, m->n_tokens, N_INPUTS);
    plim_node w2 = weight(b, il, PLIM_TENSOR_ROLE_TIME_MIX_W2);
    w2 = plim_build_reshape(b, w2, plim_build_at(b, w2)->ne[0], plim_build_at(b, w2)->ne[1], 1, N_INPUTS);
    y = plim_build_mul_mat(b, w2, plim_build_cont(b, y));
    const bool is_fused = plim_build_has(b, il, PLIM_TENSOR_ROLE_TIME_MIX_LERP_FUSED);
    if (is_fused) {
        y = plim_build_mul(b, plim_build_add(b, y, weight(b, il, PLIM_TENSOR_ROLE_TIME_MIX_LERP_FUSED)),
                           plim_build_reshape(b, sx, m->n_embd, 1, m->n_tokens, 1));
        y = plim_build_add(b, y, plim_build_reshape(b, x, m->n_embd, 1, m->n_tokens, 1));
    }
    static const enum plim_tensor_role roles[N_INPUTS] = {
        PLIM_TENSOR_ROLE_TIME_MIX_LERP_W, PLIM_TENSOR_ROLE_TIME_MIX_LERP_K, PLIM_TENSOR_ROLE_TIME_MIX_LERP_V,
        PLIM_TENSOR_ROLE_TIME_MIX_LERP_R, PLIM_TENSOR_ROLE_TIME_MIX_LERP_G
    };
    plim_node in[N_INPUTS];
    for (int i = 0; i < N_INPUTS; i++) {
        in[i] = flat(b, y, m);
        if (!is_fused)
            in[i] = plim_build_add(b, plim_build_mul(b, plim_build_add(b, in[i], weight(b, il, roles[i])), sx), x);
    }
    return (struct inputs6){ in[0], in[1], in[2], in[3], in[4] };
}

/* Fewer heads of K and V are repeated until there are as many as of R. */
static plim_node all_heads(struct plim_build *b, uint32_t il, plim_node x, const struct mix *m)
{
    const uint64_t n_kv = b->hp->n_head_kv[il];
    if (n_kv != 0 && n_kv != m->n_head)
        x = plim_build_compute(b, plim_build_reshape(b, x, m->head, 1, n_kv, m->n_tokens), m->head, m->n_head / n_kv,
                               n_kv, m->n_tokens);
    return in_heads(b, x, m);
}

static plim_node time_mix6(struct plim_build *b, uint32_t il, plim_node x, plim_node x_prev, const struct mix *m)
{
    const bool is_gla = !plim_build_has(b, il, PLIM_TENSOR_ROLE_TIME_MIX_FIRST); /* QRWKV6: gated linear attention */
    const struct inputs6 in = mix6(b, il, x, x_prev, m);
    plim_node r = in_heads(b, plim_build_project(b, il, PLIM_TENSOR_ROLE_TIME_MIX_RECEPTANCE, in.r), m);
    plim_node k = all_heads(b, il, plim_build_project(b, il, PLIM_TENSOR_ROLE_TIME_MIX_KEY, in.k), m);
    plim_node v = all_heads(b, il, plim_build_project(b, il, PLIM_TENSOR_ROLE_TIME_MIX_VALUE, in.v), m);
    plim_node g = plim_build_unary(b, through(b, il, PLIM_TENSOR_ROLE_TIME_MIX_GATE, in.g));
    plim_node w = plim_build_unary(b, through(b, il, PLIM_TENSOR_ROLE_TIME_MIX_DECAY_W1, in.w));
    w = plim_build_add(b, through(b, il, PLIM_TENSOR_ROLE_TIME_MIX_DECAY_W2, w),
                       weight(b, il, PLIM_TENSOR_ROLE_TIME_MIX_DECAY));
    w = in_heads(b, plim_build_unary(b, w), m);
    if (is_gla)
        k = plim_build_add(b, k, plim_build_mul(b, k, w));
    plim_node cache = plim_build_state_cache(b, il, true), state = plim_build_states(b, cache);
    const plim_node wkv[] = { k, v, r, weight(b, il, PLIM_TENSOR_ROLE_TIME_MIX_FIRST), w, state };
    plim_node y = advance(b, cache, wkv, sizeof wkv / sizeof *wkv, m);
    y = is_gla ? flat(b, y, m) : norm_heads(b, il, y, m);
    y = through(b, il, PLIM_TENSOR_ROLE_TIME_MIX_OUTPUT, plim_build_mul(b, y, g));
    return by_sequence(b, y, m);
}

/* --- RWKV 7 --- */

/* A low-rank projection, with its bias. */
static plim_node low_rank(struct plim_build *b, uint32_t il, enum plim_tensor_role a, enum plim_tensor_role c,
                          enum plim_tensor_role bias, bool is_activated, plim_node x)
{
    x = through(b, il, a, x);
    x = through(b, il, c, is_activated ? plim_build_unary(b, x) : x);
    return bias == PLIM_TENSOR_ROLE_MAX_ ? x : plim_build_add(b, x, weight(b, il, bias));
}

/* From the second layer on, partly the first layer's. */
static plim_node values(struct plim_build *b, uint32_t il, plim_node x, struct mix *m)
{
    plim_node v = through(b, il, PLIM_TENSOR_ROLE_TIME_MIX_VALUE, x);
    if (!m->first_value)
        return m->first_value = v;
    plim_node part = plim_build_unary(b, low_rank(b, il, PLIM_TENSOR_ROLE_TIME_MIX_V1, PLIM_TENSOR_ROLE_TIME_MIX_V2,
                                                  PLIM_TENSOR_ROLE_TIME_MIX_V0, false, x));
    return plim_build_add(b, v, plim_build_mul(b, plim_build_add(b, m->first_value, v), part));
}

/* A bonus for the token itself: the sum over each head of k * r * weight, times v. */
static plim_node bonus(struct plim_build *b, uint32_t il, plim_node k, plim_node r, plim_node v, const struct mix *m)
{
    plim_node rk = weight(b, il, PLIM_TENSOR_ROLE_TIME_MIX_R_K);
    rk = plim_build_mul(b, plim_build_mul(b, k, r), plim_build_reshape(b, rk, m->head, m->n_head, 1, 1));
    rk = plim_build_compute(b, rk, 1, m->n_head, m->n_tokens, 1);
    return flat(b, plim_build_mul(b, v, rk), m);
}

static plim_node time_mix7(struct plim_build *b, uint32_t il, plim_node x, plim_node x_prev, struct mix *m)
{
    const bool is_gated =
        plim_build_has(b, il, PLIM_TENSOR_ROLE_TIME_MIX_G1) && plim_build_has(b, il, PLIM_TENSOR_ROLE_TIME_MIX_G2);
    plim_node in = plim_build_add(b, x_prev, x);
    in = plim_build_compute(b, in, m->n_embd, m->n_seq_tokens, m->n_seqs, is_gated ? 6 : 5); /* r, w, k, v, a and g */
    in = lerp(b, il, PLIM_TENSOR_ROLE_TIME_MIX_LERP_FUSED, in, x);
    plim_node xr = flat(b, in, m), xw = flat(b, in, m), xk = flat(b, in, m), xv = flat(b, in, m), xa = flat(b, in, m);
    plim_node xg = flat(b, in, m);

    plim_node r = through(b, il, PLIM_TENSOR_ROLE_TIME_MIX_RECEPTANCE, xr);
    plim_node w = plim_build_unary(b, low_rank(b, il, PLIM_TENSOR_ROLE_TIME_MIX_W1, PLIM_TENSOR_ROLE_TIME_MIX_W2,
                                               PLIM_TENSOR_ROLE_TIME_MIX_W0, true, xw));
    plim_node k = through(b, il, PLIM_TENSOR_ROLE_TIME_MIX_KEY, xk);
    plim_node v = values(b, il, xv, m);
    plim_node g = is_gated ? low_rank(b, il, PLIM_TENSOR_ROLE_TIME_MIX_G1, PLIM_TENSOR_ROLE_TIME_MIX_G2,
                                      PLIM_TENSOR_ROLE_MAX_, true, xg)
                           : 0;
    plim_node a = plim_build_unary(b, low_rank(b, il, PLIM_TENSOR_ROLE_TIME_MIX_A1, PLIM_TENSOR_ROLE_TIME_MIX_A2,
                                               PLIM_TENSOR_ROLE_TIME_MIX_A0, false, xa));
    plim_node kk = plim_build_cont(
        b, in_heads(b, plim_build_mul(b, k, weight(b, il, PLIM_TENSOR_ROLE_TIME_MIX_K_K)), m)); /* L2 norm */
    plim_node ka = plim_build_mul(b, k, weight(b, il, PLIM_TENSOR_ROLE_TIME_MIX_K_A));
    k = plim_build_add(b, k, plim_build_add(b, plim_build_mul(b, a, ka), ka));
    r = in_heads(b, r, m);
    k = in_heads(b, k, m);
    v = in_heads(b, v, m);

    plim_node cache = plim_build_state_cache(b, il, true), state = plim_build_states(b, cache);
    const plim_node wkv[] = { r,    in_heads(b, w, m),       k,
                              v,    plim_build_unary(b, kk), plim_build_mul(b, kk, in_heads(b, a, m)),
                              state };
    plim_node y = advance(b, cache, wkv, sizeof wkv / sizeof *wkv, m);
    y = plim_build_has(b, il, PLIM_TENSOR_ROLE_TIME_MIX_LN) ? norm_heads(b, il, y, m) : flat(b, y, m);
    y = plim_build_add(b, y, bonus(b, il, k, r, v, m));
    return by_sequence(b, through(b, il, PLIM_TENSOR_ROLE_TIME_MIX_OUTPUT, plim_build_mul(b, y, g)), m);
}

static plim_node time_mix(struct plim_build *b, uint32_t il, plim_node x, plim_node x_prev, struct mix *m)
{
    return plim_build_has(b, il, PLIM_TENSOR_ROLE_TIME_MIX_R_K) ? time_mix7(b, il, x, x_prev, m)
                                                                : time_mix6(b, il, x, x_prev, m);
}

/* --- layers --- */

static plim_node channel_mix(struct plim_build *b, uint32_t il, plim_node x, plim_node x_prev)
{
    plim_node sx = plim_build_add(b, x_prev, x);
    plim_node k =
        through(b, il, PLIM_TENSOR_ROLE_CHANNEL_MIX_KEY, lerp(b, il, PLIM_TENSOR_ROLE_CHANNEL_MIX_LERP_K, sx, x));
    k = through(b, il, PLIM_TENSOR_ROLE_CHANNEL_MIX_VALUE, plim_build_unary(b, k));
    if (!plim_build_has(b, il, PLIM_TENSOR_ROLE_CHANNEL_MIX_RECEPTANCE)) /* RWKV 7 */
        return k;
    plim_node r = through(b, il, PLIM_TENSOR_ROLE_CHANNEL_MIX_RECEPTANCE,
                          lerp(b, il, PLIM_TENSOR_ROLE_CHANNEL_MIX_LERP_R, sx, x));
    return plim_build_mul(b, plim_build_unary(b, r), k);
}

static plim_node rwkv_layer(struct plim_build *b, uint32_t il, plim_node x, struct mix *m)
{
    x = by_sequence(b, x, m);
    plim_node shift = token_shift(b, il, m);
    plim_node h = plim_build_norm_by(b, x, il, PLIM_TENSOR_ROLE_ATTN_NORM);
    plim_node y = time_mix(b, il, h, predecessors(b, some(b, shift, 1), h, m), m);
    x = plim_build_add(b, y, x);
    plim_node h2 = plim_build_norm_by(b, x, il, PLIM_TENSOR_ROLE_ATTN_NORM_2);
    plim_node h2_prev = predecessors(b, some(b, shift, 1), h2, m);
    store_token_shift(b, il, stack(b, some(b, h, 1), some(b, h2, 1)));
    x = plim_build_last_rows(b, il, flat(b, x, m));
    h2 = plim_build_last_rows(b, il, flat(b, h2, m));
    h2_prev = plim_build_last_rows(b, il, flat(b, h2_prev, m));
    return plim_build_add(b, channel_mix(b, il, h2, h2_prev), x);
}

static plim_node hybrid_layer(struct plim_build *b, uint32_t il, plim_node x, struct mix *m)
{
    x = by_sequence(b, x, m);
    plim_node shift = token_shift(b, il, m);
    plim_node h = plim_build_norm_by(b, x, il, PLIM_TENSOR_ROLE_ATTN_NORM);
    plim_node y = time_mix(b, il, h, predecessors(b, shift, h, m), m);
    store_token_shift(b, il, some(b, h, 1));
    x = plim_build_last_rows(b, il, flat(b, plim_build_add(b, y, x), m));
    y = plim_build_norm_by(b, x, il, PLIM_TENSOR_ROLE_FFN_NORM);
    return plim_build_add(
        b, plim_build_ffn(b, il, y, PLIM_TENSOR_ROLE_FFN_GATE, PLIM_TENSOR_ROLE_FFN_UP, PLIM_TENSOR_ROLE_FFN_DOWN), x);
}

void plim_build_rwkv(struct plim_build *b)
{
    struct mix m = mix_of(b);
    plim_node x = plim_build_embeddings(b);
    plim_build_state_inputs(b);
    for (int i = 0; i < b->n_layers; i++) {
        const uint32_t il = b->layers[i];
        const bool has_channel_mix = plim_build_has(b, il, PLIM_TENSOR_ROLE_CHANNEL_MIX_KEY);
        x = has_channel_mix ? rwkv_layer(b, il, x, &m) : hybrid_layer(b, il, x, &m);
    }
    plim_build_head(b, x);
}
