/* SPDX-License-Identifier: MIT */
/* Feed-forward: dense, routed experts, shared experts. See build.h. */
#include "engine/llamacpp/graph/build.h"

/* --- dense --- */

plim_node plim_build_ffn(struct plim_build *b, uint32_t il, plim_node x, enum plim_tensor_role gate,
                         enum plim_tensor_role up, enum plim_tensor_role down)
{
    const uint32_t n_in = plim_build_at(b, plim_build_weight(b, il, down))->ne[0];
    plim_node y = plim_build_project(b, il, up, x);
    if (plim_build_has(b, il, gate))
        y = plim_build_glu(b, plim_build_project(b, il, gate, x), y);
    else if (plim_build_at(b, y)->ne[0] == 2 * n_in)
        y = plim_build_glu(b, y, 0); /* gate and up in one matrix */
    else
        y = plim_build_mul(b, plim_build_unary(b, y), plim_build_weight(b, il, PLIM_TENSOR_ROLE_FFN_ACT));
    y = plim_build_norm_by(b, y, il, PLIM_TENSOR_ROLE_FFN_SUB_NORM);
    return plim_build_project(b, il, down, y);
}

/* --- routed experts --- */

/* The tensors of one set of experts, and how many of them a token uses. */
struct experts {
    enum plim_tensor_role gate_up, up, gate, down;
    uint32_t n_expert, n_used;
};

static bool norms_weights(const struct plim_hparams *hp)
{
    return hp->has_expert_weights_norm ? hp->expert_weights_norm : (hp->arch->graph & PLIM_GGML_GRAPH_MOE_NORM) != 0;
}

static plim_node argsort(struct plim_build *b, plim_node x, uint64_t n)
{
    const struct plim_gtensor t = *plim_build_at(b, x);
    plim_node sorted = plim_ggml_graph_op(b->g, PLIM_OP_COMPUTE, PLIM_DTYPE_I32, t.ne[0], t.ne[1], t.ne[2], t.ne[3]);
    plim_ggml_graph_source(b->g, sorted, x);
    return plim_ggml_graph_columns(b->g, sorted, n);
}

/* Let only the best groups of experts take part (DeepSeek-V3). */
static plim_node mask_groups(struct plim_build *b, plim_node x)
{
    const struct plim_hparams *hp = b->hp;
    const uint64_t per_group = hp->n_expert / hp->n_expert_groups, n_tokens = plim_build_at(b, x)->ne[1];
    plim_node groups = plim_build_reshape(b, x, per_group, hp->n_expert_groups, n_tokens, 1);
    plim_node top = argsort(b, groups, 2);
    plim_node scores = plim_ggml_graph_op(b->g, PLIM_OP_GET_ROWS, PLIM_DTYPE_F32, 1, 2, hp->n_expert_groups, n_tokens);
    plim_ggml_graph_source(b->g, scores, plim_build_reshape(b, groups, 1, per_group, hp->n_expert_groups, n_tokens));
    plim_ggml_graph_source(b->g, scores, top);
    scores = plim_build_compute(b, scores, hp->n_expert_groups, n_tokens, 1, 1);
    plim_node chosen = argsort(b, scores, hp->n_group_used);
    plim_node kept = plim_build_get_rows(b, groups, chosen);
    plim_node masked = plim_ggml_graph_store(b->g, plim_build_unary(b, groups), kept, chosen);
    return plim_build_reshape(b, masked, hp->n_expert, n_tokens, 1, 1);
}

/* GroveMoE: the numbers of the groups that the experts are in, computed in f32. */
static plim_node to_groups(struct plim_build *b, plim_node ids)
{
    const struct plim_gtensor t = *plim_build_at(b, ids);
    plim_node number = plim_ggml_graph_op(b->g, PLIM_OP_COMPUTE, PLIM_DTYPE_F32, t.ne[0], t.ne[1], t.ne[2], t.ne[3]);
    plim_ggml_graph_source(b->g, number, ids);
    plim_node group = plim_ggml_graph_op(b->g, PLIM_OP_COMPUTE, PLIM_DTYPE_I32, t.ne[0], t.ne[1], t.ne[2], t.ne[3]);
    plim_ggml_graph_source(b->g, group, plim_build_unary(b, number));
    return group;
}

