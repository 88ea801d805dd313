/* SPDX-License-Identifier: MIT */
/*
 * searchsorted_cuda_kernel<input, output>(out, in, boundaries, sorter, size of the last dimension of in, the same of
 * boundaries, number of inputs, right, is one-dimensional): searchsorted and bucketize (ATen/native/cuda/
 * Bucketization.cu; PyTorch 2.5 to 2.15).
 */
#include "vgpu/kernels/forms.h"
#include "vgpu/kernels/parameters.h"

#include <stdlib.h>

struct search {
    enum plim_element in, out;
};

static void *parse(struct plim_text name)
{
    struct search *search = calloc(1, sizeof *search);
    if (search && (search->in = plim_name_template_element(name, "searchsorted_cuda_kernel", 0)) &&
        (search->out = plim_name_template_element(name, "searchsorted_cuda_kernel", 1)))
        return search;
    free(search);
    return NULL;
}

/* The rows of boundaries, and the order of each row when it is not sorted. */
struct boundaries {
    struct plim_array values, order;
    bool has_order, is_right;
};

static double boundary(const struct boundaries *b, uint64_t start, uint64_t i)
{
    const uint64_t at = b->has_order ? start + (uint64_t)plim_array_at(&b->order, start + i).i : start + i;
    return at < b->values.n ? plim_element_as_double(b->values.element, plim_array_at(&b->values, at)) : 0;
}

/* The number of boundaries below the value (with is_right: or equal); NaN is above all. */
static uint64_t position(const struct boundaries *b, uint64_t start, uint64_t n, double value)
{
    uint64_t low = 0, high = n;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        const double there = boundary(b, start, middle);
        if (b->is_right ? !(there > value) : !(there >= value))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool read_boundaries(const struct search *search, void *const *p, uint64_t n, struct boundaries *ret)
{
    const struct plim_view values = plim_view_flat(plim_pointer_at(p, 2), search->in, n);
    const struct plim_view order = plim_view_flat(plim_pointer_at(p, 3), PLIM_ELEMENT_I64, n);
    ret->has_order = plim_pointer_at(p, 3) != NULL;
    ret->is_right = plim_flag_at(p, 7);
    if (!plim_view_read(&values, &ret->values))
        return false;
    if (!ret->has_order || plim_view_read(&order, &ret->order))
        return true;
    plim_array_free(&ret->values);
    return false;
}

static void search_all(const struct boundaries *b, const struct plim_array *in, uint64_t row, uint64_t n_boundaries,
                       bool is_1d, struct plim_array *out)
{
    enum plim_shadow_known known = b->values.known;
    if (b->has_order)
        known = plim_less_known(known, b->order.known);
    for (uint64_t i = 0; i < out->n; i++) {
        const uint64_t start = is_1d ? 0 : i / row * n_boundaries;
        const double value = plim_element_as_double(in->element, plim_array_at(in, i));
        out->number[i].i = (int64_t)position(b, start, n_boundaries, value);
        out->each[i] = (uint8_t)plim_less_known(known, plim_array_known_at(in, i));
    }
}

static void run(const void *parsed, const struct plim_kernel_launch *launch)
{
    const struct search *search = parsed;
    void *const *p = launch->parameters;
    const uint64_t row = plim_count_at(p, 4, 8), n_boundaries = plim_count_at(p, 5, 8), n = plim_count_at(p, 6, 8);
    const bool is_1d = plim_flag_at(p, 8);
    const struct plim_view to = plim_view_flat(plim_pointer_at(p, 0), search->out, n);
    const struct plim_view from = plim_view_flat(plim_pointer_at(p, 1), search->in, n);
    struct boundaries b = { .has_order = false };
    struct plim_array in, out;
    uint64_t n_all = n_boundaries;
    if (n == 0)
        return;
    plim_view_forget(&to);
    if (row == 0 || (!is_1d && __builtin_mul_overflow(n_boundaries, (n + row - 1) / row, &n_all)) ||
        !read_boundaries(search, p, n_all, &b))
        return;
    if (plim_view_read(&from, &in)) {
        if (plim_array_make(&out, PLIM_ELEMENT_I64, n, false)) {
            if (plim_array_make_each(&out)) {
                search_all(&b, &in, row, n_boundaries, is_1d, &out);
                plim_view_write(&to, &out);
            }
            plim_array_free(&out);
        }
        plim_array_free(&in);
    }
    if (b.has_order)
        plim_array_free(&b.order);
    plim_array_free(&b.values);
}

const struct plim_kernel_form plim_form_search_sorted = { "at::native::(anonymous namespace)::searchsorted_cuda_kernel",
                                                          parse, run };
