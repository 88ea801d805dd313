/* SPDX-License-Identifier: MIT */
/* Rules that only figures decide: what was tried, what is free, which process holds the rest. */
#include "diagnose/cause/rules.h"
#include "diagnose/scan/patterns/pattern.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A pool has room when more than this part of it would be left. [assumed] */
enum { POOL_SLACK = 20 };

static bool is_tried_known(const struct plim_cause_answer *a) { return plim_is_known(a->tried_bytes); }

/* What PyTorch has and what it tried, against what it may have. */
bool plim_rule_allowed(const struct plim_facts *facts, struct plim_guess *guess)
{
    const struct plim_cause_answer *a = facts->answer;
    struct plim_size_texts texts = { .n = 0 };
    if (!plim_is_known(a->allowed_bytes) || !is_tried_known(a) || !plim_is_known(a->free_bytes) ||
        a->free_bytes < a->tried_bytes)
        return false;
    const int64_t reserved = plim_is_known(a->allocated_bytes)
                                 ? a->allocated_bytes + (plim_is_known(a->unallocated_bytes) ? a->unallocated_bytes : 0)
                                 : PLIM_UNKNOWN;
    /* Cut, or counted otherwise: but nothing else refuses what is free. */
    if (!plim_is_known(reserved) || reserved + a->tried_bytes <= a->allowed_bytes - PLIM_ROUNDING_BYTES)
        return a->free_bytes >= a->tried_bytes + PLIM_ENOUGH_BYTES &&
               plim_guess_set(guess, PLIM_CAUSE_ALLOCATOR_LIMIT, PLIM_CONFIDENCE_MEDIUM,
                              "Tried %s, and the card has %s free. This process may use %s, so it is that limit which "
                              "was hit.",
                              plim_say(&texts, a->tried_bytes), plim_say(&texts, a->free_bytes),
                              plim_say(&texts, a->allowed_bytes));
    return plim_guess_set(guess, PLIM_CAUSE_ALLOCATOR_LIMIT, PLIM_CONFIDENCE_HIGH,
                          "This process may use %s. It has %s and tried %s more. The card itself has %s free.",
                          plim_say(&texts, a->allowed_bytes), plim_say(&texts, reserved),
                          plim_say(&texts, a->tried_bytes), plim_say(&texts, a->free_bytes));
}

/*
 * The limit of a pool or an arena, as the message prints it; PyTorch's mark on a Mac is one.
 */
bool plim_rule_cap(const struct plim_facts *facts, struct plim_guess *guess)
{
    const struct plim_cause_answer *a = facts->answer;
    int64_t limit = plim_figure(facts->finding, NULL, PLIM_N_LIMIT_BYTES);
    struct plim_size_texts texts = { .n = 0 };
    /* MPS counts what others of this process have; elsewhere on a Mac what is allowed is one buffer's size. */
    int64_t beside = plim_figure(facts->finding, NULL, PLIM_N_OTHER_ALLOCATIONS_BYTES);
    bool is_buffer = !plim_is_known(beside) && !strcmp(facts->platform, "mac");
    if (!plim_is_known(limit) && !plim_is_known(a->free_bytes) && !is_buffer)
        limit = a->allowed_bytes;
    /* TensorFlow's pool is what it found of the card when it began. */
    const char *allocator = facts->finding->words.text[PLIM_W_ALLOCATOR];
    bool is_card =
        strstr(allocator, "_bfc") || !strcmp(allocator, "DmlAllocator") ||
        (!*allocator && facts->finding->pattern && !strcmp(facts->finding->pattern->framework, "tensorflow"));
    if (!plim_is_known(limit) || limit <= 0 || !is_tried_known(a) || is_card)
        return false;
    int64_t held = (plim_is_known(a->allocated_bytes) ? a->allocated_bytes : 0) + (plim_is_known(beside) ? beside : 0);
    if (held + a->tried_bytes <= limit - PLIM_ROUNDING_BYTES)
        return false;
    if (plim_is_known(beside) && facts->trace != PLIM_TRACE_NONE) /* a default mark; what it was for says more */
        return false;
    if (plim_is_known(beside))
        return plim_guess_set(
            guess, PLIM_CAUSE_ALLOCATOR_LIMIT, PLIM_CONFIDENCE_MEDIUM,
            "PyTorch may use %s of this Mac's memory. %s of it is in use, and %s more was tried. This is PyTorch's own "
            "mark, set below what the Mac has.",
            plim_say(&texts, limit), plim_say(&texts, held), plim_say(&texts, a->tried_bytes));
    if (!plim_is_known(a->allocated_bytes))
        return plim_guess_set(guess, PLIM_CAUSE_ALLOCATOR_LIMIT, PLIM_CONFIDENCE_HIGH,
                              "It may have %s, and %s was tried. This is a limit that was set, not the card's.",
                              plim_say(&texts, limit), plim_say(&texts, a->tried_bytes));
    return plim_guess_set(
        guess, PLIM_CAUSE_ALLOCATOR_LIMIT, PLIM_CONFIDENCE_HIGH,
        "The pool may hold %s. It has %s and tried %s more. This is the pool's limit, not the card's.",
        plim_say(&texts, limit), plim_say(&texts, held), plim_say(&texts, a->tried_bytes));
}

