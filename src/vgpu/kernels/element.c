/* SPDX-License-Identifier: MIT */
#include "vgpu/kernels/element.h"

#include <math.h>
#include <string.h>

/* A small floating-point type: bits of exponent and mantissa, and how it spells what is not finite. */
struct small {
    uint8_t exponent_bits, mantissa_bits, bias;
    bool has_infinity; /* as IEEE: the largest exponent is for infinity and NaN */
    bool is_fnuz;      /* the negative zero is the only NaN */
};

static const struct small *small_of(enum plim_element element)
{
    static const struct small types[PLIM_ELEMENT_MAX_] = {
        [PLIM_ELEMENT_F16] = { 5, 10, 15, true, false },       [PLIM_ELEMENT_BF16] = { 8, 7, 127, true, false },
        [PLIM_ELEMENT_F8_E4M3FN] = { 4, 3, 7, false, false },  [PLIM_ELEMENT_F8_E5M2] = { 5, 2, 15, true, false },
        [PLIM_ELEMENT_F8_E4M3FNUZ] = { 4, 3, 8, false, true }, [PLIM_ELEMENT_F8_E5M2FNUZ] = { 5, 2, 16, false, true },
    };
    return &types[element];
}

unsigned plim_element_bytes(enum plim_element element)
{
    static const uint8_t bytes[PLIM_ELEMENT_MAX_] = { 0, 1, 1, 1, 2, 4, 8, 2, 4, 8, 2, 2, 4, 8, 1, 1, 1, 1 };
    return element < PLIM_ELEMENT_MAX_ ? bytes[element] : 0;
}

bool plim_element_is_float(enum plim_element element) { return element >= PLIM_ELEMENT_F16; }

enum plim_element plim_element_of_scalar_type(int scalar_type)
{
    static const uint8_t elements[] = {
        [0] = PLIM_ELEMENT_U8,           [1] = PLIM_ELEMENT_I8,           [2] = PLIM_ELEMENT_I16,
        [3] = PLIM_ELEMENT_I32,          [4] = PLIM_ELEMENT_I64,          [5] = PLIM_ELEMENT_F16,
        [6] = PLIM_ELEMENT_F32,          [7] = PLIM_ELEMENT_F64,          [11] = PLIM_ELEMENT_BOOL,
        [15] = PLIM_ELEMENT_BF16,        [23] = PLIM_ELEMENT_F8_E5M2,     [24] = PLIM_ELEMENT_F8_E4M3FN,
        [25] = PLIM_ELEMENT_F8_E5M2FNUZ, [26] = PLIM_ELEMENT_F8_E4M3FNUZ, [27] = PLIM_ELEMENT_U16,
        [28] = PLIM_ELEMENT_U32,         [29] = PLIM_ELEMENT_U64,
    };
    return scalar_type >= 0 && (size_t)scalar_type < sizeof elements ? (enum plim_element)elements[scalar_type]
                                                                     : PLIM_ELEMENT_NONE;
}

static double load_small(const struct small *type, unsigned bits)
{
    const unsigned mantissa = bits & ((1u << type->mantissa_bits) - 1);
    const unsigned sign = bits >> (type->exponent_bits + type->mantissa_bits) & 1;
    const unsigned exponent = bits >> type->mantissa_bits & ((1u << type->exponent_bits) - 1);
    const unsigned most = (1u << type->exponent_bits) - 1;
    double value;
    if (type->has_infinity && exponent == most)
        value = mantissa ? (double)NAN : (double)INFINITY;
    else if (type->is_fnuz ? sign && !exponent && !mantissa
                           : !type->has_infinity && exponent == most && mantissa == (1u << type->mantissa_bits) - 1)
        return (double)NAN;
    else if (exponent == 0)
        value = ldexp(mantissa, 1 - type->bias - type->mantissa_bits);
    else
        value = ldexp(mantissa + (1u << type->mantissa_bits), (int)exponent - type->bias - type->mantissa_bits);
    return sign ? -value : value;
}

/* The bits of NaN, or of what is too large. */
static unsigned beyond(const struct small *type, unsigned sign, bool is_nan)
{
    const unsigned all = (1u << (type->exponent_bits + type->mantissa_bits)) - 1;
    if (type->is_fnuz)
        return 1u << (type->exponent_bits + type->mantissa_bits);
    if (!type->has_infinity)
        return sign | all;
    const unsigned infinity = all & ~((1u << type->mantissa_bits) - 1);
    return sign | infinity | (is_nan ? 1u << (type->mantissa_bits - 1) : 0);
}

