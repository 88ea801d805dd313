/* SPDX-License-Identifier: MIT */
/*
 * The states of recurrent layers: their cache, and the access of a batch to the states of its sequences.
 * Source: llm_graph_context::build_rs(), build_rs_inp_impl() and llama_memory_recurrent of llama.cpp v0.5.0.
 */
#include "engine/llamacpp/graph/build.h"

void plim_build_state_inputs(struct plim_build *b)
{
    const uint32_t n_cells = b->cx->n_seq_max; /* the graph is reserved with every cell in use */
    b->state_copy = plim_ggml_graph_input(b->g, PLIM_DTYPE_I32, n_cells, 1, 1, 1);
    b->state_copy_main = plim_ggml_graph_view(b->g, b->state_copy, false, b->n_seqs, 1, 1, 1);
    b->state_copy_extra = plim_ggml_graph_view(b->g, b->state_copy, false, n_cells - b->n_seqs, 1, 1, 1);
}

plim_node plim_build_state_cache(struct plim_build *b, uint32_t il, bool is_s)
{
    const int home = b->cx->offload_kqv ? b->place->layer[il] : b->place->cpu;
    const uint64_t width = is_s ? plim_hparams_n_embd_s(b->hp) : plim_hparams_n_embd_r(b->hp);
    const uint64_t n_rows = (uint64_t)b->cx->n_seq_max * (1 + (uint64_t)b->cx->n_rs_seq);
    return plim_ggml_graph_external(b->g, home, 0, PLIM_DTYPE_F32, width, n_rows, 1, 1);
}

void plim_build_store_state(struct plim_build *b, plim_node cache, plim_node value)
{
    plim_ggml_graph_expand(b->g, plim_ggml_graph_store(b->g, cache, value, 0));
}

plim_node plim_build_open_states(struct plim_build *b, plim_node cache)
{
    const struct plim_gtensor t = *plim_build_at(b, cache);
    plim_node rows = plim_build_reshape(b, cache, t.ne[0], t.ne[1], 1, 1);
    /* one cell is cleared in place, to be copied wherever a sequence begins */
    plim_ggml_graph_expand(b->g, plim_ggml_graph_store(b->g, rows, 0, 0));
    return rows;
}

void plim_build_close_states(struct plim_build *b, plim_node cache, plim_node rows, plim_node output)
{
    plim_ggml_graph_expand(b->g, output);
    plim_build_store_state(b, cache, plim_build_get_rows(b, rows, b->state_copy_extra));
}

plim_node plim_build_states(struct plim_build *b, plim_node cache)
{
    plim_node rows = plim_build_open_states(b, cache);
    plim_node states = plim_build_get_rows(b, rows, b->state_copy_main);
    plim_build_close_states(b, cache, rows, states);
    return states;
}

uint32_t plim_build_n_snapshots(const struct plim_build *b)
{
    const uint32_t n_seq_tokens = b->n_tokens / b->n_seqs;
    uint64_t n = 1 + (uint64_t)b->cx->n_rs_seq;
    if (n > PLIM_GGML_GRAPH_MAX_TENSORS) /* no graph holds as many */
        n = PLIM_GGML_GRAPH_MAX_TENSORS;
    return n_seq_tokens < n ? n_seq_tokens : (uint32_t)n;
}

plim_node plim_build_conv(struct plim_build *b, plim_node x, plim_node weight)
{
    const struct plim_gtensor t = *plim_build_at(b, x);
    const uint64_t kernel = plim_build_at(b, weight)->ne[0];
    plim_node n = plim_ggml_graph_op(b->g, PLIM_OP_COMPUTE, PLIM_DTYPE_F32, t.ne[1], t.ne[0] - kernel + 1, t.ne[2], 1);
    plim_ggml_graph_source(b->g, n, x);
    plim_ggml_graph_source(b->g, n, weight);
    if (!plim_cuda_has_ssm_conv(t.ne[1]))
        b->g->tensor[n].flags |= PLIM_TENSOR_CPU_ONLY;
    return n;
}
