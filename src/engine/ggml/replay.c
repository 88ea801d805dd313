/* SPDX-License-Identifier: MIT */
#include "engine/ggml/replay.h"

#include "base/mem.h"

#include <string.h>

/* Alignment of buffers: ggml_backend_cuda_buffer_type_get_alignment(), and TENSOR_ALIGNMENT for memory of the host. */
enum { CUDA_ALIGNMENT = 128, HOST_ALIGNMENT = 32, MAX_BLOCKS = 256 };

struct block {
    uint64_t start, size;
};

struct plim_blocks {
    struct block block[MAX_BLOCKS]; /* by address; the last is the open end */
    int n;
    uint64_t peak;
    uint64_t alignment;
};

struct plim_place {
    uint64_t start;
    int16_t n_children, n_views;
    int8_t backend;
    bool is_held; /* has memory that the allocator will take back */
    bool is_done; /* has been placed once: never again */
};

bool plim_replay_init(struct plim_replay *r)
{
    *r = (struct plim_replay){
        .place = plim_alloc(PLIM_GRAPH_MAX_TENSORS, sizeof *r->place),
        .blocks = plim_alloc(PLIM_MAX_BACKENDS, sizeof *r->blocks),
    };
    if (r->place && r->blocks)
        return true;
    plim_replay_done(r);
    return false;
}

void plim_replay_done(struct plim_replay *r)
{
    plim_free(r->place);
    plim_free(r->blocks);
    *r = (struct plim_replay){ 0 };
}

/* --- free space --- */

static uint64_t aligned(const struct plim_blocks *b, uint64_t bytes)
{
    return (bytes + b->alignment - 1) & ~(b->alignment - 1);
}

static void remove_block(struct plim_blocks *b, int i)
{
    memmove(&b->block[i], &b->block[i + 1], (size_t)(b->n - i - 1) * sizeof *b->block);
    b->n--;
}

static uint64_t take(struct plim_blocks *b, uint64_t bytes)
{
    int best = b->n - 1;
    uint64_t best_size = UINT64_MAX, size = aligned(b, bytes);
    for (int i = 0; i < b->n - 1; i++)
        if (b->block[i].size >= size && b->block[i].size <= best_size) {
            best = i;
            best_size = b->block[i].size;
        }
    struct block *block = &b->block[best];
    uint64_t start = block->start;
    block->start += size;
    block->size -= size;
    if (block->size == 0)
        remove_block(b, best);
    if (start + size > b->peak)
        b->peak = start + size;
    return start;
}

/* Blocks i and i + 1 become one if they touch. */
static void join(struct plim_blocks *b, int i)
{
    if (i < 0 || i + 1 >= b->n || b->block[i].start + b->block[i].size != b->block[i + 1].start)
        return;
    b->block[i].size += b->block[i + 1].size;
    remove_block(b, i + 1);
}

/*
 * The first block that touches the space takes it in, and then its neighbour. Empty tensors (size 0) can leave empty
 * blocks behind, which keep others from joining: the order of the tests matters.
 */
static void give_back(struct plim_blocks *b, uint64_t start, uint64_t bytes)
{
    const uint64_t size = aligned(b, bytes);
    for (int i = 0; i < b->n; i++) {
        struct block *block = &b->block[i];
        if (block->start + block->size == start) {
            block->size += size;
            join(b, i);
            return;
        }
        if (start + size == block->start) {
            block->start = start;
            block->size += size;
            join(b, i - 1);
            return;
        }
    }
    if (b->n == MAX_BLOCKS)
        return;
    int at = 0; /* empty blocks can be out of order */
    while (at < b->n && b->block[at].start < start)
        at++;
    memmove(&b->block[at + 1], &b->block[at], (size_t)(b->n - at) * sizeof *b->block);
    b->block[at] = (struct block){ start, size };
    b->n++;
}

/* --- tensors --- */

struct run {
    struct plim_replay *r;
    const struct plim_graph *g;
    const struct plim_schedule *s;
    int cpu;
};

static uint64_t size_of(const struct run *run, plim_node node, int backend)
{
    const struct plim_gtensor *t = &run->g->tensor[node];
    return t->bytes + (backend == run->cpu ? 0 : t->extra_bytes);
}

