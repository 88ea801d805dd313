/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_STEP_STEP_H
#define PLIMSOLL_STEP_STEP_H

/*
 * A step: the memory of a program in time. For each rank of a job and each device that it uses, the requests and
 * returns of PyTorch's allocator in order, with their sizes as polynomials in named variables; for each allocation its
 * pillar and its line in the program; and the marks that divide the time into phases.
 *
 * One recording has constant sizes. Recordings at several values of the variables become a step with polynomials
 * (fit/fit.h) as long as the order of events is the same in all of them; where it changes, the step has several shapes,
 * each with the values at which it was recorded.
 *
 * What is not known is said to be: a pillar, a phase, a site, a number of bytes.
 */

#include "plimsoll/bill.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PLIM_STEP_MAX_VARIABLES = 8, PLIM_STEP_NAME_BYTES = 32, PLIM_STEP_MAX_DEGREE = 4, PLIM_STEP_MAX_ROUNDING = 16 };

#define PLIM_STEP_NO_SITE       UINT32_MAX
#define PLIM_STEP_UNKNOWN_BYTES UINT64_MAX

struct plim_step_variable {
    char name[PLIM_STEP_NAME_BYTES]; /* as in --vary: "B" */
};

/* A value for each variable of the step; 0 beyond them. */
struct plim_step_point {
    uint64_t value[PLIM_STEP_MAX_VARIABLES];
};

/* coefficient / denominator of the size x product of variables, each to its power of at most PLIM_STEP_MAX_DEGREE. */
struct plim_step_term {
    int64_t coefficient;
    uint8_t power[PLIM_STEP_MAX_VARIABLES];
};

/*
 * bytes = sum of terms / denominator (size.h); the sizes of a shape are shared by its events. Of 0 bytes nothing is
 * taken: a work area that the program needs at some points only.
 */
struct plim_step_size {
    uint32_t first_term, n_terms;
    uint32_t denominator; /* >= 1 */
    bool is_exact;        /* the only form that has every recorded size (fit/form.h); else the nearest that was found */
    bool is_rest;         /* of a whole that is cut into pieces of most_bytes: what the last of them has */
    /* A variable counts as rounded up to the next multiple of 2^rounding: kernels work on tiles of it. */
    uint8_t rounding[PLIM_STEP_MAX_VARIABLES];
    /* In this order, each where it is not 0: */
    uint64_t least_bytes;    /* below it is 0 */
    uint64_t multiple_bytes; /* up to the next multiple of it */
    uint64_t most_bytes;     /* and never more */
};

/*
 * A line of the program that allocates: the innermost frame that is not PyTorch's own. By the program's source it, or a
 * call to it, may stand in a loop over pieces of a whole: then sizes that grow there have an end.
 */
struct plim_step_site {
    uint32_t file, function; /* texts: offsets into text, 0 is "" */
    uint32_t line;
    uint32_t loop;  /* text: FILE:LINE of the loop; 0: none was seen */
    uint64_t piece; /* what a turn has at most, in rows or elements; 0: not known */
};

/* Known when it was taken, or later from its use: a gradient is known as such when the optimizer steps. */
struct plim_step_allocation {
    uint32_t size;  /* of the shape's sizes */
    uint32_t site;  /* of sites; PLIM_STEP_NO_SITE: made before the recording, or without a stack */
    uint8_t pillar; /* enum plim_pillar; PLIM_PILLAR_MAX_: unknown */
    uint8_t phase;  /* enum plim_phase in which it was taken; PLIM_PHASE_MAX_: unknown */
};

/* The numbers of enum plim_torch_event_kind (engine/torch/allocator.h), which says what each means. */
enum plim_step_event_kind {
    PLIM_STEP_TAKE,
    PLIM_STEP_GIVE,
    PLIM_STEP_GIVE_LATER,
    PLIM_STEP_GIVEN,
    PLIM_STEP_EMPTY,
    PLIM_STEP_RELEASE_POOL,
    PLIM_STEP_EMPTY_POOL,
    PLIM_STEP_EVENT_MAX_
};

/*
 * As struct plim_torch_event; the bytes are those of the allocation. Allocations are numbered in the order in which
 * they are taken: the first PLIM_STEP_TAKE is of 0, the next of 1. What is given back is held, and what is "given" was
 * given back later. Events without an allocation have id 0.
 */
struct plim_step_event {
    uint32_t id;
    uint16_t stream, pool;
    uint8_t kind;
};

/*
 * Events that the program repeats, once for each piece of a whole but one: what it does between two turns of a loop and
 * in a turn, wherever it is cut. The track has them once, as of a program with two turns, and that is the last
 * repetition of any number; of one turn there is none (unroll.h).
 */