static unsigned store_small(const struct small *type, double value)
{
    const unsigned sign = signbit(value) ? 1u << (type->exponent_bits + type->mantissa_bits) : 0;
    int exponent;
    if (!isfinite(value))
        return beyond(type, sign, isnan(value));
    if (value == 0)
        return type->is_fnuz ? 0 : sign;
    frexp(value, &exponent); /* |value| is in [2^(exponent-1), 2^exponent) */
    const int least = 1 - type->bias, power = (exponent - 1 > least ? exponent - 1 : least) - type->mantissa_bits;
    const double scaled = nearbyint(ldexp(fabs(value), -power)); /* in units of the last place */
    /* Bits of a normal number: the units carry over into the exponent by themselves. */
    uint64_t bits = (uint64_t)scaled;
    if (exponent - 1 >= least || bits >= 1u << type->mantissa_bits)
        bits += (uint64_t)(power + type->mantissa_bits - least) << type->mantissa_bits;
    const unsigned most = type->has_infinity ? ((1u << type->exponent_bits) - 1) << type->mantissa_bits
                          : type->is_fnuz    ? 1u << (type->exponent_bits + type->mantissa_bits)
                                             : (1u << (type->exponent_bits + type->mantissa_bits)) - 1;
    if (bits >= most)
        return beyond(type, sign, false);
    return type->is_fnuz && bits == 0 ? 0 : sign | (unsigned)bits;
}

#define LOAD(type, from)                                                                                               \
    __extension__({                                                                                                    \
        type loaded;                                                                                                   \
        memcpy(&loaded, from, sizeof loaded);                                                                          \
        loaded;                                                                                                        \
    })

union plim_scalar plim_element_load(enum plim_element element, const void *from)
{
    switch (element) {
    case PLIM_ELEMENT_BOOL:
        return (union plim_scalar){ .i = LOAD(uint8_t, from) != 0 };
    case PLIM_ELEMENT_U8:
        return (union plim_scalar){ .i = LOAD(uint8_t, from) };
    case PLIM_ELEMENT_I8:
        return (union plim_scalar){ .i = LOAD(int8_t, from) };
    case PLIM_ELEMENT_I16:
        return (union plim_scalar){ .i = LOAD(int16_t, from) };
    case PLIM_ELEMENT_U16:
        return (union plim_scalar){ .i = LOAD(uint16_t, from) };
    case PLIM_ELEMENT_I32:
        return (union plim_scalar){ .i = LOAD(int32_t, from) };
    case PLIM_ELEMENT_U32:
        return (union plim_scalar){ .i = LOAD(uint32_t, from) };
    case PLIM_ELEMENT_I64:
    case PLIM_ELEMENT_U64:
        return (union plim_scalar){ .i = LOAD(int64_t, from) };
    case PLIM_ELEMENT_F32:
        return (union plim_scalar){ .f = (double)LOAD(float, from) };
    case PLIM_ELEMENT_F64:
        return (union plim_scalar){ .f = LOAD(double, from) };
    case PLIM_ELEMENT_F16:
    case PLIM_ELEMENT_BF16:
        return (union plim_scalar){ .f = load_small(small_of(element), LOAD(uint16_t, from)) };
    case PLIM_ELEMENT_NONE:
    case PLIM_ELEMENT_MAX_:
        return (union plim_scalar){ .i = 0 };
    default:
        return (union plim_scalar){ .f = load_small(small_of(element), LOAD(uint8_t, from)) };
    }
}

void plim_element_store(enum plim_element element, void *to, union plim_scalar number)
{
    const float single = plim_element_is_float(element) ? (float)number.f : 0.0f;
    const uint8_t flag = number.i != 0;
    switch (element) {
    case PLIM_ELEMENT_NONE:
    case PLIM_ELEMENT_MAX_:
        return;
    case PLIM_ELEMENT_BOOL:
        memcpy(to, &flag, 1);
        return;
    case PLIM_ELEMENT_F32:
        memcpy(to, &single, sizeof single);
        return;
    case PLIM_ELEMENT_F64:
        memcpy(to, &number.f, sizeof number.f);
        return;
    default:
        break;
    }
    if (plim_element_is_float(element)) { /* by way of float, as the kernels round */
        const uint16_t bits = (uint16_t)store_small(small_of(element), (double)single);
        memcpy(to, &bits, plim_element_bytes(element));
        return;
    }
    memcpy(to, &number.i, plim_element_bytes(element)); /* little endian: the low bytes */
}

double plim_element_as_double(enum plim_element element, union plim_scalar number)
{
    return plim_element_is_float(element) ? number.f
           : element == PLIM_ELEMENT_U64  ? (double)(uint64_t)number.i
                                          : (double)number.i;
}

/* Out of range is undefined in C; the card saturates, and NaN is 0. */
static int64_t truncated(double value)
{
    return isnan(value) ? 0 : value >= 0x1p63 ? INT64_MAX : value < -0x1p63 ? INT64_MIN : (int64_t)value;
}

union plim_scalar plim_element_convert(enum plim_element to, enum plim_element from, union plim_scalar number)
{
    uint8_t bytes[8] = { 0 };
    if (to == from)
        return number;
    if (plim_element_is_float(to)) {
        number.f = plim_element_as_double(from, number);
    } else if (plim_element_is_float(from)) {
        number.i = to == PLIM_ELEMENT_BOOL                        ? number.f != 0
                   : to == PLIM_ELEMENT_U64 && number.f >= 0x1p63 ? (int64_t)(uint64_t)number.f
                                                                  : truncated(number.f);
    }
    plim_element_store(to, bytes, number);
    return plim_element_load(to, bytes);
}
