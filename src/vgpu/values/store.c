/* SPDX-License-Identifier: MIT */
/*
 * A treap of the extents by their start, which are also linked in order of address, and in order of use: constants and
 * stored bytes apart, for only the latter give room for bytes. A filter counts the extents by 2 MiB of address space,
 * so that the common case, nothing known, needs no search.
 */
#include "vgpu/values/store.h"

#include "vgpu/values/zeros.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    NONE = 0, /* extents are numbered from 1; number 0 anchors the order of address */
    STRETCH_BYTES = 2 << 20,
    N_STRETCHES = 1 << 16,
    LONG_STRETCHES = 64,    /* a longer extent is not counted by stretches */
    WORTH_SHRINKING = 4096, /* of a piece, in bytes */
};

struct order {
    uint32_t oldest, newest;
};

/* What a search looks at, apart from the rest so that a cache holds many. */
struct node {
    uint64_t start;
    uint32_t left, right;
};

enum { N_PLACES = PLIM_STORE_MAX_EXTENTS + 1 };
static struct plim_extent *extents; /* [N_PLACES] */
static struct node *nodes;          /* of the same number */
static uint32_t root, free_extent, n_fresh, last_found;
static size_t n_extents, n_bytes;
static uint64_t now, doubted;
static struct order constants, stored;
static atomic_uint n_long, in_stretch[N_STRETCHES];
static atomic_ullong n_evicted;

/* --- the filter --- */

/* Only the holder of the lock counts. */
static void count(const struct plim_extent *extent, unsigned change)
{
    const uint64_t first = extent->start / STRETCH_BYTES, last = (extent->end - 1) / STRETCH_BYTES;
    if (last - first >= LONG_STRETCHES) {
        atomic_store_explicit(&n_long, atomic_load_explicit(&n_long, memory_order_relaxed) + change,
                              memory_order_release);
        return;
    }
    for (uint64_t i = first; i <= last; i++) {
        atomic_uint *stretch = &in_stretch[i % N_STRETCHES];
        atomic_store_explicit(stretch, atomic_load_explicit(stretch, memory_order_relaxed) + change,
                              memory_order_release);
    }
}

bool plim_store_may_hold(uint64_t start, uint64_t end)
{
    if (start >= end)
        return false;
    const uint64_t first = start / STRETCH_BYTES, last = (end - 1) / STRETCH_BYTES;
    if (atomic_load_explicit(&n_long, memory_order_acquire) || last - first >= N_STRETCHES)
        return true;
    for (uint64_t i = first; i <= last; i++)
        if (atomic_load_explicit(&in_stretch[i % N_STRETCHES], memory_order_acquire))
            return true;
    return false;
}

/* --- shared memory --- */

enum { MAX_SHARED = 1024 };

static struct range {
    _Atomic uint64_t start, end;
} shared[MAX_SHARED];
static atomic_uint n_shared; /* MAX_SHARED: everything counts as shared */

void plim_store_share(uint64_t start, uint64_t end)
{
    const unsigned n = atomic_load(&n_shared);
    for (unsigned i = 0; i < n; i++)
        if (atomic_load(&shared[i].start) <= start && end <= atomic_load(&shared[i].end))
            return;
    if (n == MAX_SHARED)
        return;
    atomic_store(&shared[n].start, start);
    atomic_store(&shared[n].end, end);
    atomic_store(&n_shared, n + 1);
}

void plim_store_unshare(uint64_t start, uint64_t end)
{
    const unsigned n = atomic_load(&n_shared);
    for (unsigned i = n < MAX_SHARED ? n : 0; i-- > 0;)
        if (shared[i].start >= start && shared[i].end <= end) {
            const unsigned last = atomic_load(&n_shared) - 1;
            atomic_store(&shared[i].start, atomic_load(&shared[last].start));
            atomic_store(&shared[i].end, atomic_load(&shared[last].end));
            atomic_store(&n_shared, last);
        }
}

bool plim_store_is_shared(uint64_t start, uint64_t end)
{
    const unsigned n = atomic_load_explicit(&n_shared, memory_order_acquire);
    for (unsigned i = 0; i < n && n < MAX_SHARED; i++)
        if (start < atomic_load(&shared[i].end) && atomic_load(&shared[i].start) < end)
            return true;
    return n == MAX_SHARED;
}

