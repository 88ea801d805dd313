/* SPDX-License-Identifier: MIT */
#include "diagnose/scan/decode.h"

#include <string.h>

enum { ESCAPE = 0x1b, BELL = 7, ROOM = 8 }; /* ROOM: the most that one unit can become */

enum { TEXT, AFTER_ESCAPE, IN_CSI, IN_STRING, STRING_ESCAPE, IN_INTERMEDIATE };

void plim_decoder_init(struct plim_decoder *decoder) { *decoder = (struct plim_decoder){ .odd = -1 }; }

/* --- which encoding --- */

static enum plim_encoding encoding_of(const unsigned char *head, size_t n, size_t *ret_bom)
{
    size_t n_even = 0, n_odd = 0;
    *ret_bom = 0;
    if (n >= 2 && head[0] == 0xff && head[1] == 0xfe) {
        *ret_bom = 2;
        return PLIM_ENCODING_UTF16LE;
    }
    if (n >= 2 && head[0] == 0xfe && head[1] == 0xff) {
        *ret_bom = 2;
        return PLIM_ENCODING_UTF16BE;
    }
    for (size_t i = 0; i + 1 < n; i += 2) {
        n_even += head[i] == 0;
        n_odd += head[i + 1] == 0;
    }
    if (n >= 16 && n_odd * 8 > n * 3 && n_even == 0) /* three of four characters are ASCII */
        return PLIM_ENCODING_UTF16LE;
    if (n >= 16 && n_even * 8 > n * 3 && n_odd == 0)
        return PLIM_ENCODING_UTF16BE;
    return PLIM_ENCODING_BYTES;
}

/* --- terminal sequences --- */

/* One byte through the state machine: true when it is text. */
static bool is_text(struct plim_decoder *d, unsigned char c)
{
    if (d->state == TEXT) {
        if (c != ESCAPE)
            return true;
        d->state = AFTER_ESCAPE;
        d->n_sequence = 0;
        return false;
    }
    /* No sequence holds a line end or is long: what looks so is text behind a stray escape character. */
    if (c == '\n' || ++d->n_sequence > PLIM_MAX_SEQUENCE_BYTES) {
        d->state = TEXT;
        return true;
    }
    switch (d->state) {
    case AFTER_ESCAPE:
        d->state = c == '[' ? IN_CSI : c == ']' || c == 'P' || c == '_' || c == '^' ? IN_STRING : TEXT;
        if (c >= 0x20 && c <= 0x2f)
            d->state = IN_INTERMEDIATE;
        return false;
    case IN_CSI:
        if (c >= 0x40 && c <= 0x7e)
            d->state = TEXT;
        return false;
    case IN_INTERMEDIATE:
        if (c < 0x20 || c > 0x2f)
            d->state = TEXT;
        return false;
    case IN_STRING:
        d->state = c == BELL ? TEXT : c == ESCAPE ? STRING_ESCAPE : IN_STRING;
        return false;
    default: /* STRING_ESCAPE */
        d->state = TEXT;
        return false;
    }
}

static size_t decode_bytes(struct plim_decoder *d, const char *data, size_t n, char *out, size_t size,
                           size_t *ref_n_out)
{
    size_t i = 0;
    while (i < n && *ref_n_out < size) {
        if (d->state == TEXT) {
            const size_t room = size - *ref_n_out, most = n - i < room ? n - i : room;
            const char *escape = memchr(data + i, ESCAPE, most);
            const size_t length = escape ? (size_t)(escape - data) - i : most;
            memcpy(out + *ref_n_out, data + i, length);
            *ref_n_out += length;
            i += length;
            if (!escape)
                continue;
        }
        if (is_text(d, (unsigned char)data[i]))
            out[(*ref_n_out)++] = data[i];
        i++;
    }
    return i;
}

/* --- UTF-16 --- */

static void put(struct plim_decoder *d, uint32_t code, char *out, size_t *ref_n_out)
{
    unsigned char utf8[4];
    size_t n = 0;
    if (code < 0x80) {
        if (!is_text(d, (unsigned char)code))
            return;
        utf8[n++] = (unsigned char)code;
    } else if (code < 0x800) {
        utf8[n++] = (unsigned char)(0xc0 | code >> 6);
        utf8[n++] = (unsigned char)(0x80 | (code & 63));
    } else if (code < 0x10000) {
        utf8[n++] = (unsigned char)(0xe0 | code >> 12);
        utf8[n++] = (unsigned char)(0x80 | (code >> 6 & 63));
        utf8[n++] = (unsigned char)(0x80 | (code & 63));
    } else {
        utf8[n++] = (unsigned char)(0xf0 | code >> 18);
        utf8[n++] = (unsigned char)(0x80 | (code >> 12 & 63));
        utf8[n++] = (unsigned char)(0x80 | (code >> 6 & 63));
        utf8[n++] = (unsigned char)(0x80 | (code & 63));
    }
    memcpy(out + *ref_n_out, utf8, n);
    *ref_n_out += n;
}

static void put_unit(struct plim_decoder *d, uint32_t unit, char *out, size_t *ref_n_out)
{
    enum { REPLACEMENT = 0xfffd };
    const uint32_t high = d->high;
    d->high = 0;
    if (high && unit >= 0xdc00 && unit < 0xe000) {
        put(d, 0x10000 + ((high - 0xd800) << 10) + (unit - 0xdc00), out, ref_n_out);
        return;
    }
    if (high)
        put(d, REPLACEMENT, out, ref_n_out);
    if (unit >= 0xd800 && unit < 0xdc00)
        d->high = unit;
    else
        put(d, unit >= 0xdc00 && unit < 0xe000 ? REPLACEMENT : unit, out, ref_n_out);
}

static size_t decode_units(struct plim_decoder *d, const char *data, size_t n, char *out, size_t size,
                           size_t *ref_n_out)
{
    size_t i = 0;
    for (; i < n && *ref_n_out + ROOM <= size; i++) {
        const unsigned char c = (unsigned char)data[i];
        if (d->odd < 0) {
            d->odd = c;
            continue;
        }
        const uint32_t first = (uint32_t)d->odd;
        d->odd = -1;
        put_unit(d, d->encoding == PLIM_ENCODING_UTF16LE ? first | (uint32_t)c << 8 : first << 8 | c, out, ref_n_out);
    }
    return i;
}

static size_t decode_known(struct plim_decoder *d, const char *data, size_t n, char *out, size_t size,
                           size_t *ref_n_out)
{
    return d->encoding == PLIM_ENCODING_BYTES ? decode_bytes(d, data, n, out, size, ref_n_out)
                                              : decode_units(d, data, n, out, size, ref_n_out);
}

size_t plim_decode(struct plim_decoder *d, const char *data, size_t n, bool is_end, char *out, size_t size,
                   size_t *ref_n_out)
{
    size_t taken = 0;
    if (d->encoding == PLIM_ENCODING_UNKNOWN) {
        taken = sizeof d->head - d->n_head < n ? sizeof d->head - d->n_head : n;
        memcpy(d->head + d->n_head, data, taken);
        d->n_head += taken;
        if ((d->n_head < sizeof d->head && !is_end) || size - *ref_n_out < 2 * sizeof d->head)
            return taken;
        size_t bom = 0;
        d->encoding = encoding_of((const unsigned char *)d->head, d->n_head, &bom);
        decode_known(d, d->head + bom, d->n_head - bom, out, size, ref_n_out);
    }
    return taken + decode_known(d, data + taken, n - taken, out, size, ref_n_out);
}
