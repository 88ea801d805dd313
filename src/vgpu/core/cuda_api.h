/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_CORE_CUDA_API_H
#define PLIMSOLL_VGPU_CORE_CUDA_API_H

/*
 * The functions of the CUDA driver API that have a body in libcuda.so.1: our own declarations after the reference (12.8
 * to 13.2), read by the files that define a function and by those that call it. Handles are void *, enumerations are
 * int, and a structure has the members that are read; its size is that of the reference.
 */

#include "vgpu/core/errors.h"

#include <stddef.h>
#include <stdint.h>

typedef int status;                        /* CUresult; also cudaError_t, cublasStatus_t and the like */
typedef unsigned long long device_pointer; /* CUdeviceptr */

/* CUlaunchConfig */
struct cu_launch {
    unsigned grid[3], block[3], shared_bytes;
    void *stream, *attributes;
    unsigned n_attributes;
};
_Static_assert(sizeof(struct cu_launch) == 56, "CUlaunchConfig");

/* CUmemLocation: type 1 is a device. */
struct cu_location {
    int type, id;
};

/* CUmemAccessDesc */
struct cu_access {
    struct cu_location location;
    int flags;
};
_Static_assert(sizeof(struct cu_access) == 12, "CUmemAccessDesc");

/* CUmemAllocationProp: type 1 is pinned. */
struct cu_allocation_properties {
    int type, handle_types;
    struct cu_location location;
    void *security;
    unsigned char flags[8];
};
_Static_assert(sizeof(struct cu_allocation_properties) == 32, "CUmemAllocationProp");

/* CUmemPoolProps */
struct cu_pool_properties {
    int type, handle_types;
    struct cu_location location;
    void *security;
    size_t max_bytes;
    unsigned short usage;
    unsigned char reserved[54];
};
_Static_assert(sizeof(struct cu_pool_properties) == 88, "CUmemPoolProps");

/* CUipcMemHandle and CUipcEventHandle: opaque. */
struct cu_ipc_handle {
    unsigned char bytes[64];
};

/* One side of CUDA_MEMCPY2D_v2. */
struct cu_copy_side_2d {
    size_t x, y;
    int type; /* CUmemorytype */
    char *host;
    device_pointer device;
    void *array;
    size_t pitch;
};

struct cu_copy_2d {
    struct cu_copy_side_2d from, to;
    size_t width, height;
};
_Static_assert(sizeof(struct cu_copy_2d) == 128, "CUDA_MEMCPY2D_v2");

/* One side of CUDA_MEMCPY3D_v2; CUDA_MEMCPY3D_PEER has a context in the place of `nothing`. */
struct cu_copy_side_3d {
    size_t x, y, z, level;
    int type;
    char *host;
    device_pointer device;
    void *array, *nothing;
    size_t pitch, height;
};

struct cu_copy_3d {
    struct cu_copy_side_3d from, to;
    size_t width, height, depth;
};
_Static_assert(sizeof(struct cu_copy_3d) == 200, "CUDA_MEMCPY3D_v2");

/* CUDA_ARRAY_DESCRIPTOR_v2 */
struct cu_array {
    size_t width, height;
    int format;
    unsigned n_channels;
};
_Static_assert(sizeof(struct cu_array) == 24, "CUDA_ARRAY_DESCRIPTOR");

/* CUDA_ARRAY3D_DESCRIPTOR_v2: a height or depth of 0 is a dimension less. */
struct cu_array_3d {
    size_t width, height, depth;
    int format;
    unsigned n_channels, flags;
};
_Static_assert(sizeof(struct cu_array_3d) == 40, "CUDA_ARRAY3D_DESCRIPTOR");

/* CUDA_RESOURCE_DESC: type 0 is an array, 1 a mipmapped one, 2 and 3 are memory. */
struct cu_resource {
    int type;
    union {
        void *array;
        device_pointer address;
        uint64_t words[16];
    } of;
    unsigned flags, nothing;
};
_Static_assert(sizeof(struct cu_resource) == 144, "CUDA_RESOURCE_DESC");

