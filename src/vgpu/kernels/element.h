/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_KERNELS_ELEMENT_H
#define PLIMSOLL_VGPU_KERNELS_ELEMENT_H

/* Types of elements in device memory, and their values as numbers that C computes with. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum plim_element {
    PLIM_ELEMENT_NONE,
    PLIM_ELEMENT_BOOL,
    PLIM_ELEMENT_U8,
    PLIM_ELEMENT_I8,
    PLIM_ELEMENT_I16,
    PLIM_ELEMENT_I32,
    PLIM_ELEMENT_I64,
    PLIM_ELEMENT_U16,
    PLIM_ELEMENT_U32,
    PLIM_ELEMENT_U64, /* as a number: the bits of an int64_t */
    PLIM_ELEMENT_F16,
    PLIM_ELEMENT_BF16,
    PLIM_ELEMENT_F32,
    PLIM_ELEMENT_F64,
    PLIM_ELEMENT_F8_E4M3FN,   /* OCP: no infinity, 0x7f and 0xff are NaN */
    PLIM_ELEMENT_F8_E5M2,     /* OCP: as IEEE */
    PLIM_ELEMENT_F8_E4M3FNUZ, /* no infinity, no negative zero; 0x80 is NaN */
    PLIM_ELEMENT_F8_E5M2FNUZ,
    PLIM_ELEMENT_MAX_
};

/* `f` of a floating-point type, `i` of a flag or an integer. */
union plim_scalar {
    int64_t i;
    double f;
};

unsigned plim_element_bytes(enum plim_element element); /* 0 for NONE */
bool plim_element_is_float(enum plim_element element);

/* c10::ScalarType (c10/core/ScalarType.h); NONE: complex, quantized or unknown. */
enum plim_element plim_element_of_scalar_type(int scalar_type);

union plim_scalar plim_element_load(enum plim_element element, const void *from);

/* Rounds to nearest even; what is too large becomes infinite, or NaN where the type has no infinity; integers wrap. */
void plim_element_store(enum plim_element element, void *to, union plim_scalar number);

/* static_cast from one type to another: a float becomes an integer by truncation, a flag whether it differs from 0. */
union plim_scalar plim_element_convert(enum plim_element to, enum plim_element from, union plim_scalar number);

/* The value of a number of this type as a double. */
double plim_element_as_double(enum plim_element element, union plim_scalar number);

#endif
