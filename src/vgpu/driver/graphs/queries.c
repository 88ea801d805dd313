/* SPDX-License-Identifier: MIT */
/* Queries of graphs: nodes and edges. A list is filled up to its length; without a list its length is returned. */
#include "vgpu/core/cuda_api.h"
#include "vgpu/driver/graphs/nodes.h"

#include <stdio.h>

/* The caller's list, or only its length. */
struct node_list {
    void **at;
    size_t n, room;
};

static void put(struct node_list *list, void *node)
{
    if (list->at && list->n < list->room)
        list->at[list->n] = node;
    list->n++;
}

/* The rest of the list is set to NULL, and the length becomes the number of entries. */
static void end(struct node_list *list, size_t *ret_n)
{
    for (size_t i = list->n; list->at && i < list->room; i++)
        list->at[i] = NULL;
    *ret_n = list->at && list->n > list->room ? list->room : list->n;
}

status cuGraphGetNodes(void *handle, void **nodes, size_t *n)
{
    PLIM_OBJECTS_LOCKED;
    const struct plim_cuda_graph *graph = plim_cuda_graph_of(handle);
    if (!graph || !n)
        return PLIM_CUDA_INVALID_VALUE;
    struct node_list list = { nodes, 0, *n };
    for (struct plim_object *node = graph->first; node; node = PLIM_BODY(node, plim_node)->next)
        put(&list, node);
    end(&list, n);
    return PLIM_CUDA_SUCCESS;
}

status cuGraphGetRootNodes(void *handle, void **nodes, size_t *n)
{
    PLIM_OBJECTS_LOCKED;
    const struct plim_cuda_graph *graph = plim_cuda_graph_of(handle);
    if (!graph || !n)
        return PLIM_CUDA_INVALID_VALUE;
    struct node_list list = { nodes, 0, *n };
    for (struct plim_object *node = graph->first; node; node = PLIM_BODY(node, plim_node)->next)
        if (PLIM_BODY(node, plim_node)->waits_for.n == 0)
            put(&list, node);
    end(&list, n);
    return PLIM_CUDA_SUCCESS;
}

/* CUgraphEdgeData: a plain edge is 8 bytes of zeros. */
static void plain_edges(uint64_t *edges, size_t n)
{
    for (size_t i = 0; edges && i < n; i++)
        edges[i] = 0;
}

status cuGraphGetEdges_v2(void *handle, void **from, void **to, uint64_t *edges, size_t *n)
{
    PLIM_OBJECTS_LOCKED;
    const struct plim_cuda_graph *graph = plim_cuda_graph_of(handle);
    if (!graph || !n || !from != !to)
        return PLIM_CUDA_INVALID_VALUE;
    struct node_list starts = { from, 0, *n }, ends = { to, 0, *n };
    for (struct plim_object *node = graph->first; node; node = PLIM_BODY(node, plim_node)->next) {
        const struct plim_nodes *waits_for = &PLIM_BODY(node, plim_node)->waits_for;
        for (uint32_t i = 0; i < waits_for->n; i++) {
            put(&starts, waits_for->at[i]);
            put(&ends, node);
        }
    }
    end(&starts, n);
    end(&ends, n);
    plain_edges(edges, *n);
    return PLIM_CUDA_SUCCESS;
}

status cuGraphGetEdges(void *graph, void **from, void **to, size_t *n)
{
    return cuGraphGetEdges_v2(graph, from, to, NULL, n);
}

status cuGraphNodeGetDependencies_v2(void *handle, void **nodes, uint64_t *edges, size_t *n)
{
    PLIM_OBJECTS_LOCKED;
    const struct plim_node *node = plim_node_of(handle);
    if (!node || !n)
        return PLIM_CUDA_INVALID_VALUE;
    struct node_list list = { nodes, 0, *n };
    for (uint32_t i = 0; i < node->waits_for.n; i++)
        put(&list, node->waits_for.at[i]);
    end(&list, n);
    plain_edges(edges, nodes ? *n : 0);
    return PLIM_CUDA_SUCCESS;
}

status cuGraphNodeGetDependencies(void *node, void **nodes, size_t *n)
{
    return cuGraphNodeGetDependencies_v2(node, nodes, NULL, n);
}

status cuGraphNodeGetDependentNodes_v2(void *handle, void **nodes, uint64_t *edges, size_t *n)
{
    PLIM_OBJECTS_LOCKED;
    const struct plim_node *node = plim_node_of(handle);
    if (!node || !n)
        return PLIM_CUDA_INVALID_VALUE;
    struct node_list list = { nodes, 0, *n };
    for (struct plim_object *after = node->next; after; after = PLIM_BODY(after, plim_node)->next)
        for (uint32_t i = 0; i < PLIM_BODY(after, plim_node)->waits_for.n; i++)
            if (PLIM_BODY(after, plim_node)->waits_for.at[i] == handle)
                put(&list, after);
    end(&list, n);
    plain_edges(edges, nodes ? *n : 0);
    return PLIM_CUDA_SUCCESS;
}