/* More is free than was tried, and not only by what a full card gets back from one moment to the next. */
static bool is_free_enough(const struct plim_cause_answer *a)
{
    const bool is_full = plim_is_known(a->total_bytes) && a->free_bytes < a->total_bytes / PLIM_FULL_CARD;
    return a->free_bytes >= a->tried_bytes + PLIM_ENOUGH_BYTES && !is_full;
}

/* What PyTorch and others of its process have of a Mac's memory; unknown when one is not printed. */
static int64_t held_beside(const struct plim_facts *facts)
{
    const int64_t beside = plim_figure(facts->finding, NULL, PLIM_N_OTHER_ALLOCATIONS_BYTES);
    return plim_is_known(beside) && plim_is_known(facts->answer->allocated_bytes)
               ? facts->answer->allocated_bytes + beside
               : PLIM_UNKNOWN;
}

/* PyTorch on a Mac fails at its own mark, or below it when Metal gives it nothing. */
static bool is_below_mark(const struct plim_facts *facts)
{
    const struct plim_cause_answer *a = facts->answer;
    const int64_t held = held_beside(facts);
    return plim_is_known(held) && is_tried_known(a) && plim_is_known(a->allowed_bytes) &&
           held + a->tried_bytes + PLIM_ENOUGH_BYTES <= a->allowed_bytes;
}

/* More was free than was asked for: something else than memory ran out. */
bool plim_rule_free_enough(const struct plim_facts *facts, struct plim_guess *guess)
{
    const struct plim_cause_answer *a = facts->answer;
    struct plim_size_texts texts = { .n = 0 };
    if (is_below_mark(facts))
        return plim_guess_set(
            guess, PLIM_CAUSE_DRIVER_OR_CONTEXT, PLIM_CONFIDENCE_MEDIUM,
            "Tried %s with %s in use, and %s is allowed: it was not this mark. Metal itself refused, as "
            "in a virtual machine without a GPU of its own, or when the Mac has no memory to give.",
            plim_say(&texts, a->tried_bytes), plim_say(&texts, held_beside(facts)), plim_say(&texts, a->allowed_bytes));
    if (plim_is_known(a->allowed_bytes) || !is_tried_known(a) || !plim_is_known(a->free_bytes) ||
        a->free_bytes < a->tried_bytes)
        return false;
    const char *tried = plim_say(&texts, a->tried_bytes), *free_text = plim_say(&texts, a->free_bytes);
    int64_t piece = plim_fact_own(facts, PLIM_N_LARGEST_BYTES);
    if (!plim_is_known(piece))
        piece = plim_fact_own(facts, PLIM_N_AVAILABLE_BYTES);
    if (plim_is_known(piece) && piece >= 0 && piece < a->tried_bytes)
        return plim_guess_set(guess, PLIM_CAUSE_FRAGMENTATION, PLIM_CONFIDENCE_HIGH,
                              "Tried %s with %s free, but the largest piece that could be had is %s.", tried, free_text,
                              plim_say(&texts, piece));
    if (!is_free_enough(a))
        return false;
    if (plim_is_windows(facts->platform) || a->is_process_unreliable)
        return plim_guess_set(
            guess, PLIM_CAUSE_DRIVER_OR_CONTEXT, PLIM_CONFIDENCE_MEDIUM,
            "Tried %s with %s free: the card was not full. On Windows and WSL every byte on the card has to "
            "be backed by RAM and page file; that limit was hit.",
            tried, free_text);
    if (!strcmp(facts->platform, "jetson"))
        return plim_guess_set(
            guess, PLIM_CAUSE_DRIVER_OR_CONTEXT, PLIM_CONFIDENCE_MEDIUM,
            "Tried %s with %s free. This board shares its RAM with the GPU, which needs it in one piece.", tried,
            free_text);
    return plim_guess_set(guess, PLIM_CAUSE_DRIVER_OR_CONTEXT, PLIM_CONFIDENCE_MEDIUM,
                          "Tried %s with %s free: the card was not full. %s", tried, free_text,
                          a->tried_bytes > (int64_t)PLIM_GIB
                              ? "No single piece of that size was available, or a limit of address space was hit."
                              : "A limit of address space, the driver or the system was hit.");
}

