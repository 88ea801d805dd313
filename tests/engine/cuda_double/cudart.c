/* SPDX-License-Identifier: MIT */
/*
 * libcudart.so.13 of the test double. The declarations are our own, after the CUDA 13.0 runtime API reference.
 * cudaDeviceProp is written by byte offset: only the fields the engine reads, the rest zero.
 */
#include "device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

typedef int status;
enum { SUCCESS = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NO_DEVICE = 100, INVALID_DEVICE = 101 };

/* Offsets into cudaDeviceProp, 13.0 layout (driver_types.h). */
enum {
    PROP_NAME = 0,
    PROP_TOTAL_GLOBAL_MEM = 288,
    PROP_SHARED_MEM_PER_BLOCK = 296,
    PROP_REGS_PER_BLOCK = 304,
    PROP_WARP_SIZE = 308,
    PROP_MAX_THREADS_PER_BLOCK = 320,
    PROP_MAJOR = 360,
    PROP_MINOR = 364,
    PROP_MULTI_PROCESSOR_COUNT = 384,
    PROP_PCI_BUS_ID = 568,
    PROP_L2_CACHE_SIZE = 596,
    PROP_MAX_THREADS_PER_SM = 604,
    PROP_SHARED_MEM_PER_SM = 624,
    PROP_REGS_PER_SM = 632,
    PROP_COOPERATIVE_LAUNCH = 668,
    PROP_SHARED_MEM_PER_BLOCK_OPTIN = 672,
    PROP_SIZE = 1008,
};

static _Thread_local int current_device;
static _Thread_local status last_error;

static status fail(status error)
{
    last_error = error;
    return error;
}

/* --- devices --- */

status cudaGetDeviceCount(int *count)
{
    *count = double_machine()->n_devices;
    return *count ? SUCCESS : fail(NO_DEVICE);
}

status cudaGetDevice(int *device)
{
    *device = current_device;
    return SUCCESS;
}

status cudaSetDevice(int device)
{
    if (device < 0 || device >= double_machine()->n_devices)
        return fail(INVALID_DEVICE);
    current_device = device;
    return SUCCESS;
}

static void put_int(unsigned char *prop, size_t at, int value) { memcpy(prop + at, &value, sizeof value); }

static void put_size(unsigned char *prop, size_t at, size_t value) { memcpy(prop + at, &value, sizeof value); }

status cudaGetDeviceProperties(void *ret_prop, int device)
{
    const struct double_machine *machine = double_machine();
    unsigned char *prop = ret_prop;
    if (device < 0 || device >= machine->n_devices)
        return fail(INVALID_DEVICE);
    memset(prop, 0, PROP_SIZE);
    snprintf((char *)prop + PROP_NAME, 256, "Plimsoll test double");
    put_size(prop, PROP_TOTAL_GLOBAL_MEM, machine->device[device].total_bytes);
    put_size(prop, PROP_SHARED_MEM_PER_BLOCK, 48 << 10);
    put_int(prop, PROP_REGS_PER_BLOCK, 65536);
    put_int(prop, PROP_WARP_SIZE, 32);
    put_int(prop, PROP_MAX_THREADS_PER_BLOCK, 1024);
    put_int(prop, PROP_MAJOR, machine->cc_major);
    put_int(prop, PROP_MINOR, machine->cc_minor);
    put_int(prop, PROP_MULTI_PROCESSOR_COUNT, 64);
    put_int(prop, PROP_PCI_BUS_ID, device + 1);
    put_int(prop, PROP_L2_CACHE_SIZE, 32 << 20);
    put_int(prop, PROP_MAX_THREADS_PER_SM, 1536);
    put_size(prop, PROP_SHARED_MEM_PER_SM, 100 << 10);
    put_int(prop, PROP_REGS_PER_SM, 65536);
    put_int(prop, PROP_COOPERATIVE_LAUNCH, 1);
    put_size(prop, PROP_SHARED_MEM_PER_BLOCK_OPTIN, 99 << 10);
    return SUCCESS;
}

status cudaDeviceGetAttribute(int *value, int attribute, int device)
{
    const int cooperative_launch = 95;
    (void)device;
    *value = attribute == cooperative_launch;
    return SUCCESS;
}

status cudaDeviceGetPCIBusId(char *text, int size, int device)
{
    snprintf(text, (size_t)size, "0000:%02x:00.0", device + 1);
    return SUCCESS;
}

status cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
    *can = device != peer;
    return SUCCESS;
}

status cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
    (void)peer, (void)flags;
    return SUCCESS;
}

