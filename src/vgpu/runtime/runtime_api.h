/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_RUNTIME_RUNTIME_API_H
#define PLIMSOLL_VGPU_RUNTIME_RUNTIME_API_H

/*
 * The functions of the CUDA runtime API that have a body in libcudart.so.11.0, .12 and .13: our own declarations
 * after the references (11.8, 12.8 and 13.2). PLIM_CUDART is the major version. The address of a kernel or a variable
 * of the program is a const void *.
 */

#include "vgpu/core/cuda_api.h"

/* cudaExtent and cudaPos */
struct cuda_triple {
    size_t x, y, z;
};

/* cudaPitchedPtr */
struct cuda_pitched {
    char *start;
    size_t pitch, width, height;
};

/* cudaMemcpy3DParms */
struct cuda_copy_3d {
    void *from_array;
    struct cuda_triple from_at;
    struct cuda_pitched from;
    void *to_array;
    struct cuda_triple to_at;
    struct cuda_pitched to;
    struct cuda_triple extent;
    int kind;
};
_Static_assert(sizeof(struct cuda_copy_3d) == 160, "cudaMemcpy3DParms");

/* cudaMemcpy3DPeerParms */
struct cuda_peer_copy_3d {
    void *from_array;
    struct cuda_triple from_at;
    struct cuda_pitched from;
    int from_device;
    void *to_array;
    struct cuda_triple to_at;
    struct cuda_pitched to;
    int to_device;
    struct cuda_triple extent;
};
_Static_assert(sizeof(struct cuda_peer_copy_3d) == 168, "cudaMemcpy3DPeerParms");

/* cudaChannelFormatDesc */
struct cuda_channels {
    int bits[4], kind;
};
_Static_assert(sizeof(struct cuda_channels) == 20, "cudaChannelFormatDesc");

/* cudaResourceDesc of 12, with which that of 13 begins: type 0 is an array, 1 a mipmapped one, 2 and 3 are memory. */
struct cuda_resource {
    int type;
    void *memory;
    uint64_t words[6];
};
_Static_assert(sizeof(struct cuda_resource) == 64, "cudaResourceDesc");

/* cudaTextureDesc and cudaResourceViewDesc: kept for those who ask. */
struct cuda_texture {
    int words[18];
};
struct cuda_resource_view {
    uint64_t words[6];
};
_Static_assert(sizeof(struct cuda_texture) == 72, "cudaTextureDesc");
_Static_assert(sizeof(struct cuda_resource_view) == 48, "cudaResourceViewDesc");

/* dim3 */
struct cuda_dim3 {
    unsigned x, y, z;
};

/* cudaLaunchConfig_t */
struct cuda_launch {
    struct cuda_dim3 grid, block;
    size_t shared_bytes;
    void *stream, *attributes;
    unsigned n_attributes;
};
_Static_assert(sizeof(struct cuda_launch) == 56, "cudaLaunchConfig_t");

/* cudaFuncAttributes; members without a name here are zero. */
struct cuda_function_attributes {
    size_t shared_bytes, constant_bytes, local_bytes;
    int max_threads, n_registers, ptx_version, binary_version, cache_mode, max_dynamic_shared_bytes;
    int unknown[PLIM_CUDART >= 12 ? 24 : 1];
};
_Static_assert(sizeof(struct cuda_function_attributes) == (PLIM_CUDART >= 12 ? 144 : 56), "cudaFuncAttributes");

/* cudaPointerAttributes: type is 0 (unregistered), 1 (host), 2 (device) or 3 (managed). */
struct cuda_pointer_attributes {
    int type, device;
    void *device_pointer, *host_pointer;
#if PLIM_CUDART >= 13
    long reserved[8];
#endif
};
_Static_assert(sizeof(struct cuda_pointer_attributes) == (PLIM_CUDART >= 13 ? 88 : 24), "cudaPointerAttributes");

/* --- devices, errors, memory --- */

status cudaGetLastError(void);
status cudaPeekAtLastError(void);
const char *cudaGetErrorString(status error);
const char *cudaGetErrorName(status error);
status cudaRuntimeGetVersion(int *version);
status cudaDriverGetVersion(int *version);
status cudaGetDeviceCount(int *count);
status cudaGetDevice(int *ret_device);
status cudaSetDevice(int number);
status cudaDeviceReset(void);
status cudaInitDevice(int number, unsigned device_flags, unsigned flags);
status cudaSetDeviceFlags(unsigned flags);
status cudaGetDeviceFlags(unsigned *flags);
status cudaGetDeviceProperties(void *ret_properties, int number); /* 12: for programs of CUDA 11 */
#if PLIM_CUDART == 12
status cudaGetDeviceProperties_v2(void *ret_properties, int number);
#endif
status cudaDeviceGetAttribute(int *value, int attribute, int number);
status cudaDeviceGetPCIBusId(char *text, int size, int number);
status cudaDeviceGetByPCIBusId(int *number, const char *text);
status cudaDeviceCanAccessPeer(int *can, int number, int peer);
status cudaDeviceEnablePeerAccess(int peer, unsigned flags);
status cudaDeviceDisablePeerAccess(int peer);
status cudaDeviceSynchronize(void);
status cudaStreamCreate(void **stream);
status cudaEventCreate(void **event);
status cudaGetDriverEntryPointByVersion(const char *name, void **ret_function, unsigned version, uint64_t flags,
                                        int *ret_status);
