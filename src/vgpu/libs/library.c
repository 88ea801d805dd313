/* SPDX-License-Identifier: MIT */
#include "vgpu/libs/library.h"

#include "vgpu/core/cuda_api.h"
#include "vgpu/driver/shadow.h"
#include "vgpu/driver/values.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { MAX_SLOTS = 1 << 20 };

struct slot {
    int type; /* 0: free */
    uint32_t next;
    void *body;
};

static struct slot *slots;
static uint32_t n_slots, first_free, last_free;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The slot that was given back first is used first: an old handle stays wrong for as long as possible. */
static struct slot *fresh_slot(void)
{
    struct slot *slot = NULL;
    if (!slots) {
        void *start = mmap(NULL, MAX_SLOTS * sizeof *slots, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        slots = start == MAP_FAILED ? NULL : start;
    }
    if (slots && first_free) {
        slot = &slots[first_free - 1];
        first_free = slot->next;
        if (!first_free)
            last_free = 0;
    } else if (slots && n_slots < MAX_SLOTS) {
        slot = &slots[n_slots++];
    }
    return slot;
}

void *plim_handle_make(int type, size_t size, void **ret_body)
{
    void *body = calloc(1, size);
    pthread_mutex_lock(&lock);
    struct slot *slot = body ? fresh_slot() : NULL;
    if (slot)
        *slot = (struct slot){ .type = type, .body = body };
    pthread_mutex_unlock(&lock);
    if (!slot)
        free(body);
    else if (ret_body)
        *ret_body = body;
    return slot;
}

static struct slot *slot_of(const void *handle)
{
    const uintptr_t at = (uintptr_t)handle, first = (uintptr_t)slots;
    if (!slots || at < first || at >= first + n_slots * sizeof *slots || (at - first) % sizeof *slots)
        return NULL;
    return &slots[(at - first) / sizeof *slots];
}

void *plim_handle_body(const void *handle, int type)
{
    pthread_mutex_lock(&lock);
    const struct slot *slot = slot_of(handle);
    void *body = slot && slot->type == type ? slot->body : NULL;
    pthread_mutex_unlock(&lock);
    return body;
}

void plim_handle_drop(void *handle)
{
    void *body = NULL;
    pthread_mutex_lock(&lock);
    struct slot *slot = slot_of(handle);
    if (slot && slot->type) {
        const uint32_t number = (uint32_t)(slot - slots) + 1;
        body = slot->body;
        *slot = (struct slot){ 0 };
        if (last_free)
            slots[last_free - 1].next = number;
        else
            first_free = number;
        last_free = number;
    }
    pthread_mutex_unlock(&lock);
    free(body);
}

/* As NVIDIA's libraries, which use the runtime: without a context, that of the first device is made. */
int plim_library_device(void)
{
    int device = 0;
    void *context = NULL;
    if (cuCtxGetDevice(&device) &&
        (cuInit(0) || cuDevicePrimaryCtxRetain(&context, device = 0) || cuCtxSetCurrent(context)))
        return -1;
    return plim_vgpu_card(device) && !plim_vgpu_need_context(device) ? device : -1;
}

bool plim_library_charge(struct plim_library_charge *charge, int device, enum plim_ledger_kind kind, uint64_t size)
{
    *charge = (struct plim_library_charge){ 0 };
    charge->is_held = size && plim_vgpu_charge(device, kind, size, &charge->record) == PLIM_CUDA_SUCCESS;
    return charge->is_held || !size;
}

void plim_library_uncharge(struct plim_library_charge *charge)
{
    if (charge->is_held)
        plim_vgpu_uncharge(charge->record);
    charge->is_held = false;
}

bool plim_library_work(int device, void *stream)
{
    (void)device;
    if (plim_vgpu_launch(stream))
        return false;
    plim_shadow_launched();
    plim_vgpu_selects(0);
    return true;
}

void plim_library_answer(void *result, size_t size)
{
    memset(result, 0, size);
    plim_vgpu_answered(size);
}
