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

struct plim_object *plim_cuda_graph_make(void) { return plim_object_make(PLIM_OBJECT_GRAPH, NULL, 0); }

static bool copy_own(struct plim_nodes *to, const struct plim_nodes *from, const struct plim_object *graph)
{
    for (uint32_t i = 0; from && i < from->n; i++) {
        const struct plim_node *node = plim_node_of(from->at[i]);
        if (node && node->graph == graph && !plim_nodes_add(to, from->at[i]))
            return false;
    }
    return true;
}

struct plim_object *plim_cuda_graph_add(struct plim_object *object, enum plim_node_type type,
                                        const struct plim_nodes *waits_for, const struct cu_host_call *call,
                                        struct plim_work *work)
{
    struct plim_cuda_graph *graph = PLIM_BODY(object, plim_cuda_graph);
    struct plim_node node = { .type = type, .number = graph->n_ever, .graph = object, .previous = graph->last };
    if (call) {
        node.function = call->function;
        node.data = call->data;
    }
    struct plim_object *made =
        copy_own(&node.waits_for, waits_for, object) ? plim_object_make(PLIM_OBJECT_NODE, &node, sizeof node) : NULL;
    if (!made) {
        plim_nodes_clear(&node.waits_for);
        return NULL;
    }
    PLIM_BODY(made, plim_node)->work = plim_work_hold(work);
    graph->n_ever++;
    if (graph->last)
        PLIM_BODY(graph->last, plim_node)->next = made;
    else
        graph->first = made;
    graph->last = made;
    graph->n_nodes++;
    return made;
}
