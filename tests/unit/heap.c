/* SPDX-License-Identifier: MIT */
#include "heap.h"

#include <malloc.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *pointer, size_t size);
void __real_free(void *pointer);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *pointer, size_t size);
void __wrap_free(void *pointer);

static size_t live_bytes, live_blocks, peak_bytes;

size_t heap_live_bytes(void) { return live_bytes; }
size_t heap_live_blocks(void) { return live_blocks; }
size_t heap_peak_bytes(void) { return peak_bytes; }
void heap_start(void) { peak_bytes = live_bytes; }

static void *count(void *pointer)
{
    if (pointer) {
        live_bytes += malloc_usable_size(pointer);
        live_blocks++;
        peak_bytes = live_bytes > peak_bytes ? live_bytes : peak_bytes;
    }
    return pointer;
}

static void uncount(void *pointer)
{
    if (pointer) {
        live_bytes -= malloc_usable_size(pointer);
        live_blocks--;
    }
}

void *__wrap_malloc(size_t size) { return count(__real_malloc(size)); }
void *__wrap_calloc(size_t n, size_t size) { return count(__real_calloc(n, size)); }

void *__wrap_realloc(void *pointer, size_t size)
{
    uncount(pointer);
    void *moved = __real_realloc(pointer, size);
    count(moved ? moved : pointer);
    return moved;
}

void __wrap_free(void *pointer)
{
    uncount(pointer);
    __real_free(pointer);
}