#if PLIM_CUDART >= 12
status cudaGetDriverEntryPoint(const char *name, void **ret_function, uint64_t flags, int *ret_status);
#else
status cudaGetDriverEntryPoint(const char *name, void **ret_function, uint64_t flags);
#endif
status cudaProfilerStart(void);
status cudaProfilerStop(void);
status cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes);
status cudaMalloc(void **pointer, size_t size);
status cudaMallocManaged(void **pointer, size_t size, unsigned flags);
status cudaFree(void *pointer);
status cudaHostAlloc(void **pointer, size_t size, unsigned flags);
status cudaMallocHost(void **pointer, size_t size);
status cudaFreeHost(void *pointer);
status cudaHostRegister(void *pointer, size_t size, unsigned flags);
status cudaHostUnregister(void *pointer);
status cudaHostGetDevicePointer(void **ret_address, void *pointer, unsigned flags);
status cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height);
status cudaMalloc3D(struct cuda_pitched *ret_memory, struct cuda_triple extent);
status cudaMallocAsync(void **pointer, size_t size, void *stream);
status cudaIpcOpenMemHandle(void **pointer, struct cu_ipc_handle handle, unsigned flags);
status cudaIpcOpenEventHandle(void **event, struct cu_ipc_handle handle);
status cudaMemAdvise(const void *pointer, size_t size, int advice);
status cudaMemPrefetchAsync(const void *pointer, size_t size);
status cudaPointerGetAttributes(struct cuda_pointer_attributes *attributes, const void *pointer);

/* --- copies and fills --- */

status cudaMemcpyAsync(void *to, const void *from, size_t size, int kind, void *stream);
status cudaMemcpy(void *to, const void *from, size_t size, int kind);
status cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t size, void *stream);
status cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t size);
status cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                         int kind, void *stream);
status cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                    int kind);
status cudaMemcpy3DAsync(const struct cuda_copy_3d *box, void *stream);
status cudaMemcpy3D(const struct cuda_copy_3d *box);
status cudaMemcpy3DPeerAsync(const struct cuda_peer_copy_3d *box, void *stream);
status cudaMemcpy3DPeer(const struct cuda_peer_copy_3d *box);
#if PLIM_CUDART <= 12
status cudaMemcpyBatchAsync(void *const *to, const void *const *from, const size_t *sizes, size_t count,
                            const void *attributes, const size_t *indices, size_t n_attributes, size_t *ret_failed,
                            void *stream);
#else
status cudaMemcpyBatchAsync(void *const *to, const void *const *from, const size_t *sizes, size_t count,
                            const void *attributes, const size_t *indices, size_t n_attributes, void *stream);
#endif
status cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t size, size_t offset, int kind,
                               void *stream);
status cudaMemcpyToSymbol(const void *symbol, const void *from, size_t size, size_t offset, int kind);
status cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t size, size_t offset, int kind, void *stream);
status cudaMemcpyFromSymbol(void *to, const void *symbol, size_t size, size_t offset, int kind);
status cudaMemsetAsync(void *start, int value, size_t size, void *stream);
status cudaMemset(void *start, int value, size_t size);
status cudaMemset2DAsync(void *start, size_t pitch, int value, size_t width, size_t height, void *stream);
status cudaMemset2D(void *start, size_t pitch, int value, size_t width, size_t height);
status cudaMemset3DAsync(struct cuda_pitched start, int value, struct cuda_triple extent, void *stream);
status cudaMemset3D(struct cuda_pitched start, int value, struct cuda_triple extent);

/* --- arrays, textures, surfaces --- */

struct cuda_channels cudaCreateChannelDesc(int x, int y, int z, int w, int kind);
status cudaMallocArray(void **ret_array, const struct cuda_channels *channels, size_t width, size_t height,
                       unsigned flags);
status cudaMalloc3DArray(void **ret_array, const struct cuda_channels *channels, struct cuda_triple extent,
                         unsigned flags);
status cudaFreeArray(void *array);
status cudaMallocMipmappedArray(void **ret_array, const struct cuda_channels *channels, struct cuda_triple extent,
                                unsigned n_levels, unsigned flags);
status cudaGetMipmappedArrayLevel(void **ret_level, void *array, unsigned number);
status cudaFreeMipmappedArray(void *array);
status cudaArrayGetInfo(struct cuda_channels *ret_channels, struct cuda_triple *ret_extent, unsigned *ret_flags,
                        void *array);