/* "process 19239 holds 14.26 GiB of 31.36 GiB" */
static void say_others(const struct plim_cause_answer *a, char *text, size_t size)
{
    struct plim_size_texts texts = { .n = 0 };
    const char *of = plim_is_known(a->total_bytes) ? " of " : "";
    const char *total = plim_is_known(a->total_bytes) ? plim_say(&texts, a->total_bytes) : "";
    if (!a->is_others_listed)
        snprintf(text, size, "others hold %s%s%s (neither free nor held by this process)",
                 plim_say(&texts, a->others_bytes), of, total);
    else if (plim_is_known(a->other_pid) && a->others_bytes == a->other_pid_bytes)
        snprintf(text, size, "process %" PRId64 " holds %s%s%s", a->other_pid, plim_say(&texts, a->other_pid_bytes), of,
                 total);
    else if (plim_is_known(a->other_pid))
        snprintf(text, size, "other processes hold %s%s%s, process %" PRId64 " alone %s",
                 plim_say(&texts, a->others_bytes), of, total, a->other_pid, plim_say(&texts, a->other_pid_bytes));
    else
        snprintf(text, size, "another process holds %s%s%s", plim_say(&texts, a->others_bytes), of, total);
}

/* Without others, the request would have fitted. */
bool plim_rule_others(const struct plim_facts *facts, struct plim_guess *guess)
{
    const struct plim_cause_answer *a = facts->answer;
    struct plim_size_texts texts = { .n = 0 };
    char who[160] = "";
    bool is_empty = a->allocated_bytes == 0 && (a->unallocated_bytes == 0 || !plim_is_known(a->unallocated_bytes));
    if (plim_is_known(a->others_bytes) && a->others_bytes > 0)
        say_others(a, who, sizeof who);
    const bool is_for_card = !plim_is_known(a->total_bytes) || a->tried_bytes < a->total_bytes;
    if (is_empty && is_for_card && plim_is_known(a->shortfall_bytes))
        return plim_guess_set(guess, PLIM_CAUSE_OTHER_PROCESS, PLIM_CONFIDENCE_HIGH,
                              "Tried %s, free %s, and PyTorch itself had nothing yet: the card was full before%s%s.",
                              plim_say(&texts, a->tried_bytes), plim_say(&texts, a->free_bytes), who[0] ? "; " : "",
                              who);
    /* XPU builds do not print what is free: a card of which nothing was taken here still refused less than it has. */
    if (is_empty && is_tried_known(a) && !plim_is_known(a->free_bytes) && plim_is_known(a->total_bytes) &&
        a->tried_bytes < a->total_bytes - PLIM_CONTEXT_HIGH_BYTES)
        return plim_guess_set(
            guess, PLIM_CAUSE_OTHER_PROCESS, PLIM_CONFIDENCE_LOW,
            "Tried %s of a card of %s, and PyTorch itself had nothing yet: it was not this program that filled it.",
            plim_say(&texts, a->tried_bytes), plim_say(&texts, a->total_bytes));
    if (!is_tried_known(a) || !plim_is_known(a->free_bytes) || !plim_is_known(a->others_bytes) || is_free_enough(a))
        return false;
    int64_t enough = plim_is_known(a->total_bytes) ? (int64_t)(PLIM_OTHERS_SHARE * (double)a->total_bytes) : 0;
    if (enough < a->tried_bytes)
        enough = a->tried_bytes;
    if (enough < PLIM_ROUNDING_BYTES)
        enough = PLIM_ROUNDING_BYTES;
    if (a->others_bytes < enough)
        return false;
    /* Memory without a named process can be a context, a desktop or NCCL; and on Windows the sum is not reliable. */
    if (!a->is_others_listed &&
        (a->others_bytes <= PLIM_CONTEXT_HIGH_BYTES + PLIM_ROUNDING_BYTES || a->is_process_unreliable))
        return false;
    /* nor is it as sure as what PyTorch itself says that it keeps, when that alone is enough */
    if (!a->is_others_listed && plim_is_known(a->unallocated_bytes) &&
        a->unallocated_bytes >= a->tried_bytes + PLIM_ROUNDING_BYTES && a->others_bytes < a->own_bytes / 4)
        return false;
    bool is_small = plim_is_known(a->own_bytes) && a->others_bytes < a->own_bytes / 4;
    return plim_guess_set(
        guess, PLIM_CAUSE_OTHER_PROCESS,
        a->is_process_unreliable || (is_small && !a->is_others_listed)        ? PLIM_CONFIDENCE_LOW
        : is_small || !a->is_others_listed || a->free_bytes >= a->tried_bytes ? PLIM_CONFIDENCE_MEDIUM
                                                                              : PLIM_CONFIDENCE_HIGH,
        "Tried %s, free %s; %s. %s", plim_say(&texts, a->tried_bytes), plim_say(&texts, a->free_bytes), who,
        a->free_bytes < a->tried_bytes ? "Without that it would have fitted."
                                       : "The card is as good as full: what is free may only have been given back.");
}

