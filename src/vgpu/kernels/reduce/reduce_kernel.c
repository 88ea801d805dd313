/* SPDX-License-Identifier: MIT */
/*
 * reduce_kernel<threads, vector, ReduceOp<scalar, ops, index, out, ...>>(ReduceOp): ATen/native/cuda/Reduce.cuh. The
 * members of ReduceOp lie in the same order in PyTorch 2.5 to 2.15:
 *
 *     ops, ident, ReduceConfig (64 bytes), OffsetCalculator<1> (404), OffsetCalculator<2> (504), src, dst[2], acc_buf,
 *     cta_buf, semaphores, base_idx, accumulate, final_output, noutputs
 *
 * A reduction over many blocks is one launch too: what passes between the blocks is not written.
 */
#include "vgpu/kernels/forms.h"
#include "vgpu/kernels/reduce/jit.h"
#include "vgpu/kernels/reduce/reductions.h"

#include <stdlib.h>
#include <string.h>

struct reduce_kernel {
    const struct plim_reduction *reduction; /* NULL: not known; its results become unknown */
    enum plim_element in, out[2], held;
    size_t config_at; /* of the ReduceConfig in ReduceOp */
};

/* --- the name --- */

static size_t aligned(size_t at, size_t alignment) { return (at + alignment - 1) / alignment * alignment; }

/* `acc` is the type of the accumulated values, of `held` bytes before them. */
static size_t config_offset(const struct plim_reduction *reduction, enum plim_element acc, enum plim_element held)
{
    const size_t width = plim_element_bytes(acc), number = plim_element_bytes(held);
    const size_t ops = reduction->held == PLIM_HELD_NOTHING  ? 1
                       : reduction->held == PLIM_HELD_NUMBER ? number
                                                             : 2 * number; /* with a flag, and its padding */
    switch ((enum plim_reduction_arg)reduction->arg) {
    case PLIM_ARG_VALUE:
        return aligned(aligned(ops, width) + width, 4);
    case PLIM_ARG_TWO:
        return aligned(aligned(ops, width) + 2 * width, 4);
    case PLIM_ARG_INDEXED: /* pair<scalar, int64_t> */
        return aligned(ops, 8) + 16;
    case PLIM_ARG_WELFORD: /* mean, m2, n (int32_t), nf */
        return aligned(ops, width) + (acc == PLIM_ELEMENT_F64 ? 32 : 16);
    }
    return 0;
}

/* The first argument of the innermost functor: {lambda(bool, float)#1} in PyTorch 2.15, (float, float) up to 2.10. */
static enum plim_element type_of_lambda(struct plim_text ops)
{
    static const char word[] = "lambda(";
    struct plim_text rest = plim_text_after(ops, word), last = rest;
    for (; rest.size > 0; rest = plim_text_after(rest, word))
        last = rest;
    size_t n = 0;
    while (n < last.size && last.start[n] != ',' && last.start[n] != ')')
        n++;
    return plim_name_element((struct plim_text){ last.start, n });
}

/* func_wrapper_t<result, functor> accumulates in the type that its functor takes. */
static enum plim_element type_of_wrapped(struct plim_text ops)
{
    static const struct {
        const char *name;
        unsigned argument;
    } functors[] = { { "sum_functor", 1 },   { "prod_functor", 1 },   { "MaxNanFunctor", 0 },
                     { "MinNanFunctor", 0 }, { "ReductionAddOp", 0 }, { "ReductionMulOp", 0 } };
    for (size_t i = 0; i < sizeof functors / sizeof *functors; i++)
        if (plim_text_has(ops, functors[i].name))
            return plim_name_template_element(ops, functors[i].name, functors[i].argument);
    return type_of_lambda(ops); /* any, all */
}

