/* SPDX-License-Identifier: MIT */
/*
 * What a server may do to us is bounded here: bytes, requests, redirects and time of a session. The token goes to the
 * endpoint it is for (scheme, host and port), never where that redirects to, and never over the network in clear text.
 */
#include "source/remote/request.h"

#include "base/limits.h"
#include "base/system.h"
#include "base/units.h"
#include "source/remote/cache.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Pauses before the second, third and fourth attempt; longer ones that a server asks for are not waited for. */
static const unsigned pauses_ms[] = { 200, 600, 1800 };
enum { N_PAUSES = sizeof pauses_ms / sizeof *pauses_ms, LONGEST_PAUSE_S = 30, TELL_US = 100000, NAP_MS = 50 };
enum { REFUSAL_BYTES = 64 << 10 }; /* of the page that comes with an error or a redirect: read, and thrown away */

/* One attempt. */
struct attempt {
    struct plim_requests *requests;
    const struct plim_request *request;
    struct plim_error *err;
    struct plim_exchange exchange;
    uint64_t bytes, total, expected, refusal_bytes;
    bool is_accepted;
};

static bool is_success(const struct plim_http_answer *answer) { return answer->status == 200 || answer->status == 206; }

/* --- while it comes --- */

static bool count(void *to, size_t n)
{
    struct attempt *a = to;
    a->requests->received_bytes += n;
    if (a->requests->received_bytes <= PLIM_MAX_REMOTE_BYTES)
        return true;
    plim_fail(a->err, PLIM_E_TOO_BIG, PLIM_NO_OFFSET, "more than %d MiB came from servers; a header has less",
              PLIM_MAX_REMOTE_BYTES >> 20);
    return false;
}

static bool take(void *to, const struct plim_http_answer *answer, const void *body, size_t n)
{
    struct attempt *a = to;
    const struct plim_request *q = a->request;
    if (!is_success(answer)) {
        a->refusal_bytes += n;
        return a->refusal_bytes <= REFUSAL_BYTES;
    }
    if (!a->is_accepted &&
        plim_http_answer_check(answer, q->is_whole ? 0 : q->from, q->n, q->total, &a->total, &a->expected, a->err) < 0)
        return false;
    a->is_accepted = true;
    if (n > q->n - a->bytes || n > a->expected - a->bytes) {
        if (answer->status == 206 || q->is_whole)
            plim_fail(a->err, q->is_whole ? PLIM_E_TOO_BIG : PLIM_E_NETWORK, PLIM_NO_OFFSET,
                      "the server sends more than the %" PRIu64 " bytes that were asked for", q->n);
        else
            plim_fail(a->err, PLIM_E_UNSUPPORTED, PLIM_NO_OFFSET,
                      "the server sends whole files only: it ignores that a part was asked for");
        return false;
    }
    if (!plim_spool_write(q->fd, body, n, q->fd_at + a->bytes)) {
        plim_fail(a->err, PLIM_E_IO, PLIM_NO_OFFSET, "cannot keep what came: %s", strerror(errno));
        return false;
    }
    a->bytes += n;
    return true;
}

static void tell(struct plim_requests *requests)
{
    const uint64_t now = plim_system_now_us();
    if (!requests->tell || now < requests->told_us + TELL_US)
        return;
    requests->told_us = now;
    requests->tell(requests->context, requests->received_bytes);
}

static void wait_for_it(void *to) { tell(((struct attempt *)to)->requests); }

/* --- one attempt --- */

static int is_late(struct plim_requests *requests, struct plim_error *reterr)
{
    int code = plim_fail(reterr, PLIM_E_NETWORK, PLIM_NO_OFFSET, "no answer within %u seconds", requests->seconds);
    plim_error_hint(reterr, "try again later; what was read until now is not lost");
    return code;
}

static bool may_have_token(const struct plim_requests *requests, const char *url)
{
    return requests->token[0] && plim_url_is_same_origin(url, requests->endpoint) && plim_url_is_private(url);
}

