/* SPDX-License-Identifier: MIT */
/*
 * Expandable segments: a range of addresses as large as the card and an eighth, into which pages are mapped as they are
 * needed: 2 MiB each for small blocks, the size of a large segment for large ones.
 */
#include "engine/torch/allocator_state.h"

#include "base/mem.h"

/* Without a card's size: 1 TiB of addresses. Ranges lie above all segments from cudaMalloc, as far apart as they are.
 */
static const uint64_t unknown_card_bytes = (uint64_t)1 << 40, ranges_begin = (uint64_t)1 << 56;

static uint32_t new_range(struct plim_torch_allocator *a, uint64_t address, uint64_t bytes, uint64_t page_bytes)
{
    if (a->n_ranges == a->ranges_room) {
        const uint32_t room = 2 * a->ranges_room + 8;
        struct plim_torch_range *ranges = plim_realloc(a->ranges, room, sizeof *ranges);
        if (!ranges) {
            a->is_broken = true;
            return 0;
        }
        a->ranges = ranges;
        a->ranges_room = room;
    }
    a->n_ranges += a->n_ranges == 0; /* 0 is "no range" */
    a->ranges[a->n_ranges] = (struct plim_torch_range){ address, bytes, page_bytes };
    return a->n_ranges++;
}

static uint64_t page_bytes_of(const struct plim_torch_allocator *a, uint32_t heap)
{
    return a->heaps[heap].is_small ? PLIM_TORCH_SMALL_SEGMENT_BYTES : a->setup.settings.large_segment_bytes;
}

static uint64_t range_bytes(const struct plim_torch_allocator *a, uint64_t page_bytes)
{
    const uint64_t card_bytes = a->setup.card_bytes < unknown_card_bytes ? a->setup.card_bytes : unknown_card_bytes;
    return plim_align_up(card_bytes + card_bytes / 8, page_bytes);
}

static uint32_t reserve_range(struct plim_torch_allocator *a, uint32_t heap)
{
    const uint64_t page_bytes = page_bytes_of(a, heap), bytes = range_bytes(a, page_bytes);
    if (!a->next_range_address)
        a->next_range_address = ranges_begin;
    const uint32_t range = new_range(a, a->next_range_address, bytes, page_bytes);
    const uint32_t block = range ? plim_torch_block_new(a, heap, range, a->next_range_address, bytes) : 0;
    a->next_range_address += bytes;
    if (block)
        plim_torch_block_put(a, block, PLIM_TORCH_UNMAPPED);
    return block;
}

static bool is_usable(const struct plim_torch_block *block)
{
    return block->use == PLIM_TORCH_FREE_BLOCK || block->use == PLIM_TORCH_UNMAPPED;
}

static bool has_room(struct plim_torch_allocator *a, uint32_t block, uint64_t bytes)
{
    uint64_t sum = 0;
    for (; block && sum < bytes && is_usable(plim_torch_block(a, block)); block = plim_torch_block(a, block)->next)
        sum += plim_torch_block(a, block)->bytes;
    return sum >= bytes;
}

/* The lowest place with room for `bytes`: an unmapped block, or the free block in front of it. */
static uint32_t find_room(struct plim_torch_allocator *a, uint32_t heap, uint64_t bytes)
{
    const struct plim_free_set *set = &a->heaps[heap].unmapped;
    for (uint32_t at = plim_free_set_from(set, a->blocks, 0, 0); at; at = plim_free_set_next(set, a->blocks, at)) {
        uint32_t block = at;
        const uint32_t prev = plim_torch_block(a, block)->prev;
        if (prev && is_usable(plim_torch_block(a, prev)))
            block = prev;
        if (has_room(a, block, bytes))
            return block;
    }
    return reserve_range(a, heap);
}

/* Map the pages that `bytes` of an unmapped block need, all or none; then the block is free and merged. */
static bool map(struct plim_torch_allocator *a, uint32_t block, uint64_t bytes)
{
    struct plim_torch_block *b = plim_torch_block(a, block);
    const uint64_t address = b->address;
    const uint32_t range = b->range;
    const uint64_t mapped = plim_align_up(bytes, a->ranges[b->range].page_bytes);
    if (mapped > a->setup.capacity_bytes || a->result.reserved_bytes > a->setup.capacity_bytes - mapped)
        return false;
    plim_torch_block_pull(a, block);
    if (mapped < b->bytes) {
        const uint32_t rest = plim_torch_block_new(a, b->heap, b->range, address + mapped, b->bytes - mapped);
        if (!rest) {
            plim_torch_block_put(a, block, PLIM_TORCH_UNMAPPED);
            return false;
        }
        b = plim_torch_block(a, block);
        plim_torch_block_link(a, block, rest);
        plim_torch_block_put(a, rest, PLIM_TORCH_UNMAPPED);
        b->bytes = mapped;
    }
    plim_torch_block_merge(a, block, PLIM_TORCH_FREE_BLOCK);
    plim_torch_block_put(a, block, PLIM_TORCH_FREE_BLOCK);
    plim_torch_reserve(a, block, PLIM_TORCH_MAP, address, mapped);
    const uint64_t used = address + mapped - a->ranges[range].address;
    a->result.range_peak_bytes = used > a->result.range_peak_bytes ? used : a->result.range_peak_bytes;
    return true;
}

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

