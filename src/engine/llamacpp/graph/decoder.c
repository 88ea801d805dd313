/* SPDX-License-Identifier: MIT */
/* The plain decoder: attention and feed-forward around a residual stream, in all the orders models have them. */
#include "engine/llamacpp/graph/build.h"

/* --- attention part --- */

/* An output gate, one number per element or per head. */
static plim_node gated(struct plim_build *b, uint32_t il, plim_node y, plim_node gate)
{
    const uint32_t width = plim_build_at(b, y)->ne[0], n_tokens = plim_build_at(b, y)->ne[1],
                   n_head = b->hp->n_head[il];
    gate = plim_build_unary(b, gate);
    if (plim_build_at(b, gate)->ne[0] == width)
        return plim_build_mul(b, y, gate);
    y = plim_build_mul(b, plim_build_reshape(b, y, width / n_head, n_head, n_tokens, 1),
                       plim_build_reshape(b, gate, 1, n_head, n_tokens, 1));
    return plim_build_reshape(b, y, width, n_tokens, 1, 1);
}

/* The mixer of a recurrent layer. */
static plim_node advance_states(struct plim_build *b, uint32_t il, plim_node h)
{
    if (plim_build_has(b, il, PLIM_TENSOR_ROLE_SHORTCONV_INPROJ))
        return plim_build_shortconv(b, il, h);
    if (!plim_build_has(b, il, PLIM_TENSOR_ROLE_SSM_X))
        return plim_build_mamba2(b, il, h);
    /* Mamba has a decay per channel and state, PLaMo-2 one per head */
    const bool is_per_head = plim_build_at(b, plim_build_weight(b, il, PLIM_TENSOR_ROLE_SSM_A))->ne[1] == 1;
    return is_per_head ? plim_build_plamo2_mamba(b, il, h) : plim_build_mamba(b, il, h);
}

static plim_node attend(struct plim_build *b, uint32_t il, plim_node x)
{
    const struct plim_hparams *hp = b->hp;
    if (plim_llama_memory_recurs(b->llama, il))
        return advance_states(b, il, x);
    if (hp->n_head[il] == 0) /* Nemotron-Super: a layer without attention */
        return 0;
    if (hp->n_head_kv[il] == 0) /* ... or with a linear map instead */
        return plim_build_project(b, il, PLIM_TENSOR_ROLE_ATTN_OUT, x);
    struct plim_qkv y = plim_build_qkv(b, il, x);
    plim_node a = plim_build_attn(b, il, y.q, y.k, y.v);
    if (plim_build_has(b, il, PLIM_TENSOR_ROLE_ATTN_GATE))
        a = gated(b, il, a, plim_build_project(b, il, PLIM_TENSOR_ROLE_ATTN_GATE, x));
    a = plim_build_norm_by(b, a, il, PLIM_TENSOR_ROLE_ATTN_SUB_NORM);
    return plim_build_project(b, il, PLIM_TENSOR_ROLE_ATTN_OUT, a);
}

/* --- norms: one name can mean a norm before the feed-forward part or one after attention --- */

struct norms {
    enum plim_tensor_role after_attn, before_ffn, after_ffn; /* PLIM_TENSOR_ROLE_MAX_: absent */
};

static struct norms find_norms(const struct plim_build *b, uint32_t il)
{
    const enum plim_tensor_role none = PLIM_TENSOR_ROLE_MAX_;
    const enum plim_tensor_role post =
        plim_build_has(b, il, PLIM_TENSOR_ROLE_ATTN_POST_NORM)  ? PLIM_TENSOR_ROLE_ATTN_POST_NORM
        : plim_build_has(b, il, PLIM_TENSOR_ROLE_ATTN_OUT_NORM) ? PLIM_TENSOR_ROLE_ATTN_OUT_NORM
                                                                : none;
    const enum plim_tensor_role last = plim_build_has(b, il, PLIM_TENSOR_ROLE_FFN_POST_NORM)
                                           ? PLIM_TENSOR_ROLE_FFN_POST_NORM
                                           : PLIM_TENSOR_ROLE_LAYER_OUT_NORM /* Grok */;
    if (b->hp->swin_norm)
        return (struct norms){ PLIM_TENSOR_ROLE_ATTN_NORM, none, PLIM_TENSOR_ROLE_FFN_NORM };
    if (plim_build_has(b, il, PLIM_TENSOR_ROLE_FFN_NORM))
        return (struct norms){ post, PLIM_TENSOR_ROLE_FFN_NORM, last };
    if (plim_build_has(b, il, PLIM_TENSOR_ROLE_FFN_POST_NORM))
        return (struct norms){ post, none, last };
    return (struct norms){ none, post, last };
}