/* CUDA_TEXTURE_DESC and CUDA_RESOURCE_VIEW_DESC: kept for those who ask. */
struct cu_texture {
    int words[26];
};
struct cu_resource_view {
    uint64_t words[14];
};
_Static_assert(sizeof(struct cu_texture) == 104, "CUDA_TEXTURE_DESC");
_Static_assert(sizeof(struct cu_resource_view) == 112, "CUDA_RESOURCE_VIEW_DESC");

/* CUDA_HOST_NODE_PARAMS */
struct cu_host_call {
    void (*function)(void *);
    void *data;
};

/* CUgraphNodeParams: the type, and the parameters that are read. */
struct cu_graph_node {
    int type, reserved[3];
    union {
        struct cu_host_call host;
        struct {
            uint64_t handle;
            int type;
            unsigned size;
            void **ret_graphs;
            void *context;
        } conditional;
        void *handle; /* a graph, an event */
        uint64_t words[29];
    } of;
    uint64_t reserved_2;
};
_Static_assert(sizeof(struct cu_graph_node) == 256, "CUgraphNodeParams");

/* CUDA_GRAPH_INSTANTIATE_PARAMS */
struct cu_graph_instantiation {
    uint64_t flags;
    void *upload_stream, *ret_node;
    int ret_result; /* 0: success, 1: error */
};
_Static_assert(sizeof(struct cu_graph_instantiation) == 32, "CUDA_GRAPH_INSTANTIATE_PARAMS");

/* CUgraphExecUpdateResultInfo */
struct cu_graph_update {
    int result; /* 0: success, 2: the topology changed */
    void *node, *from_node;
};
_Static_assert(sizeof(struct cu_graph_update) == 24, "CUgraphExecUpdateResultInfo");

/* --- devices and errors --- */

status cuInit(unsigned flags);
status cuDriverGetVersion(int *version);
status cuDeviceGetCount(int *count);
status cuDeviceGet(int *device, int ordinal);
status cuDeviceGetName(char *name, int size, int device);
status cuDeviceGetUuid(void *uuid, int device);
status cuDeviceGetUuid_v2(void *uuid, int device);
status cuDeviceTotalMem_v2(size_t *bytes, int device);
status cuDeviceGetAttribute(int *value, int attribute, int device);
status cuDeviceComputeCapability(int *major, int *minor, int device);
status cuDeviceGetPCIBusId(char *text, int size, int device);
status cuDeviceGetByPCIBusId(int *device, const char *text);
status cuDeviceCanAccessPeer(int *can, int device, int peer);
status cuDeviceGetP2PAttribute(int *value, int attribute, int device, int peer);
status cuCtxEnablePeerAccess(void *peer, unsigned flags);
status cuCtxDisablePeerAccess(void *peer);
status cuDeviceGetTexture1DLinearMaxWidth(size_t *width, int format, unsigned channels, int device);
status cuDeviceGetExecAffinitySupport(int *is_supported, int type, int device);
status cuProfilerStart(void);
status cuProfilerStop(void);
status cuGLGetDevices_v2(unsigned *ret_n, int *devices, unsigned room, int list);
status cuGLGetDevices(unsigned *ret_n, int *devices, unsigned room, int list);
status cuLogsRegisterCallback(void (*callback)(void *, int, const char *, size_t), void *data, void **ret_handle);
status cuLogsUnregisterCallback(void *handle);
status cuGetErrorString(status error, const char **text);
status cuGetErrorName(status error, const char **name);
status cuGetExportTable(const void **table, const void *id);

/* --- functions by name --- */

status cuGetProcAddress_v2(const char *name, void **ret_function, int version, uint64_t flags, int *ret_status);
status cuGetProcAddress(const char *name, void **ret_function, int version, uint64_t flags);

/* --- contexts --- */

