/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_KERNELS_CUB_OPERATOR_H
#define PLIMSOLL_VGPU_KERNELS_CUB_OPERATOR_H

/* Associative operators of reductions and scans. */

#include "vgpu/kernels/name.h"

enum plim_operator {
    PLIM_OPERATOR_NONE, /* not known */
    PLIM_OPERATOR_SUM,
    PLIM_OPERATOR_PRODUCT,
    PLIM_OPERATOR_MAXIMUM, /* NaN is the largest and the smallest */
    PLIM_OPERATOR_MINIMUM,
    PLIM_OPERATOR_LOG_SUM_EXP
};

/* From a functor's type. */
enum plim_operator plim_operator_of(struct plim_text type);

/* In the precision of double, or as integers that wrap. */
union plim_scalar plim_operate(enum plim_operator operation, bool is_float, union plim_scalar a, union plim_scalar b);

#endif