status cudaGetChannelDesc(struct cuda_channels *ret_channels, void *array);
/* cudaMemcpy3DAsync() of a box with an array on a side. */
status plim_runtime_copy_arrays(const struct cuda_copy_3d *box, void *stream);
status cudaMemcpy2DToArrayAsync(void *to, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                                size_t height, int kind, void *stream);
status cudaMemcpy2DToArray(void *to, size_t x, size_t y, const void *from, size_t pitch, size_t width, size_t height,
                           int kind);
status cudaMemcpy2DFromArrayAsync(void *to, size_t pitch, const void *from, size_t x, size_t y, size_t width,
                                  size_t height, int kind, void *stream);
status cudaMemcpy2DFromArray(void *to, size_t pitch, const void *from, size_t x, size_t y, size_t width, size_t height,
                             int kind);
status cudaMemcpy2DArrayToArray(void *to, size_t to_x, size_t to_y, const void *from, size_t from_x, size_t from_y,
                                size_t width, size_t height, int kind);
status cudaMemcpyToArrayAsync(void *to, size_t x, size_t y, const void *from, size_t size, int kind, void *stream);
status cudaMemcpyToArray(void *to, size_t x, size_t y, const void *from, size_t size, int kind);
status cudaMemcpyFromArrayAsync(void *to, const void *from, size_t x, size_t y, size_t size, int kind, void *stream);
status cudaMemcpyFromArray(void *to, const void *from, size_t x, size_t y, size_t size, int kind);
status cudaMemcpyArrayToArray(void *to, size_t to_x, size_t to_y, const void *from, size_t from_x, size_t from_y,
                              size_t size, int kind);
status cudaCreateTextureObject(uint64_t *ret_texture, const struct cuda_resource *resource,
                               const struct cuda_texture *texture, const struct cuda_resource_view *view);
status cudaDestroyTextureObject(uint64_t texture);
status cudaGetTextureObjectResourceDesc(struct cuda_resource *ret_resource, uint64_t texture);
status cudaGetTextureObjectTextureDesc(struct cuda_texture *ret_texture, uint64_t texture);
status cudaGetTextureObjectResourceViewDesc(struct cuda_resource_view *ret_view, uint64_t texture);
status cudaCreateSurfaceObject(uint64_t *ret_surface, const struct cuda_resource *resource);
status cudaDestroySurfaceObject(uint64_t surface);
status cudaGetSurfaceObjectResourceDesc(struct cuda_resource *ret_resource, uint64_t surface);

/* --- kernels and variables --- */

void **__cudaRegisterFatBinary(void *fat_binary);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
void __cudaRegisterFunction(void **handle, const char *host_function, char *device_function, const char *name,
                            int thread_limit, void *tid, void *bid, void *block, void *grid, int *warp_size);
void __cudaRegisterVar(void **handle, char *host, char *address, const char *name, int ext, size_t size, int constant,
                       int global);
char __cudaInitModule(void **handle);
unsigned __cudaPushCallConfiguration(struct cuda_dim3 grid, struct cuda_dim3 block, size_t shared_bytes, void *stream);
status __cudaPopCallConfiguration(struct cuda_dim3 *grid, struct cuda_dim3 *block, size_t *shared_bytes, void **stream);
status __cudaGetKernel(void **kernel, const void *function);
status cudaLaunchKernel(const void *function, struct cuda_dim3 grid, struct cuda_dim3 block, void **arguments,
                        size_t shared_bytes, void *stream);
status __cudaLaunchKernel(void *kernel, struct cuda_dim3 grid, struct cuda_dim3 block, void **arguments,
                          size_t shared_bytes, void *stream);
status cudaLaunchCooperativeKernel(const void *function, struct cuda_dim3 grid, struct cuda_dim3 block,
                                   void **arguments, size_t shared_bytes, void *stream);
status cudaLaunchKernelExC(const struct cuda_launch *configuration, const void *function, void **arguments);
status cudaGetSymbolAddress(void **ret_address, const void *symbol);
status cudaGetSymbolSize(size_t *ret_size, const void *symbol);
status cudaFuncGetAttributes(struct cuda_function_attributes *attributes, const void *function);
status cudaKernelSetAttributeForDevice(void *kernel, int attribute, int value, int device);
status cudaFuncSetAttribute(const void *function, int attribute, int value);
status cudaFuncSetCacheConfig(const void *function, int configuration);
status cudaGetFuncBySymbol(void **ret_function, const void *symbol);
status cudaFuncGetName(const char **ret_name, const void *function);
status cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *n_blocks, const void *function, int block_size,
                                                              size_t shared_bytes, unsigned flags);
status cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *n_blocks, const void *function, int block_size,
                                                     size_t shared_bytes);
status cudaGraphConditionalHandleCreate(uint64_t *handle, void *graph, unsigned value, unsigned flags);
status cudaGraphConditionalHandleCreate_v2(uint64_t *handle, void *graph, void *context, unsigned value,
                                           unsigned flags);

#endif
