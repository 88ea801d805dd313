/* SPDX-License-Identifier: MIT */
/*
 * A slot of the address space is owned by an allocation (its record in the ledger), by a reservation, or by a block: a
 * mapping in a reservation, a piece of a pool, memory of another process. Memory of cuMemCreate is charged as long as a
 * reference is left: one from its creation until its release, and one for each mapping. So a program may release a
 * handle right after mapping it, as ggml's pool does.
 */
#include "vgpu/driver/memory/device_memory.h"

#include "vgpu/core/space.h"
#include "vgpu/values/shadow.h"

#include <stdlib.h>
#include <sys/mman.h>

static const plim_space_owner tag_alloc = 1u << 30, tag_reserved = 2u << 30, tag_block = 3u << 30, tag_mask = 3u << 30;
enum { MAX_BLOCKS = 1 << 23, MAX_HANDLES = 1 << 20, NO_RECORD = -1, RECORD_BITS = 23 };
_Static_assert(PLIM_LEDGER_MAX_RECORDS <= 1 << RECORD_BITS, "the number of a record");

struct handle {
    uint64_t size;
    int64_t record; /* NO_RECORD: another process pays */
    int device;
    unsigned share, n_references,
        n_held;                     /* n_references: 0 is free; n_held: the program's own, until it releases them */
    bool is_shared;                 /* another process, or another mapping, may write it */
    uint32_t generation, next_free; /* 1 + the next free one */
};

struct memory_block {
    uint64_t address, size, id;
    struct handle *handle; /* of a mapping */
    void *pool;
    uint32_t access; /* 2 bits per device */
    uint32_t next_free;
    int16_t device;
    uint8_t kind, is_used;
};

