/* SPDX-License-Identifier: MIT */
/* libcuda: graphs and their nodes, as programs build them. */
#include "vgpu/driver/graphs/graphs.h"

#include "vgpu/core/cuda_api.h"
#include "vgpu/core/session.h"
#include "vgpu/driver/graphs/users.h"

#include <stdlib.h>
#include <string.h>

static bool owns_graphs(const struct plim_node *node)
{
    return node->type == PLIM_NODE_GRAPH || node->type == PLIM_NODE_CONDITIONAL;
}

static void graph_free(struct plim_object *object, struct plim_cuda_graph_user **users);

static void node_free(struct plim_object *object, struct plim_cuda_graph_user **users)
{
    struct plim_node *node = PLIM_BODY(object, plim_node);
    if (owns_graphs(node)) {
        struct plim_object **graphs = node->data;
        for (unsigned i = 0; i < node->n_data; i++)
            graph_free(graphs[i], users);
        free(graphs);
    }
    plim_nodes_clear(&node->waits_for);
    plim_work_release(node->work);
    plim_object_drop(object);
}

/* The user objects are added to a list, which the caller frees without the lock. */
static void graph_free(struct plim_object *object, struct plim_cuda_graph_user **users)
{
    struct plim_cuda_graph *graph = PLIM_BODY(object, plim_cuda_graph);
    plim_cuda_graph_users_join(users, graph->users);
    for (struct plim_object *node = graph->first, *next; node; node = next) {
        next = PLIM_BODY(node, plim_node)->next;
        node_free(node, users);
    }
    plim_object_drop(object);
}

void plim_cuda_graph_free(struct plim_object *graph)
{
    struct plim_cuda_graph_user *users = NULL;
    if (!graph)
        return;
    graph_free(graph, &users);
    if (users) {
        plim_objects_unlock();
        plim_cuda_graph_users_free(users);
        plim_objects_lock();
    }
}

status cuGraphCreate(void **ret_graph, unsigned flags)
{
    if (!ret_graph || flags)
        return PLIM_CUDA_INVALID_VALUE;
    plim_objects_lock();
    *ret_graph = plim_cuda_graph_make();
    plim_objects_unlock();
    return *ret_graph ? PLIM_CUDA_SUCCESS : PLIM_CUDA_OUT_OF_MEMORY;
}

status cuGraphDestroy(void *handle)
{
    PLIM_OBJECTS_LOCKED;
    struct plim_object *object = plim_object_of(handle, PLIM_OBJECT_GRAPH);
    if (!object || PLIM_BODY(object, plim_cuda_graph)->owner)
        return PLIM_CUDA_INVALID_VALUE;
    plim_cuda_graph_free(object);
    return PLIM_CUDA_SUCCESS;
}

/* A node that the program adds itself. With the lock held. */
static status add_locked(void **ret_node, void *graph, void *const *nodes, size_t n, enum plim_node_type type,
                         const struct cu_host_call *call, struct plim_work *work)
{
    struct plim_nodes waits_for = { 0 };
    struct plim_object *object = plim_object_of(graph, PLIM_OBJECT_GRAPH), *made = NULL;
    if (!object || !ret_node || (n > 0 && !nodes))
        return PLIM_CUDA_INVALID_VALUE;
    status error = PLIM_CUDA_SUCCESS;
    for (size_t i = 0; i < n && !error; i++) {
        struct plim_object *node = plim_object_of(nodes[i], PLIM_OBJECT_NODE);
        if (!node || PLIM_BODY(node, plim_node)->graph != object)
            error = PLIM_CUDA_INVALID_VALUE;
        else if (!plim_nodes_add(&waits_for, node))
            error = PLIM_CUDA_OUT_OF_MEMORY;
    }
    if (!error && !(made = plim_cuda_graph_add(object, type, &waits_for, call, work)))
        error = PLIM_CUDA_OUT_OF_MEMORY;
    plim_nodes_clear(&waits_for);
    if (!error)
        *ret_node = made;
    return error;
}

