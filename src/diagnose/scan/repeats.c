/* SPDX-License-Identifier: MIT */
#include "diagnose/scan/repeats.h"

#include <string.h>

enum {
    LINE_BEHIND = 256, /* all of a line decides its kind when it begins so near before the anchor ... */
    LINE_BYTES = 512,  /* ... and by no more than this */
    PIECE_BEHIND = 32, /* of a longer line, a piece that begins so near before the anchor */
    PIECE_BYTES = 192,
    NEAR_BYTES = 48, /* the text close to an anchor, from the anchor on */
    MAX_KINDS = 64,  /* of lines with a pattern; as many again of the text close to it */
};

void plim_repeats_reset(struct plim_repeats *r)
{
    memset(r, 0, sizeof *r);
    for (uint32_t i = 0; i < PLIM_MAX_PATTERNS; i++)
        r->groups[i] = (struct plim_line_kind){ .group = &r->groups[i], .found_at = UINT64_MAX, .finding = -1 };
}

/* Text from `start` on, up to `end` and no more than `most` bytes but figures, becomes the one that is looked at. */
static uint64_t hash_text(struct plim_repeats *r, const struct plim_log_buffer *b, size_t start, size_t end,
                          size_t most)
{
    size_t n = 0;
    const uint64_t hash = plim_line_cache_hash(b->data + start, end - start, most, &n);
    r->text_start = b->base + start;
    r->text_end = b->base + start + n;
    return hash;
}

static struct plim_line_kind *kind_of(struct plim_repeats *r, const struct plim_log_buffer *b,
                                      const struct plim_trigger *trigger, size_t at)
{
    const uint16_t pattern = trigger->pattern;
    const size_t line = plim_log_line_start(b, at, LINE_BEHIND), end = plim_log_line_end(b, at, 2 * LINE_BYTES);
    const bool is_whole = line == 0 || b->data[line - 1] == '\n';
    const size_t piece = at > line + PIECE_BEHIND ? at - PIECE_BEHIND : line,
                 near = at > line + trigger->at ? at - trigger->at : line;
    uint64_t hash = hash_text(r, b, is_whole ? line : piece, end, is_whole ? LINE_BYTES : PIECE_BYTES);
    struct plim_line_kind *kind = plim_line_cache_find(&r->cache, hash);
    uint16_t most = MAX_KINDS;
    if (!kind && r->n_kinds[pattern] >= most) {
        hash = hash_text(r, b, near, end, NEAR_BYTES);
        kind = plim_line_cache_find(&r->cache, hash);
        most = 2 * MAX_KINDS;
    }
    if (kind)
        return kind;
    if (r->n_kinds[pattern] >= most)
        return &r->groups[pattern];
    r->n_kinds[pattern]++;
    return plim_line_cache_add(&r->cache, hash, &r->groups[pattern]);
}

void plim_repeats_look(struct plim_repeats *r, const struct plim_log_buffer *b, const struct plim_trigger *trigger,
                       size_t at, bool may_read)
{
    const uint64_t offset = b->base + at;
    if (r->kind && offset >= r->text_start && offset < r->text_end) /* the text of the hit before holds this one, too */
        return;
    r->kind = kind_of(r, b, trigger, at);
    r->is_wanted = plim_line_cache_wants(r->kind, offset);
    if (r->is_wanted && may_read)
        plim_line_cache_read(r->kind, offset);
}

const struct plim_line_kind *plim_repeats_known_line(struct plim_repeats *r, const struct plim_log_buffer *b,
                                                     size_t start, size_t end, size_t *ret_n)
{
    const size_t last = end - start < 2 * LINE_BYTES ? end : start + 2 * LINE_BYTES;
    const uint64_t hash = plim_line_cache_hash(b->data + start, last - start, LINE_BYTES, ret_n);
    const struct plim_line_kind *kind = plim_line_cache_find(&r->cache, hash);
    return kind && !plim_line_cache_wants(kind, b->base + start) ? kind : NULL;
}
