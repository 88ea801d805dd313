/* SPDX-License-Identifier: MIT */
#include "vgpu/runtime/int_kernels.h"

#include "vgpu/core/cuda_api.h"
#include "vgpu/driver/memory/shadow.h"

#include <string.h>

bool plim_int_kernel_is_buffer(const void *pointer)
{
    device_pointer base;
    size_t size;
    return plim_vgpu_is_device(pointer) && cuMemGetAddressRange_v2(&base, &size, (uintptr_t)pointer) == 0;
}

/*
 * Unused sizes and strides are uninitialized and may contain old pointers. The order of members: the functor, the first
 * value (both of at least 4 bytes), 64 bytes of ReduceConfig, 404 for the strides of the input and 504 for those of the
 * output, then the buffers. Nothing after the buffers is read.
 */
bool plim_int_kernel_reduction_buffers(const void *object, void *ret_buffers[2])
{
    enum { FIRST_WORD = (4 + 4 + 64 + 404 + 504) / 8, MAX_WORDS = 256 };
    const char *words = object;
    for (size_t i = FIRST_WORD; i < MAX_WORDS; i++) {
        memcpy(ret_buffers, words + i * sizeof *ret_buffers, sizeof *ret_buffers);
        if (!plim_int_kernel_is_buffer(ret_buffers[0]))
            continue;
        memcpy(ret_buffers, words + i * sizeof *ret_buffers, 2 * sizeof *ret_buffers);
        if (plim_int_kernel_is_buffer(ret_buffers[1]))
            return true;
    }
    return false;
}

/* --- integers of a type --- */

static unsigned width_of(char type) { return type == 'l' ? 8 : type == 'i' ? 4 : type == 's' ? 2 : 1; }

static int64_t load(const uint8_t *from, char type)
{
    int64_t eight;
    int32_t four;
    int16_t two;
    switch (type) {
    case 'l':
        memcpy(&eight, from, sizeof eight);
        return eight;
    case 'i':
        memcpy(&four, from, sizeof four);
        return four;
    case 's':
        memcpy(&two, from, sizeof two);
        return two;
    case 'a':
        return (int8_t)*from;
    default:
        return type == 'b' ? *from != 0 : *from;
    }
}

/* The low bytes, as C converts; a flag is 0 or 1. */
static void store(uint8_t *to, char type, int64_t value)
{
    const uint8_t flag = value != 0;
    memcpy(to, type == 'b' ? (const void *)&flag : (const void *)&value, width_of(type));
}

static void note(struct plim_int_kernel_result *result, enum plim_shadow_known known)
{
    result->known = (int)known < result->known ? (int)known : result->known;
}

static int64_t add(int64_t a, int64_t b) { return (int64_t)((uint64_t)a + (uint64_t)b); }
static int64_t multiply(int64_t a, int64_t b) { return (int64_t)((uint64_t)a * (uint64_t)b); }

/* --- reductions --- */

/* After the functor and the first value, both of 8 bytes: ReduceConfig with the size of an element, the numbers of
 * inputs and outputs; at 80 the dimensions of the input and the size of the first, at 384 its stride; at 992 the
 * buffers. */
static void reduce(enum plim_int_kernel_operation operation, const char *object, struct plim_int_kernel_result *result)
{
    enum { WIDTH = 8 };
    uint8_t values[WIDTH * PLIM_INT_KERNEL_MAX_COUNT];
    void *buffers[2];
    int counts[3], dimensions[2], stride;
    memcpy(counts, object + 16, sizeof counts);
    if (counts[0] != WIDTH || counts[1] < 1 || counts[1] > PLIM_INT_KERNEL_MAX_COUNT || counts[2] != 1)
        return;
    memcpy(dimensions, object + 80, sizeof dimensions);
    memcpy(&stride, object + 384, sizeof stride);
    if (counts[1] > 1 && (dimensions[0] != 1 || dimensions[1] != counts[1] || stride != WIDTH))
        return;
    memcpy(buffers, object + 992, sizeof buffers);
    const size_t n = (size_t)counts[1];
    if (!plim_int_kernel_is_buffer(buffers[0]) || !plim_int_kernel_is_buffer(buffers[1]))
        return;
    note(result, plim_shadow_read(values, buffers[0], n * WIDTH));
    int64_t value = load(values, 'l');
    for (size_t i = 1; i < n; i++) {
        const int64_t next = load(values + i * WIDTH, 'l');
        value = operation == PLIM_INT_KERNEL_SUM                       ? add(value, next)
                : (operation == PLIM_INT_KERNEL_MAX) == (next > value) ? next
                                                                       : value;
    }
    store(result->bytes, 'l', value);
    result->output = buffers[1];
    result->size = WIDTH;
    result->is_computed = true;
}

/* --- element by element --- */

/* c10::ScalarType; 0: not an integer type. */
static char type_of(uint8_t number)
{
    static const char types[12] = { 'h', 'a', 's', 'i', 'l', [11] = 'b' };
    return number < sizeof types ? types[number] : '\0';
}

