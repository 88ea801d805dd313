/* SPDX-License-Identifier: MIT */
#include "engine/torch/free_set.h"

#include "base/mem.h"

#include <string.h>

enum { LEAF = PLIM_FREE_SET_LEAF };

/* Without a branch, 1 or 0: the order in which a program asks and gives back cannot be foretold. */
static inline size_t is_before(const struct plim_free_key *key, const struct plim_free_key *than)
{
#ifdef __SIZEOF_INT128__
    __extension__ typedef unsigned __int128 pair; /* two instructions instead of six */
    return ((pair)key->bytes << 64 | key->address) < ((pair)than->bytes << 64 | than->address);
#else
    return (size_t)((key->bytes < than->bytes) | ((key->bytes == than->bytes) & (key->address < than->address)));
#endif
}

/* How many of n sorted rows, which begin with their keys, are before a key. Three at a time: their loads overlap. */
static inline size_t count_before(const void *rows, size_t row_bytes, size_t n, const struct plim_free_key *key)
{
    const char *from = rows;
    if (!n)
        return 0;
#define IS_BEFORE(i) is_before((const struct plim_free_key *)(const void *)(from + ((i)-1) * row_bytes), key)
    while (n > 3) {
        const size_t quarter = n / 4;
        from += (IS_BEFORE(quarter) + IS_BEFORE(2 * quarter) + IS_BEFORE(3 * quarter)) * quarter * row_bytes;
        n -= 3 * quarter;
    }
    for (; n > 1; n -= n / 2)
        from += IS_BEFORE(n / 2) * (n / 2) * row_bytes;
    return (size_t)(from - (const char *)rows) / row_bytes + IS_BEFORE(1);
#undef IS_BEFORE
}

/* The first entry of a leaf that is not before a key. */
static inline size_t search_leaf(const struct plim_free_leaf *leaf, const struct plim_free_key *key)
{
    return count_before(leaf->entries, sizeof *leaf->entries, leaf->n, key);
}

/* The first leaf whose last entry is not before a key. */
static inline size_t search_leaves(const struct plim_free_set *set, const struct plim_free_key *key)
{
    return count_before(set->branches, sizeof *set->branches, set->n_leaves, key);
}

struct plim_free_place plim_free_set_from(const struct plim_free_set *set, uint64_t bytes, uint64_t address)
{
    const struct plim_free_key key = { bytes, address };
    struct plim_free_place place = { search_leaves(set, &key), 0 };
    if (place.leaf < set->n_leaves)
        place.index = search_leaf(set->branches[place.leaf].leaf, &key);
    return place;
}

static void note_last(struct plim_free_branch *branch)
{
    branch->last = branch->leaf->entries[branch->leaf->n - 1].key;
}

/* An empty leaf before the leaf `at`. */
static struct plim_free_leaf *insert_leaf(struct plim_free_set *set, size_t at)
{
    if (set->n_leaves == set->room) {
        const size_t room = set->room ? 2 * set->room : 4;
        struct plim_free_branch *branches = plim_realloc(set->branches, room, sizeof *branches);
        if (!branches)
            return NULL;
        set->branches = branches;
        set->room = room;
    }
    struct plim_free_leaf *leaf = plim_alloc_unset(1, sizeof *leaf);
    if (!leaf)
        return NULL;
    leaf->n = 0;
    memmove(set->branches + at + 1, set->branches + at, (set->n_leaves - at) * sizeof *set->branches);
    set->branches[at] = (struct plim_free_branch){ .leaf = leaf };
    set->n_leaves++;
    return leaf;
}

static void drop_leaf(struct plim_free_set *set, size_t at)
{
    plim_free(set->branches[at].leaf);
    set->n_leaves--;
    memmove(set->branches + at, set->branches + at + 1, (set->n_leaves - at) * sizeof *set->branches);
}

/* Move the entries from `begin` on to the end of another leaf. */
static void move_to(struct plim_free_leaf *to, struct plim_free_leaf *from, uint32_t begin)
{
    memcpy(to->entries + to->n, from->entries + begin, (from->n - begin) * sizeof *to->entries);
    to->n += from->n - begin;
    from->n = begin;
}

static bool split_leaf(struct plim_free_set *set, size_t at)
{
    struct plim_free_leaf *right = insert_leaf(set, at + 1);
    if (!right)
        return false;
    move_to(right, set->branches[at].leaf, LEAF / 2);
    note_last(&set->branches[at]);
    note_last(&set->branches[at + 1]);
    return true;
}

bool plim_free_set_add(struct plim_free_set *set, uint64_t bytes, uint64_t address, uint32_t block)
{
    const struct plim_free_key key = { bytes, address };
    if (!set->n_leaves && !insert_leaf(set, 0))
        return false;
    /* A first leaf has no last entry to compare with. */
    size_t at = set->branches[0].leaf->n ? search_leaves(set, &key) : 0;
    if (at == set->n_leaves)
        at--;
    if (set->branches[at].leaf->n == LEAF) {
        if (!split_leaf(set, at))
            return false;
        at += is_before(&set->branches[at].last, &key);
    }
    struct plim_free_leaf *leaf = set->branches[at].leaf;
    struct plim_free_entry *entry = leaf->entries + search_leaf(leaf, &key);
    memmove(entry + 1, entry, (size_t)(leaf->entries + leaf->n - entry) * sizeof *entry);
    *entry = (struct plim_free_entry){ key, block };
    leaf->n++;
    note_last(&set->branches[at]);
    return true;
}

/* Leaves that have become small, beside each other, become one. */
static void unite(struct plim_free_set *set, size_t at)
{
    if (at + 1 < set->n_leaves && set->branches[at].leaf->n + set->branches[at + 1].leaf->n <= LEAF / 2) {
        move_to(set->branches[at].leaf, set->branches[at + 1].leaf, 0);
        drop_leaf(set, at + 1);
        note_last(&set->branches[at]);
    }
}

void plim_free_set_remove_at(struct plim_free_set *set, struct plim_free_place place)
{
    struct plim_free_leaf *leaf = set->branches[place.leaf].leaf;
    struct plim_free_entry *entry = leaf->entries + place.index;
    memmove(entry, entry + 1, (leaf->n - place.index - 1) * sizeof *entry);
    if (--leaf->n == 0) {
        drop_leaf(set, place.leaf);
        return;
    }
    note_last(&set->branches[place.leaf]);
    if (leaf->n < LEAF / 4)
        unite(set, place.leaf);
}

void plim_free_set_remove(struct plim_free_set *set, uint64_t bytes, uint64_t address)
{
    const struct plim_free_place place = plim_free_set_from(set, bytes, address);
    if (!plim_free_set_has(set, place))
        return;
    const struct plim_free_entry *entry = &set->branches[place.leaf].leaf->entries[place.index];
    if (entry->key.bytes == bytes && entry->key.address == address)
        plim_free_set_remove_at(set, place); /* never another one, whatever a snapshot said of its blocks */
}

void plim_free_set_done(struct plim_free_set *set)
{
    for (size_t i = 0; i < set->n_leaves; i++)
        plim_free(set->branches[i].leaf);
    plim_free(set->branches);
    *set = (struct plim_free_set){ 0 };
}
