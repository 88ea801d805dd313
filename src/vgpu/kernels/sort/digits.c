/* SPDX-License-Identifier: MIT */
#include "vgpu/kernels/sort/digits.h"

#include <stdlib.h>
#include <string.h>

uint64_t plim_digits_of(enum plim_element element, bool is_descending, const void *key)
{
    const unsigned n_bits = 8 * plim_element_bytes(element);
    const uint64_t sign = 1ULL << (n_bits - 1), all = sign | (sign - 1);
    const bool is_signed = element == PLIM_ELEMENT_I8 || element == PLIM_ELEMENT_I16 || element == PLIM_ELEMENT_I32 ||
                           element == PLIM_ELEMENT_I64;
    uint64_t bits = 0;
    memcpy(&bits, key, n_bits / 8); /* little endian */
    if (is_signed)
        bits ^= sign;
    else if (plim_element_is_float(element) && bits == sign)
        bits = sign; /* -0 as 0, whose bits become the sign */
    else if (plim_element_is_float(element))
        bits ^= bits & sign ? all : sign;
    return is_descending ? ~bits & all : bits;
}

struct item {
    uint64_t digits, from;
};

/* A stable distribution by 8 bits. */
static void distribute(const struct item *from, struct item *to, uint64_t n, unsigned shift, uint64_t mask)
{
    enum { N_BINS = 256 };
    uint64_t start[N_BINS + 1] = { 0 };
    for (uint64_t i = 0; i < n; i++)
        start[(from[i].digits >> shift & mask) + 1]++;
    for (unsigned i = 0; i < N_BINS; i++)
        start[i + 1] += start[i];
    for (uint64_t i = 0; i < n; i++)
        to[start[from[i].digits >> shift & mask]++] = from[i];
}

bool plim_digits_sort(const struct plim_digits *digits, uint64_t n, const uint8_t *keys, const uint8_t *values,
                      uint8_t *ret_keys, uint8_t *ret_values)
{
    enum { BITS = 8 };
    const unsigned width = plim_element_bytes(digits->key);
    struct item *items = calloc(2 * n + 1, sizeof *items);
    struct item *from = items, *to = items + n;
    if (!items)
        return false;
    for (uint64_t i = 0; i < n; i++)
        from[i] = (struct item){ plim_digits_of(digits->key, digits->is_descending, keys + i * width), i };
    const unsigned end =
        digits->first_bit + digits->n_bits < 8 * width ? digits->first_bit + digits->n_bits : 8 * width;
    for (unsigned bit = digits->first_bit; bit < end; bit += BITS) {
        const unsigned n_bits = end - bit < BITS ? end - bit : BITS;
        distribute(from, to, n, bit, (1u << n_bits) - 1);
        struct item *const sorted = to;
        to = from;
        from = sorted;
    }
    for (uint64_t i = 0; i < n; i++) {
        memcpy(ret_keys + i * width, keys + from[i].from * width, width);
        if (digits->value_bytes)
            memcpy(ret_values + i * digits->value_bytes, values + from[i].from * digits->value_bytes,
                   digits->value_bytes);
    }
    free(items);
    return true;
}
