/* SPDX-License-Identifier: MIT */
#include "vgpu/kernels/elementwise/amp.h"
#include "vgpu/kernels/elementwise/functor.h"
#include "vgpu/kernels/foreach/lists.h"
#include "vgpu/kernels/forms.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * multi_tensor_apply_kernel<metadata, functor, arguments...>(metadata, functor, arguments...): torch._foreach_* and
 * what optimizers are made of (ATen/native/cuda/ForeachFunctors.cuh). The functor says which tensors take part and
 * where the scalar comes from; its first argument, the operation, what is done with them.
 */

enum scalar_source {
    NO_SCALAR,
    SCALAR,        /* an argument behind the operation */
    SCALAR_LIST,   /* one for each tensor, in the metadata */
    ALPHA,         /* an argument: a factor of the second tensor */
    SCALAR_POINTER /* an argument points to it in device memory; the next one is its factor */
};

struct functor_row {
    const char *name;
    enum scalar_source scalar;
    uint8_t n_inputs;  /* tensors that are read: the first lists */
    bool is_pointwise; /* a + scalar * (b op c) */
};

static const struct functor_row functor_rows[] = {
    { "BinaryOpScalarFunctor", SCALAR, 1, false },
    { "BinaryOpScalarListFunctor", SCALAR_LIST, 1, false },
    { "BinaryOpListAlphaFunctor", ALPHA, 2, false },
    { "BinaryOpScalarTensorFunctor", SCALAR_POINTER, 1, false },
    { "CopyFunctor", NO_SCALAR, 1, false },
    { "PointwiseOpScalarFunctor", SCALAR, 3, true },
    { "PointwiseOpScalarListFunctor", SCALAR_LIST, 3, true },
    { "TernaryOpListFunctor", NO_SCALAR, 3, false },
    { "TernaryOpScalarFunctor", SCALAR, 2, false },
    { "TernaryOpScalarListFunctor", SCALAR_LIST, 2, false },
    { "UnaryOpFunctor", NO_SCALAR, 1, false },
    { "ZeroFunctor", NO_SCALAR, 0, false },
};

/* n_operands: tensors and scalar; the second one may be either. */
struct operation_row {
    const char *name;
    uint8_t n_operands;
    double (*unary)(double);
    plim_operation *operation, *with_alpha, *pointwise, *with_scalar;
};

#define FUNCTION(name, function)                                                                                       \
    {                                                                                                                  \
        name, 1, function, NULL, NULL, NULL, NULL                                                                      \
    }
#define OPERATION(name, n, operation)                                                                                  \
    {                                                                                                                  \
        name, n, NULL, operation, NULL, NULL, NULL                                                                     \
    }

static const struct operation_row operation_rows[] = {
    { "plus", 2, NULL, plim_op_add_plain, plim_op_add, NULL, NULL },
    { "minus", 2, NULL, plim_op_sub_plain, plim_op_sub, NULL, NULL },
    { "multiplies", 2, NULL, plim_op_mul, NULL, plim_op_addcmul, NULL },
    { "divides", 2, NULL, plim_op_div, NULL, plim_op_addcdiv, NULL },
    OPERATION("maximum", 2, plim_op_maximum),
    OPERATION("minimum", 2, plim_op_minimum),
    OPERATION("power_functor", 2, plim_op_pow),
    OPERATION("reverse_power_functor", 2, plim_op_reverse_pow),
    { "LerpFunctor", 3, NULL, plim_op_lerp, NULL, NULL, plim_op_lerp_held },
    OPERATION("Copy", 1, plim_op_copy),
    OPERATION("Abs", 1, plim_op_abs),
    OPERATION("negate", 1, plim_op_neg),
    OPERATION("Sign", 1, plim_op_sign),
    FUNCTION("Acos", acos),
    FUNCTION("Asin", asin),
    FUNCTION("Atan", atan),
    FUNCTION("Ceil", ceil),
    FUNCTION("Cos", cos),
    FUNCTION("Cosh", cosh),
    FUNCTION("Erf", erf),
    FUNCTION("Erfc", erfc),
    FUNCTION("Exp", exp),
    FUNCTION("Expm1", expm1),
    FUNCTION("Floor", floor),
    FUNCTION("Lgamma", lgamma),
    FUNCTION("Log", log),
    FUNCTION("Log10", log10),
    FUNCTION("Log1p", log1p),
    FUNCTION("Log2", log2),
    FUNCTION("Reciprocal", plim_fn_reciprocal),
    FUNCTION("Round", nearbyint),
    FUNCTION("Rsqrt", plim_fn_rsqrt),
    FUNCTION("Sigmoid", plim_fn_sigmoid),
    FUNCTION("Sin", sin),
    FUNCTION("Sinh", sinh),
    FUNCTION("Sqrt", sqrt),
    FUNCTION("Tan", tan),
    FUNCTION("Tanh", tanh),
    FUNCTION("Trunc", trunc),
    FUNCTION("Truncf", plim_fn_frac), /* of torch._foreach_frac */
};

