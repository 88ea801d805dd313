/* SPDX-License-Identifier: MIT */
/*
 * The ledger of the CUDA double: devices from the environment, allocations as PROT_NONE mappings in a table.
 * Shared by libcudart, libcublas and libcuda of the double, so it is a library of its own.
 */
#include "device.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { MAX_ALLOCATIONS = 1 << 16, MIB = 1 << 20 };

struct allocation {
    char *start;
    size_t size;
    int device;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct double_machine machine;
static struct allocation allocations[MAX_ALLOCATIONS];
static size_t n_allocations;

static void read_environment(void)
{
    const char *devices = getenv("PLIM_DOUBLE_DEVICES");
    const char *cc = getenv("PLIM_DOUBLE_CC");
    machine.cc_major = 8;
    machine.cc_minor = 9;
    if (cc)
        sscanf(cc, "%d.%d", &machine.cc_major, &machine.cc_minor);
    for (const char *p = devices ? devices : "81920"; *p && machine.n_devices < DOUBLE_MAX_DEVICES;) {
        struct double_device *device = &machine.device[machine.n_devices++];
        char *end;
        device->total_bytes = strtoull(p, &end, 10) * MIB;
        if (*end == ':') {
            uint64_t free_bytes = strtoull(end + 1, &end, 10) * MIB;
            device->taken_bytes = device->total_bytes - free_bytes;
        }
        p = *end == ',' ? end + 1 : "";
    }
}

struct double_machine *double_machine(void)
{
    pthread_once(&once, read_environment);
    return &machine;
}

void *double_alloc(int device, size_t size)
{
    struct double_device *card = &double_machine()->device[device];
    void *start = NULL;
    pthread_mutex_lock(&lock);
    if (n_allocations < MAX_ALLOCATIONS && size <= card->total_bytes - card->taken_bytes - card->used_bytes) {
        start = mmap(NULL, size ? size : 1, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (start == MAP_FAILED)
            start = NULL;
    }
    if (start) {
        allocations[n_allocations++] = (struct allocation){ start, size, device };
        card->used_bytes += size;
        if (card->used_bytes > card->peak_bytes)
            card->peak_bytes = card->used_bytes;
    }
    pthread_mutex_unlock(&lock);
    return start;
}

static struct allocation *find(const void *pointer)
{
    for (size_t i = 0; i < n_allocations; i++)
        if ((const char *)pointer >= allocations[i].start &&
            (const char *)pointer < allocations[i].start + allocations[i].size)
            return &allocations[i];
    return NULL;
}

bool double_free(void *pointer)
{
    pthread_mutex_lock(&lock);
    struct allocation *found = find(pointer);
    if (found) {
        double_machine()->device[found->device].used_bytes -= found->size;
        munmap(found->start, found->size ? found->size : 1);
        *found = allocations[--n_allocations];
    }
    pthread_mutex_unlock(&lock);
    return found != NULL;
}

bool double_is_device(const void *pointer)
{
    pthread_mutex_lock(&lock);
    bool is_device = find(pointer) != NULL;
    pthread_mutex_unlock(&lock);
    return is_device;
}
