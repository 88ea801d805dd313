/* SPDX-License-Identifier: MIT */
/* Arithmetic on the values of a collective. Small floats are computed as float and rounded to the nearest, ties to
 * even. */
#include "vgpu/nccl/values.h"

#include <string.h>

enum { INT8, UINT8, INT32, UINT32, INT64, UINT64, FLOAT16, FLOAT32, FLOAT64, BFLOAT16, FLOAT8_E4M3, FLOAT8_E5M2 };

/* --- small floats --- */

struct float_format {
    int bytes, exponent_bits, fraction_bits;
    bool has_infinity; /* false: the highest code is NaN and the highest exponent is an ordinary one */
};

static const struct float_format *format_of(int type)
{
    static const struct float_format half = { 2, 5, 10, true }, brain = { 2, 8, 7, true }, e4m3 = { 1, 4, 3, false },
                                     e5m2 = { 1, 5, 2, true };
    return type == FLOAT16       ? &half
           : type == BFLOAT16    ? &brain
           : type == FLOAT8_E4M3 ? &e4m3
           : type == FLOAT8_E5M2 ? &e5m2
                                 : NULL;
}

static float power_of_2(int n)
{
    float result = 1;
    for (; n > 0; n--)
        result *= 2;
    for (; n < 0; n++)
        result /= 2;
    return result;
}

