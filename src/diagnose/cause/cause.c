/* SPDX-License-Identifier: MIT */
#include "diagnose/cause/cause.h"

#include "diagnose/cause/rules.h"
#include "diagnose/scan/patterns/pattern.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/*
 * In this order; the first that holds wins. Text that decides by itself comes first, then arithmetic, then what the
 * traceback suggests.
 */
static const struct rule {
    const char *id;
    plim_rule_fn *holds;
} rules[] = {
    { "not-memory", plim_rule_not_memory },         /* a fault, a look-alike, or the program went on */
    { "ram-buffer", plim_rule_ram_buffer },         /* a buffer of the CPU, at whatever stage */
    { "startup", plim_rule_startup },               /* a server found less free than it wants */
    { "fraction", plim_rule_fraction },             /* nothing left of a server's share after the weights */
    { "killed", plim_rule_killed },                 /* a signal without a word */
    { "buffer-limit", plim_rule_buffer_limit },     /* one buffer is larger than the driver gives */
    { "told-shm", plim_rule_told_shm },             /* /dev/shm is large, by words */
    { "text", plim_rule_text },                     /* the message names its cause */
    { "pool", plim_rule_pool },                     /* XLA's and TensorFlow's pool is a small part of the card */
    { "printed-size", plim_rule_printed_size },     /* more than the card, by what the program printed */
    { "printed-others", plim_rule_printed_others }, /* the card was in use before, as the program printed */
    { "weights-stage", plim_rule_weights },         /* loading weights, by the message */
    { "kv-stage", plim_rule_kv_stage },             /* laying out the cache, by the message */
    { "kv-words", plim_rule_kv_words },             /* the same in general words */
    { "graphs", plim_rule_graphs },                 /* a server's graphs or warm-up, after its pool */
    { "working-set", plim_rule_working_set },       /* what is laid out, against what a Mac's GPU may have */
    { "starting", plim_rule_starting },             /* the program had only begun */
    { "context", plim_rule_context },               /* the card had no room for a program at all */
    { "compute-stage", plim_rule_compute },         /* working memory, by the message */
    { "stage", plim_rule_stage },                   /* host, shared memory, address space */
    { "too-large", plim_rule_too_large },           /* tried > the card */
    { "share", plim_rule_share },             /* vLLM has all of its share, and the rest of the card is too little */
    { "allowed", plim_rule_allowed },         /* a fraction of the card is used up */
    { "cap", plim_rule_cap },                 /* a pool's limit is used up */
    { "spilled", plim_rule_spilled },         /* more than the card has: a part is in RAM */
    { "announced", plim_rule_announced },     /* what the model needs, as the program says */
    { "parameters", plim_rule_parameters },   /* the name of the model has more than the card can hold */
    { "told-ram", plim_rule_told_ram },       /* by words: it was the computer's memory */
    { "free-enough", plim_rule_free_enough }, /* free > tried: not for want of memory */
    { "others", plim_rule_others },           /* other processes hold what is missing */
    { "small-program", plim_rule_small_program },
    { "told-growth", plim_rule_told_growth },       /* by words: it rose all the time */
    { "keep", plim_rule_keep },                     /* where results are collected */
    { "pieces", plim_rule_pieces },                 /* enough is reserved, in pieces */
    { "printed-work", plim_rule_printed_work },     /* one piece, larger than what was free, as the program printed */
    { "printed-pieces", plim_rule_printed_pieces }, /* the same of a pool, by what the program printed */
    { "told-size", plim_rule_told_size },           /* a model that cannot fit the card, in words */
    { "told", plim_rule_told },                     /* what helps, who else is there: in words */
    { "status", plim_rule_status },                 /* a library did not start, and does not say why */
    { "optimizer", plim_rule_optimizer },           /* from here on: by the traceback */
    { "growth", plim_rule_growth },
    { "optimizer-phase", plim_rule_optimizer_phase },
    { "no-context", plim_rule_no_context },
    { "loading", plim_rule_loading },
    { "cache", plim_rule_cache },
    { "printed-last", plim_rule_printed_last }, /* what the last figure before it was of */
    { "node", plim_rule_node },
    { "step", plim_rule_step },
    { "code", plim_rule_code }, /* what is made there, by the names in the user's code */
    { "handle", plim_rule_handle },
    { "told-work", plim_rule_told_work },
    { "told-table", plim_rule_told_table },
    { "told-late", plim_rule_told_late },
    { "piece", plim_rule_piece }, /* without a traceback: one piece, or tensor, that is no weight */
};

enum { N_RULES = sizeof rules / sizeof rules[0] };

static bool is_named(const struct plim_cause_answer *answer, enum plim_cause cause)
{
    bool is = answer->best.cause == cause;
    for (uint32_t i = 0; i < answer->n_second; i++)
        is = is || answer->second[i].cause == cause;
    return is;
}

/* The rules of the card say nothing about the RAM, and what is not about memory has no second cause that is. */
static bool has_seconds(enum plim_cause cause)
{
    return cause != PLIM_CAUSE_NOT_OOM && cause != PLIM_CAUSE_HOST_RAM && cause != PLIM_CAUSE_SHM;
}