/* Weights [1, used, tokens] of the chosen experts; the choice itself into *ret_ids. */
static plim_node route(struct plim_build *b, uint32_t il, plim_node logits, const struct experts *e, plim_node *ret_ids)
{
    const uint32_t flags = b->hp->arch->graph;
    const uint64_t n_tokens = plim_build_at(b, logits)->ne[1];
    const bool is_late = flags & PLIM_GGML_GRAPH_MOE_SOFTMAX_LATE;
    plim_node probs = is_late ? logits : plim_build_unary(b, logits);
    plim_node score = probs;
    if (plim_build_has(b, il, PLIM_TENSOR_ROLE_FFN_EXP_PROBS_B)) {
        plim_node bias = plim_build_bias(b, il, PLIM_TENSOR_ROLE_FFN_EXP_PROBS_B);
        score = plim_build_add(b, probs, bias ? bias : plim_build_weight(b, il, PLIM_TENSOR_ROLE_FFN_EXP_PROBS_B));
    }
    if (flags & PLIM_GGML_GRAPH_MOE_SELECT_EARLY) /* Llama 4 by the logits, Grove by their sigmoid */
        score = flags & PLIM_GGML_GRAPH_MOE_WEIGHT_EARLY ? logits : plim_build_unary(b, logits);
    if (b->hp->n_expert_groups > 1)
        score = mask_groups(b, score);
    *ret_ids = argsort(b, score, e->n_used);
    if (e->n_expert != b->hp->n_expert)
        *ret_ids = to_groups(b, *ret_ids);
    plim_node w =
        plim_build_get_rows(b, plim_build_reshape(b, probs, 1, plim_build_at(b, probs)->ne[0], n_tokens, 1), *ret_ids);
    if (is_late)
        w = plim_build_reshape(b, plim_build_unary(b, plim_build_reshape(b, w, e->n_used, n_tokens, 1, 1)), 1,
                               e->n_used, n_tokens, 1);
    if (norms_weights(b->hp)) {
        w = plim_build_reshape(b, w, e->n_used, n_tokens, 1, 1);
        plim_node sum = plim_build_unary(b, plim_build_compute(b, w, 1, n_tokens, 1, 1)); /* clamped away from 0 */
        w = plim_build_reshape(b, plim_build_mul(b, w, sum), 1, e->n_used, n_tokens, 1);
    }
    if (b->hp->expert_weights_scale)
        w = plim_build_unary(b, w);
    return w;
}

/* x through one matrix of each chosen expert, with its scale and bias. */
static plim_node project_id(struct plim_build *b, uint32_t il, enum plim_tensor_role role, plim_node x, plim_node ids,
                            plim_node *ret_scale)
{
    plim_node y = plim_build_mul_mat_id(b, plim_build_weight(b, il, role), x, ids);
    if (role == PLIM_TENSOR_ROLE_FFN_DOWN_EXPS && b->hp->arch->graph & PLIM_GGML_GRAPH_MOE_DOWN_F32)
        b->g->tensor[y].flags |= PLIM_TENSOR_CPU_ONLY;
    plim_node scale = plim_build_scale_of(b, il, role);
    if (scale) {
        uint64_t n_expert = plim_build_at(b, scale)->ne[0], n_tokens = plim_build_at(b, y)->ne[2];
        scale = plim_build_reshape(b, scale, 1, n_expert, 1, 1);
        scale = plim_build_get_rows(b, plim_build_compute(b, scale, 1, n_expert, n_tokens, 1), ids);
        y = plim_build_mul(b, y, scale);
        if (ret_scale)
            *ret_scale = scale;
    }
    plim_node bias = plim_build_bias(b, il, role);
    y = plim_build_add(b, y, bias);
    if (bias)
        plim_ggml_graph_source(b->g, y, ids);
    return y;
}

static plim_node activate(struct plim_build *b, uint32_t il, const struct experts *e, plim_node x, plim_node ids)
{
    if (plim_build_has(b, il, e->gate_up)) {
        plim_node both = project_id(b, il, e->gate_up, x, ids, NULL);
        const uint64_t n_ff = plim_build_at(b, both)->ne[0] / 2;
        plim_node gate = plim_ggml_graph_columns(b->g, both, n_ff);
        return plim_build_glu(b, gate, plim_ggml_graph_columns(b->g, both, n_ff));
    }
    plim_node up = project_id(b, il, e->up, x, ids, NULL);
    if (!plim_build_has(b, il, e->gate))
        return plim_build_unary(b, up);
    return plim_build_glu(b, project_id(b, il, e->gate, x, ids, NULL), up);
}

