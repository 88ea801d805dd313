/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_CORE_OBJECTS_H
#define PLIMSOLL_VGPU_CORE_OBJECTS_H

/* The objects of the driver that programs hold handles to (slots.h). The file that makes an object owns its body. */

#include "vgpu/core/session.h"
#include "vgpu/core/slots.h"

enum plim_object_type {
    PLIM_OBJECT_NONE,
    PLIM_OBJECT_CONTEXT,
    PLIM_OBJECT_STREAM,
    PLIM_OBJECT_EVENT,
    PLIM_OBJECT_GRAPH,
    PLIM_OBJECT_NODE,
    PLIM_OBJECT_EXEC,
    PLIM_OBJECT_USER,
    PLIM_OBJECT_POOL,
    PLIM_OBJECT_MODULE,
    PLIM_OBJECT_KERNEL,
    PLIM_OBJECT_LINK,
    PLIM_OBJECT_ARRAY,
    PLIM_OBJECT_TEXTURE,
};

struct plim_object {
    struct plim_slot slot; /* its type is an enum plim_object_type */
    uint64_t id;           /* never given twice */
    _Alignas(16) unsigned char body[176];
};

/*
 * A new object whose body begins with size bytes of `body` and is zero then, or NULL: no room. Its address is the
 * handle. The slot was never that of an object of another type.
 */
struct plim_object *plim_object_make(enum plim_object_type type, const void *body, size_t size);

/* The object of a handle of this type, or NULL. */
struct plim_object *plim_object_of(const void *handle, enum plim_object_type type);

void plim_object_drop(struct plim_object *object);

/*
 * One lock for streams, captures and graphs: for whatever is not on the path of a launch. A handle is looked up with
 * the lock held: the object of one found earlier may be gone.
 */
void plim_objects_lock(void);
void plim_objects_unlock(void);

static inline void plim_objects_unlock_after(const int *unused)
{
    (void)unused;
    plim_objects_unlock();
}

/* Hold the lock from here to the end of the block. */
#define PLIM_OBJECTS_LOCKED                                                                                            \
    __attribute__((cleanup(plim_objects_unlock_after), unused)) const int plim_objects_are_locked =                    \
        (plim_objects_lock(), 0)

/* The body as a struct of this tag; one that does not fit is an array of a negative size. */
#define PLIM_BODY(object, type)                                                                                        \
    ((struct type *)(void *)((object)->body + 0 * sizeof(char[sizeof(struct type) <= sizeof(object)->body ? 1 : -1])))

#endif
