/* SPDX-License-Identifier: MIT */
#include "engine/torch/allocator_state.h"

#include "base/mem.h"

struct parts {
    struct plim_torch_part *rows;
    size_t n, room;
};

static bool add(struct parts *parts, struct plim_torch_part part)
{
    if (parts->n == parts->room) {
        const size_t room = parts->room ? 2 * parts->room : 64;
        struct plim_torch_part *rows = plim_realloc(parts->rows, room, sizeof *rows);
        if (!rows)
            return false;
        parts->rows = rows;
        parts->room = room;
    }
    parts->rows[parts->n++] = part;
    return true;
}

/* All blocks of the segment that this one is in; `ids` of them are used up. */
static bool list(const struct plim_torch_allocator *a, uint32_t block, uint32_t *ids, struct parts *parts)
{
    while (a->blocks[block].prev)
        block = a->blocks[block].prev;
    parts->n = 0;
    for (bool is_good = true; block && is_good; block = a->blocks[block].next) {
        is_good = add(parts, (struct plim_torch_part){ a->blocks[block].bytes, ids[block] });
        ids[block] = UINT32_MAX;
        if (!is_good)
            return false;
    }
    return true;
}

bool plim_torch_allocator_parts(const struct plim_torch_allocator *a,
                                void (*visit)(void *visitor, const struct plim_torch_part *parts, size_t n_parts),
                                void *visitor)
{
    struct parts parts = { 0 };
    uint32_t *ids = plim_alloc_unset(a->n_blocks, sizeof *ids); /* by block */
    bool is_good = ids != NULL;
    for (uint32_t i = 0; is_good && i < a->n_blocks; i++)
        ids[i] = UINT32_MAX;
    for (uint32_t id = 0; is_good && id < a->setup.n_ids; id++)
        if (a->held[id])
            ids[a->held[id]] = id;
    for (uint32_t id = 0; is_good && id < a->setup.n_ids; id++) {
        const uint32_t block = a->held[id];
        if (!block || ids[block] != id || a->blocks[block].range)
            continue;
        is_good = list(a, block, ids, &parts);
        if (is_good)
            visit(visitor, parts.rows, parts.n);
    }
    plim_free(parts.rows);
    plim_free(ids);
    return is_good;
}