static bool same_layout(const struct plim_gtensor *a, const struct plim_gtensor *b)
{
    return a->type == b->type && !memcmp(a->ne, b->ne, sizeof a->ne) && !((a->flags | b->flags) & PLIM_TENSOR_STRIDED);
}

/*
 * Take over the memory of a source that nobody else will read; true when one was found. A view never qualifies: it has
 * no memory of its own to give (ggml_gallocr_is_own()).
 */
static bool reuse_source(const struct run *run, plim_node node)
{
    const struct plim_gtensor *t = &run->g->tensor[node];
    struct plim_place *place = run->r->place;
    for (int i = 0; i < t->n_sources; i++) {
        plim_node source = t->source[i];
        const struct plim_gtensor *s = &run->g->tensor[source];
        struct plim_place *from = &place[source];
        if (!from->is_held || (s->flags & PLIM_TENSOR_OUTPUT) || !same_layout(t, s) || from->n_children != 1 ||
            from->n_views != 0)
            continue;
        place[node].start = from->start;
        place[node].backend = from->backend;
        place[node].is_held = true;
        from->is_held = false;
        struct plim_blocks *b = &run->r->blocks[from->backend];
        uint64_t had = aligned(b, size_of(run, source, from->backend));
        uint64_t need = aligned(b, size_of(run, node, from->backend));
        if (had > need)
            give_back(b, from->start + need, had - need);
        return true;
    }
    return false;
}

static void allocate(const struct run *run, plim_node node, int backend)
{
    const struct plim_gtensor *t = &run->g->tensor[node];
    struct plim_place *p = &run->r->place[node];
    if (p->is_done || t->home != PLIM_BACKEND_NONE || t->root)
        return;
    p->is_done = true;
    if ((t->op == PLIM_OP_INPLACE || t->op == PLIM_OP_ROPE) && reuse_source(run, node))
        return;
    p->backend = (int8_t)backend;
    p->start = take(&run->r->blocks[backend], size_of(run, node, backend));
    p->is_held = true;
}

static void release(const struct run *run, plim_node node)
{
    struct plim_place *p = &run->r->place[node];
    if (!p->is_held || (run->g->tensor[node].flags & PLIM_TENSOR_OUTPUT))
        return;
    give_back(&run->r->blocks[p->backend], p->start, size_of(run, node, p->backend));
    p->is_held = false;
}

/* One reader of source is done. */
static void drop(const struct run *run, plim_node source)
{
    struct plim_place *p = &run->r->place[source];
    plim_node root = run->g->tensor[source].root;
    p->n_children--;
    if (p->n_children != 0 || p->n_views != 0)
        return;
    if (!root) {
        release(run, source);
        return;
    }
    struct plim_place *owner = &run->r->place[root];
    owner->n_views--;
    if (owner->n_views == 0 && owner->n_children == 0)
        release(run, root);
}

/* --- the walk --- */

static bool is_kept(const struct run *run, const struct plim_keep *keep)
{
    const struct plim_gtensor *first = &run->g->tensor[keep->first], *last = &run->g->tensor[keep->last];
    return first->backend != run->cpu && first->split == last->split;
}

static void count_readers(const struct run *run)
{
    struct plim_place *place = run->r->place;
    for (int i = 0; i < run->s->n_events; i++) {
        const struct plim_gtensor *t = &run->g->tensor[run->s->event[i].node];
        if (t->root && t->op != PLIM_OP_LEAF)
            place[t->root].n_views++;
        for (int j = 0; j < t->n_sources; j++)
            place[t->source[j]].n_children++;
    }
    for (int i = 0; i < run->g->n_keeps; i++)
        if (is_kept(run, &run->g->keep[i]))
            place[run->g->keep[i].tensor].n_children++;
}

static void start_over(const struct run *run, int n_backends)
{
    memset(run->r->place, 0, (size_t)run->g->n_tensors * sizeof *run->r->place);
    for (int b = 0; b < n_backends; b++) {
        struct plim_blocks *blocks = &run->r->blocks[b];
        blocks->n = 1;
        blocks->block[0] = (struct block){ 0, UINT64_MAX / 2 };
        blocks->peak = 0;
        blocks->alignment = b == run->cpu ? HOST_ALIGNMENT : CUDA_ALIGNMENT;
    }
}

