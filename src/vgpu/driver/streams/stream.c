/* SPDX-License-Identifier: MIT */
#include "vgpu/driver/streams/stream.h"

static struct plim_stream legacy;

/* The default stream of a thread is made at its first use. */
static struct plim_stream *per_thread(void)
{
    static _Thread_local struct plim_object *own;
    if (!own)
        own = plim_object_make(PLIM_OBJECT_STREAM, NULL, 0);
    return own ? PLIM_BODY(own, plim_stream) : NULL;
}

bool plim_stream_is_legacy(const struct plim_stream *stream) { return stream == &legacy; }

struct plim_stream *plim_stream_of(const void *handle)
{
    if ((uintptr_t)handle <= 1)
        return &legacy;
    if ((uintptr_t)handle == 2)
        return per_thread();
    struct plim_object *object = plim_object_of(handle, PLIM_OBJECT_STREAM);
    return object ? PLIM_BODY(object, plim_stream) : NULL;
}
