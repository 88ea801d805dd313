/* SPDX-License-Identifier: MIT */
/*
 * The beginning of a file of a server, as far as a reader goes. What is asked for first is enough for most headers;
 * what follows is as much as is there already, so that a header takes few requests and is overshot by less than itself.
 */
#include "base/limits.h"
#include "base/mem.h"
#include "base/numbers.h"
#include "base/system.h"
#include "source/remote/session.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/*
 * Shards of safetensors have headers of some 10 to 100 KB, GGUF files of 1 to 11 MiB (their vocabulary), an index some
 * MB; the largest range bounds what one request brings.
 */
enum { FIRST_BYTES = 1 << 20, FIRST_OF_SHARD_BYTES = 64 << 10, MOST_BYTES = 4 << 20 };

static bool is_shard(const char *url)
{
    static const char end[] = ".safetensors";
    const size_t n = strlen(url);
    return n > sizeof end && !strcasecmp(url + n - (sizeof end - 1), end);
}

static uint64_t first_bytes(const struct plim_remote *remote, const char *url)
{
    if (!is_shard(url))
        return FIRST_BYTES;
    return plim_min_u64(plim_max_u64(remote->first_bytes, FIRST_OF_SHARD_BYTES), FIRST_BYTES);
}

static int keep_failed(struct plim_error *reterr)
{
    return plim_fail(reterr, PLIM_E_IO, PLIM_NO_OFFSET, "cannot keep what comes in a temporary file: %s",
                     strerror(errno));
}

/* Before the first bytes: an fd of its own, with what the cache gave. */
static int make_spool(struct plim_remote_file *file, bool keeps_bytes, struct plim_error *reterr)
{
    struct plim_cached *c = &file->cached;
    const int fd = plim_spool_new();
    if (fd < 0)
        return keep_failed(reterr);
    const bool is_copied =
        !keeps_bytes || c->here_bytes == 0 || plim_spool_copy(c->fd, c->start_at, fd, 0, c->here_bytes);
    if (c->fd >= 0)
        plim_system_close(c->fd);
    c->fd = fd;
    c->start_at = 0;
    c->here_bytes = keeps_bytes ? c->here_bytes : 0;
    file->is_new = true;
    return is_copied ? 0 : keep_failed(reterr);
}

static int send(struct plim_remote *remote, struct plim_remote_file *file, struct plim_request *q,
                struct plim_received *received, struct plim_error *reterr)
{
    struct plim_error error = { 0 };
    q->url = file->url;
    if (!file->direct[0])
        return plim_request_send(&remote->requests, q, received, reterr);
    q->url = file->direct; /* such addresses are good for some minutes */
    int result = plim_request_send(&remote->requests, q, received, &error);
    if (result != PLIM_E_DENIED && result != PLIM_E_NOT_FOUND) {
        if (result < 0 && reterr && !reterr->code)
            *reterr = error;
        return result;
    }
    file->direct[0] = '\0';
    q->url = file->url;
    return plim_request_send(&remote->requests, q, received, reterr);
}

/* n more bytes. */
static int fetch(struct plim_remote *remote, struct plim_remote_file *file, uint64_t n, struct plim_error *reterr)
{
    struct plim_cached *c = &file->cached;
    struct plim_received received;
    struct plim_request q = { .from = c->here_bytes, .n = n, .total = c->total_bytes, .etag = "", .fd = c->fd };
    q.fd_at = c->start_at + c->here_bytes;
    int result = send(remote, file, &q, &received, reterr);
    if (result < 0)
        return result;
    if (c->here_bytes && strcmp(received.etag, c->etag) != 0)
        return plim_fail(reterr, PLIM_E_NETWORK, PLIM_NO_OFFSET, "the file changed while it was read: try again");
    if (received.bytes == 0)
        return plim_fail(reterr, received.total ? PLIM_E_NETWORK : PLIM_E_TRUNCATED, PLIM_NO_OFFSET,
                         received.total ? "the server sent nothing" : "the file is empty");
    c->here_bytes += received.bytes;
    c->total_bytes = received.total;
    memcpy(c->etag, received.etag, sizeof c->etag);
    if (strcmp(received.url, file->url) != 0)
        memcpy(file->direct, received.url, sizeof file->direct);
    return 0;
}

