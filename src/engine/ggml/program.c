/* SPDX-License-Identifier: MIT */
#include "engine/ggml/program.h"

#include "base/mem.h"

#include <string.h>

/* The walk's state of a tensor. */
struct plim_reader {
    int16_t n_children, n_views;
    int8_t backend;
    bool is_held; /* has memory that the allocator will take back */
    bool is_done; /* has been placed once: never again */
};

enum { MAX_STEPS = 4 * PLIM_GGML_GRAPH_MAX_TENSORS, MAX_TESTS = 2 * PLIM_GGML_GRAPH_MAX_TENSORS };
enum { MAX_SIZED = 3 * PLIM_GGML_GRAPH_MAX_TENSORS };

bool plim_compiler_init(struct plim_compiler *compiler)
{
    *compiler = (struct plim_compiler){
        .reader = plim_alloc_unset(PLIM_GGML_GRAPH_MAX_TENSORS, sizeof *compiler->reader),
        .step = plim_alloc_unset(MAX_STEPS, sizeof *compiler->step),
        .test = plim_alloc_unset(MAX_TESTS, sizeof *compiler->test),
        .range = plim_alloc_unset(PLIM_MAX_CHECKPOINTS, sizeof *compiler->range),
        .sized = plim_alloc_unset(MAX_SIZED, sizeof *compiler->sized),
    };
    return compiler->reader && compiler->step && compiler->test && compiler->range && compiler->sized;
}

void plim_compiler_done(struct plim_compiler *compiler)
{
    plim_free(compiler->reader);
    plim_free(compiler->step);
    plim_free(compiler->test);
    plim_free(compiler->range);
    plim_free(compiler->sized);
    *compiler = (struct plim_compiler){ 0 };
}

/* The checkpoints that are still to come. */
struct watch {
    const struct plim_ggml_checkpoint *next, *end;
    plim_node node; /* the position of the next one; 0 after the last */
};

struct run {
    struct plim_compiler *c;
    struct plim_reader *reader;
    const struct plim_ggml_graph *g;
    const struct plim_schedule *s;
    int cpu;
    struct watch watch;
};

static void step(const struct run *run, enum plim_program_step_kind kind, int backend, plim_node tensor, plim_node from,
                 uint64_t mark)
{
    struct plim_compiler *c = run->c;
    plim_node size_of = plim_schedule_origin(run->g, run->s, from ? from : tensor);
    if (c->n_steps == MAX_STEPS)
        c->overflow = true;
    else
        c->step[c->n_steps++] =
            (struct plim_program_step){ (uint8_t)kind, (int8_t)backend, tensor, from, size_of, mark };
}

/* --- tensors --- */

static void note(struct plim_compiler *c, const struct plim_test *test)
{
    if (c->n_tests == MAX_TESTS)
        c->overflow = true;
    else
        c->test[c->n_tests++] = *test;
}

static bool same_layout(const struct run *run, plim_node node, plim_node source)
{
    const bool result = plim_same_layout(&run->g->tensor[node], &run->g->tensor[source]);
    note(run->c, &(struct plim_test){ node, plim_schedule_origin(run->g, run->s, source), result });
    return result;
}

/*
 * Take over the memory of a source without other readers; true when one was found. A view never qualifies: it has no
 * memory of its own to give (ggml_gallocr_is_own()).
 */
static bool reuse_source(const struct run *run, plim_node node)
{
    const struct plim_gtensor *t = &run->g->tensor[node];
    for (int i = 0; i < t->n_sources; i++) {
        plim_node source = t->source[i];
        struct plim_reader *from = &run->reader[source];
        if (!from->is_held || (run->g->tensor[source].flags & PLIM_TENSOR_OUTPUT) || from->n_children != 1 ||
            from->n_views != 0 || !same_layout(run, node, source))
            continue;
        run->reader[node].backend = from->backend;
        run->reader[node].is_held = true;
        from->is_held = false;
        step(run, PLIM_PROGRAM_REUSE, from->backend, node, source, 0);
        return true;
    }
    return false;
}