static status add(void **ret_node, void *graph, void *const *nodes, size_t n, enum plim_node_type type,
                  const struct cu_host_call *call)
{
    PLIM_OBJECTS_LOCKED;
    return add_locked(ret_node, graph, nodes, n, type, call, NULL);
}

/* The graph takes the work over. */
static status add_work(void **ret_node, void *graph, void *const *nodes, size_t n, enum plim_node_type type,
                       struct plim_work *work)
{
    plim_objects_lock();
    status error = add_locked(ret_node, graph, nodes, n, type, NULL, work);
    plim_objects_unlock();
    plim_work_release(work);
    return error;
}

status cuGraphAddEmptyNode(void **ret_node, void *graph, void *const *nodes, size_t n)
{
    return add(ret_node, graph, nodes, n, PLIM_NODE_EMPTY, NULL);
}

status cuGraphAddKernelNode_v2(void **ret_node, void *graph, void *const *nodes, size_t n, const void *parameters)
{
    return parameters ? add_work(ret_node, graph, nodes, n, PLIM_NODE_KERNEL, plim_work_unknown())
                      : PLIM_CUDA_INVALID_VALUE;
}

status cuGraphAddKernelNode(void **ret_node, void *graph, void *const *nodes, size_t n, const void *parameters)
{
    return cuGraphAddKernelNode_v2(ret_node, graph, nodes, n, parameters);
}

status cuGraphAddMemcpyNode(void **ret_node, void *graph, void *const *nodes, size_t n, const void *copy, void *context)
{
    (void)context;
    return copy ? add_work(ret_node, graph, nodes, n, PLIM_NODE_MEMCPY, plim_work_unknown()) : PLIM_CUDA_INVALID_VALUE;
}

status cuGraphAddMemsetNode(void **ret_node, void *graph, void *const *nodes, size_t n, const void *set, void *context)
{
    (void)context;
    return set ? add_work(ret_node, graph, nodes, n, PLIM_NODE_MEMSET, plim_work_unknown()) : PLIM_CUDA_INVALID_VALUE;
}

status cuGraphAddHostNode(void **ret_node, void *graph, void *const *nodes, size_t n, const struct cu_host_call *call)
{
    return call && call->function ? add(ret_node, graph, nodes, n, PLIM_NODE_HOST, call) : PLIM_CUDA_INVALID_VALUE;
}

status cuGraphAddEventRecordNode(void **ret_node, void *graph, void *const *nodes, size_t n, void *event)
{
    if (!plim_object_of(event, PLIM_OBJECT_EVENT))
        return PLIM_CUDA_INVALID_HANDLE;
    return add(ret_node, graph, nodes, n, PLIM_NODE_EVENT_RECORD, NULL);
}

status cuGraphAddEventWaitNode(void **ret_node, void *graph, void *const *nodes, size_t n, void *event)
{
    if (!plim_object_of(event, PLIM_OBJECT_EVENT))
        return PLIM_CUDA_INVALID_HANDLE;
    return add(ret_node, graph, nodes, n, PLIM_NODE_WAIT_EVENT, NULL);
}

static struct plim_object *copy_graph(const struct plim_cuda_graph *graph);

/* Graphs that belong to a node: a child graph, or the bodies of a conditional node. from: their originals, or NULL. */
static bool own_graphs(struct plim_node *node, unsigned n, struct plim_object *const *from)
{
    struct plim_object **graphs = calloc(n ? n : 1, sizeof *graphs);
    node->data = graphs;
    for (node->n_data = 0; graphs && node->n_data < n; node->n_data++) {
        struct plim_object *made =
            from ? copy_graph(PLIM_BODY(from[node->n_data], plim_cuda_graph)) : plim_cuda_graph_make();
        if (!made)
            return false;
        PLIM_BODY(made, plim_cuda_graph)->owner = node;
        graphs[node->n_data] = made;
    }
    return graphs != NULL;
}

