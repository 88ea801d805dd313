/* SPDX-License-Identifier: MIT */
#include "base/mem.h"

#include <stdalign.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static atomic_long fail_countdown = -1;

void plim_alloc_fail_after(long n) { atomic_store(&fail_countdown, n); }

static int must_fail(void)
{
    long left = atomic_load_explicit(&fail_countdown, memory_order_relaxed);
    if (left < 0)
        return 0;
    return atomic_fetch_sub(&fail_countdown, 1) == 0;
}

void *plim_alloc(size_t count, size_t size) { return must_fail() ? NULL : calloc(count ? count : 1, size ? size : 1); }

void *plim_alloc_unset(size_t count, size_t size) { return plim_realloc(NULL, count, size); }

void *plim_realloc(void *pointer, size_t count, size_t size)
{
    if (must_fail() || (size && count > SIZE_MAX / size))
        return NULL;
    size_t bytes = count * size;
    return realloc(pointer, bytes ? bytes : 1);
}

void plim_free(void *pointer) { free(pointer); }

struct plim_arena_chunk {
    struct plim_arena_chunk *next;
    alignas(max_align_t) char bytes[];
};

enum { CHUNK_BYTES = 64 << 10 };

void plim_arena_init(struct plim_arena *arena, size_t max_bytes)
{
    *arena = (struct plim_arena){ .max_bytes = max_bytes };
}

void *plim_arena_alloc(struct plim_arena *arena, size_t count, size_t size)
{
    const size_t align = alignof(max_align_t);
    const bool overflows = size && count > (SIZE_MAX - align) / size;
    const size_t bytes = overflows ? SIZE_MAX : (count * size + align - 1) / align * align;
    if (bytes > arena->max_bytes - arena->total_bytes) {
        arena->is_full = true;
        return NULL;
    }
    if (bytes > arena->size - arena->used) {
        size_t chunk_bytes = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
        struct plim_arena_chunk *chunk = plim_alloc(1, sizeof *chunk + chunk_bytes);
        if (!chunk)
            return NULL;
        chunk->next = arena->chunk;
        arena->chunk = chunk;
        arena->used = 0;
        arena->size = chunk_bytes;
    }
    void *start = arena->chunk->bytes + arena->used;
    arena->used += bytes;
    arena->total_bytes += bytes;
    return start;
}

char *plim_arena_copy(struct plim_arena *arena, const char *text, size_t length)
{
    char *copy = plim_arena_alloc(arena, length + 1, 1);
    if (copy)
        memcpy(copy, text, length);
    return copy;
}

void plim_arena_done(struct plim_arena *arena)
{
    while (arena->chunk) {
        struct plim_arena_chunk *next = arena->chunk->next;
        plim_free(arena->chunk);
        arena->chunk = next;
    }
    *arena = (struct plim_arena){ .max_bytes = arena->max_bytes };
}
