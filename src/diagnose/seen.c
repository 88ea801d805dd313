/* SPDX-License-Identifier: MIT */
#include "diagnose/seen.h"

static inline bool is_letter(char c) { return (unsigned char)((c | 32) - 'a') < 26; }

static inline uint64_t mix(uint64_t hash, char c)
{
    const uint64_t next = (hash << 5 | hash >> 59) ^ (unsigned char)c;
    return is_letter(c) ? next + (next << 7) : hash;
}

uint64_t plim_seen_hash(const char *line, size_t n, size_t at, size_t *ret_end)
{
    uint64_t behind = 14695981039346656037U, ahead = 1099511628211U;
    int n_letters = 0;
    for (size_t i = at; i > 0 && n_letters < PLIM_SEEN_BEHIND; i--) {
        n_letters += is_letter(line[i - 1]);
        behind = mix(behind, line[i - 1]);
    }
    n_letters = 0;
    size_t end = at;
    for (; end < n && n_letters < PLIM_SEEN_AHEAD; end++) {
        n_letters += is_letter(line[end]);
        ahead = mix(ahead, line[end]);
    }
    *ret_end = end;
    return (behind ^ ahead * 3) * 0x9e3779b97f4a7c15U;
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
