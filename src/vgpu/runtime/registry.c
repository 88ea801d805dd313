/* SPDX-License-Identifier: MIT */
/* A table by address that doubles before it is full. Programs register tens of thousands of kernels when they start. */
#include "vgpu/runtime/registry.h"

#include <stdlib.h>

static struct plim_registered **table;
static size_t n_slots, n_used;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static size_t slot_of(struct plim_registered *const *slots, size_t n, const void *host)
{
    size_t i = ((uintptr_t)host >> 4) * 0x9e3779b97f4a7c15u >> 20 & (n - 1);
    while (slots[i] && slots[i]->host != host)
        i = (i + 1) & (n - 1);
    return i;
}

static bool grow(void)
{
    const size_t n = n_slots ? 2 * n_slots : 1024;
    struct plim_registered **slots = calloc(n, sizeof *slots);
    if (!slots)
        return false;
    for (size_t i = 0; i < n_slots; i++)
        if (table[i])
            slots[slot_of(slots, n, table[i]->host)] = table[i];
    free(table);
    table = slots;
    n_slots = n;
    return true;
}

/*
 * Entries are never freed: another thread may still read one while a library replaces it. They are allocated in blocks:
 * a library has thousands.
 */
static struct plim_registered *new_entry(void)
{
    enum { BATCH = 512 };
    static struct plim_registered *batch;
    static size_t n_left;
    if (!n_left && (batch = calloc(BATCH, sizeof *batch)))
        n_left = BATCH;
    return n_left ? &batch[--n_left] : NULL;
}

void plim_registry_add(struct plim_fat *fat, const void *host, const char *name, uint64_t size,
                       enum plim_registry_kind kind)
{
    pthread_rwlock_wrlock(&lock);
    struct plim_registered *entry = host && (n_used < n_slots / 2 || grow()) ? new_entry() : NULL;
    struct plim_placed *placed = entry && kind == PLIM_REGISTRY_VARIABLE ? calloc(1, sizeof *placed) : NULL;
    if (entry && (placed || kind != PLIM_REGISTRY_VARIABLE)) {
        const size_t i = slot_of(table, n_slots, host);
        if (placed)
            pthread_mutex_init(&placed->lock, NULL);
        n_used += table[i] == NULL;
        entry->host = host;
        entry->name = name;
        entry->size = size;
        entry->fat = fat;
        entry->placed = placed;
        entry->kind = kind;
        table[i] = entry;
    }
    pthread_rwlock_unlock(&lock);
}

struct plim_registered *plim_registry_find(const void *host, enum plim_registry_kind kind)
{
    struct plim_registered *found = NULL;
    pthread_rwlock_rdlock(&lock);
    if (n_slots && host) {
        found = table[slot_of(table, n_slots, host)];
        if (found && found->kind != kind)
            found = NULL;
    }
    pthread_rwlock_unlock(&lock);
    return found;
}