/* Copy nodes and edges into an empty graph. With the lock held. */
static bool copy_nodes(struct plim_object *to, const struct plim_cuda_graph *from)
{
    struct plim_object **made = calloc(from->n_ever ? from->n_ever : 1, sizeof *made);
    bool is_right = made != NULL;
    for (struct plim_object *object = from->first; object && is_right; object = PLIM_BODY(object, plim_node)->next) {
        const struct plim_node *node = PLIM_BODY(object, plim_node);
        const struct cu_host_call call = { node->function, node->data };
        struct plim_object *copy =
            plim_cuda_graph_add(to, node->type, NULL, node->type == PLIM_NODE_HOST ? &call : NULL, node->work);
        is_right = copy && (!owns_graphs(node) || own_graphs(PLIM_BODY(copy, plim_node), node->n_data, node->data));
        made[node->number] = copy;
    }
    for (struct plim_object *object = from->first; object && is_right; object = PLIM_BODY(object, plim_node)->next) {
        const struct plim_node *node = PLIM_BODY(object, plim_node);
        struct plim_node *copy = PLIM_BODY(made[node->number], plim_node);
        for (uint32_t i = 0; i < node->waits_for.n && is_right; i++)
            is_right = plim_nodes_add(&copy->waits_for, made[PLIM_BODY(node->waits_for.at[i], plim_node)->number]);
    }
    free(made);
    return is_right;
}

/* With the lock held. */
static struct plim_object *copy_graph(const struct plim_cuda_graph *graph)
{
    struct plim_object *copy = plim_cuda_graph_make();
    if (copy && (!copy_nodes(copy, graph) ||
                 !plim_cuda_graph_users_copy(&PLIM_BODY(copy, plim_cuda_graph)->users, graph->users))) {
        plim_cuda_graph_free(copy);
        copy = NULL;
    }
    return copy;
}

status cuGraphClone(void **ret_graph, void *handle)
{
    PLIM_OBJECTS_LOCKED;
    const struct plim_cuda_graph *graph = plim_cuda_graph_of(handle);
    if (!graph || !ret_graph)
        return PLIM_CUDA_INVALID_VALUE;
    *ret_graph = copy_graph(graph);
    return *ret_graph ? PLIM_CUDA_SUCCESS : PLIM_CUDA_OUT_OF_MEMORY;
}

/* from: the original of a child graph, or NULL: new ones. */
static status add_with_graphs(void **ret_node, void *graph, void *const *nodes, size_t n, enum plim_node_type type,
                              unsigned n_graphs, struct plim_object *from, struct plim_object ***ret_graphs)
{
    PLIM_OBJECTS_LOCKED;
    if (from && !plim_cuda_graph_of(from))
        return PLIM_CUDA_INVALID_VALUE;
    status error = add_locked(ret_node, graph, nodes, n, type, NULL, NULL);
    if (error)
        return error;
    struct plim_node *node = plim_node_of(*ret_node);
    if (!own_graphs(node, n_graphs, from ? &from : NULL))
        return PLIM_CUDA_OUT_OF_MEMORY;
    if (ret_graphs)
        *ret_graphs = node->data;
    return PLIM_CUDA_SUCCESS;
}

status cuGraphAddChildGraphNode(void **ret_node, void *graph, void *const *nodes, size_t n, void *child)
{
    return child ? add_with_graphs(ret_node, graph, nodes, n, PLIM_NODE_GRAPH, 1, child, NULL)
                 : PLIM_CUDA_INVALID_VALUE;
}

status cuGraphChildGraphNodeGetGraph(void *handle, void **ret_graph)
{
    PLIM_OBJECTS_LOCKED;
    const struct plim_node *node = plim_node_of(handle);
    if (!node || node->type != PLIM_NODE_GRAPH || node->n_data == 0 || !ret_graph)
        return PLIM_CUDA_INVALID_VALUE;
    *ret_graph = ((struct plim_object **)node->data)[0];
    return PLIM_CUDA_SUCCESS;
}

