/* SPDX-License-Identifier: MIT */
#include "engine/llamacpp/compute.h"

#include "base/mem.h"
#include "engine/ggml/replay.h"
#include "engine/ggml/schedule.h"
#include "engine/llamacpp/bound.h"
#include "engine/llamacpp/build.h"
#include "engine/llamacpp/fold.h"

#include <string.h>

enum { OP_OFFLOAD_MIN_BATCH = 32 /* ggml-cuda.cu: GGML_OP_OFFLOAD_MIN_BATCH */ };

struct plim_workspace {
    struct plim_graph graph;
    struct plim_schedule schedule;
    struct plim_replay replay;
    struct plim_build build;
    plim_node *weight; /* of the build, per tensor of the model */
    struct plim_layers layers;
    struct plim_checkpoint checkpoint[PLIM_MAX_FOLDS * PLIM_FOLD_ROUNDS];
    uint32_t rhythm;  /* of the last fold that stood for the whole */
    bool is_unfolded; /* always build every layer */
};

struct plim_workspace *plim_workspace_new(void)
{
    struct plim_workspace *w = plim_alloc(1, sizeof *w);
    if (!w)
        return NULL;
    w->rhythm = 1;
    w->weight = plim_alloc(PLIM_MAX_GGUF_TENSORS, sizeof *w->weight);
    if (w->weight && plim_graph_init(&w->graph) && plim_schedule_init(&w->schedule) && plim_replay_init(&w->replay))
        return w;
    return plim_workspace_free(w);
}

struct plim_workspace *plim_workspace_free(struct plim_workspace *workspace)
{
    if (workspace) {
        plim_graph_done(&workspace->graph);
        plim_schedule_done(&workspace->schedule);
        plim_replay_done(&workspace->replay);
        plim_free(workspace->weight);
        plim_free(workspace);
    }
    return NULL;
}

void plim_workspace_unfold(struct plim_workspace *workspace) { workspace->is_unfolded = true; }

bool plim_compute_is_pipelined(const struct plim_context *cx, const struct plim_placement *place)
{
    return place->n_gpu > 1 && place->is_full && cx->is_layer_split && cx->offload_kqv && !place->has_overrides &&
           !cx->no_pipeline;
}

/* --- graphs --- */

struct batch {
    uint32_t n_tokens, n_outputs;
    uint32_t n_seqs; /* 0: as many as there can be */
};

struct run {
    struct plim_workspace *w;
    const struct plim_llama *llama;
    const struct plim_context *cx;
    const struct plim_placement *place;
};

static void schedule(const struct run *run, struct batch batch)
{
    struct plim_workspace *w = run->w;
    const struct plim_schedule_params params = {
        .n_backends = run->place->n_gpu + 1,
        .op_offload = run->cx->op_offload,
        .op_offload_batch = OP_OFFLOAD_MIN_BATCH,
        .offload_to = run->cx->first_gpu,
        .pipeline = plim_compute_is_pipelined(run->cx, run->place),
    };
    plim_graph_reset(&w->graph);
    memset(w->weight, 0, run->llama->n_tensors * sizeof *w->weight);
    w->build = (struct plim_build){
        .g = &w->graph,
        .llama = run->llama,
        .hp = &run->llama->hp,
        .cx = run->cx,
        .place = run->place,
        .n_tokens = batch.n_tokens,
        .n_seqs = batch.n_seqs ? batch.n_seqs : run->cx->n_seq_max,
        .n_outputs = batch.n_outputs,
        .is_full_offload = run->place->is_full,
        .layers = run->w->layers.layer,
        .n_layers = run->w->layers.n_layers,
        .weight = w->weight,
    };
    run->llama->hp.arch->build(&w->build);
    plim_schedule(&w->schedule, &w->graph, &params);
}

