/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_DRIVER_GRAPHS_NODES_H
#define PLIMSOLL_VGPU_DRIVER_GRAPHS_NODES_H

/* Graphs as they are kept: nodes, and the nodes that each waits for. */

#include "vgpu/core/cuda_api.h"
#include "vgpu/core/objects.h"
#include "vgpu/driver/graphs/work.h"

/* CUgraphNodeType */
enum plim_node_type {
    PLIM_NODE_KERNEL = 0,
    PLIM_NODE_MEMCPY = 1,
    PLIM_NODE_MEMSET = 2,
    PLIM_NODE_HOST = 3,
    PLIM_NODE_GRAPH = 4,
    PLIM_NODE_EMPTY = 5,
    PLIM_NODE_WAIT_EVENT = 6,
    PLIM_NODE_EVENT_RECORD = 7,
    PLIM_NODE_MEM_ALLOC = 10,
    PLIM_NODE_MEM_FREE = 11,
    PLIM_NODE_BATCH_MEM_OP = 12,
    PLIM_NODE_CONDITIONAL = 13,
};

/* A set of nodes, by handle. */
struct plim_nodes {
    struct plim_object **at;
    uint32_t n, room;
};

bool plim_nodes_add(struct plim_nodes *nodes, struct plim_object *node);
bool plim_nodes_copy(struct plim_nodes *to, const struct plim_nodes *from);
void plim_nodes_clear(struct plim_nodes *nodes);

struct plim_node {
    enum plim_node_type type;
    unsigned number; /* in the order in which its graph got them */
    struct plim_object *graph, *next, *previous;
    struct plim_nodes waits_for;
    void (*function)(void *); /* of a host node */
    void *data;               /* of a host node; a child graph; the graphs of a conditional node */
    unsigned n_data;
    struct plim_work *work; /* NULL: it changes no values */
};

struct plim_cuda_graph {
    struct plim_object *first, *last;
    unsigned n_nodes, n_ever;
    struct plim_cuda_graph_user *users; /* users.h */
    void *owner;                        /* the node whose graph it is, or the capture that fills it */
};

/* The graph, or node, of a handle; NULL: the handle is not one. */
struct plim_cuda_graph *plim_cuda_graph_of(const void *handle);
struct plim_node *plim_node_of(const void *handle);

/* All with the lock of the objects held. */
struct plim_object *plim_cuda_graph_make(void);
/* Nodes to wait for that are gone, or of another graph, are left out. call: of a host node; work: may be NULL. */
struct plim_object *plim_cuda_graph_add(struct plim_object *graph, enum plim_node_type type,
                                        const struct plim_nodes *waits_for, const struct cu_host_call *call,
                                        struct plim_work *work);

#endif
