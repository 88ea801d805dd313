/* SPDX-License-Identifier: MIT */
/* How much memory the objects of a snapshot may take: so much for each byte that was read. */
#include "trace/read/objects.h"

#include "base/limits.h"
#include "base/mem.h"

bool plim_trace_may_take(struct plim_trace_objects *objects, uint64_t bytes)
{
    const uint64_t most = PLIM_MAX_TRACE_LEAST_BYTES + PLIM_MAX_TRACE_FACTOR * *objects->read_at;
    objects->is_too_big |= objects->bytes > most || bytes > most - objects->bytes;
    objects->bytes += objects->is_too_big ? 0 : bytes;
    return !objects->is_too_big;
}

void *plim_trace_grow(struct plim_trace_objects *objects, void *array, size_t n, size_t *room, size_t size)
{
    if (n < *room)
        return array;
    const size_t wanted = *room ? *room + *room / 2 + 1 : 16;
    objects->is_too_big |= wanted > PLIM_PICKLE_MAX_ROWS;
    const bool may_grow = !objects->is_too_big && plim_trace_may_take(objects, (uint64_t)(wanted - *room) * size);
    void *grown = may_grow ? plim_realloc(array, wanted, size) : NULL;
    if (grown)
        *room = wanted;
    return grown;
}

bool plim_trace_grow_into(struct plim_trace_objects *objects, void **array, size_t n, size_t *room, size_t size)
{
    void *grown = plim_trace_grow(objects, *array, n, room, size);
    if (grown)
        *array = grown;
    return grown != NULL;
}
