/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_KERNELS_ELEMENTWISE_OPERATIONS_H
#define PLIMSOLL_VGPU_KERNELS_ELEMENTWISE_OPERATIONS_H

/*
 * What functors compute for one element. Floating-point types are computed in double and rounded when they are stored;
 * integers in 64 bits, which wrap when they are stored.
 */

#include "vgpu/kernels/element.h"

enum { PLIM_OPERATION_MAX_INPUTS = 5, PLIM_OPERATION_MAX_HELD = 4 };

/* What is the same for all elements. */
struct plim_operands {
    enum plim_element type;                          /* that the functor computes with */
    union plim_scalar held[PLIM_OPERATION_MAX_HELD]; /* the values that the functor holds, in order */
    enum plim_element held_type[PLIM_OPERATION_MAX_HELD];
};

typedef union plim_scalar plim_operation(const struct plim_operands *operands, const union plim_scalar *in);

/* A held value as a double. */
double plim_held(const struct plim_operands *operands, unsigned number);

/* Of the operands' type, floating-point or integer. */
plim_operation plim_op_copy, plim_op_hold, plim_op_to_e4m3fn,
    plim_op_unscale; /* the first input; the first held value */
plim_operation plim_op_zero, plim_op_add_plain, plim_op_sub_plain, plim_op_sub, plim_op_reverse_pow;
plim_operation plim_op_add, plim_op_add_held, plim_op_held_add, plim_op_mul, plim_op_div, plim_op_div_floor;
plim_operation plim_op_div_trunc, plim_op_div_floor_held, plim_op_div_trunc_held, plim_op_fmod, plim_op_remainder;
plim_operation plim_op_eq, plim_op_order, plim_op_order_held, plim_op_maximum, plim_op_minimum, plim_op_fmax;
plim_operation plim_op_fmin, plim_op_and, plim_op_or, plim_op_xor, plim_op_lshift, plim_op_rshift, plim_op_logical_and;
plim_operation plim_op_logical_or, plim_op_logical_xor, plim_op_logical_not, plim_op_bitwise_not, plim_op_neg;
plim_operation plim_op_abs, plim_op_sign, plim_op_signbit, plim_op_isposinf, plim_op_isneginf, plim_op_where;
plim_operation plim_op_masked_fill, plim_op_clamp_held, plim_op_clamp_limits, plim_op_clamp_min_held;
plim_operation plim_op_clamp_max_held, plim_op_clamp, plim_op_threshold, plim_op_heaviside, plim_op_pow;
plim_operation plim_op_pow_held, plim_op_held_pow, plim_op_square, plim_op_cube, plim_op_reciprocal_square;
plim_operation plim_op_addcmul, plim_op_addcdiv, plim_op_addcmul_scalar, plim_op_lerp_held, plim_op_lerp;
plim_operation plim_op_leaky_relu, plim_op_elu, plim_op_softplus, plim_op_hardshrink, plim_op_softshrink;
plim_operation plim_op_shrink_backward, plim_op_nan_to_num, plim_op_round_decimals, plim_op_logit_held, plim_op_huber;
plim_operation plim_op_smooth_l1, plim_op_scale_masked, plim_op_renorm, plim_op_invstd, plim_op_ldexp;

/* Of one or two doubles. */
double plim_fn_frac(double x);
double plim_fn_gelu(double x);
double plim_fn_gelu_tanh(double x);
double plim_fn_hardsigmoid(double x);
double plim_fn_hardswish(double x);
double plim_fn_log_sigmoid(double x);
double plim_fn_logit(double x);
double plim_fn_mish(double x);
double plim_fn_reciprocal(double x);
double plim_fn_rsqrt(double x);
double plim_fn_sigmoid(double x);
double plim_fn_silu(double x);
double plim_fn_bce(double x, double target);
double plim_fn_glu(double x, double gate);
double plim_fn_logaddexp(double x, double y);
double plim_fn_logaddexp2(double x, double y);
double plim_fn_mse(double x, double y);
double plim_fn_prelu(double x, double weight);
double plim_fn_sigmoid_backward(double gradient, double y);
double plim_fn_tanh_backward(double gradient, double y);
double plim_fn_xlogy(double x, double y);
double plim_fn_xlog1py(double x, double y);

#endif
