/* SPDX-License-Identifier: MIT */
#include "engine/llamacpp/compute.h"

#include "base/mem.h"
#include "engine/ggml/replay.h"
#include "engine/llamacpp/bound.h"
#include "engine/llamacpp/graph/build.h"
#include "engine/llamacpp/layer_dedup.h"

#include <string.h>

enum { OP_OFFLOAD_MIN_BATCH = 32 /* ggml-cuda.cu: GGML_OP_OFFLOAD_MIN_BATCH */ };

struct plim_workspace {
    struct plim_ggml_graph graph;
    struct plim_ggml_programs *programs;
    const struct plim_ggml_program *program; /* of the graph measured last */
    struct plim_replay replay;
    struct plim_build build;
    plim_node *weight; /* of the build, per tensor of the model */
    struct plim_layers layers;
    struct plim_ggml_checkpoint checkpoint[PLIM_MAX_DEDUPS * PLIM_DEDUP_WATCHED];
    uint32_t rhythm;   /* of the last sample that stood for the whole graph */
    bool is_dedup_off; /* always build every layer */
};

struct plim_workspace *plim_workspace_new(void)
{
    struct plim_workspace *w = plim_alloc(1, sizeof *w);
    if (!w)
        return NULL;
    w->rhythm = 1;
    w->weight = plim_alloc_unset(PLIM_MAX_GGUF_TENSORS, sizeof *w->weight);
    w->programs = plim_ggml_programs_new();
    if (w->weight && w->programs && plim_ggml_graph_init(&w->graph) && plim_replay_init(&w->replay))
        return w;
    return plim_workspace_free(w);
}

struct plim_workspace *plim_workspace_free(struct plim_workspace *workspace)
{
    if (workspace) {
        plim_ggml_graph_done(&workspace->graph);
        plim_ggml_programs_free(workspace->programs);
        plim_replay_done(&workspace->replay);
        plim_free(workspace->weight);
        plim_free(workspace);
    }
    return NULL;
}

void plim_workspace_dedup_off(struct plim_workspace *workspace) { workspace->is_dedup_off = true; }

bool plim_compute_is_pipelined(const struct plim_llama_context *cx, const struct plim_placement *place)
{
    return place->n_gpu > 1 && place->is_full && cx->is_layer_split && cx->offload_kqv && !place->has_overrides &&
           !cx->no_pipeline;
}

/* --- graphs --- */

struct batch {
    uint32_t n_tokens, n_outputs;
    uint32_t n_seqs; /* 0: the greatest number */
};

struct run {
    struct plim_workspace *w;
    const struct plim_llama *llama;
    const struct plim_llama_context *cx;
    const struct plim_placement *place;
};

static void build(const struct run *run, struct batch batch)
{
    struct plim_workspace *w = run->w;
    plim_ggml_graph_reset(&w->graph);
    memset(w->weight, 0, run->llama->n_tensors * sizeof *w->weight);
    w->build = (struct plim_build){
        .g = &w->graph,
        .llama = run->llama,
        .hp = &run->llama->hp,
        .cx = run->cx,
        .place = run->place,
        .n_tokens = batch.n_tokens,
        .n_seqs = batch.n_seqs ? batch.n_seqs : run->cx->n_seq_graph,
        .n_outputs = batch.n_outputs,
        .is_full_offload = run->place->is_full,
        .layers = run->w->layers.layer,
        .n_layers = run->w->layers.n_layers,
        .weight = w->weight,
    };
    run->llama->hp.arch->build(&w->build);
}

/* The memory of the graph of these layers; false when it cannot be represented. */
static bool measure(const struct run *run, struct batch batch, uint64_t *ret_bytes, bool *ret_is_steady)
{
    struct plim_workspace *w = run->w;
    const struct plim_schedule_params params = {
        .n_backends = run->place->n_gpu + 1,
        .op_offload = run->cx->op_offload,
        .op_offload_batch = OP_OFFLOAD_MIN_BATCH,
        .offload_to = run->cx->first_gpu,
        .pipeline = plim_compute_is_pipelined(run->cx, run->place),
    };
    build(run, batch);
    const bool is_marked = w->build.n_started == run->w->layers.n_layers;
    const int n = is_marked ? plim_dedup_checkpoints(&run->w->layers, w->build.start, w->checkpoint) : 0;
    w->program = plim_ggml_programs_get(w->programs, &w->graph, &params, w->checkpoint, n);
    if (!w->program)
        return false;
    plim_replay(&w->replay, &w->graph, w->program, w->checkpoint, n, ret_bytes);
    *ret_is_steady =
        run->w->layers.n_dedups == 0 || (is_marked && plim_dedup_is_steady(&run->w->layers, w->checkpoint));
    return true;
}

