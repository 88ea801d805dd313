/* SPDX-License-Identifier: MIT */
/*
 * PyTorch's own kernels of unique (ATen/native/cuda/UniqueCub.cu; PyTorch 2.5 to 2.15):
 *   adjacent_difference_kernel(int64 n, in, int *out): out[i] = i > 0 && in[i] != in[i - 1]
 *   scatter_kernel(int64 n, const int64 *in, const int64 *indices, int64 *out): out[indices[i]] = in[i]
 * and of flags, whose unique values follow from their number and from how many are set:
 *   unique_bool_write_output(int n, const int *n_set, bool *out, int64 *counts)
 *   unique_bool_write_inverse_indices(int n, const int *n_set, const bool *in, int64 *out)
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

struct difference {
    struct plim_iterator in;
};

static void *parse_difference(struct plim_text name)
{
    struct difference *difference = calloc(1, sizeof *difference);
    struct plim_text type;
    if (difference && plim_name_argument(plim_name_parameters(name), 1, &type) &&
        plim_iterator_of(type, &difference->in) && difference->in.element != PLIM_ELEMENT_NONE)
        return difference;
    free(difference);
    return NULL;
}

/* By the policy, neighbours that are guesses differ. */
static bool is_guess_taken(enum plim_shadow_known known)
{
    return known != PLIM_SHADOW_KNOWN && plim_values_policy() == PLIM_VALUES_MAX;
}

static void differ(const struct plim_array *in, struct plim_array *out)
{
    const bool is_float = plim_element_is_float(in->element);
    for (uint64_t i = 1; i < in->n; i++) {
        const union plim_scalar a = plim_array_at(in, i - 1), b = plim_array_at(in, i);
        const enum plim_shadow_known known =
            plim_less_known(plim_array_known_at(in, i), plim_array_known_at(in, i - 1));
        out->number[i].i = (is_float ? a.f != b.f : a.i != b.i) || is_guess_taken(known);
        out->each[i] = (uint8_t)known;
    }
}

static void run_difference(const void *parsed, const struct plim_kernel_launch *launch)
{
    const struct difference *difference = parsed;
    void *const *p = launch->parameters;
    const uint64_t n = plim_count_at(p, 0, 8);
    const struct plim_view view = plim_view_flat(plim_pointer_at(p, 2), PLIM_ELEMENT_I32, n);
    struct plim_array in, out;
    if (n > PLIM_VIEW_MAX_ELEMENTS || !plim_iterator_read(&difference->in, p[1], n, &in)) {
        plim_view_forget(&view);
        return;
    }
    const bool is_same = in.is_constant && !in.each && !is_guess_taken(in.known);
    if (is_same && plim_array_make(&out, PLIM_ELEMENT_I64, n, true)) {
        out.known = in.known;
        plim_view_write(&view, &out);
    } else if (plim_array_make(&out, PLIM_ELEMENT_I64, n, false)) {
        if (plim_array_make_each(&out)) {
            differ(&in, &out);
            plim_view_write(&view, &out);
        }
        plim_array_free(&out);
    } else {
        plim_view_forget(&view);
    }
    plim_array_free(&in);
}

/* The indices are a permutation: all of the output is written. Out of range, they are guesses. */
static void run_scatter(const void *parsed, const struct plim_kernel_launch *launch)
{
    void *const *p = launch->parameters;
    const uint64_t n = plim_count_at(p, 0, 8);
    const struct plim_view in_view = plim_view_flat(plim_pointer_at(p, 1), PLIM_ELEMENT_I64, n),
                           index_view = plim_view_flat(plim_pointer_at(p, 2), PLIM_ELEMENT_I64, n),
                           view = plim_view_flat(plim_pointer_at(p, 3), PLIM_ELEMENT_I64, n);
    struct plim_array in, index, out;
    (void)parsed;
    plim_view_forget(&view);
    if (n > PLIM_VIEW_MAX_ELEMENTS || !plim_view_read(&in_view, &in))
        return;
    if (plim_view_read(&index_view, &index)) {
        if (in.is_constant) {
            in.known = plim_less_known(in.known, index.known);
            plim_view_write(&view, &in);
        } else if (plim_array_make(&out, PLIM_ELEMENT_I64, n, false)) {
            for (uint64_t i = 0; plim_array_make_each(&out) && i < n; i++) {
                const uint64_t at = (uint64_t)plim_array_at(&index, i).i;
                if (at >= n)
                    continue;
                out.number[at] = plim_array_at(&in, i);
                out.each[at] = (uint8_t)plim_less_known(index.known, plim_array_known_at(&in, i));
            }
            plim_view_write(&view, &out);
            plim_array_free(&out);
        }
        plim_array_free(&index);
    }
    plim_array_free(&in);
}