/* What the graph of these layers needs; false when it cannot be represented. */
static bool measure(const struct run *run, struct batch batch, uint64_t *ret_bytes, bool *ret_is_steady)
{
    struct plim_workspace *w = run->w;
    schedule(run, batch);
    const bool is_marked = w->build.n_started == run->w->layers.n_layers;
    const int n = is_marked ? plim_fold_checkpoints(&run->w->layers, w->build.start, w->checkpoint) : 0;
    if (!plim_replay(&w->replay, &w->graph, &w->schedule, run->place->n_gpu + 1, w->checkpoint, n, ret_bytes))
        return false;
    *ret_is_steady = run->w->layers.n_folds == 0 ||
                     (is_marked && plim_fold_is_steady(&run->w->layers, w->checkpoint, &w->graph, &w->schedule));
    return true;
}

/* Raise ret_bytes to what this batch needs; false when the graph cannot be represented. */
static bool reserve(const struct run *run, struct batch batch, uint64_t *ret_bytes)
{
    uint64_t bytes[PLIM_SETUP_MAX_DEVICES + 1];
    struct plim_workspace *w = run->w;
    bool is_steady = false;
    if (!measure(run, batch, bytes, &is_steady))
        return false;
    while (!is_steady) { /* try the other rhythm, then every layer */
        if (w->rhythm == 1)
            plim_layers_fold(run->llama, run->place, w->rhythm = 2, &w->layers);
        else
            plim_layers_all(run->llama, &w->layers);
        if (!measure(run, batch, bytes, &is_steady))
            return false;
    }
    for (int i = 0; i <= run->place->n_gpu; i++)
        ret_bytes[i] = bytes[i] > ret_bytes[i] ? bytes[i] : ret_bytes[i];
    return true;
}

/* llama_context::resolve_fused_ops(), of the graph measured last. */
static bool flash_matches_layers(const struct run *run)
{
    const struct plim_build *b = &run->w->build;
    for (int i = 0; i < b->n_flash; i++)
        if (plim_graph_at(b->g, b->flash[i].node)->backend != run->place->layer[b->flash[i].layer])
            return false;
    return true;
}

/*
 * The engine reserves for a prompt and for one token of each sequence, and settles flash attention on the latter. When
 * all is on one GPU the prompt's graph is the larger one in every tensor, and nodes have nowhere else to go.
 */
static bool reserve_all(const struct run *run, struct plim_context *cx, struct plim_compute *c)
{
    const struct plim_placement *place = run->place;
    const bool is_on_one_gpu = place->is_full && place->n_gpu == 1 && !place->has_overrides && cx->offload_kqv;
    const struct batch prompt = { cx->n_tokens, cx->n_outputs, 0 }, one_each = { cx->n_seq_max, cx->n_seq_max, 0 };
    const struct batch one_seq = { cx->n_ubatch < cx->n_ctx ? cx->n_ubatch : cx->n_ctx, cx->n_outputs, 1 };
    const bool is_prompt_enough = is_on_one_gpu && !run->w->is_unfolded;
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

void plim_compute_size(struct plim_workspace *workspace, const struct plim_llama *llama, const struct plim_context *cx,
                       const struct plim_placement *place, struct plim_compute *ret_compute)
{
    struct plim_compute *c = ret_compute;
    struct plim_context context = *cx;
    struct run run = { workspace, llama, &context, place };
    *c = (struct plim_compute){ .basis = PLIM_COMPUTE_BOUNDED, .flash_attn = cx->flash_attn };
    if (llama->hp.arch->build && workspace->is_unfolded)
        plim_layers_all(llama, &workspace->layers);
    else if (llama->hp.arch->build)
        plim_layers_fold(llama, place, workspace->rhythm, &workspace->layers);
    if (llama->hp.arch->build && reserve_all(&run, &context, c))
        c->basis = PLIM_COMPUTE_REPLAYED;
    else
        plim_bound_compute(llama, &context, place, c->bytes);
    c->flash_attn = context.flash_attn;
}
