/* SPDX-License-Identifier: MIT */
/* The programs made so far, found again by the shape of the graph. See program.h. */
#include "base/mem.h"
#include "engine/ggml/program.h"

#include <stddef.h>
#include <string.h>

/* All programs together; when the room is full, all are forgotten. The largest graph alone needs a good part of it. */
enum { ROOM_BYTES = 6 << 20, MAX_PROGRAMS = 64, ALIGNMENT = 16 };

/* The shape of a tensor: from `op` to `source`, without gaps. `split` is not yet written by schedule.c. */
enum {
    SHAPE_AT = offsetof(struct plim_gtensor, op),
    SHAPE_BYTES = offsetof(struct plim_gtensor, source) + sizeof(plim_node) * PLIM_GGML_GRAPH_MAX_SOURCES - SHAPE_AT,
};

_Static_assert(SHAPE_BYTES == 6 * sizeof(uint8_t) + (2 + PLIM_GGML_GRAPH_MAX_SOURCES) * sizeof(plim_node),
               "a gap would be compared");

struct shape {
    unsigned char bytes[SHAPE_BYTES];
};

struct span {
    plim_node from, to;
};

struct entry {
    struct plim_ggml_program program;
    struct plim_schedule_params params;
    int n_tensors, n_nodes, n_leaves, n_keeps, n_spans, n_tests;
    struct shape *shape;
    plim_node *node, *leaf;
    struct plim_ggml_keep *keep;
    struct span *span;
    int8_t *backend;
    struct plim_test *test;
};

struct plim_ggml_programs {
    struct entry entry[MAX_PROGRAMS];
    int n_entries, latest;
    unsigned char *room;
    size_t used_bytes;
    struct plim_schedule schedule;
    struct plim_compiler compiler;
    struct plim_ggml_program unkept;
    int8_t backend[PLIM_GGML_GRAPH_MAX_TENSORS];
};

struct plim_ggml_programs *plim_ggml_programs_new(void)
{
    struct plim_ggml_programs *p = plim_alloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->room = plim_alloc_unset(ROOM_BYTES, 1);
    if (p->room && plim_schedule_init(&p->schedule) && plim_compiler_init(&p->compiler))
        return p;
    return plim_ggml_programs_free(p);
}

struct plim_ggml_programs *plim_ggml_programs_free(struct plim_ggml_programs *programs)
{
    if (programs) {
        plim_free(programs->room);
        plim_schedule_done(&programs->schedule);
        plim_compiler_done(&programs->compiler);
        plim_free(programs);
    }
    return NULL;
}

/* --- finding --- */

static const unsigned char *shape_of(const struct plim_gtensor *t) { return (const unsigned char *)t + SHAPE_AT; }

/* Bits that differ in eight bytes. */
static uint64_t difference(const unsigned char *a, const unsigned char *b)
{
    uint64_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x ^ y;
}

static bool is_same_shape(const struct shape *shape, const struct plim_gtensor *t)
{
    enum { LAST = SHAPE_BYTES - 8 };
    const unsigned char *a = shape->bytes, *b = shape_of(t);
    uint64_t bits = difference(a + LAST, b + LAST);
    for (int i = 0; i < LAST; i += 8)
        bits |= difference(a + i, b + i);
    return bits == 0;
}

static bool same_params(const struct plim_schedule_params *a, const struct plim_schedule_params *b)
{
    return a->n_backends == b->n_backends && a->op_offload == b->op_offload && a->offload_to == b->offload_to &&
           a->op_offload_batch == b->op_offload_batch && a->pipeline == b->pipeline;
}

static bool has_result(const struct plim_ggml_graph *g, const struct plim_schedule_params *params,
                       const struct plim_test *test)
{
    const struct plim_gtensor *a = &g->tensor[test->a];
    bool result =
        test->b ? plim_same_layout(a, &g->tensor[test->b]) : plim_schedule_batch(a) >= params->op_offload_batch;
    return result == test->result;
}

static bool matches(const struct entry *e, const struct plim_ggml_graph *g, const struct plim_schedule_params *params,
                    const struct plim_ggml_checkpoint *checkpoints, int n_checkpoints)
{
    if (e->n_tensors != g->n_tensors || e->n_nodes != g->n_nodes || e->n_leaves != g->n_leaves ||
        e->n_keeps != g->n_keeps || e->n_spans != n_checkpoints || !same_params(&e->params, params))
        return false;
    for (int i = 1; i < e->n_tensors; i++)
        if (!is_same_shape(&e->shape[i], &g->tensor[i]))
            return false;
    for (int i = 0; i < n_checkpoints; i++)
        if (e->span[i].from != checkpoints[i].from || e->span[i].to != checkpoints[i].to)
            return false;
    for (int i = 0; i < e->n_tests; i++)
        if (!has_result(g, params, &e->test[i]))
            return false;
    return !memcmp(e->node, g->node, (size_t)g->n_nodes * sizeof *g->node) &&
           !memcmp(e->leaf, g->leaf, (size_t)g->n_leaves * sizeof *g->leaf) &&
           !memcmp(e->keep, g->keep, (size_t)g->n_keeps * sizeof *g->keep);
}

/* --- making --- */

