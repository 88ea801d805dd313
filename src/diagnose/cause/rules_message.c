/* SPDX-License-Identifier: MIT */
/* Rules that the message alone decides: it is about something else, or its pattern names the cause. */
#include "base/units.h"
#include "diagnose/cause/rules.h"
#include "diagnose/scan/patterns/pattern.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool is_role(const struct plim_facts *facts, enum plim_pattern_role role)
{
    return facts->finding->pattern && facts->finding->pattern->role == role;
}

/* The message says that memory was refused, and not that the program does without: lines behind it would. */
static bool is_outcome_open(const struct plim_facts *facts)
{
    const struct plim_finding *finding = facts->finding;
    return finding->pattern && finding->pattern->is_open && finding->is_last && !finding->is_recovered;
}

/* That it is tried again is said before it is: how that ended may stand in lines that nobody copied. */
static bool is_retry_open(const struct plim_facts *facts)
{
    return facts->finding->pattern && !strcmp(facts->finding->pattern->id, "comfyui-tiled");
}

enum { PLAIN_MEMORY_MAY_DO_GIB = 16 };

/* Plain memory takes the place of what was refused; where that much is not there either, it fails. */
static bool is_refused_for_good(const struct plim_facts *facts)
{
    return facts->finding->pattern && facts->finding->pattern->is_open && facts->context &&
           facts->context->n_unknown > 0 && !facts->finding->is_recovered &&
           plim_is_known(facts->answer->tried_bytes) &&
           facts->answer->tried_bytes >= PLAIN_MEMORY_MAY_DO_GIB * (int64_t)PLIM_GIB;
}

/* The program itself calls what it was refused a warning, outside of a traceback, and goes on with nothing behind it
 * that failed. That another process was ended is warned of, too, and is no less a failure: nothing was tried there. */
static bool is_called_warning(const struct plim_facts *facts)
{
    enum { LEVEL_BYTES = 72 };
    const struct plim_finding *finding = facts->finding;
    bool is = false;
    if (!is_role(facts, PLIM_PATTERN_ROLE_FAILURE) || finding->is_last || finding->is_bare || !facts->context ||
        facts->context->n_frames > 0 || facts->context->n_unknown > 0 || finding->pattern->is_said ||
        !plim_is_known(facts->answer->tried_bytes))
        return false;
    for (uint32_t i = 0; i < finding->n_evidence && !is; i++) {
        char head[LEVEL_BYTES + 1];
        snprintf(head, sizeof head, "%s", finding->evidence[i].text);
        is = (strstr(head, "WARN") && !strstr(head, "NCCL WARN")) || !strncmp(head, "warning: ", 9) ||
             !strncmp(head, "Warning: ", 9);
    }
    return is;
}

