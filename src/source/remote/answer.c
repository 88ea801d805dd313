/* SPDX-License-Identifier: MIT */
/*
 * Heads of answers: RFC 9110 (Content-Range in 14.4, Retry-After in 10.2.3), RFC 8288 (Link). X-Error-Code and its
 * values are the hub's (huggingface_hub, utils/_http.py: hf_raise_for_status).
 */
#include "source/remote/answer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* A value of a header: without the spaces around it. */
struct value {
    const char *text;
    size_t length;
};

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/* Read digits; false when there are none, or too many for 64 bits. */
static bool take_number(struct value *value, uint64_t *ret_number)
{
    uint64_t number = 0;
    size_t i = 0;
    for (; i < value->length && value->text[i] >= '0' && value->text[i] <= '9'; i++)
        if (__builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, (uint64_t)(value->text[i] - '0'), &number))
            return false;
    value->text += i;
    value->length -= i;
    *ret_number = number;
    return i > 0;
}

static bool take_character(struct value *value, char c)
{
    if (value->length == 0 || *value->text != c)
        return false;
    value->text++;
    value->length--;
    return true;
}

static bool is_whole_number(struct value value, uint64_t *ret_number)
{
    return take_number(&value, ret_number) && value.length == 0;
}

/* Printable ASCII that fits, else "". */
static void keep(char *to, size_t size, struct value value)
{
    bool is_fine = value.length < size;
    for (size_t i = 0; i < value.length && is_fine; i++)
        is_fine = value.text[i] >= ' ' && value.text[i] < 0x7f;
    memcpy(to, value.text, is_fine ? value.length : 0);
    to[is_fine ? value.length : 0] = '\0';
}

static bool is_text(struct value value, const char *text)
{
    return value.length == strlen(text) && !strncasecmp(value.text, text, value.length);
}

/* "bytes 0-1023/146515", or "bytes * /146515" of a range that is not there. */
static void read_range(struct plim_http_answer *answer, struct value value)
{
    uint64_t first = 0, last = 0, total = 0;
    answer->is_range_broken = true;
    if (value.length < 6 || strncasecmp(value.text, "bytes ", 6) != 0)
        return;
    value.text += 6;
    value.length -= 6;
    const bool is_nothing = take_character(&value, '*');
    if (!is_nothing && (!take_number(&value, &first) || !take_character(&value, '-') || !take_number(&value, &last)))
        return;
    if (!take_character(&value, '/'))
        return;
    const bool has_total = is_whole_number(value, &total);
    if (!has_total && !is_text(value, "*"))
        return;
    if (!is_nothing && (first > last || (has_total && last >= total)))
        return;
    answer->is_range_broken = false;
    answer->has_range = !is_nothing;
    answer->has_total = has_total;
    answer->first = first;
    answer->last = last;
    answer->total = total;
}

/* The target of the first link that is called rel="next". */
static void read_link(struct plim_http_answer *answer, struct value value)
{
    static const char rel[] = "rel=\"next\"";
    const char *end = value.text + value.length, *p = value.text;
    while (p < end) {
        const char *open = memchr(p, '<', (size_t)(end - p));
        const char *close = open ? memchr(open, '>', (size_t)(end - open)) : NULL;
        if (!close)
            return;
        const char *comma = memchr(close, ',', (size_t)(end - close)), *stop = comma ? comma : end;
        for (const char *q = close; (size_t)(stop - q) >= sizeof rel - 1; q++)
            if (!strncasecmp(q, rel, sizeof rel - 1)) {
                keep(answer->next, sizeof answer->next, (struct value){ open + 1, (size_t)(close - open) - 1 });
                return;
            }
        p = stop + 1;
    }
}

static void read_field(struct plim_http_answer *answer, struct value name, struct value value)
{
    uint64_t number;
    if (is_text(name, "content-range")) {
        read_range(answer, value);
    } else if (is_text(name, "content-length")) {
        answer->has_length = is_whole_number(value, &answer->length);
    } else if (is_text(name, "content-encoding")) {
        answer->is_encoded = !is_text(value, "identity");
    } else if (is_text(name, "retry-after")) { /* a date is not waited for */
        answer->has_retry_after = true;
        answer->retry_after_s = is_whole_number(value, &number) && number < 100000 ? (unsigned)number : 100000;
    } else if (is_text(name, "etag")) {
        keep(answer->etag, sizeof answer->etag, value);
    } else if (is_text(name, "location")) {
        keep(answer->location, sizeof answer->location, value);
    } else if (is_text(name, "link")) {
        read_link(answer, value);
    } else if (is_text(name, "x-error-code")) {
        keep(answer->error_code, sizeof answer->error_code, value);
    }
}

void plim_http_answer_add(struct plim_http_answer *answer, const char *line, size_t length)
{
    while (length && is_blank(line[length - 1]))
        length--;
    if (length >= 9 && !strncmp(line, "HTTP/", 5)) {
        const char *space = memchr(line, ' ', length);
        uint64_t status = 0;
        struct value rest = { space ? space + 1 : "", space ? length - (size_t)(space + 1 - line) : 0 };
        memset(answer, 0, sizeof *answer);
        answer->status = take_number(&rest, &status) && status < 1000 ? (unsigned)status : 0;
        return;
    }
    const char *colon = memchr(line, ':', length);
    if (!colon)
        return;
    struct value value = { colon + 1, length - (size_t)(colon + 1 - line) };
    while (value.length && is_blank(*value.text)) {
        value.text++;
        value.length--;
    }
    read_field(answer, (struct value){ line, (size_t)(colon - line) }, value);
}

