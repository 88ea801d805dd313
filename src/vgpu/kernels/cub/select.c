/* SPDX-License-Identifier: MIT */
/*
 * Selections by CUB: the indices of nonzero, unique, run lengths.
 *   DeviceSelectSweepKernel(in, flags, out, number selected, tile states, predicate, equality, n, tiles[, ...])
 *   DeviceUniqueByKeySweepKernel(keys, values, keys out, values out, number, tile states, equality, n, tiles[, ...])
 *   DeviceReduceByKeyKernel(keys, keys out, values, sums, number, tile states, first tile, equality, functor, n[, ...])
 *   DeviceCompactInitKernel(tile states, tiles, number): before each of them, the only one if there are no elements
 * CCCL 2.3, 2.7 and 3.3 (cub/device/dispatch/dispatch_{select_if,unique_by_key,reduce_by_key}.cuh). Thrust 2.3 and 2.7
 * have kernels of their own for unique and unique_by_key (thrust/system/cuda/detail/unique{,_by_key}.h):
 *   _kernel_agent<...UniqueAgent...>(in, out, equality, number, n, tile states, tiles)
 *   _kernel_agent<...UniqueByKeyAgent...>(keys, values, keys out, values out, equality, number, n, tile states, tiles)
 *   _kernel_agent<...InitAgent...>(tile states, tiles, number)
 * A selection by guesses takes what the values say, or everything: that is the policy.
 */
#include "vgpu/kernels/cub/iterator.h"
#include "vgpu/kernels/cub/operator.h"
#include "vgpu/kernels/cub/relation.h"
#include "vgpu/kernels/forms.h"
#include "vgpu/values/policy.h"

#include <stdlib.h>

enum { MAX_LANES = 2 };

struct selection {
    unsigned n_lanes;                             /* what is moved: elements, or keys and values */
    unsigned in_at[MAX_LANES], out_at[MAX_LANES]; /* numbers of the parameters */
    struct plim_iterator in[MAX_LANES], out[MAX_LANES];
    struct plim_iterator flags, number;
    unsigned flags_at, number_at, relation_at, n_at;
    struct plim_relation relation; /* NONE: by flags */
    bool is_sum;                   /* of lane 1, the values of a run are added up */
    struct plim_text n_type;
};

/* --- names --- */

static bool iterator_at(struct plim_text parameters, unsigned at, struct plim_iterator *ret_iterator)
{
    struct plim_text type;
    return plim_name_argument(parameters, at, &type) && plim_iterator_of(type, ret_iterator);
}

/* The positions are there: read the types. */
static void *complete(struct plim_text name, const struct selection *positions)
{
    struct selection *selection = malloc(sizeof *selection);
    const struct plim_text parameters = plim_name_parameters(name);
    struct plim_text type;
    if (!selection)
        return NULL;
    *selection = *positions;
    bool is_right = iterator_at(parameters, selection->number_at, &selection->number) &&
                    plim_name_argument(parameters, selection->n_at, &selection->n_type);
    for (unsigned i = 0; is_right && i < selection->n_lanes; i++)
        is_right = iterator_at(parameters, selection->in_at[i], &selection->in[i]) &&
                   iterator_at(parameters, selection->out_at[i], &selection->out[i]) &&
                   selection->in[i].element != PLIM_ELEMENT_NONE && selection->out[i].element != PLIM_ELEMENT_NONE;
    if (is_right && selection->flags_at)
        is_right = iterator_at(parameters, selection->flags_at, &selection->flags);
    if (is_right && selection->flags.kind == PLIM_ITERATOR_NONE)
        is_right = plim_name_argument(parameters, selection->relation_at, &type) &&
                   plim_relation_of(type, &selection->relation);
    if (is_right)
        return selection;
    free(selection);
    return NULL;
}

static void *parse_select(struct plim_text name)
{
    const struct selection positions = {
        .n_lanes = 1, .in_at = { 0 }, .flags_at = 1, .out_at = { 2 }, .number_at = 3, .relation_at = 6, .n_at = 7
    };
    struct plim_text predicate;
    if (!plim_name_argument(plim_name_parameters(name), 5, &predicate) || !plim_text_has(predicate, "NullType"))
        return NULL;
    return complete(name, &positions);
}

