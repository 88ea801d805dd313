/* SPDX-License-Identifier: MIT */
#include "vgpu/core/objects.h"

#include <string.h>

enum { MAX_OBJECTS = 1 << 22 };

static struct plim_slots objects;
static uint64_t last_id;
static pthread_mutex_t slots = PTHREAD_MUTEX_INITIALIZER, all = PTHREAD_MUTEX_INITIALIZER;

void plim_objects_lock(void) { pthread_mutex_lock(&all); }
void plim_objects_unlock(void) { pthread_mutex_unlock(&all); }

/* In whole words: a thread that found the last object of this slot may still look at those that are atomic. */
static void write_body(unsigned char *to, const void *body, size_t size)
{
    _Alignas(16) uint64_t word[sizeof((struct plim_object *)0)->body / sizeof(uint64_t)] = { 0 };
    if (size)
        memcpy(word, body, size);
    for (size_t i = 0; i < sizeof word / sizeof *word; i++)
        __atomic_store_n((uint64_t *)(void *)to + i, word[i], __ATOMIC_RELAXED);
}

struct plim_object *plim_object_make(enum plim_object_type type, const void *body, size_t size)
{
    struct plim_object *made = NULL;
    if (size > sizeof made->body)
        return NULL;
    pthread_mutex_lock(&slots);
    made = (struct plim_object *)(void *)plim_slots_take(&objects, sizeof *made, MAX_OBJECTS, (int)type);
    if (made) {
        write_body(made->body, body, size);
        made->id = ++last_id;
        atomic_store(&made->slot.type, (int)type);
    }
    pthread_mutex_unlock(&slots);
    return made;
}

struct plim_object *plim_object_of(const void *handle, enum plim_object_type type)
{
    return (struct plim_object *)(void *)plim_slots_find(&objects, sizeof(struct plim_object), MAX_OBJECTS, handle,
                                                         (int)type);
}

void plim_object_drop(struct plim_object *object)
{
    pthread_mutex_lock(&slots);
    plim_slots_free(&objects, sizeof *object, &object->slot);
    pthread_mutex_unlock(&slots);
}
