/* SPDX-License-Identifier: MIT */
/*
 * The forms are those of PyTorch 2.5 to 2.15 (aten/src/ATen/native/cuda: CUDALoops.cuh, Reduce.cuh, Nonzero.cu,
 * Shape.cu) and of CUB's DeviceReduce. The mangled name holds the types of the parameters, so that another form is not
 * taken for one.
 */
#include "vgpu/effects.h"

#include "vgpu/shadow.h"
#include "vgpu/values.h"
#include "vgpu/whole.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

enum effect {
    EFFECT_NONE,
    EFFECT_ELEMENTS, /* (int n, functor, array of pointers...): the first pointer is the output */
    EFFECT_FILL_1,   /* the same with FillFunctor<T>: T is 1, 2, 4 or 8 bytes */
    EFFECT_FILL_2,
    EFFECT_FILL_4,
    EFFECT_FILL_8,
    EFFECT_INDEXED, /* (n, functor, pointer to the output) */
    EFFECT_LAMBDA,  /* (int n, functor): the functor holds the array, and no device pointer before */
    EFFECT_REDUCE,  /* (ReduceOp): const void *src, char *dst[2] in it, and no device pointer before */
    EFFECT_JOIN_1,  /* (output, inputs, strides, dimension, stride): torch.cat of vectors, elements of 1 or 8 bytes */
    EFFECT_JOIN_8,
    EFFECT_COUNT,   /* (input, output, number of inputs, ...): how many are not zero */
    EFFECT_CARRIES, /* the second step of such a sum */
};

/* Open addressing by the address of the function. Never shrinks: libraries with kernels stay. */
enum { TABLE_SIZE = 1 << 17 };
static struct entry {
    _Atomic(const void *) function;
    enum effect effect;
    struct plim_whole whole;
} * table;
static atomic_uint n_entries;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static uint32_t slot_of(const void *function)
{
    return (uint32_t)(((uint64_t)(uintptr_t)function * 0x9e3779b97f4a7c15u) >> 47);
}

static enum effect fill_of(const char *type)
{
    static const char *const two[] = { "N3c104HalfE", "N3c108BFloat16E" };
    for (size_t i = 0; i < sizeof two / sizeof *two; i++)
        if (!strncmp(type, two[i], strlen(two[i])))
            return EFFECT_FILL_2;
    if (type[0] == '\0' || type[1] != 'E')
        return EFFECT_ELEMENTS;
    return strchr("abh", *type)   ? EFFECT_FILL_1
           : strchr("st", *type)  ? EFFECT_FILL_2
           : strchr("fij", *type) ? EFFECT_FILL_4
           : strchr("dlm", *type) ? EFFECT_FILL_8
                                  : EFFECT_ELEMENTS;
}

static enum effect effect_of(const char *name)
{
    static const char fill[] = "11FillFunctorI";
    const char *found;
    if (strstr(name, "DeviceReduce"))
        return strstr(name, "NonZeroOp")                        ? EFFECT_COUNT
               : strstr(name, "28DeviceReduceSingleTileKernel") ? EFFECT_CARRIES
                                                                : EFFECT_NONE;
    if (strncmp(name, "_ZN", 3) == 0 && strstr(name, "29elementwise_kernel_with_indexI"))
        return EFFECT_INDEXED;
    if (strncmp(name, "_ZN2at6native", 13) != 0)
        return EFFECT_NONE;
    if (strstr(name, "26CatArrayBatchedCopy_contigI") || strstr(name, "35CatArrayBatchedCopy_alignedK_contigI"))
        return strstr(name, "10OpaqueTypeILj8EEEjLi1ELi128ELi1E")   ? EFFECT_JOIN_8
               : strstr(name, "10OpaqueTypeILj1EEEjLi1ELi128ELi1E") ? EFFECT_JOIN_1
                                                                    : EFFECT_NONE;
    if (strstr(name, "29vectorized_elementwise_kernelI") && strstr(name, "St5arrayIPcLm")) {
        found = strstr(name, fill);
        return found ? fill_of(found + sizeof fill - 1) : EFFECT_ELEMENTS;
    }
    if (strstr(name, "27unrolled_elementwise_kernelI") && strstr(name, "St5arrayIPcLm"))
        return EFFECT_ELEMENTS;
    if (!strncmp(name, "_ZN2at6native18elementwise_kernelI", 34) ||
        !strncmp(name, "_ZN2at6native24index_elementwise_kernelI", 40))
        return EFFECT_LAMBDA;
    return strstr(name, "13reduce_kernelI") && strstr(name, "8ReduceOpI") ? EFFECT_REDUCE : EFFECT_NONE;
}