static void *take_room(struct plim_ggml_programs *p, int n, size_t size)
{
    const size_t bytes = ((size_t)n * size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (bytes > ROOM_BYTES - p->used_bytes)
        return NULL;
    void *room = p->room + p->used_bytes;
    p->used_bytes += bytes;
    return room;
}

/* The graph as it is before it is scheduled. */
static bool write_key(struct plim_ggml_programs *p, struct entry *e, const struct plim_ggml_graph *g,
                      const struct plim_schedule_params *params, const struct plim_ggml_checkpoint *checkpoints, int n)
{
    *e = (struct entry){
        .params = *params,
        .n_tensors = g->n_tensors,
        .n_nodes = g->n_nodes,
        .n_leaves = g->n_leaves,
        .n_keeps = g->n_keeps,
        .n_spans = n,
        .shape = take_room(p, g->n_tensors, sizeof *e->shape),
        .node = take_room(p, g->n_nodes, sizeof *e->node),
        .leaf = take_room(p, g->n_leaves, sizeof *e->leaf),
        .keep = take_room(p, g->n_keeps, sizeof *e->keep),
        .span = take_room(p, n, sizeof *e->span),
        .backend = take_room(p, g->n_tensors, sizeof *e->backend),
    };
    if (!e->shape || !e->node || !e->leaf || !e->keep || !e->span || !e->backend)
        return false;
    for (int i = 0; i < g->n_tensors; i++)
        memcpy(&e->shape[i], shape_of(&g->tensor[i]), SHAPE_BYTES);
    memcpy(e->node, g->node, (size_t)g->n_nodes * sizeof *g->node);
    memcpy(e->leaf, g->leaf, (size_t)g->n_leaves * sizeof *g->leaf);
    memcpy(e->keep, g->keep, (size_t)g->n_keeps * sizeof *g->keep);
    for (int i = 0; i < n; i++)
        e->span[i] = (struct span){ checkpoints[i].from, checkpoints[i].to };
    return true;
}

/* Keep the compiled program; false when the room is full. */
static bool keep_program(struct plim_ggml_programs *p, struct entry *e)
{
    const struct plim_compiler *c = &p->compiler;
    struct plim_program_step *step = take_room(p, c->n_steps, sizeof *step);
    e->test = take_room(p, c->n_tests, sizeof *e->test);
    e->n_tests = c->n_tests;
    struct plim_range *range = take_room(p, c->n_ranges, sizeof *range);
    plim_node *sized = take_room(p, c->n_sized, sizeof *sized);
    if (!step || !e->test || !range || !sized)
        return false;
    memcpy(step, c->step, (size_t)c->n_steps * sizeof *step);
    memcpy(e->test, c->test, (size_t)c->n_tests * sizeof *e->test);
    memcpy(range, c->range, (size_t)c->n_ranges * sizeof *range);
    memcpy(sized, c->sized, (size_t)c->n_sized * sizeof *sized);
    memcpy(e->backend, p->backend, (size_t)e->n_tensors);
    e->program = (struct plim_ggml_program){ step,  c->n_steps, e->params.n_backends, range,
                                             sized, e->backend, c->copies_weights };
    return true;
}

/* Everything is forgotten when the next program may not fit: a search has moved on to other graphs by then. */
static void make_room(struct plim_ggml_programs *p, const struct plim_ggml_graph *g)
{
    enum { TYPICAL_BYTES_PER_TENSOR = SHAPE_BYTES + 4 * sizeof(struct plim_program_step) + 16 };
    const size_t bytes = (size_t)g->n_tensors * TYPICAL_BYTES_PER_TENSOR;
    if (p->n_entries < MAX_PROGRAMS && p->used_bytes + bytes <= ROOM_BYTES)
        return;
    p->n_entries = p->latest = 0;
    p->used_bytes = 0;
}

static const struct plim_ggml_program *make(struct plim_ggml_programs *p, struct plim_ggml_graph *g,
                                            const struct plim_schedule_params *params,
                                            const struct plim_ggml_checkpoint *checkpoints, int n_checkpoints)
{
    struct plim_compiler *c = &p->compiler;
    make_room(p, g);
    struct entry *e = &p->entry[p->n_entries];
    const int n_tensors = g->n_tensors;
    const bool has_key = write_key(p, e, g, params, checkpoints, n_checkpoints);
    plim_schedule(&p->schedule, g, params);
    plim_compile(c, g, &p->schedule, params->n_backends, checkpoints, n_checkpoints);
    if (c->overflow)
        return NULL;
    for (int i = 0; i < n_tensors; i++)
        p->backend[i] = g->tensor[i].backend;
    if (has_key && keep_program(p, e)) {
        p->latest = p->n_entries++;
        return &e->program;
    }
    p->unkept = (struct plim_ggml_program){ c->step,  c->n_steps, params->n_backends, c->range,
                                            c->sized, p->backend, c->copies_weights };
    return &p->unkept;
}

const struct plim_ggml_program *plim_ggml_programs_get(struct plim_ggml_programs *programs, struct plim_ggml_graph *g,
                                                       const struct plim_schedule_params *params,
                                                       const struct plim_ggml_checkpoint *checkpoints,
                                                       int n_checkpoints)
{
    struct plim_ggml_programs *p = programs;
    if (g->overflow || n_checkpoints > PLIM_MAX_CHECKPOINTS)
        return NULL;
    for (int i = 0; i < p->n_entries; i++) {
        const int k = (p->latest + i) % p->n_entries;
        if (matches(&p->entry[k], g, params, checkpoints, n_checkpoints)) {
            p->latest = k;
            return &p->entry[k].program;
        }
    }
    return make(p, g, params, checkpoints, n_checkpoints);
}