/* Whether what the cache has is what the server has: by the hub's list, or the server is asked. Returns 1 if so. */
static int is_current(struct plim_remote *remote, struct plim_remote_file *file, const struct plim_listed_file *listed,
                      struct plim_error *reterr)
{
    struct plim_cached *c = &file->cached;
    struct plim_received received;
    if (c->fd < 0 || remote->is_offline)
        return c->fd >= 0;
    if (listed && listed->oid[0])
        return !strcmp(listed->oid, c->oid);
    if (!c->etag[0])
        return 0;
    struct plim_request q = { .n = first_bytes(remote, file->url), .etag = c->etag };
    q.fd = plim_spool_new();
    if (q.fd < 0)
        return keep_failed(reterr);
    int result = send(remote, file, &q, &received, reterr);
    if (result < 0 || received.is_unchanged) {
        plim_system_close(q.fd);
        return result < 0 ? result : 1;
    }
    plim_system_close(c->fd);
    *c = (struct plim_cached){ .fd = q.fd, .here_bytes = received.bytes, .total_bytes = received.total };
    memcpy(c->etag, received.etag, sizeof c->etag);
    file->is_new = true;
    return received.bytes ? 1 : plim_fail(reterr, PLIM_E_TRUNCATED, PLIM_NO_OFFSET, "the file is empty");
}

static int not_cached(struct plim_error *reterr)
{
    int code = plim_fail(reterr, PLIM_E_NETWORK, PLIM_NO_OFFSET, "this is not in the cache, and no server is asked");
    plim_error_hint(reterr, "leave out --offline");
    return code;
}

static int begin(struct plim_remote *remote, struct plim_remote_file *file, struct plim_error *reterr)
{
    bool is_listed;
    struct plim_cached *c = &file->cached;
    const struct plim_listed_file *listed = plim_remote_listed(remote, file->url, &is_listed);
    if (!plim_cache_find(remote->cache, file->url, c))
        c->fd = -1;
    int result = is_current(remote, file, listed, reterr);
    if (result > 0 && !file->is_new)
        remote->cached_bytes += c->here_bytes;
    if (result != 0)
        return result < 0 ? result : 0;
    if (remote->is_offline)
        return not_cached(reterr);
    c->etag[0] = '\0';
    c->total_bytes = listed ? listed->bytes : 0;
    snprintf(c->oid, sizeof c->oid, "%s", listed ? listed->oid : "");
    result = make_spool(file, false, reterr);
    const uint64_t n = first_bytes(remote, file->url);
    return result < 0 ? result : fetch(remote, file, c->total_bytes ? plim_min_u64(n, c->total_bytes) : n, reterr);
}

int plim_remote_file_open(struct plim_remote *remote, const char *url, struct plim_remote_file **ret_file,
                          struct plim_error *reterr)
{
    for (size_t i = 0; i < remote->n_kept; i++)
        if (!strcmp(remote->kept[i]->url, url)) {
            *ret_file = remote->kept[i];
            return 0;
        }
    struct plim_remote_file *file = plim_alloc(1, sizeof *file);
    if (!file)
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    file->cached.fd = -1;
    const int n = snprintf(file->url, sizeof file->url, "%s", url);
    int result = n < PLIM_URL_BYTES ? begin(remote, file, reterr)
                                    : plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "the address is too long");
    if (result < 0) {
        plim_error_where(reterr, url);
        file->is_new = false;
        plim_remote_file_done(remote, file);
        return result;
    }
    file->is_kept = remote->n_kept < PLIM_REMOTE_KEPT;
    if (file->is_kept)
        remote->kept[remote->n_kept++] = file;
    *ret_file = file;
    return 0;
}

int plim_remote_file_grow(struct plim_remote *remote, struct plim_remote_file *file, uint64_t least, uint64_t most,
                          struct plim_error *reterr)
{
    struct plim_cached *c = &file->cached;
    const bool has_end = most < c->total_bytes; /* the reader knows where the header ends */
    const uint64_t end = plim_min_u64(most, c->total_bytes);
    int result = 0;
    if (remote->is_offline)
        result = not_cached(reterr);
    else if (least > end || least > PLIM_MAX_REMOTE_BYTES)
        result = plim_fail(reterr, PLIM_E_TOO_BIG, PLIM_NO_OFFSET, "the header has more than %d MiB",
                           PLIM_MAX_REMOTE_BYTES >> 20);
    else if (!file->is_new)
        result = make_spool(file, true, reterr);
    while (result == 0 && c->here_bytes < least) {
        const uint64_t n = has_end ? end - c->here_bytes : plim_max_u64(c->here_bytes, least - c->here_bytes);
        result = fetch(remote, file, plim_min_u64(plim_min_u64(n, end - c->here_bytes), MOST_BYTES), reterr);
    }
    if (result < 0)
        plim_error_where(reterr, file->url);
    else if (is_shard(file->url))
        remote->first_bytes = c->here_bytes + c->here_bytes / 8;
    return result;
}

void plim_remote_file_done(struct plim_remote *remote, struct plim_remote_file *file)
{
    if (file->is_new && remote->error.code == 0)
        plim_cache_store(remote->cache, file->url, &file->cached);
    if (file->cached.fd >= 0)
        plim_system_close(file->cached.fd);
    plim_free(file);
}
