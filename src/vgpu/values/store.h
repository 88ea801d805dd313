/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_VALUES_STORE_H
#define PLIMSOLL_VGPU_VALUES_STORE_H

/*
 * The extents of values/shadow.h: disjoint, in order of address. An extent has stored bytes, or is a constant. Nothing
 * here locks: the caller does, except for plim_store_may_hold().
 */

#include "vgpu/values/shadow.h"

enum {
    PLIM_STORE_PATTERN_BYTES = PLIM_SHADOW_MAX_WIDTH,
    PLIM_STORE_MAX_EXTENTS = 1 << 20,
    PLIM_STORE_BLOCK_BYTES = 512 /* blocks of PyTorch start at multiples (c10/cuda/CUDACachingAllocator.cpp) */
};

/* Stored bytes, which several extents may share. */
struct plim_piece {
    size_t n_users, size;
    uint8_t bytes[];
};

struct plim_extent {
    uint64_t start, end;
    struct plim_piece *piece; /* NULL: a constant */
    union {
        uint64_t origin; /* the byte at `address` is piece->bytes[address - origin] */
        /* The byte at `address` is pattern[address % 16]: so a cut or a shift keeps its elements where they are. */
        uint8_t pattern[PLIM_STORE_PATTERN_BYTES];
    };
    uint64_t used, written; /* the times of the last read or write, and of the last write */
    uint32_t before, after, older, newer;
    uint8_t known; /* enum plim_shadow_known, for plim_store_known() */
    bool is_head;  /* a block of PyTorch may begin here */
    bool is_inner; /* none does: it was written into the middle of another extent */
};

/* Without a lock; false: nothing is known there. */
bool plim_store_may_hold(uint64_t start, uint64_t end);

/* The extent that holds the address, else the first one behind it; NULL: none. */
struct plim_extent *plim_store_at(uint64_t address);
struct plim_extent *plim_store_after(const struct plim_extent *extent);

/*
 * Evict until there is room for so many more extents and bytes. All calls below that make extents need it before: a cut
 * and an insertion make one, a clear one at most. False: no memory.
 */
bool plim_store_make_room(size_t n_extents, size_t n_bytes);

/* Let an extent begin at the address, if one holds it. */
void plim_store_cut(uint64_t address);

/* Remove what is in the range. True: an extent that began before it was cut. */
bool plim_store_clear(uint64_t start, uint64_t end);

/* Insert a copy, whose range must be clear, and which shares the piece. */
void plim_store_add(const struct plim_extent *extent);

/* Write: the range of the extent is cleared, and it is added. */
void plim_store_put(const struct plim_extent *extent);

enum plim_shadow_known plim_store_known(const struct plim_extent *extent);

/* What was written until now is no more than KEPT. */
void plim_store_doubt_all(void);

/* Extents in the range are made no more than KEPT from here on. */
void plim_store_share(uint64_t start, uint64_t end);
void plim_store_unshare(uint64_t start, uint64_t end);

/* Without a lock; false: no part of it is shared. */
bool plim_store_is_shared(uint64_t start, uint64_t end);

/* Note a use. */
void plim_store_touch(struct plim_extent *extent);

/* n bytes of the extent from an address on. */
void plim_store_copy_out(const struct plim_extent *extent, uint64_t from, uint8_t *to, size_t n);

/* A piece without users; NULL: no memory. */
struct plim_piece *plim_piece_make(const void *bytes, size_t size);
void plim_piece_hold(struct plim_piece *piece);
void plim_piece_release(struct plim_piece *piece);

uint64_t plim_store_n_evicted(void);

#endif
