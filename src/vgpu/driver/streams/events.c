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
    _Atomic uint64_t time_us; /* 0: not recorded */
    struct plim_event_capture capture;
    struct plim_moment moment; /* where it was recorded */
};

_Static_assert(sizeof(struct event) <= sizeof((struct plim_object *)NULL)->body, "an event fits its slot");

/* Held wherever an event that is not a plain one is used; before the lock of the objects. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct event *event_of(const void *handle)
{
    struct plim_object *object = plim_object_of(handle, PLIM_OBJECT_EVENT);
    return object ? PLIM_BODY(object, event) : NULL;
}

/*
 * Without captures, and with work that is done at once, an event is no more than the time of its last record: used
 * without the lock, for programs that record one after each kernel.
 */
static struct event *plain_event_of(const void *handle)
{
    struct event *event = plim_schedule_is_lazy || plim_capture_is_active() ? NULL : event_of(handle);
    return event && !atomic_load_explicit(&event->capture.id, memory_order_relaxed) ? event : NULL;
}

static status create(void **ret_event, unsigned flags, bool is_recorded)
{
    status error = plim_context_need();
    if (error || !ret_event || flags > (BLOCKING_SYNC | DISABLE_TIMING | INTERPROCESS) ||
        ((flags & INTERPROCESS) && !(flags & DISABLE_TIMING)))
        return error ? error : PLIM_CUDA_INVALID_VALUE;
    const struct event event = { .flags = flags,
                                 .device = plim_context_device(),
                                 .time_us = is_recorded ? plim_vgpu_event_time_us() + 1 : 0 };
    struct plim_object *object = plim_object_make(PLIM_OBJECT_EVENT, &event, sizeof event);
    if (!object)
        return PLIM_CUDA_OUT_OF_MEMORY;
    *ret_event = object;
    return PLIM_CUDA_SUCCESS;
}

status cuEventCreate(void **ret_event, unsigned flags) { return create(ret_event, flags, false); }

status cuEventDestroy_v2(void *handle)
{
    pthread_mutex_lock(&lock);
    struct event *event = event_of(handle);
    if (event) {
        plim_nodes_clear(&event->capture.nodes);
        plim_object_drop(handle);
    }
    pthread_mutex_unlock(&lock);
    return event ? PLIM_CUDA_SUCCESS : PLIM_CUDA_INVALID_HANDLE;
}

enum { EXTERNAL = 1 }; /* in a capture: a node, not a dependency */

static void record_now(struct event *event)
{
    atomic_store_explicit(&event->time_us, plim_vgpu_event_time_us() + 1, memory_order_relaxed);
}

static status record(struct event *event, void *stream, unsigned flags)
{
    bool is_captured = false;
    status error = flags == EXTERNAL ? plim_capture_work(stream, PLIM_NODE_EVENT_RECORD, NULL, NULL, NULL)
                                     : plim_capture_record(stream, &event->capture, &is_captured);
    if (error || is_captured)
        return error;
    record_now(event);
    if (flags != EXTERNAL)
        plim_schedule_mark(plim_stream_of(stream), &event->moment);
    return PLIM_CUDA_SUCCESS;
}

status cuEventRecordWithFlags(void *handle, void *stream, unsigned flags)
{
    struct event *event = flags == 0 && plim_stream_of(stream) ? plain_event_of(handle) : NULL;
    if (event) {
        record_now(event);
        return PLIM_CUDA_SUCCESS;
    }
    pthread_mutex_lock(&lock);
    event = event_of(handle);
    const status error = !event             ? PLIM_CUDA_INVALID_HANDLE
                         : flags > EXTERNAL ? PLIM_CUDA_INVALID_VALUE
                                            : record(event, stream, flags);
    pthread_mutex_unlock(&lock);
    return error;
}

status cuEventRecord(void *event, void *stream) { return cuEventRecordWithFlags(event, stream, 0); }

static status wait_in(void *stream, const struct event *event, unsigned flags)
{
    bool is_captured = false;
    if (flags == EXTERNAL)
        return plim_capture_work(stream, PLIM_NODE_WAIT_EVENT, NULL, NULL, NULL);
    status error = plim_capture_wait(stream, &event->capture, &is_captured);
    if (!error && !is_captured)
        plim_schedule_order(plim_stream_of(stream), &event->moment);
    return error;
}

