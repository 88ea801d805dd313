/* SPDX-License-Identifier: MIT */
/* libcudart: kernels are registered and launched, but not run. The arguments of a launch are checked as on a card. */
#include "vgpu/core/attributes.h"
#include "vgpu/core/steps.h"
#include "vgpu/driver/launches.h"
#include "vgpu/runtime/registry.h"
#include "vgpu/runtime/runtime_api.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* --- calls that the compiler puts into every object with device code --- */

/* Never freed: a kernel of an unloaded library may still be looked up. */
void **__cudaRegisterFatBinary(void *fat_binary)
{
    static struct plim_fat spare;
    struct plim_fat *fat = calloc(1, sizeof *fat);
    if (!fat)
        fat = &spare;
    fat->wrapper = fat_binary;
    return (void **)(void *)fat;
}

void __cudaRegisterFatBinaryEnd(void **handle) { (void)handle; }
void __cudaUnregisterFatBinary(void **handle) { (void)handle; }

void __cudaRegisterFunction(void **handle, const char *host_function, char *device_function, const char *name,
                            int thread_limit, void *tid, void *bid, void *block, void *grid, int *warp_size)
{
    (void)device_function, (void)thread_limit;
    plim_registry_add((struct plim_fat *)(void *)handle, host_function, name, 0, PLIM_REGISTRY_KERNEL);
    (void)tid, (void)bid, (void)block, (void)grid, (void)warp_size;
}

void __cudaRegisterVar(void **handle, char *host, char *address, const char *name, int ext, size_t size, int constant,
                       int global)
{
    (void)address, (void)ext, (void)constant, (void)global;
    plim_registry_add((struct plim_fat *)(void *)handle, host, name, size, PLIM_REGISTRY_VARIABLE);
}

char __cudaInitModule(void **handle)
{
    (void)handle;
    return 1;
}

struct pushed_launch {
    struct cuda_dim3 grid, block;
    size_t shared_bytes;
    void *stream;
};

/*
 * The launch configuration between <<< and >>>, pushed by the caller and popped by the stub of the kernel: the stack is
 * never deep.
 */
enum { MAX_PUSHED = 8 };
static _Thread_local struct pushed_launch pushed[MAX_PUSHED];
static _Thread_local int n_pushed;

unsigned __cudaPushCallConfiguration(struct cuda_dim3 grid, struct cuda_dim3 block, size_t shared_bytes, void *stream)
{
    if (n_pushed == MAX_PUSHED)
        return PLIM_CUDA_INVALID_VALUE;
    pushed[n_pushed++] = (struct pushed_launch){ grid, block, shared_bytes, stream };
    return PLIM_CUDA_SUCCESS;
}

status __cudaPopCallConfiguration(struct cuda_dim3 *grid, struct cuda_dim3 *block, size_t *shared_bytes, void **stream)
{
    if (n_pushed == 0)
        return PLIM_CUDA_INVALID_VALUE;
    const struct pushed_launch *c = &pushed[--n_pushed];
    *grid = c->grid;
    *block = c->block;
    *shared_bytes = c->shared_bytes;
    *stream = c->stream;
    return PLIM_CUDA_SUCCESS;
}

status __cudaGetKernel(void **kernel, const void *function)
{
    *kernel = (void *)(uintptr_t)function;
    return PLIM_CUDA_SUCCESS;
}

/* --- launches --- */

enum {
    INVALID_CONFIGURATION = 9,
    INVALID_SYMBOL = 13,
    INVALID_FUNCTION = 98,
    NO_KERNEL_IMAGE = 209,
    MAX_THREADS = 1024
};

static int compute_capability(void) { return (int)plim_vgpu_card(plim_runtime_device())->compute_capability; }

/* Looked up at the first launch: most of the kernels that a program registers are never launched. */
static const struct plim_meaning *meaning_of(struct plim_registered *kernel)
{
    const struct plim_meaning *meaning = atomic_load_explicit(&kernel->meaning, memory_order_acquire);
    if (!meaning && kernel->name && (meaning = plim_meaning_of(kernel->name)))
        atomic_store_explicit(&kernel->meaning, meaning, memory_order_release);
    return meaning;
}

