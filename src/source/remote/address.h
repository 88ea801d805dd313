/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_SOURCE_REMOTE_ADDRESS_H
#define PLIMSOLL_SOURCE_REMOTE_ADDRESS_H

/* Names of models on servers: "hf:ORG/REPO", "hf:ORG/REPO:QUANT", "hf:ORG/REPO/FILE", "https://HOST/FILE". */

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

enum { PLIM_URL_BYTES = 4096, PLIM_REPOSITORY_BYTES = 200, PLIM_REMOTE_PATH_BYTES = 1024, PLIM_QUANT_BYTES = 64 };

#define PLIM_HUB_ENDPOINT "https://huggingface.co"

struct plim_remote_address {
    char repository[PLIM_REPOSITORY_BYTES]; /* "ORG/REPO" of a hub; "": `url` is a file */
    char quantization[PLIM_QUANT_BYTES];    /* of the repository's files; "": none is asked for */
    char file[PLIM_REMOTE_PATH_BYTES];      /* in the repository; "": none is asked for */
    char url[PLIM_URL_BYTES];
};

/* Whether a text is meant as such a name, right or wrong. */
bool plim_remote_is_address(const char *text);

/* Read such a name. The page of a file or a repository on the hub at `endpoint` is what it shows. */
int plim_remote_address_read(const char *text, const char *endpoint, struct plim_remote_address *ret_address,
                             struct plim_error *reterr) PLIM_MUST_CHECK;

/* The URL of a file of a repository: {endpoint}/{repository}/resolve/main/{path}. False when it is too long. */
bool plim_remote_file_url(const char *endpoint, const char *repository, const char *path, char url[PLIM_URL_BYTES]);

/* A path inside a repository that stays there: no empty part, no "." or "..", no control characters. */
bool plim_remote_path_is_plain(const char *path);

/* "ORG/REPO" of letters, digits, '-', '_' and '.'. */
bool plim_remote_is_repository(const char *text);

/* Whether two URLs have the same scheme, host and port, as they are written; `url` may be "" (never the same). */
bool plim_url_is_same_origin(const char *url, const char *other);

/* The bytes of "https://host:port", 0 for what is no such URL: no http(s), no host, a user name, control characters. */
size_t plim_url_origin_bytes(const char *url);

/* Whether it is to be encrypted on its way; or it stays on this machine. */
bool plim_url_is_private(const char *url);

#endif
