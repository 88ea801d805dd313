/* SPDX-License-Identifier: MIT */
#include "vgpu/kernels/reduce/reductions.h"

#include <math.h>

static union plim_scalar at(const struct plim_slice *s, uint64_t i) { return plim_array_at(s->array, s->first + i); }

static bool is_float(const struct plim_slice *s) { return plim_element_is_float(s->array->element); }

static double as_double(const struct plim_slice *s, uint64_t i)
{
    return plim_element_as_double(s->array->element, at(s, i));
}

/* The certainty of a result that depends on all numbers. */
static enum plim_shadow_known least_known(const struct plim_slice *s)
{
    enum plim_shadow_known known = PLIM_SHADOW_KNOWN;
    if (!s->array->each || s->n == 0)
        return s->n ? s->array->known : PLIM_SHADOW_KNOWN;
    for (uint64_t i = 0; i < s->n; i++)
        known = plim_less_known(known, plim_array_known_at(s->array, s->first + i));
    return known;
}

/* The sum of what `term` makes of each number; of equal numbers, n times the term. */
static double sum_of(const struct plim_slice *s, double (*term)(double x, double power), double power)
{
    double sum = 0;
    if (s->array->is_constant)
        return s->n ? (double)s->n * term(as_double(s, 0), power) : 0;
    for (uint64_t i = 0; i < s->n; i++)
        sum += term(as_double(s, i), power);
    return sum;
}

static double itself(double x, double power) { return (void)power, x; }
static double without_nan(double x, double power) { return (void)power, isnan(x) ? 0 : x; }
static double magnitude(double x, double power) { return (void)power, fabs(x); }
static double square(double x, double power) { return (void)power, x * x; }
static double to_the_power(double x, double power) { return pow(fabs(x), power); }
static double is_not_zero(double x, double power) { return (void)power, x != 0; }
static double squared_distance(double x, double mean) { return (x - mean) * (x - mean); }

#define RESULT_OF(name, expression)                                                                                    \
    static void name(const struct plim_slice *s, const struct plim_reduction_held *held, struct plim_reduced *ret)     \
    {                                                                                                                  \
        (void)held;                                                                                                    \
        ret->value[0].f = (expression);                                                                                \
        ret->known = least_known(s);                                                                                   \
    }

RESULT_OF(nan_sum, sum_of(s, without_nan, 0))
RESULT_OF(mean, sum_of(s, itself, 0) * held->number)
RESULT_OF(norm_0, sum_of(s, is_not_zero, 0))
RESULT_OF(norm_1, sum_of(s, magnitude, 0))
RESULT_OF(norm_2, sqrt(sum_of(s, square, 0)))
RESULT_OF(power_2, sum_of(s, square, 0))
RESULT_OF(norm_p, pow(sum_of(s, to_the_power, held->number), 1 / held->number))
RESULT_OF(power_p, sum_of(s, to_the_power, held->number))

/* --- sums and products --- */

static void sum(const struct plim_slice *s, const struct plim_reduction_held *held, struct plim_reduced *ret)
{
    uint64_t total = 0;
    (void)held;
    ret->known = least_known(s);
    if (is_float(s)) {
        ret->value[0].f = sum_of(s, itself, 0);
        return;
    }
    if (s->array->is_constant)
        total = s->n ? s->n * (uint64_t)at(s, 0).i : 0;
    else
        for (uint64_t i = 0; i < s->n; i++)
            total += (uint64_t)at(s, i).i;
    ret->value[0].i = (int64_t)total;
}

static uint64_t integer_power(uint64_t base, uint64_t n)
{
    uint64_t result = 1;
    for (; n > 0; n >>= 1, base *= base)
        result *= n & 1 ? base : 1;
    return result;
}

static void product(const struct plim_slice *s, const struct plim_reduction_held *held, struct plim_reduced *ret)
{
    double real = 1;
    uint64_t whole = 1;
    (void)held;
    ret->known = least_known(s);
    if (s->array->is_constant) {
        real = s->n && is_float(s) ? pow(at(s, 0).f, (double)s->n) : 1;
        whole = s->n && !is_float(s) ? integer_power((uint64_t)at(s, 0).i, s->n) : 1;
    } else {
        for (uint64_t i = 0; i < s->n; i++)
            if (is_float(s))
                real *= at(s, i).f;
            else
                whole *= (uint64_t)at(s, i).i;
    }
    if (is_float(s))
        ret->value[0].f = real;
    else
        ret->value[0].i = (int64_t)whole;
}

/* --- the largest and the smallest --- */