bool plim_rule_not_memory(const struct plim_facts *facts, struct plim_guess *guess)
{
    const struct plim_pattern *pattern = facts->finding->pattern;
    const char *note = pattern ? pattern->note : "";
    if (is_refused_for_good(facts)) {
        struct plim_size_texts texts = { .n = 0 };
        return plim_guess_set(guess, PLIM_CAUSE_HOST_RAM, PLIM_CONFIDENCE_MEDIUM,
                              "%s of RAM were refused. A program does without memory that the card reads directly, but "
                              "not without so much, and the text says that it failed.",
                              plim_say(&texts, facts->answer->tried_bytes));
    }
    if (plim_is_absurd(facts->finding) &&
        (plim_fact_is_stage(facts, "host") || (pattern && pattern->cause == PLIM_CAUSE_HOST_RAM)))
        return plim_guess_set(
            guess, PLIM_CAUSE_NOT_OOM, PLIM_CONFIDENCE_MEDIUM,
            "More than 1 PiB of RAM was asked for, which no machine has: a wrong size or a number that "
            "overflowed, not a lack of memory.");
    if (is_outcome_open(facts))
        return plim_guess_set(guess, PLIM_CAUSE_NOT_OOM, PLIM_CONFIDENCE_MEDIUM,
                              "%s So it is as a rule; this log ends there, and does not show that the program went on.",
                              note);
    if (is_role(facts, PLIM_PATTERN_ROLE_RECOVERED) || facts->finding->is_recovered)
        return plim_guess_set(
            guess, PLIM_CAUSE_NOT_OOM,
            (facts->context && facts->context->n_frames > 0) || is_retry_open(facts) ? PLIM_CONFIDENCE_MEDIUM
                                                                                     : PLIM_CONFIDENCE_HIGH,
            "%s",
            is_role(facts, PLIM_PATTERN_ROLE_RECOVERED) && *note ? note
                                                                 : "Memory ran out, and the program went on "
                                                                   "without it. This is not a failure.");
    if (is_called_warning(facts))
        return plim_guess_set(
            guess, PLIM_CAUSE_NOT_OOM, PLIM_CONFIDENCE_MEDIUM,
            "Memory ran out. The program calls it a warning and goes on, and nothing behind it failed.");
    if (is_role(facts, PLIM_PATTERN_ROLE_FAULT) || is_role(facts, PLIM_PATTERN_ROLE_LOOK_ALIKE) ||
        (pattern && pattern->cause == PLIM_CAUSE_NOT_OOM))
        /* a runtime's limit on its own heap is a limit; what follows from a failure has a reason that may not be shown
         */
        return plim_guess_set(guess, PLIM_CAUSE_NOT_OOM,
                              plim_fact_is_stage(facts, "cap") || is_role(facts, PLIM_PATTERN_ROLE_CONSEQUENCE)
                                  ? PLIM_CONFIDENCE_MEDIUM
                                  : PLIM_CONFIDENCE_HIGH,
                              "%s", *note ? note : "The message is about something else than memory.");
    return false;
}

/* The exception nearest to what relays it, before it rather than behind; 0: none is shown. */
static uint64_t relayed_line(const struct plim_facts *facts)
{
    const uint64_t at = facts->finding->line;
    uint64_t line = 0;
    for (uint32_t i = 0; facts->finding->pattern->is_relay && facts->context && i < facts->context->n_unknown; i++) {
        const struct plim_unknown_line *unknown = &facts->context->unknown[i];
        const bool is_before = unknown->line < at && at - unknown->line <= PLIM_LINES_TO_FOLLOW;
        const bool is_behind = unknown->line > at && unknown->line - at <= PLIM_LINES_TO_FOLLOW && line == 0;
        if (unknown->is_other_exception && (is_before || is_behind))
            line = unknown->line;
    }
    return line;
}

/* "It failed, look above": no cause can be read from it. */
bool plim_rule_secondhand(const struct plim_facts *facts, struct plim_guess *guess)
{
    if ((!is_role(facts, PLIM_PATTERN_ROLE_WRAPPER) && !is_role(facts, PLIM_PATTERN_ROLE_CONSEQUENCE)) ||
        facts->finding->pattern->cause != PLIM_CAUSE_UNKNOWN || facts->finding->is_recovered)
        return false;
    if (!strcmp(plim_figure_word(facts->finding, facts->context, PLIM_W_TOLD), "context"))
        return false; /* somebody says what the reason was */
    if (plim_fact_is_stage(facts, "shm") &&
        !strcmp(plim_figure_word(facts->finding, facts->context, PLIM_W_WORK), "shm_full"))
        return false; /* a table shows it */
    guess->rule = "secondhand";
    const uint64_t line = relayed_line(facts);
    if (line > 0)
        return plim_guess_set(guess, PLIM_CAUSE_NOT_OOM, PLIM_CONFIDENCE_LOW,
                              "This line only says that something failed. Line %" PRIu64
                              " says what: an exception that is not known here, in words that are not about memory.",
                              line);
    plim_guess_set(guess, PLIM_CAUSE_UNKNOWN, PLIM_CONFIDENCE_NONE,
                   "This line only says that something failed. The reason stands in lines before it, which this log "
                   "does not have.");
    return true;
}