/* A kernel of the program, or a handle of a library that it loaded. */
static status launch(const void *function, struct cuda_dim3 grid, struct cuda_dim3 block, size_t shared_bytes,
                     void **arguments, void *stream)
{
    status error = plim_runtime_ready();
    if (error)
        return error;
    struct plim_registered *kernel = plim_registry_find(function, PLIM_REGISTRY_KERNEL);
    int ptx, binary;
    if (!kernel) {
        error = cuLaunchKernel((void *)(uintptr_t)function, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                               (unsigned)shared_bytes, stream, arguments, NULL);
        return plim_runtime_fail(error == PLIM_CUDA_INVALID_HANDLE ? INVALID_FUNCTION : error);
    }
    if (!plim_card_takes((const unsigned[]){ grid.x, grid.y, grid.z }, (const unsigned[]){ block.x, block.y, block.z }))
        return plim_runtime_fail(INVALID_CONFIGURATION);
    if (!plim_fat_choose(kernel->fat, compute_capability(), &ptx, &binary))
        return plim_runtime_fail(NO_KERNEL_IMAGE);
    error = plim_vgpu_launch_kernel(stream, meaning_of(kernel), arguments, (const unsigned[]){ grid.x, grid.y, grid.z },
                                    (const unsigned[]){ block.x, block.y, block.z });
    if (!error)
        plim_vgpu_launched(function);
    return plim_runtime_fail(error);
}

status cudaLaunchKernel(const void *function, struct cuda_dim3 grid, struct cuda_dim3 block, void **arguments,
                        size_t shared_bytes, void *stream)
{
    return launch(function, grid, block, shared_bytes, arguments, stream);
}

status __cudaLaunchKernel(void *kernel, struct cuda_dim3 grid, struct cuda_dim3 block, void **arguments,
                          size_t shared_bytes, void *stream)
{
    return launch(kernel, grid, block, shared_bytes, arguments, stream);
}

status cudaLaunchCooperativeKernel(const void *function, struct cuda_dim3 grid, struct cuda_dim3 block,
                                   void **arguments, size_t shared_bytes, void *stream)
{
    return launch(function, grid, block, shared_bytes, arguments, stream);
}

status cudaLaunchKernelExC(const struct cuda_launch *configuration, const void *function, void **arguments)
{
    const struct cuda_launch *c = configuration;
    return c ? launch(function, c->grid, c->block, c->shared_bytes, arguments, c->stream)
             : plim_runtime_fail(PLIM_CUDA_INVALID_VALUE);
}

/* --- variables --- */

status cudaGetSymbolAddress(void **ret_address, const void *symbol)
{
    status error = plim_runtime_ready();
    const struct plim_registered *variable = plim_registry_find(symbol, PLIM_REGISTRY_VARIABLE);
    if (error || !variable || !ret_address)
        return plim_runtime_fail(error ? error : variable ? PLIM_CUDA_INVALID_VALUE : INVALID_SYMBOL);
    const int device = plim_runtime_device();
    uint64_t *address = &variable->placed->address[device];
    pthread_mutex_lock(&variable->placed->lock);
    if (!*address)
        error = plim_vgpu_place_variable(device, variable->size, address);
    if (!error)
        *ret_address = (void *)(uintptr_t)*address;
    pthread_mutex_unlock(&variable->placed->lock);
    return plim_runtime_fail(error);
}

status cudaGetSymbolSize(size_t *ret_size, const void *symbol)
{
    status error = plim_runtime_ready();
    const struct plim_registered *variable = plim_registry_find(symbol, PLIM_REGISTRY_VARIABLE);
    if (error || !variable || !ret_size)
        return plim_runtime_fail(error ? error : variable ? PLIM_CUDA_INVALID_VALUE : INVALID_SYMBOL);
    *ret_size = variable->size;
    return PLIM_CUDA_SUCCESS;
}

/* --- attributes and occupancy --- */

/* The registered code is not read: these values are plausible and the same for all kernels. */
enum { N_REGISTERS = 64, BLOCKS_PER_SM = 2, SHARED_BYTES = 48 << 10 };

status cudaFuncGetAttributes(struct cuda_function_attributes *attributes, const void *function)
{
    status error = plim_runtime_ready();
    const struct plim_registered *kernel = plim_registry_find(function, PLIM_REGISTRY_KERNEL);
    int ptx, binary;
    if (error || !attributes || !function)
        return plim_runtime_fail(error ? error : PLIM_CUDA_INVALID_VALUE);
    if (!kernel)
        return plim_runtime_fail(INVALID_FUNCTION);
    if (!plim_fat_choose(kernel->fat, compute_capability(), &ptx, &binary))
        return plim_runtime_fail(NO_KERNEL_IMAGE);
    memset(attributes, 0, sizeof *attributes);
    attributes->max_threads = MAX_THREADS;
    attributes->n_registers = N_REGISTERS;
    attributes->ptx_version = ptx;
    attributes->binary_version = binary;
    attributes->max_dynamic_shared_bytes = kernel->size ? (int)kernel->size : SHARED_BYTES;
    return PLIM_CUDA_SUCCESS;
}