static bool has_bytes(const struct plim_finding *finding)
{
    for (int i = 0; i < PLIM_NUMBER_MAX_; i++)
        if (plim_number_kind((enum plim_number)i) == PLIM_NUMBER_BYTES && finding->numbers.value[i] != PLIM_UNKNOWN)
            return true;
    return false;
}

/* A few words, or what somebody says, are no message; and where a call failed that no figure came with, the traceback
 * shows who was next, not who took the memory. */
static bool is_weak(const struct plim_finding *finding, const struct plim_cause_answer *answer)
{
    static const char *const by_trace[] = { "optimizer", "loading", "cache", "step" };
    if ((finding->pattern && finding->pattern->is_said) || finding->is_bare ||
        (finding->pattern && finding->pattern->is_general && !has_bytes(finding)))
        return true;
    bool is = false;
    for (size_t i = 0; i < sizeof by_trace / sizeof *by_trace; i++)
        is = is || (answer->best.rule && !strcmp(answer->best.rule, by_trace[i]));
    return is && !has_bytes(finding);
}

/*
 * "This is no failure of memory" is a claim about all that failed, so nothing that failed may be unknown. What stops a
 * program is followed by lines of any kind; but not by those of another failure, much later.
 */
static bool is_incomplete(const struct plim_finding *finding, const struct plim_log_context *context,
                          uint64_t *ret_line)
{
    const bool is_hard = finding->pattern && plim_role_is_hard(finding->pattern->role) && !finding->is_recovered;
    for (uint32_t i = 0; context && i < context->n_unknown; i++) {
        const uint64_t line = context->unknown[i].line;
        const bool is_before = line < finding->line && finding->line - line <= PLIM_LINES_OF_A_FAILURE;
        *ret_line = line;
        if (!is_hard || is_before || line > finding->last_line + PLIM_LINES_TO_FOLLOW)
            return true;
    }
    return false;
}

/* The message itself supposes. */
static bool is_supposed(const struct plim_facts *facts)
{
    static const char *const words[] = {
        "might be caused", "may be caused", "could be caused", "It is possible that", "This might ",
        "probably means ", "Perhaps ",      "May be caused",   "it is likely that"
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (plim_fact_in_evidence(facts, words[i]))
            return true;
    return false;
}

static void limit_confidence(const struct plim_finding *finding, const struct plim_log_context *context,
                             struct plim_cause_answer *answer)
{
    struct plim_guess *best = &answer->best;
    const size_t n = strlen(best->why);
    uint64_t line;
    if (best->confidence < PLIM_CONFIDENCE_MEDIUM) /* medium stays medium, but a line that is not known is told */
        return;
    if (is_weak(finding, answer) || is_supposed(&(struct plim_facts){ .finding = finding })) {
        best->confidence = PLIM_CONFIDENCE_MEDIUM;
    } else if (best->cause == PLIM_CAUSE_NOT_OOM && is_incomplete(finding, context, &line)) {
        best->confidence = PLIM_CONFIDENCE_MEDIUM;
        snprintf(best->why + n, sizeof best->why - n,
                 " But line %" PRIu64 " says that something failed, in words that are not known here.", line);
    }
}

void plim_cause_find(const struct plim_finding *finding, const struct plim_log_context *context,
                     struct plim_cause_answer *ret_answer)
{
    struct plim_facts facts = { .finding = finding, .context = context, .answer = ret_answer };
    memset(ret_answer, 0, sizeof *ret_answer);
    plim_cause_figures(finding, context, ret_answer);
    facts.stage = finding->pattern ? finding->pattern->stage : "";
    facts.platform = plim_figure_word(finding, context, PLIM_W_PLATFORM);
    facts.trace = plim_trace_read(context, &facts.frame);

    if (plim_rule_secondhand(&facts, &ret_answer->best))
        return;
    for (int i = 0; i < N_RULES && ret_answer->n_second < PLIM_MAX_SECOND_GUESSES; i++) {
        struct plim_guess guess = { 0 };
        bool is_first = ret_answer->best.cause == PLIM_CAUSE_UNKNOWN;
        if (!rules[i].holds(&facts, &guess) || is_named(ret_answer, guess.cause))
            continue;
        guess.rule = rules[i].id;
        if (is_first)
            ret_answer->best = guess;
        else
            ret_answer->second[ret_answer->n_second++] = guess;
        if (!has_seconds(ret_answer->best.cause))
            break;
    }
    limit_confidence(finding, context, ret_answer);
    if (ret_answer->best.cause == PLIM_CAUSE_UNKNOWN && plim_rule_words(&facts, &ret_answer->best))
        ret_answer->best.rule = "words";
    ret_answer->advised = ret_answer->best.cause;
    if (ret_answer->best.cause == PLIM_CAUSE_UNKNOWN) {
        plim_rule_rest(&facts, &ret_answer->best);
        ret_answer->best.rule = "rest";
        ret_answer->advised = PLIM_CAUSE_BATCH_OR_ACTIVATION;
    }
}

const char *plim_confidence_name(enum plim_confidence confidence)
{
    static const char *const names[] = { "none", "low", "medium", "high" };
    return names[confidence];
}
