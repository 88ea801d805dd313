/* SPDX-License-Identifier: MIT */
#include "engine/torch/allocator_state.h"

#include "base/mem.h"

enum { FIRST_BLOCKS = 256 };

/* --- opening --- */

static int check_setup(const struct plim_torch_setup *setup, struct plim_error *reterr)
{
    const uint64_t n_heaps = (uint64_t)setup->n_streams * setup->n_pools;
    if (n_heaps == 0 || n_heaps > PLIM_TORCH_MAX_HEAPS)
        return plim_fail(reterr, PLIM_E_TOO_BIG, 0, "%u streams and %u memory pools are more than a replay holds",
                         setup->n_streams, setup->n_pools);
    return 0;
}

static uint64_t limit_of(const struct plim_torch_setup *setup)
{
    const double fraction = setup->settings.fraction;
    if (!(fraction > 0) || fraction >= 1 || setup->card_bytes == UINT64_MAX)
        return UINT64_MAX;
    return (uint64_t)(fraction * (double)setup->card_bytes);
}

static void name_heaps(struct plim_torch_allocator *a)
{
    for (uint16_t pool = 0; pool < a->setup.n_pools; pool++)
        for (uint16_t stream = 0; stream < a->setup.n_streams; stream++)
            for (int is_small = 0; is_small < 2; is_small++) {
                struct plim_torch_heap *heap = plim_torch_heap(a, pool, is_small, stream);
                heap->stream = stream;
                heap->pool = pool;
                heap->is_small = is_small;
                heap->unmapped.is_by_address = true;
            }
}

int plim_torch_allocator_open(const struct plim_torch_setup *setup, struct plim_torch_allocator **ret_allocator,
                              struct plim_error *reterr)
{
    const int result = check_setup(setup, reterr);
    if (result < 0)
        return result;
    struct plim_torch_allocator *a = plim_alloc(1, sizeof *a);
    if (!a)
        return plim_fail(reterr, PLIM_E_NOMEM, 0, "out of memory");
    a->setup = *setup;
    if (!a->setup.card_bytes)
        a->setup.card_bytes = a->setup.capacity_bytes;
    a->limit_bytes = limit_of(&a->setup);
    a->result.oom_at = SIZE_MAX;
    a->next_address = PLIM_TORCH_SEGMENT_STEP_BYTES;
    a->room = FIRST_BLOCKS;
    a->n_blocks = 1;
    a->blocks = plim_alloc(a->room, sizeof *a->blocks);
    a->heaps = plim_alloc((size_t)setup->n_streams * setup->n_pools * 2, sizeof *a->heaps);
    a->n_searches = plim_alloc((size_t)setup->n_pools * 2, sizeof *a->n_searches);
    a->is_released = plim_alloc(setup->n_pools, sizeof *a->is_released);
    a->held = plim_alloc((size_t)setup->n_ids + 1, sizeof *a->held);
    if (!a->blocks || !a->heaps || !a->n_searches || !a->is_released || !a->held) {
        plim_torch_allocator_free(a);
        return plim_fail(reterr, PLIM_E_NOMEM, 0, "out of memory");
    }
    name_heaps(a);
    *ret_allocator = a;
    return 0;
}

void plim_torch_allocator_free(struct plim_torch_allocator *a)
{
    if (!a)
        return;
    for (size_t i = 0; a->heaps && i < (size_t)a->setup.n_streams * a->setup.n_pools * 2; i++) {
        plim_free_set_done(&a->heaps[i].free);
        plim_free_set_done(&a->heaps[i].unmapped);
    }
    plim_free(a->blocks);
    plim_free(a->heaps);
    plim_free(a->n_searches);
    plim_free(a->is_released);
    plim_free(a->ranges);
    plim_free(a->held);
    plim_free(a);
}

const struct plim_torch_result *plim_torch_allocator_result(const struct plim_torch_allocator *allocator)
{
    return &allocator->result;
}