static void allocate(const struct run *run, plim_node node, int backend)
{
    const struct plim_gtensor *t = &run->g->tensor[node];
    struct plim_reader *r = &run->reader[node];
    if (r->is_done)
        return;
    r->is_done = true;
    if (t->home != PLIM_BACKEND_NONE || t->root)
        return;
    if ((t->op == PLIM_OP_INPLACE || t->op == PLIM_OP_ROPE) && reuse_source(run, node))
        return;
    r->backend = (int8_t)backend;
    r->is_held = true;
    step(run, PLIM_PROGRAM_TAKE, backend, node, 0, 0);
}

static void release(const struct run *run, plim_node node)
{
    struct plim_reader *r = &run->reader[node];
    if (!r->is_held || (run->g->tensor[node].flags & PLIM_TENSOR_OUTPUT))
        return;
    r->is_held = false;
    step(run, PLIM_PROGRAM_GIVE, r->backend, node, 0, 0);
}

/* One reader of source is done. */
static void drop(const struct run *run, plim_node source)
{
    struct plim_reader *r = &run->reader[source];
    plim_node root = run->g->tensor[source].root;
    r->n_children--;
    if (r->n_children != 0 || r->n_views != 0)
        return;
    if (!root) {
        release(run, source);
        return;
    }
    struct plim_reader *owner = &run->reader[root];
    owner->n_views--;
    if (owner->n_views == 0 && owner->n_children == 0)
        release(run, root);
}

/* --- the walk --- */

static bool is_kept(const struct run *run, const struct plim_ggml_keep *keep)
{
    const struct plim_gtensor *first = &run->g->tensor[keep->first], *last = &run->g->tensor[keep->last];
    return first->backend != run->cpu && first->split == last->split;
}

static void count_readers(const struct run *run)
{
    struct plim_reader *reader = run->reader;
    memset(reader, 0, (size_t)run->g->n_tensors * sizeof *reader);
    for (int i = 0; i < run->s->n_events; i++) {
        const struct plim_gtensor *t = &run->g->tensor[run->s->event[i].node];
        if (t->root && t->op != PLIM_OP_LEAF)
            reader[t->root].n_views++;
        for (int j = 0; j < t->n_sources; j++)
            reader[t->source[j]].n_children++;
    }
    for (int i = 0; i < run->g->n_keeps; i++)
        if (is_kept(run, &run->g->keep[i]))
            reader[run->g->keep[i].tensor].n_children++;
}

static void compute(const struct run *run, const struct plim_event *event)
{
    const struct plim_gtensor *t = &run->g->tensor[event->node];
    for (int j = 0; j < t->n_sources; j++)
        allocate(run, t->source[j], event->backend);
    allocate(run, event->node, event->backend);
    for (int j = 0; j < t->n_sources; j++)
        drop(run, t->source[j]);
}

/* --- checkpoints --- */

static bool is_within(const struct plim_ggml_checkpoint *c, plim_node tensor)
{
    return tensor >= c->from && tensor < c->to;
}

/* A leaf per layer, or a copy of one, is there before anything is computed: further rounds would bring more. */
static bool brings_leaf(const struct run *run, const struct plim_ggml_checkpoint *c)
{
    for (int i = 0; i < run->s->n_leaves; i++) {
        plim_node leaf = run->s->leaf[i].node;
        if (is_within(c, plim_schedule_origin(run->g, run->s, leaf)) && run->g->tensor[leaf].home == PLIM_BACKEND_NONE)
            return true;
    }
    return false;
}

