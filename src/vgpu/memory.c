/* SPDX-License-Identifier: MIT */
/*
 * A slot of the address space is owned by an allocation (its record), by a reservation, or by a mapping in one. Memory
 * of cuMemCreate is charged as long as a reference is left: one from its creation until its release, and one for each
 * mapping. So a program may release a handle right after mapping it, as ggml's pool does.
 */
#include "vgpu/memory.h"

#include "vgpu/shadow.h"
#include "vgpu/space.h"

#include <stdlib.h>

static const plim_space_owner tag_alloc = 1u << 30, tag_reserved = 2u << 30, tag_mask = 3u << 30;

struct handle {
    uint64_t size;
    uint32_t record;
    uint32_t n_references;
    bool is_released;
    struct handle *next;
};

struct mapping {
    uint64_t address, size;
    struct handle *handle;
    struct mapping *next;
};

struct reservation {
    uint64_t address, size;
    struct reservation *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct handle *handles;
static struct mapping *mappings;
static struct reservation *reservations;

static struct plim_ledger *ledger(void)
{
    int error;
    return plim_vgpu_ledger(&error);
}

/* --- allocations --- */

int plim_memory_alloc(int device, uint64_t size, uint64_t *ret_address)
{
    uint32_t record;
    int error = plim_vgpu_charge(device, PLIM_KIND_ALLOC, size, &record);
    if (error)
        return error;
    pthread_mutex_lock(&lock);
    uint64_t address = plim_space_take(size, tag_alloc | record);
    pthread_mutex_unlock(&lock);
    if (!address) {
        plim_vgpu_uncharge(record);
        return PLIM_CUDA_OUT_OF_MEMORY;
    }
    plim_ledger_place(ledger(), record, address);
    *ret_address = address;
    return PLIM_CUDA_SUCCESS;
}

int plim_memory_free(uint64_t address)
{
    struct plim_ledger *l = ledger();
    if (!l)
        return PLIM_CUDA_NOT_INITIALIZED;
    pthread_mutex_lock(&lock);
    plim_space_owner owner = plim_space_owner_of(address);
    const uint32_t record = owner & ~tag_mask;
    const bool is_ours =
        (owner & tag_mask) == tag_alloc && record < PLIM_LEDGER_MAX_RECORDS && l->record[record].address == address;
    if (is_ours) {
        plim_shadow_forget((const void *)(uintptr_t)address, l->record[record].size);
        plim_space_own(address, l->record[record].size, 0);
    }
    pthread_mutex_unlock(&lock);
    if (!is_ours)
        return PLIM_CUDA_INVALID_VALUE;
    plim_vgpu_uncharge(record);
    return PLIM_CUDA_SUCCESS;
}

static const struct mapping *mapping_at(uint64_t address)
{
    for (const struct mapping *m = mappings; m; m = m->next)
        if (address >= m->address && address - m->address < m->size)
            return m;
    return NULL;
}

int plim_memory_range(uint64_t address, uint64_t *ret_base, uint64_t *ret_size)
{
    int error = PLIM_CUDA_INVALID_VALUE;
    struct plim_ledger *l = ledger();
    if (!l)
        return error;
    pthread_mutex_lock(&lock);
    plim_space_owner owner = plim_space_owner_of(address);
    const struct plim_ledger_record *record = &l->record[(owner & ~tag_mask) % PLIM_LEDGER_MAX_RECORDS];
    const struct mapping *mapping = owner == tag_reserved ? mapping_at(address) : NULL;
    if ((owner & tag_mask) == tag_alloc && address - record->address < record->size) {
        *ret_base = record->address;
        *ret_size = record->size;
        error = PLIM_CUDA_SUCCESS;
    } else if (mapping) {
        *ret_base = mapping->address;
        *ret_size = mapping->size;
        error = PLIM_CUDA_SUCCESS;
    }
    pthread_mutex_unlock(&lock);
    return error;
}

/* --- address space --- */

static bool is_granular(uint64_t n) { return n > 0 && n % PLIM_SPACE_SLOT_BYTES == 0; }

int plim_memory_reserve(uint64_t size, uint64_t *ret_address)
{
    struct reservation *r = is_granular(size) ? malloc(sizeof *r) : NULL;
    if (!r)
        return is_granular(size) ? PLIM_CUDA_OUT_OF_MEMORY : PLIM_CUDA_INVALID_VALUE;
    pthread_mutex_lock(&lock);
    *r = (struct reservation){ plim_space_take(size, tag_reserved), size, reservations };
    const bool is_taken = r->address != 0;
    if (is_taken) {
        reservations = r;
        *ret_address = r->address;
    }
    pthread_mutex_unlock(&lock);
    if (!is_taken)
        free(r);
    return is_taken ? PLIM_CUDA_SUCCESS : PLIM_CUDA_OUT_OF_MEMORY;
}

static bool overlaps_mapping(uint64_t address, uint64_t size)
{
    for (const struct mapping *m = mappings; m; m = m->next)
        if (address < m->address + m->size && m->address < address + size)
            return true;
    return false;
}

int plim_memory_unreserve(uint64_t address, uint64_t size)
{
    struct reservation *found = NULL;
    pthread_mutex_lock(&lock);
    struct reservation **link = &reservations;
    while (*link && ((*link)->address != address || (*link)->size != size))
        link = &(*link)->next;
    if (*link && !overlaps_mapping(address, size)) {
        found = *link;
        *link = found->next;
        plim_space_own(address, size, 0);
    }
    pthread_mutex_unlock(&lock);
    free(found);
    return found ? PLIM_CUDA_SUCCESS : PLIM_CUDA_INVALID_VALUE;
}

/* --- physical memory --- */

static struct handle *handle_of(uint64_t number)
{
    struct handle *h = handles;
    while (h && (uint64_t)(uintptr_t)h != number)
        h = h->next;
    return h;
}

static void drop_reference(struct handle *handle)
{
    if (--handle->n_references > 0)
        return;
    struct handle **link = &handles;
    while (*link != handle)
        link = &(*link)->next;
    *link = handle->next;
    plim_vgpu_uncharge(handle->record);
    free(handle);
}

int plim_memory_create(int device, uint64_t size, uint64_t *ret_handle)
{
    struct handle *handle = is_granular(size) ? malloc(sizeof *handle) : NULL;
    if (!handle)
        return is_granular(size) ? PLIM_CUDA_OUT_OF_MEMORY : PLIM_CUDA_INVALID_VALUE;
    *handle = (struct handle){ .size = size, .n_references = 1 };
    int error = plim_vgpu_charge(device, PLIM_KIND_VMM, size, &handle->record);
    if (error) {
        free(handle);
        return error;
    }
    pthread_mutex_lock(&lock);
    handle->next = handles;
    handles = handle;
    pthread_mutex_unlock(&lock);
    *ret_handle = (uint64_t)(uintptr_t)handle;
    return PLIM_CUDA_SUCCESS;
}

int plim_memory_release(uint64_t number)
{
    pthread_mutex_lock(&lock);
    struct handle *handle = handle_of(number);
    const bool is_held = handle && !handle->is_released;
    if (is_held) {
        handle->is_released = true;
        drop_reference(handle);
    }
    pthread_mutex_unlock(&lock);
    return is_held ? PLIM_CUDA_SUCCESS : PLIM_CUDA_INVALID_VALUE;
}

static bool is_reserved(uint64_t address, uint64_t size)
{
    for (const struct reservation *r = reservations; r; r = r->next)
        if (address >= r->address && size <= r->size && address - r->address <= r->size - size)
            return true;
    return false;
}

int plim_memory_map(uint64_t address, uint64_t size, uint64_t number)
{
    struct mapping *mapping = malloc(sizeof *mapping);
    if (!mapping)
        return PLIM_CUDA_OUT_OF_MEMORY;
    pthread_mutex_lock(&lock);
    struct handle *handle = handle_of(number);
    const bool is_right = handle && !handle->is_released && is_granular(size) && size <= handle->size &&
                          address % PLIM_SPACE_SLOT_BYTES == 0 && is_reserved(address, size) &&
                          !overlaps_mapping(address, size);
    if (is_right) {
        *mapping = (struct mapping){ address, size, handle, mappings };
        mappings = mapping;
        handle->n_references++;
    }
    pthread_mutex_unlock(&lock);
    if (!is_right)
        free(mapping);
    return is_right ? PLIM_CUDA_SUCCESS : PLIM_CUDA_INVALID_VALUE;
}

/* A stretch of whole mappings. */
int plim_memory_unmap(uint64_t address, uint64_t size)
{
    uint64_t covered = 0;
    pthread_mutex_lock(&lock);
    for (const struct mapping *m = mappings; m; m = m->next)
        if (m->address >= address && m->address - address < size && m->size <= size - (m->address - address))
            covered += m->size;
    const bool is_right = size > 0 && covered == size;
    for (struct mapping **link = &mappings; is_right && *link;) {
        struct mapping *m = *link;
        if (m->address < address || m->address - address >= size) {
            link = &m->next;
            continue;
        }
        *link = m->next;
        drop_reference(m->handle);
        free(m);
    }
    if (is_right)
        plim_shadow_forget((const void *)(uintptr_t)address, size);
    pthread_mutex_unlock(&lock);
    return is_right ? PLIM_CUDA_SUCCESS : PLIM_CUDA_INVALID_VALUE;
}
