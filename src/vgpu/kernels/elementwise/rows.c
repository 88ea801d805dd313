/* SPDX-License-Identifier: MIT */
#include "vgpu/kernels/elementwise/functor.h"

#include <math.h>

/*
 * The functors of PyTorch's elementwise kernels: aten/src/ATen/native/cuda, in 2.5.1, 2.10.0 and 2.15.0. The members of
 * a lambda are its captures in their order. They are listed in the host's names of kernels, __nv_hdl_wrapper_t<...,
 * captures>, in libtorch_cuda.so; the device's names, which are read here, tell only the lambda. A lambda whose
 * wrapper is not convertible to a pointer to function has a pointer behind its captures ('d'), which was seen in the
 * parameters of launches: so a lambda with captures always has one, and one without has it if it was written with [=].
 */

#define UNARY(name, function)                                                                                          \
    {                                                                                                                  \
        name, 0, 0, 1, 'T', "", function, NULL, NULL                                                                   \
    }
#define BINARY(name, function)                                                                                         \
    {                                                                                                                  \
        name, 0, 0, 2, 'T', "", NULL, function, NULL                                                                   \
    }
#define ANY(name, n, result, held, operation)                                                                          \
    {                                                                                                                  \
        name, 0, 0, n, result, held, NULL, NULL, operation                                                             \
    }
#define LAMBDA(name, number, n, held, operation)                                                                       \
    {                                                                                                                  \
        name, number, 0, n, 'T', held, NULL, NULL, operation                                                           \
    }
#define NONE(name, n, held)                                                                                            \
    {                                                                                                                  \
        name, 0, 0, n, 'T', held, NULL, NULL, NULL                                                                     \
    }