/* llama.cpp and TensorFlow name the buffer or the allocator: one of the CPU, or of the host for copies to the card
 * (gpu_host_bfc), is RAM, whatever it was for. */
bool plim_rule_ram_buffer(const struct plim_facts *facts, struct plim_guess *guess)
{
    const char *buffer = facts->finding->words.text[PLIM_W_BUFFER];
    const char *allocator = facts->finding->words.text[PLIM_W_ALLOCATOR];
    struct plim_size_texts texts = { .n = 0 };
    if (strncmp(buffer, "CPU", 3) != 0 && !strstr(allocator, "cpu") && !strstr(allocator, "_host_"))
        return false;
    return plim_guess_set(guess, PLIM_CAUSE_HOST_RAM, PLIM_CONFIDENCE_HIGH,
                          "A buffer in the memory of the computer could not be made%s%s: this is RAM, not the card.",
                          plim_is_known(facts->answer->tried_bytes) ? ", " : "",
                          plim_is_known(facts->answer->tried_bytes) ? plim_say(&texts, facts->answer->tried_bytes)
                                                                    : "");
}

/* The pattern or its stage names the cause. */
static bool named_guess(const struct plim_facts *facts, enum plim_cause cause, struct plim_guess *guess)
{
    const struct plim_cause_answer *a = facts->answer;
    struct plim_size_texts texts = { .n = 0 };
    char tried[96] = "";
    if (plim_is_known(a->tried_bytes) && plim_is_known(a->free_bytes))
        snprintf(tried, sizeof tried, "Tried %s, free %s. ", plim_say(&texts, a->tried_bytes),
                 plim_say(&texts, a->free_bytes));
    else if (plim_is_known(a->tried_bytes))
        snprintf(tried, sizeof tried, "Tried %s. ", plim_say(&texts, a->tried_bytes));
    static const char *const words[PLIM_CAUSE_MAX_] = {
        [PLIM_CAUSE_SHM] = "Processes hand data to each other through /dev/shm, and that was full.",
        [PLIM_CAUSE_ALLOCATOR_LIMIT] = "A limit that was set for this program was hit, not the end of the card.",
        [PLIM_CAUSE_DRIVER_OR_CONTEXT] = "The driver or the system refused, not the memory of the card.",
        [PLIM_CAUSE_OPTIMIZER_STATES] = "It failed where the optimizer's states are made.",
    };
    /* What these say is more than their cause. */
    static const char *const exact[][2] = {
        { "sglang-unbalanced",
          "The cards of this server do not have the same amount free: another process is on one." },
        { "vllm-share-range", "The share is a part of one, and a number of one or more was given." },
        { "ollama-runner-exited", "The runner ended while the model was loaded, and its reason is not in this line." },
        { "vllm-profiling", "More was free after the trial step than before it: another program freed memory "
                            "meanwhile, so vLLM cannot tell what its own step needs." },
        { "pytorch-oom-absurd",
          "The request is larger than any machine's memory. That is a wrong shape or a number that "
          "overflowed, not a large batch." },
        { "accelerate-batch", "The batch was halved after each failure until nothing was left to halve: what does not "
                              "fit is there with a batch of 1 too, or the failures were of another kind." },
        { "metal-resources", "The number of buffers is limited, not their size: too many small ones are alive." },
        { "tensorflow-context", "The driver had no room for TensorFlow's context, some hundred MiB: the card was full "
                                "before it began." },
        { "windows-commit", "Windows promises no more than RAM and page file together, and that was used up." },
    };
    const int64_t left = plim_fact_own(facts, PLIM_N_AVAILABLE_BYTES);
    if (cause == PLIM_CAUSE_ALLOCATOR_LIMIT && plim_is_known(a->tried_bytes) && plim_is_known(left) && left >= 0 &&
        left < a->tried_bytes)
        return plim_guess_set(
            guess, cause, PLIM_CONFIDENCE_HIGH,
            "Tried %s, and %s was left of its limit. That limit was set; it is not the end of the card.",
            plim_say(&texts, a->tried_bytes), plim_say(&texts, left));
    if (!strcmp(facts->finding->pattern->id, "metal-buffer") && plim_is_known(a->tried_bytes) &&
        plim_is_known(a->allowed_bytes))
        return plim_guess_set(guess, cause, PLIM_CONFIDENCE_HIGH,
                              "One buffer of %s was tried, and Metal allows %s for one, whatever is free.",
                              plim_say(&texts, a->tried_bytes), plim_say(&texts, a->allowed_bytes));
    const char *sentence =
                   words[cause] ? words[cause] : "The message itself says so; it has no more figures than that.",
               *id = facts->finding->pattern->id;
    for (size_t i = 0; i < sizeof exact / sizeof *exact; i++)
        if (!strcmp(id, exact[i][0]))
            sentence = exact[i][1];
    /* Signal 7, old files in /dev/shm and a thread that Java did not get have other reasons, too. */
    const bool is_bus_error = strstr(id, "bus-error") != NULL;
    if (is_bus_error)
        sentence = "Signal 7 ended it: a page of a mapped file had no memory behind it, of /dev/shm as a rule.";
    const bool is_open = is_bus_error || !strcmp(id, "mpi-shm") ||
                         (!strcmp(id, "java-system") && strstr(facts->finding->words.text[PLIM_W_DETAIL], "thread"));
    return plim_guess_set(guess, cause, is_open ? PLIM_CONFIDENCE_MEDIUM : PLIM_CONFIDENCE_HIGH, "%s%s", tried,
                          sentence);
}

