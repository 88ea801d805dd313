/* SPDX-License-Identifier: MIT */
/* The rule by the user's own code: the innermost line of it that the traceback shows, where no frame tells the work. */
#include "diagnose/cause/purpose.h"
#include "diagnose/cause/rules.h"

#include <string.h>

/* An assignment: what is assigned to, and what is called for it, up to the first bracket. Not an argument's "=". */
static size_t assignment_bytes(const char *code)
{
    const size_t n = strcspn(code, "(");
    for (size_t i = 1; i < n; i++)
        if (code[i] == '=' && code[i + 1] != '=' && !strchr("=!<>+-*/", code[i - 1]))
            return n;
    return 0;
}

bool plim_rule_code(const struct plim_facts *facts, struct plim_guess *guess)
{
    static const struct {
        enum plim_purpose purpose;
        enum plim_cause cause;
        const char *what;
    } rows[] = {
        { PLIM_PURPOSE_WEIGHTS, PLIM_CAUSE_MODEL_TOO_BIG, "makes weights" },
        { PLIM_PURPOSE_OPTIMIZER, PLIM_CAUSE_OPTIMIZER_STATES, "makes the states of an optimizer" },
        { PLIM_PURPOSE_KV, PLIM_CAUSE_KV_CACHE_CONTEXT, "makes room for keys and values" },
    };
    const struct plim_log_context *context = facts->context;
    const struct plim_frame *frame = NULL;
    for (uint32_t i = context ? context->n_frames : 0; i-- > 0 && !frame;)
        frame = context->frames[i].is_user && context->frames[i].code[0] ? &context->frames[i] : NULL;
    if (!frame || facts->trace != PLIM_TRACE_NONE || plim_fact_is_host(facts))
        return false;
    enum plim_purpose purpose = plim_purpose_of_names(frame->code, assignment_bytes(frame->code));
    if (purpose == PLIM_PURPOSE_NONE && strncmp(frame->name, "<module>", 8) != 0)
        purpose = plim_purpose_of_names(frame->name, strlen(frame->name));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].purpose == purpose)
            return plim_guess_set(guess, rows[i].cause, PLIM_CONFIDENCE_LOW,
                                  "It failed in \"%.80s\" (%s), which %s, by the names there.", frame->code,
                                  frame->name, rows[i].what);
    return false;
}
