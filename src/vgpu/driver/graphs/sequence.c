/* SPDX-License-Identifier: MIT */
#include "vgpu/driver/graphs/sequence.h"

#include <stdlib.h>

void plim_sequence_free(struct plim_sequence *sequence)
{
    for (size_t i = 0; i < sequence->n; i++)
        plim_work_release(sequence->step[i].work);
    free(sequence->step);
    *sequence = (struct plim_sequence){ 0 };
}

bool plim_sequence_copy(struct plim_sequence *to, const struct plim_sequence *from)
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

void plim_sequence_run(const struct plim_sequence *sequence)
{
    for (size_t i = 0; i < sequence->n; i++) {
        const struct plim_exec_step *step = &sequence->step[i];
        if (step->is_disabled)
            continue;
        if (step->call.function)
            step->call.function(step->call.data);
        plim_work_run(step->work);
    }
}

static const struct plim_cuda_graph *child_of(const struct plim_node *node)
{
    return node->type == PLIM_NODE_GRAPH && node->n_data
               ? PLIM_BODY(((struct plim_object **)node->data)[0], plim_cuda_graph)
               : NULL;
}

/* Nobody knows which of the graphs of a conditional node runs, and how often. */
static struct plim_exec_step step_of(const struct plim_object *object, size_t n_inside)
{
    const struct plim_node *node = PLIM_BODY(object, plim_node);
    const bool is_conditional = node->type == PLIM_NODE_CONDITIONAL;
    return (struct plim_exec_step){ .call = { node->type == PLIM_NODE_HOST ? node->function : NULL, node->data },
                                    .work = is_conditional ? plim_work_unknown() : plim_work_hold(node->work),
                                    .node = object->id,
                                    .n_inside = n_inside,
                                    .type = (uint8_t)node->type };
}

/*
 * The number of steps up to the end of the graph, which begins at number n; step: if there is room for them, they are
 * written there, and hold their work.
 */
static size_t steps_of(const struct plim_cuda_graph *graph, struct plim_exec_step *step, size_t n)
{
    for (const struct plim_object *object = graph->first; object; object = PLIM_BODY(object, plim_node)->next) {
        const struct plim_node *node = PLIM_BODY(object, plim_node);
        const struct plim_cuda_graph *child = child_of(node);
        const size_t at = n++;
        if (child)
            n = steps_of(child, step, n);
        if (step)
            step[at] = step_of(object, n - at - 1);
    }
    return n;
}

bool plim_sequence_fill(struct plim_sequence *sequence, const struct plim_cuda_graph *graph)
{
    const size_t n = steps_of(graph, NULL, 0);
    struct plim_exec_step *step = n ? calloc(n, sizeof *step) : NULL;
    if (n && !step)
        return false;
    steps_of(graph, step, 0);
    for (size_t i = 0; i < n && n == sequence->n; i++)
        step[i].node = sequence->step[i].node;
    plim_sequence_free(sequence);
    *sequence = (struct plim_sequence){ step, n };
    return true;
}

bool plim_sequence_fill_child(struct plim_exec_step *child, const struct plim_cuda_graph *graph)
{
    const size_t n = steps_of(graph, NULL, 0);
    struct plim_exec_step *step = n == child->n_inside && n ? calloc(n, sizeof *step) : NULL;
    if (!step)
        return n == child->n_inside && !n;
    bool is_same = true;
    steps_of(graph, step, 0);
    for (size_t i = 0; i < n && is_same; i++)
        is_same = step[i].type == child[1 + i].type && step[i].n_inside == child[1 + i].n_inside;
    for (size_t i = 0; i < n; i++) {
        struct plim_exec_step *old = &child[1 + i];
        plim_work_release(is_same ? old->work : step[i].work);
        if (is_same) {
            step[i].node = old->node;
            *old = step[i];
        }
    }
    free(step);
    return is_same;
}

struct plim_exec_step *plim_sequence_find(const struct plim_sequence *sequence, uint64_t node)
{
    for (size_t i = 0; i < sequence->n; i++)
        if (sequence->step[i].node == node)
            return &sequence->step[i];
    return NULL;
}
