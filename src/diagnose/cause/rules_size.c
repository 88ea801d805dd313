/* SPDX-License-Identifier: MIT */
/* Rules about sizes that no card of this kind can hold, however empty, and about what one piece is for. */
#include "diagnose/cause/rules.h"
#include "diagnose/scan/patterns/figure.h"
#include "diagnose/scan/patterns/pattern.h"

#include <ctype.h>
#include <string.h>

/* A GPU of these makers can be one that uses the computer's RAM: its size is a setting. */
static bool shares_ram(const struct plim_facts *facts)
{
    const char *backend = plim_figure_word(facts->finding, facts->context, PLIM_W_BACKEND);
    return !strcmp(backend, "HIP") || !strcmp(backend, "XPU") || !strcmp(backend, "MPS") || !strcmp(backend, "Metal") ||
           !strcmp(facts->platform, "mac") || !strcmp(facts->platform, "jetson");
}

/*
 * The message does not say how large the card is, but none has a TiB. A general message may speak of RAM, and a
 * traceback of the loading says what the piece was for.
 */
static bool is_beyond_cards(const struct plim_facts *facts)
{
    const struct plim_cause_answer *a = facts->answer;
    return plim_is_known(a->tried_bytes) && a->tried_bytes >= PLIM_NO_CARD_BYTES && !plim_is_known(a->total_bytes) &&
           facts->finding->pattern && !facts->finding->pattern->is_general && facts->trace != PLIM_TRACE_LOAD;
}

/* One piece larger than the whole card: no card of this size can hold it, however empty. */
bool plim_rule_too_large(const struct plim_facts *facts, struct plim_guess *guess)
{
    const struct plim_cause_answer *a = facts->answer;
    struct plim_size_texts texts = { .n = 0 };
    if (plim_is_absurd(facts->finding))
        return plim_guess_set(
            guess, PLIM_CAUSE_BATCH_OR_ACTIVATION, PLIM_CONFIDENCE_HIGH,
            "One piece of more than 1 PiB was tried, which no machine has. That is a wrong shape or a "
            "number that overflowed, not a large batch.");
    const int64_t temporaries = plim_fact_own(facts, PLIM_N_TEMP_BYTES),
                  arguments = plim_fact_own(facts, PLIM_N_PARAMETER_BYTES);
    if (plim_is_known(temporaries) && plim_is_known(arguments) && temporaries > arguments)
        return plim_guess_set(guess, PLIM_CAUSE_BATCH_OR_ACTIVATION, PLIM_CONFIDENCE_LOW,
                              "The program's temporaries are %s, its arguments, weights among them, %s: it is for the "
                              "work of a step.",
                              plim_say(&texts, temporaries), plim_say(&texts, arguments));
    if (is_beyond_cards(facts))
        return plim_guess_set(guess, PLIM_CAUSE_BATCH_OR_ACTIVATION, PLIM_CONFIDENCE_MEDIUM,
                              "One piece of %s was tried, more than any card has: a shape or a batch is too large.",
                              plim_say(&texts, a->tried_bytes));
    if (!plim_is_known(a->tried_bytes) || !plim_is_known(a->total_bytes) || a->total_bytes == 0 ||
        a->tried_bytes <= a->total_bytes + PLIM_ROUNDING_BYTES)
        return false;
    if (a->tried_bytes / PLIM_ABSURD_TIMES > a->total_bytes)
        return plim_guess_set(
            guess, PLIM_CAUSE_BATCH_OR_ACTIVATION, PLIM_CONFIDENCE_HIGH,
            "One piece of %s was tried, over %d times the card of %s. That is a wrong shape or a number "
            "that overflowed, not a large batch.",
            plim_say(&texts, a->tried_bytes), PLIM_ABSURD_TIMES, plim_say(&texts, a->total_bytes));
    if (facts->trace == PLIM_TRACE_LOAD) /* transformers takes the room of all weights at once */
        return plim_guess_set(guess, PLIM_CAUSE_MODEL_TOO_BIG, PLIM_CONFIDENCE_HIGH,
                              "It failed while weights were loaded: one piece of %s was tried, and the whole card "
                              "has %s.",
                              plim_say(&texts, a->tried_bytes), plim_say(&texts, a->total_bytes));
    return plim_guess_set(guess, PLIM_CAUSE_BATCH_OR_ACTIVATION,
                          facts->trace != PLIM_TRACE_NONE ? PLIM_CONFIDENCE_HIGH : PLIM_CONFIDENCE_MEDIUM,
                          "One piece of %s was tried, and the whole card has %s. %s", plim_say(&texts, a->tried_bytes),
                          plim_say(&texts, a->total_bytes),
                          shares_ram(facts)
                              ? "The piece has to be smaller, or the GPU's part of the RAM larger where it has no "
                                "memory of its own (APU, Mac)."
                              : "The piece has to be smaller, or go over several cards.");
}

