/* SPDX-License-Identifier: MIT */
/*
 * libcuda: launches, attributes and occupancy of kernels. A launch runs nothing, but its arguments are checked as on a
 * card.
 */
#include "vgpu/driver/launches.h"

#include "vgpu/core/attributes.h"
#include "vgpu/core/cuda_api.h"
#include "vgpu/core/space.h"
#include "vgpu/core/steps.h"
#include "vgpu/driver/contexts.h"
#include "vgpu/driver/graphs/capture.h"
#include "vgpu/driver/memory/device_memory.h"
#include "vgpu/driver/modules.h"
#include "vgpu/kernels/reduce/jit.h"
#include "vgpu/kernels/snapshot.h"
#include "vgpu/values/policy.h"
#include "vgpu/values/shadow.h"

#include <string.h>

/* --- launches --- */

/* The pointers to device memory among the parameters of a kernel that has no meaning here. */
struct pointers {
    unsigned n;
    bool is_all; /* they are not known, or too many */
    const void *at[64];
};

static void add_words(struct pointers *found, const void *words, size_t size)
{
    for (size_t i = 0; i + sizeof(void *) <= size; i += sizeof(void *)) {
        const void *pointer;
        memcpy(&pointer, (const char *)words + i, sizeof pointer);
        if (!plim_space_owner_of((uint64_t)(uintptr_t)pointer))
            continue;
        if (found->n == sizeof found->at / sizeof *found->at)
            found->is_all = true;
        else
            found->at[found->n++] = pointer;
    }
}

/* extra: CU_LAUNCH_PARAM_BUFFER_POINTER (1) and CU_LAUNCH_PARAM_BUFFER_SIZE (2), each with its value, and a zero. */
static void add_extra(struct pointers *found, void **extra)
{
    const void *buffer = NULL;
    size_t size = 0;
    for (unsigned i = 0; i < 2 && (uintptr_t)extra[2 * i]; i++)
        if ((uintptr_t)extra[2 * i] == 1)
            buffer = extra[2 * i + 1];
        else if ((uintptr_t)extra[2 * i] == 2)
            memcpy(&size, extra[2 * i + 1], sizeof size);
    if (buffer)
        add_words(found, buffer, size);
}

static void find_pointers(const struct plim_cubin_kernel *code, void **parameters, void **extra,
                          struct pointers *ret_found)
{
    ret_found->n = 0;
    ret_found->is_all = parameters && code->n_parameters < 0;
    for (int i = 0; parameters && i < code->n_parameters; i++)
        add_words(ret_found, parameters[i], code->parameter_words[i] * (size_t)4);
    if (!parameters && extra)
        add_extra(ret_found, extra);
}

static void doubt_pointers(const void *context)
{
    const struct pointers *found = context;
    if (found->is_all)
        plim_shadow_doubt_all();
    for (unsigned i = 0; i < found->n && !found->is_all; i++)
        plim_shadow_doubt(found->at[i]);
}

/* A node whose launches change values. Takes the work over, which is NULL if there was no memory for it. */
static status capture(void *stream, struct plim_work *work)
{
    status error = work ? plim_capture_work(stream, PLIM_NODE_KERNEL, NULL, work, NULL) : PLIM_CUDA_OUT_OF_MEMORY;
    plim_work_release(work);
    return error;
}

static status put(void *stream, const struct pointers *found)
{
    static const struct plim_work_kind kind = { doubt_pointers, NULL };
    if (plim_capture_is_on(stream))
        return capture(stream, plim_work_make(&kind, found, sizeof *found));
    status error = plim_capture_work(stream, PLIM_NODE_KERNEL, NULL, NULL, NULL);
    if (!error) {
        plim_vgpu_ran(plim_context_device());
        doubt_pointers(found);
    }
    return error;
}

struct sizes {
    unsigned grid[3], block[3];
    uint64_t shared_bytes;
};

/* Whether the kernel has a meaning, which has been applied. In a graph it has none. */
static bool is_told(const struct plim_kernel *kernel, void *stream, void **parameters)
{
    return kernel->code.n_parameters == 1 && parameters && plim_values_policy() != PLIM_VALUES_OFF &&
           !plim_capture_is_on(stream) &&
           plim_jit_reduction_run(kernel->name, parameters[0], kernel->code.parameter_words[0] * (size_t)4);
}

