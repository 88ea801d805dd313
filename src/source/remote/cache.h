/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_SOURCE_REMOTE_CACHE_H
#define PLIMSOLL_SOURCE_REMOTE_CACHE_H

/*
 * Beginnings of files, kept on disk between commands. The name of an entry is a hash of the URL: no server and no
 * repository chooses where anything is written.
 */

#include "source/remote/answer.h"

enum { PLIM_OID_BYTES = 72 };

struct plim_cached {
    int fd;              /* -1: none */
    uint64_t start_at;   /* where in fd the file's first byte is */
    uint64_t here_bytes; /* so many from its start on */
    uint64_t total_bytes;
    char etag[PLIM_ETAG_BYTES], oid[PLIM_OID_BYTES]; /* of the content, as the server and as its hub called it; "" */
    char next[PLIM_URL_BYTES];                       /* of a list: where it goes on; "": nowhere */
};

/* False when there is no entry, or none that is whole. */
bool plim_cache_find(const char *folder, const char *url, struct plim_cached *ret_cached);

/* Nothing happens when it cannot be written: the cache only saves time. */
void plim_cache_store(const char *folder, const char *url, const struct plim_cached *cached);

/* An empty file without a name, for what is being read; -1 and errno. */
int plim_spool_new(void);

/* Copy n bytes; false and errno. */
bool plim_spool_copy(int from, uint64_t from_at, int to, uint64_t to_at, uint64_t n);

/* Write all of it; false and errno. */
bool plim_spool_write(int fd, const void *bytes, size_t n, uint64_t at);

#endif
