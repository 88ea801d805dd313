/* SPDX-License-Identifier: MIT */
/*
 * PyTorch's kernels around a radix sort (ATen/native/cuda/SortStable.cu; PyTorch 2.5 to 2.15). IntDivider begins with
 * the divisor (ATen/cuda/detail/IntegerDivider.cuh).
 *   fill_reverse_indices_kernel(int64 *out, int n, IntDivider length): out[i] = i % length
 *   fill_index_and_segment_kernel(int2 *out, int n, IntDivider length): out[i] = { i / length, i % length }
 *   sort_postprocess_kernel(in, out, int64 *indices, const int2 *sorted, int rows, int length): with k = sorted[i].y,
 *     indices[i] = k and out[i] = row of in [k]
 */
#include "vgpu/kernels/forms.h"
#include "vgpu/kernels/parameters.h"

#include <stdlib.h>

static void *parse_always(struct plim_text name)
{
    static char known;
    (void)name;
    return &known;
}

static void run_fill(const struct plim_kernel_launch *launch, bool has_segment)
{
    void *const *p = launch->parameters;
    const uint64_t n = plim_count_at(p, 1, 4), length = plim_count_at(p, 2, 4);
    const struct plim_view view = plim_view_flat(plim_pointer_at(p, 0), PLIM_ELEMENT_I64, n);
    uint64_t *out = length > 0 && n <= PLIM_VIEW_MAX_ELEMENTS ? malloc((n + 1) * sizeof *out) : NULL;
    if (!out || !plim_view_is_memory(plim_pointer_at(p, 0))) {
        plim_view_forget(&view);
        free(out);
        return;
    }
    for (uint64_t i = 0, place = 0, segment = 0; i < n; i++) {
        out[i] = has_segment ? place << 32 | segment : place;
        if (++place == length) {
            place = 0;
            segment++;
        }
    }
    if (n > 0)
        plim_shadow_write((void *)(uintptr_t)plim_pointer_at(p, 0), out, n * sizeof *out, PLIM_SHADOW_KNOWN);
    free(out);
}

static void run_indices(const void *parsed, const struct plim_kernel_launch *launch)
{
    (void)parsed;
    run_fill(launch, false);
}

static void run_segments(const void *parsed, const struct plim_kernel_launch *launch)
{
    (void)parsed;
    run_fill(launch, true);
}

/* --- back to rows --- */

struct element_type {
    enum plim_element element;
};

static void *parse_postprocess(struct plim_text name)
{
    struct element_type *type = calloc(1, sizeof *type);
    if (type && (type->element = plim_name_template_element(name, "sort_postprocess_kernel", 0)))
        return type;
    free(type);
    return NULL;
}

/* Numbers that are all alike: those of the first row. */
static void put_constant(const struct plim_array *in, const struct plim_array *sorted, const struct plim_view *out_view,
                         const struct plim_view *index_view)
{
    struct plim_array index;
    struct plim_array out = *in;
    out.number = &out.one;
    out.known = plim_less_known(in->known, sorted->known);
    plim_view_write(out_view, &out);
    plim_array_make(&index, PLIM_ELEMENT_I64, in->n, true);
    index.one.i = (int64_t)((uint64_t)sorted->one.i >> 32);
    index.known = sorted->known;
    plim_view_write(index_view, &index);
}

static bool put_back(const struct plim_array *in, const struct plim_array *sorted, uint64_t length,
                     const struct plim_view *out_view, const struct plim_view *index_view)
{
    struct plim_array out, index;
    bool is_done = false;
    if (!plim_array_make(&out, in->element, in->n, false))
        return false;
    if (plim_array_make(&index, PLIM_ELEMENT_I64, in->n, false)) {
        is_done = true;
        for (uint64_t i = 0; i < in->n; i++) {
            const uint64_t row = i - i % length, k = (uint64_t)plim_array_at(sorted, i).i >> 32;
            index.number[i].i = (int64_t)k;
            out.number[i] = plim_array_at(in, row + (k < length ? k : 0));
        }
        index.known = sorted->known;
        out.known = plim_less_known(in->known, sorted->known);
        plim_view_write(out_view, &out);
        plim_view_write(index_view, &index);
        plim_array_free(&index);
    }
    plim_array_free(&out);
    return is_done;
}

static void run_postprocess(const void *parsed, const struct plim_kernel_launch *launch)
{
    const struct element_type *type = parsed;
    void *const *p = launch->parameters;
    const uint64_t length = plim_count_at(p, 5, 4), n = plim_count_at(p, 4, 4) * length;
    const struct plim_view in_view = plim_view_flat(plim_pointer_at(p, 0), type->element, n),
                           out_view = plim_view_flat(plim_pointer_at(p, 1), type->element, n),
                           index_view = plim_view_flat(plim_pointer_at(p, 2), PLIM_ELEMENT_I64, n),
                           sorted_view = plim_view_flat(plim_pointer_at(p, 3), PLIM_ELEMENT_I64, n);
    struct plim_array in, sorted;
    bool is_done = false;
    if (n > 0 && plim_view_read(&in_view, &in)) {
        if (plim_view_read(&sorted_view, &sorted)) {
            is_done = in.is_constant && sorted.is_constant;
            if (is_done)
                put_constant(&in, &sorted, &out_view, &index_view);
            else
                is_done = put_back(&in, &sorted, length, &out_view, &index_view);
            plim_array_free(&sorted);
        }
        plim_array_free(&in);
    }
    if (!is_done) {
        plim_view_forget(&out_view);
        plim_view_forget(&index_view);
    }
}

#define ANONYMOUS "at::native::(anonymous namespace)::"
const struct plim_kernel_form plim_form_sort_indices = { ANONYMOUS "fill_reverse_indices_kernel", parse_always,
                                                         run_indices };
const struct plim_kernel_form plim_form_sort_segments = { ANONYMOUS "fill_index_and_segment_kernel", parse_always,
                                                          run_segments };
const struct plim_kernel_form plim_form_sort_postprocess = { ANONYMOUS "sort_postprocess_kernel", parse_postprocess,
                                                             run_postprocess };