void plim_torch_allocator_forget_peaks(struct plim_torch_allocator *a)
{
    struct plim_torch_result *r = &a->result;
    r->allocated_peak_bytes = r->allocated_bytes;
    r->reserved_peak_bytes = r->reserved_bytes;
    r->requested_peak_bytes = r->requested_bytes;
    r->inactive_split_peak_bytes = r->inactive_split_bytes;
    r->allocated_peak_at = r->reserved_peak_at = a->at;
}

/* --- taking --- */

/* An expandable block counts as large as it can become, so a block that is part of a full segment goes first. */
static uint64_t expanded_bytes(struct plim_torch_allocator *a, uint32_t block)
{
    const struct plim_torch_block *b = plim_torch_block(a, block);
    const struct plim_torch_block *next = plim_torch_block(a, b->next);
    return b->bytes + (b->next && next->use == PLIM_TORCH_UNMAPPED ? next->bytes : 0);
}

static uint32_t best_expandable(struct plim_torch_allocator *a, const struct plim_free_set *set, uint32_t at)
{
    uint32_t next = plim_free_set_next(set, a->blocks, at);
    while (plim_torch_block(a, at)->range && next && expanded_bytes(a, next) < expanded_bytes(a, at)) {
        at = next;
        next = plim_free_set_next(set, a->blocks, next);
    }
    return at;
}

/* The best fit among the free blocks, taken out of the set; 0 when there is none that may be used. */
static uint32_t find_free(struct plim_torch_allocator *a, uint32_t heap_number, uint64_t bytes)
{
    const struct plim_torch_settings *settings = &a->setup.settings;
    struct plim_torch_heap *heap = &a->heaps[heap_number];
    const struct plim_free_set *set = &heap->free;
    if (a->limit_bytes != UINT64_MAX && settings->gc_threshold > 0)
        a->n_searches[(size_t)heap->pool * 2 + heap->is_small]++;
    uint32_t block = plim_free_set_from(set, a->blocks, bytes, 0);
    if (plim_torch_block(a, block)->range) {
        if (settings->is_expandable)
            block = best_expandable(a, set, block);
        else
            while (plim_torch_block(a, block)->range)
                block = plim_free_set_next(set, a->blocks, block);
    }
    const uint64_t size = plim_torch_block(a, block)->bytes;
    if (!block || (bytes < settings->max_split_bytes ? size >= settings->max_split_bytes
                                                     : size >= bytes + settings->max_non_split_rounding_bytes))
        return 0;
    plim_torch_block_pull(a, block);
    return block;
}

/* A block from the driver: a new segment, or pages of an expandable one. The limit counts a segment in both cases. */
static uint32_t from_driver(struct plim_torch_allocator *a, uint32_t heap, uint64_t bytes)
{
    const uint64_t segment_bytes = plim_torch_segment_bytes(&a->setup.settings, bytes);
    if (a->limit_bytes != UINT64_MAX && a->result.reserved_bytes + segment_bytes > a->limit_bytes)
        return 0;
    return a->setup.settings.is_expandable ? plim_torch_expand(a, heap, bytes)
                                           : plim_torch_segment_new(a, heap, segment_bytes);
}

/* The steps of a request that finds no free block, each dearer than the one before. */
static uint32_t find_new(struct plim_torch_allocator *a, uint32_t heap, uint64_t bytes)
{
    if (a->limit_bytes != UINT64_MAX && a->setup.settings.gc_threshold > 0)
        plim_torch_collect_garbage(a);
    uint32_t block = from_driver(a, heap, bytes);
    a->result.n_short += !block;
    if (!block && plim_torch_release_available(a, heap, bytes))
        block = from_driver(a, heap, bytes);
    const uint16_t pool = a->heaps[heap].pool;
    if (!block && (pool == 0 || (a->setup.has_retries && a->setup.has_retries[pool]))) {
        plim_torch_release_all(a);
        a->result.n_retries++;
        block = from_driver(a, heap, bytes);
    }
    return block;
}

