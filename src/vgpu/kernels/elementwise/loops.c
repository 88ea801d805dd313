/* SPDX-License-Identifier: MIT */
#include "vgpu/kernels/elementwise/functor.h"
#include "vgpu/kernels/forms.h"

#include <stdlib.h>
#include <string.h>

/*
 * Three kernels, of one element for each thread and step, with the parameters of CUDALoops.cuh (the same in PyTorch
 * 2.5.1, 2.10.0 and 2.15.0):
 *
 *   vectorized_elementwise_kernel<vec, func, array>(int N, func, array data)
 *   unrolled_elementwise_kernel<func, array, ...>(int N, func, array data, inputs, outputs, loader, storer)
 *   elementwise_kernel<nt, vt, lambda>(int N, lambda)
 *
 * data holds a pointer for each tensor, the output first. The lambda is of gpu_kernel_impl_nocast or gpu_kernel_impl
 * and captures an OffsetCalculator, data, func and, in the latter, the tensors' types.
 */

enum { MAX_TENSORS = PLIM_OPERATION_MAX_INPUTS + 1, MAX_POINTERS = 16 };

struct loop {
    struct plim_functor functor;
    bool is_known; /* the functor; of another, only the output is forgotten */
    bool loads_with_cast, stores_with_cast, has_input_strides, has_output_strides;
    unsigned n_tensors;
    unsigned n_outputs;
    unsigned output_bytes; /* of an element, at most, if the functor is not known */
};

/* --- names --- */

/* array: "std::array<char*, 3ul>", or "at::detail::Array<char*, 3>" before 2.6. */
static unsigned read_n_tensors(struct plim_text array)
{
    struct plim_text arguments, count;
    if ((plim_name_template(array, "std::array", &arguments) ||
         plim_name_template(array, "at::detail::Array", &arguments)) &&
        plim_name_argument(arguments, 1, &count)) {
        const long n = plim_name_number(count);
        return n > 0 && n <= MAX_POINTERS ? (unsigned)n : 0;
    }
    return 0;
}

static struct loop *make(struct plim_text functor, unsigned n_tensors)
{
    struct loop *loop = n_tensors ? calloc(1, sizeof *loop) : NULL;
    if (!loop)
        return NULL;
    loop->n_tensors = n_tensors;
    loop->n_outputs = 1;
    loop->output_bytes = plim_functor_element_bytes(functor);
    loop->is_known = plim_functor_parse(functor, &loop->functor) && loop->functor.n_inputs + 1 == n_tensors;
    return loop;
}

static void *parse_vectorized(struct plim_text name)
{
    struct plim_text arguments, functor, array;
    if (!plim_name_template(name, "at::native::vectorized_elementwise_kernel", &arguments) ||
        !plim_name_argument(arguments, 1, &functor) || !plim_name_argument(arguments, 2, &array))
        return NULL;
    return make(functor, read_n_tensors(array));
}

static void *parse_unrolled(struct plim_text name)
{
    struct plim_text arguments, functor, array, argument;
    struct loop *loop;
    unsigned n_calculators = 0;
    if (!plim_name_template(name, "at::native::unrolled_elementwise_kernel", &arguments) ||
        !plim_name_argument(arguments, 0, &functor) || !plim_name_argument(arguments, 1, &array) ||
        !(loop = make(functor, read_n_tensors(array))))
        return NULL;
    for (unsigned i = 2; plim_name_argument(arguments, i, &argument); i++) {
        const bool is_strided = plim_text_starts(argument, "OffsetCalculator<");
        if (is_strided || plim_text_starts(argument, "TrivialOffsetCalculator<")) {
            *(n_calculators == 0 ? &loop->has_input_strides : &loop->has_output_strides) = is_strided;
            n_calculators++;
        }
        loop->loads_with_cast |= plim_text_starts(argument, "at::native::memory::LoadWithCast<");
        loop->stores_with_cast |= plim_text_starts(argument, "at::native::memory::StoreWithCast<");
    }
    if (loop->loads_with_cast && loop->functor.is_raw)
        loop->is_known = false;
    if (n_calculators == 2)
        return loop;
    free(loop);
    return NULL;
}

static void *parse_strided(struct plim_text name)
{
    struct plim_text arguments, lambda, functor;
    struct plim_functor ignored;
    struct loop *loop;
    if (!plim_name_template(name, "at::native::elementwise_kernel", &arguments) ||
        !plim_name_argument(arguments, 2, &lambda))
        return NULL;
    const bool is_cast = plim_text_starts(lambda, "at::native::gpu_kernel_impl<");
    if ((!is_cast && !plim_text_starts(lambda, "at::native::gpu_kernel_impl_nocast<")) ||
        !plim_name_template(lambda, is_cast ? "at::native::gpu_kernel_impl" : "at::native::gpu_kernel_impl_nocast",
                            &functor))
        return NULL;
    /* Where the data pointers are depends on how many there are. */
    const bool is_known = plim_functor_parse(functor, &ignored);
    const unsigned n_inputs = is_known ? ignored.n_inputs : plim_functor_n_inputs(functor);
    if ((!is_known && n_inputs == 0) || n_inputs >= MAX_POINTERS || !(loop = make(functor, n_inputs + 1)))
        return NULL;
    loop->loads_with_cast = loop->stores_with_cast = is_cast;
    if (is_cast && loop->functor.is_raw)
        loop->is_known = false;
    return loop;
}

