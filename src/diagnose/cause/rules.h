/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_DIAGNOSE_CAUSE_RULES_H
#define PLIMSOLL_DIAGNOSE_CAUSE_RULES_H

/* The rules, one small function each. A rule says whether it holds, and if so the cause, how sure, and the arithmetic.
 */

#include "diagnose/cause/figures.h"

/* What the traceback shows: the innermost frame that says something. */
enum plim_trace {
    PLIM_TRACE_NONE = 0, /* no traceback, or nothing in it says anything */
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
};

struct plim_facts {
    const struct plim_finding *finding;
    const struct plim_log_context *context;
    const struct plim_cause_answer *answer;
    const char *stage, *platform;
    enum plim_trace trace;
    const struct plim_frame *frame; /* that says it, or NULL */
};

typedef bool plim_rule_fn(const struct plim_facts *facts, struct plim_guess *guess);

/* What the text itself says. */
plim_rule_fn plim_rule_not_memory, plim_rule_hearsay, plim_rule_ram_buffer, plim_rule_text, plim_rule_killed,
    plim_rule_startup, plim_rule_fraction, plim_rule_weights, plim_rule_kv_stage, plim_rule_graphs, plim_rule_compute,
    plim_rule_stage;

/* What the figures say. */
plim_rule_fn plim_rule_too_large, plim_rule_allowed, plim_rule_cap, plim_rule_free_enough, plim_rule_others,
    plim_rule_pieces, plim_rule_small_program;

/* What the traceback, the series and the phase say. */
plim_rule_fn plim_rule_optimizer, plim_rule_growth, plim_rule_no_context, plim_rule_loading, plim_rule_cache,
    plim_rule_step, plim_rule_rest;

/* Read the traceback. */
enum plim_trace plim_trace_read(const struct plim_log_context *context, const struct plim_frame **ret_frame);

/*
 * vLLM: it failed in the trial step, before there was a cache. The traceback shows it, or the log does: weights are
 * loaded, and nothing is said of a cache yet.
 */
bool plim_is_trial_step(const struct plim_finding *finding, const struct plim_log_context *context);

/* Fill in a guess; the text is cut where it does not fit. Returns true, as a rule does. */
bool plim_guess_set(struct plim_guess *guess, enum plim_cause cause, enum plim_confidence confidence,
                    const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
