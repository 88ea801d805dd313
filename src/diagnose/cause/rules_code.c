/* SPDX-License-Identifier: MIT */
/* The rule by the user's own code: the innermost line of it that the traceback shows, where no frame tells the work. */
#include "diagnose/cause/purpose.h"
#include "diagnose/cause/rules.h"

#include <ctype.h>
#include <string.h>

static bool is_letter(char c) { return isalpha((unsigned char)c); }

/* "make_layer", "init_block": what is made there stays. */
static bool is_maker(const char *name, size_t n)
{
    static const char *const makers[] = { "make", "init", "build", "create", "load", "restore", "place" };
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++)
        if (n >= strlen(makers[i]) && !memcmp(name, makers[i], strlen(makers[i])))
            return true;
    return false;
}

/*
 * The first word of a name in code, "opt_state", "kvCache", "self.user_table", or of a function's, that tells what is
 * made there; NONE: none does.
 */
static enum plim_purpose purpose_of_names(const char *text, size_t n)
{
    enum plim_purpose_weight weight;
    for (size_t i = 0; i < n;) {
        size_t end = i;
        while (end < n && is_letter(text[end]) &&
               (end == i || islower((unsigned char)text[end]) || isupper((unsigned char)text[end - 1])))
            end++;
        const enum plim_purpose purpose =
            end > i ? plim_purpose_of_word(text + i, end - i, &weight) : PLIM_PURPOSE_NONE;
        if (purpose == PLIM_PURPOSE_WEIGHTS || purpose == PLIM_PURPOSE_OPTIMIZER || purpose == PLIM_PURPOSE_KV)
            return purpose;
        if (purpose == PLIM_PURPOSE_LOADING && is_maker(text, n))
            return PLIM_PURPOSE_WEIGHTS;
        i = end > i ? end : i + 1;
    }
    return PLIM_PURPOSE_NONE;
}

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
    enum plim_purpose purpose = purpose_of_names(frame->code, assignment_bytes(frame->code));
    if (purpose == PLIM_PURPOSE_NONE && strncmp(frame->name, "<module>", 8) != 0)
        purpose = purpose_of_names(frame->name, strlen(frame->name));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].purpose == purpose)
            return plim_guess_set(guess, rows[i].cause, PLIM_CONFIDENCE_LOW,
                                  "It failed in \"%.80s\" (%s), which %s, by the names there.", frame->code,
                                  frame->name, rows[i].what);
    return false;
}
