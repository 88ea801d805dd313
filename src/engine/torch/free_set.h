/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_ENGINE_TORCH_FREE_SET_H
#define PLIMSOLL_ENGINE_TORCH_FREE_SET_H

/*
 * Free blocks in the order (size, address): the order in which PyTorch's allocator looks for the best fit. A sorted row
 * of leaves of up to 32 blocks each: a search is two binary searches, a change moves half a leaf.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PLIM_FREE_SET_LEAF = 32 };

struct plim_free_key {
    uint64_t bytes, address;
};

struct plim_free_entry {
    struct plim_free_key key;
    uint32_t block;
};

struct plim_free_leaf {
    struct plim_free_entry entries[PLIM_FREE_SET_LEAF];
    uint32_t n; /* never 0 in a set */
};

/* A leaf and its last entry, which lies here so that a search reads one leaf only. */
struct plim_free_branch {
    struct plim_free_key last;
    struct plim_free_leaf *leaf;
};

struct plim_free_set {
    struct plim_free_branch *branches;
    size_t n_leaves, room;
};

/* A place in a set; leaf == n_leaves is past the end. A change of the set makes all places invalid. */
struct plim_free_place {
    size_t leaf, index;
};

/* False when memory ran out. The pair (bytes, address) is not in the set. */
bool plim_free_set_add(struct plim_free_set *set, uint64_t bytes, uint64_t address, uint32_t block);
/* A pair that is not in the set stays away. */
void plim_free_set_remove(struct plim_free_set *set, uint64_t bytes, uint64_t address);
void plim_free_set_remove_at(struct plim_free_set *set, struct plim_free_place place);
void plim_free_set_done(struct plim_free_set *set);

/* The first place that is not before (bytes, address). */
struct plim_free_place plim_free_set_from(const struct plim_free_set *set, uint64_t bytes, uint64_t address);

static inline bool plim_free_set_has(const struct plim_free_set *set, struct plim_free_place place)
{
    return place.leaf < set->n_leaves;
}

static inline uint32_t plim_free_set_block(const struct plim_free_set *set, struct plim_free_place place)
{
    return set->branches[place.leaf].leaf->entries[place.index].block;
}

static inline struct plim_free_place plim_free_set_next(const struct plim_free_set *set, struct plim_free_place place)
{
    if (++place.index == set->branches[place.leaf].leaf->n)
        place = (struct plim_free_place){ place.leaf + 1, 0 };
    return place;
}

/* One place back; false at the first place. */
static inline bool plim_free_set_back(const struct plim_free_set *set, struct plim_free_place *place)
{
    if (place->index == 0) {
        if (place->leaf == 0)
            return false;
        place->leaf--;
        place->index = set->branches[place->leaf].leaf->n;
    }
    place->index--;
    return true;
}

#endif