/* The norm of a role; where a model normalizes without weights, also without a role. */
static plim_node normed(struct plim_build *b, plim_node x, uint32_t il, enum plim_tensor_role role)
{
    if (!plim_build_has(b, il, role) && (b->hp->arch->graph & PLIM_GGML_GRAPH_BARE_NORM))
        return plim_build_norm(b, x, 0, 0, (int)il);
    return plim_build_norm_by(b, x, il, role);
}

/* --- a layer --- */

static bool is_parallel(const struct plim_hparams *hp)
{
    switch ((enum plim_residual_rule)hp->arch->residual) {
    case PLIM_RESIDUAL_SERIAL:
    case PLIM_RESIDUAL_SHARED_NORM:
        return false;
    case PLIM_RESIDUAL_FFN_X_ATTN_IF:
        return hp->use_parallel_residual;
    default:
        return true;
    }
}

/* Feed-forward beside attention: x is the layer's input, h attention's input, a its output. */
static plim_node parallel(struct plim_build *b, uint32_t il, plim_node x, plim_node h, plim_node a)
{
    plim_node in =
        plim_build_has(b, il, PLIM_TENSOR_ROLE_FFN_NORM) ? plim_build_norm_by(b, x, il, PLIM_TENSOR_ROLE_FFN_NORM) : h;
    plim_node y = plim_build_ffn_or_moe(b, il, in, 0);
    switch ((enum plim_residual_rule)b->hp->arch->residual) {
    case PLIM_RESIDUAL_FFN_ATTN_X:
        return plim_build_add(b, plim_build_add(b, y, a), x);
    case PLIM_RESIDUAL_ATTN_FFN_X:
        return plim_build_add(b, plim_build_add(b, a, y), x);
    default:
        return plim_build_add(b, plim_build_add(b, y, x), a);
    }
}

static plim_node serial(struct plim_build *b, uint32_t il, plim_node x, plim_node h, plim_node a, plim_node logits)
{
    const struct norms norms = find_norms(b, il);
    const uint32_t flags = b->hp->arch->graph;
    if (!(flags & PLIM_GGML_GRAPH_NORM_BEFORE_ROWS))
        a = plim_build_norm_by(b, a, il, norms.after_attn);
    plim_node sum = flags & PLIM_GGML_GRAPH_X_PLUS_ATTN && x ? plim_build_add(b, x, a) : plim_build_add(b, a, x);
    if (plim_build_has(
            b, il, PLIM_TENSOR_ROLE_FFN_NORM_EXPS)) { /* Arctic: experts on the layer's input, beside a dense part */
        plim_node dense = plim_build_norm_by(b, sum, il, PLIM_TENSOR_ROLE_FFN_NORM);
        dense =
            plim_build_ffn(b, il, dense, PLIM_TENSOR_ROLE_FFN_GATE, PLIM_TENSOR_ROLE_FFN_UP, PLIM_TENSOR_ROLE_FFN_DOWN);
        dense = plim_build_add(b, dense, sum);
        return plim_build_add(b, plim_build_moe(b, il, plim_build_norm_by(b, x, il, PLIM_TENSOR_ROLE_FFN_NORM_EXPS), 0),
                              dense);
    }
    if (!plim_build_has(b, il, PLIM_TENSOR_ROLE_FFN_DOWN) && !plim_build_has(b, il, PLIM_TENSOR_ROLE_FFN_DOWN_EXPS))
        return sum;
    bool is_shared = b->hp->arch->residual == PLIM_RESIDUAL_SHARED_NORM && norms.before_ffn == PLIM_TENSOR_ROLE_MAX_;
    plim_node y = is_shared ? h : normed(b, sum, il, norms.before_ffn);
    if (b->hp->swin_norm) /* the engine reads attention alone here */
        y = a;
    y = plim_build_ffn_or_moe(b, il, y, logits);
    y = plim_build_norm_by(b, y, il, norms.after_ffn);
    return flags & PLIM_GGML_GRAPH_X_PLUS_FFN ? plim_build_add(b, sum, y) : plim_build_add(b, y, sum);
}

