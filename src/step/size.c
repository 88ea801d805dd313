/* SPDX-License-Identifier: MIT */
#include "step/size.h"

/* The values as the size counts them. */
static struct plim_step_point rounded(const struct plim_step_size *size, const struct plim_step_point *point)
{
    struct plim_step_point result;
    for (unsigned i = 0; i < PLIM_STEP_MAX_VARIABLES; i++) {
        const uint64_t rest = (UINT64_C(1) << size->rounding[i]) - 1, value = point->value[i];
        result.value[i] = value > UINT64_MAX - rest ? UINT64_MAX : (value + rest) & ~rest;
    }
    return result;
}

/* |coefficient| x the powers of the variables; false when it is beyond 64 bits. */
static bool magnitude(const struct plim_step_term *term, const struct plim_step_point *point, uint64_t *ret)
{
    uint64_t product = term->coefficient < 0 ? 0 - (uint64_t)term->coefficient : (uint64_t)term->coefficient;
    bool is_inside = true;
    for (unsigned i = 0; i < PLIM_STEP_MAX_VARIABLES; i++)
        for (unsigned k = 0; k < term->power[i]; k++) {
            if (point->value[i] == 0 || product == 0) {
                *ret = 0; /* whatever the other factors are */
                return true;
            }
            is_inside &= !__builtin_mul_overflow(product, point->value[i], &product);
            product = is_inside ? product : 1;
        }
    *ret = product;
    return is_inside;
}

/* Of the terms of one sign. */
struct sum {
    uint64_t value;
    bool is_beyond; /* 64 bits */
};

static uint64_t quotient(const struct plim_step_size *size, struct sum more, struct sum less)
{
    if (more.is_beyond)
        return UINT64_MAX;
    if (less.is_beyond || more.value <= less.value)
        return 0;
    const uint64_t value = more.value - less.value, rest = value % size->denominator;
    return value / size->denominator + (rest > 0 && size->multiple_bytes > 1);
}

static uint64_t bounded(const struct plim_step_size *size, uint64_t bytes)
{
    if (bytes < size->least_bytes)
        return 0;
    const uint64_t beyond = size->multiple_bytes > 1 ? bytes % size->multiple_bytes : 0;
    const uint64_t missing = beyond ? size->multiple_bytes - beyond : 0;
    bytes = bytes > UINT64_MAX - missing ? UINT64_MAX : bytes + missing;
    return size->most_bytes && !size->is_rest && bytes > size->most_bytes ? size->most_bytes : bytes;
}

/* Before it is cut into pieces. */
static uint64_t whole(const struct plim_step_shape *shape, const struct plim_step_size *s,
                      const struct plim_step_point *point)
{
    struct sum more = { 0 }, less = { 0 };
    const struct plim_step_point values = rounded(s, point);
    for (uint32_t i = 0; i < s->n_terms; i++) {
        const struct plim_step_term *term = &shape->terms[s->first_term + i];
        struct sum *sum = term->coefficient < 0 ? &less : &more;
        uint64_t value = 0;
        sum->is_beyond |= !magnitude(term, &values, &value) || __builtin_add_overflow(sum->value, value, &sum->value);
    }
    return bounded(s, quotient(s, more, less));
}

uint64_t plim_step_size_bytes(const struct plim_step_shape *shape, uint32_t size, const struct plim_step_point *point)
{
    if (size >= shape->n_sizes)
        return 0;
    const struct plim_step_size *s = &shape->sizes[size];
    const uint64_t bytes = whole(shape, s, point);
    return s->is_rest && s->most_bytes && bytes ? (bytes - 1) % s->most_bytes + 1 : bytes;
}

uint64_t plim_step_size_pieces(const struct plim_step_shape *shape, uint32_t size, const struct plim_step_point *point)
{
    if (size >= shape->n_sizes || !shape->sizes[size].is_rest || !shape->sizes[size].most_bytes)
        return 1;
    const uint64_t bytes = whole(shape, &shape->sizes[size], point);
    return bytes == UINT64_MAX ? bytes : bytes ? (bytes - 1) / shape->sizes[size].most_bytes + 1 : 1;
}