/* Returns PLIM_OK when there is an answer, 1 when the connection failed in a way that may pass, or an error. */
static int exchange(struct attempt *a, const char *url)
{
    struct plim_requests *requests = a->requests;
    const struct plim_request *q = a->request;
    char range[64];
    const uint64_t now = plim_system_now_us();
    if (now >= requests->deadline_us)
        return is_late(requests, a->err);
    if (requests->n++ >= PLIM_MAX_REMOTE_REQUESTS)
        return plim_fail(a->err, PLIM_E_TOO_BIG, PLIM_NO_OFFSET, "more than %d requests", PLIM_MAX_REMOTE_REQUESTS);
    snprintf(range, sizeof range, "%" PRIu64 "-%" PRIu64, q->from, q->from + q->n - 1);
    a->bytes = a->refusal_bytes = 0;
    a->is_accepted = false;
    struct plim_exchange *x = &a->exchange;
    x->url = url;
    x->range = q->is_whole ? NULL : range;
    x->etag = q->etag;
    x->token = may_have_token(requests, url) ? requests->token : "";
    x->timeout_ms = (requests->deadline_us - now) / 1000 + 1;
    switch (plim_transport_get(requests->transport, x)) {
    case PLIM_EXCHANGE_DONE:
        return PLIM_OK;
    case PLIM_EXCHANGE_STOPPED: /* with its reason in err; or the page of a refusal was long */
        return a->err->code ? a->err->code : PLIM_OK;
    case PLIM_EXCHANGE_LATE:
        if (plim_system_now_us() >= requests->deadline_us)
            return is_late(requests, a->err);
        return 1;
    case PLIM_EXCHANGE_CUT:
        return 1;
    case PLIM_EXCHANGE_REFUSED:
        break;
    }
    return plim_fail(a->err, PLIM_E_NETWORK, PLIM_NO_OFFSET, "%.160s", x->why);
}

/* A pause; an error when it would be too long. */
static int pause_for(struct attempt *a, unsigned attempt, bool has_answer)
{
    const struct plim_http_answer *answer = &a->exchange.answer;
    uint64_t ms = pauses_ms[attempt];
    if (has_answer && answer->has_retry_after) {
        if (answer->retry_after_s > LONGEST_PAUSE_S)
            return plim_fail(a->err, PLIM_E_NETWORK, PLIM_NO_OFFSET,
                             "the server asks to come back later (status %u, more than %d seconds)", answer->status,
                             LONGEST_PAUSE_S);
        ms = 1000ull * answer->retry_after_s;
    }
    const uint64_t end = plim_system_now_us() + 1000 * ms;
    if (end >= a->requests->deadline_us)
        return is_late(a->requests, a->err);
    for (uint64_t now; (now = plim_system_now_us()) < end;) {
        const uint64_t left_ms = (end - now) / 1000 + 1;
        plim_system_sleep_ms(left_ms < NAP_MS ? (unsigned)left_ms : NAP_MS);
        tell(a->requests);
    }
    return 0;
}

/* One URL, again while it may pass. */
static int ask(struct attempt *a, const char *url)
{
    for (unsigned i = 0;; i++) {
        int result = exchange(a, url);
        if (result < 0)
            return result;
        const struct plim_http_answer *answer = &a->exchange.answer;
        const bool has_answer = result == 0;
        if (has_answer && !plim_http_answer_passes(answer))
            return 0;
        if (i == N_PAUSES && has_answer)
            return plim_http_answer_refusal(answer, a->exchange.token[0] != '\0', a->err);
        if (i == N_PAUSES)
            return plim_fail(a->err, PLIM_E_NETWORK, PLIM_NO_OFFSET, "%.160s",
                             a->exchange.why[0] ? a->exchange.why : "the connection failed");
        result = pause_for(a, i, has_answer);
        if (result < 0)
            return result;
    }
}

