/* SPDX-License-Identifier: MIT */
#include "engine/ggml/schedule.h"

#include "base/mem.h"

#include <string.h>

/* Every node can bring a copy and its dependency for each source. */
enum { MAX_EVENTS = 3 * PLIM_GGML_GRAPH_MAX_TENSORS, NODE_NONE = 0 };

struct run {
    struct plim_schedule *s;
    struct plim_ggml_graph *g;
    const struct plim_schedule_params *params;
    int cpu;        /* the last backend */
    int n_homeless; /* nodes that compute and have no backend yet */
};

bool plim_schedule_init(struct plim_schedule *s)
{
    *s = (struct plim_schedule){
        .event = plim_alloc_unset(MAX_EVENTS, sizeof *s->event),
        .leaf = plim_alloc_unset(MAX_EVENTS, sizeof *s->leaf),
        .batch_test = plim_alloc_unset(PLIM_GGML_GRAPH_MAX_TENSORS, sizeof *s->batch_test),
        .copy = plim_alloc_unset((size_t)PLIM_MAX_BACKENDS * PLIM_GGML_GRAPH_MAX_TENSORS, sizeof *s->copy),
    };
    if (s->event && s->leaf && s->batch_test && s->copy)
        return true;
    plim_schedule_done(s);
    return false;
}

void plim_schedule_done(struct plim_schedule *s)
{
    plim_free(s->event);
    plim_free(s->leaf);
    plim_free(s->batch_test);
    plim_free(s->copy);
    *s = (struct plim_schedule){ 0 };
}

/* --- backends --- */

uint64_t plim_schedule_batch(const struct plim_gtensor *t)
{
    switch ((enum plim_op)t->op) {
    case PLIM_OP_GET_ROWS:
        return 0;
    case PLIM_OP_MUL_MAT:
        return t->ne[1];
    case PLIM_OP_MUL_MAT_ID:
    case PLIM_OP_ROPE:
        return t->ne[2];
    default:
        return (uint64_t)t->ne[1] * t->ne[2] * t->ne[3];
    }
}

static bool can_compute(const struct run *r, const struct plim_gtensor *t, int backend)
{
    return backend == r->cpu || !(t->flags & PLIM_TENSOR_CPU_ONLY);
}

static bool is_large(const struct run *r, plim_node node)
{
    struct plim_schedule *s = r->s;
    const bool result = plim_schedule_batch(&r->g->tensor[node]) >= r->params->op_offload_batch;
    s->batch_test[s->n_batch_tests++] = (struct plim_test){ node, 0, result };
    return result;
}

/* Nodes whose place follows from a buffer: where they write, or where their first weight lives. */
static int place_by_buffer(const struct run *r, plim_node node)
{
    const struct plim_gtensor *t = &r->g->tensor[node];
    if (t->root && r->g->tensor[t->root].home != PLIM_BACKEND_NONE)
        return r->g->tensor[t->root].home;
    if (t->op == PLIM_OP_ROPE || t->op == PLIM_OP_FLASH_ATTN)
        return PLIM_BACKEND_NONE;
    for (int i = 0; i < t->n_sources; i++) {
        const struct plim_gtensor *source = &r->g->tensor[t->source[i]];
        if (!(source->flags & PLIM_TENSOR_WEIGHT))
            continue;
        const int gpu = r->params->offload_to;
        bool can_move = r->params->op_offload && source->home == r->cpu && can_compute(r, t, gpu);
        if (can_move && is_large(r, node))
            return gpu;
        return can_compute(r, t, source->home) ? source->home : PLIM_BACKEND_NONE;
    }
    return PLIM_BACKEND_NONE;
}

/* Let nodes without a place take the place of the one before (or after) them; only_gpu skips over the CPU's. */
static void spread(struct run *r, bool up, bool only_gpu)
{
    int current = PLIM_BACKEND_NONE;
    const int step = up ? -1 : 1, n = r->n_homeless > 0 ? r->g->n_nodes : 0;
    const plim_node *node = r->g->node + (up ? r->g->n_nodes - 1 : 0);
    for (int i = 0; i < n; i++, node += step) {
        struct plim_gtensor *t = &r->g->tensor[*node];
        if (t->op == PLIM_OP_VIEW)
            continue;
        if (t->backend != PLIM_BACKEND_NONE)
            current = only_gpu && t->backend == r->cpu ? PLIM_BACKEND_NONE : t->backend;
        else if (current != PLIM_BACKEND_NONE && can_compute(r, t, current)) {
            t->backend = (int8_t)current;
            r->n_homeless--;
        }
    }
}

