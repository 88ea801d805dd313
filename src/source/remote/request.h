/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_SOURCE_REMOTE_REQUEST_H
#define PLIMSOLL_SOURCE_REMOTE_REQUEST_H

/* Requests as a session makes them: with redirects, again after what passes, and below the limits of the session. */

#include "source/remote/answer.h"
#include "source/remote/transport.h"

/* The requests of a session. */
struct plim_requests {
    const char *library;              /* of libcurl */
    struct plim_transport *transport; /* NULL: not needed yet */
    const char *endpoint, *token;     /* whose token; "": none */
    uint64_t received_bytes, deadline_us;
    unsigned n, seconds;
    void (*tell)(void *context, uint64_t received_bytes);
    void *context;
    uint64_t told_us;
};

struct plim_request {
    const char *url;
    bool is_whole; /* all of it, n bytes at most; false: n bytes from `from` */
    uint64_t from, n;
    uint64_t total;   /* bytes of the file, if they are known */
    const char *etag; /* "": unconditionally */
    int fd;           /* where the bytes go, at fd_at */
    uint64_t fd_at;
};

struct plim_received {
    uint64_t bytes, total;
    bool is_unchanged; /* the file has the etag of the request; there are no bytes */
    char etag[PLIM_ETAG_BYTES], next[PLIM_URL_BYTES];
    char url[PLIM_URL_BYTES]; /* where redirects led to */
};

int plim_request_send(struct plim_requests *requests, const struct plim_request *request,
                      struct plim_received *ret_received, struct plim_error *reterr) PLIM_MUST_CHECK;

#endif
