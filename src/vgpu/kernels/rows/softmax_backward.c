/* SPDX-License-Identifier: MIT */
/*
 * The gradient of softmax and log_softmax: softmax_warp_backward (ATen/native/cuda/PersistentSoftmax.cuh) and the cunn_
 * kernels of SoftMax.cu; PyTorch 2.5 to 2.15. With g the gradient, which for softmax comes multiplied by the output
 * (softmax_backward_cuda_out): g - p * sum(g), p being the probabilities.
 */
#include "vgpu/kernels/forms.h"
#include "vgpu/kernels/parameters.h"

#include <math.h>
#include <stdlib.h>

struct backward {
    enum plim_element in, out; /* of the gradient and the output of softmax; of what is written */
    bool is_log;
};

struct place {
    uint64_t n_outer, n, n_inner;
};

/* --- the rows --- */

static void row(const struct backward *backward, const struct plim_array *gradient, const struct plim_array *output,
                struct plim_array *result, uint64_t first, const struct place *place)
{
    enum plim_shadow_known known = PLIM_SHADOW_KNOWN;
    double sum = 0;
    for (uint64_t i = 0, at = first; i < place->n; i++, at += place->n_inner) {
        sum += plim_array_at(gradient, at).f;
        known = plim_less_known(known, plim_array_known_at(gradient, at));
    }
    for (uint64_t i = 0, at = first; i < place->n; i++, at += place->n_inner) {
        const double y = plim_array_at(output, at).f;
        result->number[at].f = plim_array_at(gradient, at).f - (backward->is_log ? exp(y) : y) * sum;
        result->each[at] = (uint8_t)plim_less_known(known, plim_array_known_at(output, at));
    }
}

static bool compute(const struct backward *backward, const struct plim_view *to, const struct plim_array *gradient,
                    const struct plim_array *output, const struct place *place)
{
    struct plim_array result;
    if (!plim_array_make(&result, PLIM_ELEMENT_F64, gradient->n, false))
        return false;
    const bool is_made = plim_array_make_each(&result);
    if (is_made) {
        for (uint64_t i = 0; i < place->n_outer; i++)
            for (uint64_t j = 0; j < place->n_inner; j++)
                row(backward, gradient, output, &result, i * place->n * place->n_inner + j, place);
        plim_view_write(to, &result);
    }
    plim_array_free(&result);
    return is_made;
}

static void apply(const struct backward *backward, const void *to, const void *gradient, const void *output,
                  struct place place)
{
    uint64_t n;
    if (__builtin_mul_overflow(place.n_outer, place.n, &n) || __builtin_mul_overflow(n, place.n_inner, &n) || n == 0)
        return;
    const struct plim_view out = plim_view_flat(to, backward->out, n);
    const struct plim_view of_gradient = plim_view_flat(gradient, backward->in, n);
    const struct plim_view of_output = plim_view_flat(output, backward->in, n);
    struct plim_array g, y;
    const bool has_g = n <= PLIM_VIEW_MAX_ELEMENTS && plim_view_read(&of_gradient, &g);
    const bool has_y = has_g && plim_view_read(&of_output, &y);
    if (!has_y || !compute(backward, &out, &g, &y, &place))
        plim_view_forget(&out);
    if (has_g)
        plim_array_free(&g);
    if (has_y)
        plim_array_free(&y);
}

/* --- names and launches --- */

static struct backward *make(enum plim_element in, enum plim_element out, bool is_log)
{
    struct backward *backward = in && out ? malloc(sizeof *backward) : NULL;
    if (backward)
        *backward = (struct backward){ in, out, is_log };
    return backward;
}

/* softmax_warp_backward<input, output, acc, log2_elements, is_log_softmax, is_masked, ...> */
static void *parse_warp(struct plim_text name)
{
    static const char function[] = "softmax_warp_backward";
    struct plim_text arguments, is_log, is_masked;
    if (!plim_name_template(name, function, &arguments) || !plim_name_argument(arguments, 4, &is_log) ||
        !plim_name_argument(arguments, 5, &is_masked) || !plim_text_is(is_masked, "false"))
        return NULL;
    return make(plim_name_template_element(name, function, 0), plim_name_template_element(name, function, 1),
                plim_text_is(is_log, "true"));
}

/* (gradient of the input, gradient, output, batch_size, stride, element_count, mask) */
static void run_warp(const void *parsed, const struct plim_kernel_launch *launch)
{
    void *const *p = launch->parameters;
    const struct place place = { plim_count_at(p, 3, 4), plim_count_at(p, 5, 4), 1 };
    apply(parsed, plim_pointer_at(p, 0), plim_pointer_at(p, 1), plim_pointer_at(p, 2), place);
}

/* cunn_...Backward...<[ILP,] written, acc, read, epilogue, ...> */
static void *parse_cunn(struct plim_text name)
{
    struct plim_text arguments = { "", 0 }, first, in, out;
    static const char *const names[] = { "cunn_SoftMaxBackward", "cunn_SoftMaxBackwardSmem",
                                         "cunn_SpatialSoftMaxBackward" };
    for (size_t i = 0; i < sizeof names / sizeof *names && arguments.size == 0; i++)
        if (!plim_name_template(name, names[i], &arguments))
            arguments.size = 0;
    if (!plim_name_argument(arguments, 0, &first))
        return NULL;
    const unsigned skip = plim_name_number(first) >= 0;
    if (!plim_name_argument(arguments, skip, &out) || !plim_name_argument(arguments, skip + 2, &in))
        return NULL;
    return make(plim_name_element(in), plim_name_element(out), plim_text_has(arguments, "LogSoftMaxBackwardEpilogue"));
}

/* (gradient of the input, output, gradient, classes): a block for each row */
static void run_block(const void *parsed, const struct plim_kernel_launch *launch)
{
    void *const *p = launch->parameters;
    const struct place place = { launch->grid[0], plim_count_at(p, 3, 4), 1 };
    apply(parsed, plim_pointer_at(p, 0), plim_pointer_at(p, 2), plim_pointer_at(p, 1), place);
}

/* (gradient of the input, output, gradient, outer_size, dim_size, inner_size) */
static void run_spatial(const void *parsed, const struct plim_kernel_launch *launch)
{
    void *const *p = launch->parameters;
    const struct place place = { plim_count_at(p, 3, 4), plim_count_at(p, 4, 4), plim_count_at(p, 5, 4) };
    apply(parsed, plim_pointer_at(p, 0), plim_pointer_at(p, 2), plim_pointer_at(p, 1), place);
}

const struct plim_kernel_form plim_form_softmax_warp_backward = { "(anonymous namespace)::softmax_warp_backward",
                                                                  parse_warp, run_warp };
const struct plim_kernel_form plim_form_softmax_block_backward = {
    "at::native::(anonymous namespace)::cunn_SoftMaxBackward", parse_cunn, run_block
};
const struct plim_kernel_form plim_form_softmax_smem_backward = {
    "at::native::(anonymous namespace)::cunn_SoftMaxBackwardSmem", parse_cunn, run_block
};
const struct plim_kernel_form plim_form_softmax_spatial_backward = {
    "at::native::(anonymous namespace)::cunn_SpatialSoftMaxBackward", parse_cunn, run_spatial
};
