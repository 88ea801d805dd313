/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_DRIVER_GRAPHS_SEQUENCE_H
#define PLIMSOLL_VGPU_DRIVER_GRAPHS_SEQUENCE_H

/*
 * The nodes of a graph in the order in which a launch does their work; behind the node of a child graph follow those of
 * the child. All with the lock of the objects held, but free and run, which own what they are given.
 */

#include "vgpu/driver/graphs/nodes.h"

struct plim_exec_step {
    struct cu_host_call call; /* function NULL: of another node */
    struct plim_work *work;   /* NULL: it changes no values */
    uint64_t node;            /* the id of the node in the graph from which this was made first */
    size_t n_inside;          /* steps of the child graph */
    uint8_t type;             /* enum plim_node_type */
    bool is_disabled;
};

struct plim_sequence {
    struct plim_exec_step *step;
    size_t n;
};

void plim_sequence_free(struct plim_sequence *sequence);

/* False: no memory, and *to is to be freed. */
bool plim_sequence_copy(struct plim_sequence *to, const struct plim_sequence *from);

/*
 * Replace a sequence, empty or not, by that of a graph; one of the same length keeps the nodes by which the program
 * knows it. False: no memory, and nothing has changed.
 */
bool plim_sequence_fill(struct plim_sequence *sequence, const struct plim_cuda_graph *graph);

/* The steps of a child graph do the work of another graph from now on. False: that has another shape, or no memory. */
bool plim_sequence_fill_child(struct plim_exec_step *child, const struct plim_cuda_graph *graph);

/* NULL: it has no such node. */
struct plim_exec_step *plim_sequence_find(const struct plim_sequence *sequence, uint64_t node);

void plim_sequence_run(const struct plim_sequence *sequence);

#endif