/*
 * PyTorch holds more in tensors than the card has: the rest was moved to RAM, as Windows does, WSL on it, and managed
 * memory anywhere (growing segments are no way to have more than the card). What lives so long are weights,
 * unless the traceback is of a step.
 */
bool plim_rule_spilled(const struct plim_facts *facts, struct plim_guess *guess)
{
    const struct plim_cause_answer *a = facts->answer;
    struct plim_size_texts texts = { .n = 0 };
    if (!plim_is_known(a->allocated_bytes) || !plim_is_known(a->total_bytes) || a->total_bytes <= 0 ||
        (facts->trace != PLIM_TRACE_NONE && facts->trace != PLIM_TRACE_LOAD) ||
        (double)a->allocated_bytes < PLIM_SPILLED_TIMES * (double)a->total_bytes)
        return false;
    return plim_guess_set(guess, PLIM_CAUSE_MODEL_TOO_BIG,
                          facts->trace == PLIM_TRACE_LOAD ? PLIM_CONFIDENCE_HIGH : PLIM_CONFIDENCE_MEDIUM,
                          "PyTorch has %s in tensors, %.1f times the card of %s: %s, and that ran out too.",
                          plim_say(&texts, a->allocated_bytes), (double)a->allocated_bytes / (double)a->total_bytes,
                          plim_say(&texts, a->total_bytes), plim_spill_words(facts->platform, facts->context));
}

/* llama.cpp's account on a Mac: what is laid out is more than the GPU may have. Of weights and cache the larger one. */
bool plim_rule_working_set(const struct plim_facts *facts, struct plim_guess *guess)
{
    const int64_t held = plim_fact_own(facts, PLIM_N_ALLOCATED_BYTES),
                  most = plim_fact_own(facts, PLIM_N_ALLOWED_BYTES);
    const int64_t model = plim_fact_own(facts, PLIM_N_MODEL_BYTES), kv = plim_fact_own(facts, PLIM_N_KV_BYTES);
    struct plim_size_texts texts = { .n = 0 };
    if (strcmp(facts->finding->words.text[PLIM_W_BACKEND], "Metal") != 0 || plim_is_known(facts->answer->tried_bytes) ||
        !plim_is_known(held) || !plim_is_known(most) || held <= most)
        return false;
    const bool is_cache = plim_is_known(kv) && (!plim_is_known(model) || kv > model);
    return plim_guess_set(guess, is_cache ? PLIM_CAUSE_KV_CACHE_CONTEXT : PLIM_CAUSE_MODEL_TOO_BIG,
                          PLIM_CONFIDENCE_MEDIUM, "%s were laid out, and the GPU may have %s of this Mac's RAM%s%s.",
                          plim_say(&texts, held), plim_say(&texts, most),
                          is_cache ? "; the cache of the context alone is " : "", is_cache ? plim_say(&texts, kv) : "");
}

/* Before it moves a model to the card, a program says what that needs and what is free. */
bool plim_rule_announced(const struct plim_facts *facts, struct plim_guess *guess)
{
    const int64_t needed = plim_fact_own(facts, PLIM_N_MODEL_BYTES), is_free = plim_fact_own(facts, PLIM_N_FREE_BYTES);
    struct plim_size_texts texts = { .n = 0 };
    if (!plim_fact_is_stage(facts, "api") || !plim_is_known(needed) || !plim_is_known(is_free) || needed <= is_free)
        return false;
    return plim_guess_set(guess, PLIM_CAUSE_MODEL_TOO_BIG, PLIM_CONFIDENCE_MEDIUM,
                          "The program says that the model needs %s, and %s was free.", plim_say(&texts, needed),
                          plim_say(&texts, is_free));
}