status cuStreamWaitEvent(void *stream, void *handle, unsigned flags)
{
    if (flags == 0 && plim_stream_of(stream) && plain_event_of(handle))
        return PLIM_CUDA_SUCCESS;
    pthread_mutex_lock(&lock);
    const struct event *event = event_of(handle);
    const status error = event ? wait_in(stream, event, flags) : PLIM_CUDA_INVALID_HANDLE;
    pthread_mutex_unlock(&lock);
    return error;
}

/* An event of a capture is never complete: the query is an error. With the lock held. */
static status ask(const void *handle)
{
    const struct event *event = event_of(handle);
    return !event ? PLIM_CUDA_INVALID_HANDLE : event->capture.id ? PLIM_CUDA_CAPTURED_EVENT : PLIM_CUDA_SUCCESS;
}

status cuEventQuery(void *event)
{
    if (plain_event_of(event))
        return PLIM_CUDA_SUCCESS;
    pthread_mutex_lock(&lock);
    status error = ask(event);
    if (!error)
        error = plim_capture_unsafe();
    if (!error && !plim_schedule_is_reached(&event_of(event)->moment))
        error = PLIM_CUDA_NOT_READY;
    pthread_mutex_unlock(&lock);
    return error;
}

status cuEventSynchronize(void *event)
{
    plim_vgpu_waited();
    if (plain_event_of(event))
        return PLIM_CUDA_SUCCESS;
    pthread_mutex_lock(&lock);
    status error = ask(event);
    if (!error && !(error = plim_capture_unsafe()))
        plim_schedule_reach(&event_of(event)->moment);
    pthread_mutex_unlock(&lock);
    return error;
}

/* The flags and the time of a recorded event. */
static bool recorded(const void *handle, unsigned *ret_flags, uint64_t *ret_time_us)
{
    pthread_mutex_lock(&lock);
    const struct event *event = event_of(handle);
    if (event) {
        *ret_flags = event->flags;
        *ret_time_us = event->time_us;
    }
    pthread_mutex_unlock(&lock);
    return event && *ret_time_us;
}

/* More than zero: programs divide by it. */
status cuEventElapsedTime(float *ms, void *start, void *end)
{
    unsigned flags[2];
    uint64_t a_us, b_us;
    if (!recorded(start, &flags[0], &a_us) || !recorded(end, &flags[1], &b_us) ||
        ((flags[0] | flags[1]) & DISABLE_TIMING))
        return PLIM_CUDA_INVALID_HANDLE;
    if (!ms)
        return PLIM_CUDA_INVALID_VALUE;
    *ms = b_us > a_us ? (float)(b_us - a_us) / 1000 : 0.001f;
    return PLIM_CUDA_SUCCESS;
}

status cuEventElapsedTime_v2(float *ms, void *start, void *end) { return cuEventElapsedTime(ms, start, end); }

status cuCtxRecordEvent(void *context, void *event)
{
    return plim_context_device_of(context) < 0 ? PLIM_CUDA_INVALID_CONTEXT : cuEventRecordWithFlags(event, NULL, 0);
}

status cuCtxWaitEvent(void *context, void *event)
{
    if (plim_context_device_of(context) < 0)
        return PLIM_CUDA_INVALID_CONTEXT;
    pthread_mutex_lock(&lock);
    const status error = ask(event);
    pthread_mutex_unlock(&lock);
    return error;
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
    struct shared_event shared = { .pid = (int)getpid() };
    bool is_shared = false;
    pthread_mutex_lock(&lock);
    const struct event *event = event_of(handle);
    if (event) {
        is_shared = event->flags & INTERPROCESS;
        shared.id = ((const struct plim_object *)handle)->id;
    }
    pthread_mutex_unlock(&lock);
    if (!event)
        return PLIM_CUDA_INVALID_HANDLE;
    if (!ret_handle || !is_shared)
        return PLIM_CUDA_INVALID_VALUE;
    memcpy(shared.magic, magic, sizeof magic);
    memcpy(ret_handle, &shared, sizeof *ret_handle);
    return PLIM_CUDA_SUCCESS;
}

status cuIpcOpenEventHandle(void **ret_event, struct cu_ipc_handle handle)
{
    return memcmp(handle.bytes, magic, sizeof magic) ? PLIM_CUDA_INVALID_VALUE
                                                     : create(ret_event, DISABLE_TIMING | INTERPROCESS, true);
}