/* --- checkpoints --- */

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

static uint64_t hash_of_state(const struct run *run, const struct plim_checkpoint *c, int n_backends)
{
    const struct plim_place *place = run->r->place;
    uint64_t hash = 0, others = 0;
    for (int b = 0; b < n_backends; b++)
        for (int i = 0; i < run->r->blocks[b].n; i++)
            hash = mix(mix(hash, run->r->blocks[b].block[i].start), run->r->blocks[b].block[i].size);
    for (int t = 1; t < run->g->n_tensors; t++) {
        if (!place[t].is_held)
            continue;
        uint64_t held = mix(place[t].start, (uint64_t)place[t].backend);
        if (t >= c->from && t < c->to)
            hash = mix(mix(hash, held), (uint64_t)(t - c->from) << 32 | (uint32_t)place[t].n_children << 16 |
                                            (uint16_t)place[t].n_views);
        else
            others += held; /* in any order */
    }
    return mix(hash, others);
}

static uint64_t hash_of_event(const struct run *run, const struct plim_event *event)
{
    const struct plim_gtensor *t = &run->g->tensor[event->node];
    return t->bytes << 16 | (uint64_t)t->op << 8 | (uint8_t)event->backend;
}

/* The last tensor of the range that is computed. */
static plim_node end_of(const struct plim_graph *g, const struct plim_checkpoint *c)
{
    plim_node n = (plim_node)(c->to - 1);
    while (n > c->from && (g->tensor[n].op == PLIM_OP_LEAF || g->tensor[n].op == PLIM_OP_VIEW || !g->is_placed[n]))
        n--;
    return n;
}

/* The checkpoints that are still to come. */
struct watch {
    struct plim_checkpoint *next, *end;
    plim_node node; /* where the next one is; 0: there is none */
    uint64_t window;
};

static void expect_next(const struct run *run, struct watch *w)
{
    w->window = 0;
    w->node = w->next == w->end ? 0 : end_of(run->g, w->next);
}

static void watch_event(const struct run *run, struct watch *w, const struct plim_event *event, int n_backends)
{
    const plim_node origin = plim_schedule_origin(run->g, run->s, event->node);
    if (origin >= w->next->from && origin < w->next->to)
        w->window = mix(w->window, hash_of_event(run, event));
    if (event->node != w->node)
        return;
    w->next->state = hash_of_state(run, w->next, n_backends);
    w->next->window = w->window;
    w->next++;
    expect_next(run, w);
}

/* --- the whole --- */

static void compute(const struct run *run, const struct plim_event *event)
{
    const struct plim_gtensor *t = &run->g->tensor[event->node];
    for (int j = 0; j < t->n_sources; j++)
        allocate(run, t->source[j], event->backend);
    allocate(run, event->node, event->backend);
    for (int j = 0; j < t->n_sources; j++)
        drop(run, t->source[j]);
}

bool plim_replay(struct plim_replay *r, const struct plim_graph *g, const struct plim_schedule *s, int n_backends,
                 struct plim_checkpoint *checkpoints, int n_checkpoints, uint64_t *ret_bytes)
{
    struct run run = { r, g, s, n_backends - 1 };
    struct watch watch = { checkpoints, checkpoints + n_checkpoints, 0, 0 };
    if (s->overflow)
        return false;
    for (int i = 0; i < n_checkpoints; i++)
        checkpoints[i].state = (uint64_t)i; /* those that are never reached are equal to none */
    start_over(&run, n_backends);
    expect_next(&run, &watch);
    for (int i = 0; i < s->n_leaves; i++)
        allocate(&run, s->leaf[i].node, s->leaf[i].backend);
    count_readers(&run);
    const struct plim_keep *keep = g->keep, *const last_keep = g->keep + g->n_keeps;
    for (int i = 0; i < s->n_events; i++) {
        compute(&run, &s->event[i]);
        for (; keep < last_keep && keep->until == s->event[i].node; keep++)
            if (is_kept(&run, keep))
                drop(&run, keep->tensor);
        if (watch.node)
            watch_event(&run, &watch, &s->event[i], n_backends);
    }
    for (int b = 0; b < n_backends; b++)
        ret_bytes[b] = r->blocks[b].peak;
    return true;
}