/* --- what it means --- */

static int check_part(const struct plim_http_answer *a, uint64_t from, uint64_t n, uint64_t total,
                      struct plim_error *reterr)
{
    if (!a->has_range || a->is_range_broken || !a->has_total)
        return plim_fail(reterr, PLIM_E_NETWORK, PLIM_NO_OFFSET,
                         "the server sent a part of the file and does not say which of how many bytes");
    if (a->first != from || a->last - a->first >= n)
        return plim_fail(reterr, PLIM_E_NETWORK, from,
                         "the server sent bytes %" PRIu64 " to %" PRIu64 ", asked for %" PRIu64 " from %" PRIu64,
                         a->first, a->last, n, from);
    if (a->has_length && a->length != a->last - a->first + 1)
        return plim_fail(reterr, PLIM_E_NETWORK, from,
                         "the server announced a part of %" PRIu64 " bytes and a body of %" PRIu64,
                         a->last - a->first + 1, a->length);
    if (total && a->total != total)
        return plim_fail(reterr, PLIM_E_NETWORK, PLIM_NO_OFFSET,
                         "the file changed while it was read: %" PRIu64 " bytes, now %" PRIu64, total, a->total);
    return 0;
}

/* The whole file instead of a part. */
static int check_whole(const struct plim_http_answer *a, uint64_t from, uint64_t n, struct plim_error *reterr)
{
    if (from == 0 && (!a->has_length || a->length <= n))
        return 0;
    int code = plim_fail(reterr, PLIM_E_UNSUPPORTED, PLIM_NO_OFFSET,
                         "the server sends whole files only: it ignores that a part was asked for");
    plim_error_hint(reterr, "a header is read by byte ranges (RFC 9110); download the file, or name another server");
    return code;
}

int plim_http_answer_check(const struct plim_http_answer *answer, uint64_t from, uint64_t n, uint64_t total,
                           uint64_t *ret_total, uint64_t *ret_bytes, struct plim_error *reterr)
{
    if (answer->is_encoded)
        return plim_fail(reterr, PLIM_E_NETWORK, PLIM_NO_OFFSET,
                         "the server compressed what was asked for as it is (Content-Encoding)");
    const bool is_part = answer->status == 206;
    int result = is_part ? check_part(answer, from, n, total, reterr) : check_whole(answer, from, n, reterr);
    if (result < 0)
        return result;
    *ret_bytes = is_part ? answer->last - answer->first + 1 : answer->has_length ? answer->length : UINT64_MAX;
    *ret_total = is_part ? answer->total : *ret_bytes;
    return 0;
}

bool plim_http_answer_passes(const struct plim_http_answer *answer)
{
    static const unsigned statuses[] = { 408, 429, 500, 502, 503, 504 };
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
        if (answer->status == statuses[i])
            return true;
    return false;
}

/* The hub does not tell a repository that is not there from one that is private: 401 without a token. */
static int denied(const struct plim_http_answer *answer, bool has_token, struct plim_error *reterr)
{
    const bool is_gated = !strcmp(answer->error_code, "GatedRepo");
    int code = plim_fail(reterr, PLIM_E_DENIED, PLIM_NO_OFFSET, "the server does not show it%s (status %u%s%s)",
                         has_token ? " to the owner of this token" : " without a token", answer->status,
                         answer->error_code[0] ? ", " : "", answer->error_code);
    if (is_gated)
        plim_error_hint(reterr, "its owner must grant access: ask on its page, %s",
                        has_token ? "with the account of HF_TOKEN" : "and set HF_TOKEN");
    else if (has_token)
        plim_error_hint(reterr, "check the name, and that the token of HF_TOKEN may read this repository");
    else
        plim_error_hint(reterr, "check the name; for a private or gated repository of the hub set HF_TOKEN");
    return code;
}

int plim_http_answer_refusal(const struct plim_http_answer *answer, bool has_token, struct plim_error *reterr)
{
    switch (answer->status) {
    case 401:
    case 403:
        return denied(answer, has_token, reterr);
    case 404:
    case 410: {
        int code = plim_fail(reterr, PLIM_E_NOT_FOUND, PLIM_NO_OFFSET, "the server has no such file (status %u%s%s)",
                             answer->status, answer->error_code[0] ? ", " : "", answer->error_code);
        plim_error_hint(reterr, "check the spelling: upper and lower case count");
        return code;
    }
    case 416:
        return plim_fail(reterr, PLIM_E_TRUNCATED, PLIM_NO_OFFSET,
                         "the server has no such part of the file (status 416): it is empty, or shorter than it was");
    case 429:
        return plim_fail(reterr, PLIM_E_NETWORK, PLIM_NO_OFFSET, "the server wants fewer requests (status 429)");
    default:
        return plim_fail(reterr, PLIM_E_NETWORK, PLIM_NO_OFFSET, "the server answered with status %u", answer->status);
    }
}