static bool is_to_split(const struct plim_torch_allocator *a, const struct plim_torch_heap *heap, uint64_t bytes,
                        uint64_t remaining)
{
    const struct plim_torch_settings *settings = &a->setup.settings;
    if (heap->is_small || settings->is_expandable)
        return remaining >= PLIM_TORCH_BLOCK_BYTES;
    return bytes < settings->max_split_bytes && remaining > PLIM_TORCH_SMALL_BYTES;
}

/* The front of a block that is in no set becomes id's; the rest, when it is worth it, a free block. */
static void hold(struct plim_torch_allocator *a, uint32_t block, uint32_t id, uint64_t bytes, uint64_t requested_bytes)
{
    struct plim_torch_block *b = plim_torch_block(a, block);
    if (is_to_split(a, &a->heaps[b->heap], bytes, b->bytes - bytes)) {
        const uint32_t rest = plim_torch_block_new(a, b->heap, b->range, b->address + bytes, b->bytes - bytes);
        b = plim_torch_block(a, block);
        if (rest) {
            plim_torch_block_link(a, block, rest);
            b->bytes = bytes;
            plim_torch_block_put(a, rest, PLIM_TORCH_FREE_BLOCK);
        }
    }
    b->use = PLIM_TORCH_HELD_BLOCK;
    b->requested_bytes = requested_bytes;
    a->held[id] = block;
    if (a->setup.block_bytes)
        a->setup.block_bytes[id] = b->bytes;
    a->result.allocated_bytes += b->bytes;
    a->result.requested_bytes += requested_bytes;
    plim_torch_note_peaks(a);
}

static void note_oom(struct plim_torch_allocator *a)
{
    struct plim_torch_result *result = &a->result;
    if (result->n_ooms++ > 0)
        return;
    result->oom_at = a->at;
    result->oom_reserved_bytes = result->reserved_bytes;
    result->oom_allocated_bytes = result->allocated_bytes;
}

static void take(struct plim_torch_allocator *a, const struct plim_torch_event *event)
{
    const uint64_t bytes = plim_torch_round(&a->setup.settings, event->bytes);
    const bool is_small = bytes <= PLIM_TORCH_SMALL_BYTES;
    const uint32_t heap = (uint32_t)(plim_torch_heap(a, event->pool, is_small, event->stream) - a->heaps);
    uint32_t block = find_free(a, heap, bytes);
    if (!block)
        block = find_new(a, heap, bytes);
    if (block)
        hold(a, block, event->id, bytes, event->bytes);
    else
        note_oom(a);
}

/* --- giving back --- */

static void give(struct plim_torch_allocator *a, const struct plim_torch_event *event)
{
    const uint32_t block = a->held[event->id];
    if (!block)
        return;
    struct plim_torch_block *b = plim_torch_block(a, block);
    if (b->use == PLIM_TORCH_HELD_BLOCK)
        a->result.allocated_bytes -= b->bytes;
    else if (event->kind != PLIM_TORCH_GIVEN)
        return;
    if (event->kind == PLIM_TORCH_GIVE_LATER) {
        b->use = PLIM_TORCH_PENDING_BLOCK;
        a->n_pending++;
        return;
    }
    a->held[event->id] = 0;
    plim_torch_become_free(a, block);
}

/* --- events --- */

static bool makes_sense(const struct plim_torch_allocator *a, const struct plim_torch_event *event)
{
    switch (event->kind) {
    case PLIM_TORCH_TAKE:
        return event->id < a->setup.n_ids && !a->held[event->id] && event->stream < a->setup.n_streams &&
               event->pool < a->setup.n_pools && event->bytes <= INT64_MAX;
    case PLIM_TORCH_RELEASE_POOL:
    case PLIM_TORCH_EMPTY_POOL:
        return event->pool > 0 && event->pool < a->setup.n_pools;
    case PLIM_TORCH_EMPTY:
        return true;
    default:
        return event->id < a->setup.n_ids;
    }
}