/* --- flags --- */

struct flags {
    int64_t n_set, n_clear;
    enum plim_shadow_known known;
};

static struct flags flags_of(void *const *p)
{
    int32_t n_set = 0;
    const void *pointer = plim_pointer_at(p, 1);
    struct flags flags = { .known = PLIM_SHADOW_UNKNOWN };
    const int64_t n = (int64_t)plim_count_at(p, 0, 4);
    if (plim_view_is_memory(pointer))
        flags.known = plim_shadow_read(&n_set, pointer, sizeof n_set);
    flags.n_set = n_set < 0 ? 0 : n_set > n ? n : n_set;
    flags.n_clear = n - flags.n_set;
    return flags;
}

static void run_flag_values(const void *parsed, const struct plim_kernel_launch *launch)
{
    void *const *p = launch->parameters;
    const struct flags flags = flags_of(p);
    const struct plim_view values = plim_view_flat(plim_pointer_at(p, 2), PLIM_ELEMENT_BOOL, 2),
                           counts = plim_view_flat(plim_pointer_at(p, 3), PLIM_ELEMENT_I64, 2);
    struct plim_array array;
    (void)parsed;
    const bool has_both = flags.n_set > 0 && flags.n_clear > 0;
    if (!plim_array_make(&array, PLIM_ELEMENT_I64, 2, false))
        return;
    array.known = flags.known;
    array.number[0].i = has_both ? 0 : flags.n_set > 0;
    array.number[1].i = has_both;
    plim_view_write(&values, &array);
    array.number[0].i = flags.n_clear > 0 ? flags.n_clear : flags.n_set;
    array.number[1].i = has_both ? flags.n_set : 0;
    plim_view_write(&counts, &array);
    plim_array_free(&array);
}

static void run_flag_places(const void *parsed, const struct plim_kernel_launch *launch)
{
    void *const *p = launch->parameters;
    const uint64_t n = plim_count_at(p, 0, 4);
    const struct flags flags = flags_of(p);
    const struct plim_view in_view = plim_view_flat(plim_pointer_at(p, 2), PLIM_ELEMENT_BOOL, n),
                           view = plim_view_flat(plim_pointer_at(p, 3), PLIM_ELEMENT_I64, n);
    struct plim_array in;
    (void)parsed;
    if (!plim_view_read(&in_view, &in)) {
        plim_view_forget(&view);
        return;
    }
    const uint64_t n_numbers = in.is_constant ? 1 : n;
    for (uint64_t i = 0; i < n_numbers; i++)
        in.number[i].i = flags.n_set > 0 && flags.n_clear > 0 && in.number[i].i;
    for (uint64_t i = 0; in.each && i < n; i++)
        in.each[i] = (uint8_t)plim_less_known(flags.known, (enum plim_shadow_known)in.each[i]);
    in.known = plim_less_known(flags.known, in.known);
    plim_view_write(&view, &in);
    plim_array_free(&in);
}

#define INTERNAL "at::native::internal::"
const struct plim_kernel_form plim_form_unique_difference = { INTERNAL
                                                              "(anonymous namespace)::adjacent_difference_kernel",
                                                              parse_difference, run_difference };
const struct plim_kernel_form plim_form_unique_scatter = { INTERNAL "(anonymous namespace)::scatter_kernel",
                                                           parse_always, run_scatter };
const struct plim_kernel_form plim_form_unique_flag_values = { INTERNAL "unique_bool_write_output", parse_always,
                                                               run_flag_values };
const struct plim_kernel_form plim_form_unique_flag_places = { INTERNAL "unique_bool_write_inverse_indices",
                                                               parse_always, run_flag_places };