status cuDevicePrimaryCtxRetain(void **ret_context, int device);
status cuDevicePrimaryCtxRelease_v2(int device);
status cuDevicePrimaryCtxReset_v2(int device);
status cuDevicePrimaryCtxSetFlags_v2(int device, unsigned flags);
status cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *is_active);
status cuCtxCreate_v2(void **ret_context, unsigned flags, int device);
status cuCtxCreate_v3(void **ret_context, void *affinity, int n_affinity, unsigned flags, int device);
status cuCtxCreate_v4(void **ret_context, void *parameters, unsigned flags, int device);
status cuCtxDestroy_v2(void *handle);
status cuCtxPushCurrent_v2(void *handle);
status cuCtxPopCurrent_v2(void **ret_context);
status cuCtxGetCurrent(void **ret_context);
status cuCtxSetCurrent(void *handle);
status cuCtxGetDevice(int *device);
status cuCtxGetDevice_v2(int *device, void *handle);
status cuCtxGetId(void *handle, unsigned long long *id);
status cuCtxGetApiVersion(void *handle, unsigned *version);
status cuCtxGetFlags(unsigned *flags);
status cuCtxSetFlags(unsigned flags);
status cuCtxGetLimit(size_t *value, int limit);
status cuCtxSetLimit(int limit, size_t value);
status cuCtxGetCacheConfig(int *configuration);
status cuCtxSetCacheConfig(int configuration);
status cuCtxGetSharedMemConfig(int *configuration);
status cuCtxSetSharedMemConfig(int configuration);
status cuCtxGetStreamPriorityRange(int *least, int *greatest);
status cuCtxResetPersistingL2Cache(void);

/* --- memory of the card and of the host --- */

status cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes);
status cuMemAlloc_v2(device_pointer *address, size_t size);
status cuMemAllocPitch_v2(device_pointer *address, size_t *pitch, size_t width, size_t height, unsigned element);
status cuMemFree_v2(device_pointer address);
status cuMemAllocManaged(device_pointer *address, size_t size, unsigned flags);
status cuMemGetAddressRange_v2(device_pointer *base, size_t *size, device_pointer address);
status cuMemHostAlloc(void **pointer, size_t size, unsigned flags);
status cuMemAllocHost_v2(void **pointer, size_t size);
status cuMemFreeHost(void *pointer);
status cuMemHostRegister_v2(void *pointer, size_t size, unsigned flags);
status cuMemHostUnregister(void *pointer);
status cuMemHostGetDevicePointer_v2(device_pointer *address, void *pointer, unsigned flags);
status cuMemHostGetFlags(unsigned *flags, void *pointer);
status cuMemAdvise_v2(device_pointer address, size_t size, int advice, uint64_t location);
status cuMemAdvise(device_pointer address, size_t size, int advice, int device);
status cuMemPrefetchAsync_v2(device_pointer address, size_t size, uint64_t location, unsigned flags, void *stream);
status cuMemPrefetchAsync(device_pointer address, size_t size, int device, void *stream);
status cuMemGetAllocationGranularity(size_t *granularity, const struct cu_allocation_properties *properties,
                                     int option);
status cuMemAddressReserve(device_pointer *address, size_t size, size_t alignment, device_pointer wish,
                           unsigned long long flags);
status cuMemAddressFree(device_pointer address, size_t size);
status cuMemCreate(unsigned long long *handle, size_t size, const struct cu_allocation_properties *properties,
                   unsigned long long flags);
status cuMemRelease(unsigned long long handle);
status cuMemMap(device_pointer address, size_t size, size_t offset, unsigned long long handle,
                unsigned long long flags);
status cuMemUnmap(device_pointer address, size_t size);
status cuMemSetAccess(device_pointer address, size_t size, const struct cu_access *access, size_t count);
status cuMemGetAccess(unsigned long long *flags, const struct cu_location *location, device_pointer address);
status cuMemRetainAllocationHandle(unsigned long long *handle, void *address);
status cuMemGetAllocationPropertiesFromHandle(struct cu_allocation_properties *properties, unsigned long long number);

/* --- pools --- */

status cuDeviceGetDefaultMemPool(void **ret_pool, int device);
status cuDeviceGetMemPool(void **ret_pool, int device);
status cuDeviceSetMemPool(int device, void *handle);
status cuMemGetDefaultMemPool(void **ret_pool, const struct cu_location *location, int type);
status cuMemPoolCreate(void **ret_pool, const struct cu_pool_properties *properties);
status cuMemPoolDestroy(void *handle);
status cuMemPoolTrimTo(void *handle, size_t keep_bytes);
status cuMemPoolGetAttribute(void *handle, int attribute, void *value);
status cuMemPoolSetAttribute(void *handle, int attribute, const void *value);
status cuMemPoolSetAccess(void *pool, const void *access, size_t count);
status cuMemPoolGetAccess(int *ret_access, void *pool, const struct cu_location *location);
status cuMemAllocFromPoolAsync(device_pointer *ret_address, size_t size, void *handle, void *stream);
status cuMemAllocAsync(device_pointer *ret_address, size_t size, void *stream);
status cuMemFreeAsync(device_pointer address, void *stream);
status cuDeviceGetGraphMemAttribute(int device, int attribute, void *value);
status cuDeviceSetGraphMemAttribute(int device, int attribute, const void *value);
status cuDeviceGraphMemTrim(int device);

