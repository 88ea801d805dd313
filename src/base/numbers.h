/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_BASE_NUMBERS_H
#define PLIMSOLL_BASE_NUMBERS_H

/*
 * Arithmetic that hostile files and setups cannot bend: a figure that grows beyond all memory stays there, it never
 * wraps around to one that fits.
 */

#include <stdint.h>

/* The most one buffer counts as: 256 TiB. Thousands of them add up to less than 2^63. */
#define PLIM_MOST_BYTES ((uint64_t)1 << 48)

static inline uint32_t plim_min_u32(uint32_t a, uint32_t b) { return a < b ? a : b; }
static inline uint32_t plim_max_u32(uint32_t a, uint32_t b) { return a > b ? a : b; }
static inline uint64_t plim_min_u64(uint64_t a, uint64_t b) { return a < b ? a : b; }
static inline uint64_t plim_max_u64(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* The largest size that plim_size_parse() reads and that JSON's readers take as an integer. */
#define PLIM_BYTES_MAX ((uint64_t)INT64_MAX)

/* a + b, but at most PLIM_BYTES_MAX. */
static inline uint64_t plim_bytes_sum(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) || sum > PLIM_BYTES_MAX ? PLIM_BYTES_MAX : sum;
}

/* a * b, but at most PLIM_MOST_BYTES. */
static inline uint64_t plim_bytes_product(uint64_t a, uint64_t b)
{
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) || product > PLIM_MOST_BYTES ? PLIM_MOST_BYTES : product;
}

#endif
