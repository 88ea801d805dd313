/* SPDX-License-Identifier: MIT */
/*
 * Pinned and managed memory is real memory of the host, but only touched pages take room: a rehearsal of a large model
 * must run on hosts that are too small for the model.
 */
#include "vgpu/driver/memory/host.h"

#include <stdlib.h>
#include <sys/mman.h>

struct region {
    char *start;
    uint64_t size;
    uint32_t record;
    enum plim_ledger_kind kind;
    bool is_registered; /* cuMemHostRegister: the program's own memory */
    struct region *next;
};

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static struct region *regions;
static uint64_t regions_bytes; /* at most PLIM_HOST_MOST_BYTES */

/* --- with the lock held --- */

static const struct region *region_at(const char *pointer)
{
    const struct region *r = regions;
    while (r && (pointer < r->start || pointer >= r->start + r->size))
        r = r->next;
    return r;
}

static bool overlaps_a_region(const char *start, uint64_t size)
{
    const struct region *r = regions;
    while (r && (start >= r->start + r->size || r->start >= start + size))
        r = r->next;
    return r != NULL;
}

static int list(struct region *region)
{
    if (region->size > PLIM_HOST_MOST_BYTES - regions_bytes)
        return PLIM_CUDA_OUT_OF_MEMORY;
    if (region->is_registered && overlaps_a_region(region->start, region->size))
        return PLIM_CUDA_HOST_ALREADY_REGISTERED;
    regions_bytes += region->size;
    region->next = regions;
    regions = region;
    return PLIM_CUDA_SUCCESS;
}

/* --- allocations and registrations --- */

static int add(void *start, uint64_t size, enum plim_ledger_kind kind, bool is_registered, uint32_t record)
{
    struct region *region = malloc(sizeof *region);
    if (!region)
        return PLIM_CUDA_OUT_OF_MEMORY;
    *region = (struct region){ start, size, record, kind, is_registered, NULL };
    int error;
    plim_ledger_place(plim_vgpu_ledger(&error), record, (uint64_t)(uintptr_t)start);
    pthread_rwlock_wrlock(&lock);
    error = list(region);
    pthread_rwlock_unlock(&lock);
    if (error)
        free(region);
    return error;
}

static int map(void **ret_pointer, uint64_t size, enum plim_ledger_kind kind, int device)
{
    uint32_t record;
    if (size == 0) {
        *ret_pointer = NULL;
        return kind == PLIM_KIND_MANAGED ? PLIM_CUDA_INVALID_VALUE : PLIM_CUDA_SUCCESS;
    }
    int error = size <= PLIM_HOST_MOST_BYTES ? plim_vgpu_charge(device, kind, size, &record) : PLIM_CUDA_OUT_OF_MEMORY;
    if (error)
        return error;
    void *start = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED || add(start, size, kind, false, record) != PLIM_CUDA_SUCCESS) {
        if (start != MAP_FAILED)
            munmap(start, size);
        plim_vgpu_uncharge(record);
        return PLIM_CUDA_OUT_OF_MEMORY;
    }
    *ret_pointer = start;
    return PLIM_CUDA_SUCCESS;
}

int plim_vgpu_host_alloc(void **ret_pointer, uint64_t size) { return map(ret_pointer, size, PLIM_KIND_PINNED, 0); }

static bool is_oversubscribed(const struct plim_ledger_card *card)
{
    int error;
    struct plim_ledger *ledger = plim_vgpu_ledger(&error);
    if (!ledger || !card)
        return false;
    plim_ledger_lock(ledger);
    const bool is_over = card->used_bytes + card->reserved_bytes + card->others_bytes > card->total_bytes;
    plim_ledger_unlock(ledger);
    return is_over;
}

int plim_vgpu_managed_alloc(void **ret_pointer, uint64_t size, int device)
{
    int error = map(ret_pointer, size, PLIM_KIND_MANAGED, device);
    if (!error && is_oversubscribed(plim_vgpu_card(device)))
        plim_vgpu_remark("oversubscribed", "managed memory exceeds the card");
    return error;
}

