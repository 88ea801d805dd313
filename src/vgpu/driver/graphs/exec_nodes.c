/* SPDX-License-Identifier: MIT */
/*
 * libcuda: new parameters for a node, of a graph or of an executable graph that was made from it. Parameters of work on
 * the card are not read: from then on a launch makes all values unknown.
 */
#include "vgpu/core/cuda_api.h"
#include "vgpu/driver/graphs/exec.h"

/* --- of an executable graph --- */

static bool has_conditional(const struct plim_sequence *sequence)
{
    for (size_t i = 0; i < sequence->n; i++)
        if (sequence->step[i].type == PLIM_NODE_CONDITIONAL)
            return true;
    return false;
}

/*
 * With the lock held: the step of a node of this type. NULL, and no error, if the node is in the body of a conditional
 * node: that has no steps, because nobody knows what runs of it.
 */
static status find_step(const void *exec, const void *handle, enum plim_node_type type,
                        struct plim_exec_step **ret_step)
{
    const struct plim_sequence *sequence = plim_exec_sequence(exec);
    const struct plim_object *node = plim_object_of(handle, PLIM_OBJECT_NODE);
    if (!sequence || !node || PLIM_BODY(node, plim_node)->type != type)
        return PLIM_CUDA_INVALID_VALUE;
    *ret_step = plim_sequence_find(sequence, node->id);
    return *ret_step || has_conditional(sequence) ? PLIM_CUDA_SUCCESS : PLIM_CUDA_INVALID_VALUE;
}

static status set_work(void *exec, void *node, enum plim_node_type type, const void *parameters)
{
    struct plim_exec_step *step;
    PLIM_OBJECTS_LOCKED;
    status error = parameters ? find_step(exec, node, type, &step) : PLIM_CUDA_INVALID_VALUE;
    if (error || !step)
        return error;
    plim_work_release(step->work);
    step->work = plim_work_unknown();
    return PLIM_CUDA_SUCCESS;
}

status cuGraphExecKernelNodeSetParams_v2(void *exec, void *node, const void *parameters)
{
    return set_work(exec, node, PLIM_NODE_KERNEL, parameters);
}

status cuGraphExecKernelNodeSetParams(void *exec, void *node, const void *parameters)
{
    return set_work(exec, node, PLIM_NODE_KERNEL, parameters);
}

status cuGraphExecMemcpyNodeSetParams(void *exec, void *node, const void *copy, void *context)
{
    (void)context;
    return set_work(exec, node, PLIM_NODE_MEMCPY, copy);
}

status cuGraphExecMemsetNodeSetParams(void *exec, void *node, const void *set, void *context)
{
    (void)context;
    return set_work(exec, node, PLIM_NODE_MEMSET, set);
}

status cuGraphExecBatchMemOpNodeSetParams(void *exec, void *node, const void *parameters)
{
    return set_work(exec, node, PLIM_NODE_BATCH_MEM_OP, parameters);
}

status cuGraphExecHostNodeSetParams(void *exec, void *node, const struct cu_host_call *call)
{
    struct plim_exec_step *step;
    PLIM_OBJECTS_LOCKED;
    status error = call && call->function ? find_step(exec, node, PLIM_NODE_HOST, &step) : PLIM_CUDA_INVALID_VALUE;
    if (!error && step)
        step->call = *call;
    return error;
}

status cuGraphExecChildGraphNodeSetParams(void *exec, void *node, void *child)
{
    struct plim_exec_step *step;
    PLIM_OBJECTS_LOCKED;
    const struct plim_cuda_graph *graph = plim_cuda_graph_of(child);
    status error = graph ? find_step(exec, node, PLIM_NODE_GRAPH, &step) : PLIM_CUDA_INVALID_VALUE;
    if (error || !step)
        return error;
    return plim_sequence_fill_child(step, graph) ? PLIM_CUDA_SUCCESS : PLIM_CUDA_GRAPH_UPDATE_FAILURE;
}

static status set_event(void *exec, void *node, enum plim_node_type type, const void *event)
{
    struct plim_exec_step *step;
    PLIM_OBJECTS_LOCKED;
    return plim_object_of(event, PLIM_OBJECT_EVENT) ? find_step(exec, node, type, &step) : PLIM_CUDA_INVALID_HANDLE;
}

status cuGraphExecEventRecordNodeSetEvent(void *exec, void *node, void *event)
{
    return set_event(exec, node, PLIM_NODE_EVENT_RECORD, event);
}

status cuGraphExecEventWaitNodeSetEvent(void *exec, void *node, void *event)
{
    return set_event(exec, node, PLIM_NODE_WAIT_EVENT, event);
}

