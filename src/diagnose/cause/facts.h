/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_DIAGNOSE_CAUSE_FACTS_H
#define PLIMSOLL_DIAGNOSE_CAUSE_FACTS_H

/* The input of a rule, the questions that several rules ask of it, and the form of an answer. */

#include "diagnose/cause/figures.h"
#include "diagnose/cause/trace.h"

struct plim_facts {
    const struct plim_finding *finding;
    const struct plim_log_context *context;
    const struct plim_cause_answer *answer;
    const char *stage, *platform;
    enum plim_trace trace;
    const struct plim_frame *frame; /* that `trace` was read from, or NULL */
};

/* A figure of the message itself; of the message, else of the log around it. */
int64_t plim_fact_own(const struct plim_facts *facts, enum plim_number which);
int64_t plim_fact_any(const struct plim_facts *facts, enum plim_number which);

/* The stage that the pattern names. */
bool plim_fact_is_stage(const struct plim_facts *facts, const char *name);

/* The failure concerns the computer's memory: by stage, or because the pattern names that cause. */
bool plim_fact_is_host(const struct plim_facts *facts);

/* llama.cpp, or a program built on it: these lay out weights, cache and working memory in this order. */
bool plim_fact_is_llama(const struct plim_facts *facts);

/* llama.cpp's Vulkan says which of the two it was: the card had no room, or the driver gives no buffer of that size. */
bool plim_fact_is_over_buffer_limit(const struct plim_facts *facts);

/* The text stands in one of the lines that the finding was read from. */
bool plim_fact_in_evidence(const struct plim_facts *facts, const char *text);

/* Fill in a guess; the text is cut where it does not fit. Returns true, as a rule does. */
bool plim_guess_set(struct plim_guess *guess, enum plim_cause cause, enum plim_confidence confidence,
                    const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
