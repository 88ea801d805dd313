/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_TRACE_STEP_PARTS_H
#define PLIMSOLL_TRACE_STEP_PARTS_H

/* The parts of step.c. */

#include "trace/live.h"
#include "trace/step/step.h"

/* --- sizes, sites and texts, each once (words.c) --- */

struct plim_step_words {
    struct plim_step *step;
    struct plim_trace_live sizes, sites; /* by a hash; number: which */
    uint32_t *site_of_frame;             /* of the trace; UINT32_MAX: not looked at */
    size_t sizes_room, terms_room, sites_room, text_room;
};

PLIM_MUST_CHECK bool plim_step_words_open(struct plim_step_words *words, struct plim_step *step, size_t n_frames);
/* The number of a constant size, or of the site of a frame; UINT32_MAX when memory ran out. */
uint32_t plim_step_words_size(struct plim_step_words *words, uint64_t bytes);
uint32_t plim_step_words_site(struct plim_step_words *words, const struct plim_memory_trace *trace, uint32_t frame);
/* The site stands in a loop; false when memory ran out. */
PLIM_MUST_CHECK bool plim_step_words_loop(struct plim_step_words *words, uint32_t site, const char *loop,
                                          uint64_t piece);
void plim_step_words_done(struct plim_step_words *words);

/* --- loops over pieces (places.c) --- */

struct plim_step_piece {
    uint32_t place; /* UINT32_MAX: none */
    uint64_t limit;
};

struct plim_step_pieces {
    const struct plim_memory_trace *trace;
    const struct plim_trace_place *places;
    struct plim_step_piece *of_frame; /* NULL: there are no places */
};

PLIM_MUST_CHECK bool plim_step_pieces_open(struct plim_step_pieces *pieces, const struct plim_memory_trace *trace,
                                           const struct plim_trace_place *places, size_t n);
/* An allocation of this stack has that site; false when memory ran out. */
PLIM_MUST_CHECK bool plim_step_pieces_note(const struct plim_step_pieces *pieces, struct plim_step_words *words,
                                           uint32_t stack, uint32_t site);
void plim_step_pieces_done(struct plim_step_pieces *pieces);

/* --- what stacks tell (stacks.c) --- */

enum plim_step_stack_sign {
    PLIM_STACK_IS_EMPTY = 1,
    PLIM_STACK_IN_BACKWARD = 2,
    PLIM_STACK_IN_MODULE = 4,           /* a module is called */
    PLIM_STACK_WITHOUT_GRAD = 8,        /* below a function that records no gradients, which is not of a module */
    PLIM_STACK_IN_STEP = 32,            /* gradients are made ready for the optimizer */
    PLIM_STACK_CALLS_BACKWARD = 64,     /* the thread that waits for it */
    PLIM_STACK_GATHERS_WEIGHTS = 128,   /* of shards */
    PLIM_STACK_REDUCES_GRADIENTS = 256, /* between ranks */
    PLIM_STACK_IN_CACHE = 512,          /* of keys and values */
    PLIM_STACK_LOADS = 16,              /* a module is made, moved or filled */
};

/* For each frame of a trace, signs; freed with plim_free(). NULL: out of memory. */
uint16_t *plim_step_frame_signs(const struct plim_memory_trace *trace);
unsigned plim_step_stack_signs(const struct plim_memory_trace *trace, const uint16_t *frame_signs, uint32_t stack);

/* --- pillars and phases (pillars.c) --- */

struct plim_step_life {
    uint64_t address;
    size_t taken_at, given_at; /* events; given_at is n_events when it was not */
    uint32_t stack;
};

/* A track's events and allocations, not yet marked. */
struct plim_step_history {
    struct plim_step_track *track;
    struct plim_step_life *lives; /* [n_allocations] */
    uint32_t n_before;            /* allocations from before the history */
    const size_t *places;         /* for each mark: the event that follows it */
    const struct plim_trace_marks *marks;
    const struct plim_memory_trace *trace;
    const struct plim_step_shape *shape; /* of the track: its sizes, which are constants */
};

PLIM_MUST_CHECK bool plim_step_tell_pillars(struct plim_step_history *history);

#endif
