/* SPDX-License-Identifier: MIT */
/*
 * libcudart: streams, events, capture, graphs. Everything is complete at once. Handles are slots of one array that is
 * never given back, so that a handle of something destroyed, or of something else, is known as such and not followed.
 */
#include "vgpu/runtime.h"
#include "vgpu/steps.h"

#include <stdatomic.h>
#include <sys/mman.h>

enum type { TYPE_NONE, TYPE_STREAM, TYPE_EVENT, TYPE_GRAPH, TYPE_EXEC };
enum { CAPTURE_NONE = 0, CAPTURE_ACTIVE = 1, CAPTURE_INVALIDATED = 2 }; /* as cudaStreamCaptureStatus */
enum { MAX_OBJECTS = 1 << 20 };

struct object {
    _Atomic int type; /* enum type */
    int capture;
    uint32_t flags, next; /* 1 + the next free one */
    uint64_t capture_id;
    uint64_t n_nodes;
    uint64_t time_us; /* of an event; 0: not recorded */
};

static struct object *objects;
static uint32_t n_objects, free_object;
static atomic_ullong last_capture;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static status make(void **handle, enum type type)
{
    struct object *made = NULL;
    status error = plim_runtime_ready();
    if (error)
        return error;
    pthread_mutex_lock(&lock);
    if (!objects) {
        void *start = mmap(NULL, MAX_OBJECTS * sizeof *objects, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        objects = start == MAP_FAILED ? NULL : start;
    }
    if (objects && free_object) {
        made = &objects[free_object - 1];
        free_object = made->next;
    } else if (objects && n_objects < MAX_OBJECTS) {
        made = &objects[n_objects++];
    }
    if (made) {
        made->capture = CAPTURE_NONE;
        made->flags = 0;
        made->n_nodes = made->time_us = 0;
        atomic_store(&made->type, (int)type);
        *handle = made;
    }
    pthread_mutex_unlock(&lock);
    return plim_runtime_fail(made ? PLIM_CUDA_SUCCESS : PLIM_CUDA_OUT_OF_MEMORY);
}

static struct object *object_of(const void *handle, enum type type)
{
    const uintptr_t at = (uintptr_t)handle, first = (uintptr_t)objects;
    if (!objects || at < first || at >= first + MAX_OBJECTS * sizeof *objects || (at - first) % sizeof *objects)
        return NULL;
    struct object *object = &objects[(at - first) / sizeof *objects];
    return atomic_load(&object->type) == (int)type ? object : NULL;
}

static status drop(void *handle, enum type type)
{
    pthread_mutex_lock(&lock);
    struct object *object = object_of(handle, type);
    if (object) {
        atomic_store(&object->type, TYPE_NONE);
        object->next = free_object;
        free_object = (uint32_t)(object - objects) + 1;
    }
    pthread_mutex_unlock(&lock);
    return plim_runtime_fail(object ? PLIM_CUDA_SUCCESS : PLIM_CUDA_INVALID_HANDLE);
}

/* The default stream, the legacy one and the one per thread. */
static bool is_default(const void *stream) { return (uintptr_t)stream <= 2; }

status plim_runtime_stream(void *stream)
{
    if (is_default(stream))
        return plim_runtime_ready();
    return plim_runtime_fail(object_of(stream, TYPE_STREAM) ? PLIM_CUDA_SUCCESS : PLIM_CUDA_INVALID_HANDLE);
}

void plim_runtime_capture(void *stream)
{
    struct object *object = is_default(stream) ? NULL : object_of(stream, TYPE_STREAM);
    if (object && object->capture == CAPTURE_ACTIVE)
        object->n_nodes++;
}

/* --- streams --- */

status cudaStreamCreateWithPriority(void **stream, unsigned flags, int priority)
{
    (void)priority;
    status error = make(stream, TYPE_STREAM);
    if (!error)
        ((struct object *)*stream)->flags = flags;
    return error;
}

status cudaStreamCreateWithFlags(void **stream, unsigned flags)
{
    return cudaStreamCreateWithPriority(stream, flags, 0);
}
status cudaStreamCreate(void **stream) { return cudaStreamCreateWithPriority(stream, 0, 0); }
status cudaStreamDestroy(void *stream) { return drop(stream, TYPE_STREAM); }

status cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    if (least)
        *least = 0;
    if (greatest)
        *greatest = -5;
    return plim_runtime_ready();
}

