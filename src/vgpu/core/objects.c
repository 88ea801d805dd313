/* SPDX-License-Identifier: MIT */
#include "vgpu/core/objects.h"

#include <string.h>
#include <sys/mman.h>

enum { MAX_OBJECTS = 1 << 22 };

static struct plim_object *_Atomic objects;
static uint32_t n_objects, first_free, last_free;
static uint64_t last_id;
static pthread_mutex_t slots = PTHREAD_MUTEX_INITIALIZER, all = PTHREAD_MUTEX_INITIALIZER;

void plim_objects_lock(void) { pthread_mutex_lock(&all); }
void plim_objects_unlock(void) { pthread_mutex_unlock(&all); }

/* The slot that was given back first is used first: an old handle stays wrong for as long as possible. */
struct plim_object *plim_object_make(enum plim_object_type type)
{
    struct plim_object *made = NULL;
    pthread_mutex_lock(&slots);
    struct plim_object *array = atomic_load(&objects);
    if (!array) {
        void *start = mmap(NULL, MAX_OBJECTS * sizeof *array, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (start != MAP_FAILED)
            atomic_store(&objects, array = start);
    }
    if (array && first_free) {
        made = &array[first_free - 1];
        first_free = made->next;
        if (!first_free)
            last_free = 0;
    } else if (array && n_objects < MAX_OBJECTS) {
        made = &array[n_objects++];
    }
    if (made) {
        memset(made->body, 0, sizeof made->body);
        made->next = 0;
        made->id = ++last_id;
        atomic_store(&made->type, (int)type);
    }
    pthread_mutex_unlock(&slots);
    return made;
}

struct plim_object *plim_object_of(const void *handle, enum plim_object_type type)
{
    struct plim_object *array = atomic_load_explicit(&objects, memory_order_acquire);
    const uintptr_t at = (uintptr_t)handle, first = (uintptr_t)array;
    if (!array || at < first || at >= first + MAX_OBJECTS * sizeof *array || (at - first) % sizeof *array)
        return NULL;
    struct plim_object *object = &array[(at - first) / sizeof *array];
    return atomic_load_explicit(&object->type, memory_order_acquire) == (int)type ? object : NULL;
}

void plim_object_drop(struct plim_object *object)
{
    pthread_mutex_lock(&slots);
    struct plim_object *array = atomic_load(&objects);
    const uint32_t number = (uint32_t)(object - array) + 1;
    atomic_store(&object->type, PLIM_OBJECT_NONE);
    object->next = 0;
    if (last_free)
        array[last_free - 1].next = number;
    else
        first_free = number;
    last_free = number;
    pthread_mutex_unlock(&slots);
}
