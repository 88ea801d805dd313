/* SPDX-License-Identifier: MIT */
/* Rules about sizes that no card of this kind can hold, however empty, and about what one piece is for. */
#include "diagnose/cause/rules.h"
#include "diagnose/scan/figure.h"

#include <string.h>

/* A GPU of these makers can be one that uses the computer's RAM: its size is a setting. */
static bool shares_ram(const struct plim_facts *facts)
{
    const char *backend = plim_figure_word(facts->finding, facts->context, PLIM_W_BACKEND);
    return !strcmp(backend, "HIP") || !strcmp(backend, "XPU") || !strcmp(backend, "MPS") || !strcmp(backend, "Metal") ||
           !strcmp(facts->platform, "mac") || !strcmp(facts->platform, "jetson");
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
    return plim_guess_set(guess, PLIM_CAUSE_BATCH_OR_ACTIVATION, PLIM_CONFIDENCE_HIGH,
                          "One piece of %s was tried, and the whole card has %s. %s", plim_say(&texts, a->tried_bytes),
                          plim_say(&texts, a->total_bytes),
                          shares_ram(facts)
                              ? "The piece has to be smaller, or the GPU's part of the RAM larger where it has no "
                                "memory of its own (APU, Mac)."
                              : "The piece has to be smaller, or go over several cards.");
}

/*
 * PyTorch holds more in tensors than the card has: Windows moved the rest to RAM. What lives so long are weights,
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
                          "PyTorch has %s in tensors, %.1f times the card of %s: Windows keeps the rest in RAM, and "
                          "that ran out too.",
                          plim_say(&texts, a->allocated_bytes), (double)a->allocated_bytes / (double)a->total_bytes,
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
    if (!plim_is_known(a->tried_bytes) || !plim_is_known(a->total_bytes) ||
        a->tried_bytes < a->total_bytes / PLIM_PIECE_OF_CARD)
        return false;
    return plim_guess_set(guess, PLIM_CAUSE_BATCH_OR_ACTIVATION, PLIM_CONFIDENCE_LOW,
                          "One piece of %s was tried on a card of %s. Weights are asked for in smaller ones: it is for "
                          "the work of a step.",
                          plim_say(&texts, a->tried_bytes), plim_say(&texts, a->total_bytes));
}