struct multi {
    struct plim_lists lists;
    struct plim_functor functor; /* what is computed; without a row: nobody knows */
    struct plim_functor_row row;
    enum scalar_source scalar;
    unsigned output;                  /* the list that is written */
    bool is_unscale;                  /* of the gradient scaler */
    unsigned least_bytes, most_bytes; /* of an element in any list */
};

/* --- names --- */

/* "at::native::(anonymous namespace)::BinaryOpScalarFunctor<float, 1, 1, 0>": the name without namespaces. */
static bool is_named(struct plim_text type, const char *name)
{
    const size_t size = strlen(name);
    for (struct plim_text rest = type; (rest = plim_text_after(rest, name)).size;) {
        const char *start = rest.start - size;
        if (*rest.start == '<' && (start == type.start || start[-1] == ':'))
            return true;
        if (plim_text_after((struct plim_text){ type.start, (size_t)(start - type.start) }, "<").size)
            return false; /* inside of the arguments */
    }
    return false;
}

static const struct functor_row *functor_of(struct plim_text type)
{
    for (size_t i = 0; i < sizeof functor_rows / sizeof *functor_rows; i++)
        if (is_named(type, functor_rows[i].name))
            return &functor_rows[i];
    return NULL;
}

static const struct operation_row *operation_of(struct plim_text type)
{
    for (size_t i = 0; i < sizeof operation_rows / sizeof *operation_rows; i++)
        if (is_named(type, operation_rows[i].name))
            return &operation_rows[i];
    return NULL;
}

static enum plim_element operated(enum plim_element type)
{
    return plim_element_is_float(type) && type != PLIM_ELEMENT_F64 ? PLIM_ELEMENT_F32 : type;
}

static long last_number(struct plim_text arguments)
{
    struct plim_text argument;
    long number = -1;
    for (unsigned i = 0; plim_name_argument(arguments, i, &argument); i++)
        number = plim_name_number(argument);
    return number;
}

/* What the operation is for this functor: NULL, nobody knows. */
static plim_operation *choose(const struct operation_row *operation, const struct functor_row *functor)
{
    const bool has_number = functor->scalar != NO_SCALAR && functor->scalar != ALPHA;
    const unsigned n = functor->n_inputs + (has_number ? 1U : 0);
    if (functor->is_pointwise)
        return operation->pointwise;
    if (n != operation->n_operands)
        return NULL;
    if (functor->scalar == ALPHA && operation->with_alpha)
        return operation->with_alpha;
    return functor->n_inputs == 2 && functor->scalar != ALPHA ? operation->with_scalar : operation->operation;
}

/* The functor of one element: of the tensors, and of the scalar as its right operand or as what it holds. */
static bool describe(const struct functor_row *functor, struct plim_text types, struct plim_text operation,
                     struct multi *ret)
{
    const struct operation_row *row = functor->n_inputs ? operation_of(operation) : NULL;
    struct plim_text first, second;
    if (!plim_name_argument(types, 0, &first) || !plim_name_argument(types, 1, &second))
        return false;
    const enum plim_element type = plim_name_element(first);
    const bool is_copy = strcmp(functor->name, "CopyFunctor") == 0;
    const enum plim_element from = is_copy ? plim_name_element(second) : type;
    if (type == PLIM_ELEMENT_NONE || from == PLIM_ELEMENT_NONE || (functor->n_inputs && !row))
        return false;
    ret->row.name = functor->name;
    ret->row.n_inputs = functor->n_inputs;
    ret->row.unary = row && plim_element_is_float(type) ? row->unary : NULL;
    ret->row.operation = row ? choose(row, functor) : plim_op_zero;
    if (!ret->row.unary && !ret->row.operation)
        return false;
    ret->functor.n_inputs = functor->n_inputs;
    for (unsigned i = 0; i < functor->n_inputs; i++)
        ret->functor.input[i] = from;
    ret->functor.result = type;
    ret->functor.type = operated(is_copy ? from : type);
    const bool is_held = functor->is_pointwise || functor->scalar == ALPHA || functor->n_inputs == 2;
    if (functor->scalar != NO_SCALAR && is_held) {
        ret->functor.n_held = 1;
        ret->functor.held_type[0] = ret->functor.type;
    } else if (functor->scalar != NO_SCALAR) {
        ret->functor.form = PLIM_FUNCTOR_RIGHT;
    }
    return true;
}

/* The sizes of all types that the functor's name has as its first arguments. */
static void read_bytes(struct plim_text type, struct multi *ret)
{
    struct plim_text arguments, argument;
    ret->least_bytes = 1;
    ret->most_bytes = 16;
    if (!plim_name_template(type, "Functor", &arguments) && !plim_name_template(type, "FunctorMP", &arguments))
        return;
    for (unsigned i = 0; plim_name_argument(arguments, i, &argument); i++) {
        const unsigned bytes = plim_element_bytes(plim_name_element(argument));
        if (bytes == 0)
            break;
        ret->least_bytes = i == 0 || bytes < ret->least_bytes ? bytes : ret->least_bytes;
        ret->most_bytes = i == 0 || bytes > ret->most_bytes ? bytes : ret->most_bytes;
    }
}