static status launch(void *function, const struct sizes *sizes, void *stream, void **parameters, void **extra)
{
    const unsigned *grid = sizes->grid, *block = sizes->block;
    struct pointers found;
    const struct plim_kernel *kernel = plim_kernel_of(function);
    status error = plim_context_need();
    if (error || !kernel)
        return error ? error : PLIM_CUDA_INVALID_HANDLE;
    if (!plim_card_takes(grid, block) || block[0] * block[1] * block[2] > (unsigned)kernel->code.max_threads)
        return PLIM_CUDA_INVALID_VALUE;
    int most = kernel->max_dynamic_shared_bytes;
    if (sizes->shared_bytes > (uint64_t)most)
        return PLIM_CUDA_INVALID_VALUE;
    if (kernel->meaning && parameters) {
        if (!(error = plim_vgpu_launch_kernel(stream, kernel->meaning, parameters, grid, block)))
            plim_vgpu_launched(function);
        return error;
    }
    if ((error = plim_vgpu_need_kernels(plim_context_device())))
        return error;
    find_pointers(&kernel->code, parameters, extra, &found);
    if (is_told(kernel, stream, parameters))
        found = (struct pointers){ .n = 0 };
    if (!(error = put(stream, &found)))
        plim_vgpu_launched(function);
    return error;
}

status cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                      unsigned block_y, unsigned block_z, unsigned shared_bytes, void *stream, void **parameters,
                      void **extra)
{
    const struct sizes sizes = { { grid_x, grid_y, grid_z }, { block_x, block_y, block_z }, shared_bytes };
    return launch(function, &sizes, stream, parameters, extra);
}

status cuLaunchCooperativeKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                                 unsigned block_y, unsigned block_z, unsigned shared_bytes, void *stream,
                                 void **parameters)
{
    return cuLaunchKernel(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream, parameters,
                          NULL);
}

status cuLaunchKernelEx(const struct cu_launch *c, void *function, void **parameters, void **extra)
{
    if (!c)
        return PLIM_CUDA_INVALID_VALUE;
    return cuLaunchKernel(function, c->grid[0], c->grid[1], c->grid[2], c->block[0], c->block[1], c->block[2],
                          c->shared_bytes, c->stream, parameters, extra);
}

/* --- work of the other libraries --- */

static void run_snapshot(const void *context) { plim_snapshot_apply(*(struct plim_snapshot *const *)context); }
static void drop_snapshot(void *context) { plim_snapshot_free(*(struct plim_snapshot **)context); }

static status capture_kernel(void *stream, const struct plim_meaning *kernel, void **parameters, const unsigned grid[3],
                             const unsigned block[3])
{
    static const struct plim_work_kind kind = { run_snapshot, drop_snapshot };
    struct plim_snapshot *snapshot = plim_snapshot_make(kernel, parameters, grid, block);
    return capture(stream, snapshot ? plim_work_make(&kind, &snapshot, sizeof snapshot) : NULL);
}

status plim_vgpu_launch_kernel(void *stream, const struct plim_meaning *kernel, void **parameters,
                               const unsigned grid[3], const unsigned block[3])
{
    status error = plim_vgpu_need_kernels(plim_context_device());
    if (error)
        return error;
    if (plim_capture_is_on(stream))
        return capture_kernel(stream, kernel, parameters, grid, block);
    error = plim_capture_work(stream, PLIM_NODE_KERNEL, NULL, NULL, NULL);
    if (!error) {
        plim_vgpu_ran(plim_context_device());
        plim_meaning_apply(kernel, parameters, grid, block);
    }
    return error;
}

/* What a library gave, behind the function that takes it. */
struct library_work {
    void (*run)(const void *context);
    _Alignas(16) unsigned char context[256];
};

static void run_library_work(const void *context)
{
    const struct library_work *work = context;
    work->run(work->context);
}

status plim_vgpu_launch(void *stream, void (*run)(const void *context), const void *context, size_t size)
{
    static const struct plim_work_kind kind = { run_library_work, NULL };
    struct library_work work = { .run = run };
    status error = plim_vgpu_need_kernels(plim_context_device());
    if (error || size > sizeof work.context)
        return error ? error : PLIM_CUDA_INVALID_VALUE;
    if (run && plim_capture_is_on(stream)) {
        memcpy(work.context, context, size);
        return capture(stream, plim_work_make(&kind, &work, sizeof work));
    }
    error = plim_capture_work(stream, PLIM_NODE_KERNEL, NULL, NULL, NULL);
    if (!error && !plim_capture_is_on(stream))
        plim_vgpu_ran(plim_context_device());
    if (!error && run)
        run(context);
    return error;
}

int plim_vgpu_place_variable(int device, uint64_t size, uint64_t *ret_address)
{
    return plim_device_memory_place(PLIM_DEVICE_MEMORY_IPC, device, size ? size : 1, NULL, ret_address);
}

