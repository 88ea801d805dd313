/* SPDX-License-Identifier: MIT */
/*
 * libcuda: events. An event recorded in a capture stands for nodes of it; any other is complete when the work before it
 * is (schedule.h).
 */
#include "vgpu/core/cuda_api.h"
#include "vgpu/core/steps.h"
#include "vgpu/driver/contexts.h"
#include "vgpu/driver/graphs/capture.h"
#include "vgpu/driver/streams/schedule.h"

#include <string.h>
#include <unistd.h>

enum { BLOCKING_SYNC = 1, DISABLE_TIMING = 2, INTERPROCESS = 4 };

struct event {
    unsigned flags;
    int device;
    uint64_t time_us; /* 0: not recorded */
    struct plim_event_capture capture;
    struct plim_moment moment; /* where it was recorded */
};

_Static_assert(sizeof(struct event) <= sizeof((struct plim_object *)NULL)->body, "an event fits its slot");

static struct event *event_of(const void *handle)
{
    struct plim_object *object = plim_object_of(handle, PLIM_OBJECT_EVENT);
    return object ? PLIM_BODY(object, event) : NULL;
}

status cuEventCreate(void **ret_event, unsigned flags)
{
    status error = plim_context_need();
    if (error || !ret_event || flags > (BLOCKING_SYNC | DISABLE_TIMING | INTERPROCESS) ||
        ((flags & INTERPROCESS) && !(flags & DISABLE_TIMING)))
        return error ? error : PLIM_CUDA_INVALID_VALUE;
    struct plim_object *object = plim_object_make(PLIM_OBJECT_EVENT);
    if (!object)
        return PLIM_CUDA_OUT_OF_MEMORY;
    *PLIM_BODY(object, event) = (struct event){ .flags = flags, .device = plim_context_device() };
    *ret_event = object;
    return PLIM_CUDA_SUCCESS;
}

status cuEventDestroy_v2(void *handle)
{
    struct event *event = event_of(handle);
    if (!event)
        return PLIM_CUDA_INVALID_HANDLE;
    plim_objects_lock();
    plim_nodes_clear(&event->capture.nodes);
    plim_object_drop(handle);
    plim_objects_unlock();
    return PLIM_CUDA_SUCCESS;
}

status cuEventRecordWithFlags(void *handle, void *stream, unsigned flags)
{
    enum { EXTERNAL = 1 }; /* in a capture: a node, not a dependency */
    struct event *event = event_of(handle);
    struct plim_node *node;
    bool is_captured;
    if (!event || flags > EXTERNAL)
        return event ? PLIM_CUDA_INVALID_VALUE : PLIM_CUDA_INVALID_HANDLE;
    if (flags == EXTERNAL) {
        status error = plim_capture_work(stream, PLIM_NODE_EVENT_RECORD, &node);
        if (!error)
            event->time_us = plim_vgpu_now_us() + 1;
        return error;
    }
    status error = plim_capture_record(stream, &event->capture, &is_captured);
    if (!error && !is_captured) {
        event->time_us = plim_vgpu_now_us() + 1;
        plim_schedule_mark(plim_stream_of(stream), &event->moment);
    }
    return error;
}

status cuEventRecord(void *event, void *stream) { return cuEventRecordWithFlags(event, stream, 0); }

status cuStreamWaitEvent(void *stream, void *handle, unsigned flags)
{
    enum { EXTERNAL = 1 };
    const struct event *event = event_of(handle);
    struct plim_node *node;
    bool is_captured;
    if (!event)
        return PLIM_CUDA_INVALID_HANDLE;
    if (flags == EXTERNAL)
        return plim_capture_work(stream, PLIM_NODE_WAIT_EVENT, &node);
    status error = plim_capture_wait(stream, &event->capture, &is_captured);
    if (!error && !is_captured)
        plim_schedule_order(plim_stream_of(stream), &event->moment);
    return error;
}

/* An event of a capture is never complete: the query is an error. */
static status ask(const void *handle)
{
    const struct event *event = event_of(handle);
    return !event ? PLIM_CUDA_INVALID_HANDLE : event->capture.id ? PLIM_CUDA_CAPTURED_EVENT : PLIM_CUDA_SUCCESS;
}

status cuEventQuery(void *event)
{
    status error = ask(event);
    if (error || (error = plim_capture_unsafe()))
        return error;
    return plim_schedule_is_reached(&event_of(event)->moment) ? PLIM_CUDA_SUCCESS : PLIM_CUDA_NOT_READY;
}

status cuEventSynchronize(void *event)
{
    plim_vgpu_waited();
    status error = ask(event);
    if (!error && !(error = plim_capture_unsafe()))
        plim_schedule_reach(&event_of(event)->moment);
    return error;
}

/* More than zero: programs divide by it. */
status cuEventElapsedTime(float *ms, void *start, void *end)
{
    const struct event *a = event_of(start), *b = event_of(end);
    if (!a || !b || !a->time_us || !b->time_us || ((a->flags | b->flags) & DISABLE_TIMING))
        return PLIM_CUDA_INVALID_HANDLE;
    if (!ms)
        return PLIM_CUDA_INVALID_VALUE;
    *ms = b->time_us > a->time_us ? (float)(b->time_us - a->time_us) / 1000 : 0.001f;
    return PLIM_CUDA_SUCCESS;
}

status cuEventElapsedTime_v2(float *ms, void *start, void *end) { return cuEventElapsedTime(ms, start, end); }

status cuCtxRecordEvent(void *context, void *event)
{
    return plim_context_device_of(context) < 0 ? PLIM_CUDA_INVALID_CONTEXT : cuEventRecordWithFlags(event, NULL, 0);
}

status cuCtxWaitEvent(void *context, void *event)
{
    return plim_context_device_of(context) < 0 ? PLIM_CUDA_INVALID_CONTEXT : ask(event);
}

/* --- between processes: an opened event is a recorded one of this process --- */

struct shared_event {
    char magic[8];
    int pid;
    uint64_t id;
    unsigned char rest[40];
};
_Static_assert(sizeof(struct shared_event) == sizeof(struct cu_ipc_handle), "fills a CUipcEventHandle");

static const char magic[8] = "plimevt";

status cuIpcGetEventHandle(struct cu_ipc_handle *ret_handle, void *handle)
{
    const struct event *event = event_of(handle);
    if (!event)
        return PLIM_CUDA_INVALID_HANDLE;
    if (!ret_handle || !(event->flags & INTERPROCESS))
        return PLIM_CUDA_INVALID_VALUE;
    struct shared_event shared = { .pid = (int)getpid(), .id = plim_object_of(handle, PLIM_OBJECT_EVENT)->id };
    memcpy(shared.magic, magic, sizeof magic);
    memcpy(ret_handle, &shared, sizeof *ret_handle);
    return PLIM_CUDA_SUCCESS;
}

status cuIpcOpenEventHandle(void **ret_event, struct cu_ipc_handle handle)
{
    if (memcmp(handle.bytes, magic, sizeof magic) != 0)
        return PLIM_CUDA_INVALID_VALUE;
    status error = cuEventCreate(ret_event, DISABLE_TIMING | INTERPROCESS);
    if (!error)
        event_of(*ret_event)->time_us = plim_vgpu_now_us() + 1;
    return error;
}
