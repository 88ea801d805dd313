/* SPDX-License-Identifier: MIT */
#include "diagnose/cause/facts.h"

#include "diagnose/scan/patterns/pattern.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int64_t plim_fact_own(const struct plim_facts *facts, enum plim_number which)
{
    return plim_figure(facts->finding, NULL, which);
}

int64_t plim_fact_any(const struct plim_facts *facts, enum plim_number which)
{
    return plim_figure(facts->finding, facts->context, which);
}

bool plim_fact_is_stage(const struct plim_facts *facts, const char *name) { return !strcmp(facts->stage, name); }

bool plim_fact_is_host(const struct plim_facts *facts)
{
    return plim_fact_is_stage(facts, "host") || plim_fact_is_stage(facts, "dataloader") ||
           (facts->finding->pattern && facts->finding->pattern->cause == PLIM_CAUSE_HOST_RAM);
}

bool plim_fact_in_evidence(const struct plim_facts *facts, const char *text)
{
    bool is = false;
    for (uint32_t i = 0; i < facts->finding->n_evidence; i++)
        is = is || strstr(facts->finding->evidence[i].text, text) != NULL;
    return is;
}

bool plim_fact_is_llama(const struct plim_facts *facts)
{
    static const char *const names[] = { "llama.cpp", "ollama", "koboldcpp", "lmstudio" };
    bool is = false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        is = is || (facts->finding->framework && !strcmp(facts->finding->framework, names[i]));
    return is;
}

bool plim_guess_set(struct plim_guess *guess, enum plim_cause cause, enum plim_confidence confidence,
                    const char *format, ...)
{
    va_list arguments;
    guess->cause = cause;
    guess->confidence = confidence;
    va_start(arguments, format);
    vsnprintf(guess->why, sizeof guess->why, format, arguments);
    va_end(arguments);
    return true;
}

bool plim_fact_is_over_buffer_limit(const struct plim_facts *facts)
{
    return strstr(facts->finding->words.text[PLIM_W_OPERATION], "exceeds device ") != NULL;
}
