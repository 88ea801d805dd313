/* SPDX-License-Identifier: MIT */
#include "engine/torch/free_set.h"

#include "base/mem.h"

enum { WORDS = PLIM_FREE_SET_BINS / 64 };

/* Sixteen bins for each power of two; sizes below 32 have their own. */
static inline uint32_t bin_of(const struct plim_free_set *set, uint64_t bytes)
{
    const unsigned shift = 59 - (unsigned)__builtin_clzll(bytes | 16);
    return set->is_by_address ? 0 : shift * 16 + (uint32_t)(bytes >> shift);
}

static inline bool is_before(const struct plim_free_set *set, const struct plim_torch_block *block, uint64_t bytes,
                             uint64_t address)
{
    if (block->bytes == bytes || set->is_by_address)
        return block->address < address;
    return block->bytes < bytes;
}

/* What keeps a treap flat; the seed, which no file can know, keeps it flat whatever a file asks for. */
static inline uint32_t priority_of(const struct plim_free_set *set, uint32_t block)
{
    const uint32_t mixed = (block ^ set->seed) * UINT32_C(0x85ebca6b); /* constants of MurmurHash3 */
    return (mixed ^ mixed >> 13) * UINT32_C(0xc2b2ae35);
}

static inline uint32_t leftmost(const struct plim_torch_block *blocks, uint32_t block)
{
    while (blocks[block].left)
        block = blocks[block].left;
    return block;
}

/* The first block in a bin or behind it. */
static uint32_t first_from(const struct plim_free_set *set, const struct plim_torch_block *blocks, uint32_t bin)
{
    for (uint32_t word = bin / 64; word < WORDS; word++, bin = 0) {
        const uint64_t bits = set->bins->has_any[word] >> bin % 64 << bin % 64;
        if (bits)
            return leftmost(blocks, set->bins->roots[word * 64 + (uint32_t)__builtin_ctzll(bits)]);
    }
    return 0;
}

uint32_t plim_free_set_from(const struct plim_free_set *set, const struct plim_torch_block *blocks, uint64_t bytes,
                            uint64_t address)
{
    if (!set->bins)
        return 0;
    const uint32_t bin = bin_of(set, bytes);
    uint32_t found = 0;
    for (uint32_t at = set->bins->roots[bin]; at;)
        if (is_before(set, &blocks[at], bytes, address)) {
            at = blocks[at].right;
        } else {
            found = at;
            at = blocks[at].left;
        }
    return found ? found : first_from(set, blocks, bin + 1);
}

uint32_t plim_free_set_next(const struct plim_free_set *set, const struct plim_torch_block *blocks, uint32_t block)
{
    const uint32_t bin = bin_of(set, blocks[block].bytes);
    if (blocks[block].right)
        return leftmost(blocks, blocks[block].right);
    uint32_t above = blocks[block].above;
    while (above && blocks[above].right == block) {
        block = above;
        above = blocks[block].above;
    }
    return above ? above : first_from(set, blocks, bin + 1);
}

/* The last block of the bins before one. */
static uint32_t last_before(const struct plim_free_set *set, const struct plim_torch_block *blocks, uint32_t bin)
{
    uint32_t block = 0;
    while (set->bins && !block && bin > 0)
        block = set->bins->roots[--bin];
    while (blocks[block].right)
        block = blocks[block].right;
    return block;
}

uint32_t plim_free_set_back(const struct plim_free_set *set, const struct plim_torch_block *blocks, uint32_t block)
{
    if (!block)
        return last_before(set, blocks, PLIM_FREE_SET_BINS);
    const uint32_t bin = bin_of(set, blocks[block].bytes);
    uint32_t left = blocks[block].left, above = blocks[block].above;
    if (left) {
        while (blocks[left].right)
            left = blocks[left].right;
        return left;
    }
    while (above && blocks[above].left == block) {
        block = above;
        above = blocks[block].above;
    }
    return above ? above : last_before(set, blocks, bin);
}

/* --- changes --- */

static bool open_bins(struct plim_free_set *set)
{
    set->bins = plim_alloc(1, sizeof *set->bins);
    set->seed = (uint32_t)((uintptr_t)set->bins >> 4);
    return set->bins != NULL;
}

/* Where a tree is to hang: on a side of the block above it, or at a root. */
struct place {
    uint32_t *at, above;
};

/* Hang a tree up but for one side of it, which becomes the place and is returned. */
static inline uint32_t hang(struct plim_torch_block *blocks, struct place *place, uint32_t tree, uint32_t *side)
{
    *place->at = tree;
    blocks[tree].above = place->above;
    place->at = side;
    place->above = tree;
    return *side;
}

/* Cut the tree `rest` in two at a block, which becomes the node above both. */
static inline void cut(const struct plim_free_set *set, struct plim_torch_block *blocks, uint32_t block, uint32_t rest)
{
    const struct plim_torch_block b = blocks[block];
    struct place left = { &blocks[block].left, block }, right = { &blocks[block].right, block };
    while (rest)
        rest = is_before(set, &blocks[rest], b.bytes, b.address) ? hang(blocks, &left, rest, &blocks[rest].right)
                                                                 : hang(blocks, &right, rest, &blocks[rest].left);
    *left.at = *right.at = 0;
}

bool plim_free_set_add(struct plim_free_set *set, struct plim_torch_block *blocks, uint32_t block)
{
    struct plim_torch_block *b = &blocks[block];
    b->left = b->right = b->above = 0; /* safe to remove, whatever follows */
    if (!set->bins && !open_bins(set))
        return false;
    const uint32_t bin = bin_of(set, b->bytes), priority = priority_of(set, block);
    uint32_t *place = &set->bins->roots[bin], above = 0;
    set->bins->has_any[bin / 64] |= UINT64_C(1) << bin % 64;
    while (*place && priority_of(set, *place) > priority) {
        above = *place;
        place = is_before(set, &blocks[above], b->bytes, b->address) ? &blocks[above].right : &blocks[above].left;
    }
    cut(set, blocks, block, *place);
    *place = block;
    b->above = above;
    return true;
}

/* Make one tree of two at a place; all of the left one are before all of the right one. */
static inline void unite(const struct plim_free_set *set, struct plim_torch_block *blocks, struct place place,
                         uint32_t left, uint32_t right)
{
    while (left && right)
        if (priority_of(set, left) > priority_of(set, right))
            left = hang(blocks, &place, left, &blocks[left].right);
        else
            right = hang(blocks, &place, right, &blocks[right].left);
    *place.at = left | right;
    if (*place.at)
        blocks[*place.at].above = place.above;
}

void plim_free_set_remove(struct plim_free_set *set, struct plim_torch_block *blocks, uint32_t block)
{
    const struct plim_torch_block *b = &blocks[block];
    if (!set->bins)
        return;
    const uint32_t bin = bin_of(set, b->bytes);
    struct place place = { &set->bins->roots[bin], b->above };
    if (b->above)
        place.at = blocks[b->above].left == block ? &blocks[b->above].left : &blocks[b->above].right;
    unite(set, blocks, place, b->left, b->right);
    if (!set->bins->roots[bin])
        set->bins->has_any[bin / 64] &= ~(UINT64_C(1) << bin % 64);
}

void plim_free_set_done(struct plim_free_set *set)
{
    plim_free(set->bins);
    *set = (struct plim_free_set){ 0 };
}
