/* SPDX-License-Identifier: MIT */
#include "vgpu/core/space.h"

#include <stdatomic.h>
#include <sys/mman.h>

static const uint64_t largest_bytes = (uint64_t)16 << 40, smallest_bytes = (uint64_t)64 << 30;

static struct {
    uint64_t base, n_slots, cursor;
    _Atomic plim_space_owner *owner; /* read without a lock */
} space;

static plim_space_owner owner_at(uint64_t slot)
{
    return atomic_load_explicit(&space.owner[slot], memory_order_relaxed);
}

static void own_slot(uint64_t slot, plim_space_owner owner)
{
    atomic_store_explicit(&space.owner[slot], owner, memory_order_relaxed);
}

static void *nothing(uint64_t size, int protection)
{
    void *start = mmap(NULL, size, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return start == MAP_FAILED ? NULL : start;
}

/* As large as a limit on address space (ulimit -v) allows. */
bool plim_space_init(void)
{
    if (space.base)
        return true;
    for (uint64_t size = largest_bytes; size >= smallest_bytes && !space.base; size /= 4) {
        space.base = (uint64_t)(uintptr_t)nothing(size, PROT_NONE);
        space.n_slots = size / PLIM_SPACE_SLOT_BYTES - 1; /* the first slot may be cut when base is aligned */
    }
    if (!space.base)
        return false;
    space.base = (space.base + PLIM_SPACE_SLOT_BYTES - 1) / PLIM_SPACE_SLOT_BYTES * PLIM_SPACE_SLOT_BYTES;
    space.owner = nothing(space.n_slots * sizeof *space.owner, PROT_READ | PROT_WRITE);
    if (!space.owner)
        space.base = 0;
    return space.base != 0;
}

static uint64_t slots_of(uint64_t size) { return size ? (size - 1) / PLIM_SPACE_SLOT_BYTES + 1 : 1; }

/* Next fit, so that a freed address is reused late: stale pointers are recognised. */
static uint64_t find(uint64_t n, uint64_t from, uint64_t to)
{
    uint64_t run = 0;
    for (uint64_t i = from; i < to; i++) {
        run = owner_at(i) ? 0 : run + 1;
        if (run == n)
            return i + 1 - n;
    }
    return UINT64_MAX;
}

uint64_t plim_space_take(uint64_t size, plim_space_owner owner)
{
    const uint64_t n = slots_of(size);
    if (!space.base || n > space.n_slots)
        return 0;
    uint64_t slot = find(n, space.cursor, space.n_slots);
    if (slot == UINT64_MAX)
        slot = find(n, 0, space.n_slots);
    if (slot == UINT64_MAX)
        return 0;
    for (uint64_t i = 0; i < n; i++)
        own_slot(slot + i, owner);
    space.cursor = slot + n;
    return space.base + slot * PLIM_SPACE_SLOT_BYTES;
}

bool plim_space_contains(uint64_t address)
{
    return space.base && address >= space.base && address - space.base < space.n_slots * PLIM_SPACE_SLOT_BYTES;
}

void plim_space_own(uint64_t address, uint64_t size, plim_space_owner owner)
{
    if (!plim_space_contains(address))
        return;
    const uint64_t slot = (address - space.base) / PLIM_SPACE_SLOT_BYTES, n = slots_of(size);
    for (uint64_t i = slot; i < slot + n && i < space.n_slots; i++)
        own_slot(i, owner);
}

plim_space_owner plim_space_owner_of(uint64_t address)
{
    return plim_space_contains(address) ? owner_at((address - space.base) / PLIM_SPACE_SLOT_BYTES) : 0;
}
