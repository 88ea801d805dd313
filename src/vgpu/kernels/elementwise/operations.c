/* SPDX-License-Identifier: MIT */
#include "vgpu/kernels/elementwise/operations.h"

#include <math.h>

static bool is_float(const struct plim_operands *o) { return plim_element_is_float(o->type); }

static union plim_scalar real(double value) { return (union plim_scalar){ .f = value }; }
static union plim_scalar whole(int64_t value) { return (union plim_scalar){ .i = value }; }
static union plim_scalar flag(bool value) { return (union plim_scalar){ .i = value }; }

/* Integers wrap around, as on a card, and as C's signed ones may not. */
static int64_t added(int64_t a, int64_t b) { return (int64_t)((uint64_t)a + (uint64_t)b); }
static int64_t multiplied(int64_t a, int64_t b) { return (int64_t)((uint64_t)a * (uint64_t)b); }
static int64_t negated(int64_t a) { return (int64_t) - (uint64_t)a; }

/* -1, 0 or 1; floats that are not ordered give 2. */
static int order_of(const struct plim_operands *o, union plim_scalar a, union plim_scalar b)
{
    if (is_float(o))
        return a.f < b.f ? -1 : a.f > b.f ? 1 : a.f == b.f ? 0 : 2;
    if (o->type == PLIM_ELEMENT_U64)
        return (uint64_t)a.i < (uint64_t)b.i ? -1 : a.i != b.i;
    return a.i < b.i ? -1 : a.i > b.i;
}

static bool is_zero(const struct plim_operands *o, union plim_scalar a) { return is_float(o) ? a.f == 0 : a.i == 0; }
static bool is_nan(const struct plim_operands *o, union plim_scalar a) { return is_float(o) && isnan(a.f); }

double plim_held(const struct plim_operands *o, unsigned number)
{
    return plim_element_as_double(o->held_type[number], o->held[number]);
}

/* A held value, of the type that is computed with. */
static union plim_scalar held(const struct plim_operands *o, unsigned number)
{
    return plim_element_convert(o->type, o->held_type[number], o->held[number]);
}

#define UNUSED __attribute__((unused))
#define OPERATION(name)                                                                                                \
    union plim_scalar plim_op_##name(const struct plim_operands *o UNUSED, const union plim_scalar *in UNUSED)

/* What is too large is NaN or the largest number, depending on the version of CUDA: see certainty_at(). */
OPERATION(to_e4m3fn) { return in[0]; }

OPERATION(unscale) { return in[0]; } /* never called: see plim_functor_apply() */
OPERATION(zero) { return whole(0); }
OPERATION(copy) { return in[0]; }

OPERATION(hold) { return held(o, 0); }

/* --- arithmetic --- */

static union plim_scalar sum(const struct plim_operands *o, union plim_scalar a, union plim_scalar b,
                             union plim_scalar alpha)
{
    return is_float(o) ? real(a.f + alpha.f * b.f) : whole(added(a.i, multiplied(alpha.i, b.i)));
}

OPERATION(add) { return sum(o, in[0], in[1], held(o, 0)); }
OPERATION(add_held) { return sum(o, in[0], held(o, 0), held(o, 1)); }
OPERATION(add_plain) { return is_float(o) ? real(in[0].f + in[1].f) : whole(added(in[0].i, in[1].i)); }
OPERATION(sub_plain) { return is_float(o) ? real(in[0].f - in[1].f) : whole(added(in[0].i, negated(in[1].i))); }
OPERATION(sub) /* holds the factor of what is subtracted */
{
    const union plim_scalar alpha = held(o, 0);
    return is_float(o) ? real(in[0].f - alpha.f * in[1].f)
                       : whole(added(in[0].i, negated(multiplied(alpha.i, in[1].i))));
}
OPERATION(held_add) { return sum(o, held(o, 0), in[0], held(o, 1)); }

OPERATION(mul) { return is_float(o) ? real(in[0].f * in[1].f) : whole(multiplied(in[0].i, in[1].i)); }

/* A division by zero has no defined result on a card; here it is 0. */
static int64_t divided(const struct plim_operands *o, int64_t a, int64_t b)
{
    if (o->type == PLIM_ELEMENT_U64)
        return b ? (int64_t)((uint64_t)a / (uint64_t)b) : 0;
    return b == 0 ? 0 : b == -1 ? negated(a) : a / b;
}

