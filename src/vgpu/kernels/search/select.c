/* SPDX-License-Identifier: MIT */
/*
 * One element of each row, by its rank: gatherMedian and gatherKthValue (ATen/native/cuda/Sorting.cu; PyTorch 2.5 to
 * 2.15). Which of several equal elements is found is not defined; here it is the first of them by rank.
 */
#include "vgpu/kernels/forms.h"
#include "vgpu/kernels/parameters.h"

#include <math.h>
#include <stdlib.h>

struct selection {
    enum plim_element element;
    unsigned index_bytes;
};

/* A row: its elements are `step` bytes apart. */
struct chosen {
    struct plim_view values, indices, in; /* the input without the dimension that is selected from */
    uint64_t n_slice, n_slices;
    int64_t step_bytes;
    uint64_t rank; /* from 1; of the median: 0 */
    bool ignores_nan;
};

static void *parse_of(struct plim_text name, const char *function)
{
    struct plim_text arguments, index;
    struct selection *selection = calloc(1, sizeof *selection);
    if (selection && plim_name_template(name, function, &arguments) && plim_name_argument(arguments, 1, &index)) {
        selection->element = plim_name_template_element(name, function, 0);
        selection->index_bytes = plim_element_bytes(plim_name_element(index));
        if (selection->element && (selection->index_bytes == 4 || selection->index_bytes == 8))
            return selection;
    }
    free(selection);
    return NULL;
}

static void *parse_median(struct plim_text name) { return parse_of(name, "gatherMedian"); }
static void *parse_kth(struct plim_text name) { return parse_of(name, "gatherKthValue"); }

/* --- a row --- */

struct item {
    double value;
    uint64_t index;
};

/* NaN is the largest. */
static int by_value(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    const bool x_nan = isnan(x->value), y_nan = isnan(y->value);
    if (x_nan || y_nan)
        return x_nan != y_nan ? x_nan - y_nan : x->index < y->index ? -1 : 1;
    return x->value != y->value ? (x->value < y->value ? -1 : 1) : x->index < y->index ? -1 : 1;
}

static const struct item *choose(struct item *items, uint64_t n, const struct chosen *chosen)
{
    uint64_t n_nan = 0, rank = chosen->rank;
    qsort(items, n, sizeof *items, by_value);
    while (n_nan < n && isnan(items[n - 1 - n_nan].value))
        n_nan++;
    if (rank == 0) /* the lower median; of a row with NaN, NaN, unless they are ignored */
        rank = n_nan && !chosen->ignores_nan ? n - n_nan + 1 : (n - (chosen->ignores_nan ? n_nan : 0) + 1) / 2;
    return &items[rank > 0 && rank <= n ? rank - 1 : 0];
}

static bool choose_all(const struct chosen *chosen, struct plim_array *values, struct plim_array *indices)
{
    struct plim_view rows = chosen->in;
    struct plim_array in;
    const uint64_t n = chosen->n_slice;
    for (unsigned i = rows.n_dimensions; i > 0; i--) { /* the selected dimension becomes the fastest */
        rows.size[i] = rows.size[i - 1];
        rows.stride_bytes[i] = rows.stride_bytes[i - 1];
    }
    rows.size[0] = (int64_t)n;
    rows.stride_bytes[0] = chosen->step_bytes;
    rows.n_dimensions++;
    struct item *items = n <= PLIM_VIEW_MAX_ELEMENTS ? malloc(n * sizeof *items) : NULL;
    if (!items || plim_view_n(&rows) > PLIM_VIEW_MAX_ELEMENTS || !plim_view_read(&rows, &in)) {
        free(items);
        return false;
    }
    for (uint64_t row = 0; row < chosen->n_slices; row++) {
        enum plim_shadow_known known = PLIM_SHADOW_KNOWN;
        for (uint64_t i = 0; i < n; i++) {
            const uint64_t at = row * n + i;
            items[i] = (struct item){ plim_element_as_double(in.element, plim_array_at(&in, at)), i };
            known = plim_less_known(known, plim_array_known_at(&in, at));
        }
        const struct item *found = choose(items, n, chosen);
        indices->number[row].i = (int64_t)found->index;
        values->number[row] = plim_array_at(&in, row * n + found->index);
        values->each[row] = indices->each[row] = (uint8_t)known;
    }
    free(items);
    plim_array_free(&in);
    return true;
}

static void select_all(const struct chosen *chosen)
{
    struct plim_array values, indices;
    plim_view_forget(&chosen->values);
    plim_view_forget(&chosen->indices);
    if (chosen->n_slices == 0 || chosen->n_slice == 0 || plim_view_n(&chosen->values) != chosen->n_slices ||
        chosen->in.n_dimensions >= PLIM_VIEW_MAX_DIMENSIONS ||
        !plim_array_make(&values, chosen->values.element, chosen->n_slices, false))
        return;
    if (plim_array_make(&indices, PLIM_ELEMENT_I64, chosen->n_slices, false)) {
        if (plim_array_make_each(&values) && plim_array_make_each(&indices) && choose_all(chosen, &values, &indices)) {
            plim_view_write(&chosen->values, &values);
            plim_view_write(&chosen->indices, &indices);
        }
        plim_array_free(&indices);
    }
    plim_array_free(&values);
}

/* --- launches --- */

/* gatherMedian(values, indices, in, inputSliceSize, numInputSlices, inputWithinSliceStride, ignore_nan) */
static void run_median(const void *parsed, const struct plim_kernel_launch *launch)
{
    const struct selection *s = parsed;
    void *const *p = launch->parameters;
    struct chosen chosen = { .rank = 0, .ignores_nan = plim_flag_at(p, 6) };
    chosen.n_slice = plim_count_at(p, 3, s->index_bytes);
    chosen.n_slices = plim_count_at(p, 4, s->index_bytes);
    chosen.step_bytes = (int64_t)(plim_count_at(p, 5, s->index_bytes) * plim_element_bytes(s->element));
    if (plim_view_of_info(p[0], s->element, s->index_bytes, &chosen.values) &&
        plim_view_of_info(p[1], PLIM_ELEMENT_I64, s->index_bytes, &chosen.indices) &&
        plim_view_of_info(p[2], s->element, s->index_bytes, &chosen.in))
        select_all(&chosen);
}

/* gatherKthValue(in, inputSliceSize, k, numInputSlices, inputWithinSliceStride, values, indices) */
static void run_kth(const void *parsed, const struct plim_kernel_launch *launch)
{
    const struct selection *s = parsed;
    void *const *p = launch->parameters;
    struct chosen chosen = { .rank = plim_count_at(p, 2, s->index_bytes) };
    chosen.n_slice = plim_count_at(p, 1, s->index_bytes);
    chosen.n_slices = plim_count_at(p, 3, s->index_bytes);
    chosen.step_bytes = (int64_t)(plim_count_at(p, 4, s->index_bytes) * plim_element_bytes(s->element));
    if (plim_view_of_info(p[5], s->element, s->index_bytes, &chosen.values) &&
        plim_view_of_info(p[6], PLIM_ELEMENT_I64, s->index_bytes, &chosen.indices) &&
        plim_view_of_info(p[0], s->element, s->index_bytes, &chosen.in))
        select_all(&chosen);
}

const struct plim_kernel_form plim_form_median = { "at::native::(anonymous namespace)::gatherMedian", parse_median,
                                                   run_median };
const struct plim_kernel_form plim_form_kth_value = { "at::native::(anonymous namespace)::gatherKthValue", parse_kth,
                                                      run_kth };
