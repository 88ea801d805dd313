/* SPDX-License-Identifier: MIT */
#include "vgpu/driver/graphs/nodes.h"

#include <stdlib.h>

/* --- sets of nodes --- */

bool plim_nodes_add(struct plim_nodes *nodes, struct plim_object *node)
{
    for (uint32_t i = 0; i < nodes->n; i++)
        if (nodes->at[i] == node)
            return true;
    if (nodes->n == nodes->room) {
        const uint32_t room = nodes->room ? 2 * nodes->room : 2;
        struct plim_object **at = realloc(nodes->at, room * sizeof *at);
        if (!at)
            return false;
        nodes->at = at;
        nodes->room = room;
    }
    nodes->at[nodes->n++] = node;
    return true;
}

bool plim_nodes_copy(struct plim_nodes *to, const struct plim_nodes *from)
{
    to->n = 0;
    for (uint32_t i = 0; i < from->n; i++)
        if (!plim_nodes_add(to, from->at[i]))
            return false;
    return true;
}

void plim_nodes_clear(struct plim_nodes *nodes)
{
    free(nodes->at);
    *nodes = (struct plim_nodes){ 0 };
}

struct plim_cuda_graph *plim_cuda_graph_of(const void *handle)
{
    struct plim_object *object = plim_object_of(handle, PLIM_OBJECT_GRAPH);
    return object ? PLIM_BODY(object, plim_cuda_graph) : NULL;
}

struct plim_node *plim_node_of(const void *handle)
{
    struct plim_object *object = plim_object_of(handle, PLIM_OBJECT_NODE);
    return object ? PLIM_BODY(object, plim_node) : NULL;
}

/* --- graphs and nodes --- */

struct plim_object *plim_cuda_graph_make(void) { return plim_object_make(PLIM_OBJECT_GRAPH); }

struct plim_object *plim_cuda_graph_add(struct plim_object *object, enum plim_node_type type,
                                        const struct plim_nodes *waits_for)
{
    struct plim_cuda_graph *graph = PLIM_BODY(object, plim_cuda_graph);
    struct plim_object *made = plim_object_make(PLIM_OBJECT_NODE);
    if (!made)
        return NULL;
    struct plim_node *node = PLIM_BODY(made, plim_node);
    *node = (struct plim_node){ .type = type, .number = graph->n_ever++, .graph = object, .previous = graph->last };
    if (waits_for && !plim_nodes_copy(&node->waits_for, waits_for)) {
        plim_nodes_clear(&node->waits_for);
        plim_object_drop(made);
        return NULL;
    }
    if (graph->last)
        PLIM_BODY(graph->last, plim_node)->next = made;
    else
        graph->first = made;
    graph->last = made;
    graph->n_nodes++;
    return made;
}