/* Measure a sample of the layers; false when it does not stand for all of them, or cannot be represented. */
static bool measure_sample(const struct run *run, struct batch batch, uint32_t rhythm, bool by_types,
                           uint64_t *ret_bytes)
{
    struct plim_workspace *w = run->w;
    bool is_steady = false;
    plim_layers_dedup(run->llama, run->place, rhythm, by_types, &w->layers);
    return measure(run, batch, ret_bytes, &is_steady) && is_steady;
}

/*
 * The types of weights matter where weights are copied, which they are for large batches. A rhythm that stood for all
 * will do so again; else the other one is tried, and then every layer.
 */
static bool measure_layers(const struct run *run, struct batch batch, uint64_t *ret_bytes)
{
    struct plim_workspace *w = run->w;
    const bool expects_copies = run->cx->op_offload && batch.n_tokens >= OP_OFFLOAD_MIN_BATCH;
    const bool is_looped = run->llama->hp.n_layer_file < run->llama->hp.n_layer; /* copies are kept for the next run */
    for (int i = 0; i < 2 && !w->is_dedup_off && !is_looped; i++) {
        bool is_done =
            !expects_copies && measure_sample(run, batch, w->rhythm, false, ret_bytes) && !w->program->copies_weights;
        if (is_done || measure_sample(run, batch, w->rhythm, true, ret_bytes))
            return true;
        w->rhythm = 3 - w->rhythm;
    }
    bool is_steady;
    plim_layers_all(run->llama, &w->layers);
    return measure(run, batch, ret_bytes, &is_steady);
}

/* Raise ret_bytes to the need of this batch; false when the graph cannot be represented. */
static bool reserve(const struct run *run, struct batch batch, uint64_t *ret_bytes)
{
    uint64_t bytes[PLIM_MAX_DEVICES + 1];
    if (!measure_layers(run, batch, bytes))
        return false;
    for (int i = 0; i <= run->place->n_gpu; i++)
        ret_bytes[i] = bytes[i] > ret_bytes[i] ? bytes[i] : ret_bytes[i];
    return true;
}

/* llama_context::resolve_fused_ops(), of the graph measured last. */
static bool flash_matches_layers(const struct run *run)
{
    const struct plim_build *b = &run->w->build;
    for (int i = 0; i < b->n_flash; i++)
        if (run->w->program->backend[b->flash[i].node] != run->place->layer[b->flash[i].layer])
            return false;
    return true;
}

/*
 * The engine reserves for a prompt and for one token of each sequence, and settles flash attention on the latter. When
 * all is on one GPU the prompt's graph is the larger one in every tensor, and nodes have nowhere else to go.
 */
static bool reserve_all(const struct run *run, struct plim_llama_context *cx, struct plim_compute *c)
{
    const struct plim_placement *place = run->place;
    const bool is_on_one_gpu = place->is_full && place->n_gpu == 1 && !place->has_overrides && cx->offload_kqv;
    const uint32_t n_seqs = cx->n_seq_graph;
    const bool has_most_outputs = cx->n_outputs >= n_seqs;
    const struct batch prompt = { cx->n_tokens, cx->n_outputs, 0 }, one_each = { n_seqs, n_seqs, 0 };
    const struct batch one_seq = { cx->n_ubatch < cx->n_ctx ? cx->n_ubatch : cx->n_ctx, cx->n_outputs, 1 };
    const bool is_prompt_enough = is_on_one_gpu && has_most_outputs && !run->w->is_dedup_off;
    const struct batch first = is_prompt_enough ? prompt : one_each;
    if (!reserve(run, first, c->bytes))
        return false;
    if (cx->flash_attn_auto && cx->flash_attn && !flash_matches_layers(run)) {
        cx->flash_attn = false;
        memset(c->bytes, 0, sizeof c->bytes);
        if (!reserve(run, first, c->bytes))
            return false;
    }
    if (!is_prompt_enough && !reserve(run, prompt, c->bytes))
        return false;
    return !run->llama->hp.arch->reserves_one_seq || cx->n_seq_max == 1 || reserve(run, one_seq, c->bytes);
}

void plim_compute_size(struct plim_workspace *workspace, const struct plim_llama *llama,
                       const struct plim_llama_context *cx, const struct plim_placement *place,
                       struct plim_compute *ret_compute)
{
    struct plim_compute *c = ret_compute;
    struct plim_llama_context context = *cx;
    struct run run = { workspace, llama, &context, place };
    *c = (struct plim_compute){ .basis = PLIM_COMPUTE_BOUNDED, .flash_attn = cx->flash_attn };
    if (llama->hp.arch->build && reserve_all(&run, &context, c))
        c->basis = PLIM_COMPUTE_REPLAYED;
    else
        plim_bound_compute(llama, &context, place, c->bytes);
    c->flash_attn = context.flash_attn;
}