uint32_t plim_torch_expand(struct plim_torch_allocator *a, uint32_t heap, uint64_t bytes)
{
    uint32_t block = find_room(a, heap, bytes);
    if (!block)
        return 0;
    if (plim_torch_block(a, block)->use == PLIM_TORCH_UNMAPPED &&
        !map(a, block, least(plim_torch_block(a, block)->bytes, bytes)))
        return 0;
    /* Free, and behind it unmapped: what is mapped merges with what is in front. */
    while (plim_torch_block(a, block)->bytes < bytes) {
        const uint64_t missing = bytes - plim_torch_block(a, block)->bytes;
        const uint32_t next = plim_torch_block(a, block)->next;
        if (!next || plim_torch_block(a, next)->use != PLIM_TORCH_UNMAPPED ||
            !map(a, next, least(missing, plim_torch_block(a, next)->bytes)))
            return 0; /* what was mapped stays, as a free block */
        block = next;
    }
    plim_torch_block_pull(a, block);
    return block;
}

/* Cut `bytes` off the front of a free block that is in no set; returns the part behind. */
static uint32_t cut(struct plim_torch_allocator *a, uint32_t block, uint64_t bytes)
{
    const struct plim_torch_block b = *plim_torch_block(a, block);
    const uint32_t rest = plim_torch_block_new(a, b.heap, b.range, b.address + bytes, b.bytes - bytes);
    if (!rest)
        return 0;
    plim_torch_block(a, block)->bytes = bytes;
    plim_torch_block_link(a, block, rest);
    return rest;
}

void plim_torch_unmap(struct plim_torch_allocator *a, uint32_t block)
{
    const struct plim_torch_block b = *plim_torch_block(a, block);
    const struct plim_torch_range range = a->ranges[b.range];
    const uint64_t begin = range.address + plim_align_up(b.address - range.address, range.page_bytes);
    const uint64_t end = b.address + b.bytes - (b.address + b.bytes - range.address) % range.page_bytes;
    if (begin >= end)
        return;
    plim_torch_block_pull(a, block);
    if (end < b.address + b.bytes) {
        const uint32_t behind = cut(a, block, end - b.address);
        if (behind)
            plim_torch_block_put(a, behind, PLIM_TORCH_FREE_BLOCK);
    }
    if (b.address < begin) {
        const uint32_t pages = cut(a, block, begin - b.address);
        plim_torch_block_put(a, block, PLIM_TORCH_FREE_BLOCK);
        block = pages;
    }
    if (!block)
        return;
    plim_torch_block_merge(a, block, PLIM_TORCH_UNMAPPED);
    plim_torch_block_put(a, block, PLIM_TORCH_UNMAPPED);
    plim_torch_reserve(a, block, PLIM_TORCH_UNMAP, begin, end - begin);
    if (!plim_torch_is_split(plim_torch_block(a, block))) {
        plim_torch_block_pull(a, block);
        plim_torch_block_drop(a, block);
    }
}

/* The unmapped block of the heap that holds all of a range of addresses. */
static uint32_t unmapped_around(struct plim_torch_allocator *a, uint32_t heap, uint64_t address, uint64_t bytes)
{
    const struct plim_free_set *set = &a->heaps[heap].unmapped;
    const uint32_t behind = plim_free_set_from(set, a->blocks, 0, address + 1);
    const uint32_t block = plim_free_set_back(set, a->blocks, behind);
    const struct plim_torch_block *b = plim_torch_block(a, block);
    return block && address - b->address < b->bytes && bytes <= b->bytes - (address - b->address) ? block : 0;
}

uint32_t plim_torch_range_at(struct plim_torch_allocator *a, uint32_t heap, uint64_t address, uint64_t bytes)
{
    const uint64_t page_bytes = page_bytes_of(a, heap);
    const uint64_t needed = plim_align_up(bytes, page_bytes), whole = range_bytes(a, page_bytes);
    uint32_t block = unmapped_around(a, heap, address, needed);
    if (!block) {
        const uint64_t size = whole > needed ? whole : needed;
        const uint32_t range = new_range(a, address, size, page_bytes);
        return range ? plim_torch_block_new(a, heap, range, address, size) : 0;
    }
    const uint64_t before = address - plim_torch_block(a, block)->address;
    plim_torch_block_pull(a, block);
    if (!before)
        return block;
    const uint32_t rest = cut(a, block, before);
    plim_torch_block_put(a, block, PLIM_TORCH_UNMAPPED);
    return rest;
}
