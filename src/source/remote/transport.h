/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_SOURCE_REMOTE_TRANSPORT_H
#define PLIMSOLL_SOURCE_REMOTE_TRANSPORT_H

/* One request and its answer: what libcurl does, and nothing that it decides. Redirects are not followed. */

#include "source/remote/answer.h"

struct plim_transport; /* connections that are kept between requests */

enum plim_exchange_end {
    PLIM_EXCHANGE_DONE,    /* the answer is whole */
    PLIM_EXCHANGE_STOPPED, /* by count() or take() */
    PLIM_EXCHANGE_LATE,    /* the time is over, or nothing comes */
    PLIM_EXCHANGE_CUT,     /* the connection ended early, or there was none */
    PLIM_EXCHANGE_REFUSED, /* it cannot be: a certificate that is not trusted, an address that is none */
};

struct plim_exchange {
    /* the request */
    const char *url;
    const char *range;                 /* "0-65535"; NULL: all of it */
    const char *etag;                  /* If-None-Match; "": none */
    const char *token;                 /* Authorization: Bearer; "": none */
    uint64_t timeout_ms;               /* for all of it */
    bool (*count)(void *to, size_t n); /* so many bytes came; false: stop */
    bool (*take)(void *to, const struct plim_http_answer *answer, const void *body, size_t n); /* false: stop */
    void (*wait)(void *to);                                                                    /* now and then */
    void *to;
    /* the answer */
    struct plim_http_answer answer;
    char redirect[PLIM_URL_BYTES]; /* of a redirect, whole; "": none */
    char why[256];                 /* in libcurl's words */
};

int plim_transport_new(const char *library, struct plim_transport **ret_transport,
                       struct plim_error *reterr) PLIM_MUST_CHECK;
struct plim_transport *plim_transport_free(struct plim_transport *transport);

enum plim_exchange_end plim_transport_get(struct plim_transport *transport, struct plim_exchange *exchange);

#endif
