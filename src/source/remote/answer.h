/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_SOURCE_REMOTE_ANSWER_H
#define PLIMSOLL_SOURCE_REMOTE_ANSWER_H

/* The head of an answer in HTTP, of which nothing is believed before it is checked. */

#include "base/error.h"
#include "source/remote/address.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PLIM_ETAG_BYTES = 160 };

struct plim_http_answer {
    unsigned status;      /* 0: there is none yet */
    bool has_range;       /* Content-Range: bytes first-last/total */
    bool is_range_broken; /* ... that cannot be read */
    bool is_encoded;      /* Content-Encoding: the body is not the file's bytes */
    bool has_length, has_total, has_retry_after;
    uint64_t first, last, total;
    uint64_t length; /* Content-Length */
    unsigned retry_after_s;
    char etag[PLIM_ETAG_BYTES];    /* "" without one, and for one that could not be sent back */
    char next[PLIM_URL_BYTES];     /* Link: <...>; rel="next"; "" without */
    char error_code[64];           /* X-Error-Code of the hub: "GatedRepo" ... */
    char location[PLIM_URL_BYTES]; /* of a redirect, as it was given */
};

/* One line of the head; a status line begins a new answer. */
void plim_http_answer_add(struct plim_http_answer *answer, const char *line, size_t length);

/*
 * Whether a body of status 200 or 206 is the part of a file that was asked for: n bytes from `from`, or fewer at its
 * end; or all of it when it has no more than n bytes. total: bytes of the file, 0: not known yet. On success the size
 * of the whole file and the bytes that come; UINT64_MAX: the answer does not say.
 */
int plim_http_answer_check(const struct plim_http_answer *answer, uint64_t from, uint64_t n, uint64_t total,
                           uint64_t *ret_total, uint64_t *ret_bytes, struct plim_error *reterr) PLIM_MUST_CHECK;

/* What a status means that is no success and no redirect; always an error. */
int plim_http_answer_refusal(const struct plim_http_answer *answer, bool has_token,
                             struct plim_error *reterr) PLIM_MUST_CHECK;

/* Whether the same request may succeed later. */
bool plim_http_answer_passes(const struct plim_http_answer *answer);

#endif