static void run_event(struct plim_torch_allocator *a, const struct plim_torch_event *event)
{
    switch (event->kind) {
    case PLIM_TORCH_TAKE:
        take(a, event);
        break;
    case PLIM_TORCH_EMPTY:
        plim_torch_release_all(a);
        break;
    case PLIM_TORCH_RELEASE_POOL:
        a->is_released[event->pool] = true;
        break;
    case PLIM_TORCH_EMPTY_POOL:
        plim_torch_release_pool(a, event->pool);
        break;
    default:
        give(a, event);
        break;
    }
}

int plim_torch_allocator_run(struct plim_torch_allocator *a, const struct plim_torch_event *events, size_t n_events,
                             struct plim_error *reterr)
{
    for (size_t i = 0; i < n_events && !a->is_broken && !(a->setup.ends_at_oom && a->result.n_ooms); i++, a->at++)
        if (makes_sense(a, &events[i]))
            run_event(a, &events[i]);
    return a->is_broken ? plim_fail(reterr, PLIM_E_NOMEM, 0, "out of memory") : 0;
}

/* --- what was there before --- */

static uint32_t adopt_block(struct plim_torch_allocator *a, uint32_t block,
                            const struct plim_torch_block_before *before)
{
    struct plim_torch_block *b = plim_torch_block(a, block);
    b->requested_bytes = before->requested_bytes;
    if (before->id >= a->setup.n_ids) {
        plim_torch_block_put(a, block, PLIM_TORCH_FREE_BLOCK);
        return block;
    }
    b->use = before->is_pending ? PLIM_TORCH_PENDING_BLOCK : PLIM_TORCH_HELD_BLOCK;
    a->n_pending += before->is_pending;
    a->held[before->id] = block;
    a->result.requested_bytes += b->requested_bytes;
    a->result.allocated_bytes += before->is_pending ? 0 : b->bytes;
    return block;
}

int plim_torch_allocator_adopt(struct plim_torch_allocator *a, const struct plim_torch_segment_before *segment,
                               struct plim_error *reterr)
{
    const uint32_t heap = (uint32_t)(plim_torch_heap(a, segment->pool, segment->is_small, segment->stream) - a->heaps);
    uint64_t bytes = 0, address = segment->address;
    for (size_t i = 0; i < segment->n_blocks; i++)
        bytes += segment->blocks[i].bytes;
    uint32_t block = segment->is_expandable ? plim_torch_range_at(a, heap, address, bytes)
                                            : plim_torch_block_new(a, heap, 0, address, bytes);
    if (!block)
        return plim_fail(reterr, PLIM_E_NOMEM, 0, "out of memory");
    plim_torch_reserve(a, block, segment->is_expandable ? PLIM_TORCH_MAP : PLIM_TORCH_ALLOC, address, bytes);
    if (!segment->is_expandable && address + bytes > a->next_address)
        a->next_address = plim_align_up(address + bytes, PLIM_TORCH_SEGMENT_STEP_BYTES);
    for (size_t i = 0; i < segment->n_blocks; i++) {
        struct plim_torch_block *b = plim_torch_block(a, block);
        const uint64_t size = segment->blocks[i].bytes, rest_bytes = b->bytes - size;
        const uint32_t rest = rest_bytes ? plim_torch_block_new(a, heap, b->range, b->address + size, rest_bytes) : 0;
        if (rest_bytes && !rest)
            return plim_fail(reterr, PLIM_E_NOMEM, 0, "out of memory");
        if (rest) {
            plim_torch_block(a, block)->bytes = size;
            plim_torch_block_link(a, block, rest);
        }
        adopt_block(a, block, &segment->blocks[i]);
        block = rest;
    }
    if (block) /* the addresses behind a mapped range */
        plim_torch_block_put(a, block, PLIM_TORCH_UNMAPPED);
    plim_torch_note_peaks(a);
    return a->is_broken ? plim_fail(reterr, PLIM_E_NOMEM, 0, "out of memory") : 0;
}
