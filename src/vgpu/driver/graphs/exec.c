/* SPDX-License-Identifier: MIT */
/*
 * Executable graphs. A launch calls the functions of host nodes and does to the values of device memory what the other
 * nodes do, in the order in which they were made.
 */
#include "vgpu/driver/graphs/exec.h"
#include "vgpu/core/cuda_api.h"
#include "vgpu/core/steps.h"
#include "vgpu/driver/contexts.h"
#include "vgpu/driver/graphs/capture.h"
#include "vgpu/driver/graphs/users.h"

#include <stdlib.h>
#include <string.h>

struct exec {
    struct plim_sequence sequence;
    unsigned n_nodes;
    uint64_t flags;
    struct plim_cuda_graph_user *users;
};

/* The graph that another one launches. */
static void run_child(const void *context) { plim_sequence_run(context); }
static void drop_child(void *context) { plim_sequence_free(context); }

static struct exec *exec_of(const void *handle)
{
    struct plim_object *object = plim_object_of(handle, PLIM_OBJECT_EXEC);
    return object ? PLIM_BODY(object, exec) : NULL;
}

struct plim_sequence *plim_exec_sequence(const void *handle)
{
    struct exec *exec = exec_of(handle);
    return exec ? &exec->sequence : NULL;
}

status cuGraphExecDestroy(void *handle)
{
    plim_objects_lock();
    struct exec *exec = exec_of(handle);
    struct exec old = exec ? *exec : (struct exec){ 0 };
    if (exec)
        plim_object_drop(handle);
    plim_objects_unlock();
    plim_sequence_free(&old.sequence);
    plim_cuda_graph_users_free(old.users);
    return exec ? PLIM_CUDA_SUCCESS : PLIM_CUDA_INVALID_VALUE;
}

static status fill(struct exec *exec, const struct plim_cuda_graph *graph)
{
    if (!plim_sequence_fill(&exec->sequence, graph))
        return PLIM_CUDA_OUT_OF_MEMORY;
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
    plim_sequence_free(&exec.sequence);
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

/* A copy: a launch runs without the lock. */
static status sequence_of(void *handle, struct plim_sequence *ret_sequence, unsigned *ret_n_nodes)
{
    PLIM_OBJECTS_LOCKED;
    const struct exec *exec = exec_of(handle);
    if (!exec)
        return PLIM_CUDA_INVALID_VALUE;
    *ret_n_nodes = exec->n_nodes;
    return plim_sequence_copy(ret_sequence, &exec->sequence) ? PLIM_CUDA_SUCCESS : PLIM_CUDA_OUT_OF_MEMORY;
}

status cuGraphLaunch(void *handle, void *stream)
{
    static const struct plim_work_kind child = { run_child, drop_child };
    struct plim_sequence sequence = { 0 };
    bool is_captured = false;
    unsigned n_nodes = 0;
    status error = sequence_of(handle, &sequence, &n_nodes);
    if (error)
        return error;
    struct plim_work *work = plim_work_make(&child, &sequence, sizeof sequence);
    error = work ? plim_capture_work(stream, PLIM_NODE_GRAPH, NULL, work, &is_captured) : PLIM_CUDA_OUT_OF_MEMORY;
    if (!error && !is_captured && !(error = plim_vgpu_need_kernels(plim_context_device()))) {
        plim_vgpu_launched_graph(handle, n_nodes);
        plim_vgpu_ran(plim_context_device());
        plim_work_run(work);
    }
    plim_work_release(work);
    return error;
}