/* Not while it captures: that spoils the capture. */
static status wait_for(void *stream)
{
    struct object *object = is_default(stream) ? NULL : object_of(stream, TYPE_STREAM);
    if (!object || object->capture == CAPTURE_NONE)
        return plim_runtime_stream(stream);
    object->capture = CAPTURE_INVALIDATED;
    return plim_runtime_fail(PLIM_CUDA_CAPTURE_UNSUPPORTED);
}

status cudaStreamSynchronize(void *stream)
{
    plim_vgpu_waited();
    return wait_for(stream);
}

status cudaStreamQuery(void *stream) { return wait_for(stream); }

status cudaStreamWaitEvent(void *stream, void *event, unsigned flags)
{
    (void)flags;
    status error = plim_runtime_stream(stream);
    return error ? error
                 : plim_runtime_fail(object_of(event, TYPE_EVENT) ? PLIM_CUDA_SUCCESS : PLIM_CUDA_INVALID_HANDLE);
}

/* What the program wants to happen behind its kernels happens: they are done. */
status cudaLaunchHostFunc(void *stream, void (*function)(void *), void *data)
{
    status error = plim_runtime_stream(stream);
    struct object *object = is_default(stream) ? NULL : object_of(stream, TYPE_STREAM);
    if (error)
        return error;
    if (object && object->capture == CAPTURE_ACTIVE)
        plim_runtime_capture(stream);
    else
        function(data);
    return PLIM_CUDA_SUCCESS;
}

status cudaStreamAddCallback(void *stream, void (*function)(void *, status, void *), void *data, unsigned flags)
{
    (void)flags;
    status error = plim_runtime_stream(stream);
    if (!error)
        function(stream, PLIM_CUDA_SUCCESS, data);
    return error;
}

/* --- capture --- */

status cudaStreamBeginCapture(void *stream, int mode)
{
    (void)mode;
    struct object *object = object_of(stream, TYPE_STREAM);
    if (!object)
        return plim_runtime_fail(is_default(stream) ? PLIM_CUDA_CAPTURE_UNSUPPORTED : PLIM_CUDA_INVALID_HANDLE);
    if (object->capture != CAPTURE_NONE)
        return plim_runtime_fail(PLIM_CUDA_ILLEGAL_STATE);
    object->capture = CAPTURE_ACTIVE;
    object->capture_id = atomic_fetch_add(&last_capture, 1) + 1;
    object->n_nodes = 0;
    return PLIM_CUDA_SUCCESS;
}

status cudaStreamEndCapture(void *stream, void **graph)
{
    struct object *object = object_of(stream, TYPE_STREAM);
    *graph = NULL;
    if (!object)
        return plim_runtime_fail(PLIM_CUDA_INVALID_HANDLE);
    const int capture = object->capture;
    object->capture = CAPTURE_NONE;
    if (capture != CAPTURE_ACTIVE)
        return plim_runtime_fail(capture == CAPTURE_NONE ? PLIM_CUDA_ILLEGAL_STATE : PLIM_CUDA_CAPTURE_INVALIDATED);
    status error = make(graph, TYPE_GRAPH);
    if (!error && *graph)
        ((struct object *)*graph)->n_nodes = object->n_nodes;
    return error;
}

