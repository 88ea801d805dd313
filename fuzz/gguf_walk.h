/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_FUZZ_GGUF_WALK_H
#define PLIMSOLL_FUZZ_GGUF_WALK_H

/*
 * Where the numbers of a GGUF header stand, so that they can be changed one at a time, and the one repair without
 * which hardly any changed header would get past the reader: data offsets that follow from the changed shapes.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WALK_MAX_SLOTS = 1 << 14 };

struct walk_slot {
    uint32_t at, n_bytes;
};

struct walk {
    struct walk_slot slots[WALK_MAX_SLOTS]; /* numbers of the metadata, dimensions and types of tensors */
    size_t n_slots;
    bool is_whole; /* the walk reached the end of the tensor list */
};

/* Walk over a header; with do_repair, rewrite the data offsets on the way. */
void walk_gguf(unsigned char *data, size_t size, bool do_repair, struct walk *ret_walk);

/* Write one slot, little-endian. */
void walk_put(unsigned char *data, struct walk_slot slot, uint64_t value);

/* Numbers that break things: limits, their neighbours, small ones. */
uint64_t walk_extreme(uint32_t seed);

#endif