OPERATION(div) { return is_float(o) ? real(in[0].f / in[1].f) : whole(divided(o, in[0].i, in[1].i)); }
OPERATION(div_trunc) { return is_float(o) ? real(trunc(in[0].f / in[1].f)) : whole(divided(o, in[0].i, in[1].i)); }

/* floor(a / b), as Python defines it (c10/util/generic_math.h, div_floor_floating). */
static double floored(double a, double b)
{
    if (b == 0)
        return a / b;
    const double rest = fmod(a, b);
    double quotient = (a - rest) / b;
    if (rest != 0 && (b < 0) != (rest < 0))
        quotient -= 1;
    if (quotient == 0)
        return copysign(0, a / b);
    const double floor_of = floor(quotient);
    return quotient - floor_of > 0.5 ? floor_of + 1 : floor_of;
}

OPERATION(div_floor)
{
    if (is_float(o))
        return real(floored(in[0].f, in[1].f));
    const int64_t quotient = divided(o, in[0].i, in[1].i);
    const bool is_lower = in[1].i != 0 && o->type != PLIM_ELEMENT_U64 && (in[0].i < 0) != (in[1].i < 0) &&
                          multiplied(quotient, in[1].i) != in[0].i;
    return whole(quotient - is_lower);
}

OPERATION(div_floor_held) { return real(floored(in[0].f, plim_held(o, 0))); } /* holds b and 1/b */
OPERATION(div_trunc_held) { return real(trunc(in[0].f * plim_held(o, 0))); }  /* holds 1/b */

static int64_t rest_of(const struct plim_operands *o, int64_t a, int64_t b)
{
    if (o->type == PLIM_ELEMENT_U64)
        return b ? (int64_t)((uint64_t)a % (uint64_t)b) : 0;
    return b == 0 || b == -1 ? 0 : a % b;
}

OPERATION(fmod) { return is_float(o) ? real(fmod(in[0].f, in[1].f)) : whole(rest_of(o, in[0].i, in[1].i)); }

/* The rest has the sign of the divisor. */
OPERATION(remainder)
{
    if (!is_float(o)) {
        const int64_t rest = rest_of(o, in[0].i, in[1].i);
        return whole(rest != 0 && o->type != PLIM_ELEMENT_U64 && (rest < 0) != (in[1].i < 0) ? rest + in[1].i : rest);
    }
    const double rest = fmod(in[0].f, in[1].f);
    return real(rest != 0 && (in[1].f < 0) != (rest < 0) ? rest + in[1].f : rest);
}

OPERATION(neg) { return is_float(o) ? real(-in[0].f) : whole(negated(in[0].i)); }
OPERATION(abs)
{
    return is_float(o) ? real(fabs(in[0].f))
                       : whole(in[0].i < 0 && o->type != PLIM_ELEMENT_U64 ? negated(in[0].i) : in[0].i);
}

OPERATION(sign)
{
    const union plim_scalar zero = { .i = 0 };
    const int order = order_of(o, in[0], zero);
    return is_float(o) ? real(order == 2 ? 0 : order) : whole(order);
}

OPERATION(heaviside) { return is_zero(o, in[0]) ? in[1] : is_float(o) ? real(in[0].f > 0) : whole(in[0].i > 0); }

static union plim_scalar power(const struct plim_operands *o, union plim_scalar base, union plim_scalar exponent)
{
    if (is_float(o))
        return real(pow(base.f, exponent.f));
    if (exponent.i < 0 && o->type != PLIM_ELEMENT_U64) /* ATen/native/Pow.h, powi */
        return whole(base.i == 1 ? 1 : base.i == -1 ? (exponent.i % 2 ? -1 : 1) : 0);
    int64_t result = 1, factor = base.i;
    for (uint64_t rest = (uint64_t)exponent.i; rest; rest /= 2, factor = multiplied(factor, factor))
        if (rest % 2)
            result = multiplied(result, factor);
    return whole(result);
}

OPERATION(pow) { return power(o, in[0], in[1]); }
OPERATION(reverse_pow) { return power(o, in[1], in[0]); }
OPERATION(held_pow) { return power(o, held(o, 0), in[0]); }
OPERATION(pow_held)
{
    if (!is_float(o) && plim_element_is_float(o->held_type[0]))
        return plim_element_convert(o->type, PLIM_ELEMENT_F64,
                                    real(pow(plim_element_as_double(o->type, in[0]), plim_held(o, 0))));
    return power(o, in[0], held(o, 0));
}

