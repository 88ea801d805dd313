/* SPDX-License-Identifier: MIT */
/*
 * A hub's list of the files in a repository: {endpoint}/api/models/{repository}/tree/main?recursive=true, in pages that
 * name the next one (huggingface_hub: hf_api.py: list_repo_tree, utils/_pagination.py). It comes with the size and the
 * hash of every file, so that with the list no file in the cache needs a request of its own.
 */
#include "base/limits.h"
#include "base/system.h"
#include "source/remote/session.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* A page in the file of a session, of which nothing is ever asked for in parts. */
static int fetch_page(struct plim_remote *remote, const char *url, struct plim_cached *page, struct plim_error *reterr)
{
    struct plim_received received;
    struct plim_request q = { .url = url, .is_whole = true, .n = PLIM_MAX_REMOTE_LISTING_BYTES, .etag = "" };
    q.fd = page->fd = plim_spool_new();
    page->start_at = 0;
    if (q.fd < 0)
        return plim_fail(reterr, PLIM_E_IO, PLIM_NO_OFFSET, "cannot keep what comes in a temporary file: %s",
                         strerror(errno));
    int result = plim_request_send(&remote->requests, &q, &received, reterr);
    if (result < 0)
        return result;
    page->here_bytes = page->total_bytes = received.bytes;
    memcpy(page->next, received.next, sizeof page->next);
    plim_cache_store(remote->cache, url, page);
    return 0;
}

static int get_page(struct plim_remote *remote, const char *url, struct plim_cached *page, struct plim_error *reterr)
{
    if (!remote->is_offline)
        return fetch_page(remote, url, page, reterr);
    if (plim_cache_find(remote->cache, url, page)) {
        remote->cached_bytes += page->here_bytes;
        return 0;
    }
    int code = plim_fail(reterr, PLIM_E_NETWORK, PLIM_NO_OFFSET,
                         "this repository is neither on this machine nor in the cache, and no server is asked");
    plim_error_hint(reterr, "leave out --offline");
    return code;
}

static int read_page(struct plim_remote *remote, const struct plim_cached *page, struct plim_error *reterr)
{
    struct plim_error error = { 0 };
    char *text = plim_alloc_unset(page->here_bytes + 1, 1);
    size_t length = 0, got = 1;
    if (!text)
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    while (length < page->here_bytes && got > 0 &&
           plim_system_read_at(page->fd, text + length, page->here_bytes - length, page->start_at + length, &got) == 0)
        length += got;
    int result = plim_listing_read(&remote->listing, plim_cursor(text, length), &error);
    plim_free(text);
    if (result < 0 && reterr && !reterr->code)
        plim_fail(reterr, result, error.at, "the server's list of files cannot be read: %.120s", error.what);
    return result;
}

/* Where a list goes on: on the same server, or the list ends. */
static bool go_on(const struct plim_remote *remote, const struct plim_cached *page, char url[PLIM_URL_BYTES])
{
    if (!plim_url_is_same_origin(page->next, remote->endpoint))
        return false;
    memcpy(url, page->next, sizeof page->next);
    return true;
}

int plim_remote_list(struct plim_remote *remote, const char *repository, struct plim_error *reterr)
{
    char url[PLIM_URL_BYTES];
    bool has_more = true;
    int result = 0;
    if (!strcmp(remote->repository, repository))
        return 0;
    plim_listing_done(&remote->listing);
    plim_listing_init(&remote->listing);
    remote->repository[0] = '\0';
    snprintf(url, sizeof url, "%s/api/models/%s/tree/main?recursive=true", remote->endpoint, repository);
    for (unsigned i = 0; i < PLIM_MAX_REMOTE_PAGES && has_more && result == 0; i++) {
        struct plim_cached page = { .fd = -1 };
        result = get_page(remote, url, &page, reterr);
        if (result == 0)
            result = read_page(remote, &page, reterr);
        if (result < 0)
            plim_error_where(reterr, url);
        if (page.fd >= 0)
            plim_system_close(page.fd);
        has_more = result == 0 && go_on(remote, &page, url);
    }
    if (result == 0)
        snprintf(remote->repository, sizeof remote->repository, "%s", repository);
    return result;
}

const struct plim_listed_file *plim_remote_listed(const struct plim_remote *remote, const char *url,
                                                  bool *ret_is_listed)
{
    char own[PLIM_URL_BYTES];
    *ret_is_listed = false;
    if (!remote->repository[0] || !plim_remote_file_url(remote->endpoint, remote->repository, "", own) ||
        strncmp(url, own, strlen(own)) != 0)
        return NULL;
    *ret_is_listed = true;
    for (size_t i = 0; i < remote->listing.n; i++)
        if (plim_remote_file_url(remote->endpoint, remote->repository, remote->listing.files[i].path, own) &&
            !strcmp(url, own))
            return &remote->listing.files[i];
    return NULL;
}

int plim_remote_find(struct plim_remote *remote, const char *name, struct plim_remote_model *ret_model,
                     struct plim_error *reterr)
{
    struct plim_remote_address address;
    const struct plim_listed_file *model = NULL, *projector = NULL;
    if (!remote)
        return plim_fail(reterr, PLIM_E_NOT_FOUND, PLIM_NO_OFFSET, "this model is not on this machine");
    int result = plim_remote_address_read(name, remote->endpoint, &address, reterr);
    if (result < 0)
        return result;
    memset(ret_model, 0, sizeof *ret_model);
    if (!address.repository[0]) {
        memcpy(ret_model->url, address.url, sizeof address.url);
        return 0;
    }
    result = plim_remote_list(remote, address.repository, reterr);
    if (result == 0)
        result = plim_listing_choose(&remote->listing, address.quantization, address.file, &model, &projector, reterr);
    if (result < 0 || !model) {
        plim_error_where(reterr, name);
        return result;
    }
    const bool fits = plim_remote_file_url(remote->endpoint, address.repository, model->path, ret_model->url) &&
                      (!projector || plim_remote_file_url(remote->endpoint, address.repository, projector->path,
                                                          ret_model->projector));
    return fits ? 0 : plim_fail(reterr, PLIM_E_UNSUPPORTED, PLIM_NO_OFFSET, "the address of this file is too long");
}
