/* SPDX-License-Identifier: MIT */
/* libcuda: streams. Work in a stream is complete at once, unless the stream captures it (or the schedule is lazy). */
#include "vgpu/core/cuda_api.h"
#include "vgpu/core/steps.h"
#include "vgpu/driver/contexts.h"
#include "vgpu/driver/graphs/capture.h"
#include "vgpu/driver/memory/pools.h"
#include "vgpu/driver/memory/values.h"
#include "vgpu/driver/streams/schedule.h"

#include <string.h>

/* --- streams --- */

status cuStreamCreateWithPriority(void **ret_stream, unsigned flags, int priority)
{
    status error = plim_context_need();
    if (error || !ret_stream || flags > 1)
        return error ? error : PLIM_CUDA_INVALID_VALUE;
    const struct plim_stream stream = { .flags = flags,
                                        .priority = priority > 0    ? 0
                                                    : priority < -5 ? -5
                                                                    : priority,
                                        .device = plim_context_device(),
                                        .context = plim_context_current() };
    _Static_assert(sizeof stream <= sizeof((struct plim_object *)0)->body, "a stream fits its slot");
    struct plim_object *object = plim_object_make(PLIM_OBJECT_STREAM, &stream, sizeof stream);
    if (!object)
        return PLIM_CUDA_OUT_OF_MEMORY;
    *ret_stream = object;
    return PLIM_CUDA_SUCCESS;
}

status cuStreamCreate(void **ret_stream, unsigned flags) { return cuStreamCreateWithPriority(ret_stream, flags, 0); }

status cuStreamDestroy_v2(void *handle)
{
    PLIM_OBJECTS_LOCKED;
    struct plim_object *object = plim_object_of(handle, PLIM_OBJECT_STREAM);
    if (!object)
        return PLIM_CUDA_INVALID_HANDLE;
    plim_schedule_forget(PLIM_BODY(object, plim_stream));
    struct plim_object *graph = plim_capture_forget(PLIM_BODY(object, plim_stream));
    plim_object_drop(object);
    plim_cuda_graph_free(graph); /* last: it lets the lock go */
    return PLIM_CUDA_SUCCESS;
}

status cuStreamGetPriority(void *handle, int *priority)
{
    const struct plim_stream *stream = plim_stream_of(handle);
    if (stream)
        *priority = stream->priority;
    return stream ? PLIM_CUDA_SUCCESS : PLIM_CUDA_INVALID_HANDLE;
}

status cuStreamGetFlags(void *handle, unsigned *flags)
{
    const struct plim_stream *stream = plim_stream_of(handle);
    if (stream)
        *flags = stream->flags;
    return stream ? PLIM_CUDA_SUCCESS : PLIM_CUDA_INVALID_HANDLE;
}

status cuStreamGetId(void *handle, unsigned long long *id)
{
    const struct plim_object *object = plim_object_of(handle, PLIM_OBJECT_STREAM);
    if (!plim_stream_of(handle))
        return PLIM_CUDA_INVALID_HANDLE;
    *id = object ? object->id : (uintptr_t)handle;
    return PLIM_CUDA_SUCCESS;
}

status cuStreamGetCtx(void *handle, void **ret_context)
{
    const struct plim_stream *stream = plim_stream_of(handle);
    if (stream)
        *ret_context = stream->context ? stream->context : plim_context_current();
    return stream ? PLIM_CUDA_SUCCESS : PLIM_CUDA_INVALID_HANDLE;
}

status cuStreamGetDevice(void *handle, int *device)
{
    const struct plim_stream *stream = plim_stream_of(handle);
    if (stream)
        *device = stream->context ? stream->device : plim_context_device();
    return stream ? PLIM_CUDA_SUCCESS : PLIM_CUDA_INVALID_HANDLE;
}

status cuStreamCopyAttributes(void *to, void *from)
{
    return plim_stream_of(to) && plim_stream_of(from) ? PLIM_CUDA_SUCCESS : PLIM_CUDA_INVALID_HANDLE;
}

/* Hints, such as windows of L2. */
status cuStreamSetAttribute(void *stream, int attribute, const void *value)
{
    (void)attribute, (void)value;
    return plim_stream_of(stream) ? PLIM_CUDA_SUCCESS : PLIM_CUDA_INVALID_HANDLE;
}

status cuStreamAttachMemAsync(void *stream, device_pointer address, size_t size, unsigned flags)
{
    (void)address, (void)size, (void)flags;
    return plim_stream_of(stream) ? PLIM_CUDA_SUCCESS : PLIM_CUDA_INVALID_HANDLE;
}

