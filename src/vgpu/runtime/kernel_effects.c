/* SPDX-License-Identifier: MIT */
/*
 * The signatures are those of PyTorch 2.5 to 2.15 (aten/src/ATen/native/cuda: CUDALoops.cuh, Reduce.cuh, Nonzero.cu,
 * Shape.cu) and of CUB's DeviceReduce. The mangled name holds the types of the parameters, so that a kernel with
 * another signature is not mistaken for one of them.
 */
#include "vgpu/runtime/kernel_effects.h"

#include "vgpu/driver/memory/shadow.h"
#include "vgpu/driver/memory/values.h"

#include <string.h>

static enum plim_kernel_effect_kind fill_of(const char *type)
{
    static const char *const two[] = { "N3c104HalfE", "N3c108BFloat16E" };
    for (size_t i = 0; i < sizeof two / sizeof *two; i++)
        if (!strncmp(type, two[i], strlen(two[i])))
            return PLIM_KERNEL_EFFECT_FILL_2;
    if (type[0] == '\0' || type[1] != 'E')
        return PLIM_KERNEL_EFFECT_ELEMENTS;
    return strchr("abh", *type)   ? PLIM_KERNEL_EFFECT_FILL_1
           : strchr("st", *type)  ? PLIM_KERNEL_EFFECT_FILL_2
           : strchr("fij", *type) ? PLIM_KERNEL_EFFECT_FILL_4
           : strchr("dlm", *type) ? PLIM_KERNEL_EFFECT_FILL_8
                                  : PLIM_KERNEL_EFFECT_ELEMENTS;
}

static enum plim_kernel_effect_kind kind_of(const char *name)
{
    static const char fill[] = "11FillFunctorI";
    const char *found;
    if (strstr(name, "DeviceReduce"))
        return strstr(name, "NonZeroOp")                        ? PLIM_KERNEL_EFFECT_COUNT
               : strstr(name, "28DeviceReduceSingleTileKernel") ? PLIM_KERNEL_EFFECT_CARRIES
                                                                : PLIM_KERNEL_EFFECT_NONE;
    if (strncmp(name, "_ZN", 3) == 0 && strstr(name, "29elementwise_kernel_with_indexI"))
        return PLIM_KERNEL_EFFECT_INDEXED;
    if (strncmp(name, "_ZN2at6native", 13) != 0)
        return PLIM_KERNEL_EFFECT_NONE;
    if (strstr(name, "26CatArrayBatchedCopy_contigI") || strstr(name, "35CatArrayBatchedCopy_alignedK_contigI"))
        return strstr(name, "10OpaqueTypeILj8EEEjLi1ELi128ELi1E")   ? PLIM_KERNEL_EFFECT_JOIN_8
               : strstr(name, "10OpaqueTypeILj1EEEjLi1ELi128ELi1E") ? PLIM_KERNEL_EFFECT_JOIN_1
                                                                    : PLIM_KERNEL_EFFECT_NONE;
    if (strstr(name, "29vectorized_elementwise_kernelI") && strstr(name, "St5arrayIPcLm")) {
        found = strstr(name, fill);
        return found ? fill_of(found + sizeof fill - 1) : PLIM_KERNEL_EFFECT_ELEMENTS;
    }
    if (strstr(name, "27unrolled_elementwise_kernelI") && strstr(name, "St5arrayIPcLm"))
        return PLIM_KERNEL_EFFECT_ELEMENTS;
    if (!strncmp(name, "_ZN2at6native18elementwise_kernelI", 34) ||
        !strncmp(name, "_ZN2at6native24index_elementwise_kernelI", 40))
        return PLIM_KERNEL_EFFECT_LAMBDA;
    return strstr(name, "13reduce_kernelI") && strstr(name, "8ReduceOpI") ? PLIM_KERNEL_EFFECT_REDUCE
                                                                          : PLIM_KERNEL_EFFECT_NONE;
}

struct plim_kernel_effect plim_kernel_effect_of(const char *name)
{
    struct plim_kernel_effect effect = { .kind = name ? kind_of(name) : PLIM_KERNEL_EFFECT_NONE };
    if (effect.kind != PLIM_KERNEL_EFFECT_NONE)
        effect.whole = plim_int_kernel_of(name);
    return effect;
}

/* --- effects --- */

/* PyTorch's blocks are multiples of 512 bytes: the rest of the last one belongs to the same tensor. */
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
 * of 12 and 25 strides of 4 for each of the pointers; its unused part is uninitialized and may contain old pointers. So
 * a position is accepted if all pointers there are device pointers. A single pointer proves least and is tried last.
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
        while (n_right < n_found && plim_int_kernel_is_buffer(pointers[n_right]))
            n_right++;
        if (n_right == n_found) {
            wrote(pointers[0], (uint64_t)n);
            return;
        }
    }
}

/* Sizes and pickled objects, which PyTorch concatenates before it sends them. */
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
    if (plim_int_kernel_reduction_buffers(parameters[0], buffers))
        wrote(buffers[1], 1);
}

/* A result is no more certain than the inputs that it was computed from. */
static void launch_whole(const struct plim_kernel_effect *effect, void **parameters)
{
    struct plim_int_kernel_result result;
    plim_int_kernel_compute(&effect->whole, parameters, &result); /* before this launch makes known values uncertain */
    plim_vgpu_selects(0);
    if (result.known != PLIM_SHADOW_KEPT)
        plim_shadow_launched();
    if (effect->kind == PLIM_KERNEL_EFFECT_REDUCE)
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

void plim_kernel_effect_launch(const struct plim_kernel_effect *effect, void **parameters, unsigned grid_y)
{
    uint32_t n;
    if (effect->whole.operation != PLIM_INT_KERNEL_NONE && parameters) {
        launch_whole(effect, parameters);
        return;
    }
    plim_shadow_launched();
    if (effect->kind != PLIM_KERNEL_EFFECT_COUNT && effect->kind != PLIM_KERNEL_EFFECT_CARRIES)
        plim_vgpu_selects(0);
    if (effect->kind == PLIM_KERNEL_EFFECT_NONE || !parameters)
        return;
    switch (effect->kind) {
    case PLIM_KERNEL_EFFECT_ELEMENTS:
        wrote_elements(parameters);
        break;
    case PLIM_KERNEL_EFFECT_INDEXED:
        wrote_indexed(parameters);
        break;
    case PLIM_KERNEL_EFFECT_LAMBDA:
        wrote_by_lambda(parameters);
        break;
    case PLIM_KERNEL_EFFECT_FILL_1:
    case PLIM_KERNEL_EFFECT_FILL_2:
    case PLIM_KERNEL_EFFECT_FILL_4:
    case PLIM_KERNEL_EFFECT_FILL_8:
        filled(parameters, 1u << (effect->kind - PLIM_KERNEL_EFFECT_FILL_1));
        break;
    case PLIM_KERNEL_EFFECT_REDUCE:
        reduced(parameters);
        break;
    case PLIM_KERNEL_EFFECT_JOIN_1:
        joined(parameters, 1, grid_y);
        break;
    case PLIM_KERNEL_EFFECT_JOIN_8:
        joined(parameters, 8, grid_y);
        break;
    case PLIM_KERNEL_EFFECT_COUNT: /* of 4 or 8 bytes: PyTorch does not count more than INT_MAX at once */
        memcpy(&n, parameters[2], sizeof n);
        plim_vgpu_selects(n);
        break;
    default:
        break;
    }
}