static void *parse(struct plim_text name)
{
    struct plim_text arguments, metadata, type, operation = { "", 0 }, types;
    struct multi *multi;
    if (!plim_name_template(name, "multi_tensor_apply_kernel", &arguments) ||
        !plim_name_argument(arguments, 0, &metadata) || !plim_name_argument(arguments, 1, &type) ||
        !(multi = calloc(1, sizeof *multi)))
        return NULL;
    const struct functor_row *functor = functor_of(type);
    plim_name_argument(arguments, 2, &operation);
    if (!plim_lists_parse(metadata, &multi->lists) || plim_text_has(type, "LpNormFunctor") ||
        plim_text_has(type, "LpMaxFunctor")) {
        free(multi);
        return NULL;
    }
    multi->output = UINT32_MAX;
    read_bytes(type, multi);
    if (!functor || !plim_name_template(type, functor->name, &types))
        return multi;
    const long output = last_number(types);
    if (output >= 0 && output < (long)multi->lists.depth)
        multi->output = (unsigned)output;
    multi->is_unscale = plim_text_has(operation, "_amp_foreach_non_finite_check_and_unscale_cuda_");
    if (multi->is_unscale || (multi->output != UINT32_MAX && describe(functor, types, operation, multi))) {
        multi->functor.row = &multi->row;
        multi->scalar = functor->scalar;
    }
    if (multi->is_unscale && plim_name_argument(types, 0, &metadata))
        multi->functor.input[0] = plim_name_element(metadata);
    return multi;
}

/* --- launches --- */

struct work {
    const struct multi *multi;
    const struct plim_kernel_launch *launch;
};

enum { METADATA, FUNCTOR, OPERATION_ARGUMENT, SCALAR_ARGUMENT };

static struct plim_view view_of(const struct plim_lists_part *part, unsigned list, enum plim_element element)
{
    const uint8_t *base = part->address[list];
    return plim_view_flat(base + part->first * plim_element_bytes(element), element, part->n);
}

/* Of a functor that nobody knows, such as a fused optimizer: its output, or any list. */
static void forget(const struct multi *multi, const struct plim_lists_part *part)
{
    for (unsigned i = 0; i < multi->lists.depth; i++) {
        const uint8_t *base = part->address[i];
        const uint64_t start = part->first * multi->least_bytes;
        const uint64_t end = (part->first + part->n) * multi->most_bytes;
        const struct plim_view view = plim_view_flat(base + start, PLIM_ELEMENT_U8, end - start);
        if (multi->output == UINT32_MAX || i == multi->output)
            plim_view_forget(&view);
    }
}

/* A scalar in device memory. */
static bool read_scalar(const struct work *work, union plim_scalar *ret, enum plim_shadow_known *ret_known)
{
    const void *address;
    struct plim_array array;
    memcpy(&address, work->launch->parameters[SCALAR_ARGUMENT], sizeof address);
    const struct plim_view view = plim_view_flat(address, work->multi->functor.result, 1);
    if (!plim_view_read(&view, &array))
        return false;
    *ret = array.number[0];
    *ret_known = array.known;
    plim_array_free(&array);
    return true;
}

static void visit(void *context, const struct plim_lists_part *part)
{
    const struct work *work = context;
    const struct multi *multi = work->multi;
    const void *scalar = part->scalar;
    uint8_t bytes[8] = { 0 };
    struct plim_view output, inputs[PLIM_OPERATION_MAX_INPUTS];
    if (!multi->functor.row) {
        forget(multi, part);
        return;
    }
    output = view_of(part, multi->output, multi->functor.result);
    for (unsigned i = 0; i < multi->functor.n_inputs; i++)
        inputs[i] = view_of(part, i, multi->functor.input[i]);
    if (multi->scalar == SCALAR || multi->scalar == ALPHA)
        scalar = work->launch->parameters[SCALAR_ARGUMENT];
    if (multi->scalar == SCALAR_POINTER) {
        union plim_scalar value;
        enum plim_shadow_known known;
        if (!read_scalar(work, &value, &known) || known != PLIM_SHADOW_KNOWN) {
            plim_view_forget(&output);
            return;
        }
        value = plim_element_convert(multi->functor.type, multi->functor.result, value);
        plim_element_store(multi->functor.type, bytes, value);
        scalar = bytes;
    }
    plim_functor_apply(&multi->functor, scalar, &output, inputs);
}

static void visit_unscale(void *context, const struct plim_lists_part *part)
{
    const struct work *work = context;
    const struct plim_view gradient = view_of(part, 0, work->multi->functor.input[0]);
    plim_amp_unscale(work->launch->parameters[OPERATION_ARGUMENT], &gradient);
}

static void run(const void *parsed, const struct plim_kernel_launch *launch)
{
    const struct multi *multi = parsed;
    struct work work = { multi, launch };
    if (!plim_lists_each(&multi->lists, launch, multi->is_unscale ? visit_unscale : visit, &work))
        plim_shadow_doubt_all();
}

const struct plim_kernel_form plim_form_foreach = { "multi_tensor_apply_kernel", parse, run };
