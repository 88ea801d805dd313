/* SPDX-License-Identifier: MIT */
#include "diagnose/scan/line_cache.h"

#include <string.h>

#define EACH(byte) (0x0101010101010101U * (uint64_t)(byte)) /* in eight bytes at once */

/* The first byte is the lowest. */
static inline uint64_t eight_at(const char *text)
{
    uint64_t word;
    memcpy(&word, text, sizeof word);
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? word : __builtin_bswap64(word);
}

/* The highest bit of each byte from `first` to `last`, both ASCII. */
static inline uint64_t bytes_from_to(uint64_t word, unsigned first, unsigned last)
{
    const uint64_t low = word & EACH(0x7f);
    return (low + EACH(0x80 - first)) & ~(low + EACH(0x7f - last)) & ~word & EACH(0x80);
}

static inline size_t first_of(uint64_t bits) { return bits ? (size_t)__builtin_ctzll(bits) / 8 : 8; }

/* "4", ",234.5", ":11:12", "-03-04": what stands among digits. */
static inline size_t figure_bytes(const char *text, size_t n)
{
    size_t i = 0, k = 8;
    for (; i < n && k == 8; i += k)
        k = first_of(~bytes_from_to(eight_at(text + i), '+', ':') & EACH(0x80));
    return i < n ? i : n;
}

static inline bool is_sign(char c) { return c == '-' || c == '+'; }

/* 2^64 divided by the golden ratio. */
static inline uint64_t mix(uint64_t hash, uint64_t word)
{
    return ((hash << 5 | hash >> 59) ^ word) * 0x9e3779b97f4a7c15U;
}

uint64_t plim_line_cache_hash(const char *text, size_t n, size_t most, size_t *ret_n)
{
    uint64_t hash = 0;
    size_t i = 0, end = n < most ? n : most;
    while (i < end) {
        const uint64_t word = eight_at(text + i), digits = bytes_from_to(word, '0', '9');
        if (!digits && end - i >= 8) { /* mostly */
            hash = mix(hash, word);
            i += 8;
            continue;
        }
        const size_t left = end - i, digit = first_of(digits);
        const bool is_figure = digit < left && digit < 8;
        const size_t k = !is_figure                                  ? left < 8 ? left : 8
                         : digit > 0 && is_sign(text[i + digit - 1]) ? digit - 1
                                                                     : digit;
        hash = mix(hash, k < 8 ? word & (((uint64_t)1 << 8 * k) - 1) : word);
        i += k;
        if (is_figure) {
            const size_t figure = figure_bytes(text + i, n - i);
            i += figure;
            end = n - end > figure ? end + figure : n; /* figures do not count */
        }
    }
    *ret_n = i;
    return hash | 1; /* 0: none */
}

static struct plim_line_kind *slots_of(struct plim_line_cache *cache, uint64_t hash)
{
    return cache->lines[hash >> (64 - PLIM_LINE_CACHE_BITS)];
}

struct plim_line_kind *plim_line_cache_find(struct plim_line_cache *cache, uint64_t hash)
{
    struct plim_line_kind *line = slots_of(cache, hash);
    for (int i = 0; i < PLIM_LINE_CACHE_WAYS; i++)
        if (line[i].hash == hash)
            return &line[i];
    return NULL;
}

struct plim_line_kind *plim_line_cache_add(struct plim_line_cache *cache, uint64_t hash, struct plim_line_kind *group)
{
    struct plim_line_kind *line = slots_of(cache, hash), *oldest = line;
    for (int i = 1; i < PLIM_LINE_CACHE_WAYS; i++)
        if (line[i].last_read < oldest->last_read)
            oldest = &line[i];
    *oldest = (struct plim_line_kind){ .hash = hash, .group = group, .found_at = UINT64_MAX, .finding = -1 };
    return oldest;
}

static bool is_in_full(const struct plim_line_kind *line)
{
    return line->n <
           (line->group->n < PLIM_LINE_CACHE_GROUP_IN_FULL ? PLIM_LINE_CACHE_IN_FULL : PLIM_LINE_CACHE_LEAST_IN_FULL);
}

static bool is_due(const struct plim_line_kind *line, uint64_t offset)
{
    return offset - line->last_read >= line->apart_bytes;
}

bool plim_line_cache_wants(const struct plim_line_kind *line, uint64_t offset)
{
    return is_in_full(line) || (is_due(line, offset) && is_due(line->group, offset));
}

static void put_off(struct plim_line_kind *line, uint64_t offset)
{
    line->last_read = offset;
    if (line->apart_bytes < PLIM_LINE_CACHE_MOST_APART_BYTES)
        line->apart_bytes = line->apart_bytes ? 2 * line->apart_bytes : PLIM_LINE_CACHE_APART_BYTES;
}

void plim_line_cache_read(struct plim_line_kind *line, uint64_t offset)
{
    if (is_in_full(line)) {
        line->n++;
        line->group->n += line->group != line;
        line->last_read = offset;
        return;
    }
    put_off(line, offset);
    if (line->group != line)
        put_off(line->group, offset);
}
