/* SPDX-License-Identifier: MIT */
/*
 * gzip (RFC 1952) and zip through zlib, which is loaded when the first such file is read: the others are read without
 * it being there. Types and numbers are those of zlib.h.
 */
#include "base/limits.h"
#include "base/mem.h"
#include "base/system.h"
#include "trace/read/layer.h"

#include <string.h>
#include <zlib.h>

#if defined(__APPLE__)
#define ZLIB "libz.1.dylib"
#else
#define ZLIB "libz.so.1"
#endif

/* For inflateInit2(): the largest window, and a head and a sum of gzip, or neither. */
enum { GZIP_WINDOW = 15 + 16, RAW_WINDOW = -15 };

struct decoder {
    void *library;
    __typeof__(&(inflateInit2_)) init;
    __typeof__(&(inflate)) inflate;
    __typeof__(&(inflateReset)) reset;
    __typeof__(&(inflateEnd)) end;
    z_stream stream;
    uint64_t start_at; /* in the cursor below */
    uint64_t n_unpacked;
    bool has_stream, is_gzip, is_over;
};

static long fail(struct plim_trace_layer *layer, int code, const char *what)
{
    return plim_fail(&layer->failure, code, layer->from->at, "%s", what);
}

/* All that is at hand in the cursor below, at least one byte; 0 at its end. */
static size_t look(struct plim_cursor *from, const unsigned char **ret_bytes)
{
    if (!plim_cursor_left(from) || !plim_cursor_peek(from, 1, ret_bytes))
        return 0;
    return (size_t)((from->data_end < from->size ? from->data_end : from->size) - from->at);
}

/* Behind one part of a gzip file another may follow; what is neither is passed over, as gzip itself does. */
static bool has_more_parts(struct plim_trace_layer *layer)
{
    const struct decoder *d = layer->decoder;
    const unsigned char *head;
    return d->is_gzip && plim_cursor_left(layer->from) >= 2 && plim_cursor_peek(layer->from, 2, &head) &&
           head[0] == 0x1F && head[1] == 0x8B;
}

static long unpack(struct plim_trace_layer *layer, unsigned char *to, size_t room)
{
    struct decoder *d = layer->decoder;
    const unsigned char *bytes = NULL;
    const size_t n_bytes = look(layer->from, &bytes);
    if (!n_bytes)
        return layer->from->error ? plim_fail_errno(&layer->failure, NULL, "cannot read", layer->from->error)
                                  : fail(layer, PLIM_E_TRUNCATED, "the compressed data end early");
    d->stream.next_in = (Bytef *)(uintptr_t)bytes; /* only read: ZLIB_CONST came later than the oldest zlib */
    d->stream.avail_in = (uInt)n_bytes;
    d->stream.next_out = to;
    d->stream.avail_out = (uInt)room;
    const int status = d->inflate(&d->stream, Z_NO_FLUSH);
    layer->from->at += n_bytes - d->stream.avail_in;
    if (status == Z_MEM_ERROR)
        return fail(layer, PLIM_E_NOMEM, "out of memory");
    if (status != Z_OK && status != Z_STREAM_END)
        return fail(layer, PLIM_E_CORRUPT, "the compressed data are damaged");
    if (status == Z_STREAM_END)
        d->is_over = !has_more_parts(layer) || d->reset(&d->stream) != Z_OK;
    return (long)(room - d->stream.avail_out);
}

static long produce(struct plim_trace_layer *layer, unsigned char *to, size_t room)
{
    struct decoder *d = layer->decoder;
    long n = 0;
    while (n == 0 && !d->is_over)
        n = unpack(layer, to, room);
    d->n_unpacked += n > 0 ? (uint64_t)n : 0;
    const uint64_t packed = layer->from->at - d->start_at;
    if (d->n_unpacked > PLIM_MAX_TRACE_LEAST_BYTES &&
        d->n_unpacked - PLIM_MAX_TRACE_LEAST_BYTES > PLIM_MAX_TRACE_RATIO * packed)
        return fail(layer, PLIM_E_TOO_BIG, "the compressed data unfold to far more than a snapshot of their size");
    return n;
}