/* --- parameters --- */

static unsigned read_u32(const uint8_t *from)
{
    uint32_t value;
    memcpy(&value, from, sizeof value);
    return value;
}

/*
 * OffsetCalculator<n> (ATen/cuda/detail/OffsetCalculator.cuh): the number of dimensions; for 25 of them a divisor,
 * which is the size, with two numbers of its magic (IntegerDivider.cuh); and the strides, n for each dimension.
 */
enum { DIVIDER_BYTES = 12, STRIDES_OFFSET = 4 + PLIM_VIEW_MAX_DIMENSIONS * DIVIDER_BYTES };

static unsigned calculator_bytes(unsigned n) { return STRIDES_OFFSET + PLIM_VIEW_MAX_DIMENSIONS * 4 * (n ? n : 1); }

static bool read_strides(const uint8_t *calculator, unsigned n, unsigned number, unsigned unit_bytes,
                         struct plim_view *tensor)
{
    tensor->n_dimensions = read_u32(calculator);
    if (tensor->n_dimensions > PLIM_VIEW_MAX_DIMENSIONS)
        return false;
    for (unsigned i = 0; i < tensor->n_dimensions; i++) {
        tensor->size[i] = read_u32(calculator + 4 + DIVIDER_BYTES * i);
        tensor->stride_bytes[i] = (int64_t)read_u32(calculator + STRIDES_OFFSET + 4 * (n * i + number)) * unit_bytes;
    }
    return true;
}

static const void *read_pointer(const uint8_t *data, unsigned number)
{
    const void *pointer;
    memcpy(&pointer, data + number * sizeof pointer, sizeof pointer);
    return pointer;
}

static uint64_t read_n(const struct plim_kernel_launch *launch)
{
    int32_t n;
    memcpy(&n, launch->parameters[0], sizeof n);
    return n > 0 ? (uint64_t)n : 0;
}

/* Elements that follow each other, of a type that has no numbers or whose value nobody knows. */
static void forget_flat(const void *pointer, uint64_t n, unsigned bytes)
{
    const struct plim_view view = plim_view_flat(pointer, PLIM_ELEMENT_U8, n * bytes);
    plim_view_forget(&view);
}

/* Elements of at most 16 bytes. */
static void forget_strided(struct plim_view *view)
{
    view->element = PLIM_ELEMENT_U64;
    plim_view_forget(view);
    view->address += 8;
    plim_view_forget(view);
}

static enum plim_element native_element(const struct loop *loop, unsigned tensor)
{
    return tensor == 0 ? loop->functor.result : loop->functor.input[tensor - 1];
}

static void run_vectorized(const void *parsed, const struct plim_kernel_launch *launch)
{
    const struct loop *loop = parsed;
    const uint8_t *data = launch->parameters[2];
    const uint64_t n = read_n(launch);
    struct plim_view tensors[MAX_TENSORS];
    if (!loop->is_known) {
        forget_flat(read_pointer(data, 0), n, loop->output_bytes);
        return;
    }
    for (unsigned i = 0; i < loop->n_tensors; i++)
        tensors[i] = plim_view_flat(read_pointer(data, i), native_element(loop, i), n);
    plim_functor_apply(&loop->functor, launch->parameters[1], &tensors[0], &tensors[1]);
}

/* The types that the tensors have in memory: one byte for each (c10::ScalarType). */
static enum plim_element stored_element(const uint8_t *types, unsigned number)
{
    return plim_element_of_scalar_type((int8_t)types[number]);
}

static bool read_unrolled(const struct loop *loop, const struct plim_kernel_launch *launch, struct plim_view *tensors)
{
    enum { DATA = 2, INPUT_STRIDES, OUTPUT_STRIDES, LOADER, STORER };
    const uint8_t *data = launch->parameters[DATA];
    const uint64_t n = read_n(launch);
    for (unsigned i = 0; i < loop->n_tensors; i++) {
        const bool is_cast = i ? loop->loads_with_cast : loop->stores_with_cast;
        const bool is_strided = i ? loop->has_input_strides : loop->has_output_strides;
        const uint8_t *types = launch->parameters[i ? LOADER : STORER];
        const enum plim_element element = is_cast ? stored_element(types, i ? i - 1 : 0) : native_element(loop, i);
        tensors[i] = plim_view_flat(read_pointer(data, i), element, n);
        if (element == PLIM_ELEMENT_NONE ||
            (is_strided &&
             !read_strides(launch->parameters[i ? INPUT_STRIDES : OUTPUT_STRIDES], i ? loop->n_tensors - 1 : 1,
                           i ? i - 1 : 0, plim_element_bytes(element), &tensors[i])))
            return false;
    }
    return true;
}

