/* SPDX-License-Identifier: MIT */
#include "vgpu/libs/library.h"

#include "vgpu/core/cuda_api.h"
#include "vgpu/driver/launches.h"
#include "vgpu/values/reads.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_SLOTS = 1 << 20 };

struct slot {
    struct plim_slot slot;
    void *body;
};

static struct plim_slots slots;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *plim_handle_make(int type, size_t size, void **ret_body)
{
    void *body = calloc(1, size);
    pthread_mutex_lock(&lock);
    struct slot *made = body ? (struct slot *)(void *)plim_slots_take(&slots, sizeof *made, MAX_SLOTS, type) : NULL;
    if (made) {
        made->body = body;
        atomic_store(&made->slot.type, type);
    }
    pthread_mutex_unlock(&lock);
    if (!made)
        free(body);
    else if (ret_body)
        *ret_body = body;
    return made;
}

void *plim_handle_body(const void *handle, int type)
{
    pthread_mutex_lock(&lock);
    const struct slot *slot = (struct slot *)(void *)plim_slots_find(&slots, sizeof *slot, MAX_SLOTS, handle, type);
    void *body = slot ? slot->body : NULL;
    pthread_mutex_unlock(&lock);
    return body;
}

void plim_handle_drop(void *handle)
{
    void *body = NULL;
    pthread_mutex_lock(&lock);
    struct slot *slot = (struct slot *)(void *)plim_slots_at(&slots, sizeof *slot, MAX_SLOTS, handle);
    if (slot && atomic_load(&slot->slot.type)) {
        body = slot->body;
        plim_slots_free(&slots, sizeof *slot, &slot->slot);
    }
    pthread_mutex_unlock(&lock);
    free(body);
}

/* Like NVIDIA's libraries, which use the runtime: without a current context, that of device 0 is made. */
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
    return plim_vgpu_launch(stream, NULL, NULL, 0) == PLIM_CUDA_SUCCESS;
}

bool plim_library_compute(int device, void *stream, void (*run)(const void *context), const void *context, size_t size)
{
    (void)device;
    return plim_vgpu_launch(stream, run, context, size) == PLIM_CUDA_SUCCESS;
}

static void lose_words(const void *words) { plim_meaning_lose(words, PLIM_N_WORDS); }

bool plim_library_write(int device, void *stream, const uintptr_t words[PLIM_N_WORDS])
{
    return plim_library_compute(device, stream, lose_words, words, PLIM_N_WORDS * sizeof *words);
}

bool plim_library_write_to(int device, void *stream, const void *first, const void *second)
{
    const uintptr_t words[PLIM_N_WORDS] = { (uintptr_t)first, (uintptr_t)second };
    return plim_library_write(device, stream, words);
}

void plim_library_answer(void *result, size_t size)
{
    memset(result, 0, size);
    plim_values_note_read(
        &(struct plim_read){ .known = PLIM_SHADOW_UNKNOWN, .is_answer = true, .size_bytes = size, .bytes = result });
}