/* --- sharing between processes --- */

status cuMemExportToShareableHandle(int *ret_fd, unsigned long long number, int type, unsigned long long flags);
status cuMemImportFromShareableHandle(unsigned long long *ret_handle, void *os_handle, int type);
status cuIpcGetMemHandle(struct cu_ipc_handle *ret_handle, device_pointer address);
status cuIpcOpenMemHandle_v2(device_pointer *ret_address, struct cu_ipc_handle handle, unsigned flags);
status cuIpcCloseMemHandle(device_pointer address);

/* --- addresses --- */

status cuPointerGetAttribute(void *data, int attribute, device_pointer address);
status cuPointerGetAttributes(unsigned n, const int *attributes, void **data, device_pointer address);
status cuPointerSetAttribute(const void *value, int attribute, device_pointer address);
status cuMemRangeGetAttribute(void *data, size_t size, int attribute, device_pointer address, size_t count);

/* --- copies and fills --- */

status cuMemcpy(device_pointer to, device_pointer from, size_t size);
status cuMemcpyAsync(device_pointer to, device_pointer from, size_t size, void *stream);
status cuMemcpyHtoD_v2(device_pointer to, const void *from, size_t size);
status cuMemcpyHtoDAsync_v2(device_pointer to, const void *from, size_t size, void *stream);
status cuMemcpyDtoH_v2(void *to, device_pointer from, size_t size);
status cuMemcpyDtoHAsync_v2(void *to, device_pointer from, size_t size, void *stream);
status cuMemcpyDtoD_v2(device_pointer to, device_pointer from, size_t size);
status cuMemcpyDtoDAsync_v2(device_pointer to, device_pointer from, size_t size, void *stream);
status cuMemsetD8_v2(device_pointer to, unsigned char value, size_t count);
status cuMemsetD8Async(device_pointer to, unsigned char value, size_t count, void *stream);
status cuMemsetD2D8_v2(device_pointer to, size_t pitch, unsigned char value, size_t count, size_t n_rows);
status cuMemsetD2D8Async(device_pointer to, size_t pitch, unsigned char value, size_t count, size_t n_rows,
                         void *stream);
status cuMemsetD16_v2(device_pointer to, unsigned short value, size_t count);
status cuMemsetD16Async(device_pointer to, unsigned short value, size_t count, void *stream);
status cuMemsetD2D16_v2(device_pointer to, size_t pitch, unsigned short value, size_t count, size_t n_rows);
status cuMemsetD2D16Async(device_pointer to, size_t pitch, unsigned short value, size_t count, size_t n_rows,
                          void *stream);
status cuMemsetD32_v2(device_pointer to, unsigned value, size_t count);
status cuMemsetD32Async(device_pointer to, unsigned value, size_t count, void *stream);
status cuMemsetD2D32_v2(device_pointer to, size_t pitch, unsigned value, size_t count, size_t n_rows);
status cuMemsetD2D32Async(device_pointer to, size_t pitch, unsigned value, size_t count, size_t n_rows, void *stream);
status cuMemcpyPeer(device_pointer to, void *to_context, device_pointer from, void *from_context, size_t size);
status cuMemcpyPeerAsync(device_pointer to, void *to_context, device_pointer from, void *from_context, size_t size,
                         void *stream);
status cuMemcpyBatchAsync(const device_pointer *to, const device_pointer *from, const size_t *sizes, size_t count,
                          const void *attributes, const size_t *indices, size_t n_attributes, size_t *ret_failed,
                          void *stream);
status cuMemcpyBatchAsync_v2(const device_pointer *to, const device_pointer *from, const size_t *sizes, size_t count,
                             const void *attributes, const size_t *indices, size_t n_attributes, void *stream);