/* The types in memory: LoadWithCast and StoreWithCast begin with them. */
static bool read_types(const struct plim_int_kernel *what, void **parameters, char ret_in[2], char *ret_out)
{
    enum { LOADER = 5, STORER = 6 };
    memcpy(ret_in, what->in, sizeof what->in);
    *ret_out = what->out;
    if (!what->is_cast)
        return true;
    for (unsigned i = 0; i < what->n_inputs; i++)
        if (!(ret_in[i] = type_of(((const uint8_t *)parameters[LOADER])[i])))
            return false;
    return (*ret_out = type_of(*(const uint8_t *)parameters[STORER])) != '\0';
}

/* The content of the functor: the comparison, the two numbers of an addition, or an operand after a small functor. */
struct held {
    int64_t number, alpha;
    int which;
};

static struct held read_functor(const struct plim_int_kernel *what, const uint8_t *functor)
{
    const bool has_which = what->operation == PLIM_INT_KERNEL_EQUAL || what->operation == PLIM_INT_KERNEL_COMPARE;
    const char type = what->in[what->number == 1];
    const unsigned width = width_of(type);
    struct held held = { .alpha = 1 };
    if (what->operation == PLIM_INT_KERNEL_ADD) {
        held.alpha = load(functor + (what->number >= 0 ? width : 0), type);
        held.number = what->number >= 0 ? load(functor, type) : 0;
        return held;
    }
    if (has_which)
        memcpy(&held.which, functor, sizeof held.which);
    if (what->number >= 0) {
        const unsigned before = has_which ? sizeof held.which : 1;
        held.number = load(functor + (before + width - 1) / width * width, type);
    }
    return held;
}

static int64_t apply(enum plim_int_kernel_operation operation, const struct held *held, int64_t a, int64_t b)
{
    switch (operation) {
    case PLIM_INT_KERNEL_ADD:
        return add(a, multiply(held->alpha, b));
    case PLIM_INT_KERNEL_MULTIPLY:
        return multiply(a, b);
    case PLIM_INT_KERNEL_AND:
        return a & b;
    case PLIM_INT_KERNEL_OR:
        return a | b;
    case PLIM_INT_KERNEL_XOR:
        return a ^ b;
    case PLIM_INT_KERNEL_EQUAL:
        return (a == b) == (held->which == 0);
    case PLIM_INT_KERNEL_COMPARE:
        return held->which == 0 ? a >= b : held->which == 1 ? a > b : held->which == 2 ? a <= b : a < b;
    case PLIM_INT_KERNEL_NOT:
        return !a;
    default:
        return a;
    }
}

/* A value as a parameter of the functor sees it. */
static int64_t converted(int64_t value, char type)
{
    uint8_t bytes[8];
    store(bytes, type, value);
    return load(bytes, type);
}

static void elements(const struct plim_int_kernel *what, void **parameters, struct plim_int_kernel_result *result)
{
    uint8_t inputs[2][8 * PLIM_INT_KERNEL_MAX_COUNT];
    void *buffers[3] = { NULL };
    char in[2], out;
    int count;
    memcpy(&count, parameters[0], sizeof count);
    memcpy(buffers, parameters[2], (1u + what->n_inputs) * sizeof *buffers);
    if (count < 1 || count > PLIM_INT_KERNEL_MAX_COUNT || !plim_int_kernel_is_buffer(buffers[0]) ||
        !read_types(what, parameters, in, &out))
        return;
    const size_t n = (size_t)count;
    const struct held held = read_functor(what, parameters[1]);
    for (unsigned i = 0; i < what->n_inputs; i++) {
        if (!plim_int_kernel_is_buffer(buffers[1 + i]))
            return;
        const char type = what->number == 0 && !what->is_cast ? in[1] : in[i];
        note(result, plim_shadow_read(inputs[i], buffers[1 + i], n * width_of(type)));
    }
    for (size_t i = 0; i < n; i++) {
        int64_t operands[2] = { held.number, held.number };
        for (unsigned k = 0; k < what->n_inputs; k++) {
            const unsigned operand = what->number == 0 ? 1 : k;
            const char type = what->is_cast ? in[k] : in[operand];
            operands[operand] = converted(load(inputs[k] + i * width_of(type), type), what->in[operand]);
        }
        const int64_t value = apply(what->operation, &held, operands[0], operands[1]);
        store(result->bytes + i * width_of(out), out, converted(value, what->out));
    }
    result->output = buffers[0];
    result->size = n * width_of(out);
    result->is_computed = true;
}

void plim_int_kernel_compute(const struct plim_int_kernel *what, void **parameters,
                             struct plim_int_kernel_result *ret_result)
{
    ret_result->is_computed = false;
    ret_result->known = PLIM_SHADOW_KNOWN;
    if (what->operation >= PLIM_INT_KERNEL_ADD)
        elements(what, parameters, ret_result);
    else if (what->operation != PLIM_INT_KERNEL_NONE)
        reduce(what->operation, parameters[0], ret_result);
}