/* A pool of TensorFlow or XLA: what is in use and what was tried are less than it may hold. */
static bool is_pool_in_pieces(const struct plim_facts *facts, struct plim_guess *guess)
{
    const struct plim_cause_answer *a = facts->answer;
    const int64_t limit = plim_fact_own(facts, PLIM_N_LIMIT_BYTES);
    struct plim_size_texts texts = { .n = 0 };
    return plim_is_known(limit) && plim_is_known(a->allocated_bytes) && is_tried_known(a) &&
           strstr(facts->finding->words.text[PLIM_W_ALLOCATOR], "_bfc") &&
           a->allocated_bytes + a->tried_bytes <= limit - limit / POOL_SLACK &&
           plim_guess_set(guess, PLIM_CAUSE_FRAGMENTATION, PLIM_CONFIDENCE_MEDIUM,
                          "The pool may hold %s and %s of it is in use. Tried %s: there is room for it, but not in one "
                          "piece.",
                          plim_say(&texts, limit), plim_say(&texts, a->allocated_bytes),
                          plim_say(&texts, a->tried_bytes));
}

/* Enough is reserved, but not in one piece. */
bool plim_rule_pieces(const struct plim_facts *facts, struct plim_guess *guess)
{
    const struct plim_cause_answer *a = facts->answer;
    struct plim_size_texts texts = { .n = 0 };
    if (is_pool_in_pieces(facts, guess))
        return true;
    if (!is_tried_known(a) || !plim_is_known(a->unallocated_bytes) || a->unallocated_bytes <= 0)
        return false;
    int64_t u = a->unallocated_bytes, t = a->tried_bytes, f = plim_is_known(a->free_bytes) ? a->free_bytes : 0;
    bool is_total_known = plim_is_known(a->total_bytes);
    bool is_alone = u >= t + PLIM_ROUNDING_BYTES;
    bool is_together = f + u >= t + PLIM_ROUNDING_BYTES && u >= t / 2 && is_total_known &&
                       (double)u >= PLIM_UNALLOCATED_SHARE * (double)a->total_bytes;
    if (!plim_is_known(a->allocated_bytes))
        return is_alone &&
               plim_guess_set(guess, PLIM_CAUSE_FRAGMENTATION, PLIM_CONFIDENCE_LOW,
                              "Tried %s. PyTorch has %s reserved that no tensor uses, but in pieces that are "
                              "too small.",
                              plim_say(&texts, t), plim_say(&texts, u));
    double share = (double)u / (double)(a->allocated_bytes + u);
    if ((!is_alone && !is_together) || share < PLIM_UNALLOCATED_SHARE)
        return false;
    /* With growing segments there are hardly any pieces: then it is something else. */
    bool is_expandable =
        strstr(plim_figure_word(facts->finding, facts->context, PLIM_W_ALLOC_CONF), "expandable_segments:True") != NULL;
    /* sure: most of it is kept in vain, and twice what was tried; else a step that needs a little more is as near */
    enum plim_confidence confidence =
        share >= PLIM_STRONG_SHARE && u / 2 >= t ? PLIM_CONFIDENCE_HIGH : PLIM_CONFIDENCE_MEDIUM;
    if (is_expandable)
        confidence = PLIM_CONFIDENCE_LOW;
    return plim_guess_set(
        guess, PLIM_CAUSE_FRAGMENTATION, confidence,
        "Tried %s, free %s. PyTorch has %s reserved that no tensor uses (%.0f %% of what it holds), but in "
        "pieces that are too small%s.",
        plim_say(&texts, t), plim_say(&texts, a->free_bytes), plim_say(&texts, u), 100 * share,
        is_expandable ? ", although expandable_segments is on" : "");
}

