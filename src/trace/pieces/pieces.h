/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_TRACE_PIECES_PIECES_H
#define PLIMSOLL_TRACE_PIECES_PIECES_H

/*
 * Fragmentation: memory that is reserved and free, but in segments that something holds, so that PyTorch can neither
 * use it for a larger request nor give it back. Segments that are free as a whole do not count: a request that finds no
 * room gives them back.
 *
 * A finding is made at the request at which memory ran out, else where most could not be given back: much of it is in
 * pieces there, and another setting, tried by a replay, needs clearly less, or a third of it is. The lines that are
 * named hold what keeps such segments: of a loop, what is left from earlier turns.
 *
 * Where that is not so, segments may still have come to be more and more because requests fit none that is free
 * (unfit.c). No setting is tried where memory ran out, nor there while what is reserved stays below three times what is
 * in use and does not rise.
 */

#include "trace/loop.h"
#include "trace/pieces/apart.h"

enum { PLIM_TRACE_MAX_PINS = 4, PLIM_TRACE_N_SHARES = 16, PLIM_TRACE_PIECES_SETTINGS_BYTES = 64 };

/* A line of which allocations are in mostly free segments; is_unfit: that fit no free one. */
struct plim_trace_pin {
    uint32_t frame;      /* PLIM_TRACE_NO_STACK: made before the recording began, or without a stack */
    uint32_t call;       /* the line of the loop that it is under, else its caller; PLIM_TRACE_NO_STACK: none */
    uint64_t held_bytes; /* of its blocks there; is_unfit: of the segments that the driver gave for it */
    uint64_t free_bytes; /* of these segments; of one with several lines each has its share by their blocks */
    uint64_t n;          /* is_unfit: of these segments; free_bytes is its share of all that is free */
};

struct plim_trace_share {
    uint32_t entry;
    uint64_t reserved_bytes, allocated_bytes, pieces_bytes;
};

struct plim_trace_pieces {
    bool is_found;
    bool is_oom;   /* then is where memory ran out, else where most could not be given back */
    bool is_unfit; /* found by unfit.c; then is where most was reserved */
    struct plim_trace_share then;
    struct plim_trace_pin pins[PLIM_TRACE_MAX_PINS]; /* the most free bytes first */
    size_t n_pins;
    char settings[PLIM_TRACE_PIECES_SETTINGS_BYTES];     /* the mildest tried that needs clearly less; "": none */
    enum plim_trace_apart apart;                         /* is_unfit, no settings: these in one need clearly less */
    uint64_t reserved_peak_bytes;                        /* of the history under these settings, or so */
    struct plim_trace_share shares[PLIM_TRACE_N_SHARES]; /* over the history; none if little was ever in pieces */
    size_t n_shares;
};

/* Notes the mildest of the usual settings under which the same history reserves so much at the most. */
PLIM_MUST_CHECK int plim_trace_pieces_try(const struct plim_memory_trace *trace, size_t device,
                                          const struct plim_trace_requests *requests,
                                          const struct plim_trace_conditions *conditions, uint64_t most_bytes,
                                          struct plim_trace_pieces *pieces, struct plim_error *reterr);

/* One pin for each pair of lines, in the place of many; returns how many there are. */
size_t plim_trace_pins_unite(const struct plim_memory_trace *trace, struct plim_trace_pin *pins, size_t n);

/* `recorded`: a replay under the trace's own conditions that met it. */
typedef int plim_trace_pieces_fn(const struct plim_memory_trace *trace, size_t device,
                                 const struct plim_trace_requests *requests, const struct plim_trace_loop *loop,
                                 const struct plim_trace_conditions *conditions,
                                 const struct plim_trace_replay *recorded, struct plim_trace_pieces *ret_pieces,
                                 struct plim_error *reterr);

PLIM_MUST_CHECK plim_trace_pieces_fn plim_trace_pieces_find;
/* Of a history without one of the former: is_unfit. */
PLIM_MUST_CHECK plim_trace_pieces_fn plim_trace_unfit_find;

#endif