static void *parse_unique_by_key(struct plim_text name)
{
    const struct selection positions = {
        .n_lanes = 2, .in_at = { 0, 1 }, .out_at = { 2, 3 }, .number_at = 4, .relation_at = 6, .n_at = 7
    };
    return complete(name, &positions);
}

static void *parse_reduce_by_key(struct plim_text name)
{
    const struct selection positions = {
        .n_lanes = 2, .in_at = { 0, 2 }, .out_at = { 1, 3 }, .number_at = 4, .relation_at = 7, .n_at = 9, .is_sum = true
    };
    struct plim_text functor;
    if (!plim_name_argument(plim_name_parameters(name), 8, &functor) || plim_operator_of(functor) != PLIM_OPERATOR_SUM)
        return NULL;
    return complete(name, &positions);
}

static void *parse_agent(struct plim_text name)
{
    const struct selection unique = {
        .n_lanes = 1, .in_at = { 0 }, .out_at = { 1 }, .relation_at = 2, .number_at = 3, .n_at = 4
    };
    const struct selection by_key = {
        .n_lanes = 2, .in_at = { 0, 1 }, .out_at = { 2, 3 }, .relation_at = 4, .number_at = 5, .n_at = 6
    };
    return plim_text_has(name, "::UniqueByKeyAgent<") ? complete(name, &by_key)
           : plim_text_has(name, "::UniqueAgent<")    ? complete(name, &unique)
                                                      : NULL;
}

/* --- which elements --- */

/* For each element: whether it is selected, and how certain that is. */
struct choice {
    uint8_t *is_taken, *known;
};

static bool is_taken(bool by_value, enum plim_shadow_known known)
{
    return by_value || (known != PLIM_SHADOW_KNOWN && plim_values_policy() == PLIM_VALUES_MAX);
}

static bool choose_by_flags(const struct selection *selection, void **parameters, uint64_t n, struct choice *choice)
{
    struct plim_array flags;
    if (!plim_iterator_read(&selection->flags, parameters[selection->flags_at], n, &flags))
        return false;
    const bool is_float = plim_element_is_float(flags.element);
    for (uint64_t i = 0; i < n; i++) {
        const union plim_scalar flag = plim_array_at(&flags, i);
        choice->known[i] = (uint8_t)plim_array_known_at(&flags, i);
        choice->is_taken[i] = is_taken(is_float ? flag.f != 0 : flag.i != 0, (enum plim_shadow_known)choice->known[i]);
    }
    plim_array_free(&flags);
    return true;
}

/* The first of equal neighbours. */
static bool choose_first(const struct selection *selection, void **parameters, const struct plim_array *keys,
                         struct choice *choice)
{
    struct plim_judge judge;
    if (!plim_judge_begin(&selection->relation, parameters[selection->relation_at], keys->element, keys->n, &judge))
        return false;
    for (uint64_t i = 0; i < keys->n; i++) {
        const uint64_t before = i > 0 ? i - 1 : 0;
        const enum plim_shadow_known known = plim_less_known(
            judge.known, plim_less_known(plim_array_known_at(keys, i), plim_array_known_at(keys, before)));
        const bool is_same = i > 0 && plim_judge_holds(&judge, plim_array_at(keys, before), plim_array_at(keys, i));
        choice->known[i] = (uint8_t)(i > 0 ? known : PLIM_SHADOW_KNOWN);
        choice->is_taken[i] = is_taken(!is_same, known);
    }
    plim_judge_end(&judge);
    return true;
}

/* --- moving them --- */

static void write_number(const struct selection *selection, void **parameters, uint64_t number,
                         enum plim_shadow_known known)
{
    struct plim_array array;
    plim_array_make(&array, PLIM_ELEMENT_I64, 1, true);
    array.one.i = (int64_t)number;
    array.known = known;
    plim_iterator_write(&selection->number, parameters[selection->number_at], &array);
}

