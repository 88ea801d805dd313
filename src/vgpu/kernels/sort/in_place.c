/* SPDX-License-Identifier: MIT */
/*
 * Sorts of keys and values in place, row by row (ATen/native/cuda/SortUtils.cuh; PyTorch 2.5 to 2.15):
 *   bitonicSortKVInPlace(keys, rows, length, key step, values, value step, comparator): rows of up to 32; the network
 *     is not stable, and what it does to equal keys is computed as it does it
 *   warpMergeSortKVInPlace(the same, filler): stable, by the comparator, which has NaN as the largest
 *   radixSortKVInPlace(keys, rows, length, key step, values, value step, descending): stable, by the keys' bits
 * keys and values are TensorInfo without the sorted dimension.
 */
#include "vgpu/kernels/forms.h"
#include "vgpu/kernels/parameters.h"
#include "vgpu/kernels/sort/digits.h"

#include <math.h>
#include <stdlib.h>

enum kind { BITONIC, MERGE, RADIX };

struct rows_sort {
    enum kind kind;
    enum plim_element key, value;
    unsigned index_bytes;
    bool is_descending; /* of RADIX: a parameter */
    unsigned n_network; /* of BITONIC: the elements that the network sorts */
};

static void *parse(struct plim_text name, const char *kernel, enum kind kind)
{
    struct plim_text arguments, text;
    struct rows_sort *sort = calloc(1, sizeof *sort);
    if (!sort || !plim_name_template(name, kernel, &arguments)) {
        free(sort);
        return NULL;
    }
    sort->kind = kind;
    sort->key = plim_name_template_element(name, kernel, 4);
    sort->value = plim_name_template_element(name, kernel, 5);
    if (plim_name_argument(arguments, kind == RADIX ? 6 : 7, &text))
        sort->index_bytes = plim_element_bytes(plim_name_element(text));
    bool is_right = sort->key && sort->value && (sort->index_bytes == 4 || sort->index_bytes == 8);
    if (kind != RADIX && plim_name_argument(arguments, 6, &text)) {
        sort->is_descending = plim_text_has(text, "::GTOp<");
        is_right = is_right && plim_text_has(text, sort->is_descending ? "::GTOp<" : "::LTOp<") &&
                   plim_text_has(text, ", true>");
    }
    if (kind == BITONIC) {
        const long n_threads = plim_name_argument(arguments, 2, &text) ? plim_name_number(text) : -1;
        is_right = is_right && n_threads > 0 && n_threads <= 1024 && (n_threads & (n_threads - 1)) == 0;
        sort->n_network = is_right ? 2 * (unsigned)n_threads : 0;
    }
    if (is_right)
        return sort;
    free(sort);
    return NULL;
}

static void *parse_bitonic(struct plim_text name) { return parse(name, "bitonicSortKVInPlace", BITONIC); }
static void *parse_merge(struct plim_text name) { return parse(name, "warpMergeSortKVInPlace", MERGE); }
static void *parse_radix(struct plim_text name) { return parse(name, "radixSortKVInPlace", RADIX); }

/* --- one row --- */

struct item {
    union plim_scalar key, value;
    uint64_t digits, place;
    bool is_valid;
};

/* What is larger comes first in a descending order; NaN is the largest. */
static bool comes_before(bool is_float, bool is_descending, union plim_scalar a, union plim_scalar b)
{
    const union plim_scalar low = is_descending ? b : a, high = is_descending ? a : b;
    return is_float ? low.f < high.f || (isnan(high.f) && !isnan(low.f)) : low.i < high.i;
}

static void swap_if(const struct rows_sort *sort, struct item *a, struct item *b, bool direction)
{
    const bool is_float = plim_element_is_float(sort->key);
    const bool is_before = (comes_before(is_float, sort->is_descending, a->key, b->key) && a->is_valid) || !b->is_valid;
    if (is_before == direction) {
        const struct item old = *a;
        *a = *b;
        *b = old;
    }
}

/* All threads of a step, one after the other: they swap different pairs. */
static void step(const struct rows_sort *sort, struct item *items, unsigned stride, unsigned direction_bit)
{
    for (unsigned thread = 0; thread < sort->n_network / 2; thread++) {
        const unsigned at = 2 * thread - (thread & (stride - 1));
        swap_if(sort, &items[at], &items[at + stride], (thread & direction_bit) != 0);
    }
}

static void sort_by_network(const struct rows_sort *sort, struct item *items)
{
    for (unsigned size = 2; size < sort->n_network; size *= 2)
        for (unsigned stride = size / 2; stride > 0; stride /= 2)
            step(sort, items, stride, size / 2);
    for (unsigned stride = sort->n_network / 2; stride > 0; stride /= 2)
        step(sort, items, stride, 0);
}

static int by_digits(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    return x->digits != y->digits ? (x->digits < y->digits ? -1 : 1) : x->place < y->place ? -1 : 1;
}

/* Bits in the order of the comparator: all NaN are alike. */
static uint64_t digits_of(const struct rows_sort *sort, bool is_descending, union plim_scalar key)
{
    uint8_t bytes[8] = { 0 };
    if (sort->kind == MERGE && plim_element_is_float(sort->key) && isnan(key.f))
        return is_descending ? 0 : UINT64_MAX;
    plim_element_store(sort->key, bytes, key);
    return plim_digits_of(sort->key, is_descending, bytes);
}