bool plim_vgpu_captures(const void *stream) { return plim_capture_is_on(stream); }

bool plim_vgpu_is_stream(const void *stream) { return plim_stream_of(stream) != NULL; }

/* --- attributes --- */

/* CUfunction_attribute */
enum function_attribute {
    MAX_THREADS_PER_BLOCK = 0,
    SHARED_SIZE = 1,
    CONSTANT_SIZE = 2,
    LOCAL_SIZE = 3,
    NUM_REGS = 4,
    PTX_VERSION = 5,
    BINARY_VERSION = 6,
    CACHE_MODE = 7,
    MAX_DYNAMIC_SHARED = 8,
    CARVEOUT = 9,
    CLUSTER_FIRST = 10,
    LARGE_CLUSTERS = 14,
    CLUSTER_POLICY = 15,
};

static status get_attribute(int *value, int attribute, const struct plim_kernel *kernel, int device)
{
    const struct plim_ledger_card *card = plim_vgpu_card(device);
    switch (attribute) {
    case MAX_THREADS_PER_BLOCK:
        *value = kernel->code.max_threads;
        break;
    case SHARED_SIZE:
        *value = kernel->code.shared_bytes;
        break;
    case LOCAL_SIZE:
        *value = kernel->code.local_bytes;
        break;
    case NUM_REGS:
        *value = kernel->code.n_registers;
        break;
    case PTX_VERSION:
    case BINARY_VERSION:
        *value = card ? (int)card->compute_capability : 0;
        break;
    case MAX_DYNAMIC_SHARED:
        *value = kernel->max_dynamic_shared_bytes;
        break;
    case CARVEOUT:
        *value = kernel->carveout;
        break;
    case LARGE_CLUSTERS:
        *value = kernel->may_have_large_clusters;
        break;
    default:
        if (attribute < 0 || attribute > CLUSTER_POLICY)
            return PLIM_CUDA_INVALID_VALUE;
        *value = 0;
        break;
    }
    return PLIM_CUDA_SUCCESS;
}

static status set_attribute(struct plim_kernel *kernel, int attribute, int value, int device)
{
    enum { SHARED_PER_BLOCK_OPTIN = 97 };
    int most = 0;
    switch (attribute) {
    case MAX_DYNAMIC_SHARED:
        if (cuDeviceGetAttribute(&most, SHARED_PER_BLOCK_OPTIN, device) || value < 0 ||
            value > most - kernel->code.shared_bytes)
            return PLIM_CUDA_INVALID_VALUE;
        kernel->max_dynamic_shared_bytes = value;
        return PLIM_CUDA_SUCCESS;
    case CARVEOUT:
        kernel->carveout = value;
        return PLIM_CUDA_SUCCESS;
    case LARGE_CLUSTERS:
        kernel->may_have_large_clusters = value != 0;
        return PLIM_CUDA_SUCCESS;
    default:
        return attribute >= CLUSTER_FIRST && attribute <= CLUSTER_POLICY ? PLIM_CUDA_SUCCESS : PLIM_CUDA_INVALID_VALUE;
    }
}

status cuFuncGetAttribute(int *value, int attribute, void *function)
{
    const struct plim_kernel *kernel = plim_kernel_of(function);
    if (!kernel || !value)
        return kernel ? PLIM_CUDA_INVALID_VALUE : PLIM_CUDA_INVALID_HANDLE;
    return get_attribute(value, attribute, kernel, plim_context_device());
}

status cuFuncSetAttribute(void *function, int attribute, int value)
{
    struct plim_kernel *kernel = plim_kernel_of(function);
    return kernel ? set_attribute(kernel, attribute, value, plim_context_device()) : PLIM_CUDA_INVALID_HANDLE;
}

status cuKernelGetAttribute(int *value, int attribute, void *handle, int device)
{
    const struct plim_kernel *kernel = plim_kernel_of(handle);
    if (!kernel || !value)
        return kernel ? PLIM_CUDA_INVALID_VALUE : PLIM_CUDA_INVALID_HANDLE;
    return get_attribute(value, attribute, kernel, device);
}

status cuKernelSetAttribute(int attribute, int value, void *handle, int device)
{
    struct plim_kernel *kernel = plim_kernel_of(handle);
    return kernel ? set_attribute(kernel, attribute, value, device) : PLIM_CUDA_INVALID_HANDLE;
}

