/* SPDX-License-Identifier: MIT */
/*
 * The size of a parameter is not known here: CUDA has it from the code of the kernel. So what is behind each pointer is
 * copied, up to the most that a kernel takes, or to the end of readable memory. The parameters of a launch are side by
 * side in the frame of a function: overlapping ranges are copied once.
 */
#include "vgpu/kernels/snapshot.h"

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PAGE = 4096, MAX_PARAMETERS = 64 };

struct plim_snapshot {
    const struct plim_meaning *kernel;
    unsigned grid[3], block[3], n;
    void *parameters[MAX_PARAMETERS];
    uint8_t *bytes;
};

struct range {
    uintptr_t start, end;
    size_t at; /* in the copy */
};

static int by_start(const void *a, const void *b)
{
    const struct range *left = a, *right = b;
    return (left->start > right->start) - (left->start < right->start);
}

/* Overlapping ranges become one; the number of those that are left. */
static unsigned join(struct range *ranges, unsigned n)
{
    unsigned n_joined = 0;
    qsort(ranges, n, sizeof *ranges, by_start);
    for (unsigned i = 0; i < n; i++) {
        struct range *last = n_joined ? &ranges[n_joined - 1] : NULL;
        if (last && ranges[i].start <= last->end)
            last->end = ranges[i].end > last->end ? ranges[i].end : last->end;
        else
            ranges[n_joined++] = ranges[i];
    }
    return n_joined;
}

/* Page by page, up to the first that cannot be read: the system does not split a page. */
static bool read_range(const struct range *range, uint8_t *to)
{
    for (uintptr_t at = range->start, end; at < range->end; at = end) {
        end = (at / PAGE + 1) * PAGE;
        end = end < range->end ? end : range->end;
        const struct iovec here = { to + (at - range->start), end - at }, there = { (void *)at, end - at };
        if (process_vm_readv(getpid(), &here, 1, &there, 1, 0) != (ssize_t)(end - at))
            return at > range->start;
    }
    return true;
}

static bool copy(struct plim_snapshot *snapshot, void **parameters, size_t most_bytes)
{
    struct range ranges[MAX_PARAMETERS];
    size_t size = 0;
    for (unsigned i = 0; i < snapshot->n; i++)
        ranges[i] = (struct range){ (uintptr_t)parameters[i], (uintptr_t)parameters[i] + most_bytes, 0 };
    const unsigned n = join(ranges, snapshot->n);
    for (unsigned i = 0; i < n; i++) {
        ranges[i].at = size;
        size += (ranges[i].end - ranges[i].start + 15) / 16 * 16 + ranges[i].start % 16;
    }
    bool is_right = (snapshot->bytes = calloc(1, size + 1)) != NULL;
    for (unsigned i = 0; i < n && is_right; i++) {
        ranges[i].at += ranges[i].start % 16; /* the alignment stays */
        is_right = read_range(&ranges[i], snapshot->bytes + ranges[i].at);
    }
    for (unsigned i = 0; i < snapshot->n && is_right; i++)
        for (unsigned k = 0; k < n; k++)
            if (ranges[k].start <= (uintptr_t)parameters[i] && (uintptr_t)parameters[i] < ranges[k].end)
                snapshot->parameters[i] = snapshot->bytes + ranges[k].at + ((uintptr_t)parameters[i] - ranges[k].start);
    return is_right;
}

struct plim_snapshot *plim_snapshot_make(const struct plim_meaning *kernel, void **parameters, const unsigned grid[3],
                                         const unsigned block[3])
{
    struct plim_snapshot *snapshot = calloc(1, sizeof *snapshot);
    const int n = kernel && parameters ? plim_meaning_n_parameters(kernel) : -1;
    if (!snapshot)
        return NULL;
    memcpy(snapshot->grid, grid, sizeof snapshot->grid);
    memcpy(snapshot->block, block, sizeof snapshot->block);
    snapshot->n = n > 0 && n <= MAX_PARAMETERS ? (unsigned)n : 0;
    if (n >= 0 && n <= MAX_PARAMETERS && copy(snapshot, parameters, plim_meaning_parameter_bytes(kernel)))
        snapshot->kernel = kernel;
    return snapshot;
}

void plim_snapshot_apply(const struct plim_snapshot *snapshot)
{
    void *parameters[MAX_PARAMETERS];
    memcpy(parameters, snapshot->parameters, sizeof parameters);
    if (snapshot->kernel)
        plim_meaning_apply(snapshot->kernel, parameters, snapshot->grid, snapshot->block);
    else
        plim_shadow_forget(NULL, SIZE_MAX);
}

void plim_snapshot_free(struct plim_snapshot *snapshot)
{
    if (snapshot)
        free(snapshot->bytes);
    free(snapshot);
}