/* The first array of most programs of JAX. */
static bool is_making_a_key(const struct plim_facts *facts)
{
    bool is = false;
    for (uint32_t i = 0; facts->context && i < facts->context->n_frames; i++)
        is = is || (strstr(facts->context->frames[i].file, "jax/_src/") &&
                    !strcmp(facts->context->frames[i].name, "PRNGKey"));
    return is;
}

/* JAX takes most of a card when it starts: when a small program gets nothing, another process has it. */
bool plim_rule_small_program(const struct plim_facts *facts, struct plim_guess *guess)
{
    const struct plim_cause_answer *a = facts->answer;
    const int64_t arguments = plim_figure(facts->finding, NULL, PLIM_N_PARAMETER_BYTES);
    const int64_t temporaries = plim_figure(facts->finding, NULL, PLIM_N_TEMP_BYTES);
    struct plim_size_texts texts = { .n = 0 };
    if (is_tried_known(a) && a->tried_bytes <= PLIM_SMALL_PROGRAM_BYTES && is_making_a_key(facts) &&
        !plim_is_known(a->allocated_bytes) && facts->context->n_series == 0)
        return plim_guess_set(guess, PLIM_CAUSE_OTHER_PROCESS, PLIM_CONFIDENCE_MEDIUM,
                              "Tried only %s, for a key of random numbers. JAX wants most of the card when it starts; "
                              "another process has it.",
                              plim_say(&texts, a->tried_bytes));
    if (!is_tried_known(a) || (!plim_is_known(arguments) && !plim_is_known(temporaries)))
        return false;
    int64_t program = (plim_is_known(arguments) ? arguments : 0) + (plim_is_known(temporaries) ? temporaries : 0);
    if (a->tried_bytes > PLIM_SMALL_PROGRAM_BYTES || program > PLIM_SMALL_PROGRAM_BYTES)
        return false;
    return plim_guess_set(
        guess, PLIM_CAUSE_OTHER_PROCESS, PLIM_CONFIDENCE_MEDIUM,
        "Tried only %s, for a program of %s. JAX wants most of the card when it starts; another process has it.",
        plim_say(&texts, a->tried_bytes), plim_say(&texts, program));
}
