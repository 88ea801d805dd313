/* SPDX-License-Identifier: MIT */
/* Rules by what the program printed of memory in its own words: arithmetic on its own account. */
#include "diagnose/cause/growth.h"
#include "diagnose/cause/rules.h"
#include "diagnose/scan/patterns/pattern.h"
#include "plimsoll/card.h"
#include "plimsoll/error.h"

#include <string.h>

/* Others have so much of a card that it matters. [assumed] */
#define OTHERS_SHARE 0.25

/* What is printed is rounded, and not all of a card can be had: so near to all of it, weights do not fit. [assumed] */
#define WEIGHTS_FILL 0.97

/* A pool that is less than this part of its card was not made so by TensorFlow; limits are round. [assumed] */
#define POOL_SHARE 0.6

/* Of less nothing is said where it is all that is known. [assumed] */
#define LEAST_LAST_BYTES ((int64_t)PLIM_GIB)

enum {
    LEAST_GRABS = 4,    /* [assumed] a row of fewer is a piece that did not fit, or a desktop's share */
    ADAM_TIMES = 3,     /* exp_avg and exp_avg_sq, mu and nu, beside the weights */
    PIECE_OF_POOL = 16, /* [assumed] a smaller piece finds a place in a pool that is not full */
    PART_OF_WHOLE = 8,  /* [assumed] less than this part of it decides nothing */
    POOL_SLACK = 10,    /* [assumed] of a pool: what may have been taken since the figure was printed */
};

static const struct plim_printed *printed_of(const struct plim_facts *facts)
{
    return facts->context ? &facts->context->printed : NULL;
}

enum which_card { LEAST, MOST };

/* The memory of a card by its name; of several cards of that name the one with the least or the most. */
static int64_t card_bytes(const char *name, enum which_card which)
{
    struct plim_card card;
    struct plim_error error = { 0 };
    int64_t found = PLIM_UNKNOWN;
    if (*name && plim_catalogue_find(name, &card, &error) >= 0)
        return (int64_t)card.total_bytes;
    for (size_t i = 0; *name && i < plim_catalogue_size(); i++)
        if (plim_catalogue_matches(i, name)) {
            plim_catalogue_card(i, &card);
            const int64_t bytes = (int64_t)card.total_bytes;
            found = !plim_is_known(found) || (which == MOST) == (bytes > found) ? bytes : found;
        }
    return found;
}

static bool is_of(const struct plim_facts *facts, const char *framework)
{
    return facts->finding->pattern && !strcmp(facts->finding->pattern->framework, framework);
}

static bool is_jax(const struct plim_facts *facts)
{
    return is_of(facts, "jax") || (facts->finding->framework && !strcmp(facts->finding->framework, "jax"));
}

/* TensorFlow and XLA take a pool of the card when they begin: there is no more than that. */
static bool is_pool(const struct plim_facts *facts) { return is_of(facts, "tensorflow") || is_jax(facts); }

/* All that the program could have: by the message, of its pool, as printed, else by the name of the card. */
static int64_t whole_of(const struct plim_facts *facts, const struct plim_printed *printed)
{
    if (plim_is_known(facts->answer->total_bytes))
        return facts->answer->total_bytes;
    const int64_t total = printed->figure[PLIM_PURPOSE_TOTAL].bytes, limit = plim_fact_any(facts, PLIM_N_LIMIT_BYTES);
    if (is_pool(facts) && plim_is_known(limit))
        return limit;
    const char *name = printed->card[0] ? printed->card : plim_figure_word(facts->finding, facts->context, PLIM_W_CARD);
    const int64_t card = total > 0 ? total : card_bytes(name, MOST);
    /* three quarters, by XLA_PYTHON_CLIENT_MEM_FRACTION's default (JAX's gpu_memory_allocation.rst) */
    return is_jax(facts) && total <= 0 && plim_is_known(card) ? card / 4 * 3 : card;
}

/* llama.cpp's account has patterns and rules of its own. */
static bool is_of_card(const struct plim_facts *facts)
{
    return printed_of(facts) && !plim_fact_is_host(facts) && !plim_fact_is_stage(facts, "shm") &&
           !plim_fact_is_llama(facts);
}

