/* SPDX-License-Identifier: MIT */
/* Rules by what somebody says beside a message: what helps, who else is on the card, how large the model is. */
#include "diagnose/cause/rules.h"
#include "diagnose/scan/patterns/pattern.h"

#include <string.h>

static bool is_one_of(const char *framework, const char *const *names)
{
    for (; *names; names++)
        if (framework && !strcmp(framework, *names))
            return true;
    return false;
}

/* Those that keep a cache of keys and values for what is asked of them. */
static bool is_server(const struct plim_facts *facts)
{
    static const char *const names[] = { "vllm",         "sglang",    "tgi",    "lmdeploy",
                                         "tensorrt-llm", "llama.cpp", "ollama", "koboldcpp",
                                         "exllama",      "lmstudio",  NULL };
    return is_one_of(facts->finding->framework, names);
}

/* A message about the card: of the RAM, batches and other users say less. */
static bool is_of_card(const struct plim_facts *facts)
{
    return !plim_fact_is_host(facts) && !plim_fact_is_stage(facts, "shm");
}

/* Who wrote it had looked: figures of the card cannot tell against it. */
bool plim_rule_told_ram(const struct plim_facts *facts, struct plim_guess *guess)
{
    return !strcmp(plim_figure_word(facts->finding, facts->context, PLIM_W_TOLD), "ram") &&
           plim_guess_set(guess, PLIM_CAUSE_HOST_RAM, PLIM_CONFIDENCE_MEDIUM,
                          "The text says that it was the computer's memory that was full.");
}

bool plim_rule_told(const struct plim_facts *facts, struct plim_guess *guess)
{
    static const struct {
        const char *told;
        enum plim_cause cause;
        const char *why;
    } rows[] = {
        { "smaller_batch", PLIM_CAUSE_BATCH_OR_ACTIVATION,
          "The text says that a smaller batch works: what one step needs was too much." },
        { "others", PLIM_CAUSE_OTHER_PROCESS, "The text says that several processes share the card." },
        { "went_on", PLIM_CAUSE_NOT_OOM,
          "The text says that the program went on: it did without, and this is not a failure." },
        { "share", PLIM_CAUSE_MISCONFIGURATION_UTILIZATION, "The text says that another share of the card works." },
        { "optimizer", PLIM_CAUSE_OPTIMIZER_STATES,
          "The text says that it failed at the optimizer's step, where its states are made." },
        { "cap", PLIM_CAUSE_ALLOCATOR_LIMIT, "The text says that a share of the card was set as a limit." },
        { "larger_model", PLIM_CAUSE_MODEL_TOO_BIG, "The text says that a smaller model works." },
    };
    const char *told = plim_figure_word(facts->finding, facts->context, PLIM_W_TOLD);
    if (!*told || !is_of_card(facts))
        return false;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strcmp(told, rows[i].told))
            return plim_guess_set(guess, rows[i].cause, PLIM_CONFIDENCE_MEDIUM, "%s", rows[i].why);
    return !strcmp(told, "context") &&
           plim_guess_set(guess, is_server(facts) ? PLIM_CAUSE_KV_CACHE_CONTEXT : PLIM_CAUSE_BATCH_OR_ACTIVATION,
                          PLIM_CONFIDENCE_MEDIUM, "The text says that the length of the context makes the difference.");
}

/* These load weights as their files have them, in 16 bits when nothing else is said. */
static bool loads_as_stored(const struct plim_facts *facts)
{
    static const char *const names[] = { "vllm",         "sglang",    "tgi",      "lmdeploy",
                                         "transformers", "pytorch",   "torchrun", "accelerate",
                                         "tensorrt-llm", "diffusers", "other",    NULL };
    return is_one_of(facts->finding->framework, names);
}

bool plim_rule_told_size(const struct plim_facts *facts, struct plim_guess *guess)
{
    enum { USUAL_BITS = 16 };
    static const struct plim_told_size nothing;
    const struct plim_told_size *told = facts->context ? &facts->context->told_size : &nothing;
    const int64_t world = plim_fact_any(facts, PLIM_N_WORLD_SIZE), split = plim_fact_any(facts, PLIM_N_TENSOR_PARALLEL);
    const bool is_printed = plim_is_known(facts->answer->total_bytes);
    const int64_t card = is_printed ? facts->answer->total_bytes : told->card_bytes;
    const int bits = told->bits ? told->bits : loads_as_stored(facts) ? USUAL_BITS : 0;
    const int64_t weights = told->parameters / 8 * bits;
    struct plim_size_texts texts = { .n = 0 };
    if (!is_of_card(facts) || weights <= 0 || card <= 0 || told->is_several || (plim_is_known(world) && world > 1) ||
        (plim_is_known(split) && split > 1) || (facts->trace != PLIM_TRACE_NONE && facts->trace != PLIM_TRACE_LOAD) ||
        (double)weights < PLIM_WEIGHTS_ALONE * (double)card)
        return false;
    return plim_guess_set(
        guess, PLIM_CAUSE_MODEL_TOO_BIG, is_printed && told->bits ? PLIM_CONFIDENCE_MEDIUM : PLIM_CONFIDENCE_LOW,
        "The text names a model of %.3g billion parameters: %s in %d bits each%s, and the card has %s.",
        (double)told->parameters / 1e9, plim_say(&texts, weights), bits,
        told->bits ? "" : ", as nothing is said of fewer", plim_say(&texts, card));
}

