/* SPDX-License-Identifier: MIT */
/* Executable graphs. A launch calls the functions of host nodes; the other nodes do nothing. */
#include "vgpu/core/cuda_api.h"
#include "vgpu/core/steps.h"
#include "vgpu/driver/contexts.h"
#include "vgpu/driver/graphs/capture.h"
#include "vgpu/driver/graphs/users.h"

#include <stdlib.h>

struct exec {
    struct cu_host_call *calls; /* in the order of the graph */
    size_t n_calls;
    unsigned n_nodes;
    uint64_t flags;
    struct plim_cuda_graph_user *users;
};

static struct exec *exec_of(const void *handle)
{
    struct plim_object *object = plim_object_of(handle, PLIM_OBJECT_EXEC);
    return object ? PLIM_BODY(object, exec) : NULL;
}

status cuGraphExecDestroy(void *handle)
{
    struct exec *exec = exec_of(handle);
    if (!exec)
        return PLIM_CUDA_INVALID_VALUE;
    struct plim_cuda_graph_user *users = exec->users;
    free(exec->calls);
    plim_object_drop(handle);
    plim_cuda_graph_users_free(users);
    return PLIM_CUDA_SUCCESS;
}

static size_t count_calls(const struct plim_cuda_graph *graph, struct cu_host_call *calls, size_t n)
{
    for (const struct plim_object *object = graph->first; object; object = PLIM_BODY(object, plim_node)->next) {
        const struct plim_node *node = PLIM_BODY(object, plim_node);
        if (node->type == PLIM_NODE_HOST) {
            if (calls)
                calls[n] = (struct cu_host_call){ node->function, node->data };
            n++;
        } else if (node->type == PLIM_NODE_GRAPH && node->n_data) {
            n = count_calls(PLIM_BODY(((struct plim_object **)node->data)[0], plim_cuda_graph), calls, n);
        }
    }
    return n;
}

static status fill(struct exec *exec, const struct plim_cuda_graph *graph)
{
    const size_t n = count_calls(graph, NULL, 0);
    struct cu_host_call *calls = n ? calloc(n, sizeof *calls) : NULL;
    if (n && !calls)
        return PLIM_CUDA_OUT_OF_MEMORY;
    count_calls(graph, calls, 0);
    free(exec->calls);
    exec->calls = calls;
    exec->n_calls = n;
    exec->n_nodes = graph->n_nodes;
    return PLIM_CUDA_SUCCESS;
}

status cuGraphInstantiateWithFlags(void **ret_exec, void *handle, unsigned long long flags)
{
    const struct plim_cuda_graph *graph = plim_cuda_graph_of(handle);
    status error = plim_context_need();
    if (error || !graph || !ret_exec)
        return error ? error : PLIM_CUDA_INVALID_VALUE;
    struct plim_object *object = plim_object_make(PLIM_OBJECT_EXEC);
    if (!object)
        return PLIM_CUDA_OUT_OF_MEMORY;
    struct exec *exec = PLIM_BODY(object, exec);
    plim_objects_lock();
    exec->flags = flags;
    error = fill(exec, graph);
    if (!error && !plim_cuda_graph_users_copy(&exec->users, graph->users))
        error = PLIM_CUDA_OUT_OF_MEMORY;
    plim_objects_unlock();
    if (error)
        cuGraphExecDestroy(object);
    else
        *ret_exec = object;
    return error;
}

status cuGraphInstantiate_v2(void **ret_exec, void *graph, void **ret_node, char *log, size_t log_size)
{
    if (ret_node)
        *ret_node = NULL;
    if (log && log_size)
        *log = '\0';
    return cuGraphInstantiateWithFlags(ret_exec, graph, 0);
}

status cuGraphInstantiateWithParams(void **ret_exec, void *graph, struct cu_graph_instantiation *parameters)
{
    if (!parameters)
        return PLIM_CUDA_INVALID_VALUE;
    status error = cuGraphInstantiateWithFlags(ret_exec, graph, parameters->flags);
    parameters->ret_node = NULL;
    parameters->ret_result = error != PLIM_CUDA_SUCCESS;
    return error;
}

status cuGraphExecGetFlags(void *handle, uint64_t *flags)
{
    const struct exec *exec = exec_of(handle);
    if (!exec || !flags)
        return PLIM_CUDA_INVALID_VALUE;
    *flags = exec->flags;
    return PLIM_CUDA_SUCCESS;
}

status cuGraphExecUpdate_v2(void *handle, void *graph_handle, struct cu_graph_update *ret_result)
{
    enum { UPDATE_TOPOLOGY_CHANGED = 2 };
    struct exec *exec = exec_of(handle);
    const struct plim_cuda_graph *graph = plim_cuda_graph_of(graph_handle);
    if (!exec || !graph)
        return PLIM_CUDA_INVALID_VALUE;
    plim_objects_lock();
    const bool is_same = exec->n_nodes == graph->n_nodes;
    status error = is_same ? fill(exec, graph) : PLIM_CUDA_GRAPH_UPDATE_FAILURE;
    plim_objects_unlock();
    if (ret_result)
        *ret_result = (struct cu_graph_update){ is_same ? 0 : UPDATE_TOPOLOGY_CHANGED, NULL, NULL };
    return error;
}

status cuGraphExecUpdate(void *exec, void *graph, void **ret_node, int *ret_result)
{
    struct cu_graph_update result = { 0 };
    status error = cuGraphExecUpdate_v2(exec, graph, &result);
    if (ret_node)
        *ret_node = NULL;
    if (ret_result)
        *ret_result = result.result;
    return error;
}

status cuGraphUpload(void *exec, void *stream)
{
    return !exec_of(exec)           ? PLIM_CUDA_INVALID_VALUE
           : plim_stream_of(stream) ? PLIM_CUDA_SUCCESS
                                    : PLIM_CUDA_INVALID_HANDLE;
}

status cuGraphLaunch(void *handle, void *stream)
{
    const struct exec *exec = exec_of(handle);
    struct plim_node *node;
    if (!exec)
        return PLIM_CUDA_INVALID_VALUE;
    status error = plim_capture_work(stream, PLIM_NODE_GRAPH, &node);
    if (error || node)
        return error;
    if ((error = plim_vgpu_need_kernels(plim_context_device())))
        return error;
    plim_vgpu_launched(handle);
    for (size_t i = 0; i < exec->n_calls; i++)
        exec->calls[i].function(exec->calls[i].data);
    return PLIM_CUDA_SUCCESS;
}