status cuFuncSetCacheConfig(void *function, int configuration)
{
    (void)configuration;
    return plim_kernel_of(function) ? PLIM_CUDA_SUCCESS : PLIM_CUDA_INVALID_HANDLE;
}

status cuKernelSetCacheConfig(void *kernel, int configuration, int device)
{
    (void)device;
    return cuFuncSetCacheConfig(kernel, configuration);
}

status cuFuncSetSharedMemConfig(void *function, int configuration)
{
    return cuFuncSetCacheConfig(function, configuration);
}

status cuFuncIsLoaded(int *state, void *function)
{
    if (!plim_kernel_of(function) || !state)
        return PLIM_CUDA_INVALID_HANDLE;
    *state = 1;
    return PLIM_CUDA_SUCCESS;
}

status cuFuncLoad(void *function) { return plim_kernel_of(function) ? PLIM_CUDA_SUCCESS : PLIM_CUDA_INVALID_HANDLE; }

/* --- occupancy --- */

int plim_occupancy(int device, const struct plim_cubin_kernel *code, int block_size, size_t shared_bytes)
{
    enum {
        THREADS_PER_SM = 39,
        REGISTERS_PER_SM = 82,
        SHARED_PER_SM = 81,
        BLOCKS_PER_SM = 106,
        WARP = 32,
        KEPT = 1024
    };
    int threads = 0, registers = 0, shared = 0, blocks = 0;
    if (block_size <= 0 || block_size > code->max_threads || cuDeviceGetAttribute(&threads, THREADS_PER_SM, device) ||
        cuDeviceGetAttribute(&registers, REGISTERS_PER_SM, device) ||
        cuDeviceGetAttribute(&shared, SHARED_PER_SM, device) || cuDeviceGetAttribute(&blocks, BLOCKS_PER_SM, device))
        return 0;
    if (shared_bytes > (size_t)shared) /* the sum below would overflow */
        return 0;
    /* Warps get registers in units of 256 (8 for each thread); a block keeps 1 KiB of shared memory for the driver. */
    const int n_warps = (block_size + WARP - 1) / WARP;
    const int per_warp = (code->n_registers + 7) / 8 * 8 * WARP;
    const size_t per_block = shared_bytes + (size_t)code->shared_bytes + KEPT;
    int n = blocks;
    if (threads / (n_warps * WARP) < n)
        n = threads / (n_warps * WARP);
    if (per_warp && registers / per_warp / n_warps < n)
        n = registers / per_warp / n_warps;
    if ((size_t)shared / per_block < (size_t)n)
        n = (int)((size_t)shared / per_block);
    return n;
}

status cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *n_blocks, void *function, int block_size,
                                                            size_t shared_bytes, unsigned flags)
{
    const struct plim_kernel *kernel = plim_kernel_of(function);
    (void)flags;
    if (!kernel || !n_blocks || block_size <= 0)
        return kernel ? PLIM_CUDA_INVALID_VALUE : PLIM_CUDA_INVALID_HANDLE;
    *n_blocks = plim_occupancy(plim_context_device(), &kernel->code, block_size, shared_bytes);
    return PLIM_CUDA_SUCCESS;
}

status cuOccupancyMaxActiveBlocksPerMultiprocessor(int *n_blocks, void *function, int block_size, size_t shared_bytes)
{
    return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(n_blocks, function, block_size, shared_bytes, 0);
}

status cuOccupancyMaxPotentialBlockSizeWithFlags(int *min_grid, int *block_size, void *function,
                                                 size_t (*shared_for)(int), size_t shared_bytes, int limit,
                                                 unsigned flags)
{
    enum { SM_COUNT = 16, STEP = 32 };
    const struct plim_kernel *kernel = plim_kernel_of(function);
    int n_sm = 0, best = 0;
    (void)flags;
    if (!kernel || !min_grid || !block_size)
        return kernel ? PLIM_CUDA_INVALID_VALUE : PLIM_CUDA_INVALID_HANDLE;
    const int most = limit > 0 && limit < kernel->code.max_threads ? limit : kernel->code.max_threads;
    *block_size = most < STEP ? most : STEP;
    for (int size = most / STEP * STEP; size >= STEP; size -= STEP) {
        const size_t shared = shared_for ? shared_for(size) : shared_bytes;
        const int n = plim_occupancy(plim_context_device(), &kernel->code, size, shared);
        if (n * size > best) {
            best = n * size;
            *block_size = size;
        }
    }
    cuDeviceGetAttribute(&n_sm, SM_COUNT, plim_context_device());
    *min_grid = n_sm * (best / *block_size > 0 ? best / *block_size : 1);
    return PLIM_CUDA_SUCCESS;
}