status cudaKernelSetAttributeForDevice(void *kernel, int attribute, int value, int device)
{
    status error = plim_runtime_ready();
    return plim_runtime_fail(error ? error : cuKernelSetAttribute(attribute, value, kernel, device));
}

status cudaFuncSetAttribute(const void *function, int attribute, int value)
{
    enum { MAX_DYNAMIC_SHARED = 8, SHARED_PER_BLOCK_OPTIN = 97 };
    int most = 0;
    status error = plim_runtime_ready();
    struct plim_registered *kernel = plim_registry_find(function, PLIM_REGISTRY_KERNEL);
    if (error)
        return error;
    if (!kernel) {
        error = cuKernelSetAttribute(attribute, value, (void *)(uintptr_t)function, plim_runtime_device());
        return plim_runtime_fail(error == PLIM_CUDA_INVALID_HANDLE ? INVALID_FUNCTION : error);
    }
    if (attribute != MAX_DYNAMIC_SHARED)
        return PLIM_CUDA_SUCCESS;
    if (cuDeviceGetAttribute(&most, SHARED_PER_BLOCK_OPTIN, plim_runtime_device()) || value < 0 || value > most)
        return plim_runtime_fail(PLIM_CUDA_INVALID_VALUE);
    kernel->size = (uint64_t)value;
    return PLIM_CUDA_SUCCESS;
}

status cudaFuncSetCacheConfig(const void *function, int configuration)
{
    (void)function, (void)configuration;
    return plim_runtime_ready();
}

status cudaFuncGetName(const char **ret_name, const void *function)
{
    const struct plim_registered *kernel = plim_registry_find(function, PLIM_REGISTRY_KERNEL);
    if (!kernel || !kernel->name || !ret_name)
        return plim_runtime_fail(ret_name ? INVALID_FUNCTION : PLIM_CUDA_INVALID_VALUE);
    *ret_name = kernel->name;
    return PLIM_CUDA_SUCCESS;
}

/* The kernel as the driver knows it. */
status cudaGetFuncBySymbol(void **ret_function, const void *symbol)
{
    status error = plim_runtime_ready();
    struct plim_registered *kernel = plim_registry_find(symbol, PLIM_REGISTRY_KERNEL);
    int ptx, binary;
    if (error || !ret_function)
        return plim_runtime_fail(error ? error : PLIM_CUDA_INVALID_VALUE);
    if (!kernel || !kernel->fat || !kernel->name)
        return plim_runtime_fail(INVALID_FUNCTION);
    if (!plim_fat_choose(kernel->fat, compute_capability(), &ptx, &binary))
        return plim_runtime_fail(NO_KERNEL_IMAGE);
    return plim_runtime_fail(plim_vgpu_host_kernel(&kernel->fat->library, kernel->fat->wrapper, kernel->name,
                                                   meaning_of(kernel), ret_function));
}

status cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *n_blocks, const void *function, int block_size,
                                                              size_t shared_bytes, unsigned flags)
{
    enum { THREADS_PER_SM = 39 };
    int n_threads = 0;
    (void)function, (void)shared_bytes, (void)flags;
    status error = plim_runtime_ready();
    if (error || block_size <= 0 || !n_blocks)
        return plim_runtime_fail(error ? error : PLIM_CUDA_INVALID_VALUE);
    if ((error = cuDeviceGetAttribute(&n_threads, THREADS_PER_SM, plim_runtime_device())))
        return plim_runtime_fail(error);
    *n_blocks = n_threads / block_size < BLOCKS_PER_SM ? n_threads / block_size : BLOCKS_PER_SM;
    return PLIM_CUDA_SUCCESS;
}

status cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *n_blocks, const void *function, int block_size,
                                                     size_t shared_bytes)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(n_blocks, function, block_size, shared_bytes, 0);
}

status cudaGraphConditionalHandleCreate(uint64_t *handle, void *graph, unsigned value, unsigned flags)
{
    status error = plim_runtime_ready();
    return plim_runtime_fail(error ? error : cuGraphConditionalHandleCreate(handle, graph, NULL, value, flags));
}

status cudaGraphConditionalHandleCreate_v2(uint64_t *handle, void *graph, void *context, unsigned value, unsigned flags)
{
    status error = plim_runtime_ready();
    return plim_runtime_fail(error ? error : cuGraphConditionalHandleCreate(handle, graph, context, value, flags));
}
