/* SPDX-License-Identifier: MIT */
#include "diagnose/scan/patterns/prefilter.h"

#include "base/gnu_string.h"
#include "base/mem.h"
#include "diagnose/scan/prefix.h"

#include <string.h>

enum {
    BITMAP_BITS = 17, /* 16 KiB: stays in the first cache */
    TABLE_BITS = 12,
    AHEAD = 4,              /* positions that are looked at together */
    MAX_PREFIX_BYTES = 160, /* of a line: stamps, host, process, rank */
};

/* A gram of a trigger. Links count from 1; 0 ends a chain. */
struct link {
    uint32_t gram;
    uint32_t next;
    uint16_t offset;      /* of the gram in the word */
    uint16_t first, last; /* the triggers with this word: they stand together in the table */
    uint64_t word;
};

struct plim_prefilter {
    uint8_t bitmap[(1 << BITMAP_BITS) / 8];
    uint32_t table[1 << TABLE_BITS];
    struct link *links;
};

/* The six bytes at data, of which eight can be read. */
static inline uint64_t word_at(const char *data)
{
    uint64_t word;
    memcpy(&word, data, sizeof word);
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? word << 16 : word >> 16 << 16;
}

static inline uint32_t gram_at(const char *data)
{
    uint32_t gram;
    memcpy(&gram, data, sizeof gram);
    return gram;
}

/* Fibonacci hashing: 2^32 divided by the golden ratio. */
static inline uint32_t hash(uint32_t gram) { return gram * 2654435769U; }

/* 1 or 0: several are put together without a branch. */
static inline unsigned is_in_bitmap(const struct plim_prefilter *prefilter, uint32_t gram)
{
    const uint32_t bit = hash(gram) >> (32 - BITMAP_BITS);
    return prefilter->bitmap[bit >> 3] >> (bit & 7) & 1u;
}

struct plim_prefilter *plim_prefilter_new(void)
{
    struct plim_prefilter *prefilter = plim_alloc(1, sizeof *prefilter);
    struct link *links = plim_alloc((size_t)plim_n_triggers * PLIM_GRAM_STRIDE + 1, sizeof *links);
    if (!prefilter || !links) {
        plim_free(links);
        plim_free(prefilter);
        return NULL;
    }
    prefilter->links = links;
    uint32_t n = 0;
    for (uint16_t i = 0, last; i < plim_n_triggers; i = last) {
        char word[8] = { 0 };
        memcpy(word, plim_triggers[i].word, PLIM_TRIGGER_BYTES);
        last = i;
        while (last < plim_n_triggers && !memcmp(plim_triggers[last].word, word, PLIM_TRIGGER_BYTES))
            last++;
        for (uint32_t offset = 0; offset < PLIM_GRAM_STRIDE; offset++) {
            const uint32_t gram = gram_at(word + offset), bit = hash(gram) >> (32 - BITMAP_BITS);
            uint32_t *head = &prefilter->table[hash(gram) >> (32 - TABLE_BITS)];
            links[++n] = (struct link){ gram, *head, (uint16_t)offset, i, last, word_at(word) };
            *head = n;
            prefilter->bitmap[bit >> 3] = (uint8_t)(prefilter->bitmap[bit >> 3] | 1U << (bit & 7));
        }
    }
    return prefilter;
}

void plim_prefilter_free(struct plim_prefilter *prefilter)
{
    if (prefilter)
        plim_free(prefilter->links);
    plim_free(prefilter);
}

/* --- the anchor around a trigger --- */

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\0'; }

/* Where the comparison of plain bytes ends and only a window can tell: line ends, escapes, bytes beyond ASCII. */
static bool is_unclear(char c) { return c == '\n' || c == '\\' || c == '&' || c == '=' || c == '[' || (c & 0x80); }

static bool agrees_ahead(const char *data, size_t size, size_t at, const char *anchor)
{
    for (; *anchor; anchor++) {
        if (at >= size || is_unclear(data[at]))
            return at < size && data[at] == *anchor && (data[at] == '=' || data[at] == '[')
                       ? agrees_ahead(data, size, at + 1, anchor + 1)
                       : true;
        if (*anchor == ' ') {
            if (!is_blank(data[at]))
                return false;
            while (at < size && is_blank(data[at]))
                at++;
        } else if (data[at++] != *anchor) {
            return false;
        }
    }
    return true;
}

