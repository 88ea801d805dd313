/* SPDX-License-Identifier: MIT */
#include "vgpu/kernels/foreach/lists.h"
#include "vgpu/kernels/forms.h"
#include "vgpu/kernels/parameters.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/*
 * torch._foreach_norm and _foreach_max (ForeachReduceOp.cu): multi_tensor_apply_kernel with LpNormFunctor or
 * LpMaxFunctor writes a number for each chunk of 65536 elements, and lpnorm_cleanup or lpmax_cleanup one for each
 * tensor. Tensor t's numbers start at t * n, with n (an int) the third parameter, in PyTorch 2.5.1 and 2.10.0;
 * in 2.15.0 at offsets[t], an array of long in device memory. Here, the first chunk of a launch gets the number for all
 * of the launch's.
 */

enum norm { L0, L1, L2, LINF, MAX };

struct norms {
    struct plim_lists lists;
    enum norm norm;
    bool has_offsets, has_root;
    enum plim_element element;         /* of the tensors */
    enum plim_element partial, result; /* of the numbers for chunks, and for tensors */
};

/* NormType has had an L0 in front since there are offsets. */
static bool read_norm(struct plim_text text, struct norms *ret)
{
    const struct plim_text number = plim_text_after(text, ")");
    const long type = plim_name_number(number);
    if (type < 0 || type > (ret->has_offsets ? 3 : 2))
        return false;
    ret->norm = (enum norm)(type + (ret->has_offsets ? L0 : L1));
    return true;
}

static enum plim_element operated(enum plim_element type)
{
    return plim_element_is_float(type) && type != PLIM_ELEMENT_F64 ? PLIM_ELEMENT_F32 : type;
}

static enum plim_element element_at(struct plim_text arguments, unsigned number)
{
    struct plim_text argument;
    return plim_name_argument(arguments, number, &argument) ? plim_name_element(argument) : PLIM_ELEMENT_NONE;
}

static void *keep(const struct norms *norms)
{
    struct norms *kept = norms->element && norms->partial && norms->result ? malloc(sizeof *kept) : NULL;
    if (kept)
        *kept = *norms;
    return kept;
}

static void *parse_chunks(struct plim_text name)
{
    struct plim_text arguments, metadata, functor, types, last, type;
    struct norms norms = { .norm = MAX };
    if (!plim_name_template(name, "multi_tensor_apply_kernel", &arguments) ||
        !plim_name_argument(arguments, 0, &metadata) || !plim_name_argument(arguments, 1, &functor) ||
        !plim_name_argument(arguments, 3, &last) || !plim_lists_parse(metadata, &norms.lists))
        return NULL;
    norms.has_offsets = plim_text_is(last, "long const*");
    if (plim_name_template(functor, "at::native::LpNormFunctor", &types)) {
        if (!plim_name_argument(types, 1, &type) || !read_norm(type, &norms))
            return NULL;
        norms.result = element_at(types, 2);
        norms.partial = operated(norms.result);
    } else if (plim_name_template(functor, "at::native::LpMaxFunctor", &types)) {
        norms.partial = norms.result = element_at(types, 0);
    } else {
        return NULL;
    }
    norms.element = element_at(types, 0);
    return keep(&norms);
}

static double joined(enum norm norm, double a, double b)
{
    if (norm != LINF && norm != MAX)
        return a + b;
    return isnan(a) || a > b ? a : b;
}

static double number_of(enum norm norm, double x)
{
    return norm == L0 ? (x != 0 ? 1 : 0) : norm == L2 ? x * x : norm == MAX ? x : fabs(x);
}

static double start_of(enum norm norm) { return norm == MAX ? -INFINITY : 0; }

struct single {
    double value;
    enum plim_shadow_known known;
};

static struct single reduce(enum norm norm, const struct plim_view *view, bool is_partial)
{
    struct single result = { start_of(norm), PLIM_SHADOW_UNKNOWN };
    struct plim_array array;
    if (!plim_view_read(view, &array))
        return (struct single){ 0, PLIM_SHADOW_UNKNOWN };
    const uint64_t n = array.is_constant ? 1 : array.n;
    for (uint64_t i = 0; i < n; i++) {
        const double x = plim_element_as_double(view->element, array.number[i]);
        result.value = joined(norm, result.value, is_partial ? x : number_of(norm, x));
    }
    if (array.is_constant && norm != LINF && norm != MAX)
        result.value *= (double)array.n;
    result.known = array.known;
    plim_array_free(&array);
    return result;
}

static void write_one(const void *address, enum plim_element element, uint64_t n, struct single single)
{
    struct plim_array array;
    const struct plim_view view = plim_view_flat(address, element, n);
    plim_array_make(&array, PLIM_ELEMENT_F64, n, true);
    array.one.f = single.value;
    array.known = single.known;
    plim_view_write(&view, &array);
    plim_array_free(&array);
}

/* An entry of the offsets. */
static bool read_offset(const void *offsets, uint64_t number, uint64_t *ret)
{
    int64_t offset;
    if (plim_shadow_read(&offset, (const int64_t *)offsets + number, sizeof offset) != PLIM_SHADOW_KNOWN || offset < 0)
        return false;
    *ret = (uint64_t)offset;
    return true;
}