/* Some vision models add one slice of the image embeddings after (or before) some layers. */
static plim_node add_deepstack(struct plim_build *b, uint32_t il, plim_node x, bool is_before)
{
    if (!b->hp->adds_deepstack[il] || b->hp->is_deepstack_first != is_before)
        return x;
    return plim_build_add(b, x, plim_ggml_graph_columns(b->g, b->embd, b->hp->n_embd));
}

static plim_node add_skip(struct plim_build *b, uint32_t il, plim_node x, plim_node skip)
{
    return skip ? plim_build_add(b, x,
                                 plim_build_mul(b, skip, plim_build_weight(b, il, PLIM_TENSOR_ROLE_LAYER_OUT_SCALE)))
                : x;
}

static plim_node layer(struct plim_build *b, uint32_t il, plim_node x)
{
    const uint32_t flags = b->hp->arch->graph;
    plim_node skip = flags & PLIM_GGML_GRAPH_EMBD_SKIP ? b->first : 0;
    x = add_deepstack(b, il, x, true);
    plim_node logits = flags & PLIM_GGML_GRAPH_ROUTER_FIRST
                           ? plim_build_mul_mat(b, plim_build_weight(b, il, PLIM_TENSOR_ROLE_FFN_GATE_INP), x)
                           : 0;
    plim_node h =
        b->hp->n_head[il] || plim_llama_memory_recurs(b->llama, il) ? normed(b, x, il, PLIM_TENSOR_ROLE_ATTN_NORM) : x;
    if (b->hp->swin_norm)
        h = x;
    plim_node a = attend(b, il,
                         plim_build_has(b, il, PLIM_TENSOR_ROLE_ATTN_NORM_2)
                             ? plim_build_norm_by(b, x, il, PLIM_TENSOR_ROLE_ATTN_NORM_2)
                             : h);
    if (flags & PLIM_GGML_GRAPH_NORM_BEFORE_ROWS)
        a = plim_build_norm_by(b, a, il, find_norms(b, il).after_attn);
    a = plim_build_last_rows(b, il, a);
    x = plim_build_last_rows(b, il, x);
    skip = plim_build_last_rows(b, il, skip);
    if (is_parallel(b->hp))
        x = parallel(b, il, x, plim_build_last_rows(b, il, h), a);
    else if (!a)
        x = serial(b, il, 0, h, x, logits);
    else
        x = serial(b, il, x, h, a, plim_build_last_rows(b, il, logits));
    return add_deepstack(b, il, add_skip(b, il, x, skip), false);
}

void plim_build_decoder(struct plim_build *b)
{
    plim_node x = plim_build_embeddings(b);
    plim_build_attn_inputs(b);
    plim_build_state_inputs(b);
    for (int i = 0; i < b->n_layers; i++) {
        x = layer(b, b->layers[i], x);
        if (b->hp->has_loop_norm && plim_hparams_ends_loop(b->hp, b->layers[i]))
            x = plim_build_norm(b, x, plim_build_global(b, PLIM_GLOBAL_OUTPUT_NORM), 0, b->layers[i]);
    }
    plim_build_head(b, x);
}