/* True when an escape may end just before data[at] ("\n", "=20", "&gt;"), or the prefix of a line. */
static bool is_behind_escape(const char *data, size_t at)
{
    for (size_t i = 1; i <= 6 && i <= at; i++)
        if (is_unclear(data[at - i]))
            return true;
    if (at > 0 && !plim_prefix_may_end(data[at - 1]))
        return false;
    const size_t reach = at < MAX_PREFIX_BYTES ? at : MAX_PREFIX_BYTES;
    const char *found = is_blank(data[at]) ? memrchr(data + at - reach, '\n', reach) : NULL;
    if (!found)
        return false;
    const size_t start = (size_t)(found + 1 - data), n = at + 1 - start;
    return plim_prefix_bytes(data + start, n, plim_prefix_has_task(data + start, n)) == n;
}

static bool agrees_behind(const char *data, size_t at, const char *anchor, size_t n)
{
    while (n > 0) {
        const char want = anchor[--n];
        if (at == 0)
            return false;
        if (want == ' ' && is_blank(data[at - 1])) {
            while (at > 0 && is_blank(data[at - 1]))
                at--;
            if (at > 0 && data[at - 1] == '\n')
                return true;
            continue;
        }
        if (data[at - 1] != want)
            return is_behind_escape(data, at);
        at--;
    }
    return true;
}

bool plim_prefilter_agrees(uint16_t trigger, const char *data, size_t size, size_t at)
{
    const struct plim_trigger *t = &plim_triggers[trigger];
    if (at >= t->at && at - t->at + t->n_anchor <= size && !memcmp(data + at - t->at, t->anchor, t->n_anchor))
        return true; /* nearly always when it is the one */
    return agrees_ahead(data, size, at + PLIM_TRIGGER_BYTES, t->anchor + t->at + PLIM_TRIGGER_BYTES) &&
           agrees_behind(data, at, t->anchor, t->at);
}

/* The first position from `at`, below `end`, with a gram of the bitmap; `end` or more when no position has one. */
static size_t skip(const struct plim_prefilter *prefilter, const char *data, size_t at, size_t end)
{
    enum { STEP = AHEAD * PLIM_GRAM_STRIDE };
    while (at + STEP <= end) {
        const char *d = data + at;
        if (is_in_bitmap(prefilter, gram_at(d)) | is_in_bitmap(prefilter, gram_at(d + PLIM_GRAM_STRIDE)) |
            is_in_bitmap(prefilter, gram_at(d + 2 * PLIM_GRAM_STRIDE)) |
            is_in_bitmap(prefilter, gram_at(d + 3 * PLIM_GRAM_STRIDE)))
            break;
        at += STEP;
    }
    while (at < end && !is_in_bitmap(prefilter, gram_at(data + at)))
        at += PLIM_GRAM_STRIDE;
    return at;
}

bool plim_prefilter_next(const struct plim_prefilter *prefilter, const char *data, size_t size, size_t end,
                         size_t *next, uint32_t *ref_link, struct plim_candidate *ret_candidate)
{
    const size_t last = size < PLIM_GRAM_BYTES ? 0 : size - PLIM_GRAM_BYTES + 1;
    char tail[8] = { 0 }; /* the last bytes, so that eight can be read */
    if (end > last)
        end = last;
    for (;;) {
        uint32_t i = *ref_link;
        if (i == 0) {
            *next = skip(prefilter, data, *next, end);
            if (*next >= end)
                return false;
            i = prefilter->table[hash(gram_at(data + *next)) >> (32 - TABLE_BITS)];
        }
        const uint32_t gram = gram_at(data + *next);
        for (; i; i = prefilter->links[i].next) {
            const struct link *link = &prefilter->links[i];
            const size_t at = *next - link->offset;
            if (link->gram != gram || *next < link->offset || at + PLIM_TRIGGER_BYTES > size)
                continue;
            const char *word = data + at;
            if (at + sizeof tail > size)
                word = memcpy(tail, data + at, PLIM_TRIGGER_BYTES);
            if (word_at(word) != link->word)
                continue;
            *ret_candidate = (struct plim_candidate){ at, link->first, link->last };
            *ref_link = link->next;
            if (!link->next)
                *next += PLIM_GRAM_STRIDE;
            return true;
        }
        *ref_link = 0;
        *next += PLIM_GRAM_STRIDE;
    }
}