OPERATION(square) { return is_float(o) ? real(in[0].f * in[0].f) : whole(multiplied(in[0].i, in[0].i)); }
OPERATION(cube)
{
    return is_float(o) ? real(in[0].f * in[0].f * in[0].f) : whole(multiplied(in[0].i, multiplied(in[0].i, in[0].i)));
}
OPERATION(reciprocal_square)
{
    return is_float(o) ? real(1 / (in[0].f * in[0].f)) : whole(divided(o, 1, multiplied(in[0].i, in[0].i)));
}

OPERATION(addcmul)
{
    const union plim_scalar product[] = { in[1], in[2] };
    return sum(o, in[0], plim_op_mul(o, product), held(o, 0));
}

OPERATION(addcdiv)
{
    const union plim_scalar quotient[] = { in[1], in[2] };
    return sum(o, in[0], plim_op_div(o, quotient), held(o, 0));
}

OPERATION(addcmul_scalar) /* the two held values are the factor and the scalar that stands for a tensor */
{
    const union plim_scalar factors[] = { held(o, 0), held(o, 1) };
    return sum(o, in[0], in[1], plim_op_mul(o, factors));
}

static double between(double start, double end, double weight) /* ATen/native/Lerp.h */
{
    return fabs(weight) < 0.5 ? start + weight * (end - start) : end - (end - start) * (1 - weight);
}

OPERATION(lerp) { return real(between(in[0].f, in[1].f, in[2].f)); }
OPERATION(lerp_held) { return real(between(in[0].f, in[1].f, plim_held(o, 0))); }

OPERATION(ldexp) { return real(ldexp(in[0].f, in[1].i > 4096 ? 4096 : in[1].i < -4096 ? -4096 : (int)in[1].i)); }

/* --- comparisons and logic --- */

OPERATION(eq) /* holds EqOpType: EQ, NE (CompareKernels.cu) */
{
    return flag((order_of(o, in[0], in[1]) == 0) == (o->held[0].i == 0));
}

static bool is_ordered(const struct plim_operands *o, union plim_scalar a, union plim_scalar b)
{
    enum { GE, GT, LE, LT }; /* OpType (CompareKernels.cu) */
    const int order = order_of(o, a, b);
    switch (o->held[0].i) {
    case GE:
        return order == 0 || order == 1;
    case GT:
        return order == 1;
    case LE:
        return order <= 0;
    default:
        return order == -1;
    }
}

OPERATION(order) { return flag(is_ordered(o, in[0], in[1])); }
OPERATION(order_held) { return flag(is_ordered(o, in[0], held(o, 1))); }

OPERATION(and) { return whole(in[0].i & in[1].i); }
OPERATION(or) { return whole(in[0].i | in[1].i); }
OPERATION(xor) { return whole(in[0].i ^ in[1].i); }
OPERATION(bitwise_not) { return o->type == PLIM_ELEMENT_BOOL ? flag(!in[0].i) : whole(~in[0].i); }

static bool shifts_out(const struct plim_operands *o, int64_t count)
{
    return count < 0 || count >= 8 * (int64_t)plim_element_bytes(o->type);
}

OPERATION(lshift) { return shifts_out(o, in[1].i) ? whole(0) : whole((int64_t)((uint64_t)in[0].i << in[1].i)); }
OPERATION(rshift) { return whole(shifts_out(o, in[1].i) ? -(in[0].i < 0) : in[0].i >> in[1].i); }

OPERATION(logical_and) { return flag(!is_zero(o, in[0]) && !is_zero(o, in[1])); }
OPERATION(logical_or) { return flag(!is_zero(o, in[0]) || !is_zero(o, in[1])); }
OPERATION(logical_xor) { return flag(is_zero(o, in[0]) != is_zero(o, in[1])); }
OPERATION(logical_not) { return flag(is_zero(o, in[0])); }
OPERATION(signbit) { return flag(is_float(o) ? signbit(in[0].f) : in[0].i < 0); }
OPERATION(isposinf) { return flag(isinf(in[0].f) && in[0].f > 0); }
OPERATION(isneginf) { return flag(isinf(in[0].f) && in[0].f < 0); }

/* --- choices --- */

static union plim_scalar larger(const struct plim_operands *o, union plim_scalar a, union plim_scalar b)
{
    return is_nan(o, a) || (!is_nan(o, b) && order_of(o, a, b) >= 0) ? a : b;
}

static union plim_scalar smaller(const struct plim_operands *o, union plim_scalar a, union plim_scalar b)
{
    return is_nan(o, a) || (!is_nan(o, b) && order_of(o, a, b) <= 0) ? a : b;
}

