/* SPDX-License-Identifier: MIT */
#include "vgpu/kernels/elementwise/operations.h"

#include <math.h>

/* Functions of one or two doubles that libm does not have. */

double plim_fn_frac(double x) { return x - trunc(x); }
double plim_fn_gelu(double x) { return 0.5 * x * (1 + erf(x * sqrt(0.5))); }

double plim_fn_gelu_tanh(double x)
{
    const double two_over_sqrt_pi = 1.12837916709551257390; /* 2 / sqrt(pi); times sqrt(1/2) */
    return 0.5 * x * (1 + tanh(two_over_sqrt_pi * sqrt(0.5) * (x + 0.044715 * x * x * x)));
}

double plim_fn_hardsigmoid(double x) { return isnan(x) ? x : fmin(fmax(x + 3, 0), 6) / 6; }
double plim_fn_hardswish(double x) { return x * plim_fn_hardsigmoid(x); }
double plim_fn_log_sigmoid(double x) { return (x < 0 ? x : isnan(x) ? x : 0) - log1p(exp(-fabs(x))); }
double plim_fn_logit(double x) { return log(x / (1 - x)); }
double plim_fn_mish(double x) { return x * tanh(log1p(exp(x))); }
double plim_fn_reciprocal(double x) { return 1 / x; }
double plim_fn_rsqrt(double x) { return 1 / sqrt(x); }
double plim_fn_sigmoid(double x) { return 1 / (1 + exp(-x)); }
double plim_fn_silu(double x) { return x / (1 + exp(-x)); }

/* A logarithm is not below -100 (Loss.cu). */
double plim_fn_bce(double x, double target)
{
    return (target - 1) * fmax(log1p(-x), -100) - target * fmax(log(x), -100);
}

double plim_fn_glu(double x, double gate) { return x * plim_fn_sigmoid(gate); }

double plim_fn_logaddexp(double x, double y)
{
    if (isinf(x) && x == y)
        return x;
    const double most = x >= y || isnan(x) ? x : y;
    return most + log1p(exp(-fabs(x - y)));
}

double plim_fn_logaddexp2(double x, double y)
{
    if (isinf(x) && x == y)
        return x;
    const double most = x >= y || isnan(x) ? x : y;
    return most + log1p(exp2(-fabs(x - y))) / log(2);
}

double plim_fn_mse(double x, double y) { return (x - y) * (x - y); }
double plim_fn_prelu(double x, double weight) { return x > 0 ? x : weight * x; }
double plim_fn_sigmoid_backward(double gradient, double y) { return gradient * (1 - y) * y; }
double plim_fn_tanh_backward(double gradient, double y) { return gradient * (1 - y * y); }
double plim_fn_xlogy(double x, double y) { return isnan(y) ? y : x == 0 ? 0 : x * log(y); }
double plim_fn_xlog1py(double x, double y) { return isnan(y) ? y : x == 0 ? 0 : x * log1p(y); }
