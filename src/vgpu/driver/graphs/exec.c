/* SPDX-License-Identifier: MIT */
/*
 * Executable graphs. A launch calls the functions of host nodes and does to the values of device memory what the other
 * nodes do, in the order in which they were made.
 */
#include "vgpu/core/cuda_api.h"
#include "vgpu/core/steps.h"
#include "vgpu/driver/contexts.h"
#include "vgpu/driver/graphs/capture.h"
#include "vgpu/driver/graphs/users.h"
#include "vgpu/values/shadow.h"

#include <stdlib.h>
#include <string.h>

/* What a launch does for a node. */
struct step {
    struct cu_host_call call; /* function NULL: of another node */
    struct plim_work *work;
};

struct steps {
    struct step *step;
    size_t n;
};

struct exec {
    struct steps steps;
    unsigned n_nodes;
    uint64_t flags;
    struct plim_cuda_graph_user *users;
};

/* --- steps --- */

static void free_steps(struct steps *steps)
{
    for (size_t i = 0; i < steps->n; i++)
        plim_work_release(steps->step[i].work);
    free(steps->step);
    *steps = (struct steps){ 0 };
}

/* False: no memory. */
static bool copy_steps(struct steps *to, const struct steps *from)
{
    to->n = 0;
    to->step = from->n ? calloc(from->n, sizeof *to->step) : NULL;
    if (from->n && !to->step)
        return false;
    for (; to->n < from->n; to->n++) {
        to->step[to->n] = from->step[to->n];
        plim_work_hold(to->step[to->n].work);
    }
    return true;
}

static void run_steps(const struct steps *steps)
{
    for (size_t i = 0; i < steps->n; i++) {
        const struct step *step = &steps->step[i];
        if (step->call.function)
            step->call.function(step->call.data);
        plim_work_run(step->work);
    }
}

/* Nobody knows which of its graphs runs, and how often. */
static void run_conditional(const void *context)
{
    (void)context;
    plim_shadow_forget(NULL, SIZE_MAX);
}

/* The graph that another one launches. */
static void run_child(const void *context) { run_steps(context); }
static void drop_child(void *context) { free_steps(context); }

static struct exec *exec_of(const void *handle)
{
    struct plim_object *object = plim_object_of(handle, PLIM_OBJECT_EXEC);
    return object ? PLIM_BODY(object, exec) : NULL;
}

status cuGraphExecDestroy(void *handle)
{
    plim_objects_lock();
    struct exec *exec = exec_of(handle);
    struct exec old = exec ? *exec : (struct exec){ 0 };
    if (exec)
        plim_object_drop(handle);
    plim_objects_unlock();
    free_steps(&old.steps);
    plim_cuda_graph_users_free(old.users);
    return exec ? PLIM_CUDA_SUCCESS : PLIM_CUDA_INVALID_VALUE;
}

/* Their number, and, if there is room for them, the steps of the graph, which are given the work to hold. */
static size_t steps_of(const struct plim_cuda_graph *graph, struct step *step, size_t n, struct plim_work *conditional)
{
    for (const struct plim_object *object = graph->first; object; object = PLIM_BODY(object, plim_node)->next) {
        const struct plim_node *node = PLIM_BODY(object, plim_node);
        const bool is_host = node->type == PLIM_NODE_HOST, is_conditional = node->type == PLIM_NODE_CONDITIONAL;
        struct plim_work *work = is_conditional ? conditional : node->work;
        if (node->type == PLIM_NODE_GRAPH && node->n_data)
            n = steps_of(PLIM_BODY(((struct plim_object **)node->data)[0], plim_cuda_graph), step, n, conditional);
        if (!is_host && !is_conditional && !work)
            continue;
        if (step)
            step[n] = (struct step){ { is_host ? node->function : NULL, node->data }, plim_work_hold(work) };
        n++;
    }
    return n;
}

static status fill(struct exec *exec, const struct plim_cuda_graph *graph)
{
    static const struct plim_work_kind kind = { run_conditional, NULL };
    struct plim_work *conditional = plim_work_make(&kind, NULL, 0);
    const size_t n = steps_of(graph, NULL, 0, conditional);
    struct step *step = n ? calloc(n, sizeof *step) : NULL;
    const bool is_right = conditional && (step || !n);
    if (is_right) {
        steps_of(graph, step, 0, conditional);
        free_steps(&exec->steps);
        exec->steps = (struct steps){ step, n };
        exec->n_nodes = graph->n_nodes;
    }
    if (!is_right)
        free(step);
    plim_work_release(conditional);
    return is_right ? PLIM_CUDA_SUCCESS : PLIM_CUDA_OUT_OF_MEMORY;
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
    free_steps(&exec.steps);
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
static status steps_of_exec(void *handle, struct steps *ret_steps)
{
    PLIM_OBJECTS_LOCKED;
    const struct exec *exec = exec_of(handle);
    if (!exec)
        return PLIM_CUDA_INVALID_VALUE;
    return copy_steps(ret_steps, &exec->steps) ? PLIM_CUDA_SUCCESS : PLIM_CUDA_OUT_OF_MEMORY;
}

status cuGraphLaunch(void *handle, void *stream)
{
    static const struct plim_work_kind child = { run_child, drop_child };
    struct steps steps = { 0 };
    bool is_captured = false;
    status error = steps_of_exec(handle, &steps);
    if (error)
        return error;
    struct plim_work *work = plim_work_make(&child, &steps, sizeof steps);
    error = work ? plim_capture_work(stream, PLIM_NODE_GRAPH, NULL, work, &is_captured) : PLIM_CUDA_OUT_OF_MEMORY;
    if (!error && !is_captured && !(error = plim_vgpu_need_kernels(plim_context_device()))) {
        plim_vgpu_launched(handle);
        plim_work_run(work);
    }
    plim_work_release(work);
    return error;
}