/* Where the numbers of a tensor start, and how many they are. False: nobody knows. */
static bool place_of(const struct norms *norms, void *const *parameters, uint64_t tensor, uint64_t *ret_start,
                     uint64_t *ret_n)
{
    enum { PER_TENSOR = 3, CLEANUP_PER_TENSOR = 2 };
    const unsigned per_tensor = norms->lists.depth ? PER_TENSOR : CLEANUP_PER_TENSOR;
    if (!norms->has_offsets) {
        const int32_t n = plim_int32_at(parameters, per_tensor);
        *ret_n = n > 0 ? (uint64_t)n : 0;
        *ret_start = tensor * *ret_n;
        return n > 0;
    }
    const void *offsets = plim_pointer_at(parameters, per_tensor);
    uint64_t end;
    if (!plim_view_is_memory(offsets) || !read_offset(offsets, tensor, ret_start) ||
        !read_offset(offsets, tensor + 1, &end) || end < *ret_start)
        return false;
    *ret_n = end - *ret_start;
    return true;
}

struct work {
    const struct norms *norms;
    const struct plim_kernel_launch *launch;
};

static void visit(void *context, const struct plim_lists_part *part)
{
    enum { OUTPUT = 2 };
    const struct work *work = context;
    const struct norms *norms = work->norms;
    const uint8_t *output = plim_pointer_at(work->launch->parameters, OUTPUT);
    const unsigned bytes = plim_element_bytes(norms->partial);
    uint64_t start, n;
    if (!place_of(norms, work->launch->parameters, part->tensor, &start, &n) ||
        part->first_chunk + part->n_chunks > n) {
        if (plim_view_is_memory(output))
            plim_shadow_lose(output);
        return;
    }
    const uint8_t *base = part->address[0];
    const struct plim_view view =
        plim_view_flat(base + part->first * plim_element_bytes(norms->element), norms->element, part->n);
    const struct single all = reduce(norms->norm, &view, false);
    const struct single none = { norms->norm == MAX ? all.value : 0, all.known };
    output += (start + part->first_chunk) * bytes;
    write_one(output, norms->partial, 1, all);
    if (part->n_chunks > 1)
        write_one(output + bytes, norms->partial, part->n_chunks - 1, none);
}

static void run_chunks(const void *parsed, const struct plim_kernel_launch *launch)
{
    const struct norms *norms = parsed;
    struct work work = { norms, launch };
    plim_lists_each(&norms->lists, launch, visit, &work);
}

/* --- a number for each tensor --- */

/*
 * lpnorm_cleanup<T, norm, result, [has_root,] partial>(const partial *, TensorListAddresses, ...), and
 * lpmax_cleanup<T>(const T *, TensorListAddresses, ...). The last parameter is an int, or offsets and the first tensor.
 */
static void *parse_cleanup(struct plim_text name)
{
    struct plim_text arguments, type, root;
    struct norms norms = { .norm = MAX, .has_root = true };
    norms.has_offsets = plim_text_has(plim_name_parameters(name), "long const*");
    if (plim_name_template(name, "at::native::lpnorm_cleanup", &arguments)) {
        if (!plim_name_argument(arguments, 1, &type) || !read_norm(type, &norms))
            return NULL;
        norms.result = element_at(arguments, 2);
        norms.partial = operated(norms.result);
        if (norms.has_offsets && plim_name_argument(arguments, 3, &root))
            norms.has_root = plim_text_is(root, "true");
    } else if (plim_name_template(name, "at::native::lpmax_cleanup", &arguments)) {
        norms.partial = norms.result = element_at(arguments, 0);
    } else {
        return NULL;
    }
    norms.element = norms.partial;
    return keep(&norms);
}

static void run_cleanup(const void *parsed, const struct plim_kernel_launch *launch)
{
    enum { PARTIALS, ADDRESSES, FIRST_TENSOR = 3, MAX_TENSORS = 512 /* MAX_TENSORS_PER_KERNEL */ };
    const struct norms *norms = parsed;
    const uint8_t *partials = plim_pointer_at(launch->parameters, PARTIALS);
    const int32_t first = norms->has_offsets ? plim_int32_at(launch->parameters, FIRST_TENSOR) : 0;
    for (unsigned i = 0; i < launch->grid[0] && i < MAX_TENSORS; i++) {
        const void *output;
        uint64_t start, n;
        memcpy(&output, (const uint8_t *)launch->parameters[ADDRESSES] + 8 * (size_t)i, sizeof output);
        struct single result = { 0, PLIM_SHADOW_UNKNOWN };
        if (place_of(norms, launch->parameters, i + (first > 0 ? (unsigned)first : 0), &start, &n)) {
            const struct plim_view view =
                plim_view_flat(partials + start * plim_element_bytes(norms->partial), norms->partial, n);
            result = reduce(norms->norm, &view, true);
        }
        if (norms->norm == L2 && norms->has_root)
            result.value = sqrt(result.value);
        write_one(output, norms->result, 1, result);
    }
}

const struct plim_kernel_form plim_form_foreach_norm = { "multi_tensor_apply_kernel", parse_chunks, run_chunks };
const struct plim_kernel_form plim_form_foreach_norm_cleanup = { "at::native::lpnorm_cleanup", parse_cleanup,
                                                                 run_cleanup };
const struct plim_kernel_form plim_form_foreach_max_cleanup = { "at::native::lpmax_cleanup", parse_cleanup,
                                                                run_cleanup };