status cudaDeviceSynchronize(void) { return SUCCESS; }
status cudaSetDeviceFlags(unsigned flags)
{
    (void)flags;
    return SUCCESS;
}

/* --- errors --- */

status cudaGetLastError(void)
{
    status error = last_error;
    last_error = SUCCESS;
    return error;
}

status cudaPeekAtLastError(void) { return last_error; }

const char *cudaGetErrorString(status error)
{
    return error == SUCCESS ? "no error" : error == OUT_OF_MEMORY ? "out of memory" : "error of the test double";
}

/* --- memory --- */

status cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
    const struct double_device *device = &double_machine()->device[current_device];
    *total_bytes = device->total_bytes;
    *free_bytes = device->total_bytes - device->taken_bytes - device->used_bytes;
    return SUCCESS;
}

status cudaMalloc(void **pointer, size_t size)
{
    *pointer = double_alloc(current_device, size);
    return *pointer ? SUCCESS : fail(OUT_OF_MEMORY);
}

status cudaMallocManaged(void **pointer, size_t size, unsigned flags)
{
    (void)flags;
    return cudaMalloc(pointer, size);
}

status cudaFree(void *pointer) { return !pointer || double_free(pointer) ? SUCCESS : fail(INVALID_VALUE); }

/* Pinned memory is address space as well, behind a page that knows its size: as much as asked for, on any machine. */
enum { PAGE_BYTES = 4096 };

status cudaMallocHost(void **pointer, size_t size)
{
    char *start =
        mmap(NULL, size + PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED)
        return fail(OUT_OF_MEMORY);
    memcpy(start, &size, sizeof size);
    *pointer = start + PAGE_BYTES;
    return SUCCESS;
}

status cudaHostAlloc(void **pointer, size_t size, unsigned flags)
{
    (void)flags;
    return cudaMallocHost(pointer, size);
}

status cudaFreeHost(void *pointer)
{
    size_t size;
    if (pointer) {
        memcpy(&size, (char *)pointer - PAGE_BYTES, sizeof size);
        munmap((char *)pointer - PAGE_BYTES, size + PAGE_BYTES);
    }
    return SUCCESS;
}

status cudaHostRegister(void *pointer, size_t size, unsigned flags)
{
    (void)pointer, (void)size, (void)flags;
    return SUCCESS;
}

status cudaHostUnregister(void *pointer)
{
    (void)pointer;
    return SUCCESS;
}

status cudaHostGetDevicePointer(void **device_pointer, void *host_pointer, unsigned flags)
{
    (void)flags;
    *device_pointer = host_pointer;
    return SUCCESS;
}

status cudaMemcpyAsync(void *to, const void *from, size_t size, int kind, void *stream)
{
    (void)kind, (void)stream;
    if (double_is_device(to))
        return SUCCESS;
    if (double_is_device(from))
        memset(to, 0, size);
    else
        memmove(to, from, size);
    return SUCCESS;
}

status cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                         int kind, void *stream)
{
    for (size_t row = 0; row < height; row++)
        cudaMemcpyAsync((char *)to + row * to_pitch, (const char *)from + row * from_pitch, width, kind, stream);
    return SUCCESS;
}

status cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t size, void *stream)
{
    (void)to, (void)to_device, (void)from, (void)from_device, (void)size, (void)stream;
    return SUCCESS;
}

status cudaMemset(void *pointer, int value, size_t size)
{
    (void)pointer, (void)value, (void)size;
    return SUCCESS;
}

status cudaMemsetAsync(void *pointer, int value, size_t size, void *stream)
{
    (void)stream;
    return cudaMemset(pointer, value, size);
}

/* --- streams, events, graphs: everything is complete at once --- */

static status make_handle(void **handle)
{
    *handle = malloc(1);
    return *handle ? SUCCESS : fail(OUT_OF_MEMORY);
}

static status drop_handle(void *handle)
{
    free(handle);
    return SUCCESS;
}

status cudaStreamCreateWithFlags(void **stream, unsigned flags)
{
    (void)flags;
    return make_handle(stream);
}

status cudaStreamDestroy(void *stream) { return drop_handle(stream); }

status cudaStreamSynchronize(void *stream)
{
    (void)stream;
    return SUCCESS;
}

status cudaStreamWaitEvent(void *stream, void *event, unsigned flags)
{
    (void)stream, (void)event, (void)flags;
    return SUCCESS;
}

status cudaStreamBeginCapture(void *stream, int mode)
{
    (void)stream, (void)mode;
    return SUCCESS;
}

