/* SPDX-License-Identifier: MIT */
/*
 * The largest or smallest k of each row (ATen/native/cuda/TensorTopK.cu; PyTorch 2.5 to 2.15). Both kernels get the
 * input and write the result: those beyond the k-th value in their order, then the first of those equal to it.
 *   sbtopk::gatherTopK(in, length, k, largest, rows, step, values, value step, indices, index step, kth values)
 *   mbtopk::gatherTopK(in, length, k, largest, rows, step, values, value step, indices, index step, ...): what it gets
 *     from the kernels before it (counts of digits) is not needed
 * in, values and indices are TensorInfo without the dimension of the rows. Values are compared as
 * ATen/native/cuda/SortingRadixSelect.cuh converts them: by their bits, NaN as the largest.
 */
#include "vgpu/kernels/forms.h"
#include "vgpu/kernels/parameters.h"
#include "vgpu/kernels/sort/digits.h"

#include <math.h>
#include <stdlib.h>

struct top_k {
    enum plim_element element;
    unsigned index_bytes;
};

static void *parse(struct plim_text name)
{
    struct plim_text arguments, index;
    struct top_k *top_k = calloc(1, sizeof *top_k);
    if (top_k && plim_name_template(name, "gatherTopK", &arguments) && plim_name_argument(arguments, 1, &index)) {
        top_k->element = plim_name_template_element(name, "gatherTopK", 0);
        top_k->index_bytes = plim_element_bytes(plim_name_element(index));
        if (top_k->element && (top_k->index_bytes == 4 || top_k->index_bytes == 8))
            return top_k;
    }
    free(top_k);
    return NULL;
}

struct search {
    struct plim_view in, values, indices; /* with the rows as the fastest dimension */
    uint64_t length, k, n_rows;
    bool is_largest;
};

/* Larger is more; -0 is less than 0 here. */
static uint64_t bits_of(enum plim_element element, bool is_largest, union plim_scalar number)
{
    uint8_t bytes[8] = { 0 };
    plim_element_store(element, bytes, number);
    uint64_t bits = plim_digits_of(element, false, bytes);
    if (plim_element_is_float(element) && isnan(number.f))
        bits = UINT64_MAX;
    else if (plim_element_is_float(element) && number.f == 0 && signbit(number.f))
        bits--;
    return is_largest ? bits : ~bits;
}

static int descending(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? 1 : x > y ? -1 : 0;
}

/* One row: bits has room for two rows. */
static void find(const struct search *search, const struct plim_array *in, uint64_t row, uint64_t *bits,
                 struct plim_array *values, struct plim_array *indices)
{
    uint64_t *const sorted = bits + search->length;
    enum plim_shadow_known known = PLIM_SHADOW_KNOWN;
    for (uint64_t i = 0; i < search->length; i++) {
        const uint64_t at = row * search->length + i;
        sorted[i] = bits[i] = bits_of(in->element, search->is_largest, plim_array_at(in, at));
        known = plim_less_known(known, plim_array_known_at(in, at));
    }
    if (!in->is_constant)
        qsort(sorted, search->length, sizeof *sorted, descending);
    const uint64_t kth = sorted[search->k - 1];
    uint64_t n = 0;
    for (unsigned is_equal = 0; is_equal < 2; is_equal++)
        for (uint64_t i = 0; i < search->length && n < search->k; i++)
            if (is_equal ? bits[i] == kth : bits[i] > kth) {
                const uint64_t at = row * search->k + n++;
                values->number[at] = plim_array_at(in, row * search->length + i);
                indices->number[at].i = (int64_t)i;
                values->each[at] = indices->each[at] = (uint8_t)known;
            }
}

static bool find_all(const struct search *search, const struct plim_array *in)
{
    const uint64_t n_out = search->n_rows * search->k;
    uint64_t *bits = malloc((2 * search->length + 1) * sizeof *bits);
    struct plim_array values, indices;
    bool is_done = false;
    if (bits && plim_array_make(&values, in->element, n_out, false)) {
        if (plim_array_make(&indices, PLIM_ELEMENT_I64, n_out, false)) {
            is_done = plim_array_make_each(&values) && plim_array_make_each(&indices);
            for (uint64_t row = 0; is_done && row < search->n_rows; row++)
                find(search, in, row, bits, &values, &indices);
            if (is_done) {
                plim_view_write(&search->values, &values);
                plim_view_write(&search->indices, &indices);
            }
            plim_array_free(&indices);
        }
        plim_array_free(&values);
    }
    free(bits);
    return is_done;
}

/* Of a constant row, the first k: one row is looked at for all. */
static bool find_constant(const struct search *search, const struct plim_array *in)
{
    struct plim_array values = *in, indices;
    values.number = &values.one;
    values.n = search->n_rows * search->k;
    if (!plim_array_make(&indices, PLIM_ELEMENT_I64, values.n, false))
        return false;
    for (uint64_t i = 0; i < indices.n; i++)
        indices.number[i].i = (int64_t)(i % search->k);
    indices.known = in->known;
    plim_view_write(&search->values, &values);
    plim_view_write(&search->indices, &indices);
    plim_array_free(&indices);
    return true;
}

static bool read_view(void *const *p, unsigned at, unsigned step_at, enum plim_element element, unsigned index_bytes,
                      uint64_t n, uint64_t n_rows, struct plim_view *ret_view)
{
    int64_t step;
    if (!plim_view_of_info(p[at], element, index_bytes, ret_view) || plim_view_n(ret_view) != n_rows ||
        __builtin_mul_overflow((int64_t)plim_count_at(p, step_at, index_bytes), (int64_t)plim_element_bytes(element),
                               &step))
        return false;
    return plim_view_add_fastest(ret_view, n, step);
}

static void run(const void *parsed, const struct plim_kernel_launch *launch)
{
    const struct top_k *top_k = parsed;
    const unsigned width = top_k->index_bytes;
    void *const *p = launch->parameters;
    struct search search = { .length = plim_count_at(p, 1, width),
                             .k = plim_count_at(p, 2, width),
                             .is_largest = plim_flag_at(p, 3),
                             .n_rows = plim_count_at(p, 4, width) };
    struct plim_array in;
    if (search.k == 0 || search.k > search.length ||
        !read_view(p, 6, 7, top_k->element, width, search.k, search.n_rows, &search.values) ||
        !read_view(p, 8, 9, PLIM_ELEMENT_I64, width, search.k, search.n_rows, &search.indices))
        return;
    bool is_done = false;
    if (read_view(p, 0, 5, top_k->element, width, search.length, search.n_rows, &search.in) &&
        plim_view_read(&search.in, &in)) {
        is_done = in.is_constant ? find_constant(&search, &in) : find_all(&search, &in);
        plim_array_free(&in);
    }
    if (!is_done) {
        plim_view_forget(&search.values);
        plim_view_forget(&search.indices);
    }
}

const struct plim_kernel_form plim_form_top_k = { "gatherTopK", parse, run };
