/* SPDX-License-Identifier: MIT */
#include "vgpu/values/zeros.h"

#include <stdint.h>
#include <string.h>

enum {
    PAGE_BYTES = 4096, /* the least that a system has; a larger page is looked at in parts */
    FEW_BYTES = 16384, /* what is shorter than a few pages is written at once */
};

bool plim_zeros_are(const void *bytes, size_t size)
{
    static const char zero[16];
    const char *at = bytes;
    const size_t head = size < sizeof zero ? size : sizeof zero;
    return memcmp(at, zero, head) == 0 && memcmp(at, at + head, size - head) == 0;
}

size_t plim_zeros_prefix(const void *bytes, size_t size, size_t step)
{
    const char *at = bytes;
    size_t n = 0;
    while (n < size && plim_zeros_are(at + n, size - n < step ? size - n : step))
        n += size - n < step ? size - n : step;
    return n;
}

/* A read of a page that was never touched maps the kernel's page of zeros. */
void plim_zeros_put(void *to, size_t size)
{
    char *at = to, *const end = at + size;
    if (size < FEW_BYTES) {
        memset(to, 0, size);
        return;
    }
    while (at < end) {
        const size_t rest = (size_t)(end - at), page = PAGE_BYTES - (uintptr_t)at % PAGE_BYTES;
        const size_t n = page < rest ? page : rest;
        if (!plim_zeros_are(at, n))
            memset(at, 0, n);
        at += n;
    }
}