/* --- pieces --- */

struct plim_piece *plim_piece_make(const void *bytes, size_t size)
{
    struct plim_piece *piece = malloc(sizeof *piece + size);
    if (piece) {
        *piece = (struct plim_piece){ .size = size };
        memcpy(piece->bytes, bytes, size);
    }
    return piece;
}

void plim_piece_hold(struct plim_piece *piece)
{
    if (piece && piece->n_users++ == 0)
        n_bytes += piece->size;
}

void plim_piece_release(struct plim_piece *piece)
{
    if (!piece || --piece->n_users > 0)
        return;
    n_bytes -= piece->size;
    free(piece);
}

void plim_store_copy_out(const struct plim_extent *extent, uint64_t from, uint8_t *to, size_t n)
{
    uint8_t block[PLIM_STORE_PATTERN_BYTES];
    size_t i = 0;
    if (extent->piece) {
        memcpy(to, extent->piece->bytes + (from - extent->origin), n);
        return;
    }
    if (plim_zeros_are(extent->pattern, sizeof extent->pattern)) {
        plim_zeros_put(to, n);
        return;
    }
    for (; i < sizeof block && i < n; i++)
        to[i] = block[i] = extent->pattern[(from + i) % sizeof block];
    for (; n - i >= sizeof block; i += sizeof block)
        memcpy(to + i, block, sizeof block);
    memcpy(to + i, block, n - i);
}

/* A short extent becomes a constant, and one that has a small part of a piece to itself gets one of its size. */
static void shrink(struct plim_extent *extent)
{
    const size_t size = extent->end - extent->start;
    struct plim_piece *piece = extent->piece, *smaller = NULL;
    if (!piece)
        return;
    if (size <= PLIM_STORE_PATTERN_BYTES) {
        uint8_t pattern[PLIM_STORE_PATTERN_BYTES] = { 0 };
        for (uint64_t at = extent->start; at < extent->end; at++)
            pattern[at % sizeof pattern] = piece->bytes[at - extent->origin];
        memcpy(extent->pattern, pattern, sizeof pattern);
    } else {
        if (piece->n_users > 1 || piece->size < WORTH_SHRINKING || size > piece->size / 2)
            return;
        smaller = plim_piece_make(piece->bytes + (extent->start - extent->origin), size);
        if (!smaller)
            return;
        extent->origin = extent->start;
        plim_piece_hold(smaller);
    }
    extent->piece = smaller;
    plim_piece_release(piece);
}

/* --- the order of use --- */

static struct order *order_of(const struct plim_extent *extent) { return extent->piece ? &stored : &constants; }

static void unlist(struct plim_extent *extent)
{
    struct order *order = order_of(extent);
    *(extent->older ? &extents[extent->older].newer : &order->oldest) = extent->newer;
    *(extent->newer ? &extents[extent->newer].older : &order->newest) = extent->older;
}

static void list_as_newest(struct plim_extent *extent)
{
    const uint32_t i = (uint32_t)(extent - extents);
    struct order *order = order_of(extent);
    extent->used = ++now;
    extent->older = order->newest;
    extent->newer = NONE;
    *(order->newest ? &extents[order->newest].newer : &order->oldest) = i;
    order->newest = i;
}

/* One of the last quarter is not moved: the order need not be exact. */
void plim_store_touch(struct plim_extent *extent)
{
    if (now - extent->used <= n_extents / 4)
        return;
    unlist(extent);
    list_as_newest(extent);
}

/* --- the tree --- */

/* The number of an extent never changes while it is in the tree, so that it can give the priority. */
static uint32_t priority(uint32_t i)
{
    i = (i ^ i >> 16) * 0x7feb352du;
    i = (i ^ i >> 15) * 0x846ca68bu;
    return i ^ i >> 16;
}

static void tree_insert(uint32_t i)
{
    const uint64_t key = nodes[i].start = extents[i].start;
    uint32_t *link = &root;
    while (*link && priority(*link) >= priority(i))
        link = key < nodes[*link].start ? &nodes[*link].left : &nodes[*link].right;
    uint32_t part = *link, *less = &nodes[i].left, *more = &nodes[i].right;
    while (part) {
        uint32_t **side = nodes[part].start < key ? &less : &more;
        **side = part;
        *side = side == &less ? &nodes[part].right : &nodes[part].left;
        part = **side;
    }
    *less = *more = NONE;
    *link = i;
}

