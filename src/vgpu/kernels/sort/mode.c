/* SPDX-License-Identifier: MIT */
/*
 * The most frequent value of each row (ATen/native/cuda/TensorModeKernel.cuh; PyTorch 2.5 to 2.15):
 *   compute_mode<T, threads>(const in, values, indices, int64 length, int64 rows)
 * Of several, the smallest; its index is that of its last occurrence. values and indices are TensorInfo without the
 * dimension of the rows. Longer rows go through Thrust and are not known.
 */
#include "vgpu/kernels/forms.h"
#include "vgpu/kernels/parameters.h"

#include <math.h>
#include <stdlib.h>

enum { INDEX_BYTES = 4 };

struct mode {
    enum plim_element element;
};

static void *parse(struct plim_text name)
{
    struct mode *mode = calloc(1, sizeof *mode);
    if (mode && (mode->element = plim_name_template_element(name, "compute_mode", 0)))
        return mode;
    free(mode);
    return NULL;
}

struct item {
    union plim_scalar value;
    uint64_t index;
};

static int by_float(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    return x->value.f != y->value.f ? (x->value.f < y->value.f ? -1 : 1) : x->index < y->index ? -1 : 1;
}

static int by_integer(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    return x->value.i != y->value.i ? (x->value.i < y->value.i ? -1 : 1) : x->index < y->index ? -1 : 1;
}

/* The last of the longest run of equal items. */
static const struct item *most_frequent(struct item *items, uint64_t n, bool is_float)
{
    uint64_t best = 0, n_best = 0, n_run = 0;
    qsort(items, n, sizeof *items, is_float ? by_float : by_integer);
    for (uint64_t i = 0; i < n; i++) {
        const bool goes_on =
            i > 0 && (is_float ? items[i].value.f == items[i - 1].value.f : items[i].value.i == items[i - 1].value.i);
        n_run = goes_on ? n_run + 1 : 1;
        if (n_run > n_best) {
            n_best = n_run;
            best = i;
        }
    }
    return &items[best];
}

static void find(const struct plim_array *in, uint64_t row, uint64_t length, struct item *items,
                 struct plim_array *values, struct plim_array *indices)
{
    const bool is_float = plim_element_is_float(in->element);
    enum plim_shadow_known known = PLIM_SHADOW_KNOWN;
    for (uint64_t i = 0; i < length; i++) {
        items[i] = (struct item){ plim_array_at(in, row * length + i), i };
        known = plim_less_known(known, plim_array_known_at(in, row * length + i));
        if (is_float && isnan(items[i].value.f)) { /* the card's order of NaN is none */
            items[i].value.f = 0;
            known = PLIM_SHADOW_UNKNOWN;
        }
    }
    const struct item *found = most_frequent(items, length, is_float);
    values->number[row] = found->value;
    indices->number[row].i = (int64_t)found->index;
    values->each[row] = indices->each[row] = (uint8_t)known;
}

static void find_all(const struct plim_array *in, uint64_t n_rows, uint64_t length, const struct plim_view *value_view,
                     const struct plim_view *index_view)
{
    struct plim_array values, indices;
    struct item *items = malloc(length * sizeof *items);
    if (items && plim_array_make(&values, in->element, n_rows, false)) {
        if (plim_array_make(&indices, PLIM_ELEMENT_I64, n_rows, false)) {
            if (plim_array_make_each(&values) && plim_array_make_each(&indices)) {
                for (uint64_t row = 0; row < n_rows; row++)
                    find(in, row, length, items, &values, &indices);
                plim_view_write(value_view, &values);
                plim_view_write(index_view, &indices);
            }
            plim_array_free(&indices);
        }
        plim_array_free(&values);
    }
    free(items);
}

static void run(const void *parsed, const struct plim_kernel_launch *launch)
{
    const struct mode *mode = parsed;
    void *const *p = launch->parameters;
    const uint64_t length = plim_count_at(p, 3, 8), n_rows = plim_count_at(p, 4, 8);
    struct plim_view values, indices;
    struct plim_array in;
    uint64_t n;
    if (!plim_view_of_info(p[1], mode->element, INDEX_BYTES, &values) ||
        !plim_view_of_info(p[2], PLIM_ELEMENT_I64, INDEX_BYTES, &indices))
        return;
    plim_view_forget(&values);
    plim_view_forget(&indices);
    if (length == 0 || __builtin_mul_overflow(length, n_rows, &n) || n > PLIM_VIEW_MAX_ELEMENTS ||
        plim_view_n(&values) != n_rows || plim_view_n(&indices) != n_rows)
        return;
    const struct plim_view in_view = plim_view_flat(plim_pointer_at(p, 0), mode->element, n);
    if (!plim_view_read(&in_view, &in))
        return;
    if (!in.is_constant || in.known != PLIM_SHADOW_UNKNOWN)
        find_all(&in, n_rows, length, &values, &indices);
    plim_array_free(&in);
}

const struct plim_kernel_form plim_form_mode = { "at::native::compute_mode", parse, run };
