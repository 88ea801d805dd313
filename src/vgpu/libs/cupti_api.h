/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_LIBS_CUPTI_API_H
#define PLIMSOLL_VGPU_LIBS_CUPTI_API_H

/* The functions of the CUPTI API that have a body in libcupti.so.11 to .13: our own declarations after its manual. */

#include "vgpu/core/cuda_api.h"

status cuptiSubscribe(void **ret_subscriber, void *callback, void *data);
status cuptiUnsubscribe(void *handle);
status cuptiEnableCallback(uint32_t is_on, const void *handle, int domain, uint32_t id);
status cuptiEnableDomain(uint32_t is_on, const void *handle, int domain);
status cuptiEnableAllDomains(uint32_t is_on, const void *handle);
status cuptiActivityEnable(int kind);
status cuptiActivityDisable(int kind);
status cuptiActivityEnableContext(const void *context, int kind);
status cuptiActivityDisableContext(const void *context, int kind);
status cuptiActivityEnableDriverApi(uint32_t id, uint8_t is_on);
status cuptiActivityEnableRuntimeApi(uint32_t id, uint8_t is_on);
status cuptiActivityEnableCudaEventDeviceTimestamps(uint8_t is_on);
status cuptiActivityEnableLatencyTimestamps(uint8_t is_on);
status cuptiActivityRegisterTimestampCallback(void *callback);
status cuptiActivityFlushAll(uint32_t flag);
status cuptiActivityFlush(void *context, uint32_t stream, uint32_t flag);
status cuptiGetLastError(void);
status cuptiFinalize(void);
status cuptiActivityRegisterCallbacks(void *requested, void *completed);
status cuptiActivityGetNextRecord(uint8_t *buffer, size_t size, void **record);
status cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *ret_n);
status cuptiActivitySetAttribute(int attribute, size_t *size, void *value);
status cuptiActivityPushExternalCorrelationId(unsigned kind, uint64_t id);
status cuptiActivityPopExternalCorrelationId(unsigned kind, uint64_t *ret_last);
status cuptiGetVersion(uint32_t *ret_version);
status cuptiGetTimestamp(uint64_t *ret_ns);
status cuptiGetResultString(status result, const char **ret_text);
status cuptiGetCallbackName(int domain, uint32_t id, const char **ret_name);

#endif
