/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_RECORD_DUMP_H
#define PLIMSOLL_RECORD_DUMP_H

/*
 * What the hook wrote of a process at one time: a snapshot of PyTorch, and a file *.marks beside it that says where in
 * the history optimizers stepped, and where weights, gradients and states lay.
 */

#include "base/error.h"
#include "trace/step/step.h"

enum {
    PLIM_RECORD_MAX_DEVICES = 64,
    PLIM_RECORD_NAME_BYTES = 160,
    PLIM_RECORD_MAX_MARKS = 1 << 20,
    PLIM_RECORD_MAX_PLACES = 1 << 14,
};

struct plim_record_device {
    uint32_t device; /* as PyTorch numbers them */
    uint32_t card;   /* as the machine does: processes that share one have the same */
    char card_name[PLIM_RECORD_NAME_BYTES];
    uint64_t card_bytes;
    uint64_t allocated_bytes, reserved_bytes;           /* when it was written */
    uint64_t allocated_peak_bytes, reserved_peak_bytes; /* since the program began, or set them back */
    struct plim_trace_marks marks;
    size_t marks_room, addresses_room;
};

struct plim_record_dump {
    char torch_version[32], alloc_conf[256];
    char snapshot[PLIM_RECORD_NAME_BYTES]; /* a file of the same folder */
    char kind[16];                         /* why it was written: "steps", "exit", "memory", "peak", "own" */
    double fraction;                       /* of the card's memory that the process may have; 0: no limit */
    int64_t pid;
    int64_t rank; /* -1: unknown */
    uint64_t number, n_dropped;
    bool is_whole; /* the history begins with the program's first allocation */
    bool has_peak; /* ... or has the moment at which most was reserved */
    struct plim_record_device *devices;
    size_t n_devices;
    struct plim_trace_place *places; /* of the sources behind the stacks */
    size_t n_places, places_room;
};

PLIM_MUST_CHECK int plim_record_dump_read(const char *path, struct plim_record_dump *ret_dump,
                                          struct plim_error *reterr);
void plim_record_dump_done(struct plim_record_dump *dump);

#endif
