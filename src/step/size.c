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

uint64_t plim_step_size_bytes(const struct plim_step_shape *shape, uint32_t size, const struct plim_step_point *point)
{
    uint64_t more = 0, less = 0;
    bool is_more_inside = true, is_less_inside = true;
    if (size >= shape->n_sizes)
        return 0;
    const struct plim_step_size *s = &shape->sizes[size];
    const struct plim_step_point values = rounded(s, point);
    for (uint32_t i = 0; i < s->n_terms; i++) {
        const struct plim_step_term *term = &shape->terms[s->first_term + i];
        uint64_t *sum = term->coefficient < 0 ? &less : &more, value = 0;
        bool *is_inside = term->coefficient < 0 ? &is_less_inside : &is_more_inside;
        *is_inside &= magnitude(term, &values, &value) && !__builtin_add_overflow(*sum, value, sum);
    }
    if (!is_more_inside)
        return UINT64_MAX;
    return is_less_inside && more > less ? (more - less) / s->denominator : 0;
}