static void assign(struct run *r)
{
    struct plim_ggml_graph *g = r->g;
    for (int i = 0; i < g->n_leaves; i++) {
        struct plim_gtensor *t = &g->tensor[g->leaf[i]];
        if (t->flags & PLIM_TENSOR_INPUT)
            t->backend = (int8_t)r->cpu;
    }
    for (int i = 0; i < g->n_nodes; i++) {
        struct plim_gtensor *t = &g->tensor[g->node[i]];
        if (t->backend == PLIM_BACKEND_NONE)
            t->backend = (int8_t)place_by_buffer(r, g->node[i]);
        r->n_homeless += t->backend == PLIM_BACKEND_NONE && t->op != PLIM_OP_VIEW;
    }
    spread(r, false, true);
    spread(r, true, true);
    spread(r, false, false);
    spread(r, true, false);
    for (int i = 0; i < g->n_nodes; i++) {
        struct plim_gtensor *t = &g->tensor[g->node[i]];
        if (t->root && t->backend == PLIM_BACKEND_NONE)
            t->backend = g->tensor[t->root].backend;
        if (t->backend == PLIM_BACKEND_NONE)
            t->backend = (int8_t)r->cpu;
        for (int j = 0; j < t->n_sources; j++) { /* a leaf that is never filled lives where it is first read */
            struct plim_gtensor *source = &g->tensor[t->source[j]];
            if (source->op == PLIM_OP_LEAF && source->backend == PLIM_BACKEND_NONE)
                source->backend = t->backend;
        }
    }
}

/* --- copies --- */

/* A backend reads its own buffers; the CPU's memory is read by the CPU alone. */
static bool can_read(const struct plim_gtensor *t, int backend) { return t->backend == backend; }

static plim_node *copy_slot(const struct run *r, plim_node tensor, int backend)
{
    return &r->s->copy[(size_t)backend * PLIM_GGML_GRAPH_MAX_TENSORS + (size_t)tensor];
}

static void push(struct plim_schedule *s, plim_node node, int backend)
{
    if (s->n_events == MAX_EVENTS)
        s->overflow = true;
    else
        s->event[s->n_events++] = (struct plim_event){ node, (int8_t)backend };
}

static void push_leaf(struct plim_schedule *s, plim_node node, int backend)
{
    if (s->n_leaves == MAX_EVENTS)
        s->overflow = true;
    else
        s->leaf[s->n_leaves++] = (struct plim_event){ node, (int8_t)backend };
}

/* The tensor that stands for `tensor` on `backend`: same size, no sources; with a pipeline it is never given back. */
static plim_node add_copy(const struct run *r, plim_node tensor, int backend)
{
    struct plim_ggml_graph *g = r->g;
    const struct plim_gtensor t = g->tensor[tensor];
    plim_node copy = plim_ggml_graph_op(g, PLIM_OP_LEAF, (enum plim_dtype)t.type, t.ne[0], t.ne[1], t.ne[2], t.ne[3]);
    if (!copy)
        return 0;
    g->tensor[copy].bytes = t.bytes;
    g->tensor[copy].extra_bytes = backend == r->cpu ? 0 : t.extra_bytes;
    g->tensor[copy].backend = (int8_t)backend;
    g->tensor[copy].source[0] = tensor; /* remembered, not read: n_sources stays 0 */
    g->tensor[copy].flags =
        (uint8_t)(t.flags & PLIM_TENSOR_STRIDED) | (r->params->pipeline ? PLIM_TENSOR_INPUT | PLIM_TENSOR_OUTPUT : 0);
    return copy;
}

/* A dependency: holds its source until the copy that follows it has been made. */
static void push_dependency(const struct run *r, plim_node on)
{
    plim_node n = plim_ggml_graph_view(r->g, on, true, 1, 1, 1, 1);
    if (!n)
        return;
    r->g->tensor[n].op = PLIM_OP_LEAF; /* unlike a real view it does not count as one (ggml: op NONE) */
    push(r->s, n, r->g->tensor[on].backend);
}

/* A weight of another backend in a later node starts a new split, so that its copy can take the place of the last. */
static bool brings_weight(const struct run *r, const struct plim_gtensor *t, int backend)
{
    for (int i = 0; i < t->n_sources; i++) {
        const struct plim_gtensor *source = &r->g->tensor[t->source[i]];
        if ((source->flags & PLIM_TENSOR_WEIGHT) && !can_read(source, backend))
            return true;
    }
    return false;
}