/* Billions of parameters in a model's name, "Llama-3.1-70B", "8x7b", in millionths; 0 when it has none. */
static int64_t parameters_of(const char *name)
{
    static const double most = 1e5; /* far more than any model has, and no product overflows */
    for (const char *c = name; *c; c++) {
        double n = 0, unit = 1;
        int64_t experts = 1;
        const char *d = c;
        if (!isdigit((unsigned char)*c) || (c > name && (isalnum((unsigned char)c[-1]) || c[-1] == '.')))
            continue;
        for (; isdigit((unsigned char)*d) && n < 1e4; d++)
            n = 10 * n + (*d - '0');
        if ((*d | 32) == 'x' && isdigit((unsigned char)d[1])) {
            experts = (int64_t)n;
            n = 0;
            for (d++; isdigit((unsigned char)*d) && n < 1e4; d++)
                n = 10 * n + (*d - '0');
        }
        if (*d == '.')
            for (d++; isdigit((unsigned char)*d) && unit > 1e-6; d++)
                n += (unit /= 10) * (*d - '0');
        n *= (double)(experts > 0 ? experts : 1);
        if ((*d | 32) == 'b' && !isalnum((unsigned char)d[1]) && n > 0 && n <= most)
            return (int64_t)(n * 1e6 + 0.5);
    }
    return 0;
}

/* Weights of this size do not fit the card in 4 bits, which is the least that usual formats have. */
bool plim_rule_parameters(const struct plim_facts *facts, struct plim_guess *guess)
{
    const struct plim_cause_answer *a = facts->answer;
    const char *model = plim_figure_word(facts->finding, facts->context, PLIM_W_MODEL);
    const int64_t world = plim_fact_any(facts, PLIM_N_WORLD_SIZE), split = plim_fact_any(facts, PLIM_N_TENSOR_PARALLEL);
    const int64_t bytes = parameters_of(model) * 1000 / 2;
    struct plim_size_texts texts = { .n = 0 };
    if (bytes <= 0 || !plim_is_known(a->total_bytes) || bytes <= a->total_bytes ||
        (plim_is_known(world) && world > 1) || (plim_is_known(split) && split > 1) ||
        (facts->trace != PLIM_TRACE_NONE && facts->trace != PLIM_TRACE_LOAD))
        return false;
    return plim_guess_set(guess, PLIM_CAUSE_MODEL_TOO_BIG, PLIM_CONFIDENCE_MEDIUM,
                          "By its name, %.60s has %.3g billion parameters: %s in 4 bits alone, and the card has %s.",
                          model, (double)parameters_of(model) / 1e6, plim_say(&texts, bytes),
                          plim_say(&texts, a->total_bytes));
}

/*
 * Without a traceback: weights are asked for one by one, and a tensor of three or more sides that is large is no
 * weight.
 */
bool plim_rule_piece(const struct plim_facts *facts, struct plim_guess *guess)
{
    const struct plim_cause_answer *a = facts->answer;
    const char *shape = facts->finding->words.text[PLIM_W_SHAPE];
    struct plim_size_texts texts = { .n = 0 };
    const int64_t least = *shape ? plim_figure_tensor_bytes(shape, "int8") : PLIM_UNKNOWN;
    unsigned n_sides = *shape ? 1 : 0;
    for (const char *c = shape; *c; c++)
        n_sides += *c == ',';
    if (facts->trace != PLIM_TRACE_NONE ||
        !strcmp(plim_figure_word(facts->finding, facts->context, PLIM_W_PHASE), "loading"))
        return false;
    if (n_sides >= PLIM_ACTIVATION_SIDES && least >= PLIM_ACTIVATION_ELEMENTS)
        return plim_guess_set(guess, PLIM_CAUSE_BATCH_OR_ACTIVATION, PLIM_CONFIDENCE_LOW,
                              "A tensor of %u sides was tried, %s: that is what a step computes with, not weights.",
                              n_sides, shape);
    if (plim_is_known(a->tried_bytes) && !plim_is_known(a->total_bytes) && a->tried_bytes >= PLIM_HUGE_PIECE_BYTES &&
        facts->finding->pattern && !facts->finding->pattern->is_general && !*facts->stage)
        return plim_guess_set(guess, PLIM_CAUSE_BATCH_OR_ACTIVATION, PLIM_CONFIDENCE_LOW,
                              "One piece of %s was tried, more than nearly all cards have. Weights are asked for in "
                              "smaller ones: a shape or a batch is too large.",
                              plim_say(&texts, a->tried_bytes));
    if (!plim_is_known(a->tried_bytes) || !plim_is_known(a->total_bytes) ||
        a->tried_bytes < a->total_bytes / PLIM_PIECE_OF_CARD)
        return false;
    return plim_guess_set(guess, PLIM_CAUSE_BATCH_OR_ACTIVATION, PLIM_CONFIDENCE_LOW,
                          "One piece of %s was tried on a card of %s. Weights are asked for in smaller ones: it is for "
                          "the work of a step.",
                          plim_say(&texts, a->tried_bytes), plim_say(&texts, a->total_bytes));
}
