/* SPDX-License-Identifier: MIT */
/*
 * Merge sorts by CUB, and differences of neighbours: unique(dim=...), sort_by_key of embedding's gradients.
 *   DeviceMergeSortBlockSortKernel(ping, keys, items, keys out, items out, n, other keys, other items, less, ...): with
 *     ping to `out`, else to `other`
 *   DeviceMergeSortMergeKernel(ping, keys, items, n, other keys, other items, less, ...): with ping from the first to
 *     the other, else back
 *   DeviceAdjacentDifferenceDifferenceKernel(in, last of tiles, out, functor, n): out[0] = in[0],
 *     out[i] = functor(in[i], in[i - 1])
 * The first kernel sorts everything at once, stably; then merging is copying. CCCL 2.3, 2.7 and 3.3
 * (cub/device/dispatch/dispatch_merge_sort.cuh, dispatch_adjacent_difference.cuh).
 */
#include "vgpu/kernels/cub/iterator.h"
#include "vgpu/kernels/cub/relation.h"
#include "vgpu/kernels/forms.h"
#include "vgpu/kernels/parameters.h"
#include "vgpu/values/policy.h"

#include <stdlib.h>

struct merge_sort {
    struct plim_iterator keys, items; /* pointers; items of kind NONE: there are none */
    struct plim_relation less;
    struct plim_text n_type;
};

static bool pointer_of(struct plim_text parameters, unsigned at, struct plim_iterator *ret_iterator)
{
    struct plim_text type;
    return plim_name_argument(parameters, at, &type) && plim_iterator_of(type, ret_iterator) &&
           ret_iterator->kind <= PLIM_ITERATOR_POINTER && ret_iterator->offset == 0 &&
           (ret_iterator->kind == PLIM_ITERATOR_NONE || ret_iterator->element != PLIM_ELEMENT_NONE);
}

static void *parse_of(struct plim_text name, unsigned n_at, unsigned less_at)
{
    struct merge_sort *sort = calloc(1, sizeof *sort);
    const struct plim_text parameters = plim_name_parameters(name);
    struct plim_text type;
    if (sort && pointer_of(parameters, 1, &sort->keys) && sort->keys.kind == PLIM_ITERATOR_POINTER &&
        pointer_of(parameters, 2, &sort->items) && plim_name_argument(parameters, n_at, &sort->n_type) &&
        plim_name_argument(parameters, less_at, &type) && plim_relation_of(type, &sort->less))
        return sort;
    free(sort);
    return NULL;
}

static void *parse_sort(struct plim_text name) { return parse_of(name, 5, 8); }
static void *parse_merge(struct plim_text name) { return parse_of(name, 3, 6); }

/* --- sorting --- */

static void merge(const struct plim_judge *less, const struct plim_array *keys, const uint64_t *from, uint64_t *to,
                  uint64_t start, uint64_t middle, uint64_t end)
{
    uint64_t a = start, b = middle;
    for (uint64_t i = start; i < end; i++) {
        const bool takes_b = a >= middle || (b < end && plim_judge_holds(less, plim_array_at(keys, from[b]),
                                                                         plim_array_at(keys, from[a])));
        to[i] = from[takes_b ? b++ : a++];
    }
}

/* The order of the keys, in one of the two halves of `room`. */
static const uint64_t *order_of(const struct plim_judge *less, const struct plim_array *keys, uint64_t *room)
{
    const uint64_t n = keys->n;
    uint64_t *from = room, *to = room + n;
    for (uint64_t i = 0; i < n; i++)
        from[i] = i;
    const bool is_sorted = keys->is_constant || plim_judge_is_constant(less);
    for (uint64_t length = 1; length < n && !is_sorted; length *= 2) {
        for (uint64_t i = 0; i < n; i += 2 * length) {
            const uint64_t middle = i + length < n ? i + length : n, end = middle + length < n ? middle + length : n;
            merge(less, keys, from, to, i, middle, end);
        }
        uint64_t *const sorted = to;
        to = from;
        from = sorted;
    }
    return from;
}

static bool write_in_order(const struct plim_iterator *to, const void *parameter, const struct plim_array *array,
                           const uint64_t *order, enum plim_shadow_known known)
{
    struct plim_array out;
    if (!plim_array_make(&out, array->element, array->n, false))
        return false;
    for (uint64_t i = 0; i < array->n; i++)
        out.number[i] = plim_array_at(array, order[i]);
    out.known = plim_less_known(known, array->known);
    plim_iterator_write(to, parameter, &out);
    plim_array_free(&out);
    return true;
}

static bool sort_by(const struct merge_sort *sort, const struct plim_judge *less, void *const *p,
                    const struct plim_array *keys, unsigned keys_to, unsigned items_to)
{
    struct plim_array items;
    uint64_t *room = calloc(2 * keys->n + 1, sizeof *room);
    const enum plim_shadow_known known = plim_less_known(less->known, keys->known);
    if (!room)
        return false;
    const uint64_t *order = order_of(less, keys, room);
    bool is_done = true;
    if (sort->items.kind == PLIM_ITERATOR_POINTER) {
        is_done = plim_iterator_read(&sort->items, p[2], keys->n, &items);
        if (is_done) {
            is_done = write_in_order(&sort->items, p[items_to], &items, order, known);
            plim_array_free(&items);
        }
    }
    is_done = is_done && write_in_order(&sort->keys, p[keys_to], keys, order, known);
    free(room);
    return is_done;
}