status cuMemcpy3D_v2(const struct cu_copy_3d *box);
status cuMemcpy3DAsync_v2(const struct cu_copy_3d *box, void *stream);
status cuMemcpy3DPeer(const struct cu_copy_3d *box);
status cuMemcpy3DPeerAsync(const struct cu_copy_3d *box, void *stream);
status cuMemcpy2DUnaligned_v2(const struct cu_copy_2d *rows);
status cuMemcpy2D_v2(const struct cu_copy_2d *rows);
status cuMemcpy2DAsync_v2(const struct cu_copy_2d *rows, void *stream);

/* --- arrays, textures, surfaces --- */

status cuArrayCreate_v2(void **ret_array, const struct cu_array *shape);
status cuArray3DCreate_v2(void **ret_array, const struct cu_array_3d *shape);
status cuArrayDestroy(void *array);
status cuArrayGetDescriptor_v2(struct cu_array *ret_shape, void *handle);
status cuArray3DGetDescriptor_v2(struct cu_array_3d *ret_shape, void *handle);
status cuMipmappedArrayCreate(void **ret_array, const struct cu_array_3d *shape, unsigned n_levels);
status cuMipmappedArrayGetLevel(void **ret_level, void *handle, unsigned number);
status cuMipmappedArrayDestroy(void *array);
status cuMemcpyHtoA_v2(void *to, size_t offset, const void *from, size_t size);
status cuMemcpyHtoAAsync_v2(void *to, size_t offset, const void *from, size_t size, void *stream);
status cuMemcpyAtoH_v2(void *to, void *from, size_t offset, size_t size);
status cuMemcpyAtoHAsync_v2(void *to, void *from, size_t offset, size_t size, void *stream);
status cuMemcpyDtoA_v2(void *to, size_t offset, device_pointer from, size_t size);
status cuMemcpyAtoD_v2(device_pointer to, void *from, size_t offset, size_t size);
status cuMemcpyAtoA_v2(void *to, size_t to_offset, void *from, size_t from_offset, size_t size);
status cuTexObjectCreate(uint64_t *ret_texture, const struct cu_resource *resource, const struct cu_texture *texture,
                         const struct cu_resource_view *view);
status cuTexObjectDestroy(uint64_t texture);
status cuTexObjectGetResourceDesc(struct cu_resource *ret_resource, uint64_t texture);
status cuTexObjectGetTextureDesc(struct cu_texture *ret_texture, uint64_t texture);
status cuTexObjectGetResourceViewDesc(struct cu_resource_view *ret_view, uint64_t texture);
status cuSurfObjectCreate(uint64_t *ret_surface, const struct cu_resource *resource);
status cuSurfObjectDestroy(uint64_t surface);
status cuSurfObjectGetResourceDesc(struct cu_resource *ret_resource, uint64_t surface);

/* --- streams --- */

status cuStreamCreateWithPriority(void **ret_stream, unsigned flags, int priority);
status cuStreamCreate(void **ret_stream, unsigned flags);
status cuStreamDestroy_v2(void *handle);
status cuStreamGetPriority(void *handle, int *priority);
status cuStreamGetFlags(void *handle, unsigned *flags);
status cuStreamGetId(void *handle, unsigned long long *id);
status cuStreamGetCtx(void *handle, void **ret_context);
status cuStreamGetDevice(void *handle, int *device);
status cuStreamCopyAttributes(void *to, void *from);
status cuStreamSetAttribute(void *stream, int attribute, const void *value);
status cuStreamAttachMemAsync(void *stream, device_pointer address, size_t size, unsigned flags);
status cuStreamSynchronize(void *stream);
status cuStreamQuery(void *stream);
status cuCtxSynchronize(void);
status cuCtxSynchronize_v2(void *context);
status cuLaunchHostFunc(void *stream, void (*function)(void *), void *data);
status cuLaunchHostFunc_v2(void *stream, void (*function)(void *), void *data, unsigned mode);
status cuStreamAddCallback(void *handle, void (*function)(void *, status, void *), void *data, unsigned flags);
status cuStreamWriteValue32_v2(void *stream, device_pointer address, uint32_t value, unsigned flags);
status cuStreamWriteValue64_v2(void *stream, device_pointer address, uint64_t value, unsigned flags);
status cuStreamWaitValue32_v2(void *stream, device_pointer address, uint32_t value, unsigned flags);
status cuStreamWaitValue64_v2(void *stream, device_pointer address, uint64_t value, unsigned flags);
status cuStreamBatchMemOp_v2(void *stream, unsigned count, void *operations, unsigned flags);