/* Whether b takes the place of a; NaN counts as the most extreme, of equal numbers the first stays. */
static bool replaces(const struct plim_slice *s, union plim_scalar a, union plim_scalar b, bool wants_max)
{
    if (is_float(s))
        return !isnan(a.f) && (isnan(b.f) || (wants_max ? b.f > a.f : b.f < a.f));
    if (s->array->element == PLIM_ELEMENT_U64)
        return wants_max ? (uint64_t)b.i > (uint64_t)a.i : (uint64_t)b.i < (uint64_t)a.i;
    return wants_max ? b.i > a.i : b.i < a.i;
}

/*
 * Of equal guesses in a row as long as a vocabulary: the first few tokens are special, they end or fill a text, and a
 * program would stop there by accident.
 */
static uint64_t ordinary_index(uint64_t n)
{
    enum { VOCABULARY = 256 };
    return n >= VOCABULARY ? n / 3 : 0;
}

static uint64_t extreme(const struct plim_slice *s, bool wants_max)
{
    uint64_t best = 0;
    if (s->array->is_constant && s->array->known == PLIM_SHADOW_UNKNOWN)
        return ordinary_index(s->n);
    for (uint64_t i = 1; i < s->n && !s->array->is_constant; i++)
        if (replaces(s, at(s, best), at(s, i), wants_max))
            best = i;
    return best;
}

static void extreme_and_index(const struct plim_slice *s, bool wants_max, struct plim_reduced *ret)
{
    const uint64_t best = extreme(s, wants_max);
    ret->value[0] = at(s, best);
    ret->value[1].i = (int64_t)best;
    ret->known = least_known(s);
}

static void max(const struct plim_slice *s, const struct plim_reduction_held *held, struct plim_reduced *ret)
{
    (void)held;
    extreme_and_index(s, true, ret);
}

static void min(const struct plim_slice *s, const struct plim_reduction_held *held, struct plim_reduced *ret)
{
    (void)held;
    extreme_and_index(s, false, ret);
}

static void argmax(const struct plim_slice *s, const struct plim_reduction_held *held, struct plim_reduced *ret)
{
    max(s, held, ret);
    ret->value[0] = ret->value[1];
}

static void argmin(const struct plim_slice *s, const struct plim_reduction_held *held, struct plim_reduced *ret)
{
    min(s, held, ret);
    ret->value[0] = ret->value[1];
}

static void min_and_max(const struct plim_slice *s, const struct plim_reduction_held *held, struct plim_reduced *ret)
{
    (void)held;
    ret->value[0] = at(s, extreme(s, false));
    ret->value[1] = at(s, extreme(s, true));
    ret->known = least_known(s);
}

static void largest_magnitude(const struct plim_slice *s, bool wants_max, struct plim_reduced *ret)
{
    double best = s->n ? fabs(as_double(s, 0)) : 0;
    for (uint64_t i = 1; i < s->n && !s->array->is_constant && !isnan(best); i++) {
        const double next = fabs(as_double(s, i));
        if (isnan(next) || (wants_max ? next > best : next < best))
            best = next;
    }
    ret->value[0].f = best;
    ret->known = least_known(s);
}

static void abs_max(const struct plim_slice *s, const struct plim_reduction_held *held, struct plim_reduced *ret)
{
    (void)held;
    largest_magnitude(s, true, ret);
}

static void abs_min(const struct plim_slice *s, const struct plim_reduction_held *held, struct plim_reduced *ret)
{
    (void)held;
    largest_magnitude(s, false, ret);
}

/* --- any and all --- */

/* One known number that decides is enough, whatever the others are. */
static void decide(const struct plim_slice *s, bool decisive, struct plim_reduced *ret)
{
    bool is_decided = false;
    enum plim_shadow_known known = PLIM_SHADOW_UNKNOWN, least = least_known(s);
    for (uint64_t i = 0; i < s->n && (i == 0 || !s->array->is_constant) && known != PLIM_SHADOW_KNOWN; i++) {
        const enum plim_shadow_known here = plim_array_known_at(s->array, s->first + i);
        if ((as_double(s, i) != 0) == decisive) {
            is_decided = true;
            known = here > known ? here : known;
        }
    }
    ret->value[0].i = is_decided == decisive;
    ret->known = is_decided ? known : least;
}

static void any(const struct plim_slice *s, const struct plim_reduction_held *held, struct plim_reduced *ret)
{
    (void)held;
    decide(s, true, ret);
}

static void all(const struct plim_slice *s, const struct plim_reduction_held *held, struct plim_reduced *ret)
{
    (void)held;
    decide(s, false, ret);
}

/* --- variance --- */