/* The place of an element depends on all choices before it. Returns the number of elements. */
static uint64_t move(const struct choice *choice, const struct plim_array *in, bool is_sum, struct plim_array *out)
{
    uint64_t n_out = 0;
    enum plim_shadow_known known = PLIM_SHADOW_KNOWN;
    for (uint64_t i = 0; i < in->n; i++) {
        const union plim_scalar number = plim_array_at(in, i);
        known = plim_less_known(known, (enum plim_shadow_known)choice->known[i]);
        const enum plim_shadow_known certainty = plim_less_known(known, plim_array_known_at(in, i));
        if (choice->is_taken[i]) {
            out->number[n_out] = number;
            out->each[n_out++] = (uint8_t)certainty;
        } else if (is_sum && n_out > 0) {
            if (plim_element_is_float(in->element))
                out->number[n_out - 1].f += number.f;
            else
                out->number[n_out - 1].i += number.i;
            out->each[n_out - 1] = (uint8_t)plim_less_known(certainty, (enum plim_shadow_known)out->each[n_out - 1]);
        }
        /* A run ends where the next one starts, which may be a guess. */
        if (is_sum && choice->is_taken[i] && n_out > 1)
            out->each[n_out - 2] = (uint8_t)plim_less_known(known, (enum plim_shadow_known)out->each[n_out - 2]);
    }
    return n_out;
}

/*
 * Too many to look at each of them. Flags that are all alike decide; otherwise as many are taken as the count before,
 * which met the same values, promised; of unique at least one.
 */
static void forget_most(const struct selection *selection, void **parameters, uint64_t n)
{
    struct plim_array flags;
    uint64_t n_out = plim_values_policy() == PLIM_VALUES_MAX ? n : selection->relation.kind != PLIM_RELATION_NONE;
    enum plim_shadow_known known = PLIM_SHADOW_UNKNOWN;
    if (selection->flags.kind != PLIM_ITERATOR_NONE &&
        plim_iterator_read(&selection->flags, parameters[selection->flags_at], n, &flags)) {
        if (flags.is_constant) {
            known = flags.known;
            n_out = is_taken(flags.one.i != 0, known) ? n : 0;
        }
        plim_array_free(&flags);
    }
    for (unsigned i = 0; i < selection->n_lanes; i++)
        plim_iterator_forget(&selection->out[i], parameters[selection->out_at[i]], n_out);
    write_number(selection, parameters, n_out, known);
}

static bool move_lane(const struct selection *selection, unsigned lane, void **parameters, const struct choice *choice,
                      const struct plim_array *in, uint64_t *ret_n_out)
{
    struct plim_array out;
    if (!plim_array_make(&out, in->element, in->n, false))
        return false;
    const bool is_right = plim_array_make_each(&out);
    if (is_right) {
        *ret_n_out = move(choice, in, selection->is_sum && lane == 1, &out);
        out.n = *ret_n_out;
        out.is_constant = false;
        plim_iterator_write(&selection->out[lane], parameters[selection->out_at[lane]], &out);
    }
    plim_array_free(&out);
    return is_right;
}

static bool select_all(const struct selection *selection, void **parameters, uint64_t n, const struct plim_array *in,
                       struct choice *choice)
{
    enum plim_shadow_known known = PLIM_SHADOW_KNOWN;
    uint64_t n_out = 0;
    if (!(selection->relation.kind == PLIM_RELATION_NONE ? choose_by_flags(selection, parameters, n, choice)
                                                         : choose_first(selection, parameters, &in[0], choice)))
        return false;
    for (uint64_t i = 0; i < n; i++)
        known = plim_less_known(known, (enum plim_shadow_known)choice->known[i]);
    for (unsigned i = 0; i < selection->n_lanes; i++)
        if (!move_lane(selection, i, parameters, choice, &in[i], &n_out))
            return false;
    write_number(selection, parameters, n_out, known);
    return true;
}

/* --- values that are all alike --- */

static bool write_one(const struct selection *selection, unsigned lane, void **parameters, uint64_t n,
                      enum plim_shadow_known known)
{
    struct plim_array one;
    const bool is_sum = selection->is_sum && lane == 1;
    if ((is_sum && selection->in[lane].kind != PLIM_ITERATOR_CONSTANT) ||
        !plim_iterator_read(&selection->in[lane], parameters[selection->in_at[lane]], 1, &one))
        return false;
    if (is_sum && plim_element_is_float(one.element))
        one.number[0].f *= (double)n;
    else if (is_sum)
        one.number[0].i = (int64_t)((uint64_t)one.number[0].i * n);
    one.known = plim_less_known(one.known, known);
    if (one.each)
        one.each[0] = (uint8_t)one.known;
    plim_iterator_write(&selection->out[lane], parameters[selection->out_at[lane]], &one);
    plim_array_free(&one);
    return true;
}