static void sort_row(const struct rows_sort *sort, bool is_descending, struct item *items, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        items[i].is_valid = true;
        items[i].place = i;
        items[i].digits = sort->kind == BITONIC ? 0 : digits_of(sort, is_descending, items[i].key);
    }
    for (uint64_t i = n; i < sort->n_network; i++)
        items[i] = (struct item){ .is_valid = false };
    if (sort->kind == BITONIC)
        sort_by_network(sort, items);
    else
        qsort(items, n, sizeof *items, by_digits);
}

/* --- all rows --- */

/* The sorted dimension becomes the fastest. */
static bool add_dimension(struct plim_view *view, uint64_t n, uint64_t step_elements)
{
    int64_t step_bytes;
    return step_elements <= INT64_MAX &&
           !__builtin_mul_overflow((int64_t)step_elements, (int64_t)plim_element_bytes(view->element), &step_bytes) &&
           plim_view_add_fastest(view, n, step_bytes);
}

static bool make_wide(const struct plim_array *from, struct plim_array *to)
{
    if (!plim_array_make(to, from->element, from->n, false))
        return false;
    if (!plim_array_make_each(to)) {
        plim_array_free(to);
        return false;
    }
    for (uint64_t i = 0; i < from->n; i++) {
        to->number[i] = plim_array_at(from, i);
        to->each[i] = (uint8_t)plim_array_known_at(from, i);
    }
    return true;
}

static bool sort_rows(const struct rows_sort *sort, bool is_descending, struct plim_array *keys,
                      struct plim_array *values, uint64_t n_row)
{
    const uint64_t n_items = n_row > sort->n_network ? n_row : sort->n_network;
    struct item *items = malloc(n_items * sizeof *items);
    for (uint64_t first = 0; items && first + n_row <= keys->n; first += n_row) {
        enum plim_shadow_known known = PLIM_SHADOW_KNOWN;
        for (uint64_t i = 0; i < n_row; i++) {
            items[i].key = keys->number[first + i];
            items[i].value = values->number[first + i];
            known = plim_less_known(known, (enum plim_shadow_known)keys->each[first + i]);
            known = plim_less_known(known, (enum plim_shadow_known)values->each[first + i]);
        }
        sort_row(sort, is_descending, items, n_row);
        for (uint64_t i = 0; i < n_row; i++) {
            keys->number[first + i] = items[i].key;
            values->number[first + i] = items[i].value;
            keys->each[first + i] = values->each[first + i] = (uint8_t)known;
        }
    }
    free(items);
    return items != NULL;
}

/* Equal keys stay where they are; the values are only as certain as the keys. */
static bool keep_order(const struct plim_array *keys, const struct plim_view *value_view, struct plim_array *values)
{
    if (keys->known == PLIM_SHADOW_KNOWN)
        return true;
    if (values->n > PLIM_SORT_MAX_GUESSES) {
        plim_view_forget(value_view);
        return true;
    }
    for (uint64_t i = 0; values->each && i < values->n; i++)
        values->each[i] = (uint8_t)plim_less_known(keys->known, (enum plim_shadow_known)values->each[i]);
    values->known = plim_less_known(keys->known, values->known);
    plim_view_write(value_view, values);
    return true;
}

static bool sort_views(const struct rows_sort *sort, bool is_descending, const struct plim_view *key_view,
                       const struct plim_view *value_view, uint64_t n_row)
{
    struct plim_array read[2], keys, values;
    bool is_done = false;
    if (!plim_view_read(key_view, &read[0]))
        return false;
    if (plim_view_read(value_view, &read[1])) {
        if (read[0].is_constant && sort->kind != BITONIC) {
            is_done = keep_order(&read[0], value_view, &read[1]);
        } else if (make_wide(&read[0], &keys)) {
            if (make_wide(&read[1], &values)) {
                is_done = sort_rows(sort, is_descending, &keys, &values, n_row);
                if (is_done) {
                    plim_view_write(key_view, &keys);
                    plim_view_write(value_view, &values);
                }
                plim_array_free(&values);
            }
            plim_array_free(&keys);
        }
        plim_array_free(&read[1]);
    }
    plim_array_free(&read[0]);
    return is_done;
}

static void run(const void *parsed, const struct plim_kernel_launch *launch)
{
    const struct rows_sort *sort = parsed;
    void *const *p = launch->parameters;
    struct plim_view keys, values;
    const uint64_t n_rows = plim_count_at(p, 1, sort->index_bytes), n_row = plim_count_at(p, 2, sort->index_bytes);
    const bool is_descending = sort->kind == RADIX ? plim_flag_at(p, 6) : sort->is_descending;
    if (n_row == 0 || !plim_view_of_info(p[0], sort->key, sort->index_bytes, &keys) ||
        !plim_view_of_info(p[4], sort->value, sort->index_bytes, &values))
        return;
    const bool is_right = plim_view_n(&keys) == n_rows && plim_view_n(&values) == n_rows &&
                          add_dimension(&keys, n_row, plim_count_at(p, 3, sort->index_bytes)) &&
                          add_dimension(&values, n_row, plim_count_at(p, 5, sort->index_bytes)) &&
                          (sort->kind != BITONIC || n_row <= sort->n_network);
    if (!is_right || !sort_views(sort, is_descending, &keys, &values, n_row)) {
        plim_view_forget(&keys);
        plim_view_forget(&values);
    }
}

const struct plim_kernel_form plim_form_sort_bitonic = { "at::native::bitonicSortKVInPlace", parse_bitonic, run };
const struct plim_kernel_form plim_form_sort_merge = { "at::native::warpMergeSortKVInPlace", parse_merge, run };
const struct plim_kernel_form plim_form_sort_radix = { "at::native::radixSortKVInPlace", parse_radix, run };