OPERATION(maximum) { return larger(o, in[0], in[1]); }
OPERATION(minimum) { return smaller(o, in[0], in[1]); }
OPERATION(fmax) { return real(fmax(in[0].f, in[1].f)); }
OPERATION(fmin) { return real(fmin(in[0].f, in[1].f)); }

OPERATION(where) { return in[0].i ? in[1] : in[2]; }
OPERATION(masked_fill) { return in[1].i ? held(o, 0) : in[0]; }

/* A NaN stays, and so does one that is a limit. */
OPERATION(clamp)
{
    return is_nan(o, in[0])   ? in[0]
           : is_nan(o, in[1]) ? in[1]
           : is_nan(o, in[2]) ? in[2]
                              : smaller(o, larger(o, in[0], in[1]), in[2]);
}

OPERATION(clamp_held)
{
    const union plim_scalar limited[] = { in[0], held(o, 0), held(o, 1) };
    return plim_op_clamp(o, limited);
}

OPERATION(clamp_min_held) { return is_nan(o, in[0]) ? in[0] : larger(o, in[0], held(o, 0)); }
OPERATION(clamp_max_held) { return is_nan(o, in[0]) ? in[0] : smaller(o, in[0], held(o, 0)); }

OPERATION(clamp_limits)
{
    enum { MIN, MAX, BOTH }; /* ClampLimits (ATen/native/TensorCompare.h) */
    const union plim_scalar limited[] = { in[0], held(o, 1), held(o, 2) };
    return is_nan(o, in[0])      ? in[0]
           : o->held[0].i == MIN ? larger(o, in[0], limited[1])
           : o->held[0].i == MAX ? smaller(o, in[0], limited[2])
                                 : plim_op_clamp(o, limited);
}

OPERATION(threshold) /* holds the threshold and the value */
{
    const int order = order_of(o, in[0], held(o, 0));
    return order <= 0 ? held(o, 1) : in[1];
}

OPERATION(nan_to_num)
{
    return real(isnan(in[0].f) ? plim_held(o, 0) : !isinf(in[0].f) ? in[0].f : plim_held(o, in[0].f > 0 ? 1 : 2));
}

/* --- activations and losses --- */

OPERATION(leaky_relu) { return real(in[0].f > 0 ? in[0].f : in[0].f * plim_held(o, 0)); }
OPERATION(elu)
{
    return real(in[0].f > 0 ? in[0].f * plim_held(o, 1) : expm1(in[0].f * plim_held(o, 2)) * plim_held(o, 0));
}

OPERATION(softplus)
{
    const double scaled = in[0].f * plim_held(o, 0);
    return real(scaled > plim_held(o, 1) ? in[0].f : log1p(exp(scaled)) / plim_held(o, 0));
}

OPERATION(hardshrink) { return real(fabs(in[0].f) <= plim_held(o, 0) ? 0 : in[0].f); }
OPERATION(softshrink)
{
    const double x = in[0].f, lambda = plim_held(o, 0);
    return real(isnan(x) ? x : x > lambda ? x - lambda : x < -lambda ? x + lambda : 0);
}
OPERATION(shrink_backward) { return real(fabs(in[1].f) <= plim_held(o, 0) ? 0 : in[0].f); }

OPERATION(round_decimals) /* holds 10^|decimals|, and whether decimals is negative */
{
    const double ten = plim_held(o, 0);
    return real(o->held[1].i ? nearbyint(in[0].f / ten) * ten : nearbyint(in[0].f * ten) / ten);
}

OPERATION(logit_held) { return real(plim_fn_logit(fmin(fmax(in[0].f, plim_held(o, 0)), plim_held(o, 1)))); }

OPERATION(huber)
{
    const double z = fabs(in[0].f - in[1].f), delta = plim_held(o, 0);
    return real(z < delta ? 0.5 * z * z : delta * (z - 0.5 * delta));
}

OPERATION(smooth_l1)
{
    const double z = fabs(in[0].f - in[1].f), beta = plim_held(o, 0);
    return real(z < beta ? 0.5 * z * z / beta : z - 0.5 * beta);
}

/* Dropout: the mask is 0 or 1. */
OPERATION(scale_masked) { return real(in[0].f * (double)in[1].i * plim_held(o, 0)); }

OPERATION(renorm) { return real(in[0].f > plim_held(o, 0) ? plim_held(o, 0) / (in[0].f + 1e-7) : 1); }
OPERATION(invstd) { return real(1 / sqrt(in[0].f + plim_held(o, 0))); }
