/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_BASE_MEM_H
#define PLIMSOLL_BASE_MEM_H

/*
 * Allocation. Everything the library allocates passes through plim_alloc(), so that a test can let the n-th call fail.
 * An arena holds many small pieces with one lifetime and a ceiling; nothing in it is freed by itself.
 */

#include <stdbool.h>
#include <stddef.h>

/* Zeroed memory of count * size bytes, or NULL (also on overflow). Freed with plim_free(). */
void *plim_alloc(size_t count, size_t size);

/* The same, not zeroed: for large arrays that are written before they are read, of which most is never touched. */
void *plim_alloc_unset(size_t count, size_t size);

/* Resize an array to count * size bytes; the new part is not zeroed. On failure the old array stays. */
void *plim_realloc(void *pointer, size_t count, size_t size);

void plim_free(void *pointer);

/* For tests: let the call after n more successful ones fail, once; a negative n switches this off. */
void plim_alloc_fail_after(long n);

struct plim_arena {
    struct plim_arena_chunk *chunk;
    size_t used, size; /* of the current chunk */
    size_t total_bytes, max_bytes;
    bool is_full; /* something did not fit below the ceiling: then a failure is not for want of memory */
};

/* An empty arena that will not hold more than max_bytes. */
void plim_arena_init(struct plim_arena *arena, size_t max_bytes);

/* Zeroed memory of count * size bytes aligned for any type, or NULL when the arena is full. */
void *plim_arena_alloc(struct plim_arena *arena, size_t count, size_t size);

/* A NUL-terminated copy of length bytes, or NULL. */
char *plim_arena_copy(struct plim_arena *arena, const char *text, size_t length);

void plim_arena_done(struct plim_arena *arena);

#endif
