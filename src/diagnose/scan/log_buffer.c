/* SPDX-License-Identifier: MIT */
#include "diagnose/scan/log_buffer.h"

#include "base/gnu_string.h"
#include "base/mem.h"
#include "diagnose/scan/line_cache.h"

#include <string.h>

enum {
    CAPACITY = PLIM_LOG_HISTORY_BYTES + PLIM_LOG_BLOCK_BYTES,
    BEFORE_EVIDENCE = 120, /* characters of a long line that are shown before a match */
};

bool plim_log_buffer_init(struct plim_log_buffer *b)
{
    memset(b, 0, sizeof *b);
    b->data = plim_alloc_unset(CAPACITY + PLIM_LINE_CACHE_READ_AHEAD, 1);
    plim_decoder_init(&b->decoder);
    return b->data != NULL;
}

void plim_log_buffer_done(struct plim_log_buffer *b)
{
    plim_free(b->data);
    b->data = NULL;
}

void plim_log_buffer_reset(struct plim_log_buffer *b)
{
    *b = (struct plim_log_buffer){ .data = b->data };
    plim_decoder_init(&b->decoder);
}

size_t plim_log_buffer_fill(struct plim_log_buffer *b, const char *data, size_t n, bool is_end)
{
    return plim_decode(&b->decoder, data, n, is_end, b->data, CAPACITY, &b->length);
}

bool plim_log_buffer_is_full(const struct plim_log_buffer *b)
{
    return CAPACITY - b->length < 2 * PLIM_DECODE_HEAD_BYTES;
}

void plim_log_buffer_slide(struct plim_log_buffer *b)
{
    const size_t kept = PLIM_LOG_HISTORY_BYTES - PLIM_LOG_LOOKAHEAD_BYTES;
    if (b->scanned <= kept)
        return;
    const size_t gone = b->scanned - kept;
    plim_log_line_at(b, gone);
    b->base_lines += b->counted_lines;
    b->counted = 0;
    b->counted_lines = 0;
    memmove(b->data, b->data + gone, b->length - gone);
    b->length -= gone;
    b->scanned -= gone;
    b->base += gone;
}

/* --- lines --- */

static uint64_t count_lines(const char *data, size_t n)
{
    uint64_t lines = 0;
    while (n > 0) { /* bytes in a byte: a loop that vectors are good at */
        const size_t part = n < 128 ? n : 128;
        unsigned char sum = 0;
        for (size_t i = 0; i < part; i++)
            sum = (unsigned char)(sum + (data[i] == '\n'));
        lines += sum;
        data += part;
        n -= part;
    }
    return lines;
}

uint64_t plim_log_line_at(struct plim_log_buffer *b, size_t at)
{
    if (at >= b->counted)
        b->counted_lines += count_lines(b->data + b->counted, at - b->counted);
    else
        b->counted_lines -= count_lines(b->data + at, b->counted - at);
    b->counted = at;
    return b->base_lines + b->counted_lines + 1;
}

void plim_log_next_line(struct plim_log_buffer *b, size_t start)
{
    b->counted = start;
    b->counted_lines++;
}

size_t plim_log_line_start(const struct plim_log_buffer *b, size_t at, size_t most)
{
    const size_t first = at > most ? at - most : 0;
    const char *found = memrchr(b->data + first, '\n', at - first);
    return found ? (size_t)(found - b->data) + 1 : first;
}

size_t plim_log_line_end(const struct plim_log_buffer *b, size_t at, size_t most)
{
    const size_t last = b->length - at > most ? at + most : b->length;
    const char *found = memchr(b->data + at, '\n', last - at);
    return found ? (size_t)(found - b->data) : last;
}

void plim_log_show_line(struct plim_log_buffer *b, size_t at, struct plim_evidence *ret_evidence)
{
    const size_t start = plim_log_line_start(b, at, BEFORE_EVIDENCE);
    size_t n = plim_log_line_end(b, at, PLIM_EVIDENCE_BYTES) - start;
    ret_evidence->line = plim_log_line_at(b, at);
    if (n > PLIM_EVIDENCE_BYTES - 1)
        n = PLIM_EVIDENCE_BYTES - 1;
    memcpy(ret_evidence->text, b->data + start, n);
    ret_evidence->text[n] = '\0';
    for (size_t i = 0; i < n; i++)
        if (ret_evidence->text[i] == '\0' || ret_evidence->text[i] == '\t' || ret_evidence->text[i] == '\r')
            ret_evidence->text[i] = ' ';
    while (n > 0 && ret_evidence->text[n - 1] == ' ')
        ret_evidence->text[--n] = '\0';
}
