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

static int add(void *start, uint64_t size, enum plim_ledger_kind kind, bool is_registered, uint32_t record)
{
    struct region *region = malloc(sizeof *region);
    if (!region)
        return PLIM_CUDA_OUT_OF_MEMORY;
    *region = (struct region){ start, size, record, kind, is_registered, NULL };
    int error;
    plim_ledger_place(plim_vgpu_ledger(&error), record, (uint64_t)(uintptr_t)start);
    pthread_rwlock_wrlock(&lock);
    region->next = regions;
    regions = region;
    pthread_rwlock_unlock(&lock);
    return PLIM_CUDA_SUCCESS;
}

static int map(void **ret_pointer, uint64_t size, enum plim_ledger_kind kind, int device)
{
    uint32_t record;
    if (size == 0) {
        *ret_pointer = NULL;
        return kind == PLIM_KIND_MANAGED ? PLIM_CUDA_INVALID_VALUE : PLIM_CUDA_SUCCESS;
    }
    int error = plim_vgpu_charge(device, kind, size, &record);
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

int plim_vgpu_managed_alloc(void **ret_pointer, uint64_t size, int device)
{
    int error = map(ret_pointer, size, PLIM_KIND_MANAGED, device);
    const struct plim_ledger_card *card = plim_vgpu_card(device);
    if (!error && card && card->used_bytes + card->reserved_bytes + card->others_bytes > card->total_bytes)
        plim_ledger_warn(plim_vgpu_ledger(&error), "oversubscribed", "managed memory exceeds the card");
    return error;
}

int plim_vgpu_host_register(void *pointer, uint64_t size)
{
    uint32_t record;
    if (!pointer || size == 0)
        return PLIM_CUDA_INVALID_VALUE;
    if (plim_vgpu_host_kind(pointer) != PLIM_KIND_MAX_)
        return PLIM_CUDA_HOST_ALREADY_REGISTERED;
    int error = plim_vgpu_charge(0, PLIM_KIND_PINNED, size, &record);
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
    if (found)
        *link = found->next;
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
    for (const struct region *r = regions; r && kind == PLIM_KIND_MAX_; r = r->next)
        if ((const char *)pointer >= r->start && (const char *)pointer < r->start + r->size) {
            kind = r->kind;
            *ret_base = (uint64_t)(uintptr_t)r->start;
            *ret_size = r->size;
        }
    pthread_rwlock_unlock(&lock);
    return kind;
}

enum plim_ledger_kind plim_vgpu_host_kind(const void *pointer)
{
    uint64_t base, size;
    return plim_vgpu_host_range(pointer, &base, &size);
}
