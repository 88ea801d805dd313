/* SPDX-License-Identifier: MIT */
#include "diagnose/seen.h"

/* Two sums that do not wait for each other, over letters only: numbers of any length leave no trace. */
uint64_t plim_seen_hash(const char *text, size_t n)
{
    uint64_t a = 14695981039346656037U, b = 1099511628211U;
    for (size_t i = 0; i < n; i++) {
        const unsigned char c = (unsigned char)text[i];
        const bool is_letter = (unsigned char)((c | 32) - 'a') < 26;
        a = is_letter ? (a << 5 | a >> 59) ^ c : a;
        b += is_letter ? a : 0;
    }
    return (a ^ b) * 0x9e3779b97f4a7c15U;
}

struct plim_seen_line *plim_seen_find(struct plim_seen *seen, uint64_t hash)
{
    struct plim_seen_line *line = &seen->lines[hash >> (64 - PLIM_SEEN_BITS)];
    if (line->hash != hash || line->n == 0)
        *line = (struct plim_seen_line){ .hash = hash, .finding = -1 };
    return line;
}

bool plim_seen_wants(struct plim_seen_line *line, uint64_t offset)
{
    if (line->n < PLIM_SEEN_IN_FULL)
        line->n++;
    else if (offset - line->last_read < line->apart_bytes)
        return false;
    else if (line->apart_bytes < PLIM_SEEN_MOST_APART_BYTES)
        line->apart_bytes = line->apart_bytes ? 2 * line->apart_bytes : PLIM_SEEN_APART_BYTES;
    line->last_read = offset;
    return true;
}