int plim_vgpu_host_register(void *pointer, uint64_t size)
{
    uint32_t record;
    if (!pointer || size == 0 || size > UINT64_MAX - (uint64_t)(uintptr_t)pointer)
        return PLIM_CUDA_INVALID_VALUE;
    if (plim_vgpu_host_kind(pointer) != PLIM_KIND_MAX_)
        return PLIM_CUDA_HOST_ALREADY_REGISTERED;
    int error =
        size <= PLIM_HOST_MOST_BYTES ? plim_vgpu_charge(0, PLIM_KIND_PINNED, size, &record) : PLIM_CUDA_OUT_OF_MEMORY;
    if (!error && (error = add(pointer, size, PLIM_KIND_PINNED, true, record)) != 0)
        plim_vgpu_uncharge(record);
    return error;
}

/* Remove the region that begins at pointer from the list. */
static struct region *take_out(const void *pointer, enum plim_ledger_kind kind, bool is_registered)
{
    pthread_rwlock_wrlock(&lock);
    struct region **link = &regions;
    while (*link && ((*link)->start != pointer || (*link)->kind != kind || (*link)->is_registered != is_registered))
        link = &(*link)->next;
    struct region *found = *link;
    if (found) {
        *link = found->next;
        regions_bytes -= found->size;
    }
    pthread_rwlock_unlock(&lock);
    return found;
}

static bool drop(void *pointer, enum plim_ledger_kind kind, bool is_registered)
{
    struct region *region = take_out(pointer, kind, is_registered);
    if (!region)
        return false;
    if (!is_registered)
        munmap(region->start, region->size);
    plim_vgpu_uncharge(region->record);
    free(region);
    return true;
}

int plim_vgpu_host_free(void *pointer, bool is_registered)
{
    if (!pointer && !is_registered)
        return PLIM_CUDA_SUCCESS;
    return drop(pointer, PLIM_KIND_PINNED, is_registered) ? PLIM_CUDA_SUCCESS
           : is_registered                                ? PLIM_CUDA_HOST_NOT_REGISTERED
                                                          : PLIM_CUDA_INVALID_VALUE;
}

bool plim_vgpu_managed_free(void *pointer) { return drop(pointer, PLIM_KIND_MANAGED, false); }

enum plim_ledger_kind plim_vgpu_host_range(const void *pointer, uint64_t *ret_base, uint64_t *ret_size)
{
    enum plim_ledger_kind kind = PLIM_KIND_MAX_;
    pthread_rwlock_rdlock(&lock);
    const struct region *r = region_at(pointer);
    if (r) {
        kind = r->kind;
        *ret_base = (uint64_t)(uintptr_t)r->start;
        *ret_size = r->size;
    }
    pthread_rwlock_unlock(&lock);
    return kind;
}

bool plim_vgpu_host_holds(const void *pointer, uint64_t size, enum plim_ledger_kind *ret_kind)
{
    const char *at = pointer;
    pthread_rwlock_rdlock(&lock);
    const struct region *r = region_at(at);
    *ret_kind = r ? r->kind : PLIM_KIND_MAX_;
    uint64_t rest = size;
    while (r && rest > (uint64_t)(r->start + r->size - at)) {
        rest -= (uint64_t)(r->start + r->size - at);
        at = r->start + r->size;
        const struct region *next = r->is_registered ? region_at(at) : NULL;
        r = next && next->is_registered ? next : NULL;
    }
    pthread_rwlock_unlock(&lock);
    return r || *ret_kind == PLIM_KIND_MAX_;
}

enum plim_ledger_kind plim_vgpu_host_kind(const void *pointer)
{
    uint64_t base, size;
    return plim_vgpu_host_range(pointer, &base, &size);
}
