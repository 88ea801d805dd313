/* SPDX-License-Identifier: MIT */
/*
 * PyTorch's own kernels around selections (ATen/native/cuda/Nonzero.cu, ATen/cuda/cub.cuh, IndexKernel.cu; 2.5 to
 * 2.15):
 *   write_indices(int64 *indices, TensorDims<index> sizes, int dims, index n[, int64 *total, int64 filler]): indices[i]
 *     is a flat index; it becomes one for each dimension, n apart, the first dimension first
 * and, for nonzero_static:
 *   calc_block_sums<threads, items, is_count, T, sum>(in, sum *sums, int64 n, int iterations)
 *   compute_agg<threads>(int *sums, int64 *running sums, unsigned n)
 *   flag_kernel<threads, items, T>(in, int64 *out, const int64 *running sums, int64 n, int64 n_out, int iterations)
 *   write_fill_value(int64 *out, int64 *total, int64 filler, int64 n_out)
 */
#include "vgpu/kernels/cub/iterator.h"
#include "vgpu/kernels/forms.h"
#include "vgpu/kernels/parameters.h"
#include "vgpu/values/policy.h"

#include <stdlib.h>

static void *parse_always(struct plim_text name)
{
    static char known;
    (void)name;
    return &known;
}

/* --- indices of dimensions --- */

struct indices {
    unsigned index_bytes;
    bool has_total;
};

static void *parse_indices(struct plim_text name)
{
    struct indices *indices = calloc(1, sizeof *indices);
    struct plim_text type;
    if (indices) {
        indices->index_bytes = plim_element_bytes(plim_name_template_element(name, "write_indices", 0));
        indices->has_total = plim_name_argument(plim_name_parameters(name), 5, &type);
        if (indices->index_bytes == 4 || indices->index_bytes == 8)
            return indices;
    }
    free(indices);
    return NULL;
}

struct total {
    uint64_t n;
    enum plim_shadow_known known;
};

/* How many of n indices were found; without the pointer, all. */
static struct total total_of(const int64_t *pointer, uint64_t n)
{
    int64_t found = 0;
    struct total total = { n, PLIM_SHADOW_KNOWN };
    if (!pointer)
        return total;
    total.known = plim_view_is_memory(pointer) ? plim_shadow_read(&found, pointer, sizeof found) : PLIM_SHADOW_UNKNOWN;
    if (found < (int64_t)n)
        total.n = found > 0 ? (uint64_t)found : 0;
    return total;
}

static void write_dimensions(const struct indices *indices, void *const *p, const struct plim_array *flat,
                             struct plim_array *out)
{
    const uint64_t n = flat->n;
    const struct total total = total_of(indices->has_total ? plim_pointer_at(p, 4) : NULL, n);
    const int64_t filler = indices->has_total ? plim_int64_at(p, 5) : 0;
    const char *sizes = p[1];
    for (uint64_t i = 0; i < n; i++) {
        int64_t rest = plim_array_at(flat, i).i;
        const uint8_t known = (uint8_t)plim_less_known(total.known, plim_array_known_at(flat, i));
        for (unsigned k = (unsigned)(out->n / n); k-- > 0;) {
            int64_t size = 0;
            memcpy(&size, sizes + k * indices->index_bytes, indices->index_bytes);
            out->number[k * n + i].i = i >= total.n ? (k > 0 ? filler : rest) : size > 0 ? rest % size : 0;
            out->each[k * n + i] = known;
            if (i < total.n && size > 0)
                rest /= size;
        }
    }
}

static void run_indices(const void *parsed, const struct plim_kernel_launch *launch)
{
    enum { MAX_DIMENSIONS = 64 };
    const struct indices *indices = parsed;
    void *const *p = launch->parameters;
    const uint64_t n_dimensions = plim_count_at(p, 2, 4), n = plim_count_at(p, 3, indices->index_bytes);
    if (n == 0 || n_dimensions == 0 || n_dimensions > MAX_DIMENSIONS || n > UINT64_MAX / MAX_DIMENSIONS)
        return;
    const struct plim_view flat_view = plim_view_flat(plim_pointer_at(p, 0), PLIM_ELEMENT_I64, n),
                           view = plim_view_flat(plim_pointer_at(p, 0), PLIM_ELEMENT_I64, n * n_dimensions);
    struct plim_array flat, out;
    bool is_done = false;
    if (plim_view_read(&flat_view, &flat)) {
        if (plim_array_make(&out, PLIM_ELEMENT_I64, n * n_dimensions, false)) {
            is_done = plim_array_make_each(&out);
            if (is_done) {
                write_dimensions(indices, p, &flat, &out);
                plim_view_write(&view, &out);
            }
            plim_array_free(&out);
        }
        plim_array_free(&flat);
    }
    if (!is_done)
        plim_view_forget(&view);
}