/* --- tensors that fused CUDA kernels keep alive (ggml-cuda.cu: ggml_backend_cuda_graph_optimize) --- */

/* Expert counts that the kernel exists for (topk-moe.cu: ggml_cuda_should_use_topk_moe). */
static bool can_fuse_routing(const struct plim_build *b, uint32_t n_expert)
{
    if (!b->cx->epoch->keeps_fused ||
        b->hp->arch->graph & (PLIM_GGML_GRAPH_MOE_SOFTMAX_LATE | PLIM_GGML_GRAPH_MOE_SELECT_EARLY) ||
        b->hp->n_expert_groups > 1)
        return false;
    return (n_expert <= 512 && (n_expert & (n_expert - 1)) == 0) || n_expert == 288 || n_expert == 576;
}

/*
 * Routing in one kernel: everything from the logits to the weights stays until the next node. Kept in the engine's
 * order, a node and its sources, in which the space is given back.
 */
static void keep_routing(struct plim_build *b, plim_node logits, plim_node first, plim_node last, plim_node until)
{
    const plim_node *end = b->g->node + b->g->n_nodes, *n = end;
    if (b->g->overflow) /* not all nodes are there, and looking for them takes long */
        return;
    while (n > b->g->node && *(n - 1) != first)
        n--;
    if (n == b->g->node)
        return;
    plim_ggml_graph_keep(b->g, &(struct plim_ggml_keep){ first, until, first, last });
    plim_ggml_graph_keep(b->g, &(struct plim_ggml_keep){ logits, until, first, last });
    for (; n < end && *(n - 1) != last; n++)
        plim_ggml_graph_keep(b->g, &(struct plim_ggml_keep){ *n, until, first, last });
}

/* Weighting and summing in one kernel: the experts' outputs, weights and scales stay until the sum. */
static void keep_summing(struct plim_build *b, plim_node down, plim_node weights, plim_node scale, plim_node weighted,
                         plim_node sum, uint32_t n_used)
{
    enum { MIN_FUSED = 2, MAX_FUSED = 15 /* MOE_WEIGHTED_REDUCTION_MAX_EXPERTS */ };
    if (!b->cx->epoch->keeps_fused || n_used < MIN_FUSED || n_used > MAX_FUSED)
        return;
    bool is_scaled = scale && plim_build_at(b, down)->n_sources == 2; /* and not biased after it */
    const plim_node kept[] = { is_scaled ? plim_build_at(b, down)->source[0] : down, weights, is_scaled ? scale : 0 };
    for (unsigned i = 0; i < sizeof kept / sizeof *kept && kept[i]; i++)
        plim_ggml_graph_keep(b->g, &(struct plim_ggml_keep){ kept[i], sum, weighted, sum });
}

/* --- a set of experts --- */

static plim_node sum_experts(struct plim_build *b, plim_node weighted, uint32_t n_used)
{
    plim_node part[PLIM_MAX_EXPERTS_USED] = { 0 };
    for (uint32_t i = 0; i < n_used; i++) {
        part[i] = plim_ggml_graph_plane(b->g, weighted);
        plim_ggml_graph_expand(b->g, part[i]);
    }
    plim_node sum = part[0];
    for (uint32_t i = 1; i < n_used; i++) {
        sum = plim_build_add(b, sum, part[i]);
        plim_ggml_graph_expand(b->g, sum);
    }
    return n_used == 1 ? plim_build_cont(b, sum) : sum;
}

static plim_node run_experts(struct plim_build *b, uint32_t il, plim_node x, plim_node logits, const struct experts *e)
{
    const struct plim_gtensor t = *plim_build_at(b, x);
    const bool is_early = b->hp->arch->graph & PLIM_GGML_GRAPH_MOE_WEIGHT_EARLY;
    plim_node ids, scale = 0;
    const plim_node first = (plim_node)b->g->n_tensors;
    plim_node weights = route(b, il, logits, e, &ids);
    plim_ggml_graph_expand(b->g, weights);
    const int n_routed = b->g->n_nodes;
    x = plim_build_reshape(b, x, t.ne[0], 1, t.ne[1], 1);
    if (is_early)
        x = plim_build_mul(b, plim_build_compute(b, x, t.ne[0], e->n_used, t.ne[1], 1), weights);
    plim_node down = project_id(b, il, e->down, activate(b, il, e, x, ids), ids, &scale);
    plim_node weighted = is_early ? down : plim_build_mul(b, down, weights);
    plim_ggml_graph_expand(b->g, weighted);
    if (can_fuse_routing(b, e->n_expert))
        keep_routing(b, logits, first, weights, b->g->node[n_routed]);
    plim_node sum = sum_experts(b, weighted, e->n_used);
    if (!is_early)
        keep_summing(b, down, weights, scale, weighted, sum, e->n_used);
    return sum;
}

