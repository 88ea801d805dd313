/* SPDX-License-Identifier: MIT */
#include "engine/ggml/replay.h"

#include "base/mem.h"
#include "engine/ggml/buffer.h"

#include <string.h>

enum { MAX_BLOCKS = 256 /* ggml-alloc.c: MAX_FREE_BLOCKS; the engine gives up where it needs more */ };

struct block {
    uint64_t start, size;
};

struct plim_blocks {
    struct block block[MAX_BLOCKS]; /* by address; the last is the open end */
    int n;
    uint64_t peak;
    uint64_t alignment;
};

bool plim_replay_init(struct plim_replay *r)
{
    *r = (struct plim_replay){
        .start = plim_alloc_unset(PLIM_GGML_GRAPH_MAX_TENSORS, sizeof *r->start),
        .blocks = plim_alloc_unset(PLIM_MAX_BACKENDS, sizeof *r->blocks),
    };
    if (r->start && r->blocks)
        return true;
    plim_replay_done(r);
    return false;
}

void plim_replay_done(struct plim_replay *r)
{
    plim_free(r->start);
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

/* --- steps --- */

struct run {
    const struct plim_gtensor *tensor;
    uint64_t *start;
    struct plim_blocks *blocks;
    int n_backends;
    struct plim_ggml_checkpoint *next; /* the checkpoint to come, and the tensors held there */
    uint64_t within, others;
};

static uint64_t size_of(const struct run *run, plim_node node, int backend)
{
    const struct plim_gtensor *t = &run->tensor[node];
    return t->bytes + (backend == run->n_backends - 1 ? 0 : t->extra_bytes);
}

static void reuse(const struct run *run, const struct plim_program_step *step)
{
    struct plim_blocks *b = &run->blocks[step->backend];
    const uint64_t had = aligned(b, size_of(run, step->size_of, step->backend));
    const uint64_t need = aligned(b, size_of(run, step->tensor, step->backend));
    run->start[step->tensor] = run->start[step->from];
    if (had > need)
        give_back(b, run->start[step->from] + need, had - need);
}

static uint64_t operations_of(const struct plim_ggml_program *program, const struct plim_ggml_graph *g,
                              const struct plim_range *range)
{
    uint64_t hash = range->shape;
    for (int i = range->first; i < range->end; i++)
        hash = plim_mix(hash, g->tensor[program->sized[i]].bytes);
    return hash;
}

static void hold(struct run *run, const struct plim_program_step *step)
{
    const uint64_t held = plim_mix(run->start[step->tensor], (uint64_t)step->backend);
    if (step->mark)
        run->within = plim_mix(plim_mix(run->within, held), step->mark);
    else
        run->others += held; /* in any order */
}

static void check(struct run *run)
{
    uint64_t hash = plim_mix(run->within, run->others);
    for (int b = 0; b < run->n_backends; b++)
        for (int i = 0; i < run->blocks[b].n; i++)
            hash = plim_mix(plim_mix(hash, run->blocks[b].block[i].start), run->blocks[b].block[i].size);
    run->next->state = hash;
    run->next++;
    run->within = run->others = 0;
}

static void take_step(struct run *run, const struct plim_program_step *step)
{
    struct plim_blocks *b = &run->blocks[step->backend];
    switch ((enum plim_program_step_kind)step->kind) {
    case PLIM_PROGRAM_TAKE:
        run->start[step->tensor] = take(b, size_of(run, step->size_of, step->backend));
        break;
    case PLIM_PROGRAM_GIVE:
        give_back(b, run->start[step->tensor], size_of(run, step->size_of, step->backend));
        break;
    case PLIM_PROGRAM_REUSE:
        reuse(run, step);
        break;
    case PLIM_PROGRAM_HELD:
        hold(run, step);
        break;
    case PLIM_PROGRAM_CHECK:
        check(run);
        break;
    }
}

void plim_replay(struct plim_replay *r, const struct plim_ggml_graph *g, const struct plim_ggml_program *program,
                 struct plim_ggml_checkpoint *checkpoints, int n_checkpoints, uint64_t *ret_bytes)
{
    struct run run = { g->tensor, r->start, r->blocks, program->n_backends, checkpoints, 0, 0 };
    for (int i = 0; i < n_checkpoints; i++) {
        checkpoints[i].state = (uint64_t)i; /* those that are never reached equal no other */
        checkpoints[i].operations = operations_of(program, g, &program->range[i]);
        checkpoints[i].brings_leaf = program->range[i].brings_leaf;
    }
    for (int b = 0; b < run.n_backends; b++) {
        struct plim_blocks *blocks = &run.blocks[b];
        blocks->n = 1;
        blocks->block[0] = (struct block){ 0, UINT64_MAX / 2 };
        blocks->peak = 0;
        blocks->alignment = b == run.n_backends - 1 ? PLIM_HOST_ALIGNMENT : PLIM_CUDA_ALIGNMENT;
    }
    for (int i = 0; i < program->n_steps; i++)
        take_step(&run, &program->step[i]);
    for (int b = 0; b < run.n_backends; b++)
        ret_bytes[b] = run.blocks[b].peak;
}