/* --- events --- */

status cuEventCreate(void **ret_event, unsigned flags);
status cuEventDestroy_v2(void *handle);
status cuEventRecordWithFlags(void *handle, void *stream, unsigned flags);
status cuEventRecord(void *event, void *stream);
status cuStreamWaitEvent(void *stream, void *handle, unsigned flags);
status cuEventQuery(void *event);
status cuEventSynchronize(void *event);
status cuEventElapsedTime(float *ms, void *start, void *end);
status cuEventElapsedTime_v2(float *ms, void *start, void *end);
status cuCtxRecordEvent(void *context, void *event);
status cuCtxWaitEvent(void *context, void *event);
status cuIpcGetEventHandle(struct cu_ipc_handle *ret_handle, void *handle);
status cuIpcOpenEventHandle(void **ret_event, struct cu_ipc_handle handle);

/* --- capture --- */

status cuThreadExchangeStreamCaptureMode(int *mode);
status cuStreamBeginCapture_v2(void *stream, int mode);
status cuStreamBeginCaptureToGraph(void *stream, void *graph, void *const *nodes, const void *edges, size_t n,
                                   int mode);
status cuStreamEndCapture(void *handle, void **ret_graph);
status cuStreamGetCaptureInfo_v3(void *handle, int *ret_status, uint64_t *ret_id, void **ret_graph,
                                 void *const **ret_nodes, const void **ret_edges, size_t *ret_n);
status cuStreamGetCaptureInfo_v2(void *stream, int *ret_status, uint64_t *ret_id, void **ret_graph,
                                 void *const **ret_nodes, size_t *ret_n);
status cuStreamGetCaptureInfo(void *stream, int *ret_status, uint64_t *ret_id);
status cuStreamIsCapturing(void *stream, int *ret_status);
status cuStreamUpdateCaptureDependencies_v2(void *handle, void **nodes, const void *edges, size_t n, unsigned flags);
status cuStreamUpdateCaptureDependencies(void *stream, void **nodes, size_t n, unsigned flags);

/* --- graphs --- */

status cuGraphCreate(void **ret_graph, unsigned flags);
status cuGraphDestroy(void *handle);
status cuGraphAddEmptyNode(void **ret_node, void *graph, void *const *nodes, size_t n);
status cuGraphAddKernelNode_v2(void **ret_node, void *graph, void *const *nodes, size_t n, const void *parameters);
status cuGraphAddKernelNode(void **ret_node, void *graph, void *const *nodes, size_t n, const void *parameters);
status cuGraphAddMemcpyNode(void **ret_node, void *graph, void *const *nodes, size_t n, const void *copy,
                            void *context);
status cuGraphAddMemsetNode(void **ret_node, void *graph, void *const *nodes, size_t n, const void *set, void *context);
status cuGraphAddHostNode(void **ret_node, void *graph, void *const *nodes, size_t n, const struct cu_host_call *call);
status cuGraphAddEventRecordNode(void **ret_node, void *graph, void *const *nodes, size_t n, void *event);
status cuGraphAddEventWaitNode(void **ret_node, void *graph, void *const *nodes, size_t n, void *event);
status cuGraphClone(void **ret_graph, void *handle);
status cuGraphAddChildGraphNode(void **ret_node, void *graph, void *const *nodes, size_t n, void *child);
status cuGraphChildGraphNodeGetGraph(void *handle, void **ret_graph);
status cuGraphAddNode_v2(void **ret_node, void *graph, void *const *nodes, const void *edges, size_t n,
                         struct cu_graph_node *parameters);