status cuGraphAddNode_v2(void **ret_node, void *graph, void *const *nodes, const void *edges, size_t n,
                         struct cu_graph_node *parameters)
{
    enum { MAX_BODIES = 64 };
    struct plim_object **graphs;
    (void)edges;
    if (!parameters)
        return PLIM_CUDA_INVALID_VALUE;
    switch (parameters->type) {
    case PLIM_NODE_KERNEL:
    case PLIM_NODE_MEMCPY:
    case PLIM_NODE_MEMSET:
    case PLIM_NODE_BATCH_MEM_OP:
        return add_work(ret_node, graph, nodes, n, (enum plim_node_type)parameters->type, plim_work_unknown());
    case PLIM_NODE_EMPTY:
        return add(ret_node, graph, nodes, n, (enum plim_node_type)parameters->type, NULL);
    case PLIM_NODE_HOST:
        return cuGraphAddHostNode(ret_node, graph, nodes, n, &parameters->of.host);
    case PLIM_NODE_GRAPH:
        return cuGraphAddChildGraphNode(ret_node, graph, nodes, n, parameters->of.handle);
    case PLIM_NODE_WAIT_EVENT:
        return cuGraphAddEventWaitNode(ret_node, graph, nodes, n, parameters->of.handle);
    case PLIM_NODE_EVENT_RECORD:
        return cuGraphAddEventRecordNode(ret_node, graph, nodes, n, parameters->of.handle);
    case PLIM_NODE_CONDITIONAL: {
        const unsigned size = parameters->of.conditional.size;
        if (size == 0 || size > MAX_BODIES)
            return PLIM_CUDA_INVALID_VALUE;
        status error = add_with_graphs(ret_node, graph, nodes, n, PLIM_NODE_CONDITIONAL, size, NULL, &graphs);
        if (!error)
            parameters->of.conditional.ret_graphs = (void **)graphs;
        return error;
    }
    default:
        return plim_vgpu_unsupported("cuGraphAddNode with this type of node", __builtin_return_address(0));
    }
}

status cuGraphAddNode(void **ret_node, void *graph, void *const *nodes, size_t n, struct cu_graph_node *parameters)
{
    return cuGraphAddNode_v2(ret_node, graph, nodes, NULL, n, parameters);
}

status cuGraphConditionalHandleCreate(uint64_t *ret_handle, void *graph, void *context, unsigned value, unsigned flags)
{
    static _Atomic uint64_t last;
    (void)context, (void)value, (void)flags;
    if (!ret_handle || !plim_cuda_graph_of(graph))
        return PLIM_CUDA_INVALID_VALUE;
    *ret_handle = atomic_fetch_add(&last, 1) + 1;
    return PLIM_CUDA_SUCCESS;
}

static void nodes_remove(struct plim_nodes *nodes, const struct plim_object *node)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < nodes->n; i++)
        if (nodes->at[i] != node)
            nodes->at[n++] = nodes->at[i];
    nodes->n = n;
}

static status destroy_node(void *handle, struct plim_cuda_graph_user **users)
{
    PLIM_OBJECTS_LOCKED;
    struct plim_object *object = plim_object_of(handle, PLIM_OBJECT_NODE);
    if (!object)
        return PLIM_CUDA_INVALID_VALUE;
    struct plim_node *node = PLIM_BODY(object, plim_node);
    struct plim_cuda_graph *graph = PLIM_BODY(node->graph, plim_cuda_graph);
    for (struct plim_object *other = graph->first; other; other = PLIM_BODY(other, plim_node)->next)
        nodes_remove(&PLIM_BODY(other, plim_node)->waits_for, object);
    if (node->previous)
        PLIM_BODY(node->previous, plim_node)->next = node->next;
    else
        graph->first = node->next;
    if (node->next)
        PLIM_BODY(node->next, plim_node)->previous = node->previous;
    else
        graph->last = node->previous;
    graph->n_nodes--;
    node_free(object, users);
    return PLIM_CUDA_SUCCESS;
}

status cuGraphDestroyNode(void *handle)
{
    struct plim_cuda_graph_user *users = NULL;
    status error = destroy_node(handle, &users);
    plim_cuda_graph_users_free(users);
    return error;
}
