/* SPDX-License-Identifier: MIT */
#include "diagnose/seen.h"

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

uint64_t plim_seen_hash(const char *line, size_t n)
{
    uint64_t hash = 14695981039346656037U; /* FNV-1a */
    for (size_t i = 0; i < n;) {
        char c = line[i++];
        if (is_digit(c)) { /* and what hangs on it: "0x7f3a", "12ab" */
            c = '0';
            while (i < n && (is_digit(line[i]) || is_letter(line[i]) || line[i] == '.' || line[i] == ','))
                i++;
        }
        hash = (hash ^ (unsigned char)c) * 1099511628211U;
    }
    return hash;
}

struct plim_seen_line *plim_seen_find(struct plim_seen *seen, uint64_t hash)
{
    struct plim_seen_line *line = &seen->lines[(hash ^ hash >> 32) & ((1 << PLIM_SEEN_BITS) - 1)];
    if (line->hash != hash || line->n == 0)
        *line = (struct plim_seen_line){ .hash = hash, .finding = -1 };
    return line;
}

bool plim_seen_wants(struct plim_seen_line *line, uint64_t offset)
{
    if (line->n < PLIM_SEEN_IN_FULL)
        line->n++;
    else if (offset - line->last_read < PLIM_SEEN_APART_BYTES)
        return false;
    line->last_read = offset;
    return true;
}