/* The type that the operation accumulates in: an argument of its own template, or the input's. */
static enum plim_element type_of_arg(const struct plim_reduction *reduction, struct plim_text ops, enum plim_element in)
{
    static const char *const with_acc[] = { "MeanOps",   "NormZeroOps", "NormOneOps", "NormTwoOps", "NormOps",
                                            "AbsMaxOps", "AbsMinOps",   "MinMaxOps",  "WelfordOps" };
    if (plim_text_starts(ops, "at::native::func_wrapper_t<"))
        return type_of_wrapped(ops);
    if (plim_text_starts(ops, "at::native::NanSumOps<"))
        return plim_name_template_element(ops, "NanSumOps", 0);
    for (size_t i = 0; i < sizeof with_acc / sizeof *with_acc; i++)
        if (plim_name_template_element(ops, with_acc[i], 1) != PLIM_ELEMENT_NONE)
            return plim_name_template_element(ops, with_acc[i], 1);
    return reduction->arg == PLIM_ARG_INDEXED ? in : PLIM_ELEMENT_NONE;
}

static void *parse(struct plim_text name)
{
    struct plim_text arguments, ops, index, pair;
    struct reduce_kernel found = { .reduction = NULL };
    if (!plim_name_template(name, "at::native::ReduceOp", &arguments) || !plim_name_argument(arguments, 1, &ops) ||
        !plim_name_argument(arguments, 2, &index) || !plim_text_is(index, "unsigned int"))
        return NULL;
    found.in = plim_name_template_element(name, "at::native::ReduceOp", 0);
    found.out[0] = found.out[1] = plim_name_template_element(name, "at::native::ReduceOp", 3);
    found.reduction = plim_reduction_named(ops);
    if (!found.reduction || !plim_element_bytes(found.in) || !plim_element_bytes(found.out[0]))
        return NULL;
    const enum plim_element acc = type_of_arg(found.reduction, ops, found.in);
    found.held = found.reduction->held == PLIM_HELD_NOTHING      ? PLIM_ELEMENT_NONE
                 : plim_text_starts(ops, "at::native::MeanOps<") ? plim_name_template_element(ops, "MeanOps", 2)
                                                                 : acc;
    if (acc == PLIM_ELEMENT_NONE || (found.reduction->held != PLIM_HELD_NOTHING && found.held == PLIM_ELEMENT_NONE))
        return NULL;
    if (found.reduction->has_index[1])
        found.out[1] = PLIM_ELEMENT_I64;
    if (plim_name_template(ops, "pair", &pair)) {
        found.out[0] = plim_name_template_element(ops, "pair", 0);
        found.out[1] = plim_name_template_element(ops, "pair", 1);
    }
    found.config_at = config_offset(found.reduction, acc, found.held);
    struct reduce_kernel *kernel = malloc(sizeof *kernel);
    if (kernel)
        *kernel = found;
    return kernel;
}

/* --- the parameter --- */

struct operation {
    uint64_t n_inputs, n_outputs;
    struct plim_view in, out[2]; /* the input: the dimensions that are reduced, then those that stay */
    int n_results;
    bool is_whole; /* not one of several launches over a tensor of more than 2^31 elements */
};

static int32_t int_at(const char *from)
{
    int32_t value;
    memcpy(&value, from, sizeof value);
    return value;
}

/* OffsetCalculator<n_arguments>: dimensions, 25 dividers of 12 bytes, strides of 4 bytes for each argument. */
enum { MAX_DIMENSIONS = PLIM_VIEW_MAX_DIMENSIONS, DIVIDER_BYTES = 12, CONFIG_BYTES = 64 };
enum { CALCULATOR_1_BYTES = 4 + MAX_DIMENSIONS * (DIVIDER_BYTES + 4), CALCULATOR_2_BYTES = CALCULATOR_1_BYTES + 100 };

