/* SPDX-License-Identifier: MIT */
#include "trace/backward.h"

#include "base/mem.h"
#include "trace/snapshot.h"

#include <string.h>

static const struct plim_trace_frame *frame_at(const struct plim_memory_trace *trace, uint32_t stack, uint32_t at)
{
    return &trace->frames[trace->stack_frames[trace->stacks[stack].first + at]];
}

/* Gradients that are given to backward() are made elsewhere: then there is no such request. */
static bool is_first_gradient(const struct plim_memory_trace *trace, uint32_t stack)
{
    for (uint32_t i = 0; i < trace->stacks[stack].n; i++) {
        const struct plim_trace_frame *frame = frame_at(trace, stack, i);
        if (strcmp(plim_trace_words(trace, frame->name), "_make_grads") == 0 &&
            strstr(plim_trace_words(trace, frame->file), "torch/autograd/"))
            return true;
    }
    return false;
}

/* A hook in a thread of autograd begins with its own function. */
static bool is_same_thread(const struct plim_memory_trace *trace, uint32_t stack, uint32_t other)
{
    const struct plim_trace_stack *a = &trace->stacks[stack], *b = &trace->stacks[other];
    if (!a->n || !b->n)
        return false;
    const struct plim_trace_frame *x = frame_at(trace, stack, a->n - 1), *y = frame_at(trace, other, b->n - 1);
    return x->file == y->file && x->name == y->name;
}

bool plim_trace_backward_stacks(const struct plim_memory_trace *trace, size_t device,
                                const struct plim_trace_requests *requests, uint32_t *stacks)
{
    size_t n_entries;
    const struct plim_trace_entry *entries = plim_trace_history(trace, device, &n_entries);
    uint32_t pass = PLIM_TRACE_NO_STACK;
    bool *are_first = plim_alloc(trace->n_stacks + 1, sizeof *are_first); /* by stack, of which many requests are */
    if (!are_first)
        return false;
    for (uint32_t i = 0; i < trace->n_stacks; i++)
        are_first[i] = is_first_gradient(trace, i);
    for (uint32_t id = 0; id < requests->n_ids; id++) {
        const uint32_t of = id < requests->n_before ? PLIM_TRACE_NO_STACK : entries[requests->taken_by[id]].stack;
        const bool has_stack = of < trace->n_stacks && trace->stacks[of].n;
        if (has_stack && are_first[of])
            pass = of;
        else if (has_stack && pass != PLIM_TRACE_NO_STACK && is_same_thread(trace, of, pass))
            pass = PLIM_TRACE_NO_STACK;
        stacks[id] = has_stack || id < requests->n_before ? of : pass;
    }
    plim_free(are_first);
    return true;
}