/* --- nonzero_static, and deterministic scans --- */

struct blocks {
    enum plim_element in, sum;
    uint64_t n_block; /* elements of a block in one iteration */
    bool is_count;
};

static void *parse_blocks_of(struct plim_text name, const char *kernel, unsigned in_at, unsigned sum_at)
{
    struct blocks *blocks = calloc(1, sizeof *blocks);
    struct plim_text arguments, text;
    if (blocks && plim_name_template(name, kernel, &arguments)) {
        const long n_threads = plim_name_argument(arguments, 0, &text) ? plim_name_number(text) : -1;
        const long n_items = plim_name_argument(arguments, 1, &text) ? plim_name_number(text) : -1;
        blocks->is_count = plim_name_argument(arguments, 2, &text) && plim_text_is(text, "true");
        blocks->in = plim_name_template_element(name, kernel, in_at);
        blocks->sum = sum_at ? plim_name_template_element(name, kernel, sum_at) : PLIM_ELEMENT_I64;
        blocks->n_block = n_threads > 0 && n_items > 0 ? (uint64_t)n_threads * (uint64_t)n_items : 0;
        if (blocks->in && blocks->sum && blocks->n_block)
            return blocks;
    }
    free(blocks);
    return NULL;
}

static void *parse_sums(struct plim_text name) { return parse_blocks_of(name, "calc_block_sums", 3, 4); }
static void *parse_flags(struct plim_text name) { return parse_blocks_of(name, "flag_kernel", 2, 0); }
static void *parse_scan(struct plim_text name) { return parse_blocks_of(name, "final_scan_kernel", 2, 0); }

static bool is_set(const struct plim_array *in, uint64_t i)
{
    const union plim_scalar number = plim_array_at(in, i);
    return (plim_element_is_float(in->element) ? number.f != 0 : number.i != 0) ||
           (plim_values_policy() == PLIM_VALUES_MAX && plim_array_known_at(in, i) != PLIM_SHADOW_KNOWN);
}

/* Only counts are read by another kernel: the sums of a scan, which is computed at once, are not. */
static void run_sums(const void *parsed, const struct plim_kernel_launch *launch)
{
    const struct blocks *blocks = parsed;
    void *const *p = launch->parameters;
    const uint64_t n = plim_count_at(p, 2, 8), n_part = blocks->n_block * plim_count_at(p, 3, 4);
    const uint64_t n_blocks = launch->grid[0];
    const struct plim_view in_view = plim_view_flat(plim_pointer_at(p, 0), blocks->in, n),
                           view = plim_view_flat(plim_pointer_at(p, 1), blocks->sum, n_blocks);
    struct plim_array in, sums;
    plim_view_forget(&view);
    if (!blocks->is_count || n_part == 0 || n > PLIM_VIEW_MAX_ELEMENTS || !plim_view_read(&in_view, &in))
        return;
    if (plim_array_make(&sums, PLIM_ELEMENT_I64, n_blocks, false)) {
        sums.known = in.known;
        for (uint64_t i = 0; i < n && i / n_part < n_blocks; i++)
            sums.number[i / n_part].i += is_set(&in, i);
        plim_view_write(&view, &sums);
        plim_array_free(&sums);
    }
    plim_array_free(&in);
}

static void run_running_sums(const void *parsed, const struct plim_kernel_launch *launch)
{
    void *const *p = launch->parameters;
    const uint64_t n = plim_count_at(p, 2, 4);
    const struct plim_view in_view = plim_view_flat(plim_pointer_at(p, 0), PLIM_ELEMENT_I32, n),
                           view = plim_view_flat(plim_pointer_at(p, 1), PLIM_ELEMENT_I64, n);
    struct plim_array in, out;
    (void)parsed;
    plim_view_forget(&view);
    if (!plim_view_read(&in_view, &in))
        return;
    if (plim_array_make(&out, PLIM_ELEMENT_I64, n, false)) {
        int64_t sum = 0;
        for (uint64_t i = 0; i < n; i++)
            out.number[i].i = sum += plim_array_at(&in, i).i;
        out.known = in.known;
        plim_view_write(&view, &out);
        plim_array_free(&out);
    }
    plim_array_free(&in);
}

