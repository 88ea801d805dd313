/* SPDX-License-Identifier: MIT */
#include "diagnose/remedy/remedy.h"

#include "diagnose/remedy/advice.h"
#include "diagnose/remedy/knowledge.h"
#include "diagnose/remedy/owners.h"
#include "diagnose/scan/patterns/pattern.h"

#include <stdio.h>
#include <string.h>

static const char python[] =
    "pytorch transformers bitsandbytes accelerate deepspeed trl unsloth diffusers torchrun ray";

static const char amd_smi[] = "rocm-smi --showpids --showmeminfo vram";

/* Gives memory back to the card: no help where one piece is larger than the card. */
static bool is_freeing(const char *command)
{
    return strstr(command, "reclaim") || strstr(command, "free_all_blocks") || strstr(command, "empty_cache") ||
           strstr(command, "deallocations");
}

/* A text of the knowledge base is for all programs that print the message; this one may not have what it names. */
static bool is_for(const struct plim_advice *advice, struct plim_field_text text)
{
    char all[PLIM_REMEDY_TEXT_BYTES + PLIM_REMEDY_COMMAND_BYTES];
    snprintf(all, sizeof all, "%s %s", text.text, text.rest);
    return plim_words_fit(all, advice->finding->framework);
}

static void add_entry(struct plim_advice *advice, const struct plim_knowledge_entry *entry)
{
    struct plim_field_text text;
    const int64_t others = advice->answer->others_bytes; /* the message accounts for the whole card */
    const bool is_amd = plim_advice_is(advice, "rocm") || !strcmp(plim_advice_backend(advice), "HIP");
    const bool is_alone = plim_is_known(others) && others < PLIM_STARTUP_OTHERS_BYTES;
    const bool is_above = plim_is_known(advice->answer->tried_bytes) && plim_is_known(advice->answer->total_bytes) &&
                          advice->answer->tried_bytes > advice->answer->total_bytes;
    for (size_t i = 0; (text = plim_entry_field(entry, PLIM_FIELD_FIX, i)).text; i++)
        if (is_for(advice, text) && (!(is_alone || is_above) || (strncmp(text.rest, "nvidia-smi", 10) != 0 &&
                                                                 !(is_above && is_freeing(text.rest)))))
            plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "", "%s", text.text), "%s",
                                is_amd && !strcmp(text.rest, "nvidia-smi") ? amd_smi : text.rest);
    for (size_t i = 0; (text = plim_entry_field(entry, PLIM_FIELD_USELESS, i)).text; i++) {
        const char *colon = strstr(text.text, ": ");
        if (!is_for(advice, text))
            continue;
        char what[PLIM_REMEDY_TEXT_BYTES];
        snprintf(what, sizeof what, "%.*s", colon ? (int)(colon - text.text) : (int)strcspn(text.text, "."), text.text);
        plim_advise_useless(advice, what, "%s", colon ? colon + 2 : "");
    }
}

/* A program of any kind, and nothing known but that the card was full. */
static void advise_anybody(struct plim_advice *advice)
{
    plim_advise_command(
        plim_advise(advice, PLIM_UNKNOWN, "nothing", "see how full the card is, and which processes use it"), "%s",
        !strcmp(plim_advice_backend(advice), "HIP") ? "rocm-smi --showpids --showmeminfo vram" : "nvidia-smi");
    plim_advise(advice, PLIM_UNKNOWN, "more steps for the same work", "less at once: a smaller input, smaller pieces");
}

static bool is_about(const struct plim_knowledge_entry *entry, const char *cause)
{
    return cause && strstr(plim_entry_field(entry, PLIM_FIELD_CAUSE, 0).text, cause) != NULL;
}

/* What stands with a message that the lists below do not fit, after what its figures say. */
static bool advise_own(struct plim_advice *advice)
{
    struct plim_knowledge_entry entry;
    const char *rule = advice->answer->best.rule ? advice->answer->best.rule : "";
    if (!plim_knowledge_of(advice->finding, PLIM_CAUSE_UNKNOWN, &entry) ||
        !plim_entry_field(&entry, PLIM_FIELD_OWN, 0).text ||
        (!is_about(&entry, plim_cause_name(advice->answer->advised)) && strcmp(rule, "rest") != 0) ||
        plim_is_absurd(advice->finding))
        return false;
    plim_advise_figures(advice);
    add_entry(advice, &entry);
    return true;
}