status cudaStreamIsCapturing(void *stream, int *ret_status)
{
    const struct object *object = is_default(stream) ? NULL : object_of(stream, TYPE_STREAM);
    status error = plim_runtime_stream(stream);
    if (!error)
        *ret_status = object ? object->capture : CAPTURE_NONE;
    return error;
}

status cudaThreadExchangeStreamCaptureMode(int *mode)
{
    static _Thread_local int current;
    int old = current;
    current = *mode;
    *mode = old;
    return PLIM_CUDA_SUCCESS;
}

/* --- graphs: how many nodes they have is all that is known of them --- */

status cudaGraphInstantiate(void **exec, void *graph, unsigned long long flags)
{
    const struct object *object = object_of(graph, TYPE_GRAPH);
    (void)flags;
    if (!object)
        return plim_runtime_fail(PLIM_CUDA_INVALID_VALUE);
    status error = make(exec, TYPE_EXEC);
    if (!error)
        ((struct object *)*exec)->n_nodes = object->n_nodes;
    return error;
}

/* cudaGraphExecUpdateResultInfo: the result (0: success) and two nodes. */
struct update_result {
    int result;
    void *node, *from_node;
};

status cudaGraphExecUpdate(void *exec, void *graph, struct update_result *ret_result)
{
    struct object *old = object_of(exec, TYPE_EXEC);
    const struct object *object = object_of(graph, TYPE_GRAPH);
    if (!old || !object)
        return plim_runtime_fail(PLIM_CUDA_INVALID_VALUE);
    old->n_nodes = object->n_nodes;
    if (ret_result)
        *ret_result = (struct update_result){ 0, NULL, NULL };
    return PLIM_CUDA_SUCCESS;
}

status cudaGraphLaunch(void *exec, void *stream)
{
    if (!object_of(exec, TYPE_EXEC))
        return plim_runtime_fail(PLIM_CUDA_INVALID_VALUE);
    status error = plim_runtime_stream(stream);
    plim_vgpu_launched(exec);
    return error ? error : plim_runtime_fail(plim_vgpu_need_kernels(plim_runtime_device()));
}

status cudaGraphDestroy(void *graph) { return drop(graph, TYPE_GRAPH); }
status cudaGraphExecDestroy(void *exec) { return drop(exec, TYPE_EXEC); }

/* --- events --- */

status cudaEventCreateWithFlags(void **event, unsigned flags)
{
    (void)flags;
    return make(event, TYPE_EVENT);
}

status cudaEventCreate(void **event) { return make(event, TYPE_EVENT); }
status cudaEventDestroy(void *event) { return drop(event, TYPE_EVENT); }

status cudaEventRecord(void *event, void *stream)
{
    struct object *object = object_of(event, TYPE_EVENT);
    if (!object)
        return plim_runtime_fail(PLIM_CUDA_INVALID_HANDLE);
    object->time_us = plim_vgpu_now_us() + 1;
    return plim_runtime_stream(stream);
}

status cudaEventRecordWithFlags(void *event, void *stream, unsigned flags)
{
    (void)flags;
    return cudaEventRecord(event, stream);
}

status cudaEventSynchronize(void *event)
{
    plim_vgpu_waited();
    return plim_runtime_fail(object_of(event, TYPE_EVENT) ? PLIM_CUDA_SUCCESS : PLIM_CUDA_INVALID_HANDLE);
}

status cudaEventQuery(void *event) { return cudaEventSynchronize(event); }

/* More than nothing: programs divide by it. */
status cudaEventElapsedTime(float *ms, void *start, void *end)
{
    const struct object *a = object_of(start, TYPE_EVENT), *b = object_of(end, TYPE_EVENT);
    if (!a || !b || !a->time_us || !b->time_us)
        return plim_runtime_fail(PLIM_CUDA_INVALID_HANDLE);
    *ms = b->time_us > a->time_us ? (float)(b->time_us - a->time_us) / 1000 : 0.001f;
    return PLIM_CUDA_SUCCESS;
}