status cuGraphExecNodeSetParams(void *exec, void *node, struct cu_graph_node *parameters)
{
    if (!parameters)
        return PLIM_CUDA_INVALID_VALUE;
    switch (parameters->type) {
    case PLIM_NODE_KERNEL:
    case PLIM_NODE_MEMCPY:
    case PLIM_NODE_MEMSET:
    case PLIM_NODE_BATCH_MEM_OP:
        return set_work(exec, node, (enum plim_node_type)parameters->type, parameters);
    case PLIM_NODE_HOST:
        return cuGraphExecHostNodeSetParams(exec, node, &parameters->of.host);
    case PLIM_NODE_GRAPH:
        return cuGraphExecChildGraphNodeSetParams(exec, node, parameters->of.handle);
    case PLIM_NODE_WAIT_EVENT:
    case PLIM_NODE_EVENT_RECORD:
        return set_event(exec, node, (enum plim_node_type)parameters->type, parameters->of.handle);
    default:
        return plim_vgpu_unsupported("cuGraphExecNodeSetParams with this type of node", __builtin_return_address(0));
    }
}

/* Kernels, copies and memsets can be switched off. */
static status find_switch(const void *exec, const void *handle, struct plim_exec_step **ret_step)
{
    const struct plim_node *node = plim_node_of(handle);
    if (!node || node->type > PLIM_NODE_MEMSET)
        return PLIM_CUDA_INVALID_VALUE;
    return find_step(exec, handle, node->type, ret_step);
}

status cuGraphNodeSetEnabled(void *exec, void *node, unsigned is_enabled)
{
    struct plim_exec_step *step;
    PLIM_OBJECTS_LOCKED;
    status error = find_switch(exec, node, &step);
    if (!error && step)
        step->is_disabled = !is_enabled;
    return error;
}

status cuGraphNodeGetEnabled(void *exec, void *node, unsigned *ret_is_enabled)
{
    struct plim_exec_step *step;
    PLIM_OBJECTS_LOCKED;
    status error = ret_is_enabled ? find_switch(exec, node, &step) : PLIM_CUDA_INVALID_VALUE;
    if (!error)
        *ret_is_enabled = !step || !step->is_disabled;
    return error;
}

/* --- of a graph --- */

static status set_node_work(void *handle, enum plim_node_type type, const void *parameters)
{
    PLIM_OBJECTS_LOCKED;
    struct plim_node *node = plim_node_of(handle);
    if (!node || node->type != type || !parameters)
        return PLIM_CUDA_INVALID_VALUE;
    plim_work_release(node->work);
    node->work = plim_work_unknown();
    return PLIM_CUDA_SUCCESS;
}

status cuGraphKernelNodeSetParams_v2(void *node, const void *parameters)
{
    return set_node_work(node, PLIM_NODE_KERNEL, parameters);
}

status cuGraphKernelNodeSetParams(void *node, const void *parameters)
{
    return set_node_work(node, PLIM_NODE_KERNEL, parameters);
}

status cuGraphMemcpyNodeSetParams(void *node, const void *copy) { return set_node_work(node, PLIM_NODE_MEMCPY, copy); }
status cuGraphMemsetNodeSetParams(void *node, const void *set) { return set_node_work(node, PLIM_NODE_MEMSET, set); }

status cuGraphHostNodeSetParams(void *handle, const struct cu_host_call *call)
{
    PLIM_OBJECTS_LOCKED;
    struct plim_node *node = plim_node_of(handle);
    if (!node || node->type != PLIM_NODE_HOST || !call || !call->function)
        return PLIM_CUDA_INVALID_VALUE;
    node->function = call->function;
    node->data = call->data;
    return PLIM_CUDA_SUCCESS;
}

status cuGraphHostNodeGetParams(void *handle, struct cu_host_call *ret_call)
{
    PLIM_OBJECTS_LOCKED;
    const struct plim_node *node = plim_node_of(handle);
    if (!node || node->type != PLIM_NODE_HOST || !ret_call)
        return PLIM_CUDA_INVALID_VALUE;
    *ret_call = (struct cu_host_call){ node->function, node->data };
    return PLIM_CUDA_SUCCESS;
}

/* Priorities, clusters and the like change no memory. */
status cuGraphKernelNodeSetAttribute(void *handle, int attribute, const void *value)
{
    PLIM_OBJECTS_LOCKED;
    const struct plim_node *node = plim_node_of(handle);
    (void)attribute;
    return node && node->type == PLIM_NODE_KERNEL && value ? PLIM_CUDA_SUCCESS : PLIM_CUDA_INVALID_VALUE;
}

status cuGraphKernelNodeCopyAttributes(void *handle, void *from)
{
    return cuGraphKernelNodeSetAttribute(handle, 0, plim_object_of(from, PLIM_OBJECT_NODE));
}
