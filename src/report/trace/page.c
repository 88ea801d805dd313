/* SPDX-License-Identifier: MIT */
/*
 * The page: its text around two elements with data that no browser executes, the answer as JSON and the history in
 * base64 (pack.h). Texts of a snapshot are in these two alone, so none of them is read as HTML.
 */
#include "report/trace/pack.h"

#include <errno.h>
#include <string.h>

/* Made of page/ at build time (tools/embed_page.py): what comes before the data, and behind them. */
extern const char plim_trace_page_head[], plim_trace_page_tail[];

enum { GROUP = 3 * 4096 }; /* bytes of a line of base64 */

struct encoder {
    FILE *out;
    uint8_t bytes[GROUP];
    size_t n;
    bool is_broken;
};

static void flush_group(struct encoder *e)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char text[GROUP / 3 * 4 + 1];
    size_t n = 0;
    for (size_t i = 0; i < e->n; i += 3) {
        const size_t left = e->n - i;
        const unsigned bits = (unsigned)e->bytes[i] << 16 | (left > 1 ? (unsigned)e->bytes[i + 1] << 8 : 0) |
                              (left > 2 ? (unsigned)e->bytes[i + 2] : 0);
        text[n++] = letters[bits >> 18];
        text[n++] = letters[bits >> 12 & 63];
        text[n++] = left > 1 ? letters[bits >> 6 & 63] : '=';
        text[n++] = left > 2 ? letters[bits & 63] : '=';
    }
    text[n++] = '\n';
    e->is_broken |= fwrite(text, 1, n, e->out) != n;
    e->n = 0;
}

static void encode(void *to, const uint8_t *bytes, size_t n)
{
    struct encoder *e = to;
    for (size_t i = 0; i < n; i++) {
        e->bytes[e->n++] = bytes[i];
        if (e->n == GROUP)
            flush_group(e);
    }
}

static bool put(FILE *out, const char *text)
{
    const size_t n = strlen(text);
    return fwrite(text, 1, n, out) == n;
}

static bool put_history(FILE *out, const struct plim_trace_answer *answer)
{
    struct encoder encoder = { .out = out };
    const struct plim_pack_sink sink = { encode, &encoder };
    if (plim_trace_pack(answer, &sink, NULL) < 0) {
        errno = ENOMEM;
        return false;
    }
    flush_group(&encoder);
    return !encoder.is_broken;
}

bool plim_report_trace_page(FILE *out, const struct plim_trace_answer *answer)
{
    return put(out, plim_trace_page_head) && put(out, "<script id=\"answer\" type=\"application/json\">\n") &&
           plim_report_trace_json_in_page(out, answer) &&
           put(out, "</script>\n<script id=\"history\" type=\"text/plain\">\n") && put_history(out, answer) &&
           put(out, "</script>\n") && put(out, plim_trace_page_tail);
}