/* The output of a functor that is not known. A StoreWithCast has the size of its elements behind their type. */
static void forget_unrolled(const struct loop *loop, const struct plim_kernel_launch *launch)
{
    enum { DATA = 2, OUTPUT_STRIDES = 4, STORER = 6 };
    const uint8_t *storer = launch->parameters[STORER];
    const void *pointer = read_pointer(launch->parameters[DATA], 0);
    const unsigned bytes = loop->stores_with_cast ? read_u32(storer + 4) : loop->output_bytes;
    struct plim_view view = plim_view_flat(pointer, PLIM_ELEMENT_U64, read_n(launch));
    if (loop->has_output_strides && read_strides(launch->parameters[OUTPUT_STRIDES], 1, 0, bytes, &view))
        forget_strided(&view);
    else
        forget_flat(pointer, read_n(launch), bytes <= 16 ? bytes : 16);
}

static void run_unrolled(const void *parsed, const struct plim_kernel_launch *launch)
{
    const struct loop *loop = parsed;
    struct plim_view tensors[MAX_TENSORS];
    if (loop->is_known && read_unrolled(loop, launch, tensors))
        plim_functor_apply(&loop->functor, launch->parameters[1], &tensors[0], &tensors[1]);
    else
        forget_unrolled(loop, launch);
}

static unsigned aligned(unsigned offset, unsigned to) { return (offset + to - 1) / to * to; }

static bool read_strided(const struct loop *loop, const uint8_t *lambda, const uint8_t *data, const uint8_t *functor,
                         struct plim_view *tensors)
{
    const uint8_t *types = functor + loop->functor.size_bytes;
    for (unsigned i = 0; i < loop->n_tensors; i++) {
        tensors[i].address = (uint64_t)(uintptr_t)read_pointer(data, i);
        tensors[i].element = loop->loads_with_cast ? stored_element(types, i) : native_element(loop, i);
        if (tensors[i].element == PLIM_ELEMENT_NONE || !read_strides(lambda, loop->n_tensors, i, 1, &tensors[i]))
            return false;
    }
    return true;
}

static void run_strided(const void *parsed, const struct plim_kernel_launch *launch)
{
    const struct loop *loop = parsed;
    const uint8_t *lambda = launch->parameters[1];
    const unsigned n = loop->n_tensors, data_offset = aligned(calculator_bytes(n), sizeof(void *));
    const uint8_t *data = lambda + data_offset;
    struct plim_view tensors[MAX_TENSORS];
    if (loop->is_known) {
        const unsigned functor_offset = aligned(data_offset + n * (unsigned)sizeof(void *), loop->functor.align_bytes);
        if (read_strided(loop, lambda, data, lambda + functor_offset, tensors)) {
            plim_functor_apply(&loop->functor, lambda + functor_offset, &tensors[0], &tensors[1]);
            return;
        }
    }
    tensors[0].address = (uint64_t)(uintptr_t)read_pointer(data, 0);
    if (read_strides(lambda, n, 0, 1, &tensors[0]))
        forget_strided(&tensors[0]);
}

/* --- several outputs: frexp and statistics of batch norm; they are forgotten --- */

static void *parse_multi_outputs(struct plim_text name)
{
    struct plim_text arguments, count, array;
    struct loop *loop;
    if (!plim_name_template(name, plim_form_multi_outputs.name, &arguments) ||
        !plim_name_argument(arguments, 0, &count) || !plim_name_argument(arguments, 2, &array) ||
        !(loop = calloc(1, sizeof *loop)))
        return NULL;
    const long n = plim_name_number(count);
    loop->n_outputs = n > 0 && n <= MAX_POINTERS ? (unsigned)n : 0;
    return loop;
}

static void run_multi_outputs(const void *parsed, const struct plim_kernel_launch *launch)
{
    const struct loop *loop = parsed;
    for (unsigned i = 0; i < loop->n_outputs; i++) {
        const void *pointer = read_pointer(launch->parameters[2], i);
        if (plim_view_is_memory(pointer))
            plim_shadow_lose(pointer);
        forget_flat(pointer, read_n(launch), 8);
    }
}

const struct plim_kernel_form plim_form_vectorized = { "at::native::vectorized_elementwise_kernel", parse_vectorized,
                                                       run_vectorized };
const struct plim_kernel_form plim_form_unrolled = { "at::native::unrolled_elementwise_kernel", parse_unrolled,
                                                     run_unrolled };
const struct plim_kernel_form plim_form_strided = { "at::native::elementwise_kernel", parse_strided, run_strided };
const struct plim_kernel_form plim_form_multi_outputs = {
    "at::native::(anonymous namespace)::unrolled_elementwise_kernel_for_multi_outputs", parse_multi_outputs,
    run_multi_outputs
};