status cuGraphNodeGetDependentNodes(void *node, void **nodes, size_t *n)
{
    return cuGraphNodeGetDependentNodes_v2(node, nodes, NULL, n);
}

status cuGraphAddDependencies_v2(void *handle, void *const *from, void *const *to, const void *edges, size_t n)
{
    PLIM_OBJECTS_LOCKED;
    (void)edges;
    if (!plim_cuda_graph_of(handle) || (n > 0 && (!from || !to)))
        return PLIM_CUDA_INVALID_VALUE;
    status error = PLIM_CUDA_SUCCESS;
    for (size_t i = 0; i < n && !error; i++) {
        const struct plim_node *start = plim_node_of(from[i]);
        struct plim_node *node = plim_node_of(to[i]);
        if (!start || !node || start->graph != handle || node->graph != handle)
            error = PLIM_CUDA_INVALID_VALUE;
        else if (!plim_nodes_add(&node->waits_for, from[i]))
            error = PLIM_CUDA_OUT_OF_MEMORY;
    }
    return error;
}

status cuGraphAddDependencies(void *graph, void *const *from, void *const *to, size_t n)
{
    return cuGraphAddDependencies_v2(graph, from, to, NULL, n);
}

status cuGraphNodeGetType(void *handle, int *ret_type)
{
    PLIM_OBJECTS_LOCKED;
    const struct plim_node *node = plim_node_of(handle);
    if (!node || !ret_type)
        return PLIM_CUDA_INVALID_VALUE;
    *ret_type = (int)node->type;
    return PLIM_CUDA_SUCCESS;
}

status cuGraphNodeGetContainingGraph(void *handle, void **ret_graph)
{
    PLIM_OBJECTS_LOCKED;
    const struct plim_node *node = plim_node_of(handle);
    if (!node || !ret_graph)
        return PLIM_CUDA_INVALID_VALUE;
    *ret_graph = node->graph;
    return PLIM_CUDA_SUCCESS;
}

status cuGraphNodeGetLocalId(void *handle, unsigned *ret_id)
{
    PLIM_OBJECTS_LOCKED;
    const struct plim_node *node = plim_node_of(handle);
    if (!node || !ret_id)
        return PLIM_CUDA_INVALID_VALUE;
    *ret_id = node->number;
    return PLIM_CUDA_SUCCESS;
}

static status id_of(const struct plim_object *object, uint64_t *ret_id)
{
    if (!object || !ret_id)
        return PLIM_CUDA_INVALID_VALUE;
    *ret_id = object->id;
    return PLIM_CUDA_SUCCESS;
}

static status short_id_of(const struct plim_object *object, unsigned *ret_id)
{
    if (!object || !ret_id)
        return PLIM_CUDA_INVALID_VALUE;
    *ret_id = (unsigned)object->id;
    return PLIM_CUDA_SUCCESS;
}

status cuGraphNodeGetToolsId(void *node, uint64_t *ret_id)
{
    return id_of(plim_object_of(node, PLIM_OBJECT_NODE), ret_id);
}
status cuGraphGetId(void *graph, unsigned *ret_id)
{
    return short_id_of(plim_object_of(graph, PLIM_OBJECT_GRAPH), ret_id);
}
status cuGraphExecGetId(void *exec, unsigned *ret_id)
{
    return short_id_of(plim_object_of(exec, PLIM_OBJECT_EXEC), ret_id);
}

/* Dot, the language of Graphviz: nodes with their types, and edges. */
status cuGraphDebugDotPrint(void *handle, const char *path, unsigned flags)
{
    PLIM_OBJECTS_LOCKED;
    const struct plim_cuda_graph *graph = plim_cuda_graph_of(handle);
    FILE *file = graph && path ? fopen(path, "w") : NULL;
    (void)flags;
    if (!file)
        return PLIM_CUDA_INVALID_VALUE;
    fprintf(file, "digraph {\n");
    for (struct plim_object *object = graph->first; object; object = PLIM_BODY(object, plim_node)->next) {
        const struct plim_node *node = PLIM_BODY(object, plim_node);
        fprintf(file, "  n%u [label=\"%u: type %d\"]\n", node->number, node->number, (int)node->type);
        for (uint32_t i = 0; i < node->waits_for.n; i++)
            fprintf(file, "  n%u -> n%u\n", PLIM_BODY(node->waits_for.at[i], plim_node)->number, node->number);
    }
    fprintf(file, "}\n");
    return fclose(file) ? PLIM_CUDA_INVALID_VALUE : PLIM_CUDA_SUCCESS;
}
