/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_TRACE_STEP_STEP_H
#define PLIMSOLL_TRACE_STEP_STEP_H

/*
 * From the history of a device and the marks that were set while the program ran to a track of a step: what was asked
 * of the allocator, and for each allocation its size, its line, the phase in which it was taken, and what it is for.
 *
 * Weights, gradients and states of optimizers are known by their addresses at the marks: an allocation that lies there
 * then. Of the others, the phase decides: what forward and backward take are activations and work areas. Phases are
 * known by the marks around an optimizer's step and by stacks: the backward pass runs in a thread of its own, which has
 * no Python above it. What none of this tells stays unknown.
 */

#include "base/error.h"
#include "step/step.h"
#include "trace/requests.h"

enum plim_trace_mark_kind {
    PLIM_TRACE_BEFORE_STEP, /* of an optimizer */
    PLIM_TRACE_INNER_STEP,  /* before or after that of an optimizer which another one wraps */
    PLIM_TRACE_AFTER_STEP,
    PLIM_TRACE_END, /* the history was written */
};

struct plim_trace_addresses {
    size_t first, n; /* of plim_trace_marks.addresses */
};

/* A moment: after so many allocations and returns, as the allocator counts them since the program began. */
struct plim_trace_mark {
    uint64_t n_taken, n_given;
    uint32_t step;
    uint8_t kind;
    struct plim_trace_addresses weights, gradients, states;
};

/* Of one device, in the order of time: counts never fall. The last is the end of the history. */
struct plim_trace_marks {
    struct plim_trace_mark *marks;
    size_t n_marks;
    uint64_t *addresses;
    size_t n_addresses;
    bool are_cut; /* steps in the middle have none */
};

/*
 * Lines of a source file that a loop over pieces has, or a limit is named in: what is allocated there stops to grow
 * with the whole.
 */
struct plim_trace_place {
    char *file;
    uint32_t first, last; /* lines */
    uint32_t line;        /* of the loop */
    uint64_t limit;       /* of a piece, in rows or elements; 0: not known */
};

struct plim_trace_step_question {
    size_t device;
    uint32_t rank;
    enum plim_step_end end;
    const struct plim_torch_settings *settings; /* under which the history was made */
    const struct plim_trace_marks *marks;
    const struct plim_trace_place *places;
    size_t n_places;
};

/* The allocator's account of a history: what its requests come to when they are replayed as they were. */
struct plim_trace_step_figures {
    uint64_t allocated_bytes, reserved_bytes; /* at the end */
    uint64_t allocated_peak_bytes, reserved_peak_bytes;
    size_t n_changes, n_equal; /* of segments, in the history; and those that the replay makes, too */
};

/*
 * Adds a track to the only shape of a step, which has one point; a step of zeros gets them. The reserved peak is that
 * of the history's segments; the allocated one is not known (PLIM_STEP_UNKNOWN_BYTES): the caller may have asked
 * PyTorch.
 */
PLIM_MUST_CHECK int plim_trace_step_add(struct plim_memory_trace *trace,
                                        const struct plim_trace_step_question *question, struct plim_step *step,
                                        struct plim_trace_step_figures *ret_figures, struct plim_error *reterr);

#endif