/* Waiting for a capturing stream invalidates the capture. */
static status wait_for(void *handle)
{
    struct plim_stream *stream = plim_stream_of(handle);
    if (!stream)
        return PLIM_CUDA_INVALID_HANDLE;
    if (plim_stream_is_legacy(stream))
        return plim_capture_unsafe();
    if (!atomic_load_explicit(&stream->capture, memory_order_acquire))
        return PLIM_CUDA_SUCCESS;
    plim_objects_lock();
    struct plim_capture *capture = plim_stream_of(handle) == stream ? atomic_load(&stream->capture) : NULL;
    if (capture)
        capture->status = PLIM_CAPTURE_INVALIDATED;
    plim_objects_unlock();
    return PLIM_CUDA_CAPTURE_UNSUPPORTED;
}

status cuStreamSynchronize(void *stream)
{
    plim_vgpu_waited();
    status error = wait_for(stream);
    if (!error) {
        plim_schedule_finish(plim_stream_of(stream));
        plim_pools_settle();
    }
    return error;
}

status cuStreamQuery(void *stream)
{
    status error = wait_for(stream);
    return error || plim_schedule_is_idle(plim_stream_of(stream)) ? error : PLIM_CUDA_NOT_READY;
}

status cuCtxSynchronize(void)
{
    status error = plim_context_need();
    if (error || (error = plim_capture_unsafe()))
        return error;
    plim_vgpu_waited();
    plim_schedule_finish_all(plim_context_device());
    plim_pools_settle();
    return PLIM_CUDA_SUCCESS;
}

status cuCtxSynchronize_v2(void *context)
{
    return context && plim_context_device_of(context) < 0 ? PLIM_CUDA_INVALID_CONTEXT : cuCtxSynchronize();
}

/* The function runs at once: the kernels before it are done. */
status cuLaunchHostFunc(void *stream, void (*function)(void *), void *data)
{
    const struct cu_host_call call = { function, data };
    bool is_captured = false;
    if (!function)
        return PLIM_CUDA_INVALID_VALUE;
    status error = plim_capture_work(stream, PLIM_NODE_HOST, &call, NULL, &is_captured);
    if (!error && !is_captured)
        function(data);
    return error;
}

status cuLaunchHostFunc_v2(void *stream, void (*function)(void *), void *data, unsigned mode)
{
    (void)mode;
    return cuLaunchHostFunc(stream, function, data);
}

status cuStreamAddCallback(void *handle, void (*function)(void *, status, void *), void *data, unsigned flags)
{
    const struct plim_stream *stream = plim_stream_of(handle);
    if (!stream || !function || flags)
        return stream ? PLIM_CUDA_INVALID_VALUE : PLIM_CUDA_INVALID_HANDLE;
    if (atomic_load(&stream->capture))
        return wait_for(handle);
    function(handle, PLIM_CUDA_SUCCESS, data);
    return PLIM_CUDA_SUCCESS;
}

/* --- streams that wait for a word in memory, or write it --- */

static status write_word(void *stream, device_pointer address, uint64_t value, unsigned width)
{
    void *to = (void *)(uintptr_t)address;
    return plim_values_write_word(to, value, width, stream);
}

/* No wait here. */
static status wait_for_word(void *stream)
{
    return plim_capture_work(stream, PLIM_NODE_BATCH_MEM_OP, NULL, NULL, NULL);
}

status cuStreamWriteValue32_v2(void *stream, device_pointer address, uint32_t value, unsigned flags)
{
    (void)flags;
    return write_word(stream, address, value, 4);
}

status cuStreamWriteValue64_v2(void *stream, device_pointer address, uint64_t value, unsigned flags)
{
    (void)flags;
    return write_word(stream, address, value, 8);
}

status cuStreamWaitValue32_v2(void *stream, device_pointer address, uint32_t value, unsigned flags)
{
    (void)address, (void)value, (void)flags;
    return wait_for_word(stream);
}

status cuStreamWaitValue64_v2(void *stream, device_pointer address, uint64_t value, unsigned flags)
{
    (void)address, (void)value, (void)flags;
    return wait_for_word(stream);
}

status cuStreamBatchMemOp_v2(void *stream, unsigned count, void *operations, unsigned flags)
{
    enum { WRITE_32 = 2, WRITE_64 = 5, MAX_OPERATIONS = 256 }; /* CUstreamBatchMemOpType; the driver's limit */
    struct {
        int type, pad;
        device_pointer address;
        uint64_t value, rest[3];
    } operation;
    _Static_assert(sizeof operation == 48, "CUstreamBatchMemOpParams");
    (void)flags;
    if (!operations || count > MAX_OPERATIONS)
        return PLIM_CUDA_INVALID_VALUE;
    status error = wait_for_word(stream);
    for (unsigned i = 0; i < count && !error; i++) {
        memcpy(&operation, (const char *)operations + i * sizeof operation, sizeof operation);
        if (operation.type == WRITE_32 || operation.type == WRITE_64)
            error = write_word(stream, operation.address, operation.value, operation.type == WRITE_32 ? 4 : 8);
    }
    return error;
}