/* No element by flags, or the first of equal ones. False: it is something else. */
static bool select_of_constant(const struct selection *selection, void **parameters, uint64_t n)
{
    const bool is_by_flags = selection->relation.kind == PLIM_RELATION_NONE;
    struct plim_array keys;
    if ((!is_by_flags && selection->relation.kind != PLIM_RELATION_EQUAL) ||
        !(is_by_flags ? plim_iterator_read(&selection->flags, parameters[selection->flags_at], n, &keys)
                      : plim_iterator_read(&selection->in[0], parameters[selection->in_at[0]], n, &keys)))
        return false;
    const union plim_scalar number = keys.one;
    const bool is_float = plim_element_is_float(keys.element), is_constant = keys.is_constant && !keys.each;
    const enum plim_shadow_known known = keys.known;
    plim_array_free(&keys);
    if (!is_constant || is_taken(is_by_flags && (is_float ? number.f != 0 : number.i != 0), known) ||
        (is_float && number.f != number.f))
        return false;
    for (unsigned i = 0; !is_by_flags && i < selection->n_lanes; i++)
        if (!write_one(selection, i, parameters, n, known))
            return false;
    write_number(selection, parameters, !is_by_flags, known);
    return true;
}

static bool select_of(const struct selection *selection, void **parameters, uint64_t n)
{
    struct plim_array in[MAX_LANES] = { { 0 } };
    struct choice choice = { .is_taken = malloc(2 * n + 1) };
    unsigned n_read = 0;
    bool is_done = choice.is_taken != NULL;
    choice.known = choice.is_taken + n;
    while (is_done && n_read < selection->n_lanes) {
        is_done = plim_iterator_read(&selection->in[n_read], parameters[selection->in_at[n_read]], n, &in[n_read]);
        n_read += is_done;
    }
    is_done = is_done && select_all(selection, parameters, n, in, &choice);
    while (n_read > 0)
        plim_array_free(&in[--n_read]);
    free(choice.is_taken);
    return is_done;
}

static void run(const void *parsed, const struct plim_kernel_launch *launch)
{
    const struct selection *selection = parsed;
    const uint64_t n = plim_parameter_count(selection->n_type, launch->parameters[selection->n_at]);
    if (n == 0)
        write_number(selection, launch->parameters, 0, PLIM_SHADOW_KNOWN);
    else if (!select_of_constant(selection, launch->parameters, n) &&
             (n > PLIM_VIEW_MAX_ELEMENTS || !select_of(selection, launch->parameters, n)))
        forget_most(selection, launch->parameters, n);
}

/* --- no element selected yet --- */

struct start {
    struct plim_iterator number;
    unsigned number_at;
};

static void *parse_start(struct plim_text name)
{
    struct start *start = calloc(1, sizeof *start);
    if (start && iterator_at(plim_name_parameters(name), 2, &start->number) &&
        start->number.element != PLIM_ELEMENT_NONE) {
        start->number_at = 2;
        return start;
    }
    free(start);
    return NULL;
}

static void *parse_agent_start(struct plim_text name)
{
    return plim_text_has(name, "::InitAgent<") ? parse_start(name) : NULL;
}

static void run_start(const void *parsed, const struct plim_kernel_launch *launch)
{
    const struct start *start = parsed;
    struct plim_array zero;
    plim_array_make(&zero, PLIM_ELEMENT_I64, 1, true);
    plim_iterator_write(&start->number, launch->parameters[start->number_at], &zero);
}

const struct plim_kernel_form plim_form_cub_select = { "DeviceSelectSweepKernel", parse_select, run };
const struct plim_kernel_form plim_form_cub_unique_by_key = { "DeviceUniqueByKeySweepKernel", parse_unique_by_key,
                                                              run };
const struct plim_kernel_form plim_form_cub_reduce_by_key = { "DeviceReduceByKeyKernel", parse_reduce_by_key, run };
const struct plim_kernel_form plim_form_cub_start = { "DeviceCompactInitKernel", parse_start, run_start };
const struct plim_kernel_form plim_form_thrust_select = { "_kernel_agent", parse_agent, run };
const struct plim_kernel_form plim_form_thrust_start = { "_kernel_agent", parse_agent_start, run_start };