status cuOccupancyMaxPotentialBlockSize(int *min_grid, int *block_size, void *function, size_t (*shared_for)(int),
                                        size_t shared_bytes, int limit)
{
    return cuOccupancyMaxPotentialBlockSizeWithFlags(min_grid, block_size, function, shared_for, shared_bytes, limit,
                                                     0);
}

/* Clusters of 8 blocks are portable; 16 where the kernel allows more. */
status cuOccupancyMaxPotentialClusterSize(int *size, void *function, const struct cu_launch *configuration)
{
    const struct plim_kernel *kernel = plim_kernel_of(function);
    if (!kernel || !size || !configuration)
        return kernel ? PLIM_CUDA_INVALID_VALUE : PLIM_CUDA_INVALID_HANDLE;
    *size = kernel->may_have_large_clusters ? 16 : 8;
    return PLIM_CUDA_SUCCESS;
}

status cuOccupancyMaxActiveClusters(int *n_clusters, void *function, const struct cu_launch *c)
{
    enum { SM_COUNT = 16, CLUSTER_DIMENSION = 4 };
    struct {
        int id, pad;
        unsigned size[16];
    } attribute;
    _Static_assert(sizeof attribute == 72, "CUlaunchAttribute");
    const struct plim_kernel *kernel = plim_kernel_of(function);
    int n_sm = 0;
    unsigned cluster = 1;
    if (!kernel || !n_clusters || !c)
        return kernel ? PLIM_CUDA_INVALID_VALUE : PLIM_CUDA_INVALID_HANDLE;
    for (unsigned i = 0; i < c->n_attributes && c->attributes; i++) {
        memcpy(&attribute, (const char *)c->attributes + i * sizeof attribute, sizeof attribute);
        if (attribute.id == CLUSTER_DIMENSION)
            cluster = attribute.size[0] * attribute.size[1] * attribute.size[2];
    }
    cuDeviceGetAttribute(&n_sm, SM_COUNT, plim_context_device());
    const int per_sm = plim_occupancy(plim_context_device(), &kernel->code,
                                      (int)(c->block[0] * c->block[1] * c->block[2]), c->shared_bytes);
    *n_clusters = cluster ? (int)((unsigned)(n_sm * per_sm) / cluster) : 0;
    return PLIM_CUDA_SUCCESS;
}

status cuOccupancyAvailableDynamicSMemPerBlock(size_t *shared_bytes, void *function, int n_blocks, int block_size)
{
    enum { SHARED_PER_SM = 81, KEPT = 1024 };
    const struct plim_kernel *kernel = plim_kernel_of(function);
    int shared = 0;
    if (!kernel || !shared_bytes || n_blocks <= 0 || block_size <= 0)
        return kernel ? PLIM_CUDA_INVALID_VALUE : PLIM_CUDA_INVALID_HANDLE;
    cuDeviceGetAttribute(&shared, SHARED_PER_SM, plim_context_device());
    const int left = shared / n_blocks - KEPT - kernel->code.shared_bytes;
    *shared_bytes = left > 0 ? (size_t)left : 0;
    return PLIM_CUDA_SUCCESS;
}

/* --- descriptors of tensors: 128 bytes that only the card reads --- */

enum { TENSOR_MAP_BYTES = 128 };

static status encode(void *map, unsigned rank, const void *address)
{
    static const char magic[16] = "plimsoll tensor";
    if (!map || rank == 0 || rank > 5 || ((uintptr_t)map & 63) || ((uintptr_t)address & 15))
        return PLIM_CUDA_INVALID_VALUE;
    memset(map, 0, TENSOR_MAP_BYTES);
    memcpy(map, &address, sizeof address);
    memcpy((char *)map + 16, magic, sizeof magic);
    return PLIM_CUDA_SUCCESS;
}

status cuTensorMapEncodeTiled(void *map, int type, unsigned rank, void *address)
{
    (void)type;
    return encode(map, rank, address);
}

status cuTensorMapEncodeIm2col(void *map, int type, unsigned rank, void *address)
{
    return cuTensorMapEncodeTiled(map, type, rank, address);
}

status cuTensorMapEncodeIm2colWide(void *map, int type, unsigned rank, void *address)
{
    return cuTensorMapEncodeTiled(map, type, rank, address);
}

status cuTensorMapReplaceAddress(void *map, void *address)
{
    if (!map || ((uintptr_t)address & 15))
        return PLIM_CUDA_INVALID_VALUE;
    memcpy(map, &address, sizeof address);
    return PLIM_CUDA_SUCCESS;
}
