/* SPDX-License-Identifier: MIT */
#include "vgpu/core/objects.h"

#include <string.h>

enum { MAX_OBJECTS = 1 << 22 };

static struct plim_slots objects;
static uint64_t last_id;
static pthread_mutex_t slots = PTHREAD_MUTEX_INITIALIZER, all = PTHREAD_MUTEX_INITIALIZER;

void plim_objects_lock(void) { pthread_mutex_lock(&all); }
void plim_objects_unlock(void) { pthread_mutex_unlock(&all); }

struct plim_object *plim_object_make(enum plim_object_type type, const void *body, size_t size)
{
    pthread_mutex_lock(&slots);
    struct plim_object *made = (struct plim_object *)(void *)plim_slots_take(&objects, sizeof *made, MAX_OBJECTS);
    if (made) {
        memset(made->body, 0, sizeof made->body);
        if (size)
            memcpy(made->body, body, size);
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