static void close_decoder(struct plim_trace_layer *layer)
{
    struct decoder *d = layer->decoder;
    if (d->has_stream)
        d->end(&d->stream);
    if (d->library)
        plim_system_library_close(d->library);
    plim_free(d);
    layer->decoder = NULL;
}

static bool find_symbols(struct decoder *d)
{
    plim_system_symbol(d->library, "inflateInit2_", &d->init);
    plim_system_symbol(d->library, "inflate", &d->inflate);
    plim_system_symbol(d->library, "inflateReset", &d->reset);
    plim_system_symbol(d->library, "inflateEnd", &d->end);
    return d->init && d->inflate && d->reset && d->end;
}

static int load(struct plim_trace_layer *layer, bool is_gzip, struct plim_error *reterr)
{
    struct decoder *d = layer->decoder;
    char why[PLIM_LIBRARY_WHY_BYTES];
    d->library = plim_system_library(ZLIB, why);
    if (!d->library || !find_symbols(d)) {
        plim_fail(reterr, PLIM_E_UNSUPPORTED, PLIM_NO_OFFSET, "compressed snapshots need zlib: %s %s", ZLIB,
                  d->library ? "is not zlib" : (*why ? why : "is not found"));
        plim_error_hint(reterr, "unpack the file first; or install zlib: the package is zlib1g in Debian");
        return PLIM_E_UNSUPPORTED;
    }
    d->is_gzip = is_gzip;
    d->start_at = layer->from->at;
    d->has_stream =
        d->init(&d->stream, is_gzip ? GZIP_WINDOW : RAW_WINDOW, ZLIB_VERSION, (int)sizeof d->stream) == Z_OK;
    return d->has_stream ? 0 : plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
}

static int start(struct plim_cursor *from, bool is_gzip, struct plim_trace_layer *ret_layer, struct plim_error *reterr)
{
    struct decoder *d = plim_alloc(1, sizeof *d);
    if (!d)
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    *ret_layer = (struct plim_trace_layer){ .from = from, .produce = produce, .close = close_decoder, .decoder = d };
    const int result = load(ret_layer, is_gzip, reterr);
    if (result == 0)
        return plim_trace_layer_start(ret_layer, reterr);
    plim_trace_layer_done(ret_layer);
    return result;
}

int plim_trace_layer_gzip(struct plim_cursor *from, struct plim_trace_layer *ret_layer, struct plim_error *reterr)
{
    return start(from, true, ret_layer, reterr);
}

/* --- zip --- */

/* A file that was stored as it is. Its end is not looked for: a pickle says itself where it ends. */
static long copy(struct plim_trace_layer *layer, unsigned char *to, size_t room)
{
    const unsigned char *bytes = NULL;
    size_t n = look(layer->from, &bytes);
    n = n < room ? n : room;
    if (n)
        memcpy(to, bytes, n);
    layer->from->at += n;
    return (long)n;
}

/* PKWARE's APPNOTE.TXT 4.3.7: the head of a file, its name and its extra field. */
int plim_trace_layer_zip(struct plim_cursor *from, struct plim_trace_layer *ret_layer, struct plim_error *reterr)
{
    enum { STORED = 0, DEFLATED = 8, ENCRYPTED = 1 };
    plim_cursor_skip(from, 6);
    const uint64_t flags = plim_cursor_uint(from, 2), method = plim_cursor_uint(from, 2);
    plim_cursor_skip(from, 16);
    const uint64_t name_bytes = plim_cursor_uint(from, 2), extra_bytes = plim_cursor_uint(from, 2);
    plim_cursor_skip(from, name_bytes + extra_bytes);
    if (from->failed)
        return plim_fail(reterr, PLIM_E_TRUNCATED, from->failed_at, "the zip file ends early");
    if ((flags & ENCRYPTED) || (method != STORED && method != DEFLATED))
        return plim_fail(reterr, PLIM_E_UNSUPPORTED, 0,
                         "the first file of this zip is encrypted or packed in a rare way");
    if (method == DEFLATED)
        return start(from, false, ret_layer, reterr);
    *ret_layer = (struct plim_trace_layer){ .from = from, .produce = copy };
    return plim_trace_layer_start(ret_layer, reterr);
}