status cuGraphAddNode(void **ret_node, void *graph, void *const *nodes, size_t n, struct cu_graph_node *parameters);
status cuGraphConditionalHandleCreate(uint64_t *ret_handle, void *graph, void *context, unsigned value, unsigned flags);
status cuGraphDestroyNode(void *handle);
status cuGraphGetNodes(void *handle, void **nodes, size_t *n);
status cuGraphGetRootNodes(void *handle, void **nodes, size_t *n);
status cuGraphGetEdges_v2(void *handle, void **from, void **to, uint64_t *edges, size_t *n);
status cuGraphGetEdges(void *graph, void **from, void **to, size_t *n);
status cuGraphNodeGetDependencies_v2(void *handle, void **nodes, uint64_t *edges, size_t *n);
status cuGraphNodeGetDependencies(void *node, void **nodes, size_t *n);
status cuGraphNodeGetDependentNodes_v2(void *handle, void **nodes, uint64_t *edges, size_t *n);
status cuGraphNodeGetDependentNodes(void *node, void **nodes, size_t *n);
status cuGraphAddDependencies_v2(void *handle, void *const *from, void *const *to, const void *edges, size_t n);
status cuGraphAddDependencies(void *graph, void *const *from, void *const *to, size_t n);
status cuGraphNodeGetType(void *handle, int *ret_type);
status cuGraphNodeGetContainingGraph(void *handle, void **ret_graph);
status cuGraphNodeGetLocalId(void *handle, unsigned *ret_id);
status cuGraphNodeGetToolsId(void *node, uint64_t *ret_id);
status cuGraphGetId(void *graph, unsigned *ret_id);
status cuGraphExecGetId(void *exec, unsigned *ret_id);
status cuGraphDebugDotPrint(void *handle, const char *path, unsigned flags);
status cuUserObjectCreate(void **ret_user, void *data, void (*destroy)(void *), unsigned n, unsigned flags);
status cuUserObjectRetain(void *handle, unsigned count);
status cuUserObjectRelease(void *handle, unsigned count);
status cuGraphRetainUserObject(void *graph_handle, void *handle, unsigned count, unsigned flags);
status cuGraphReleaseUserObject(void *graph_handle, void *handle, unsigned count);
status cuGraphExecDestroy(void *handle);
status cuGraphExecKernelNodeSetParams_v2(void *exec, void *node, const void *parameters);
status cuGraphExecKernelNodeSetParams(void *exec, void *node, const void *parameters);
status cuGraphExecMemcpyNodeSetParams(void *exec, void *node, const void *copy, void *context);
status cuGraphExecMemsetNodeSetParams(void *exec, void *node, const void *set, void *context);
status cuGraphExecBatchMemOpNodeSetParams(void *exec, void *node, const void *parameters);
status cuGraphExecHostNodeSetParams(void *exec, void *node, const struct cu_host_call *call);
status cuGraphExecChildGraphNodeSetParams(void *exec, void *node, void *child);
status cuGraphExecEventRecordNodeSetEvent(void *exec, void *node, void *event);
status cuGraphExecEventWaitNodeSetEvent(void *exec, void *node, void *event);
status cuGraphExecNodeSetParams(void *exec, void *node, struct cu_graph_node *parameters);
status cuGraphNodeSetEnabled(void *exec, void *node, unsigned is_enabled);
status cuGraphNodeGetEnabled(void *exec, void *node, unsigned *ret_is_enabled);
status cuGraphKernelNodeSetParams_v2(void *node, const void *parameters);
status cuGraphKernelNodeSetParams(void *node, const void *parameters);
status cuGraphMemcpyNodeSetParams(void *node, const void *copy);
status cuGraphMemsetNodeSetParams(void *node, const void *set);
status cuGraphHostNodeSetParams(void *handle, const struct cu_host_call *call);
status cuGraphHostNodeGetParams(void *handle, struct cu_host_call *ret_call);
status cuGraphKernelNodeSetAttribute(void *handle, int attribute, const void *value);
status cuGraphKernelNodeCopyAttributes(void *handle, void *from);
status cuGraphInstantiateWithFlags(void **ret_exec, void *handle, unsigned long long flags);
status cuGraphInstantiate_v2(void **ret_exec, void *graph, void **ret_node, char *log, size_t log_size);
status cuGraphInstantiateWithParams(void **ret_exec, void *graph, struct cu_graph_instantiation *parameters);
status cuGraphExecGetFlags(void *handle, uint64_t *flags);
status cuGraphExecUpdate_v2(void *handle, void *graph_handle, struct cu_graph_update *ret_result);
status cuGraphExecUpdate(void *exec, void *graph, void **ret_node, int *ret_result);
status cuGraphUpload(void *exec, void *stream);
status cuGraphLaunch(void *handle, void *stream);

/* --- modules and libraries --- */

