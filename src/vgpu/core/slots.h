/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_CORE_SLOTS_H
#define PLIMSOLL_VGPU_CORE_SLOTS_H

/*
 * Handles. A handle is the address of a slot of one array that is never unmapped, so that a handle to a destroyed
 * object, to an object of another type or to nothing at all is recognised and never followed. The slot freed first is
 * reused first, and not before a number of others were freed: a stale handle stays invalid for as long as possible. A
 * slot keeps its type for ever: a thread that has just found a handle to be valid, and is late, meets an object of the
 * same type.
 *
 * The driver keeps its objects in such a table (objects.h), each math library has one of its own (libs/library.h). The
 * owner of a table locks it to take and to free a slot.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>

/* How a slot begins. */
struct plim_slot {
    _Atomic int type; /* 0: free */
    uint32_t next;    /* of a free slot: 1 + the number of the next one */
};

enum { PLIM_SLOT_TYPES = 16 };

struct plim_slots {
    char *_Atomic start; /* NULL until the first slot is taken */
    uint32_t n;
    struct {
        uint32_t first, last, n; /* first, last: 1 + a number */
    } free[PLIM_SLOT_TYPES];
};

/* Free slots of a type that are not reused yet: 3 MB of a program that destroys as many. */
enum { PLIM_SLOTS_REST = 1 << 14 };

static inline struct plim_slot *plim_slots_number(const struct plim_slots *slots, size_t slot_bytes, uint32_t number)
{
    return (struct plim_slot *)(void *)(atomic_load(&slots->start) + number * slot_bytes);
}

/*
 * A slot for an object of this type (1 to PLIM_SLOT_TYPES - 1), whose own type is 0 until the caller sets it and whose
 * rest is as its last owner left it or zero. NULL: there is no room.
 */
static inline struct plim_slot *plim_slots_take(struct plim_slots *slots, size_t slot_bytes, uint32_t n_max, int type)
{
    if (type <= 0 || type >= PLIM_SLOT_TYPES)
        return NULL;
    if (!atomic_load(&slots->start)) {
        void *start =
            mmap(NULL, n_max * slot_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (start == MAP_FAILED)
            return NULL;
        atomic_store(&slots->start, start);
    }
    if (slots->n < n_max && slots->free[type].n <= PLIM_SLOTS_REST)
        return plim_slots_number(slots, slot_bytes, slots->n++);
    if (!slots->free[type].first)
        return NULL;
    struct plim_slot *slot = plim_slots_number(slots, slot_bytes, slots->free[type].first - 1);
    slots->free[type].first = slot->next;
    slots->free[type].n--;
    if (!slots->free[type].first)
        slots->free[type].last = 0;
    slot->next = 0;
    return slot;
}

static inline void plim_slots_free(struct plim_slots *slots, size_t slot_bytes, struct plim_slot *slot)
{
    const uint32_t number = (uint32_t)((size_t)((char *)slot - atomic_load(&slots->start)) / slot_bytes) + 1;
    const int type = atomic_exchange(&slot->type, 0);
    if (!type)
        return;
    slot->next = 0;
    if (slots->free[type].last)
        plim_slots_number(slots, slot_bytes, slots->free[type].last - 1)->next = number;
    else
        slots->free[type].first = number;
    slots->free[type].last = number;
    slots->free[type].n++;
}

/* The slot of a handle, free or not; NULL: the handle is not the address of one. Without a lock. */
static inline struct plim_slot *plim_slots_at(const struct plim_slots *slots, size_t slot_bytes, uint32_t n_max,
                                              const void *handle)
{
    const uintptr_t first = (uintptr_t)atomic_load_explicit(&slots->start, memory_order_acquire);
    const uintptr_t at = (uintptr_t)handle;
    if (!first || at < first || at >= first + n_max * slot_bytes || (at - first) % slot_bytes)
        return NULL;
    return (struct plim_slot *)at;
}

/* The slot of a handle of this type, or NULL. */
static inline struct plim_slot *plim_slots_find(const struct plim_slots *slots, size_t slot_bytes, uint32_t n_max,
                                                const void *handle, int type)
{
    struct plim_slot *slot = plim_slots_at(slots, slot_bytes, n_max, handle);
    return slot && atomic_load_explicit(&slot->type, memory_order_acquire) == type ? slot : NULL;
}

#endif
