/* SPDX-License-Identifier: MIT */
#include "rehearse/end/end.h"

#include "rehearse/steps.h"

#include <stdio.h>
#include <string.h>

const char *plim_end_name(enum plim_end end)
{
    static const char *const names[PLIM_END_MAX_] = {
        [PLIM_END_COMPLETED] = "completed",
        [PLIM_END_RECOVERED] = "recovered",
        [PLIM_END_REACHED] = "reached",
        [PLIM_END_NO_STEPS] = "no_steps",
        [PLIM_END_NO_CARD] = "no_card",
        [PLIM_END_TOO_EARLY] = "too_early",
        [PLIM_END_STATIC_RUNTIME] = "static_runtime",
        [PLIM_END_OUT_OF_MEMORY] = "out_of_memory",
        [PLIM_END_FAILED] = "failed",
        [PLIM_END_SIGNAL] = "signal",
        [PLIM_END_TIMEOUT] = "timeout",
        [PLIM_END_INTERRUPT] = "interrupt",
    };
    return names[end];
}

enum plim_end plim_end_named(const char *name)
{
    int end = 0;
    while (end < PLIM_END_MAX_ && strcmp(plim_end_name((enum plim_end)end), name) != 0)
        end++;
    return (enum plim_end)end;
}

bool plim_end_is_good(enum plim_end end) { return end <= PLIM_END_REACHED; }

/* --- the decision --- */

static enum plim_end of_itself(const struct plim_end_facts *facts)
{
    if (facts->has_failed)
        return facts->is_out_of_memory && !facts->has_gone_on ? PLIM_END_OUT_OF_MEMORY : PLIM_END_FAILED;
    if (!facts->has_card)
        return PLIM_END_NO_CARD;
    if (facts->lacks_steps)
        return PLIM_END_NO_STEPS;
    return facts->is_out_of_memory ? PLIM_END_RECOVERED : PLIM_END_COMPLETED;
}

enum plim_end plim_end_decide(const struct plim_end_facts *facts)
{
    if (facts->by == PLIM_BY_TIMEOUT)
        return PLIM_END_TIMEOUT;
    if (facts->by == PLIM_BY_USER)
        return PLIM_END_INTERRUPT;
    if (facts->has_static_runtime && !facts->has_card)
        return PLIM_END_STATIC_RUNTIME; /* whatever the program made of it */
    if (facts->by == PLIM_BY_SIGNAL)
        return PLIM_END_SIGNAL;
    if (facts->by == PLIM_BY_US)
        return facts->is_before_training ? PLIM_END_TOO_EARLY : PLIM_END_REACHED;
    return of_itself(facts);
}

/* --- the facts --- */

static enum plim_stopped_by who_stopped(const char *stopped_by)
{
    return !strcmp(stopped_by, "exit")        ? PLIM_BY_ITSELF
           : !strcmp(stopped_by, "signal")    ? PLIM_BY_SIGNAL
           : !strcmp(stopped_by, "timeout")   ? PLIM_BY_TIMEOUT
           : !strcmp(stopped_by, "interrupt") ? PLIM_BY_USER
                                              : PLIM_BY_US;
}

bool plim_end_has_card(const struct plim_rehearsal *rehearsal)
{
    bool has_card = rehearsal->oom.is_set;
    for (uint32_t i = 0; i < rehearsal->n_cards; i++)
        has_card = has_card || rehearsal->receipt.device[i].peak_bytes > 0;
    return has_card;
}

enum plim_end plim_end_of(const struct plim_rehearsal *rehearsal)
{
    const struct plim_rehearsal_steps *steps = &rehearsal->steps;
    const struct plim_optimizers optimizers = plim_optimizers_of(rehearsal->ledger);
    const struct plim_end_facts facts = { .by = who_stopped(rehearsal->stopped_by),
                                          .has_failed = rehearsal->exit_code != 0,
                                          .is_out_of_memory = rehearsal->oom.is_set || rehearsal->said.is_set,
                                          .has_gone_on = rehearsal->oom.has_gone_on,
                                          .has_card = plim_end_has_card(rehearsal),
                                          .has_static_runtime = plim_end_static_runtime(rehearsal) != NULL,
                                          .lacks_steps = steps->n < steps->n_wanted,
                                          .is_before_training = optimizers.is_counted && !optimizers.least_steps };
    return plim_end_decide(&facts);
}

bool plim_end_is_for_memory(const struct plim_rehearsal *rehearsal)
{
    return !plim_end_is_good(plim_end_of(rehearsal)) && !rehearsal->oom.has_gone_on &&
           (rehearsal->oom.is_set || rehearsal->said.is_set);
}

/* --- reasons --- */

static const char *remark(const struct plim_rehearsal *rehearsal, const char *kind, const char *part)
{
    for (uint32_t i = 0; i < rehearsal->n_warnings; i++)
        if (!strcmp(rehearsal->warning[i].kind, kind) && strstr(rehearsal->warning[i].what, part))
            return rehearsal->warning[i].what;
    return NULL;
}

const char *plim_end_static_runtime(const struct plim_rehearsal *rehearsal)
{
    return remark(rehearsal, "static_runtime", "");
}

void plim_end_why_no_card(const struct plim_rehearsal *rehearsal, char ret_text[PLIM_END_TEXT_BYTES])
{
    static const char *const outsiders[] = {
        [PLIM_OUTSIDER_NONE] = "the program made no CUDA context",
        [PLIM_OUTSIDER_USER] = "a process ran as another user, who cannot read the ledger",
        [PLIM_OUTSIDER_ENVIRONMENT] = "a process ran with a cleared environment, without the virtual libraries",
    };
    const char *room = remark(rehearsal, "no_room", ""), *runtime = remark(rehearsal, "bypass", "libcudart");
    if (runtime)
        snprintf(ret_text, PLIM_END_TEXT_BYTES, "NVIDIA's own runtime, which is not replaced, was loaded: %s", runtime);
    else
        snprintf(ret_text, PLIM_END_TEXT_BYTES, "%s", room ? room : outsiders[rehearsal->outsider]);
}