static float not_a_number(void)
{
    const uint32_t bits = 0x7fc00000;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static float decode(const struct float_format *f, unsigned code)
{
    const unsigned fraction = code & ((1u << f->fraction_bits) - 1), top = (1u << f->exponent_bits) - 1;
    const unsigned exponent = (code >> f->fraction_bits) & top;
    const int bias = (int)(top >> 1);
    const float sign = (code >> (f->fraction_bits + f->exponent_bits)) & 1 ? -1.0f : 1.0f;
    if (exponent == top && f->has_infinity)
        return fraction ? not_a_number() : sign * power_of_2(127) * 2;
    if (exponent == top && fraction == (1u << f->fraction_bits) - 1)
        return not_a_number();
    const unsigned whole = exponent ? fraction + (1u << f->fraction_bits) : fraction;
    return sign * (float)whole * power_of_2((exponent ? (int)exponent : 1) - bias - f->fraction_bits);
}

static unsigned encode(const struct float_format *f, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    const unsigned sign = bits >> 31 << (f->fraction_bits + f->exponent_bits);
    const unsigned top = (1u << f->exponent_bits) - 1, all = (1u << f->fraction_bits) - 1;
    const unsigned infinity = f->has_infinity ? top << f->fraction_bits : top << f->fraction_bits | all;
    const unsigned nan = infinity | (f->has_infinity ? 1u << (f->fraction_bits - 1) : 0);
    const uint32_t magnitude = bits & 0x7fffffff;
    if (magnitude > 0x7f800000)
        return sign | nan;
    if (magnitude == 0x7f800000)
        return sign | infinity;
    const int bias = (int)(top >> 1), exponent = (magnitude >> 23 ? (int)(magnitude >> 23) : 1) - 127;
    /* the number of dropped bits of 24, and the code of the rest */
    int shift = 23 - f->fraction_bits;
    if (exponent < 1 - bias)
        shift += 1 - bias - exponent;
    const uint64_t whole = (magnitude >> 23 ? 1u << 23 : 0) | (magnitude & 0x7fffff);
    if (shift > 25)
        return sign;
    uint64_t code = whole >> shift;
    const uint64_t lost = whole & (((uint64_t)1 << shift) - 1), half = shift ? (uint64_t)1 << (shift - 1) : 0;
    if (shift && (lost > half || (lost == half && (code & 1))))
        code++;
    if (exponent >= 1 - bias)
        code += (uint64_t)(exponent + bias - 1) << f->fraction_bits; /* with its leading one: the exponent */
    return sign | (code > infinity ? infinity : (unsigned)code);
}

static float load_small(const struct float_format *f, const uint8_t *p)
{
    return decode(f, f->bytes == 2 ? p[0] | (unsigned)p[1] << 8 : p[0]);
}

static void store_small(const struct float_format *f, uint8_t *p, float value)
{
    const unsigned code = encode(f, value);
    p[0] = (uint8_t)code;
    if (f->bytes == 2)
        p[1] = (uint8_t)(code >> 8);
}

/* --- one element --- */

/* Integers wrap around: they are added and multiplied as unsigned ones of 64 bits. */
#define APPLY(type, wide)                                                                                              \
    do {                                                                                                               \
        type a, b;                                                                                                     \
        memcpy(&a, into, sizeof a);                                                                                    \
        memcpy(&b, with, sizeof b);                                                                                    \
        a = reduction == NCCL_PROD  ? (type)((wide)a * (wide)b)                                                        \
            : reduction == NCCL_MAX ? (b > a ? b : a)                                                                  \
            : reduction == NCCL_MIN ? (b < a ? b : a)                                                                  \
                                    : (type)((wide)a + (wide)b);                                                       \
        memcpy(into, &a, sizeof a);                                                                                    \
    } while (0)

static float apply_float(float a, float b, enum nccl_reduction reduction)
{
    return reduction == NCCL_PROD  ? a * b
           : reduction == NCCL_MAX ? (b > a ? b : a)
           : reduction == NCCL_MIN ? (b < a ? b : a)
                                   : a + b;
}

static void combine_one(uint8_t *into, const uint8_t *with, int type, enum nccl_reduction reduction)
{
    const struct float_format *f = format_of(type);
    switch (type) {
    case INT8:
        APPLY(int8_t, uint64_t);
        break;
    case UINT8:
        APPLY(uint8_t, uint64_t);
        break;
    case INT32:
        APPLY(int32_t, uint64_t);
        break;
    case UINT32:
        APPLY(uint32_t, uint64_t);
        break;
    case INT64:
        APPLY(int64_t, uint64_t);
        break;
    case UINT64:
        APPLY(uint64_t, uint64_t);
        break;
    case FLOAT32:
        APPLY(float, float);
        break;
    case FLOAT64:
        APPLY(double, double);
        break;
    default:
        store_small(f, into, apply_float(load_small(f, into), load_small(f, with), reduction));
    }
}

/* --- arrays --- */

void plim_nccl_combine(uint8_t *into, uint8_t *into_known, const uint8_t *with, const uint8_t *with_known, size_t count,
                       int type, enum nccl_reduction reduction)
{
    const size_t width = plim_nccl_type_bytes(type);
    for (size_t i = 0; i < count * width; i += width) {
        uint8_t least = into_known[i];
        for (size_t j = 0; j < width; j++) {
            least = into_known[i + j] < least ? into_known[i + j] : least;
            least = with_known[i + j] < least ? with_known[i + j] : least;
        }
        memset(into_known + i, least, width);
        if (least)
            combine_one(into + i, with + i, type, reduction);
        else
            memset(into + i, 0, width);
    }
}

void plim_nccl_multiply(uint8_t *values, size_t count, int type, const uint8_t *scalar)
{
    const size_t width = plim_nccl_type_bytes(type);
    for (size_t i = 0; i < count * width; i += width)
        combine_one(values + i, scalar, type, NCCL_PROD);
}

#define DIVIDE(type)                                                                                                   \
    do {                                                                                                               \
        type a;                                                                                                        \
        memcpy(&a, value, sizeof a);                                                                                   \
        a = (type)(a / (type)n);                                                                                       \
        memcpy(value, &a, sizeof a);                                                                                   \
    } while (0)

void plim_nccl_divide(uint8_t *values, size_t count, int type, int n)
{
    const size_t width = plim_nccl_type_bytes(type);
    for (uint8_t *value = values; value < values + count * width; value += width)
        switch (type) {
        case INT8: /* n may not fit into the type */
            *value = (uint8_t)((int8_t)*value / n);
            break;
        case UINT8:
            *value = (uint8_t)(*value / n);
            break;
        case INT32:
            DIVIDE(int32_t);
            break;
        case UINT32:
            DIVIDE(uint32_t);
            break;
        case INT64:
            DIVIDE(int64_t);
            break;
        case UINT64:
            DIVIDE(uint64_t);
            break;
        case FLOAT32:
            DIVIDE(float);
            break;
        case FLOAT64:
            DIVIDE(double);
            break;
        default:
            store_small(format_of(type), value, load_small(format_of(type), value) / (float)n);
        }
}
