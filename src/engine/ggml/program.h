/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_ENGINE_GGML_PROGRAM_H
#define PLIMSOLL_ENGINE_GGML_PROGRAM_H

/*
 * The work of ggml's graph allocator on a scheduled graph, as a list of steps without readers: take space for a tensor,
 * give it back, hand it on to the tensor that is written over it. The steps and their order follow from the graph's
 * shape (sources and backends) and from a few comparisons of sizes; the offsets and the sizes of the buffers follow
 * from the sizes of the tensors, and are found by running the steps (replay.h).
 *
 * A search tries the same graph in many sizes: contexts, micro-batches, cache types. So programs are kept, and a graph
 * of the same shape whose comparisons come out the same gets the program made before, without being scheduled again.
 *
 * Rule: ggml-alloc.c, ggml_gallocr_alloc_graph_impl() at llama.cpp v0.5.0: a tensor is placed when it is first computed
 * and given back when its last reader is done; some ops take over the place of a source.
 */

#include "engine/ggml/schedule.h"

enum { PLIM_MAX_CHECKPOINTS = 32 };

/*
 * A place in the walk where the allocator's state is written down: when the last tensor of [from, to) is computed. Two
 * states are equal when the free blocks are, and the tensors still held, those of the range by their number in it.
 */
struct plim_ggml_checkpoint {
    plim_node from, to;
    bool brings_leaf;    /* a tensor of the range, or a copy of one, takes space before anything is computed */
    uint64_t state;      /* at this place */
    uint64_t operations; /* of the range: sizes, backends, order */
};

enum plim_program_step_kind {
    PLIM_PROGRAM_TAKE,  /* space for tensor */
    PLIM_PROGRAM_GIVE,  /* its space is free again */
    PLIM_PROGRAM_REUSE, /* tensor takes over the space of `from` and gives back the rest */
    PLIM_PROGRAM_HELD,  /* tensor has space: part of the state of the checkpoint that follows */
    PLIM_PROGRAM_CHECK, /* a checkpoint */
};

struct plim_program_step {
    uint8_t kind;
    int8_t backend;
    plim_node tensor, from;
    plim_node size_of; /* copies are as large as their original: of tensor, or of `from` for REUSE */
    uint64_t mark;     /* HELD: its readers and number in the range, 0 outside */
};

/* The computation in the range of a checkpoint. */
struct plim_range {
    uint64_t shape; /* ops, backends, order */
    int first, end; /* of the list of tensors whose sizes count */
    bool brings_leaf;
};

struct plim_ggml_program {
    const struct plim_program_step *step;
    int n_steps;
    int n_backends;
    const struct plim_range *range; /* per checkpoint */
    const plim_node *sized;         /* the list of the ranges */
    const int8_t *backend;          /* per tensor of the graph: where it is computed */
    bool copies_weights;            /* some weight is copied to another backend */
};

struct plim_ggml_programs;
struct plim_ggml_programs *plim_ggml_programs_new(void); /* NULL when out of memory */
struct plim_ggml_programs *plim_ggml_programs_free(struct plim_ggml_programs *programs);

/*
 * The program of a graph that has just been built; NULL when it is too large to be represented. It is valid until the
 * next call. The graph has been scheduled when this returns, or not.
 */
const struct plim_ggml_program *plim_ggml_programs_get(struct plim_ggml_programs *programs, struct plim_ggml_graph *g,
                                                       const struct plim_schedule_params *params,
                                                       const struct plim_ggml_checkpoint *checkpoints,
                                                       int n_checkpoints);

/* --- between programs.c, which keeps them, and program.c, which makes them --- */

/* Where a program is written. */
struct plim_compiler {
    struct plim_reader *reader; /* scratch, per tensor */
    struct plim_program_step *step;
    int n_steps;
    struct plim_test *test;
    int n_tests;
    struct plim_range *range;
    int n_ranges;
    plim_node *sized;
    int n_sized;
    bool copies_weights;
    bool overflow; /* more than fit: the program means nothing */
};

bool plim_compiler_init(struct plim_compiler *compiler); /* false when out of memory */
void plim_compiler_done(struct plim_compiler *compiler);

/* The steps of a scheduled graph, and the comparisons of layouts that they rest on. */
void plim_compile(struct plim_compiler *compiler, const struct plim_ggml_graph *g, const struct plim_schedule *s,
                  int n_backends, const struct plim_ggml_checkpoint *checkpoints, int n_checkpoints);

/* The hash so far and one value more. */
static inline uint64_t plim_mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

/* True when a tensor of one could be written over the other. */
static inline bool plim_same_layout(const struct plim_gtensor *a, const struct plim_gtensor *b)
{
    return a->type == b->type && a->ne[0] == b->ne[0] && a->ne[1] == b->ne[1] && a->ne[2] == b->ne[2] &&
           a->ne[3] == b->ne[3] && !((a->flags | b->flags) & PLIM_TENSOR_STRIDED);
}

#endif