/* --- redirects --- */

static bool is_redirect(const struct plim_http_answer *answer)
{
    return answer->status == 301 || answer->status == 302 || answer->status == 303 || answer->status == 307 ||
           answer->status == 308;
}

static int follow(struct attempt *a, char url[PLIM_URL_BYTES], unsigned n)
{
    const char *target = a->exchange.redirect;
    if (n == PLIM_MAX_REDIRECTS)
        return plim_fail(a->err, PLIM_E_NETWORK, PLIM_NO_OFFSET, "more than %d redirects", PLIM_MAX_REDIRECTS);
    if (plim_url_origin_bytes(target) == 0)
        return plim_fail(a->err, PLIM_E_NETWORK, PLIM_NO_OFFSET,
                         "the server redirects to what is no address of a file");
    if (plim_url_is_private(url) && !plim_url_is_private(target))
        return plim_fail(a->err, PLIM_E_NETWORK, PLIM_NO_OFFSET,
                         "the server redirects to an address that is not encrypted");
    memcpy(url, target, strlen(target) + 1);
    return 0;
}

/* What came, whole. */
static int receive(struct attempt *a, const char *url, struct plim_received *received)
{
    const struct plim_http_answer *answer = &a->exchange.answer;
    const struct plim_request *q = a->request;
    const bool is_unchanged = answer->status == 304 && q->etag[0];
    if (!is_success(answer) && !is_unchanged)
        return plim_http_answer_refusal(answer, a->exchange.token[0] != '\0', a->err);
    if (!is_unchanged && !a->is_accepted) { /* no body: nothing was looked at yet */
        int result =
            plim_http_answer_check(answer, q->is_whole ? 0 : q->from, q->n, q->total, &a->total, &a->expected, a->err);
        if (result < 0)
            return result;
    }
    if (!is_unchanged && a->expected != UINT64_MAX && a->bytes != a->expected)
        return plim_fail(a->err, PLIM_E_NETWORK, PLIM_NO_OFFSET,
                         "the server announced %" PRIu64 " bytes and sent %" PRIu64, a->expected, a->bytes);
    *received = (struct plim_received){ .bytes = is_unchanged ? 0 : a->bytes, .is_unchanged = is_unchanged };
    received->total = a->expected == UINT64_MAX ? a->bytes : a->total;
    snprintf(received->etag, sizeof received->etag, "%s", answer->etag);
    snprintf(received->next, sizeof received->next, "%s", answer->next);
    snprintf(received->url, sizeof received->url, "%s", url);
    return 0;
}

static int send_to(struct attempt *a, char url[PLIM_URL_BYTES], struct plim_received *received)
{
    for (unsigned n = 0;; n++) {
        int result = ask(a, url);
        if (result < 0 || !is_redirect(&a->exchange.answer))
            return result < 0 ? result : receive(a, url, received);
        result = follow(a, url, n);
        if (result < 0)
            return result;
    }
}

int plim_request_send(struct plim_requests *requests, const struct plim_request *request,
                      struct plim_received *ret_received, struct plim_error *reterr)
{
    char url[PLIM_URL_BYTES];
    struct plim_error error = { 0 };
    struct attempt a = { .requests = requests, .request = request, .err = &error };
    a.exchange.count = count;
    a.exchange.take = take;
    a.exchange.wait = wait_for_it;
    a.exchange.to = &a;
    snprintf(url, sizeof url, "%s", request->url);
    int result = requests->transport ? 0 : plim_transport_new(requests->library, &requests->transport, &error);
    if (result == 0)
        result = send_to(&a, url, ret_received);
    if (result < 0) {
        url[strcspn(url, "?")] = '\0'; /* what follows may be a key to the file: of a user, or of a redirect */
        plim_error_where(&error, url);
        if (reterr && !reterr->code)
            *reterr = error;
    }
    return result;
}
