/* SPDX-License-Identifier: MIT */
#include "vgpu/whole.h"

#include "vgpu/shadow.h"

#include <string.h>

enum { WIDTH = 8 };

int cuMemGetAddressRange_v2(uint64_t *base, size_t *size, uint64_t address); /* of the driver */

enum plim_whole plim_whole_of(const char *name)
{
    const char *found = strstr(name, "8ReduceOpIlNS0_14func_wrapper_tIl");
    if (found && strstr(name, "13reduce_kernelI"))
        return strstr(found, "NS0_13MaxNanFunctorIlE")    ? PLIM_WHOLE_MAX
               : strstr(found, "NS0_13MinNanFunctorIlE")  ? PLIM_WHOLE_MIN
               : strstr(found, "ZNS0_11sum_functorIlllE") ? PLIM_WHOLE_SUM
                                                          : PLIM_WHOLE_NONE;
    /* the second one is for addresses that are not aligned; only without strides and casts */
    const bool is_plain = strstr(name, "29vectorized_elementwise_kernelI") ||
                          (strstr(name, "27unrolled_elementwise_kernelI") &&
                           strstr(name, "23TrivialOffsetCalculatorI") && strstr(name, "15LoadWithoutCast"));
    if (!is_plain)
        return PLIM_WHOLE_NONE;
    return strstr(name, "NS0_15CUDAFunctor_addIlEESt5arrayIPcLm3E")         ? PLIM_WHOLE_ADD
           : strstr(name, "NS0_21CUDAFunctorOnSelf_addIlEESt5arrayIPcLm2E") ? PLIM_WHOLE_ADD_NUMBER
           : strstr(name, "14CompareFunctorIlEESt5arrayIPcLm3E")            ? PLIM_WHOLE_COMPARE
                                                                            : PLIM_WHOLE_NONE;
}

static bool is_allocated(const void *pointer)
{
    uint64_t base;
    size_t size;
    return plim_vgpu_is_device(pointer) && cuMemGetAddressRange_v2(&base, &size, (uintptr_t)pointer) == 0;
}

/*
 * Sizes and strides that are not used hold what lay on the stack, old pointers among them. Before the buffers come the
 * functor, the first value (both of at least 4 bytes), 64 bytes of ReduceConfig, 404 for the strides of the input and
 * 504 for those of the output; nothing is read beyond what is found.
 */
bool plim_whole_reduction_buffers(const void *object, void *ret_buffers[2])
{
    enum { FIRST_WORD = (4 + 4 + 64 + 404 + 504) / 8, MAX_WORDS = 256 };
    const char *words = object;
    for (size_t i = FIRST_WORD; i < MAX_WORDS; i++) {
        memcpy(ret_buffers, words + i * sizeof *ret_buffers, sizeof *ret_buffers);
        if (!is_allocated(ret_buffers[0]))
            continue;
        memcpy(ret_buffers, words + i * sizeof *ret_buffers, 2 * sizeof *ret_buffers);
        if (is_allocated(ret_buffers[1]))
            return true;
    }
    return false;
}

/* Read n numbers; false: not all of them are known. */
static bool read(int64_t *to, const void *from, size_t n, struct plim_whole_result *result)
{
    const enum plim_shadow_known known =
        is_allocated(from) ? plim_shadow_read(to, from, n * WIDTH) : PLIM_SHADOW_UNKNOWN;
    result->is_sure = result->is_sure && known == PLIM_SHADOW_KNOWN;
    return known != PLIM_SHADOW_UNKNOWN;
}

static int64_t add(int64_t a, int64_t b) { return (int64_t)((uint64_t)a + (uint64_t)b); }

/* After the functor and the first value, both of 8 bytes: ReduceConfig with the size of an element, the numbers of
 * inputs and outputs; at 80 the dimensions of the input and the size of the first, at 384 its stride; at 992 the
 * buffers. */
static void reduce(enum plim_whole what, const char *object, struct plim_whole_result *result)
{
    int64_t values[PLIM_WHOLE_MAX_COUNT];
    void *buffers[2];
    int counts[3], dimensions[2], stride;
    memcpy(counts, object + 16, sizeof counts);
    if (counts[0] != WIDTH || counts[1] < 1 || counts[1] > PLIM_WHOLE_MAX_COUNT || counts[2] != 1)
        return;
    memcpy(dimensions, object + 80, sizeof dimensions);
    memcpy(&stride, object + 384, sizeof stride);
    if (dimensions[0] != 1 || dimensions[1] != counts[1] || stride != WIDTH)
        return;
    memcpy(buffers, object + 992, sizeof buffers);
    const size_t n = (size_t)counts[1];
    if (!is_allocated(buffers[1]) || !read(values, buffers[0], n, result))
        return;
    int64_t value = values[0];
    for (size_t i = 1; i < n; i++)
        value = what == PLIM_WHOLE_SUM   ? add(value, values[i])
                : what == PLIM_WHOLE_MAX ? (values[i] > value ? values[i] : value)
                                         : (values[i] < value ? values[i] : value);
    result->output = buffers[1];
    result->values[0] = value;
    result->size = WIDTH;
    result->is_known = true;
}

static bool compare(int which, int64_t a, int64_t b)
{
    return which == 0 ? a >= b : which == 1 ? a > b : which == 2 ? a <= b : a < b;
}

static void elements(enum plim_whole what, void **parameters, struct plim_whole_result *result)
{
    int64_t a[PLIM_WHOLE_MAX_COUNT], b[PLIM_WHOLE_MAX_COUNT], numbers[2] = { 0, 1 };
    const bool is_comparison = what == PLIM_WHOLE_COMPARE;
    void *buffers[3] = { NULL };
    int n, which = 0;
    memcpy(&n, parameters[0], sizeof n);
    memcpy(buffers, parameters[2], (what == PLIM_WHOLE_ADD_NUMBER ? 2 : 3) * sizeof *buffers);
    if (is_comparison)
        memcpy(&which, parameters[1], sizeof which);
    else if (what == PLIM_WHOLE_ADD)
        memcpy(&numbers[1], parameters[1], sizeof numbers[1]);
    else
        memcpy(numbers, parameters[1], sizeof numbers);
    if (n < 1 || n > PLIM_WHOLE_MAX_COUNT || which < 0 || which > 3 || !is_allocated(buffers[0]) ||
        !read(a, buffers[1], (size_t)n, result))
        return;
    for (int i = 0; i < n; i++)
        b[i] = numbers[0];
    if (what != PLIM_WHOLE_ADD_NUMBER && !read(b, buffers[2], (size_t)n, result))
        return;
    for (int i = 0; i < n; i++)
        if (is_comparison)
            ((uint8_t *)result->values)[i] = compare(which, a[i], b[i]);
        else
            result->values[i] = add(a[i], (int64_t)((uint64_t)numbers[1] * (uint64_t)b[i]));
    result->output = buffers[0];
    result->size = (size_t)n * (is_comparison ? 1 : WIDTH);
    result->is_known = true;
}

void plim_whole_compute(enum plim_whole what, void **parameters, struct plim_whole_result *ret_result)
{
    ret_result->is_known = false;
    ret_result->is_sure = true;
    if (what == PLIM_WHOLE_SUM || what == PLIM_WHOLE_MAX || what == PLIM_WHOLE_MIN)
        reduce(what, parameters[0], ret_result);
    else if (what != PLIM_WHOLE_NONE)
        elements(what, parameters, ret_result);
}
