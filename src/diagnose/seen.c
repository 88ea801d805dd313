/* SPDX-License-Identifier: MIT */
#include "diagnose/seen.h"

static bool is_letter(char c) { return (unsigned char)((c | 32) - 'a') < 26; }

/* Two sums that do not wait for each other. */
uint64_t plim_seen_hash(const char *line, size_t n, size_t at, size_t *ret_end)
{
    uint64_t a = 14695981039346656037U, b = 1099511628211U;
    size_t start = at, end = at;
    for (int n_letters = 0; start > 0 && n_letters < PLIM_SEEN_BEHIND; start--)
        n_letters += is_letter(line[start - 1]);
    for (int n_letters = 0; end < n && n_letters < PLIM_SEEN_AHEAD; end++)
        n_letters += is_letter(line[end]);
    for (size_t i = start; i < end; i++) {
        const unsigned char c = (unsigned char)line[i];
        const uint64_t next = (a << 5 | a >> 59) ^ c;
        a = is_letter(line[i]) ? next : a;
        b += is_letter(line[i]) ? a : 0;
    }
    *ret_end = end;
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
