/* SPDX-License-Identifier: MIT */
#include "engine/torch/free_set.h"

#include "base/mem.h"

#include <string.h>

enum { LEAF = PLIM_FREE_SET_LEAF };

/* The first entry of a leaf that is not before (bytes, address). */
static size_t search_leaf(const struct plim_free_leaf *leaf, uint64_t bytes, uint64_t address)
{
    size_t from = 0, to = leaf->n;
    while (from < to) {
        const size_t middle = (from + to) / 2;
        const uint64_t size = leaf->bytes[middle];
        if (size < bytes || (size == bytes && leaf->address[middle] < address))
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* The first leaf whose last entry is not before (bytes, address). */
static size_t search_leaves(const struct plim_free_set *set, uint64_t bytes, uint64_t address)
{
    size_t from = 0, to = set->n_leaves;
    while (from < to) {
        const size_t middle = (from + to) / 2;
        const struct plim_free_leaf *leaf = set->leaves[middle];
        const uint64_t size = leaf->bytes[leaf->n - 1];
        if (size < bytes || (size == bytes && leaf->address[leaf->n - 1] < address))
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

struct plim_free_place plim_free_set_from(const struct plim_free_set *set, uint64_t bytes, uint64_t address)
{
    struct plim_free_place place = { search_leaves(set, bytes, address), 0 };
    if (place.leaf < set->n_leaves)
        place.index = search_leaf(set->leaves[place.leaf], bytes, address);
    return place;
}

static void move(struct plim_free_leaf *to, size_t at, const struct plim_free_leaf *from, size_t begin, size_t n)
{
    memmove(to->bytes + at, from->bytes + begin, n * sizeof *to->bytes);
    memmove(to->address + at, from->address + begin, n * sizeof *to->address);
    memmove(to->block + at, from->block + begin, n * sizeof *to->block);
}

/* An empty leaf before the leaf `at`. */
static struct plim_free_leaf *insert_leaf(struct plim_free_set *set, size_t at)
{
    if (set->n_leaves == set->room) {
        const size_t room = set->room ? 2 * set->room : 4;
        struct plim_free_leaf **leaves = plim_realloc(set->leaves, room, sizeof *leaves);
        if (!leaves)
            return NULL;
        set->leaves = leaves;
        set->room = room;
    }
    struct plim_free_leaf *leaf = plim_alloc_unset(1, sizeof *leaf);
    if (!leaf)
        return NULL;
    leaf->n = 0;
    memmove(set->leaves + at + 1, set->leaves + at, (set->n_leaves - at) * sizeof *set->leaves);
    set->leaves[at] = leaf;
    set->n_leaves++;
    return leaf;
}

static bool split_leaf(struct plim_free_set *set, size_t at)
{
    struct plim_free_leaf *right = insert_leaf(set, at + 1);
    if (!right)
        return false;
    struct plim_free_leaf *left = set->leaves[at];
    move(right, 0, left, LEAF / 2, LEAF - LEAF / 2);
    right->n = LEAF - LEAF / 2;
    left->n = LEAF / 2;
    return true;
}

bool plim_free_set_add(struct plim_free_set *set, uint64_t bytes, uint64_t address, uint32_t block)
{
    if (!set->n_leaves && !insert_leaf(set, 0))
        return false;
    /* A first leaf has no last entry to compare with. */
    size_t at = set->leaves[0]->n ? search_leaves(set, bytes, address) : 0;
    if (at == set->n_leaves)
        at--;
    if (set->leaves[at]->n == LEAF) {
        if (!split_leaf(set, at))
            return false;
        at += search_leaf(set->leaves[at], bytes, address) == LEAF / 2;
    }
    struct plim_free_leaf *leaf = set->leaves[at];
    const size_t index = search_leaf(leaf, bytes, address);
    move(leaf, index + 1, leaf, index, leaf->n - index);
    leaf->bytes[index] = bytes;
    leaf->address[index] = address;
    leaf->block[index] = block;
    leaf->n++;
    return true;
}

void plim_free_set_remove(struct plim_free_set *set, uint64_t bytes, uint64_t address)
{
    const struct plim_free_place place = plim_free_set_from(set, bytes, address);
    if (!plim_free_set_has(set, place))
        return;
    struct plim_free_leaf *leaf = set->leaves[place.leaf];
    if (leaf->bytes[place.index] != bytes || leaf->address[place.index] != address)
        return; /* never another one, whatever a snapshot said of its blocks */
    move(leaf, place.index, leaf, place.index + 1, leaf->n - place.index - 1);
    if (--leaf->n > 0)
        return;
    plim_free(leaf);
    set->n_leaves--;
    memmove(set->leaves + place.leaf, set->leaves + place.leaf + 1, (set->n_leaves - place.leaf) * sizeof *set->leaves);
}

void plim_free_set_done(struct plim_free_set *set)
{
    for (size_t i = 0; i < set->n_leaves; i++)
        plim_free(set->leaves[i]);
    plim_free(set->leaves);
    *set = (struct plim_free_set){ 0 };
}
