/* SPDX-License-Identifier: MIT */
/*
 * The place of a string follows from the length of the one before, so a walk waits for memory at every step. Four walks
 * at once wait together: the first begins where the strings do, the others where a length seems to stand in each
 * quarter of the data. A guess is good when the walk before it arrives just there, and is dropped otherwise; so no
 * guess can make the result wrong, only the walk slower.
 */
#include "model/strings.h"

#include <string.h>

enum {
    LENGTH_BYTES = sizeof(uint64_t),
    N_WALKS = 4,
    LEAST_BYTES = 4 << 10, /* below this one walk is as fast */
    LIKELY_LENGTH = 255,   /* of a token: then seven of the eight bytes are zeros, which texts have not */
    FARTHEST_LOOK = 1024,
};

struct walk {
    size_t at, until; /* the next walk begins at until */
    uint64_t n;
};

static inline uint64_t length_at(const unsigned char *data, size_t at, bool is_foreign)
{
    uint64_t length;
    memcpy(&length, data + at, sizeof length);
    return is_foreign ? __builtin_bswap64(length) : length;
}

/* One string further; false at the end of the walk and for a string that reaches past the data. */
static inline bool step(const unsigned char *data, size_t size, bool is_foreign, struct walk *walk)
{
    if (walk->at >= walk->until)
        return false;
    const uint64_t length = length_at(data, walk->at, is_foreign);
    if (length > size - LENGTH_BYTES - walk->at)
        return false;
    walk->at += LENGTH_BYTES + (size_t)length;
    walk->n++;
    return true;
}

/* Where a string seems to begin; the end of the data: nowhere near. */
static size_t guess_string(const unsigned char *data, size_t size, size_t from, bool is_foreign)
{
    for (size_t at = from; at + LENGTH_BYTES <= size && at < from + FARTHEST_LOOK; at++)
        if (length_at(data, at, is_foreign) <= LIKELY_LENGTH)
            return at;
    return size;
}

/* As long as all four have a next string. Written out: in an array their places would go through memory each step. */
static void walk_together(const unsigned char *data, size_t size, bool is_foreign, struct walk *walk)
{
    const size_t last = size - LENGTH_BYTES;
    size_t a = walk[0].at, b = walk[1].at, c = walk[2].at, d = walk[3].at;
    uint64_t rounds = 0;
    for (; a < walk[0].until && b < walk[1].until && c < walk[2].until && d < walk[3].until; rounds++) {
        const uint64_t of_a = length_at(data, a, is_foreign), of_b = length_at(data, b, is_foreign);
        const uint64_t of_c = length_at(data, c, is_foreign), of_d = length_at(data, d, is_foreign);
        if (of_a > last - a || of_b > last - b || of_c > last - c || of_d > last - d)
            break;
        a += LENGTH_BYTES + (size_t)of_a;
        b += LENGTH_BYTES + (size_t)of_b;
        c += LENGTH_BYTES + (size_t)of_c;
        d += LENGTH_BYTES + (size_t)of_d;
    }
    const size_t at[N_WALKS] = { a, b, c, d };
    for (int i = 0; i < N_WALKS; i++)
        walk[i] = (struct walk){ at[i], walk[i].until, rounds };
}

/* The strings that the walks found one after the other; none when there is no place for four. */
static struct walk walk_quarters(const unsigned char *data, size_t size, uint64_t n, bool is_foreign)
{
    struct walk walk[N_WALKS] = { { 0, 0, 0 } }, all = { 0, 0, 0 };
    for (int i = 1; i < N_WALKS; i++) {
        walk[i].at = walk[i - 1].until = guess_string(data, size, size / N_WALKS * (size_t)i, is_foreign);
        if (walk[i].at == size)
            return all;
    }
    walk[N_WALKS - 1].until = size - LENGTH_BYTES + 1;
    walk_together(data, size, is_foreign, walk);
    for (int i = 0; i < N_WALKS; i++)
        while (step(data, size, is_foreign, &walk[i]))
            ;
    for (int i = 0; i < N_WALKS && walk[i].n <= n - all.n; i++) {
        all.at = walk[i].at;
        all.n += walk[i].n;
        if (walk[i].at != walk[i].until) /* the guess of the next one was wrong */
            break;
    }
    return all;
}

size_t plim_strings_walk(const unsigned char *data, size_t size, uint64_t n, bool is_foreign, uint64_t *ret_n)
{
    struct walk walk = { 0, 0, 0 };
    if (size >= LEAST_BYTES)
        walk = walk_quarters(data, size, n, is_foreign);
    walk.until = size < LENGTH_BYTES ? 0 : size - LENGTH_BYTES + 1;
    while (walk.n < n && step(data, size, is_foreign, &walk))
        ;
    *ret_n = walk.n;
    return walk.at;
}