static void run_flags(const void *parsed, const struct plim_kernel_launch *launch)
{
    const struct blocks *blocks = parsed;
    void *const *p = launch->parameters;
    const uint64_t n = plim_count_at(p, 3, 8), n_out = plim_count_at(p, 4, 8);
    const struct plim_view in_view = plim_view_flat(plim_pointer_at(p, 0), blocks->in, n);
    struct plim_view view = plim_view_flat(plim_pointer_at(p, 1), PLIM_ELEMENT_I64, n_out);
    struct plim_array in, out;
    plim_view_forget(&view);
    if (n > PLIM_VIEW_MAX_ELEMENTS || !plim_view_read(&in_view, &in))
        return;
    if (plim_array_make(&out, PLIM_ELEMENT_I64, n_out, false)) {
        uint64_t n_found = 0;
        for (uint64_t i = 0; i < n && n_found < n_out; i++)
            if (is_set(&in, i))
                out.number[n_found++].i = (int64_t)i;
        out.known = in.known;
        view.size[0] = (int64_t)n_found;
        out.n = n_found;
        out.is_constant = n_found == 0;
        plim_view_write(&view, &out);
        plim_array_free(&out);
    }
    plim_array_free(&in);
}

static void run_filler(const void *parsed, const struct plim_kernel_launch *launch)
{
    void *const *p = launch->parameters;
    const uint64_t n = plim_count_at(p, 3, 8);
    const struct total total = total_of(plim_pointer_at(p, 1), n);
    const int64_t filler = plim_int64_at(p, 2);
    const char *out = plim_pointer_at(p, 0);
    (void)parsed;
    if (n > total.n && n <= SIZE_MAX / 16 && plim_view_is_memory(out))
        plim_shadow_fill((void *)(uintptr_t)(out + total.n * sizeof filler), &filler, sizeof filler, n - total.n,
                         total.known);
}

/* final_scan_kernel(in, out, sums, int64 n, int iterations): out[i] = in[0] + ... + in[i] */
static void run_scan(const void *parsed, const struct plim_kernel_launch *launch)
{
    const struct blocks *blocks = parsed;
    void *const *p = launch->parameters;
    const uint64_t n = plim_count_at(p, 3, 8);
    const struct plim_view in_view = plim_view_flat(plim_pointer_at(p, 0), blocks->in, n),
                           view = plim_view_flat(plim_pointer_at(p, 1), blocks->in, n);
    struct plim_array in, out;
    const bool is_float = plim_element_is_float(blocks->in);
    if (n > PLIM_VIEW_MAX_ELEMENTS || !plim_view_read(&in_view, &in)) {
        plim_view_forget(&view);
        return;
    }
    if (plim_array_make(&out, blocks->in, n, false)) {
        enum plim_shadow_known known = PLIM_SHADOW_KNOWN;
        union plim_scalar sum = { 0 };
        for (uint64_t i = 0; i < n && plim_array_make_each(&out); i++) {
            if (is_float)
                sum.f += plim_array_at(&in, i).f;
            else
                sum.i = (int64_t)((uint64_t)sum.i + (uint64_t)plim_array_at(&in, i).i);
            known = plim_less_known(known, plim_array_known_at(&in, i));
            out.number[i] = sum;
            out.each[i] = (uint8_t)known;
        }
        plim_view_write(&view, &out);
        plim_array_free(&out);
    } else {
        plim_view_forget(&view);
    }
    plim_array_free(&in);
}

/* It only checks that there are enough elements, which the program cannot see. */
static void run_nothing(const void *parsed, const struct plim_kernel_launch *launch) { (void)parsed, (void)launch; }

const struct plim_kernel_form plim_form_nonzero_indices = { "write_indices", parse_indices, run_indices };
const struct plim_kernel_form plim_form_nonzero_sums = { "at::cuda::cub::calc_block_sums", parse_sums, run_sums };
const struct plim_kernel_form plim_form_nonzero_running_sums = { "compute_agg", parse_always, run_running_sums };
const struct plim_kernel_form plim_form_nonzero_flags = { "flag_kernel", parse_flags, run_flags };
const struct plim_kernel_form plim_form_nonzero_filler = { "write_fill_value", parse_always, run_filler };
const struct plim_kernel_form plim_form_scan_deterministic = { "at::cuda::cub::final_scan_kernel", parse_scan,
                                                               run_scan };
const struct plim_kernel_form plim_form_masked_scatter_check = { "masked_scatter_size_check", parse_always,
                                                                 run_nothing };