/* WelfordOps: the correction, and whether the root is wanted; with the mean as second result. */
static void variance(const struct plim_slice *s, const struct plim_reduction_held *held, struct plim_reduced *ret)
{
    const double n = (double)s->n, average = s->n ? sum_of(s, itself, 0) / n : 0;
    const double divisor = n > held->number ? n - held->number : 0;
    const double var = sum_of(s, squared_distance, average) / divisor;
    ret->value[0].f = held->flag ? sqrt(var) : var;
    ret->value[1].f = average;
    ret->known = least_known(s);
}

static const struct plim_reduction reductions[] = {
    { "::sum_functor<", sum, PLIM_ARG_VALUE, PLIM_HELD_NOTHING, { false, false }, false },
    { "ReductionAddOp<", sum, PLIM_ARG_VALUE, PLIM_HELD_NOTHING, { false, false }, false },
    { "::prod_functor<", product, PLIM_ARG_VALUE, PLIM_HELD_NOTHING, { false, false }, false },
    { "ReductionMulOp<", product, PLIM_ARG_VALUE, PLIM_HELD_NOTHING, { false, false }, false },
    { "::MaxNanFunctor<", max, PLIM_ARG_VALUE, PLIM_HELD_NOTHING, { false, false }, false },
    { "::MinNanFunctor<", min, PLIM_ARG_VALUE, PLIM_HELD_NOTHING, { false, false }, false },
    { "::and_kernel_cuda", all, PLIM_ARG_VALUE, PLIM_HELD_NOTHING, { false, false }, true },
    { "::or_kernel_cuda", any, PLIM_ARG_VALUE, PLIM_HELD_NOTHING, { false, false }, true },
    { "at::native::MeanOps<", mean, PLIM_ARG_VALUE, PLIM_HELD_NUMBER, { false, false }, false },
    { "at::native::NanSumOps<", nan_sum, PLIM_ARG_VALUE, PLIM_HELD_NOTHING, { false, false }, false },
    { "at::native::NormZeroOps<", norm_0, PLIM_ARG_VALUE, PLIM_HELD_NOTHING, { false, false }, false },
    { "at::native::NormOneOps<", norm_1, PLIM_ARG_VALUE, PLIM_HELD_NOTHING, { false, false }, false },
    { "at::native::NormTwoOps<", norm_2, PLIM_ARG_VALUE, PLIM_HELD_NOTHING, { false, false }, false },
    { "at::native::NormOps<", norm_p, PLIM_ARG_VALUE, PLIM_HELD_NUMBER, { false, false }, false },
    { "at::native::AbsMaxOps<", abs_max, PLIM_ARG_VALUE, PLIM_HELD_NOTHING, { false, false }, false },
    { "at::native::AbsMinOps<", abs_min, PLIM_ARG_VALUE, PLIM_HELD_NOTHING, { false, false }, false },
    { "at::native::ArgMaxOps<", argmax, PLIM_ARG_INDEXED, PLIM_HELD_NOTHING, { true, false }, false },
    { "at::native::ArgMinOps<", argmin, PLIM_ARG_INDEXED, PLIM_HELD_NOTHING, { true, false }, false },
    { "at::native::MaxOps<", max, PLIM_ARG_INDEXED, PLIM_HELD_NOTHING, { false, true }, false },
    { "at::native::MinOps<", min, PLIM_ARG_INDEXED, PLIM_HELD_NOTHING, { false, true }, false },
    { "at::native::MinMaxOps<", min_and_max, PLIM_ARG_TWO, PLIM_HELD_NOTHING, { false, false }, false },
    { "at::native::WelfordOps<", variance, PLIM_ARG_WELFORD, PLIM_HELD_NUMBER_AND_FLAG, { false, false }, false },
};

/* The last argument of these says whether the root is taken (PyTorch 2.13 and later: linalg._powsum). */
static const struct plim_reduction powers[] = {
    { "at::native::NormTwoOps<", power_2, PLIM_ARG_VALUE, PLIM_HELD_NOTHING, { false, false }, false },
    { "at::native::NormOps<", power_p, PLIM_ARG_VALUE, PLIM_HELD_NUMBER, { false, false }, false },
};

const struct plim_reduction *plim_reduction_named(struct plim_text text)
{
    struct plim_text arguments, last;
    for (size_t i = 0; i < sizeof powers / sizeof *powers; i++)
        if (plim_text_starts(text, powers[i].name) && plim_name_template(text, "Ops", &arguments) &&
            plim_name_argument(arguments, 3, &last) && plim_text_is(last, "false"))
            return &powers[i];
    const bool is_wrapped = plim_text_starts(text, "at::native::func_wrapper_t<");
    for (size_t i = 0; i < sizeof reductions / sizeof *reductions; i++)
        if (plim_text_starts(text, reductions[i].name) || (is_wrapped && plim_text_has(text, reductions[i].name)))
            return &reductions[i];
    return NULL;
}