status cuLibraryLoadData(void **ret_library, const void *image, void *options, void **values, unsigned n,
                         void *library_options, void **library_values, unsigned n_library);
status cuModuleLoadDataEx(void **ret_module, const void *image, unsigned n, void *options, void **values);
status cuModuleLoadData(void **ret_module, const void *image);
status cuModuleLoadFatBinary(void **ret_module, const void *image);
status cuModuleLoad(void **ret_module, const char *path);
status cuLibraryLoadFromFile(void **ret_library, const char *path, void *options, void **values, unsigned n,
                             void *library_options, void **library_values, unsigned n_library);
status cuModuleUnload(void *handle);
status cuLibraryUnload(void *library);
status cuModuleGetLoadingMode(int *mode);
status cuModuleGetFunction(void **ret_function, void *handle, const char *name);
status cuLibraryGetKernel(void **ret_kernel, void *library, const char *name);
status cuModuleGetGlobal_v2(device_pointer *ret_address, size_t *ret_size, void *handle, const char *name);
status cuLibraryGetGlobal(device_pointer *ret_address, size_t *ret_size, void *library, const char *name);
status cuLibraryGetManaged(device_pointer *ret_address, size_t *ret_size, void *library, const char *name);
status cuModuleGetFunctionCount(unsigned *count, void *handle);
status cuModuleEnumerateFunctions(void **functions, unsigned n, void *handle);
status cuLibraryGetKernelCount(unsigned *count, void *library);
status cuLibraryEnumerateKernels(void **kernels, unsigned n, void *library);
status cuLibraryGetModule(void **ret_module, void *library);
status cuKernelGetFunction(void **ret_function, void *kernel);
status cuKernelGetLibrary(void **ret_library, void *handle);
status cuFuncGetModule(void **ret_module, void *function);
status cuFuncGetName(const char **ret_name, void *handle);
status cuKernelGetName(const char **ret_name, void *kernel);

/* --- kernels --- */

status cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                      unsigned block_y, unsigned block_z, unsigned shared_bytes, void *stream, void **parameters,
                      void **extra);
status cuLaunchCooperativeKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                                 unsigned block_y, unsigned block_z, unsigned shared_bytes, void *stream,
                                 void **parameters);
status cuLaunchKernelEx(const struct cu_launch *c, void *function, void **parameters, void **extra);
status cuFuncGetAttribute(int *value, int attribute, void *function);
status cuFuncSetAttribute(void *function, int attribute, int value);
status cuKernelGetAttribute(int *value, int attribute, void *handle, int device);
status cuKernelSetAttribute(int attribute, int value, void *handle, int device);
status cuFuncSetCacheConfig(void *function, int configuration);
status cuKernelSetCacheConfig(void *kernel, int configuration, int device);
status cuFuncSetSharedMemConfig(void *function, int configuration);
status cuFuncIsLoaded(int *state, void *function);
status cuFuncLoad(void *function);
status cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *n_blocks, void *function, int block_size,
                                                            size_t shared_bytes, unsigned flags);
status cuOccupancyMaxActiveBlocksPerMultiprocessor(int *n_blocks, void *function, int block_size, size_t shared_bytes);
status cuOccupancyMaxPotentialBlockSizeWithFlags(int *min_grid, int *block_size, void *function,
                                                 size_t (*shared_for)(int), size_t shared_bytes, int limit,
                                                 unsigned flags);
status cuOccupancyMaxPotentialBlockSize(int *min_grid, int *block_size, void *function, size_t (*shared_for)(int),
                                        size_t shared_bytes, int limit);
status cuOccupancyMaxPotentialClusterSize(int *size, void *function, const struct cu_launch *configuration);
status cuOccupancyMaxActiveClusters(int *n_clusters, void *function, const struct cu_launch *c);
status cuOccupancyAvailableDynamicSMemPerBlock(size_t *shared_bytes, void *function, int n_blocks, int block_size);
status cuTensorMapEncodeTiled(void *map, int type, unsigned rank, void *address);
status cuTensorMapEncodeIm2col(void *map, int type, unsigned rank, void *address);
status cuTensorMapEncodeIm2colWide(void *map, int type, unsigned rank, void *address);
status cuTensorMapReplaceAddress(void *map, void *address);

#endif