static void write_range(const struct run *run, const struct plim_ggml_checkpoint *checkpoint)
{
    struct plim_compiler *c = run->c;
    struct plim_range range = { .first = c->n_sized, .brings_leaf = brings_leaf(run, checkpoint) };
    for (int i = 0; i < run->s->n_events; i++) {
        const struct plim_event *event = &run->s->event[i];
        const plim_node origin = plim_schedule_origin(run->g, run->s, event->node);
        if (!is_within(checkpoint, origin))
            continue;
        const uint64_t number = (uint64_t)(origin - checkpoint->from);
        range.shape = plim_mix(range.shape,
                               number << 16 | (uint64_t)run->g->tensor[event->node].op << 8 | (uint8_t)event->backend);
        if (c->n_sized == MAX_SIZED)
            c->overflow = true;
        else
            c->sized[c->n_sized++] = origin;
    }
    range.end = c->n_sized;
    c->range[c->n_ranges++] = range;
}

static void write_state(const struct run *run, const struct plim_ggml_checkpoint *c)
{
    for (plim_node t = 1; t < run->g->n_tensors; t++) {
        const struct plim_reader *r = &run->reader[t];
        if (!r->is_held)
            continue;
        uint64_t readers = (uint64_t)(uint16_t)r->n_children << 16 | (uint16_t)r->n_views;
        step(run, PLIM_PROGRAM_HELD, r->backend, t, 0,
             is_within(c, t) ? (uint64_t)(t - c->from + 1) << 32 | readers : 0);
    }
    step(run, PLIM_PROGRAM_CHECK, 0, 0, 0, 0);
}

/* The last tensor of the range that is computed. */
static plim_node end_of(const struct plim_ggml_graph *g, const struct plim_ggml_checkpoint *c)
{
    plim_node n = (plim_node)(c->to - 1);
    while (n > c->from && (g->tensor[n].op == PLIM_OP_LEAF || g->tensor[n].op == PLIM_OP_VIEW || !g->is_placed[n]))
        n--;
    return n;
}

static void expect_next(struct run *run)
{
    struct watch *w = &run->watch;
    w->node = w->next == w->end ? 0 : end_of(run->g, w->next);
}

static void watch_event(struct run *run, const struct plim_event *event)
{
    struct watch *w = &run->watch;
    if (event->node != w->node)
        return;
    write_state(run, w->next);
    w->next++;
    expect_next(run);
}

/* --- the whole graph --- */

void plim_compile(struct plim_compiler *compiler, const struct plim_ggml_graph *g, const struct plim_schedule *s,
                  int n_backends, const struct plim_ggml_checkpoint *checkpoints, int n_checkpoints)
{
    struct run run = {
        compiler, compiler->reader, g, s, n_backends - 1, { checkpoints, checkpoints + n_checkpoints, 0 }
    };
    const struct plim_ggml_keep *keep = g->keep, *const last_keep = g->keep + g->n_keeps;
    compiler->n_steps = compiler->n_tests = compiler->n_ranges = compiler->n_sized = 0;
    compiler->copies_weights = false;
    compiler->overflow = s->overflow;
    for (plim_node t = (plim_node)s->n_built; t < g->n_tensors; t++)
        if (g->tensor[g->tensor[t].source[0]].flags & PLIM_TENSOR_WEIGHT)
            compiler->copies_weights = true;
    for (int i = 0; i < s->n_batch_tests; i++)
        note(compiler, &s->batch_test[i]);
    for (int i = 0; i < n_checkpoints; i++)
        write_range(&run, &checkpoints[i]);
    count_readers(&run);
    expect_next(&run);
    for (int i = 0; i < s->n_leaves; i++)
        allocate(&run, s->leaf[i].node, s->leaf[i].backend);
    for (int i = 0; i < s->n_events; i++) {
        compute(&run, &s->event[i]);
        for (; keep < last_keep && keep->until == s->event[i].node; keep++)
            if (is_kept(&run, keep))
                drop(&run, keep->tensor);
        if (run.watch.node)
            watch_event(&run, &s->event[i]);
    }
}