/* Copy the sources of node that are on other backends and let it read the copies; returns the number of new copies. */
static int localize(const struct run *r, plim_node node, int backend, plim_node *new_inputs)
{
    int n_new = 0;
    for (int i = 0; i < r->g->tensor[node].n_sources; i++) {
        plim_node source = r->g->tensor[node].source[i];
        if (can_read(&r->g->tensor[source], backend))
            continue;
        plim_node *slot = copy_slot(r, source, backend);
        if (!*slot) {
            *slot = add_copy(r, source, backend);
            new_inputs[n_new++] = source;
        }
        r->g->tensor[node].source[i] = *slot;
    }
    return n_new;
}

static void copies_as_leaves(const struct run *r, plim_node tensor, int backend)
{
    push_leaf(r->s, *copy_slot(r, tensor, backend), backend);
    for (int i = 1; i < PLIM_PIPELINE_COPIES; i++)
        push_leaf(r->s, add_copy(r, tensor, backend), backend);
}

/* With a pipeline the graph's own inputs, those that are read, exist four times as well. */
static void copy_inputs(const struct run *r)
{
    struct plim_ggml_graph *g = r->g;
    for (int i = 0; i < g->n_nodes; i++) {
        const struct plim_gtensor *node = &g->tensor[g->node[i]];
        for (int j = 0; j < node->n_sources && node->op != PLIM_OP_VIEW; j++) {
            plim_node source = node->source[j];
            struct plim_gtensor *t = &g->tensor[source];
            if ((t->flags & (PLIM_TENSOR_INPUT | PLIM_TENSOR_OUTPUT)) != PLIM_TENSOR_INPUT)
                continue;
            t->flags |= PLIM_TENSOR_OUTPUT;
            for (int c = 1; c < PLIM_PIPELINE_COPIES; c++)
                push_leaf(r->s, add_copy(r, source, r->cpu), r->cpu);
        }
    }
}

/*
 * Walk the nodes, starting a new split where the backend changes or a foreign weight comes in. All copies of a split
 * are made at its start, so its events are written once its end is known.
 */
static void split(const struct run *r)
{
    struct plim_ggml_graph *g = r->g;
    struct plim_schedule *s = r->s;
    int start = 0;
    for (int16_t n = 0; start < g->n_nodes; n++) {
        plim_node inputs[PLIM_GGML_GRAPH_MAX_TENSORS / 8];
        int n_inputs = 0, end = start, backend = PLIM_BACKEND_NONE;
        for (; end < g->n_nodes; end++) {
            plim_node node = g->node[end];
            const struct plim_gtensor *t = &g->tensor[node];
            if (t->op == PLIM_OP_VIEW)
                continue;
            if (backend == PLIM_BACKEND_NONE)
                backend = t->backend;
            else if (t->backend != backend || (n_inputs > 0 && brings_weight(r, t, backend)))
                break;
            if (n_inputs + PLIM_GGML_GRAPH_MAX_SOURCES > (int)(sizeof inputs / sizeof *inputs)) {
                s->overflow = true;
                return;
            }
            n_inputs += localize(r, node, backend, inputs + n_inputs);
        }
        for (int i = 0; i < n_inputs; i++) {
            push_dependency(r, inputs[i]);
            push(s, *copy_slot(r, inputs[i], backend), backend);
            if (r->params->pipeline)
                copies_as_leaves(r, inputs[i], backend);
        }
        for (int i = start; i < end; i++) {
            g->tensor[g->node[i]].split = n;
            push(s, g->node[i], g->tensor[g->node[i]].backend);
        }
        start = end;
    }
}

/* A fused kernel reads the copies on its own backend. */
static void localize_keeps(const struct run *r)
{
    for (int i = 0; i < r->g->n_keeps; i++) {
        struct plim_ggml_keep *keep = &r->g->keep[i];
        plim_node copy = *copy_slot(r, keep->tensor, r->g->tensor[keep->first].backend);
        if (copy)
            keep->tensor = copy;
    }
}

void plim_schedule(struct plim_schedule *s, struct plim_ggml_graph *g, const struct plim_schedule_params *params)
{
    struct run r = { s, g, params, params->n_backends - 1, 0 };
    const int n_tensors = g->n_tensors;
    s->n_events = s->n_leaves = s->n_batch_tests = 0;
    s->n_built = n_tensors;
    s->overflow = g->overflow;
    for (int b = 0; b < params->n_backends; b++)
        memset(copy_slot(&r, 0, b), 0, (size_t)n_tensors * sizeof *s->copy);
    assign(&r);
    if (params->pipeline)
        copy_inputs(&r);
    split(&r);
    localize_keeps(&r);
    for (int i = 0; i < g->n_leaves; i++)
        push_leaf(s, g->leaf[i], g->tensor[g->leaf[i]].backend);
    s->overflow = s->overflow || g->overflow;
}
