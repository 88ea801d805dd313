/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_SOURCE_REMOTE_SESSION_H
#define PLIMSOLL_SOURCE_REMOTE_SESSION_H

/* The inside of a session. */

#include "source/remote/cache.h"
#include "source/remote/listing.h"
#include "source/remote/remote.h"
#include "source/remote/request.h"

enum { PLIM_REMOTE_KEPT = 16 };

/* A file of a server, of which the first here_bytes are in fd. */
struct plim_remote_file {
    char url[PLIM_URL_BYTES];
    char direct[PLIM_URL_BYTES]; /* where redirects led to; "": nowhere */
    struct plim_cached cached;
    bool is_kept, is_new; /* for the session; not in the cache as it is */
};

struct plim_remote {
    struct plim_files files; /* first: a file finds its session by it */
    struct plim_requests requests;
    const char *endpoint, *token, *cache;
    bool is_offline;
    char *texts; /* of the settings */
    uint64_t cached_bytes;
    uint64_t first_bytes; /* of the next file of weights: what the last one took */
    struct plim_remote_file *kept[PLIM_REMOTE_KEPT];
    size_t n_kept;
    char repository[PLIM_REPOSITORY_BYTES]; /* whose files `listing` has; "": none */
    struct plim_listing listing;
    struct plim_error error;
};

/* Have the beginning of a file here: from the session, the cache or the server. */
int plim_remote_file_open(struct plim_remote *remote, const char *url, struct plim_remote_file **ret_file,
                          struct plim_error *reterr) PLIM_MUST_CHECK;
int plim_remote_file_grow(struct plim_remote *remote, struct plim_remote_file *file, uint64_t least, uint64_t most,
                          struct plim_error *reterr) PLIM_MUST_CHECK;

/* Put what is new into the cache, and forget it. */
void plim_remote_file_done(struct plim_remote *remote, struct plim_remote_file *file);

/* What the listing knows of a URL; NULL: nothing. *ret_is_listed: its repository is listed. */
const struct plim_listed_file *plim_remote_listed(const struct plim_remote *remote, const char *url,
                                                  bool *ret_is_listed);

/* Fill the listing with the files of a repository. */
int plim_remote_list(struct plim_remote *remote, const char *repository, struct plim_error *reterr) PLIM_MUST_CHECK;

#endif