struct reservation {
    uint64_t address, size;
    struct reservation *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct handle *handles; /* [MAX_HANDLES] */
static uint32_t n_handles, free_handle;
static struct reservation *reservations;
static struct memory_block *blocks;
static uint32_t n_blocks, free_block;
static uint64_t last_id;

static struct plim_ledger *ledger(void)
{
    int error;
    return plim_vgpu_ledger(&error);
}

/* --- blocks --- */

static struct memory_block *new_block(void)
{
    struct memory_block *made = NULL;
    if (!blocks) {
        void *start = mmap(NULL, MAX_BLOCKS * sizeof *blocks, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        blocks = start == MAP_FAILED ? NULL : start;
    }
    if (blocks && free_block) {
        made = &blocks[free_block - 1];
        free_block = made->next_free;
    } else if (blocks && n_blocks < MAX_BLOCKS) {
        made = &blocks[n_blocks++];
    }
    if (made)
        *made = (struct memory_block){ .is_used = 1, .id = ++last_id };
    return made;
}

static void drop_block(struct memory_block *block)
{
    block->is_used = 0;
    block->next_free = free_block;
    free_block = (uint32_t)(block - blocks) + 1;
}

static plim_space_owner owner_for(const struct memory_block *block)
{
    return tag_block | (plim_space_owner)(block - blocks);
}

static struct memory_block *block_at(uint64_t address)
{
    const plim_space_owner owner = plim_space_owner_of(address);
    if ((owner & tag_mask) != tag_block || (owner & ~tag_mask) >= n_blocks)
        return NULL;
    struct memory_block *block = &blocks[owner & ~tag_mask];
    return block->is_used && address - block->address < block->size ? block : NULL;
}

int plim_device_memory_place(enum plim_device_memory_kind kind, int device, uint64_t size, void *pool,
                             uint64_t *ret_address)
{
    int error = PLIM_CUDA_OUT_OF_MEMORY;
    pthread_mutex_lock(&lock);
    struct memory_block *block = new_block();
    if (block) {
        block->address = plim_space_take(size, owner_for(block));
        block->size = size;
        block->kind = (uint8_t)kind;
        block->device = (int16_t)device;
        block->pool = pool;
        if (block->address) {
            *ret_address = block->address;
            error = PLIM_CUDA_SUCCESS;
        } else {
            drop_block(block);
        }
    }
    pthread_mutex_unlock(&lock);
    return error;
}

/* A number is an index and a generation, so that a released handle is recognised. */
static uint64_t number_of(const struct handle *handle)
{
    return handle ? (uint64_t)handle->generation << 32 | (uint64_t)(handle - handles + 1) : 0;
}

static void describe(const struct memory_block *block, struct plim_device_memory *ret_memory)
{
    *ret_memory = (struct plim_device_memory){
        block->address, block->size, (enum plim_device_memory_kind)block->kind, block->device, number_of(block->handle),
        block->pool,    block->id
    };
}

int plim_device_memory_unplace(enum plim_device_memory_kind kind, uint64_t address,
                               struct plim_device_memory *ret_memory)
{
    int error = PLIM_CUDA_INVALID_VALUE;
    pthread_mutex_lock(&lock);
    struct memory_block *block = block_at(address);
    if (block && block->address == address && block->kind == kind) {
        describe(block, ret_memory);
        plim_shadow_release((const void *)(uintptr_t)address, block->size);
        plim_space_own(address, block->size, 0);
        drop_block(block);
        error = PLIM_CUDA_SUCCESS;
    }
    pthread_mutex_unlock(&lock);
    return error;
}

/* --- allocations --- */

int plim_device_memory_alloc(int device, uint64_t size, uint64_t *ret_address)
{
    uint32_t record;
    int error = plim_vgpu_charge(device, PLIM_KIND_ALLOC, size, &record);
    if (error)
        return error;
    pthread_mutex_lock(&lock);
    uint64_t address = plim_space_take(size, tag_alloc | record);
    if (address)
        plim_ledger_place(ledger(), record, address); /* before another thread may look for it */
    pthread_mutex_unlock(&lock);
    if (!address) {
        plim_vgpu_uncharge(record);
        return PLIM_CUDA_OUT_OF_MEMORY;
    }
    *ret_address = address;
    return PLIM_CUDA_SUCCESS;
}

static const struct plim_ledger_record *record_at(uint64_t address)
{
    const struct plim_ledger *l = ledger();
    const plim_space_owner owner = plim_space_owner_of(address);
    if (!l || (owner & tag_mask) != tag_alloc || (owner & ~tag_mask) >= PLIM_LEDGER_MAX_RECORDS)
        return NULL;
    const struct plim_ledger_record *record = &l->record[owner & ~tag_mask];
    return address - record->address < record->size ? record : NULL;
}

int plim_device_memory_free(uint64_t address)
{
    struct plim_ledger *l = ledger();
    if (!l)
        return PLIM_CUDA_NOT_INITIALIZED;
    pthread_mutex_lock(&lock);
    const struct plim_ledger_record *record = record_at(address);
    const bool is_ours = record && record->address == address;
    if (is_ours) {
        plim_shadow_release((const void *)(uintptr_t)address, record->size);
        plim_space_own(address, record->size, 0);
    }
    pthread_mutex_unlock(&lock);
    if (!is_ours)
        return PLIM_CUDA_INVALID_VALUE;
    plim_vgpu_uncharge((uint32_t)(record - l->record));
    return PLIM_CUDA_SUCCESS;
}

int plim_device_memory_at(uint64_t address, struct plim_device_memory *ret_memory)
{
    int error = PLIM_CUDA_SUCCESS;
    pthread_mutex_lock(&lock);
    const struct plim_ledger_record *record = record_at(address);
    const struct memory_block *block = record ? NULL : block_at(address);
    if (record)
        *ret_memory =
            (struct plim_device_memory){ .base = record->address,
                                         .size = record->size,
                                         .kind = PLIM_DEVICE_MEMORY_ALLOC,
                                         .device = plim_vgpu_device_of(record->device),
                                         .id = record->time_us << RECORD_BITS | (uint64_t)(record - ledger()->record) };
    else if (block)
        describe(block, ret_memory);
    else
        error = PLIM_CUDA_INVALID_VALUE;
    pthread_mutex_unlock(&lock);
    return error;
}

static uint64_t next_alloc(int device, uint32_t *at)
{
    struct plim_device_memory memory;
    const struct plim_ledger *l = ledger();
    while (l && *at < l->n_records && *at < PLIM_LEDGER_MAX_RECORDS) {
        const struct plim_ledger_record *r = &l->record[(*at)++];
        const uint64_t address = r->is_used && r->kind == PLIM_KIND_ALLOC ? r->address : 0;
        /* Another process may have memory at the same address: ours is that of our own record. */
        if (address && !plim_device_memory_at(address, &memory) && memory.kind == PLIM_DEVICE_MEMORY_ALLOC &&
            memory.base == address && memory.device == device)
            return address;
    }
    return 0;
}

uint64_t plim_device_memory_next(enum plim_device_memory_kind kind, int device, uint32_t *at)
{
    uint64_t address = 0;
    if (kind == PLIM_DEVICE_MEMORY_ALLOC)
        return next_alloc(device, at);
    pthread_mutex_lock(&lock);
    for (; *at < n_blocks && !address; ++*at)
        if (blocks[*at].is_used && blocks[*at].kind == kind && blocks[*at].device == device)
            address = blocks[*at].address;
    pthread_mutex_unlock(&lock);
    return address;
}

static bool is_mapped(uint64_t address, uint64_t last)
{
    pthread_mutex_lock(&lock);
    const struct memory_block *block = block_at(address);
    while (block && block->kind == PLIM_DEVICE_MEMORY_MAPPED && last - block->address >= block->size)
        block = block_at(block->address + block->size);
    const bool is_all = block && block->kind == PLIM_DEVICE_MEMORY_MAPPED;
    pthread_mutex_unlock(&lock);
    return is_all;
}

/* Without the lock where the first and the last slot have one owner: an owner has one range. */
bool plim_device_memory_holds(uint64_t address, uint64_t size)
{
    const uint64_t last = address + (size ? size - 1 : 0);
    const plim_space_owner owner = plim_space_owner_of(address);
    if (last < address || owner == 0 || owner == tag_reserved)
        return false;
    return plim_space_owner_of(last) == owner || ((owner & tag_mask) == tag_block && is_mapped(address, last));
}

/* --- address space --- */

static bool is_granular(uint64_t n) { return n > 0 && n % PLIM_SPACE_SLOT_BYTES == 0; }

int plim_device_memory_reserve(uint64_t size, uint64_t *ret_address)
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

/* All slots of a range are reserved and unmapped. */
static bool is_free_reservation(uint64_t address, uint64_t size)
{
    for (uint64_t at = address; at - address < size; at += PLIM_SPACE_SLOT_BYTES)
        if (plim_space_owner_of(at) != tag_reserved)
            return false;
    return true;
}

int plim_device_memory_unreserve(uint64_t address, uint64_t size)
{
    struct reservation *found = NULL;
    pthread_mutex_lock(&lock);
    struct reservation **link = &reservations;
    while (*link && ((*link)->address != address || (*link)->size != size))
        link = &(*link)->next;
    if (*link && is_free_reservation(address, size)) {
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
    const uint32_t index = (uint32_t)number - 1;
    return index < n_handles && handles[index].n_references > 0 && number_of(&handles[index]) == number
               ? &handles[index]
               : NULL;
}

static void drop_reference(struct handle *handle)
{
    if (--handle->n_references > 0)
        return;
    if (handle->record != NO_RECORD)
        plim_vgpu_uncharge((uint32_t)handle->record);
    handle->generation++;
    handle->next_free = free_handle;
    free_handle = (uint32_t)(handle - handles) + 1;
}

static int add_handle(int device, uint64_t size, unsigned share, int64_t record, uint64_t *ret_handle)
{
    struct handle *handle = NULL;
    pthread_mutex_lock(&lock);
    if (!handles) {
        void *start = mmap(NULL, MAX_HANDLES * sizeof *handles, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        handles = start == MAP_FAILED ? NULL : start;
    }
    if (handles && free_handle) {
        handle = &handles[free_handle - 1];
        free_handle = handle->next_free;
    } else if (handles && n_handles < MAX_HANDLES) {
        handle = &handles[n_handles++];
    }
    if (handle) {
        *handle = (struct handle){ .size = size,
                                   .record = record,
                                   .device = device,
                                   .share = share,
                                   .n_references = 1,
                                   .n_held = 1,
                                   .generation = handle->generation };
        *ret_handle = number_of(handle);
    }
    pthread_mutex_unlock(&lock);
    return handle ? PLIM_CUDA_SUCCESS : PLIM_CUDA_OUT_OF_MEMORY;
}

int plim_device_memory_create(int device, uint64_t size, unsigned share, uint64_t *ret_handle)
{
    uint32_t record;
    if (!is_granular(size))
        return PLIM_CUDA_INVALID_VALUE;
    int error = plim_vgpu_charge(device, PLIM_KIND_VMM, size, &record);
    if (!error && (error = add_handle(device, size, share, record, ret_handle)))
        plim_vgpu_uncharge(record);
    return error;
}

int plim_device_memory_adopt(int device, uint64_t size, uint64_t *ret_handle)
{
    return is_granular(size) ? add_handle(device, size, 0, NO_RECORD, ret_handle) : PLIM_CUDA_INVALID_VALUE;
}

/* Another reference, which the program releases. */
int plim_device_memory_retain(uint64_t number)
{
    pthread_mutex_lock(&lock);
    struct handle *handle = handle_of(number);
    if (handle) {
        handle->n_held++;
        handle->n_references++;
    }
    pthread_mutex_unlock(&lock);
    return handle ? PLIM_CUDA_SUCCESS : PLIM_CUDA_INVALID_VALUE;
}

int plim_device_memory_release(uint64_t number)
{
    pthread_mutex_lock(&lock);
    struct handle *handle = handle_of(number);
    const bool is_held = handle && handle->n_held > 0;
    if (is_held) {
        handle->n_held--;
        drop_reference(handle);
    }
    pthread_mutex_unlock(&lock);
    return is_held ? PLIM_CUDA_SUCCESS : PLIM_CUDA_INVALID_VALUE;
}

int plim_device_memory_handle_at(uint64_t number, struct plim_device_memory_handle *ret_handle)
{
    pthread_mutex_lock(&lock);
    const struct handle *handle = handle_of(number);
    if (handle)
        *ret_handle = (struct plim_device_memory_handle){ handle->device, handle->size, handle->share };
    pthread_mutex_unlock(&lock);
    return handle ? PLIM_CUDA_SUCCESS : PLIM_CUDA_INVALID_VALUE;
}

/* What is written in one place, here or elsewhere, may be read in another. */
static void share_mappings(struct handle *handle)
{
    handle->is_shared = true;
    for (uint32_t i = 0; i < n_blocks; i++)
        if (blocks[i].is_used && blocks[i].handle == handle)
            plim_shadow_share((const void *)(uintptr_t)blocks[i].address, blocks[i].size);
}

void plim_device_memory_share(uint64_t number)
{
    pthread_mutex_lock(&lock);
    struct handle *handle = handle_of(number);
    if (handle)
        share_mappings(handle);
    pthread_mutex_unlock(&lock);
}

int plim_device_memory_map(uint64_t address, uint64_t size, uint64_t number)
{
    int error = PLIM_CUDA_INVALID_VALUE;
    pthread_mutex_lock(&lock);
    struct handle *handle = handle_of(number);
    struct memory_block *block = NULL;
    if (handle && handle->n_held > 0 && is_granular(size) && size <= handle->size &&
        address % PLIM_SPACE_SLOT_BYTES == 0 && is_free_reservation(address, size))
        error = (block = new_block()) ? PLIM_CUDA_SUCCESS : PLIM_CUDA_OUT_OF_MEMORY;
    if (block) {
        block->address = address;
        block->size = size;
        block->kind = PLIM_DEVICE_MEMORY_MAPPED;
        block->device = (int16_t)handle->device;
        block->handle = handle;
        handle->n_references++;
        plim_space_own(address, size, owner_for(block));
        if (handle->is_shared || handle->n_references > handle->n_held + 1) /* it has another mapping */
            share_mappings(handle);
    }
    pthread_mutex_unlock(&lock);
    return error;
}

/* The mapping that begins at address and ends before limit, or NULL. */
static struct memory_block *whole_mapping(uint64_t address, uint64_t limit)
{
    struct memory_block *block = block_at(address);
    return block && block->kind == PLIM_DEVICE_MEMORY_MAPPED && block->address == address &&
                   block->size <= limit - address
               ? block
               : NULL;
}

/* A range of whole mappings. */
int plim_device_memory_unmap(uint64_t address, uint64_t size)
{
    const uint64_t limit = address + size;
    bool is_right = size > 0 && limit > address;
    pthread_mutex_lock(&lock);
    for (uint64_t at = address; is_right && at < limit;) {
        const struct memory_block *block = whole_mapping(at, limit);
        is_right = block != NULL;
        at += block ? block->size : 0;
    }
    for (uint64_t at = address; is_right && at < limit;) {
        struct memory_block *block = whole_mapping(at, limit);
        at += block->size;
        plim_space_own(block->address, block->size, tag_reserved);
        drop_reference(block->handle);
        drop_block(block);
    }
    if (is_right)
        plim_shadow_release((const void *)(uintptr_t)address, size);
    pthread_mutex_unlock(&lock);
    return is_right ? PLIM_CUDA_SUCCESS : PLIM_CUDA_INVALID_VALUE;
}

/* --- access --- */

enum { ACCESS_MASK = 3 };

int plim_device_memory_set_access(uint64_t address, uint64_t size, int device, unsigned access)
{
    const uint64_t limit = address + size;
    bool is_right = size > 0 && limit > address && access <= ACCESS_MASK;
    pthread_mutex_lock(&lock);
    for (uint64_t at = address; is_right && at < limit;) {
        struct memory_block *block = whole_mapping(at, limit);
        is_right = block != NULL;
        if (!block)
            break;
        block->access = (block->access & ~((uint32_t)ACCESS_MASK << 2 * device)) | access << 2 * device;
        at += block->size;
    }
    pthread_mutex_unlock(&lock);
    return is_right ? PLIM_CUDA_SUCCESS : PLIM_CUDA_INVALID_VALUE;
}

int plim_device_memory_get_access(uint64_t address, int device, unsigned *ret_access)
{
    pthread_mutex_lock(&lock);
    const struct memory_block *block = block_at(address);
    if (block)
        *ret_access = block->access >> 2 * device & ACCESS_MASK;
    pthread_mutex_unlock(&lock);
    return block ? PLIM_CUDA_SUCCESS : PLIM_CUDA_INVALID_VALUE;
}