static void tree_remove(uint32_t i)
{
    const uint64_t key = nodes[i].start;
    uint32_t *link = &root, a = nodes[i].left, b = nodes[i].right;
    while (*link != i)
        link = key < nodes[*link].start ? &nodes[*link].left : &nodes[*link].right;
    while (a && b) {
        const bool is_a = priority(a) > priority(b);
        *link = is_a ? a : b;
        link = is_a ? &nodes[a].right : &nodes[b].left;
        *(is_a ? &a : &b) = *link;
    }
    *link = a ? a : b;
}

/* The last extent that starts at the address or before it. */
static uint32_t floor_of(uint64_t address)
{
    uint32_t found = NONE;
    if (last_found && extents[last_found].start <= address && address < extents[last_found].end)
        return last_found;
    for (uint32_t i = root; i;) {
        const bool is_before = nodes[i].start <= address;
        if (is_before)
            found = i;
        i = is_before ? nodes[i].right : nodes[i].left;
    }
    return last_found = found;
}

struct plim_extent *plim_store_at(uint64_t address)
{
    if (!extents)
        return NULL;
    uint32_t i = floor_of(address);
    if (i == NONE || extents[i].end <= address)
        i = extents[i].after;
    return i != NONE ? &extents[i] : NULL;
}

struct plim_extent *plim_store_after(const struct plim_extent *extent)
{
    return extent->after != NONE ? &extents[extent->after] : NULL;
}

/* --- extents --- */

static void drop(struct plim_extent *extent)
{
    const uint32_t i = (uint32_t)(extent - extents);
    tree_remove(i);
    extents[extent->before].after = extent->after;
    extents[extent->after].before = extent->before;
    unlist(extent);
    count(extent, (unsigned)-1);
    plim_piece_release(extent->piece);
    if (last_found == i)
        last_found = NONE;
    extent->after = free_extent;
    free_extent = i;
    n_extents--;
}

static void add_behind(uint32_t before, const struct plim_extent *what)
{
    const uint32_t i = free_extent ? free_extent : ++n_fresh;
    struct plim_extent *extent = &extents[i];
    if (i == free_extent)
        free_extent = extent->after;
    *extent = *what;
    plim_piece_hold(extent->piece);
    extent->before = before;
    extent->after = extents[before].after;
    extents[extent->before].after = i;
    extents[extent->after].before = i;
    n_extents++;
    tree_insert(i);
    shrink(extent);
    list_as_newest(extent);
    count(extent, 1);
    last_found = i;
}

/* What a write makes of an extent. */
static void note_write(struct plim_extent *extent)
{
    extent->written = ++now;
    if (extent->known > PLIM_SHADOW_KEPT && plim_store_is_shared(extent->start, extent->end))
        extent->known = PLIM_SHADOW_KEPT;
}

void plim_store_add(const struct plim_extent *what)
{
    struct plim_extent extent = *what;
    note_write(&extent);
    add_behind(floor_of(what->start), &extent);
}

/* Without a visit to each. */
void plim_store_doubt_all(void) { doubted = ++now; }

enum plim_shadow_known plim_store_known(const struct plim_extent *extent)
{
    const enum plim_shadow_known known = (enum plim_shadow_known)extent->known;
    return known == PLIM_SHADOW_KNOWN && extent->written < doubted ? PLIM_SHADOW_KEPT : known;
}

/* To a part of itself, which stays in its place among the others. */
static void narrow(struct plim_extent *extent, uint64_t start, uint64_t end)
{
    const struct plim_extent old = *extent;
    const bool becomes_constant = extent->piece && end - start <= PLIM_STORE_PATTERN_BYTES;
    extent->start = nodes[extent - extents].start = start;
    extent->end = end;
    count(extent, 1); /* first: without the lock there is no moment at which nothing is known */
    count(&old, (unsigned)-1);
    if (becomes_constant)
        unlist(extent);
    shrink(extent);
    if (becomes_constant)
        list_as_newest(extent);
}