/* Several cards have a part each of what is printed of the whole. */
static bool is_split(const struct plim_facts *facts)
{
    return plim_fact_any(facts, PLIM_N_WORLD_SIZE) > 1 || plim_fact_any(facts, PLIM_N_TENSOR_PARALLEL) > 1;
}

static bool is_above(int64_t bytes, int64_t whole) { return (double)bytes > WEIGHTS_FILL * (double)whole; }

/* One thing alone, or beside the weights, is more than all that there is. */
bool plim_rule_printed_size(const struct plim_facts *facts, struct plim_guess *guess)
{
    static const struct {
        enum plim_purpose purpose;
        enum plim_cause cause;
    } rows[] = {
        { PLIM_PURPOSE_WEIGHTS, PLIM_CAUSE_MODEL_TOO_BIG },
        { PLIM_PURPOSE_KV, PLIM_CAUSE_KV_CACHE_CONTEXT },
        { PLIM_PURPOSE_WORK, PLIM_CAUSE_BATCH_OR_ACTIVATION },
    };
    const struct plim_printed *printed = printed_of(facts);
    struct plim_size_texts texts = { .n = 0 };
    const int64_t whole = is_of_card(facts) ? whole_of(facts, printed) : PLIM_UNKNOWN;
    if (!plim_is_known(whole) || whole <= 0 || is_split(facts))
        return false;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (is_above(printed->figure[rows[i].purpose].bytes, whole))
            return plim_guess_set(guess, rows[i].cause, PLIM_CONFIDENCE_MEDIUM,
                                  "The program printed \"%s\", and all that it could have is %s.",
                                  printed->figure[rows[i].purpose].text, plim_say(&texts, whole));
    const int64_t weights = printed->figure[PLIM_PURPOSE_WEIGHTS].bytes;
    static const struct {
        enum plim_purpose purpose;
        enum plim_cause cause;
    } beside[] = {
        { PLIM_PURPOSE_KV, PLIM_CAUSE_KV_CACHE_CONTEXT },
        { PLIM_PURPOSE_OPTIMIZER, PLIM_CAUSE_OPTIMIZER_STATES },
    };
    if (weights > 0 && printed->is_adam && printed->last == PLIM_PURPOSE_WEIGHTS && facts->trace == PLIM_TRACE_NONE &&
        !is_above(weights, whole) && is_above(ADAM_TIMES * weights, whole) && facts->context->n_series == 0)
        return plim_guess_set(
            guess, PLIM_CAUSE_OPTIMIZER_STATES, PLIM_CONFIDENCE_LOW,
            "The program printed \"%s\" last. Adam keeps two values for each of these: with them it is "
            "%s, and all that it could have is %s.",
            printed->figure[PLIM_PURPOSE_WEIGHTS].text, plim_say(&texts, ADAM_TIMES * weights),
            plim_say(&texts, whole));
    for (size_t i = 0; weights > 0 && i < sizeof beside / sizeof *beside; i++) {
        const int64_t bytes = printed->figure[beside[i].purpose].bytes;
        if (bytes > whole / PART_OF_WHOLE && is_above(weights + bytes, whole))
            return plim_guess_set(
                guess, beside[i].cause, PLIM_CONFIDENCE_MEDIUM,
                "The program printed \"%s\" and \"%s\": together more than the %s that it could have.",
                printed->figure[PLIM_PURPOSE_WEIGHTS].text, printed->figure[beside[i].purpose].text,
                plim_say(&texts, whole));
    }
    return false;
}

/* A figure that people choose: 2000, 2560 or 3072 MiB. */
static bool is_round(int64_t bytes)
{
    const int64_t mib = bytes / (int64_t)PLIM_MIB;
    return bytes % (int64_t)PLIM_MIB == 0 && (mib % 100 == 0 || mib % 128 == 0 || mib % 250 == 0);
}

/*
 * The pool of TensorFlow or XLA is much less than the card, which they take nearly all of: set so, a round number of
 * MiB, or others had the rest. XLA says what it was refused before.
 */