bool plim_rule_text(const struct plim_facts *facts, struct plim_guess *guess)
{
    enum plim_cause cause = facts->finding->pattern ? facts->finding->pattern->cause : PLIM_CAUSE_UNKNOWN;
    if (cause == PLIM_CAUSE_UNKNOWN || (cause == PLIM_CAUSE_MODEL_TOO_BIG && plim_fact_is_over_buffer_limit(facts)))
        return false;
    if (cause == PLIM_CAUSE_HOST_RAM)
        return plim_rule_host(facts, guess);
    struct plim_guess exact = { 0 };
    /* that weights did not fit is the message, whose memory it was is arithmetic */
    if (cause == PLIM_CAUSE_MODEL_TOO_BIG && plim_rule_weights(facts, &exact) &&
        exact.cause == PLIM_CAUSE_OTHER_PROCESS) {
        *guess = exact;
        return true;
    }
    if (!strcmp(facts->finding->pattern->id, "accelerate-batch"))
        return named_guess(facts, cause, guess);
    plim_rule_fn *const stages[] = { plim_rule_weights, plim_rule_kv_stage, plim_rule_compute,   plim_rule_graphs,
                                     plim_rule_cap,     plim_rule_allowed,  plim_rule_too_large, plim_rule_others };
    for (size_t i = 0; i < sizeof stages / sizeof stages[0]; i++)
        if (stages[i](facts, &exact) && exact.cause == cause) { /* the same, with the figures that belong to it */
            *guess = exact;
            guess->confidence = PLIM_CONFIDENCE_HIGH;
            return true;
        }
    return named_guess(facts, cause, guess);
}

bool plim_rule_stage(const struct plim_facts *facts, struct plim_guess *guess)
{
    if (plim_fact_is_host(facts))
        return plim_rule_host(facts, guess);
    if (plim_fact_is_stage(facts, "shm"))
        return named_guess(facts, PLIM_CAUSE_SHM, guess);
    if (plim_fact_is_stage(facts, "virtual"))
        return named_guess(facts, PLIM_CAUSE_DRIVER_OR_CONTEXT, guess);
    if (plim_fact_is_stage(facts, "optimizer"))
        return named_guess(facts, PLIM_CAUSE_OPTIMIZER_STATES, guess);
    if (plim_fact_is_stage(facts, "cap"))
        return plim_rule_cap(facts, guess) || named_guess(facts, PLIM_CAUSE_ALLOCATOR_LIMIT, guess);
    return false;
}