static void split(struct plim_extent *extent, uint64_t left_end, uint64_t right_start)
{
    struct plim_extent right = *extent;
    right.start = right_start;
    right.is_head = right.is_inner = false;
    add_behind((uint32_t)(extent - extents), &right);
    narrow(extent, extent->start, left_end);
}

void plim_store_cut(uint64_t address)
{
    struct plim_extent *extent = plim_store_at(address);
    if (extent && extent->start < address)
        split(extent, address, address);
}

bool plim_store_clear(uint64_t start, uint64_t end)
{
    struct plim_extent *extent = plim_store_at(start);
    const bool is_cut = extent && extent->start < start;
    while (extent && extent->start < end) {
        struct plim_extent *after = plim_store_after(extent);
        if (extent->start < start && extent->end > end) {
            split(extent, start, end);
        } else if (extent->start < start) {
            narrow(extent, extent->start, start);
        } else if (extent->end > end) {
            narrow(extent, end, extent->end);
            extent->is_head = extent->is_inner = false;
        } else {
            drop(extent);
        }
        extent = after;
    }
    return is_cut;
}

/* Whether the range has nothing but this one, from its start on. */
static bool has_alone(const struct plim_extent *extent, uint64_t start, uint64_t end)
{
    return extent && extent->start == start &&
           (extent->end == end || (extent->end < end && (!extent->after || extents[extent->after].start >= end)));
}

static bool is_aligned(const struct plim_extent *extent) { return extent->start % PLIM_STORE_BLOCK_BYTES == 0; }

static void replace(struct plim_extent *old, const struct plim_extent *new)
{
    const struct plim_extent was = *old;
    unlist(old);
    plim_piece_hold(new->piece);
    memcpy(old->pattern, new->pattern, sizeof old->pattern); /* or the origin */
    old->piece = new->piece;
    old->known = new->known;
    old->is_inner = was.is_inner && was.end == new->end;
    old->is_head = !old->is_inner && is_aligned(old);
    if (was.end != new->end) {
        old->end = new->end;
        count(old, 1);
        count(&was, (unsigned)-1);
    }
    note_write(old);
    plim_piece_release(was.piece);
    shrink(old);
    list_as_newest(old);
}

void plim_store_put(const struct plim_extent *what)
{
    struct plim_extent *old = plim_store_at(what->start), new = *what;
    if (has_alone(old, what->start, what->end)) { /* as most writes: in place */
        replace(old, what);
        return;
    }
    new.is_inner = plim_store_clear(new.start, new.end);
    new.is_head = !new.is_inner &&is_aligned(&new);
    plim_store_add(&new);
}

/* --- room --- */

static bool has_memory(void)
{
    enum { BYTES = N_PLACES * (sizeof *extents + sizeof *nodes) };
    if (!extents) {
        void *start = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (start == MAP_FAILED)
            return false;
        nodes = start;
        extents = (struct plim_extent *)(void *)(nodes + N_PLACES);
    }
    return true;
}

static uint32_t least_used(void)
{
    const uint32_t a = constants.oldest, b = stored.oldest;
    return !a ? b : !b ? a : extents[a].used < extents[b].used ? a : b;
}

bool plim_store_make_room(size_t more_extents, size_t more_bytes)
{
    if (!has_memory() || more_extents > PLIM_STORE_MAX_EXTENTS || more_bytes > PLIM_SHADOW_STORE_BYTES)
        return false;
    while (n_extents + more_extents > PLIM_STORE_MAX_EXTENTS || n_bytes + more_bytes > PLIM_SHADOW_STORE_BYTES) {
        const bool is_short_of_bytes = n_bytes + more_bytes > PLIM_SHADOW_STORE_BYTES;
        const uint32_t i = is_short_of_bytes ? stored.oldest : least_used();
        if (i == NONE)
            return false; /* the bytes are those of a move that is under way */
        drop(&extents[i]);
        atomic_fetch_add_explicit(&n_evicted, 1, memory_order_relaxed);
    }
    return true;
}

uint64_t plim_store_n_evicted(void) { return atomic_load_explicit(&n_evicted, memory_order_relaxed); }