bool plim_rule_pool(const struct plim_facts *facts, struct plim_guess *guess)
{
    const struct plim_printed *printed = printed_of(facts);
    struct plim_size_texts texts = { .n = 0 };
    if (!is_of_card(facts) || !is_pool(facts))
        return false;
    if (printed->n_grabs >= LEAST_GRABS && printed->last_grab_bytes < printed->first_grab_bytes / 2 &&
        printed->first_grab_bytes >= PLIM_STARTUP_OTHERS_BYTES)
        return plim_guess_set(guess, PLIM_CAUSE_OTHER_PROCESS, PLIM_CONFIDENCE_MEDIUM,
                              "XLA wanted %s of the card when it began, and was refused down to %s: others have it.",
                              plim_say(&texts, printed->first_grab_bytes), plim_say(&texts, printed->last_grab_bytes));
    /* as it was when the pool was made: what is printed with a failure is rounded */
    const int64_t made = facts->context->numbers.value[PLIM_N_LIMIT_BYTES],
                  limit = plim_is_known(made) ? made : plim_fact_own(facts, PLIM_N_LIMIT_BYTES),
                  card = card_bytes(plim_figure_word(facts->finding, facts->context, PLIM_W_CARD), LEAST);
    if (!plim_is_known(limit) || !plim_is_known(card) || (double)limit > POOL_SHARE * (double)card)
        return false;
    const int64_t share = plim_fact_any(facts, PLIM_N_MEM_FRACTION); /* named in the log: then that made the pool */
    const bool is_set =
        is_round(limit) || (is_of(facts, "tensorflow") && plim_is_known(share) && share < PLIM_SHARE_ONE);
    return plim_guess_set(guess, is_set ? PLIM_CAUSE_ALLOCATOR_LIMIT : PLIM_CAUSE_OTHER_PROCESS, PLIM_CONFIDENCE_MEDIUM,
                          "The pool is %s on a card of %s, of which it takes nearly all by itself: %s.",
                          plim_say(&texts, limit), plim_say(&texts, card),
                          is_set ? "a limit was set" : "others had the rest when the program began");
}

/* Before the program had anything, a part of the card was in use. */
bool plim_rule_printed_others(const struct plim_facts *facts, struct plim_guess *guess)
{
    const struct plim_printed *printed = printed_of(facts);
    struct plim_size_texts texts = { .n = 0 };
    const int64_t whole = is_of_card(facts) ? whole_of(facts, printed) : PLIM_UNKNOWN;
    const bool is_account_known =
        plim_is_known(facts->answer->allocated_bytes) || plim_is_known(facts->answer->own_bytes);
    if (!plim_is_known(whole) || whole <= 0 || is_account_known)
        return false;
    struct plim_rise rise;
    const bool is_falling = printed->series_of == PLIM_PURPOSE_FREE &&
                            plim_rise_read_printed(printed, whole, &rise); /* it took it itself */
    const int64_t others = whole - printed->first_free.bytes;
    return printed->first_free.bytes > 0 && !is_falling && (double)others >= OTHERS_SHARE * (double)whole &&
           others > PLIM_STARTUP_OTHERS_BYTES &&
           plim_guess_set(guess, PLIM_CAUSE_OTHER_PROCESS, PLIM_CONFIDENCE_MEDIUM,
                          "The program printed \"%s\" before it had anything, of %s: others have %s.",
                          printed->first_free.text, plim_say(&texts, whole), plim_say(&texts, others));
}

/* A pool of XLA or TensorFlow: by the last figure of what is in use there is room for what was tried. */
bool plim_rule_printed_pieces(const struct plim_facts *facts, struct plim_guess *guess)
{
    const struct plim_printed *printed = printed_of(facts);
    struct plim_size_texts texts = { .n = 0 };
    const int64_t whole = is_of_card(facts) && is_pool(facts) ? whole_of(facts, printed) : PLIM_UNKNOWN;
    const int64_t tried = facts->answer->tried_bytes;
    struct plim_rise rise;
    if (!plim_is_known(whole) || !plim_is_known(tried) || tried < whole / PIECE_OF_POOL ||
        facts->trace != PLIM_TRACE_NONE || plim_rise_read_printed(printed, whole, &rise))
        return false;
    const struct plim_printed_figure *used = &printed->figure[PLIM_PURPOSE_USED];
    return used->bytes > whole / PART_OF_WHOLE && used->bytes + tried < whole - whole / POOL_SLACK &&
           plim_guess_set(guess, PLIM_CAUSE_FRAGMENTATION, PLIM_CONFIDENCE_MEDIUM,
                          "The program printed \"%s\", of %s. Tried %s: there is room for it, but not in one piece.",
                          used->text, plim_say(&texts, whole), plim_say(&texts, tried));
}

