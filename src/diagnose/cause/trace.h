/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_DIAGNOSE_CAUSE_TRACE_H
#define PLIMSOLL_DIAGNOSE_CAUSE_TRACE_H

/* What a traceback shows of the program's work: the innermost frame that is known decides. */

#include "diagnose/finding.h"

enum plim_trace {
    PLIM_TRACE_NONE = 0, /* no traceback, or no known frame in it */
    PLIM_TRACE_OPTIMIZER,
    PLIM_TRACE_FOREACH, /* the optimizer's copies of everything at once */
    PLIM_TRACE_BACKWARD,
    PLIM_TRACE_FORWARD,
    PLIM_TRACE_LOSS, /* logits and loss */
    PLIM_TRACE_LOAD,
    PLIM_TRACE_KV,       /* the cache of a context grows */
    PLIM_TRACE_GENERATE, /* somewhere in generation */
    PLIM_TRACE_CAPTURE,  /* CUDA graphs */
    PLIM_TRACE_POOL,     /* a server lays out its cache */
    PLIM_TRACE_PROFILE,  /* a server tries its largest step */
    PLIM_TRACE_KEEP,     /* what a step gave is put beside what those before it gave */
};

/* *ret_frame is the frame that decided, or NULL. */
enum plim_trace plim_trace_read(const struct plim_log_context *context, const struct plim_frame **ret_frame);

/* Some frame is a sign of this work, whatever was called from there. */
bool plim_trace_has(const struct plim_log_context *context, enum plim_trace work);

/*
 * vLLM: it failed in the trial step, before there was a cache. The traceback shows it, or the log does: the weights are
 * loaded, and no line mentions a cache yet.
 */
bool plim_is_trial_step(const struct plim_finding *finding, const struct plim_log_context *context);

#endif