static enum effect known_effect(const void *function, struct plim_whole *ret_whole)
{
    const void *found;
    ret_whole->operation = PLIM_WHOLE_NONE;
    if (atomic_load_explicit(&n_entries, memory_order_acquire) == 0)
        return EFFECT_NONE;
    for (uint32_t i = slot_of(function); (found = atomic_load(&table[i].function)); i = (i + 1) % TABLE_SIZE)
        if (found == function) {
            *ret_whole = table[i].whole;
            return table[i].effect;
        }
    return EFFECT_NONE;
}

void plim_effects_register(const void *function, const char *name)
{
    const enum effect effect = name ? effect_of(name) : EFFECT_NONE;
    struct plim_whole old;
    if (!function || (effect == EFFECT_NONE && known_effect(function, &old) == EFFECT_NONE))
        return; /* else a library lies where another did: its kernel has parameters of its own */
    pthread_mutex_lock(&lock);
    if (!table) {
        void *start = mmap(NULL, TABLE_SIZE * sizeof *table, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        table = start == MAP_FAILED ? NULL : start;
    }
    if (table && atomic_load(&n_entries) < TABLE_SIZE / 2) {
        uint32_t i = slot_of(function);
        while (atomic_load(&table[i].function) && atomic_load(&table[i].function) != function)
            i = (i + 1) % TABLE_SIZE;
        table[i].effect = effect;
        table[i].whole =
            effect == EFFECT_NONE ? (struct plim_whole){ .operation = PLIM_WHOLE_NONE } : plim_whole_of(name);
        if (!atomic_load(&table[i].function)) {
            atomic_store(&table[i].function, function);
            atomic_fetch_add(&n_entries, 1);
        }
    }
    pthread_mutex_unlock(&lock);
}

/* --- what is written --- */

/* PyTorch's blocks are multiples of 512 bytes: what lies in the rest of the last one belongs to the same tensor. */
static void wrote(void *output, uint64_t n_bytes)
{
    enum { BLOCK_BYTES = 512 };
    const uint64_t start = (uint64_t)(uintptr_t)output, end = (start + n_bytes + BLOCK_BYTES - 1) / BLOCK_BYTES;
    if (plim_vgpu_is_device(output))
        plim_shadow_forget(output, end * BLOCK_BYTES - start);
}

static void wrote_elements(void **parameters)
{
    int n;
    void *output;
    memcpy(&n, parameters[0], sizeof n);
    memcpy(&output, parameters[2], sizeof output);
    if (n > 0)
        wrote(output, (uint64_t)n);
}

static void filled(void **parameters, unsigned width)
{
    enum { SMALL_BYTES = PLIM_SHADOW_COPY_BYTES };
    int n;
    void *output;
    unsigned char value[8];
    memcpy(&n, parameters[0], sizeof n);
    memcpy(value, parameters[1], width);
    memcpy(&output, parameters[2], sizeof output);
    if (n <= 0 || !plim_vgpu_is_device(output))
        return;
    if ((size_t)n * width > SMALL_BYTES)
        plim_shadow_forget(output, (size_t)n * width);
    else
        plim_vgpu_fill_with(output, value, width, (size_t)n);
}

static void wrote_indexed(void **parameters)
{
    uint32_t n; /* or of 64 bits, of which these are enough */
    void *output;
    memcpy(&n, parameters[0], sizeof n);
    memcpy(&output, parameters[2], sizeof output);
    if (n > 0)
        wrote(output, n);
}

/*
 * The lambda holds an OffsetCalculator and then the pointers, the output first. The calculator has 4 bytes, 25 dividers
 * of 12 and 25 strides of 4 for each of the pointers; what is not used of it holds what lay on the stack, old pointers
 * among it. So the place is right where each of its pointers is one. A single pointer says least and is tried last.
 */
static void wrote_by_lambda(void **parameters)
{
    static const uint8_t n_pointers[] = { 2, 3, 4, 5, 1 };
    enum { CALCULATOR_BYTES = 4 + 25 * 12, STRIDES_BYTES = 25 * 4, MAX_POINTERS = 5 };
    int n;
    memcpy(&n, parameters[0], sizeof n);
    for (size_t i = 0; n > 0 && i < sizeof n_pointers; i++) {
        void *pointers[MAX_POINTERS];
        const size_t n_found = n_pointers[i], at = (CALCULATOR_BYTES + n_found * STRIDES_BYTES + 7) / 8 * 8;
        memcpy(pointers, (const char *)parameters[1] + at, n_found * sizeof *pointers);
        size_t n_right = 0;
        while (n_right < n_found && plim_whole_is_buffer(pointers[n_right]))
            n_right++;
        if (n_right == n_found) {
            wrote(pointers[0], (uint64_t)n);
            return;
        }
    }
}

/* Sizes and pickled objects that PyTorch lays one behind the other before it sends them. */
static void joined(void **parameters, size_t width, unsigned n_inputs)
{
    enum { BATCH = 128 };
    struct {
        const char *input[BATCH];
        uint32_t offset[BATCH], size[BATCH], n_elements[BATCH];
    } inputs;
    uint32_t stride;
    char *output;
    memcpy(&output, parameters[0], sizeof output);
    memcpy(&inputs, parameters[1], sizeof inputs);
    memcpy(&stride, parameters[4], sizeof stride);
    for (unsigned i = 0; i < n_inputs && i < BATCH && stride == 1; i++) {
        char *to = output + inputs.offset[i] * width;
        if (plim_vgpu_is_device(to) && plim_vgpu_is_device(inputs.input[i]))
            plim_shadow_move(to, inputs.input[i], inputs.n_elements[i] * width);
    }
}

static void reduced(void **parameters)
{
    void *buffers[2];
    if (plim_whole_reduction_buffers(parameters[0], buffers))
        wrote(buffers[1], 1);
}

/* What is computed from numbers that kernels may have changed is no surer than they. */
static void launch_whole(const struct plim_whole *whole, enum effect effect, void **parameters)
{
    struct plim_whole_result result;
    plim_whole_compute(whole, parameters, &result); /* before this launch makes what is known less sure */
    plim_vgpu_selects(0);
    if (result.known != PLIM_SHADOW_KEPT)
        plim_shadow_launched();
    if (effect == EFFECT_REDUCE)
        reduced(parameters);
    else
        wrote_elements(parameters);
    if (result.is_computed && result.known == PLIM_SHADOW_UNKNOWN)
        plim_shadow_assume(result.output, result.bytes, result.size);
    else if (result.is_computed)
        plim_shadow_write(result.output, result.bytes, result.size);
    if (result.known == PLIM_SHADOW_KEPT)
        plim_shadow_launched();
}

void plim_effects_launch(const void *function, void **parameters, unsigned grid_y)
{
    struct plim_whole whole;
    const enum effect effect = known_effect(function, &whole);
    uint32_t n;
    if (whole.operation != PLIM_WHOLE_NONE && parameters) {
        launch_whole(&whole, effect, parameters);
        return;
    }
    plim_shadow_launched();
    if (effect != EFFECT_COUNT && effect != EFFECT_CARRIES)
        plim_vgpu_selects(0);
    if (effect == EFFECT_NONE || !parameters)
        return;
    switch (effect) {
    case EFFECT_ELEMENTS:
        wrote_elements(parameters);
        break;
    case EFFECT_INDEXED:
        wrote_indexed(parameters);
        break;
    case EFFECT_LAMBDA:
        wrote_by_lambda(parameters);
        break;
    case EFFECT_FILL_1:
    case EFFECT_FILL_2:
    case EFFECT_FILL_4:
    case EFFECT_FILL_8:
        filled(parameters, 1u << (effect - EFFECT_FILL_1));
        break;
    case EFFECT_REDUCE:
        reduced(parameters);
        break;
    case EFFECT_JOIN_1:
        joined(parameters, 1, grid_y);
        break;
    case EFFECT_JOIN_8:
        joined(parameters, 8, grid_y);
        break;
    case EFFECT_COUNT: /* of 4 or 8 bytes: PyTorch does not count more than INT_MAX at once */
        memcpy(&n, parameters[2], sizeof n);
        plim_vgpu_selects(n);
        break;
    default:
        break;
    }
}
