/* SPDX-License-Identifier: MIT */
/* Base64 (RFC 4648) in quotes, as memory_viz puts a pickle into its pages: torch/cuda/_memory_viz.py, _format_viz. */
#include "base/limits.h"
#include "trace/read/layer.h"

#include <string.h>

/* The six bits of a letter; 64: it is none. */
static unsigned value_of(unsigned char letter)
{
    if (letter >= 'A' && letter <= 'Z')
        return letter - 'A';
    if (letter >= 'a' && letter <= 'z')
        return letter - 'a' + 26U;
    if (letter >= '0' && letter <= '9')
        return letter - '0' + 52U;
    return letter == '+' ? 62 : letter == '/' ? 63 : 64;
}

/* Letters at hand in the cursor below: at least four, but at its end. */
static size_t look(struct plim_cursor *from, const unsigned char **ret_letters)
{
    const uint64_t left = plim_cursor_left(from);
    if (!left || !plim_cursor_peek(from, left < 4 ? left : 4, ret_letters))
        return 0;
    const uint64_t at_hand = (from->data_end < from->size ? from->data_end : from->size) - from->at;
    return (size_t)(at_hand < left ? at_hand : left);
}

static long fail(struct plim_trace_layer *layer, const char *what)
{
    return plim_fail(&layer->failure, PLIM_E_CORRUPT, layer->from->at, "the base64 is damaged: %s", what);
}

/* A group that ends with = or ==; the quote follows. */
static long produce_last(struct plim_trace_layer *layer, const unsigned char *letters, unsigned char *to)
{
    const unsigned a = value_of(letters[0]), b = value_of(letters[1]), c = value_of(letters[2]);
    if ((a | b) > 63 || letters[3] != '=' || (c > 63 && letters[2] != '='))
        return fail(layer, "a letter that is none of it");
    to[0] = (unsigned char)(a << 2 | b >> 4);
    to[1] = (unsigned char)(b << 4 | (c & 63) >> 2);
    layer->from->at += 4;
    return c < 64 ? 2 : 1;
}

/* Groups of four letters, up to the quote. */
static long produce(struct plim_trace_layer *layer, unsigned char *to, size_t room)
{
    const unsigned char *letters = NULL;
    const size_t n_letters = look(layer->from, &letters);
    size_t n = 0, i = 0;
    for (; i + 4 <= n_letters && n + 3 <= room; i += 4) {
        const unsigned a = value_of(letters[i]), b = value_of(letters[i + 1]);
        const unsigned c = value_of(letters[i + 2]), d = value_of(letters[i + 3]);
        if ((a | b | c | d) > 63)
            break;
        const unsigned bits = a << 18 | b << 12 | c << 6 | d;
        to[n++] = (unsigned char)(bits >> 16);
        to[n++] = (unsigned char)(bits >> 8);
        to[n++] = (unsigned char)bits;
    }
    layer->from->at += i;
    if (n || room < 3)
        return (long)n;
    if (n_letters && letters[0] == '"')
        return 0;
    return n_letters < 4 ? fail(layer, "it ends early") : produce_last(layer, letters, to);
}

/* Step over the next occurrence of a word; false when there is none in the first PLIM_MAX_TRACE_PAGE_BYTES. */
static bool step_over(struct plim_cursor *from, const char *word)
{
    const size_t n = strlen(word);
    const unsigned char *bytes;
    while (from->at < PLIM_MAX_TRACE_PAGE_BYTES && plim_cursor_left(from) >= n && plim_cursor_peek(from, n, &bytes)) {
        if (memcmp(bytes, word, n) == 0)
            return plim_cursor_skip(from, n);
        from->at++;
    }
    return false;
}

int plim_trace_layer_base64(struct plim_cursor *from, struct plim_trace_layer *ret_layer, struct plim_error *reterr)
{
    *ret_layer = (struct plim_trace_layer){ .from = from, .produce = produce };
    if (!step_over(from, "\"base64\"") || !step_over(from, ":") || !step_over(from, "\""))
        return plim_fail(reterr, PLIM_E_UNSUPPORTED, PLIM_NO_OFFSET, "not a snapshot: a page without one");
    return plim_trace_layer_start(ret_layer, reterr);
}
