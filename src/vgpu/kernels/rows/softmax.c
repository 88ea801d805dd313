/* SPDX-License-Identifier: MIT */
/*
 * softmax and log_softmax: softmax_warp_forward (ATen/native/cuda/PersistentSoftmax.cuh) and the cunn_ kernels of
 * SoftMax.cu; PyTorch 2.5 to 2.15. The backward kernels only make their output unknown: no program reads it.
 */
#include "vgpu/kernels/forms.h"
#include "vgpu/kernels/parameters.h"
#include "vgpu/kernels/rows/rows.h"

#include <math.h>
#include <stdlib.h>

struct softmax {
    enum plim_element in, out;
    bool is_log;
};

/* --- one row --- */

static void softmax_row(const struct plim_row *row, const void *about)
{
    const struct softmax *softmax = about;
    double most = -(double)INFINITY, sum = 0;
    enum plim_shadow_known known = PLIM_SHADOW_KNOWN;
    for (uint64_t i = 0; i < row->n; i++) {
        const double x = plim_row_double(row, i);
        most = isnan(x) || x > most ? x : most;
        known = plim_less_known(known, plim_row_known(row, i));
    }
    for (uint64_t i = 0; i < row->n; i++)
        sum += exp(plim_row_double(row, i) - most);
    for (uint64_t i = 0; i < row->n; i++) {
        const double x = plim_row_double(row, i) - most;
        const union plim_scalar y = { .f = softmax->is_log ? x - log(sum) : exp(x) / sum };
        plim_row_put(row, 0, i, y, known);
    }
}

/* --- names --- */

static struct softmax *make(enum plim_element in, enum plim_element out, bool is_log)
{
    struct softmax *softmax = in && out ? malloc(sizeof *softmax) : NULL;
    if (softmax)
        *softmax = (struct softmax){ in, out, is_log };
    return softmax;
}

/* softmax_warp_forward<input, output, acc, log2_elements, is_log_softmax, is_masked, ...> */
static void *parse_warp(struct plim_text name)
{
    struct plim_text arguments, is_log, is_masked;
    if (!plim_name_template(name, "softmax_warp_forward", &arguments) || !plim_name_argument(arguments, 4, &is_log) ||
        !plim_name_argument(arguments, 5, &is_masked) || !plim_text_is(is_masked, "false"))
        return NULL;
    return make(plim_name_template_element(name, "softmax_warp_forward", 0),
                plim_name_template_element(name, "softmax_warp_forward", 1), plim_text_is(is_log, "true"));
}

/* cunn_...Forward...<[ILP,] input, acc, output, epilogue, ...> */
static void *parse_cunn(struct plim_text name)
{
    struct plim_text arguments = { "", 0 }, first, in, out;
    static const char *const names[] = { "cunn_SoftMaxForward", "cunn_SoftMaxForwardSmem", "cunn_SoftMaxForwardReg",
                                         "cunn_SoftMaxForwardGmem", "cunn_SpatialSoftMaxForward" };
    for (size_t i = 0; i < sizeof names / sizeof *names && arguments.size == 0; i++)
        if (!plim_name_template(name, names[i], &arguments))
            arguments.size = 0;
    if (!plim_name_argument(arguments, 0, &first))
        return NULL;
    const unsigned skip = plim_name_number(first) >= 0;
    if (!plim_name_argument(arguments, skip, &in) || !plim_name_argument(arguments, skip + 2, &out))
        return NULL;
    return make(plim_name_element(in), plim_name_element(out), plim_text_has(arguments, "LogSoftMaxForwardEpilogue"));
}

/* --- launches --- */

/* The sizes of the spatial kernels are of index_t; they fit into 32 bits, little endian. */
static void apply(const struct softmax *softmax, void *const *parameters, uint64_t n_outer, uint64_t n,
                  uint64_t n_inner)
{
    const struct plim_rows rows = { .in = plim_pointer_at(parameters, 1),
                                    .out = { plim_pointer_at(parameters, 0) },
                                    .in_type = softmax->in,
                                    .out_type = { softmax->out },
                                    .n_outer = n_outer,
                                    .n = n,
                                    .n_inner = n_inner };
    plim_rows_apply(&rows, softmax_row, softmax);
}

/* (dst, src, batch_size, stride, element_count, mask, ...): stride equals element_count */
static void run_warp(const void *parsed, const struct plim_kernel_launch *launch)
{
    void **p = launch->parameters;
    apply(parsed, p, plim_count_at(p, 2, 4), plim_count_at(p, 4, 4), 1);
}

/* (output, input, classes): a block for each row */
static void run_block(const void *parsed, const struct plim_kernel_launch *launch)
{
    apply(parsed, launch->parameters, launch->grid[0], plim_count_at(launch->parameters, 2, 4), 1);
}

/* (output, input, outer_size, dim_size, inner_size) */
static void run_spatial(const void *parsed, const struct plim_kernel_launch *launch)
{
    void **p = launch->parameters;
    apply(parsed, p, plim_count_at(p, 2, 4), plim_count_at(p, 3, 4), plim_count_at(p, 4, 4));
}

const struct plim_kernel_form plim_form_softmax_warp = { "(anonymous namespace)::softmax_warp_forward", parse_warp,
                                                         run_warp };
const struct plim_kernel_form plim_form_softmax_block = { "at::native::(anonymous namespace)::cunn_SoftMaxForward",
                                                          parse_cunn, run_block };
const struct plim_kernel_form plim_form_softmax_smem = { "at::native::(anonymous namespace)::cunn_SoftMaxForwardSmem",
                                                         parse_cunn, run_block };
const struct plim_kernel_form plim_form_softmax_reg = { "at::native::(anonymous namespace)::cunn_SoftMaxForwardReg",
                                                        parse_cunn, run_block };
const struct plim_kernel_form plim_form_softmax_gmem = { "at::native::(anonymous namespace)::cunn_SoftMaxForwardGmem",
                                                         parse_cunn, run_block };
const struct plim_kernel_form plim_form_softmax_spatial = {
    "at::native::(anonymous namespace)::cunn_SpatialSoftMaxForward", parse_cunn, run_spatial
};