/* What one step works on is larger than what was left. */
bool plim_rule_printed_work(const struct plim_facts *facts, struct plim_guess *guess)
{
    const struct plim_printed *printed = printed_of(facts);
    if (!is_of_card(facts))
        return false;
    const struct plim_printed_figure *work = &printed->figure[PLIM_PURPOSE_WORK],
                                     *left = &printed->figure[PLIM_PURPOSE_FREE];
    return left->bytes > 0 && work->bytes > left->bytes &&
           plim_guess_set(guess, PLIM_CAUSE_BATCH_OR_ACTIVATION, PLIM_CONFIDENCE_MEDIUM,
                          "The program printed \"%s\", and \"%s\".", work->text, left->text);
}

/* A figure that lines of one form bring again and again, and that rises. */
bool plim_rule_printed_growth(const struct plim_facts *facts, struct plim_guess *guess)
{
    const struct plim_printed *printed = printed_of(facts);
    struct plim_size_texts texts = { .n = 0 };
    struct plim_rise rise;
    if (!is_of_card(facts) || !plim_rise_read_printed(printed, whole_of(facts, printed), &rise))
        return false;
    const char *first = plim_say(&texts, rise.first_bytes), *last = plim_say(&texts, rise.last_bytes);
    switch (printed->series_of) {
    case PLIM_PURPOSE_KV:
        return plim_guess_set(guess, PLIM_CAUSE_KV_CACHE_CONTEXT, PLIM_CONFIDENCE_MEDIUM,
                              "Keys and values grew from %s to %s, as the program printed.", first, last);
    case PLIM_PURPOSE_WORK:
        return plim_guess_set(guess, PLIM_CAUSE_BATCH_OR_ACTIVATION, PLIM_CONFIDENCE_MEDIUM,
                              "What a step works on grew from %s to %s, as the program printed.", first, last);
    case PLIM_PURPOSE_WEIGHTS:
        return plim_guess_set(guess, PLIM_CAUSE_MODEL_TOO_BIG, PLIM_CONFIDENCE_MEDIUM,
                              "Memory grew from %s to %s while parts of the model were put there, as the program "
                              "printed.",
                              first, last);
    case PLIM_PURPOSE_FREE:
        return plim_guess_set(guess, PLIM_CAUSE_LEAK_OR_GROWTH, PLIM_CONFIDENCE_MEDIUM,
                              "What was free fell from %s to %s over the last %u figures that the program printed: "
                              "something is kept that should be freed.",
                              plim_say(&texts, -rise.first_bytes), plim_say(&texts, -rise.last_bytes), rise.n);
    default:
        return (printed->series_of == PLIM_PURPOSE_USED || printed->series_of == PLIM_PURPOSE_MEMORY) &&
               plim_guess_set(
                   guess, PLIM_CAUSE_LEAK_OR_GROWTH, PLIM_CONFIDENCE_MEDIUM,
                   "Memory rose from %s to %s over the last %u figures that the program printed: something is "
                   "kept that should be freed.",
                   first, last, rise.n);
    }
}

/* Nothing else is known but what the last figure before it was of. */
bool plim_rule_printed_last(const struct plim_facts *facts, struct plim_guess *guess)
{
    static const enum plim_cause causes[PLIM_PURPOSE_MAX_] = {
        [PLIM_PURPOSE_OPTIMIZER] = PLIM_CAUSE_OPTIMIZER_STATES,
        [PLIM_PURPOSE_KV] = PLIM_CAUSE_KV_CACHE_CONTEXT,
        [PLIM_PURPOSE_WORK] = PLIM_CAUSE_BATCH_OR_ACTIVATION,
    };
    const struct plim_printed *printed = printed_of(facts);
    if (printed && printed->last == PLIM_PURPOSE_WORK && *facts->finding->words.text[PLIM_W_OPERATION])
        return false; /* the message says what it was for */
    return is_of_card(facts) && facts->trace == PLIM_TRACE_NONE && causes[printed->last] != PLIM_CAUSE_UNKNOWN &&
           printed->figure[printed->last].bytes >= LEAST_LAST_BYTES &&
           plim_guess_set(guess, causes[printed->last], PLIM_CONFIDENCE_LOW,
                          "The last that the program printed of memory before it is \"%s\".",
                          printed->figure[printed->last].text);
}
