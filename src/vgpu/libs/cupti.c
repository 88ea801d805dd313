/* SPDX-License-Identifier: MIT */
/*
 * libcupti: a profiler may subscribe and request records, but gets none: nothing takes time on a virtual card. One
 * source serves libcupti.so.11.7, .11.8, .12 and .13 (PLIM_MAJOR).
 */
#include "vgpu/libs/cupti_api.h"
#include "vgpu/libs/library.h"

#include <time.h>

enum { SUCCESS = 0, INVALID_PARAMETER = 1, MAX_LIMIT_REACHED = 12, QUEUE_EMPTY = 18, MULTIPLE_SUBSCRIBERS = 39 };
enum { SUBSCRIBER = 1 };
enum { API_VERSION = PLIM_MAJOR == 13 ? 130202 : PLIM_MAJOR == 12 ? 26 : 10 + PLIM_MINOR }; /* cupti_version.h */

static void *subscriber;

/* Only one subscriber at a time. */
status cuptiSubscribe(void **ret_subscriber, void *callback, void *data)
{
    (void)callback, (void)data;
    if (!ret_subscriber)
        return INVALID_PARAMETER;
    if (subscriber)
        return MULTIPLE_SUBSCRIBERS;
    plim_vgpu_remark("no_records", "CUPTI has no records of a virtual card: a profile shows the host's side only");
    *ret_subscriber = subscriber = plim_handle_make(SUBSCRIBER, 1, NULL);
    return SUCCESS;
}

status cuptiUnsubscribe(void *handle)
{
    if (!handle || handle != subscriber)
        return INVALID_PARAMETER;
    plim_handle_drop(handle);
    subscriber = NULL;
    return SUCCESS;
}

status cuptiEnableCallback(uint32_t is_on, const void *handle, int domain, uint32_t id)
{
    (void)is_on, (void)domain, (void)id;
    return handle && handle == subscriber ? SUCCESS : INVALID_PARAMETER;
}

status cuptiEnableDomain(uint32_t is_on, const void *handle, int domain)
{
    (void)is_on, (void)domain;
    return handle && handle == subscriber ? SUCCESS : INVALID_PARAMETER;
}

status cuptiEnableAllDomains(uint32_t is_on, const void *handle) { return cuptiEnableDomain(is_on, handle, 0); }
status cuptiActivityEnable(int kind) { return (void)kind, SUCCESS; }
status cuptiActivityDisable(int kind) { return (void)kind, SUCCESS; }
status cuptiActivityEnableContext(const void *context, int kind) { return (void)context, (void)kind, SUCCESS; }
status cuptiActivityDisableContext(const void *context, int kind) { return (void)context, (void)kind, SUCCESS; }
status cuptiActivityEnableDriverApi(uint32_t id, uint8_t is_on) { return (void)id, (void)is_on, SUCCESS; }
status cuptiActivityEnableRuntimeApi(uint32_t id, uint8_t is_on) { return (void)id, (void)is_on, SUCCESS; }
status cuptiActivityEnableCudaEventDeviceTimestamps(uint8_t is_on) { return (void)is_on, SUCCESS; }
status cuptiActivityEnableLatencyTimestamps(uint8_t is_on) { return (void)is_on, SUCCESS; }
status cuptiActivityRegisterTimestampCallback(void *callback) { return callback ? SUCCESS : INVALID_PARAMETER; }
status cuptiActivityFlushAll(uint32_t flag) { return (void)flag, SUCCESS; }
status cuptiActivityFlush(void *context, uint32_t stream, uint32_t flag)
{
    (void)context, (void)stream, (void)flag;
    return SUCCESS;
}
status cuptiGetLastError(void) { return SUCCESS; }

status cuptiFinalize(void)
{
    if (subscriber)
        plim_handle_drop(subscriber);
    subscriber = NULL;
    return SUCCESS;
}

/* No buffer is ever requested. */
status cuptiActivityRegisterCallbacks(void *requested, void *completed)
{
    return requested && completed ? SUCCESS : INVALID_PARAMETER;
}

status cuptiActivityGetNextRecord(uint8_t *buffer, size_t size, void **record)
{
    (void)buffer, (void)size;
    return record ? MAX_LIMIT_REACHED : INVALID_PARAMETER;
}

status cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *ret_n)
{
    (void)context, (void)stream;
    if (!ret_n)
        return INVALID_PARAMETER;
    *ret_n = 0;
    return SUCCESS;
}

status cuptiActivitySetAttribute(int attribute, size_t *size, void *value)
{
    (void)attribute;
    return size && value ? SUCCESS : INVALID_PARAMETER;
}

/* A stack of correlation numbers per thread and kind. */
enum { MAX_KINDS = 8, MAX_DEPTH = 64 };
static _Thread_local struct {
    uint64_t id[MAX_DEPTH];
    unsigned depth;
} stacks[MAX_KINDS];

status cuptiActivityPushExternalCorrelationId(unsigned kind, uint64_t id)
{
    if (kind >= MAX_KINDS)
        return INVALID_PARAMETER;
    if (stacks[kind].depth < MAX_DEPTH)
        stacks[kind].id[stacks[kind].depth] = id;
    stacks[kind].depth++;
    return SUCCESS;
}

status cuptiActivityPopExternalCorrelationId(unsigned kind, uint64_t *ret_last)
{
    if (kind >= MAX_KINDS)
        return INVALID_PARAMETER;
    if (!stacks[kind].depth)
        return QUEUE_EMPTY;
    const unsigned top = --stacks[kind].depth;
    if (ret_last)
        *ret_last = top < MAX_DEPTH ? stacks[kind].id[top] : 0;
    return SUCCESS;
}

/* --- queries --- */

status cuptiGetVersion(uint32_t *ret_version)
{
    if (!ret_version)
        return INVALID_PARAMETER;
    *ret_version = API_VERSION;
    return SUCCESS;
}

status cuptiGetTimestamp(uint64_t *ret_ns)
{
    struct timespec now;
    if (!ret_ns)
        return INVALID_PARAMETER;
    clock_gettime(CLOCK_REALTIME, &now);
    *ret_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    return SUCCESS;
}

status cuptiGetResultString(status result, const char **ret_text)
{
    if (!ret_text)
        return INVALID_PARAMETER;
    *ret_text = result == SUCCESS             ? "CUPTI_SUCCESS"
                : result == INVALID_PARAMETER ? "CUPTI_ERROR_INVALID_PARAMETER"
                : result == MAX_LIMIT_REACHED ? "CUPTI_ERROR_MAX_LIMIT_REACHED"
                                              : "an error of the virtual CUPTI";
    return SUCCESS;
}

status cuptiGetCallbackName(int domain, uint32_t id, const char **ret_name)
{
    (void)domain, (void)id;
    if (!ret_name)
        return INVALID_PARAMETER;
    *ret_name = "?";
    return SUCCESS;
}