static bool add_dimensions(struct plim_view *view, const char *calculator, unsigned n_arguments, unsigned argument)
{
    const int n = int_at(calculator);
    const char *dividers = calculator + 4, *strides = dividers + (size_t)MAX_DIMENSIONS * DIVIDER_BYTES;
    if (n < 0 || n > MAX_DIMENSIONS || view->n_dimensions + (unsigned)n > MAX_DIMENSIONS)
        return false;
    for (unsigned i = 0; i < (unsigned)n; i++) {
        const unsigned to = view->n_dimensions++;
        view->size[to] = int_at(dividers + (size_t)i * DIVIDER_BYTES);
        view->stride_bytes[to] = (uint32_t)int_at(strides + ((size_t)i * n_arguments + argument) * 4);
    }
    return true;
}

static uint64_t word_at(const char *from)
{
    uint64_t value;
    memcpy(&value, from, sizeof value);
    return value;
}

static bool read_operation(const struct reduce_kernel *kernel, const char *object, struct operation *ret)
{
    const char *config = object + kernel->config_at, *in_calc = config + CONFIG_BYTES;
    const char *out_calc = in_calc + CALCULATOR_1_BYTES;
    const char *pointers = object + aligned((size_t)(out_calc + CALCULATOR_2_BYTES - object), 8);
    enum { SRC = 0, DST = 8, BASE_IDX = 48, ACCUMULATE = 56, FINAL_OUTPUT = 57, N_OUTPUTS = 60 };
    ret->n_inputs = (uint32_t)int_at(config + 4);
    ret->n_outputs = (uint32_t)int_at(config + 8);
    ret->in.address = word_at(pointers + SRC);
    ret->in.element = kernel->in;
    ret->in.n_dimensions = 0;
    if (!add_dimensions(&ret->in, in_calc, 1, 0) || plim_view_n(&ret->in) != ret->n_inputs ||
        !add_dimensions(&ret->in, out_calc, 2, 1))
        return false;
    ret->n_results = int_at(pointers + N_OUTPUTS);
    for (int i = 0; i < 2; i++) {
        struct plim_view *out = &ret->out[i];
        out->address = word_at(pointers + DST + 8 * i);
        out->element = kernel->out[i];
        out->n_dimensions = 0;
        if (!add_dimensions(out, out_calc, 2, 0) || plim_view_n(out) != ret->n_outputs)
            return false;
        /* The strides are those of the first result: the second one has elements of another size, in the same order. */
        for (unsigned k = 0; i == 1 && k < out->n_dimensions; k++)
            out->stride_bytes[k] =
                out->stride_bytes[k] / plim_element_bytes(kernel->out[0]) * plim_element_bytes(kernel->out[1]);
    }
    ret->is_whole = !pointers[ACCUMULATE] && pointers[FINAL_OUTPUT] && word_at(pointers + BASE_IDX) == 0;
    return ret->n_results == 1 || ret->n_results == 2;
}

static struct plim_reduction_held held_of(const struct reduce_kernel *kernel, const char *object)
{
    struct plim_reduction_held held = { 0, false };
    if (kernel->held == PLIM_ELEMENT_NONE)
        return held;
    held.number = plim_element_as_double(kernel->held, plim_element_load(kernel->held, object));
    held.flag = kernel->reduction->held == PLIM_HELD_NUMBER_AND_FLAG && object[plim_element_bytes(kernel->held)];
    return held;
}

/* --- the launch --- */

/* The numbers of results are of the input's type, an index is an integer, and what is computed of floats is a float. */
static enum plim_element type_of_result(const struct reduce_kernel *kernel, int result)
{
    const struct plim_reduction *reduction = kernel->reduction;
    if (reduction->is_flag || reduction->has_index[result])
        return PLIM_ELEMENT_I64;
    if (plim_element_is_float(kernel->in))
        return PLIM_ELEMENT_F64;
    return kernel->in == PLIM_ELEMENT_U64 ? PLIM_ELEMENT_U64 : PLIM_ELEMENT_I64;
}

