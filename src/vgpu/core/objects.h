/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_CORE_OBJECTS_H
#define PLIMSOLL_VGPU_CORE_OBJECTS_H

/*
 * The handles of the driver: slots of one array that is never given back, so that a handle of something destroyed, or
 * of something else, is known as such and not followed. What a slot holds is the business of the file that made it.
 */

#include "vgpu/core/session.h"

#include <stdatomic.h>

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
};

struct plim_object {
    _Atomic int type; /* enum plim_object_type */
    uint32_t next;    /* 1 + the next free one */
    uint64_t id;      /* never given twice */
    _Alignas(16) unsigned char body[112];
};

/* A fresh slot with a body of zeros, or NULL. Its address is the handle. */
struct plim_object *plim_object_make(enum plim_object_type type);

/* The slot of a handle of this type, or NULL. */
struct plim_object *plim_object_of(const void *handle, enum plim_object_type type);

void plim_object_drop(struct plim_object *object);

/* For all that is not on the path of a launch: one lock for streams, captures and graphs. */
void plim_objects_lock(void);
void plim_objects_unlock(void);

#define PLIM_BODY(object, type) ((struct type *)(void *)(object)->body)

#endif