/* What it was at, by the sentence that says that it failed: a traceback and figures know better. */
bool plim_rule_told_work(const struct plim_facts *facts, struct plim_guess *guess)
{
    const char *told = plim_figure_word(facts->finding, facts->context, PLIM_W_WORK);
    const bool is_known_pattern = facts->finding->pattern && !facts->finding->pattern->is_general;
    if (!is_of_card(facts) || facts->trace != PLIM_TRACE_NONE)
        return false;
    if (!strcmp(told, "loading"))
        return plim_guess_set(guess, PLIM_CAUSE_MODEL_TOO_BIG, PLIM_CONFIDENCE_LOW,
                              "The text says that it failed while something was loaded.");
    return !strcmp(told, "step") &&
           plim_guess_set(guess, PLIM_CAUSE_BATCH_OR_ACTIVATION,
                          is_known_pattern ? PLIM_CONFIDENCE_MEDIUM : PLIM_CONFIDENCE_LOW,
                          "The text says that it failed in a step: sampling, decoding, a validation.");
}

/* Nothing else is known but that it went well for long. A larger step than those before is as possible, and named
 * second. */
bool plim_rule_told_late(const struct plim_facts *facts, struct plim_guess *guess)
{
    return is_of_card(facts) && facts->trace == PLIM_TRACE_NONE &&
           !strcmp(plim_figure_word(facts->finding, facts->context, PLIM_W_WORK), "late") &&
           plim_guess_set(
               guess, PLIM_CAUSE_LEAK_OR_GROWTH, PLIM_CONFIDENCE_LOW,
               "The text says that it had gone well for long before: something is kept from step to step, or "
               "one step was larger than those before.");
}

/* The driver refused a first piece, and a table beside the message shows a card that is full. */
bool plim_rule_told_table(const struct plim_facts *facts, struct plim_guess *guess)
{
    const int64_t used = plim_fact_any(facts, PLIM_N_CARD_USED_BYTES),
                  total = plim_fact_any(facts, PLIM_N_CARD_TOTAL_BYTES);
    struct plim_size_texts texts = { .n = 0 };
    if (!plim_is_known(used) || !plim_is_known(total) || (double)used < PLIM_CARD_FULL * (double)total ||
        plim_is_known(facts->answer->tried_bytes) || facts->trace != PLIM_TRACE_NONE || !is_of_card(facts) ||
        !plim_fact_is_stage(facts, "api"))
        return false;
    return plim_guess_set(
        guess, PLIM_CAUSE_OTHER_PROCESS, PLIM_CONFIDENCE_LOW,
        "The table of nvidia-smi beside it shows %s of %s in use, and the driver refused: others have "
        "the card.",
        plim_say(&texts, used), plim_say(&texts, total));
}

/* What is kept from step to step leaves pieces as well: who watched it rise knows more than the figures of one moment.
 */
bool plim_rule_told_growth(const struct plim_facts *facts, struct plim_guess *guess)
{
    return *plim_figure_word(facts->finding, facts->context, PLIM_W_TREND) &&
           plim_guess_set(guess, PLIM_CAUSE_LEAK_OR_GROWTH, PLIM_CONFIDENCE_MEDIUM,
                          "The text says that memory rose all the time before it: something is kept that should be "
                          "freed.");
}

/* A bus error is all that a worker tells: a torn file, a volume and a disk give it as well. */
bool plim_rule_told_shm(const struct plim_facts *facts, struct plim_guess *guess)
{
    const char *told = plim_figure_word(facts->finding, facts->context, PLIM_W_TOLD);
    if (!plim_fact_is_stage(facts, "shm"))
        return false;
    if (!strcmp(plim_figure_word(facts->finding, facts->context, PLIM_W_WORK), "shm_free"))
        return plim_guess_set(guess, PLIM_CAUSE_NOT_OOM, PLIM_CONFIDENCE_MEDIUM,
                              "The text says that little of /dev/shm was in use: the signal came from something else, "
                              "such as a file on a volume that was cut short.");
    if (!strcmp(plim_figure_word(facts->finding, facts->context, PLIM_W_WORK), "shm_full"))
        return plim_guess_set(
            guess, PLIM_CAUSE_SHM, PLIM_CONFIDENCE_HIGH,
            "A page of memory that is shared could not be had, and a table of df shows /dev/shm full.");
    return !strcmp(told, "shm_large") &&
           plim_guess_set(guess, PLIM_CAUSE_SHM, PLIM_CONFIDENCE_LOW,
                          "The message supposes that /dev/shm was full, and the text says that it is large.");
}
