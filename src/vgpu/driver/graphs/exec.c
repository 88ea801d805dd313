/* SPDX-License-Identifier: MIT */
/* Executable graphs. A launch calls the functions of host nodes; the other nodes do nothing. */
#include "vgpu/core/cuda_api.h"
#include "vgpu/core/steps.h"
#include "vgpu/driver/contexts.h"
#include "vgpu/driver/graphs/capture.h"
#include "vgpu/driver/graphs/users.h"

#include <stdlib.h>
#include <string.h>

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
    plim_objects_lock();
    struct exec *exec = exec_of(handle);
    const struct exec old = exec ? *exec : (struct exec){ 0 };
    if (exec)
        plim_object_drop(handle);
    plim_objects_unlock();
    free(old.calls);
    plim_cuda_graph_users_free(old.users);
    return exec ? PLIM_CUDA_SUCCESS : PLIM_CUDA_INVALID_VALUE;
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

/* With the lock held. */
static struct plim_object *instantiate(const struct plim_cuda_graph *graph, uint64_t flags, struct exec *exec)
{
    *exec = (struct exec){ .flags = flags };
    return fill(exec, graph) == PLIM_CUDA_SUCCESS && plim_cuda_graph_users_copy(&exec->users, graph->users)
               ? plim_object_make(PLIM_OBJECT_EXEC, exec, sizeof *exec)
               : NULL;
}

status cuGraphInstantiateWithFlags(void **ret_exec, void *handle, unsigned long long flags)
{
    struct exec exec = { 0 };
    status error = plim_context_need();
    if (error || !ret_exec)
        return error ? error : PLIM_CUDA_INVALID_VALUE;
    plim_objects_lock();
    const struct plim_cuda_graph *graph = plim_cuda_graph_of(handle);
    struct plim_object *object = graph ? instantiate(graph, flags, &exec) : NULL;
    plim_objects_unlock();
    if (object) {
        *ret_exec = object;
        return PLIM_CUDA_SUCCESS;
    }
    free(exec.calls);
    plim_cuda_graph_users_free(exec.users);
    return graph ? PLIM_CUDA_OUT_OF_MEMORY : PLIM_CUDA_INVALID_VALUE;
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
    PLIM_OBJECTS_LOCKED;
    const struct exec *exec = exec_of(handle);
    if (!exec || !flags)
        return PLIM_CUDA_INVALID_VALUE;
    *flags = exec->flags;
    return PLIM_CUDA_SUCCESS;
}

status cuGraphExecUpdate_v2(void *handle, void *graph_handle, struct cu_graph_update *ret_result)
{
    enum { UPDATE_TOPOLOGY_CHANGED = 2 };
    PLIM_OBJECTS_LOCKED;
    struct exec *exec = exec_of(handle);
    const struct plim_cuda_graph *graph = plim_cuda_graph_of(graph_handle);
    if (!exec || !graph)
        return PLIM_CUDA_INVALID_VALUE;
    const bool is_same = exec->n_nodes == graph->n_nodes;
    status error = is_same ? fill(exec, graph) : PLIM_CUDA_GRAPH_UPDATE_FAILURE;
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

/* A copy: the calls are made without the lock. */
static status calls_of(void *handle, struct cu_host_call **ret_calls, size_t *ret_n)
{
    PLIM_OBJECTS_LOCKED;
    const struct exec *exec = exec_of(handle);
    if (!exec)
        return PLIM_CUDA_INVALID_VALUE;
    if (exec->n_calls && !(*ret_calls = calloc(exec->n_calls, sizeof **ret_calls)))
        return PLIM_CUDA_OUT_OF_MEMORY;
    if (exec->n_calls)
        memcpy(*ret_calls, exec->calls, exec->n_calls * sizeof **ret_calls);
    *ret_n = exec->n_calls;
    return PLIM_CUDA_SUCCESS;
}

status cuGraphLaunch(void *handle, void *stream)
{
    struct cu_host_call *calls = NULL;
    size_t n_calls = 0;
    bool is_captured = false;
    if (!exec_of(handle))
        return PLIM_CUDA_INVALID_VALUE;
    status error = plim_capture_work(stream, PLIM_NODE_GRAPH, NULL, &is_captured);
    if (error || is_captured)
        return error;
    if ((error = plim_vgpu_need_kernels(plim_context_device())) || (error = calls_of(handle, &calls, &n_calls)))
        return error;
    plim_vgpu_launched(handle);
    for (size_t i = 0; i < n_calls; i++)
        calls[i].function(calls[i].data);
    free(calls);
    return PLIM_CUDA_SUCCESS;
}