static void run_sort(const void *parsed, const struct plim_kernel_launch *launch)
{
    const struct merge_sort *sort = parsed;
    void *const *p = launch->parameters;
    const uint64_t n = plim_parameter_count(sort->n_type, p[5]);
    const unsigned keys_to = plim_flag_at(p, 0) ? 3 : 6, items_to = plim_flag_at(p, 0) ? 4 : 7;
    struct plim_array keys;
    struct plim_judge less;
    bool is_done = false;
    if (n > 0 && n <= PLIM_VIEW_MAX_ELEMENTS && plim_iterator_read(&sort->keys, p[1], n, &keys)) {
        if (plim_judge_begin(&sort->less, p[8], keys.element, n, &less)) {
            is_done = sort_by(sort, &less, p, &keys, keys_to, items_to);
            plim_judge_end(&less);
        }
        plim_array_free(&keys);
    }
    if (!is_done) {
        plim_iterator_forget(&sort->keys, p[keys_to], n);
        plim_iterator_forget(&sort->items, p[items_to], n);
    }
}

/* --- merging what is sorted --- */

static void copy(const struct plim_iterator *iterator, void *const *p, unsigned from_at, unsigned to_at, uint64_t n)
{
    const void *from = plim_iterator_pointer(iterator, p[from_at]);
    void *to = plim_iterator_pointer(iterator, p[to_at]);
    if (n <= SIZE_MAX / 16 && plim_view_is_memory(from) && plim_view_is_memory(to))
        plim_shadow_move(to, from, n * iterator->width);
}

static void run_merge(const void *parsed, const struct plim_kernel_launch *launch)
{
    const struct merge_sort *sort = parsed;
    void *const *p = launch->parameters;
    const uint64_t n = plim_parameter_count(sort->n_type, p[3]);
    const bool is_ping = plim_flag_at(p, 0);
    copy(&sort->keys, p, is_ping ? 1 : 4, is_ping ? 4 : 1, n);
    copy(&sort->items, p, is_ping ? 2 : 5, is_ping ? 5 : 2, n);
}

/* --- differences --- */

struct difference {
    struct plim_iterator in, out;
    struct plim_relation relation; /* NONE: a minus */
    struct plim_text n_type;
};

static void *parse_difference(struct plim_text name)
{
    struct difference *difference = calloc(1, sizeof *difference);
    const struct plim_text parameters = plim_name_parameters(name);
    struct plim_text type;
    if (difference && pointer_of(parameters, 0, &difference->in) && pointer_of(parameters, 2, &difference->out) &&
        difference->in.kind == PLIM_ITERATOR_POINTER && difference->out.kind == PLIM_ITERATOR_POINTER &&
        plim_name_argument(parameters, 4, &difference->n_type) && plim_name_argument(parameters, 3, &type) &&
        (plim_relation_of(type, &difference->relation) || plim_text_has(type, "::minus<")))
        return difference;
    free(difference);
    return NULL;
}

static union plim_scalar subtract(bool is_float, union plim_scalar a, union plim_scalar b)
{
    union plim_scalar result;
    if (is_float)
        result.f = a.f - b.f;
    else
        result.i = (int64_t)((uint64_t)a.i - (uint64_t)b.i);
    return result;
}

/* By the policy, rows that are guesses differ, as unique takes them. */
static bool is_guess_taken(enum plim_shadow_known known)
{
    return known != PLIM_SHADOW_KNOWN && plim_values_policy() == PLIM_VALUES_MAX;
}

static void differ(const struct difference *difference, const struct plim_judge *judge, const struct plim_array *in,
                   struct plim_array *out)
{
    const bool is_float = plim_element_is_float(in->element),
               is_minus = difference->relation.kind == PLIM_RELATION_NONE;
    for (uint64_t i = 0; i < in->n; i++) {
        const union plim_scalar number = plim_array_at(in, i), before = plim_array_at(in, i > 0 ? i - 1 : 0);
        enum plim_shadow_known known = plim_array_known_at(in, i);
        out->number[i] = number;
        if (i > 0) {
            known = plim_less_known(judge->known, plim_less_known(known, plim_array_known_at(in, i - 1)));
            if (is_minus)
                out->number[i] = subtract(is_float, number, before);
            else
                out->number[i].i = plim_judge_holds(judge, number, before) || is_guess_taken(known);
        }
        out->each[i] = (uint8_t)known;
    }
}

static bool differ_all(const struct difference *difference, void *const *p, uint64_t n)
{
    struct plim_array in, out;
    struct plim_judge judge;
    bool is_done = false;
    if (n > PLIM_VIEW_MAX_ELEMENTS || !plim_iterator_read(&difference->in, p[0], n, &in))
        return false;
    if (plim_judge_begin(&difference->relation, p[3], in.element, n, &judge)) {
        if (plim_array_make(&out, in.element, n, false)) {
            is_done = plim_array_make_each(&out);
            if (is_done) {
                differ(difference, &judge, &in, &out);
                plim_iterator_write(&difference->out, p[2], &out);
            }
            plim_array_free(&out);
        }
        plim_judge_end(&judge);
    }
    plim_array_free(&in);
    return is_done;
}

static void run_difference(const void *parsed, const struct plim_kernel_launch *launch)
{
    const struct difference *difference = parsed;
    const uint64_t n = plim_parameter_count(difference->n_type, launch->parameters[4]);
    if (n > 0 && !differ_all(difference, launch->parameters, n))
        plim_iterator_forget(&difference->out, launch->parameters[2], n);
}

const struct plim_kernel_form plim_form_cub_merge_sort = { "DeviceMergeSortBlockSortKernel", parse_sort, run_sort };
const struct plim_kernel_form plim_form_cub_merge = { "DeviceMergeSortMergeKernel", parse_merge, run_merge };
const struct plim_kernel_form plim_form_cub_difference = { "DeviceAdjacentDifferenceDifferenceKernel", parse_difference,
                                                           run_difference };