/*
 * What the entry of the message has, when it is about this cause, or the cause is only what is left over; else what the
 * entry of the cause has. That of one step speaks of training: it is for those who can train. Where no cause is known,
 * the entry says how to find one.
 */
static void advise_from_entry(struct plim_advice *advice)
{
    struct plim_knowledge_entry entry;
    const enum plim_cause cause = advice->answer->advised;
    const char *name = plim_cause_name(cause);
    const char *rule = advice->answer->best.rule ? advice->answer->best.rule : "";
    const bool is_recovered = advice->finding->pattern && advice->finding->pattern->role == PLIM_PATTERN_ROLE_RECOVERED;
    const bool is_stranger = cause == PLIM_CAUSE_BATCH_OR_ACTIVATION && !plim_advice_is(advice, python);
    if (!plim_knowledge_of(advice->finding, PLIM_CAUSE_UNKNOWN, &entry)) {
        if (is_stranger)
            advise_anybody(advice);
        else if (name && plim_knowledge_by_id(name, &entry) && !is_recovered)
            add_entry(advice, &entry);
    } else if (!name || is_about(&entry, name) || is_recovered || !strcmp(rule, "rest")) {
        add_entry(advice, &entry);
    } else if (is_stranger) {
        advise_anybody(advice);
    } else if (cause != PLIM_CAUSE_NOT_OOM && plim_knowledge_by_id(name, &entry)) {
        add_entry(advice, &entry);
    }
}

/* The kinds of trouble that the lists below compute something for. */
static void (*const by_cause[PLIM_CAUSE_MAX_])(struct plim_advice *) = {
    [PLIM_CAUSE_MODEL_TOO_BIG] = plim_advise_model,
    [PLIM_CAUSE_OTHER_PROCESS] = plim_advise_others,
    [PLIM_CAUSE_FRAGMENTATION] = plim_advise_pieces,
    [PLIM_CAUSE_KV_CACHE_CONTEXT] = plim_advise_context,
    [PLIM_CAUSE_BATCH_OR_ACTIVATION] = plim_advise_step,
    [PLIM_CAUSE_LEAK_OR_GROWTH] = plim_advise_growth,
    [PLIM_CAUSE_OPTIMIZER_STATES] = plim_advise_optimizer,
    [PLIM_CAUSE_HOST_RAM] = plim_advise_host,
    [PLIM_CAUSE_SHM] = plim_advise_shm,
    [PLIM_CAUSE_ALLOCATOR_LIMIT] = plim_advise_limit,
    [PLIM_CAUSE_MISCONFIGURATION_UTILIZATION] = plim_advise_share,
    [PLIM_CAUSE_DRIVER_OR_CONTEXT] = plim_advise_driver,
};

void plim_remedies_find(const struct plim_finding *finding, const struct plim_log_context *context,
                        const struct plim_cause_answer *answer, struct plim_remedies *ret_remedies)
{
    const struct plim_frame *frame;
    struct plim_advice advice = { .finding = finding,
                                  .context = context,
                                  .answer = answer,
                                  .trace = plim_trace_read(context, &frame),
                                  .missing_bytes = plim_is_known(answer->missing_bytes_of_kv)
                                                       ? answer->missing_bytes_of_kv
                                                       : answer->shortfall_bytes,
                                  .remedies = ret_remedies };
    memset(ret_remedies, 0, sizeof *ret_remedies);
    if (answer->best.cause == PLIM_CAUSE_NOT_OOM && plim_is_absurd(finding))
        plim_advise_wrong_size(&advice);
    else if (!advise_own(&advice) && !plim_advise_llama(&advice) && !plim_advise_library(&advice) &&
             by_cause[answer->advised])
        by_cause[answer->advised](&advice);
    if (ret_remedies->n == 0 && !finding->is_recovered)
        advise_from_entry(&advice);
}