plim_node plim_build_moe(struct plim_build *b, uint32_t il, plim_node x, plim_node logits)
{
    const struct plim_hparams *hp = b->hp;
    const struct experts e = { PLIM_TENSOR_ROLE_FFN_GATE_UP_EXPS,
                               PLIM_TENSOR_ROLE_FFN_UP_EXPS,
                               PLIM_TENSOR_ROLE_FFN_GATE_EXPS,
                               PLIM_TENSOR_ROLE_FFN_DOWN_EXPS,
                               hp->n_expert,
                               hp->n_expert_used_in[il] };
    if (!logits)
        logits = plim_build_project(b, il, PLIM_TENSOR_ROLE_FFN_GATE_INP, x);
    plim_node y = run_experts(b, il, x, logits, &e);
    if (!plim_build_has(b, il, PLIM_TENSOR_ROLE_FFN_UP_CHEXPS))
        return y;
    /* GroveMoE: a second, smaller set of experts chosen by the same router, on the output of the first */
    uint32_t n_chunk = plim_build_at(b, plim_build_weight(b, il, PLIM_TENSOR_ROLE_FFN_UP_CHEXPS))->ne[2];
    const struct experts chunks = { PLIM_TENSOR_ROLE_MAX_,
                                    PLIM_TENSOR_ROLE_FFN_UP_CHEXPS,
                                    PLIM_TENSOR_ROLE_FFN_GATE_CHEXPS,
                                    PLIM_TENSOR_ROLE_FFN_DOWN_CHEXPS,
                                    n_chunk,
                                    e.n_used < n_chunk ? e.n_used : n_chunk };
    return plim_build_add(b, y, plim_build_unary(b, run_experts(b, il, y, logits, &chunks)));
}

/* --- together --- */

static plim_node shared_expert(struct plim_build *b, uint32_t il, plim_node x)
{
    plim_node y = plim_build_ffn(b, il, x, PLIM_TENSOR_ROLE_FFN_GATE_SHEXP, PLIM_TENSOR_ROLE_FFN_UP_SHEXP,
                                 PLIM_TENSOR_ROLE_FFN_DOWN_SHEXP);
    if (!plim_build_has(b, il, PLIM_TENSOR_ROLE_FFN_GATE_INP_SHEXP))
        return y;
    plim_node logit = plim_build_mul_mat(b, plim_build_weight(b, il, PLIM_TENSOR_ROLE_FFN_GATE_INP_SHEXP), x);
    plim_node gate = plim_build_unary(b, logit);
    if (b->hp->arch->graph & PLIM_GGML_GRAPH_SHARED_SILU_GATE)
        gate = plim_build_mul(b, gate, logit);
    return plim_build_mul(b, y, gate);
}

plim_node plim_build_ffn_or_moe(struct plim_build *b, uint32_t il, plim_node x, plim_node logits)
{
    const bool has_dense = plim_build_has(b, il, PLIM_TENSOR_ROLE_FFN_DOWN);
    if (!plim_build_has(b, il, PLIM_TENSOR_ROLE_FFN_DOWN_EXPS))
        return has_dense ? plim_build_ffn(b, il, x, PLIM_TENSOR_ROLE_FFN_GATE, PLIM_TENSOR_ROLE_FFN_UP,
                                          PLIM_TENSOR_ROLE_FFN_DOWN)
                         : x;
    plim_node y = plim_build_moe(b, il, x, logits);
    if (plim_build_has(b, il, PLIM_TENSOR_ROLE_FFN_DOWN_SHEXP))
        y = plim_build_add(b, y, shared_expert(b, il, x));
    if (has_dense) /* Grok: beside the experts */
        y = plim_build_add(
            b, plim_build_ffn(b, il, x, PLIM_TENSOR_ROLE_FFN_GATE, PLIM_TENSOR_ROLE_FFN_UP, PLIM_TENSOR_ROLE_FFN_DOWN),
            y);
    return y;
}