status cudaStreamEndCapture(void *stream, void **graph)
{
    (void)stream;
    return make_handle(graph);
}

status cudaStreamIsCapturing(void *stream, int *capturing)
{
    (void)stream;
    *capturing = 0;
    return SUCCESS;
}

status cudaEventCreateWithFlags(void **event, unsigned flags)
{
    (void)flags;
    return make_handle(event);
}

status cudaEventDestroy(void *event) { return drop_handle(event); }

status cudaEventRecord(void *event, void *stream)
{
    (void)event, (void)stream;
    return SUCCESS;
}

status cudaEventSynchronize(void *event)
{
    (void)event;
    return SUCCESS;
}

status cudaGraphInstantiate(void **exec, void *graph, unsigned long long flags)
{
    (void)graph, (void)flags;
    return make_handle(exec);
}

status cudaGraphExecUpdate(void *exec, void *graph, void *ret_info)
{
    (void)exec, (void)graph, (void)ret_info;
    return SUCCESS;
}

status cudaGraphLaunch(void *exec, void *stream)
{
    (void)exec, (void)stream;
    return SUCCESS;
}

status cudaGraphDestroy(void *graph) { return drop_handle(graph); }
status cudaGraphExecDestroy(void *exec) { return drop_handle(exec); }

/* --- kernels: registered, never run --- */

static void *fat_binary_handle[1];

void **__cudaRegisterFatBinary(void *fat_binary)
{
    (void)fat_binary;
    return fat_binary_handle;
}

void __cudaRegisterFatBinaryEnd(void **handle) { (void)handle; }
void __cudaUnregisterFatBinary(void **handle) { (void)handle; }

void __cudaRegisterFunction(void **handle, const char *host_function, char *device_function, const char *name,
                            int thread_limit, void *tid, void *bid, void *block, void *grid, int *warp_size)
{
    (void)handle, (void)host_function, (void)device_function, (void)name, (void)thread_limit;
    (void)tid, (void)bid, (void)block, (void)grid, (void)warp_size;
}

void __cudaRegisterVar(void **handle, char *host, char *address, const char *name, int ext, size_t size, int constant,
                       int global)
{
    (void)handle, (void)host, (void)address, (void)name, (void)ext, (void)size, (void)constant, (void)global;
}

struct dim3 {
    unsigned x, y, z;
};

unsigned __cudaPushCallConfiguration(struct dim3 grid, struct dim3 block, size_t shared, void *stream)
{
    (void)grid, (void)block, (void)shared, (void)stream;
    return 0;
}

status __cudaPopCallConfiguration(struct dim3 *grid, struct dim3 *block, size_t *shared, void *stream)
{
    *grid = *block = (struct dim3){ 1, 1, 1 };
    *shared = 0;
    *(void **)stream = NULL;
    return SUCCESS;
}

status __cudaGetKernel(void **kernel, const void *function)
{
    *kernel = (void *)(uintptr_t)function;
    return SUCCESS;
}

status __cudaLaunchKernel(void *kernel, struct dim3 grid, struct dim3 block, void **arguments, size_t shared,
                          void *stream)
{
    (void)kernel, (void)grid, (void)block, (void)arguments, (void)shared, (void)stream;
    return SUCCESS;
}

status cudaLaunchKernelExC(const void *config, const void *function, void **arguments)
{
    (void)config, (void)function, (void)arguments;
    return SUCCESS;
}

status cudaLaunchCooperativeKernel(const void *function, struct dim3 grid, struct dim3 block, void **arguments,
                                   size_t shared, void *stream)
{
    return __cudaLaunchKernel((void *)(uintptr_t)function, grid, block, arguments, shared, stream);
}

status cudaFuncGetAttributes(void *ret_attributes, const void *function)
{
    enum { SIZE = 144, MAX_THREADS = 24, NUM_REGS = 28 };
    (void)function;
    memset(ret_attributes, 0, SIZE);
    put_int(ret_attributes, MAX_THREADS, 1024);
    put_int(ret_attributes, NUM_REGS, 64);
    return SUCCESS;
}

status cudaFuncSetAttribute(const void *function, int attribute, int value)
{
    (void)function, (void)attribute, (void)value;
    return SUCCESS;
}

status cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *n_blocks, const void *function, int block_size,
                                                              size_t shared, unsigned flags)
{
    (void)function, (void)block_size, (void)shared, (void)flags;
    *n_blocks = 2;
    return SUCCESS;
}