const struct plim_functor_row plim_functor_rows[] = {
    /* copies and fills */
    ANY("direct_copy_kernel_cuda", 1, 'T', "", plim_op_copy),
    ANY("float16_copy_kernel_cuda", 1, 'h', "", plim_op_copy),
    ANY("bfloat16_copy_kernel_cuda", 1, 'g', "", plim_op_copy),
    ANY("float8_copy_kernel_cuda", 1, '8', "", plim_op_copy),
    ANY("converting_copy_kernel_cuda", 1, '2', "", plim_op_copy),
    ANY("ConvertToFloat8E4M3fnOp", 1, '3', "", plim_op_to_e4m3fn),
    ANY("ConvertFloatToFloat8E5M2Op", 1, '5', "", plim_op_copy),
    ANY("FillFunctor", 0, 'T', "T", plim_op_hold),
    /* arithmetic */
    ANY("CUDAFunctor_add", 2, 'T', "O", plim_op_add),
    ANY("CUDAFunctorOnSelf_add", 1, 'T', "OO", plim_op_add_held),
    ANY("CUDAFunctorOnOther_add", 1, 'T', "OO", plim_op_held_add),
    ANY("MulFunctor", 2, 'T', "", plim_op_mul),
    ANY("DivFunctor", 2, 'T', "", plim_op_div),
    ANY("div_floor_kernel_cuda", 2, 'T', "", plim_op_div_floor),
    ANY("div_floor_kernel_cuda", 1, 'T', "OOd", plim_op_div_floor_held),
    ANY("div_trunc_kernel_cuda", 2, 'T', "", plim_op_div_trunc),
    ANY("div_trunc_kernel_cuda", 1, 'T', "Od", plim_op_div_trunc_held),
    ANY("fmod_kernel_cuda", 2, 'T', "", plim_op_fmod),
    ANY("remainder_kernel_cuda", 2, 'T', "", plim_op_remainder),
    ANY("neg_kernel_cuda", 1, 'T', "", plim_op_neg),
    ANY("AbsFunctor", 1, 'T', "", plim_op_abs),
    ANY("sign_kernel_cuda", 1, 'T', "", plim_op_sign),
    ANY("heaviside_kernel_cuda", 2, 'T', "", plim_op_heaviside),
    ANY("pow_tensor_tensor_kernel", 2, 'T', "d", plim_op_pow),
    LAMBDA("pow_tensor_scalar_kernel_impl", 1, 1, "d", plim_op_square),
    LAMBDA("pow_tensor_scalar_kernel_impl", 2, 1, "d", plim_op_cube),
    LAMBDA("pow_tensor_scalar_kernel_impl", 3, 1, "d", plim_op_reciprocal_square),
    LAMBDA("pow_tensor_scalar_kernel_impl", 4, 1, "2d", plim_op_pow_held),
    ANY("pow_scalar_tensor_impl", 1, 'T', "Td", plim_op_held_pow),
    ANY("addcmul_cuda_kernel", 3, 'T', "Ad", plim_op_addcmul),
    ANY("addcmul_cuda_scalar_tensor2_kernel", 2, 'T', "AAd", plim_op_addcmul_scalar),
    ANY("addcdiv_cuda_kernel", 3, 'T', "Ad", plim_op_addcdiv),
    ANY("lerp_tensor_kernel", 3, 'T', "", plim_op_lerp),
    ANY("lerp_scalar_kernel", 2, 'T', "Od", plim_op_lerp_held),
    ANY("ldexp_kernel_cuda", 2, '<', "", plim_op_ldexp),
    /* comparisons and logic */
    ANY("CompareEqFunctor", 2, 'b', "i", plim_op_eq),
    ANY("CompareFunctor", 2, 'b', "i", plim_op_order),
    ANY("compare_scalar_kernel", 1, 'b', "iTd", plim_op_order_held),
    ANY("BitwiseAndFunctor", 2, 'T', "", plim_op_and),
    ANY("BitwiseOrFunctor", 2, 'T', "", plim_op_or),
    ANY("BitwiseXorFunctor", 2, 'T', "", plim_op_xor),
    ANY("bitwise_not_kernel_cuda", 1, 'T', "", plim_op_bitwise_not),
    ANY("lshift_kernel_cuda", 2, 'T', "", plim_op_lshift),
    ANY("rshift_kernel_cuda", 2, 'T', "", plim_op_rshift),
    ANY("logical_and_kernel_cuda", 2, 'b', "", plim_op_logical_and),
    ANY("logical_or_kernel_cuda", 2, 'b', "", plim_op_logical_or),
    ANY("logical_xor_kernel_cuda", 2, 'b', "", plim_op_logical_xor),
    ANY("logical_not_kernel_cuda", 1, 'b', "", plim_op_logical_not),
    ANY("signbit_kernel_cuda", 1, 'b', "", plim_op_signbit),
    ANY("isposinf_kernel_impl", 1, 'b', "", plim_op_isposinf),
    ANY("isneginf_kernel_impl", 1, 'b', "", plim_op_isneginf),
    /* choices */
    ANY("maximum_kernel_cuda", 2, 'T', "", plim_op_maximum),
    ANY("minimum_kernel_cuda", 2, 'T', "", plim_op_minimum),
    ANY("fmax_kernel_cuda", 2, 'T', "", plim_op_fmax),
    ANY("fmin_kernel_cuda", 2, 'T', "", plim_op_fmin),
    ANY("where_kernel_impl", 3, 'T', "d", plim_op_where),
    ANY("masked_fill_kernel", 2, '<', "Td", plim_op_masked_fill),
    ANY("clamp_kernel_impl", 3, 'T', "", plim_op_clamp),
    ANY("launch_clamp_scalar", 1, 'T', "iOOd", plim_op_clamp_limits),
    ANY("clamp_kernel_cuda", 1, 'T', "TTd", plim_op_clamp_held),
    ANY("clamp_min_kernel_cuda", 1, 'T', "Td", plim_op_clamp_min_held),
    ANY("clamp_max_kernel_cuda", 1, 'T', "Td", plim_op_clamp_max_held),
    ANY("threshold_kernel_impl", 2, 'T', "TTd", plim_op_threshold),
    ANY("nan_to_num_kernel_cuda", 1, 'T', "TTTd", plim_op_nan_to_num),
    /* elementary functions */
    UNARY("acos_kernel_cuda", acos),
    UNARY("acosh_kernel_cuda", acosh),
    UNARY("asin_kernel_cuda", asin),
    UNARY("asinh_kernel_cuda", asinh),
    UNARY("atan_kernel_cuda", atan),
    UNARY("atanh_kernel_cuda", atanh),
    UNARY("ceil_kernel_cuda", ceil),
    UNARY("cos_kernel_cuda", cos),
    UNARY("cosh_kernel_cuda", cosh),
    UNARY("erf_kernel_cuda", erf),
    UNARY("erfc_kernel_cuda", erfc),
    UNARY("exp_kernel_cuda", exp),
    UNARY("exp2_kernel_cuda", exp2),
    UNARY("expm1_kernel_cuda", expm1),
    UNARY("floor_kernel_cuda", floor),
    UNARY("frac_kernel_cuda", plim_fn_frac),
    UNARY("log_kernel_cuda", log),
    UNARY("log10_kernel_cuda", log10),
    UNARY("log1p_kernel_cuda", log1p),
    UNARY("log2_kernel_cuda", log2),
    UNARY("reciprocal_kernel_cuda", plim_fn_reciprocal),
    UNARY("round_kernel_cuda", nearbyint),
    UNARY("rsqrt_kernel_cuda", plim_fn_rsqrt),
    UNARY("sigmoid_kernel_cuda", plim_fn_sigmoid),
    UNARY("sin_kernel_cuda", sin),
    UNARY("sinh_kernel_cuda", sinh),
    UNARY("sqrt_kernel_cuda", sqrt),
    UNARY("tan_kernel_cuda", tan),
    UNARY("tanh_kernel_cuda", tanh),
    UNARY("trunc_kernel_cuda", trunc),
    BINARY("atan2_kernel_cuda", atan2),
    BINARY("copysign_kernel_cuda", copysign),
    BINARY("hypot_kernel_cuda", hypot),
    BINARY("logaddexp_kernel_cuda", plim_fn_logaddexp),
    { "logaddexp2_kernel_cuda", 0, 0, 2, 'T', "Od", NULL, plim_fn_logaddexp2, NULL },
    BINARY("xlogy_kernel_cuda", plim_fn_xlogy),
    BINARY("xlog1py_kernel_cuda", plim_fn_xlog1py),
    ANY("round_decimals_kernel_cuda", 1, 'T', "Tbd", plim_op_round_decimals),
    LAMBDA("logit_kernel_cuda", 2, 1, "OOd", plim_op_logit_held), /* with eps */
    UNARY("logit_kernel_cuda", plim_fn_logit),
    /* activations and losses */
    { "GeluCUDAKernelImpl", 0, 1, 1, 'T', "", plim_fn_gelu_tanh, NULL, NULL },
    { "GeluCUDAKernelImpl", 0, 2, 1, 'T', "", plim_fn_gelu, NULL, NULL },
    UNARY("silu_kernel", plim_fn_silu),
    UNARY("mish_kernel", plim_fn_mish),
    UNARY("launch_log_sigmoid_forward_kernel", plim_fn_log_sigmoid),
    { "hardsigmoid_kernel", 0, 0, 1, 'T', "OOOOd", plim_fn_hardsigmoid, NULL, NULL },
    { "hardswish_kernel", 0, 0, 1, 'T', "OOOOd", plim_fn_hardswish, NULL, NULL },
    ANY("leaky_relu_kernel", 1, 'T', "Od", plim_op_leaky_relu),
    ANY("elu_kernel", 1, 'T', "OOOd", plim_op_elu),
    ANY("softplus_kernel", 1, 'T', "OOd", plim_op_softplus),
    ANY("hardshrink_kernel", 1, 'T', "Td", plim_op_hardshrink),
    ANY("softshrink_kernel", 1, 'T', "Td", plim_op_softshrink),
    ANY("shrink_backward_kernel", 2, 'T', "Td", plim_op_shrink_backward),
    BINARY("glu_kernel", plim_fn_glu),
    BINARY("prelu_kernel", plim_fn_prelu),
    BINARY("mse_kernel_cuda", plim_fn_mse),
    BINARY("binary_cross_entropy_out_cuda", plim_fn_bce),
    BINARY("sigmoid_backward_kernel_cuda", plim_fn_sigmoid_backward),
    BINARY("tanh_backward_kernel_cuda", plim_fn_tanh_backward),
    ANY("huber_kernel_cuda", 2, 'T', "Td", plim_op_huber),
    ANY("smooth_l1_kernel_cuda", 2, 'T', "Td", plim_op_smooth_l1),
    ANY("masked_scale_kernel", 2, '<', "Od", plim_op_scale_masked),
    ANY("renorm_scale_factor_impl", 1, 'T', "Td", plim_op_renorm),
    /* the gradient scaler: the addresses of the flag and of the factor */
    ANY("_amp_non_finite_check_and_unscale_cuda_", 1, 'T', "ppd", plim_op_unscale),
    /* gradients: nobody steers by their values, but what they overwrite must be forgotten */
    NONE("GeluBackwardCUDAKernelImpl", 2, ""),
    NONE("silu_backward_kernel", 2, ""),
    NONE("mish_backward_kernel", 2, ""),
    NONE("leaky_relu_backward_kernel", 2, "Od"),
    NONE("elu_backward_kernel", 2, "OOObd"),
    NONE("softplus_backward_kernel", 2, "OOd"),
    NONE("hardtanh_backward_kernel", 2, "OOd"),
    NONE("hardsigmoid_backward_kernel", 2, "OOOOd"),
    NONE("hardswish_backward_kernel", 2, "OOOOd"),
    NONE("log_sigmoid_backward_kernel", 2, ""),
    NONE("mse_backward_cuda_kernel", 3, "Td"),
    NONE("huber_backward_cuda_kernel", 3, "TTd"),
    NONE("smooth_l1_backward_cuda_kernel", 3, "TTd"),
    NONE("nextafter_kernel_cuda", 2, ""),
    { NULL, 0, 0, 0, 0, NULL, NULL, NULL, NULL },
};