struct plim_step_loop {
    uint32_t first_event, n_events;
    uint32_t turns;               /* of sizes: its pieces are counted, one turn each */
    uint32_t first_mark, n_marks; /* that are repeated with the events: whole phases; of a part of one there are none */
    uint32_t *sizes;              /* [takes of the events]: what they take in all repetitions but the last */
    uint32_t n_takes;
};

/* From this event on the program is in this phase of this step. In the order of events. */
struct plim_step_mark {
    uint32_t event; /* n_events: after the last */
    uint32_t step;  /* counted from 0: before the first optimizer step has ended */
    uint8_t phase;  /* enum plim_phase; PLIM_PHASE_MAX_: unknown */
};

/* The peaks of a track as PyTorch had them; PLIM_STEP_UNKNOWN_BYTES where nobody looked. */
struct plim_step_peaks {
    uint64_t allocated_bytes, reserved_bytes;
};

enum plim_step_end {
    PLIM_STEP_END_UNKNOWN,
    PLIM_STEP_END_EXIT,   /* the program ended */
    PLIM_STEP_END_STEPS,  /* the recording did, when it had the steps that were asked for */
    PLIM_STEP_END_MEMORY, /* the last event asks for more than there was: what would follow is not known */
    PLIM_STEP_END_MAX_
};

/* One device of one rank; tracks of one device number share a card. Memory that is held before the first event is taken
 * by events at the beginning. */
struct plim_step_track {
    uint32_t rank, device;
    uint16_t n_streams, n_pools; /* >= 1; their product is at most PLIM_TORCH_MAX_HEAPS */
    uint8_t end;                 /* enum plim_step_end */
    bool starts_late;            /* what happened before the first event is not known, but for what is held */
    bool *has_retries;           /* [n_pools], as in struct plim_torch_setup; NULL: none */
    struct plim_step_event *events;
    size_t n_events;
    struct plim_step_allocation *allocations;
    uint32_t n_allocations;
    struct plim_step_mark *marks;
    size_t n_marks;
    struct plim_step_loop *loops; /* in the order of events, apart from each other; no other mark is within one */
    size_t n_loops;
    struct plim_step_peaks *recorded; /* [n_points of the shape]; NULL: nothing is known */
    /* Device memory of the process that PyTorch's allocator does not hold: libraries and their work areas as the
     * rehearsal's ledger has them, without the CUDA context and kernels. PLIM_STEP_UNKNOWN_BYTES: nobody looked. */
    uint64_t outside_bytes;
    /* That segments could have in all when it was recorded. PLIM_STEP_UNKNOWN_BYTES: no end was met. */
    uint64_t capacity_bytes;
};

/* An order of events, and the points at which the program had it. */
struct plim_step_shape {
    struct plim_step_point *points; /* recorded and fitted; one of them at least */
    size_t n_points;
    struct plim_step_track *tracks; /* in the order of ranks, then devices */
    size_t n_tracks;
    struct plim_step_size *sizes;
    size_t n_sizes;
    struct plim_step_term *terms;
    size_t n_terms;
    /*
     * How well a first fit met recordings that it had not seen, largest relative error of a peak; negative: there was
     * none. The sizes here are fitted to all recordings.
     */
    double left_out_allocated_error, left_out_reserved_error;
};

struct plim_step {
    char torch_version[32]; /* "2.15.0"; "" unknown */
    char alloc_conf[256];   /* the settings of the recording, as PYTORCH_CUDA_ALLOC_CONF has them */
    char card_name[160];    /* on which it was recorded */
    uint64_t card_bytes;    /* of that card; 0 unknown */
    uint32_t command;       /* text: as recorded, with {B} for variables */
    uint32_t n_variables;
    struct plim_step_variable variables[PLIM_STEP_MAX_VARIABLES];
    struct plim_step_shape *shapes;
    size_t n_shapes;
    struct plim_step_site *sites;
    size_t n_sites;
    char *text; /* texts, each with its NUL; offset 0 is ""; NULL: there are none */
    size_t text_bytes;
};

/* True for letters, digits and "_", no digit in front, of less than PLIM_STEP_NAME_BYTES. */
bool plim_step_is_name(const char *name);

/* The text at an offset; "" outside. */
const char *plim_step_text(const struct plim_step *step, uint32_t offset);

/* All of it is freed with plim_free() (base/mem.h); a step of zeros is empty. */
void plim_step_done(struct plim_step *step);
void plim_step_track_done(struct plim_step_track *track);

#endif
