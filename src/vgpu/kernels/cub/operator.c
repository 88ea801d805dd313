/* SPDX-License-Identifier: MIT */
#include "vgpu/kernels/cub/operator.h"

#include <math.h>

/*
 * The standard's functors; SumOp of ATen/cuda/cub.cu; Custom... of ATen/native/cuda/SegmentReduce.cu; the lambda of
 * ATen/native/cuda/LogcumsumexpKernel.cu. PyTorch 2.5 to 2.15.
 */
enum plim_operator plim_operator_of(struct plim_text type)
{
    static const struct {
        const char *name;
        enum plim_operator operation;
    } names[] = {
        { "launch_logcumsumexp_cuda_kernel", PLIM_OPERATOR_LOG_SUM_EXP },
        { "::plus<", PLIM_OPERATOR_SUM },
        { "::SumOp<", PLIM_OPERATOR_SUM },
        { "::CustomSum", PLIM_OPERATOR_SUM },
        { "::multiplies<", PLIM_OPERATOR_PRODUCT },
        { "::CustomProd", PLIM_OPERATOR_PRODUCT },
        { "::CustomMax", PLIM_OPERATOR_MAXIMUM },
        { "::CustomMin", PLIM_OPERATOR_MINIMUM },
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (plim_text_has(type, names[i].name))
            return names[i].operation;
    return PLIM_OPERATOR_NONE;
}

static double log_sum_exp(double a, double b)
{
    const double low = isnan(b) ? b : fmin(a, b), high = isnan(b) ? b : fmax(a, b);
    return isnan(a) ? a : low == high && isinf(low) ? high : log1p(exp(low - high)) + high;
}

static double of_floats(enum plim_operator operation, double a, double b)
{
    switch (operation) {
    case PLIM_OPERATOR_SUM:
        return a + b;
    case PLIM_OPERATOR_PRODUCT:
        return a * b;
    case PLIM_OPERATOR_MAXIMUM:
        return isnan(a) || a > b ? a : b;
    case PLIM_OPERATOR_MINIMUM:
        return isnan(a) || a < b ? a : b;
    default:
        return log_sum_exp(a, b);
    }
}

static int64_t of_integers(enum plim_operator operation, int64_t a, int64_t b)
{
    switch (operation) {
    case PLIM_OPERATOR_SUM:
        return (int64_t)((uint64_t)a + (uint64_t)b);
    case PLIM_OPERATOR_PRODUCT:
        return (int64_t)((uint64_t)a * (uint64_t)b);
    case PLIM_OPERATOR_MAXIMUM:
        return a > b ? a : b;
    default:
        return a < b ? a : b;
    }
}

union plim_scalar plim_operate(enum plim_operator operation, bool is_float, union plim_scalar a, union plim_scalar b)
{
    union plim_scalar result;
    if (is_float)
        result.f = of_floats(operation, a.f, b.f);
    else
        result.i = of_integers(operation, a.i, b.i);
    return result;
}
