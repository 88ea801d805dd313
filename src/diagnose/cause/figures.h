/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_DIAGNOSE_CAUSE_FIGURES_H
#define PLIMSOLL_DIAGNOSE_CAUSE_FIGURES_H

/*
 * The figures of a finding, brought to one meaning: what "cached" and "reserved" were called by each generation of
 * PyTorch, which of the processes listed is the one that failed, how much others hold. And the constants that rules
 * compare them with.
 *
 * They come from the mechanics of the allocators; one that logs have set says so, and [assumed] is a judgement.
 */

#include "base/units.h"
#include "diagnose/cause/cause.h"

/* Two decimals of GiB are right to 5 MiB, and a sum of five such figures to 25: no rule turns on less. */
#define PLIM_ROUNDING_BYTES ((int64_t)(25 * PLIM_MIB))

/* What a process holds on a card beside what PyTorch allocates: context, libraries, NCCL, graphs. 0.25 to 0.7 GiB by
   card and library, up to 2.5 with NCCL and vLLM: process - allocated - unallocated where messages have all. */
#define PLIM_CONTEXT_LOW_BYTES  ((int64_t)(PLIM_GIB / 10))
#define PLIM_CONTEXT_HIGH_BYTES ((int64_t)(5 * PLIM_GIB / 2))
#define PLIM_CONTEXT_BYTES      ((int64_t)(2 * PLIM_GIB / 5)) /* [assumed] when it cannot be computed */

/* Free memory beyond the request, above which a full card is not the reason: a context's own small needs. [assumed] */
#define PLIM_ENOUGH_BYTES ((int64_t)(64 * PLIM_MIB))

/* With less than this part of it free a card is full: what was free then may just have been given back. [assumed] */
enum { PLIM_FULL_CARD = 20 };

/* Others hold a share of the card that matters. [assumed] */
#define PLIM_OTHERS_SHARE 0.1

/*
 * Unallocated memory: at least this share of the card, and of what is reserved, to be fragmentation. Of public logs
 * where it would have been enough and nothing else said more, three with 5 to 8 % were a step too large for the people
 * who read them, sixteen with 10 % and more were fragmentation.
 */
#define PLIM_UNALLOCATED_SHARE 0.1
#define PLIM_STRONG_SHARE      0.2 /* [assumed] */

/* Weights and what stands beside them fill this share of a card: nothing that a batch can change. [assumed] */
#define PLIM_WEIGHTS_SHARE 0.85

/* A request this many times the card is a wrong shape or an overflow, not a large batch. [assumed] */
enum { PLIM_ABSURD_TIMES = 100 };

/* No card has so much memory. [assumed, above the largest of data/cards by far] */
#define PLIM_NO_CARD_BYTES ((int64_t)1 << 40)

/* More than the grab of a pool at its start on a card of 80 GB. [assumed] */
#define PLIM_HUGE_PIECE_BYTES ((int64_t)(80 * PLIM_GIB))

/* One piece that is this part of the card, or a tensor of so many sides, is no weight. [assumed] */
enum { PLIM_PIECE_OF_CARD = 8, PLIM_ACTIVATION_SIDES = 3, PLIM_ACTIVATION_ELEMENTS = 1 << 20 };

/* A piece of a step that is this part of the card is what a batch, or a length, can change. [assumed] */
enum { PLIM_STEP_OF_CARD = 8 };

/* Tensors of this many times the card were moved to RAM by Windows: weights, or states, that do not fit. [assumed] */
#define PLIM_SPILLED_TIMES 1.25

/* Weights that are so much of a card leave too little for anything else: a context, the work of a step. [assumed] */
#define PLIM_WEIGHTS_ALONE 0.9

/* A series must have so many points, and rise with this rank correlation, to be called growth. [assumed] */
enum { PLIM_MIN_POINTS = 5, PLIM_EQUAL_STEPS = 50 };
#define PLIM_MIN_CORRELATION 0.9

/* No card is too small for so little: jax-ml/jax#13428 has 6 MB of 12 MiB. [assumed] */
#define PLIM_SMALL_PROGRAM_BYTES ((int64_t)(PLIM_GIB / 4))

/* vLLM: memory in use before it starts that is more than a context and a desktop. [assumed] */
#define PLIM_STARTUP_OTHERS_BYTES ((int64_t)(3 * PLIM_GIB / 2))

/* So much of a card is in use that a context, or a first piece, does not fit. [assumed] */
#define PLIM_CARD_FULL 0.9

/* A share of the card above the usual nine tenths: what every card has in use does not fit beside it. [assumed] */
#define PLIM_GREEDY_SHARE 0.92

/* What vLLM leaves free at least beside its share, so that its own check passes. [assumed] */
#define PLIM_STARTUP_RESERVE_BYTES ((int64_t)(3 * PLIM_GIB / 10))

/* Ratios count millionths. A server that has so much of its share has all of it. [assumed] */
#define PLIM_SHARE_ONE   1000000
#define PLIM_SHARE_TAKEN 0.95

/* The finding's figure, else the context's when it is one that a neighbour prints. */
int64_t plim_figure(const struct plim_finding *finding, const struct plim_log_context *context, enum plim_number which);

/* One piece that no machine has, as a wrong shape or an overflow makes it. */
bool plim_is_absurd(const struct plim_finding *finding);

/* The finding's word, else the context's; "" when neither has it. */
const char *plim_figure_word(const struct plim_finding *finding, const struct plim_log_context *context,
                             enum plim_word which);

/* llama.cpp: what the weights leave of what was free before them, by the log; PLIM_UNKNOWN when it does not say. */
int64_t plim_left_by_weights(const struct plim_finding *finding, const struct plim_log_context *context);

/* Fill in the figures of an answer. */
void plim_cause_figures(const struct plim_finding *finding, const struct plim_log_context *context,
                        struct plim_cause_answer *answer);

/* A traceback with paths of Unix: Linux, WSL or a Mac. */
bool plim_is_unix(const struct plim_log_context *context);

/* More is allocated than the card has: where the rest is, as far as the log tells; for the middle of a sentence. */
const char *plim_spill_words(const char *platform, const struct plim_log_context *context);

/* What the driver of Windows says of processes is not theirs alone, in WSL too. */
bool plim_is_windows(const char *platform);

static inline bool plim_is_known(int64_t value) { return value != PLIM_UNKNOWN; }

/* "14.26 GiB"; "?" when not known. For up to eight in one printf: buffers are taken by turns from the caller's set. */
struct plim_size_texts {
    char text[10][PLIM_SIZE_TEXT];
    unsigned n;
};
const char *plim_say(struct plim_size_texts *texts, int64_t bytes);

#endif
