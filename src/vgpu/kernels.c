/* SPDX-License-Identifier: MIT */
/* libcudart: kernels are registered and launched, and do nothing. What a launch would refuse is refused. */
#include "vgpu/effects.h"
#include "vgpu/runtime.h"
#include "vgpu/steps.h"

#include <string.h>

struct dim3 {
    unsigned x, y, z;
};

/* --- what the compiler puts into every object with device code --- */

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
    (void)handle, (void)device_function, (void)thread_limit;
    (void)tid, (void)bid, (void)block, (void)grid, (void)warp_size;
    plim_effects_register(host_function, name);
}

void __cudaRegisterVar(void **handle, char *host, char *address, const char *name, int ext, size_t size, int constant,
                       int global)
{
    (void)handle, (void)host, (void)address, (void)name, (void)ext, (void)size, (void)constant, (void)global;
}

char __cudaInitModule(void **handle)
{
    (void)handle;
    return 1;
}

struct configuration {
    struct dim3 grid, block;
    size_t shared_bytes;
    void *stream;
};

/* What stands between <<< and >>> is pushed by the caller and popped by the stub of the kernel: never deep. */
enum { MAX_PUSHED = 8 };
static _Thread_local struct configuration pushed[MAX_PUSHED];
static _Thread_local int n_pushed;

unsigned __cudaPushCallConfiguration(struct dim3 grid, struct dim3 block, size_t shared_bytes, void *stream)
{
    if (n_pushed == MAX_PUSHED)
        return PLIM_CUDA_INVALID_VALUE;
    pushed[n_pushed++] = (struct configuration){ grid, block, shared_bytes, stream };
    return PLIM_CUDA_SUCCESS;
}

status __cudaPopCallConfiguration(struct dim3 *grid, struct dim3 *block, size_t *shared_bytes, void **stream)
{
    if (n_pushed == 0)
        return PLIM_CUDA_INVALID_VALUE;
    const struct configuration *c = &pushed[--n_pushed];
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

static status launch(const void *function, void **parameters, void *stream)
{
    status error = plim_runtime_stream(stream);
    if (!error)
        error = function ? plim_vgpu_need_kernels(plim_runtime_device()) : PLIM_CUDA_INVALID_VALUE;
    if (!error) {
        plim_effects_launch(function, parameters);
        plim_runtime_capture(stream);
        plim_vgpu_launched(function);
    }
    return plim_runtime_fail(error);
}

status __cudaLaunchKernel(void *kernel, struct dim3 grid, struct dim3 block, void **arguments, size_t shared_bytes,
                          void *stream)
{
    (void)grid, (void)block, (void)shared_bytes;
    return launch(kernel, arguments, stream);
}

status cudaLaunchKernel(const void *function, struct dim3 grid, struct dim3 block, void **arguments,
                        size_t shared_bytes, void *stream)
{
    (void)grid, (void)block, (void)shared_bytes;
    return launch(function, arguments, stream);
}

status cudaLaunchCooperativeKernel(const void *function, struct dim3 grid, struct dim3 block, void **arguments,
                                   size_t shared_bytes, void *stream)
{
    return cudaLaunchKernel(function, grid, block, arguments, shared_bytes, stream);
}

/* cudaLaunchConfig_t */
struct launch_configuration {
    struct dim3 grid, block;
    size_t shared_bytes;
    void *stream, *attributes;
    unsigned n_attributes;
};
_Static_assert(sizeof(struct launch_configuration) == 56, "cudaLaunchConfig_t");

status cudaLaunchKernelExC(const struct launch_configuration *configuration, const void *function, void **arguments)
{
    return configuration ? launch(function, arguments, configuration->stream)
                         : plim_runtime_fail(PLIM_CUDA_INVALID_VALUE);
}

/* --- what is asked of a kernel --- */

/* cudaFuncAttributes, as far as it is known; the rest is zero. */
struct function_attributes {
    size_t shared_bytes, constant_bytes, local_bytes;
    int max_threads, n_registers, ptx_version, binary_version, cache_mode, max_dynamic_shared_bytes;
    int unknown[24];
};
_Static_assert(sizeof(struct function_attributes) == 144, "cudaFuncAttributes");

enum { MAX_THREADS = 1024, N_REGISTERS = 64, BLOCKS_PER_SM = 2, SHARED_BYTES = 48 << 10 };

status cudaFuncGetAttributes(struct function_attributes *attributes, const void *function)
{
    status error = plim_runtime_ready();
    if (error || !function)
        return plim_runtime_fail(error ? error : PLIM_CUDA_INVALID_VALUE);
    const int version = (int)plim_vgpu_card(plim_runtime_device())->compute_capability;
    memset(attributes, 0, sizeof *attributes);
    attributes->max_threads = MAX_THREADS;
    attributes->n_registers = N_REGISTERS;
    attributes->ptx_version = attributes->binary_version = version;
    attributes->max_dynamic_shared_bytes = SHARED_BYTES;
    return PLIM_CUDA_SUCCESS;
}

status cudaFuncSetAttribute(const void *function, int attribute, int value)
{
    (void)function, (void)attribute, (void)value;
    return plim_runtime_ready();
}

status cudaFuncSetCacheConfig(const void *function, int configuration)
{
    (void)function, (void)configuration;
    return plim_runtime_ready();
}

status cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *n_blocks, const void *function, int block_size,
                                                              size_t shared_bytes, unsigned flags)
{
    (void)function, (void)block_size, (void)shared_bytes, (void)flags;
    *n_blocks = BLOCKS_PER_SM;
    return plim_runtime_ready();
}

status cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *n_blocks, const void *function, int block_size,
                                                     size_t shared_bytes)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(n_blocks, function, block_size, shared_bytes, 0);
}