static void compute(const struct reduce_kernel *kernel, const struct operation *operation, const char *object,
                    const struct plim_array *in, struct plim_array results[2])
{
    const struct plim_reduction_held held = held_of(kernel, object);
    const uint64_t n = in->is_constant ? 1 : operation->n_outputs;
    for (uint64_t i = 0; i < n; i++) {
        const struct plim_slice slice = { in, i * operation->n_inputs, operation->n_inputs };
        struct plim_reduced reduced = { { { 0 }, { 0 } }, PLIM_SHADOW_UNKNOWN };
        kernel->reduction->reduce(&slice, &held, &reduced);
        for (int k = 0; k < operation->n_results; k++) {
            results[k].number[i] = reduced.value[k];
            if (results[k].each)
                results[k].each[i] = (uint8_t)reduced.known;
            else
                results[k].known = reduced.known;
        }
    }
}

static void forget(const struct operation *operation)
{
    for (int i = 0; i < operation->n_results; i++)
        plim_view_forget(&operation->out[i]);
}

/* The members lie elsewhere than they should: nothing that the object points to is known any more. */
static void doubt(const struct reduce_kernel *kernel, const char *object)
{
    const size_t end = kernel->config_at + CONFIG_BYTES + CALCULATOR_1_BYTES + CALCULATOR_2_BYTES + 64;
    for (size_t at = 0; at < end; at += sizeof(void *)) {
        const void *pointer;
        memcpy(&pointer, object + at, sizeof pointer);
        if (plim_view_is_memory(pointer))
            plim_shadow_doubt(pointer);
    }
}

static void reduce(const struct reduce_kernel *kernel, const char *object)
{
    struct plim_array in, results[2] = { { 0 }, { 0 } };
    struct operation operation;
    if (!read_operation(kernel, object, &operation)) {
        doubt(kernel, object);
        return;
    }
    if (!operation.is_whole || !plim_view_read(&operation.in, &in)) {
        forget(&operation);
        return;
    }
    bool has_room = true;
    for (int i = 0; i < operation.n_results; i++) {
        has_room =
            plim_array_make(&results[i], type_of_result(kernel, i), operation.n_outputs, in.is_constant) && has_room;
        if (has_room && !results[i].is_constant)
            has_room = plim_array_make_each(&results[i]);
    }
    if (has_room)
        compute(kernel, &operation, object, &in, results);
    for (int i = 0; i < operation.n_results; i++) {
        if (has_room)
            plim_view_write(&operation.out[i], &results[i]);
        plim_array_free(&results[i]);
    }
    if (!has_room)
        forget(&operation);
    plim_array_free(&in);
}

static void run(const void *parsed, const struct plim_kernel_launch *launch) { reduce(parsed, launch->parameters[0]); }

const struct plim_kernel_form plim_form_reduce = { "at::native::reduce_kernel", parse, run };

/*
 * ReduceJitOp (ATen/native/cuda/reduction_template.cuh, PyTorch 2.5 to 2.15) has no functor, and its name has no types.
 * Accumulators of eight bytes are int64_t or double: the ident says which, for it is the one of that type.
 */
bool plim_jit_reduction_run(const char *name, const void *object, size_t size)
{
    enum { IDENT_BYTES = 8, POINTERS_BYTES = 64 };
    const size_t before = aligned(IDENT_BYTES + CONFIG_BYTES + CALCULATOR_1_BYTES + CALCULATOR_2_BYTES, 8);
    static const uint64_t one = 0x3ff0000000000000; /* 1.0 */
    struct reduce_kernel kernel = { .held = PLIM_ELEMENT_NONE, .config_at = IDENT_BYTES };
    if (strcmp(name, "reduction_prod_kernel") != 0 || size != before + POINTERS_BYTES)
        return false;
    if (word_at(object) == 1)
        kernel.in = PLIM_ELEMENT_I64;
    else if (word_at(object) == one)
        kernel.in = PLIM_ELEMENT_F64;
    else
        return false;
    kernel.out[0] = kernel.out[1] = kernel.in;
    kernel.reduction = plim_reduction_named(plim_text_of("at::native::func_wrapper_t<at::native::prod_functor<>>"));
    if (kernel.reduction)
        reduce(&kernel, object);
    return kernel.reduction != NULL;
}
