/* SPDX-License-Identifier: MIT */
/* A session: what readers of models see of servers. */
#include "source/remote/session.h"

#include "base/system.h"

#include <stdio.h>
#include <string.h>

static struct plim_remote *session_of(const struct plim_files *files)
{
    return (struct plim_remote *)(void *)((char *)files->error - offsetof(struct plim_remote, error));
}

static void show(struct plim_file *to, const struct plim_remote_file *from)
{
    to->fd = from->cached.fd;
    to->start_at = from->cached.start_at;
    to->here_bytes = from->cached.here_bytes;
    to->file_bytes = from->cached.total_bytes;
}

static int open_file(const struct plim_files *files, const char *name, struct plim_file *ret_file,
                     struct plim_error *reterr)
{
    struct plim_remote_file *file;
    struct plim_error error = { 0 };
    int result = plim_remote_file_open(session_of(files), name, &file, &error);
    if (result < 0) {
        if (reterr && !reterr->code)
            *reterr = error;
        return result;
    }
    *ret_file = (struct plim_file){ .entry = file };
    show(ret_file, file);
    return 0;
}

static bool grow_file(struct plim_file *file, uint64_t least, uint64_t most)
{
    struct plim_remote *remote = session_of(file->files);
    const bool has_grown = plim_remote_file_grow(remote, file->entry, least, most, &remote->error) == 0;
    show(file, file->entry);
    return has_grown;
}

static void close_file(struct plim_file *file)
{
    struct plim_remote_file *entry = file->entry;
    if (!entry->is_kept)
        plim_remote_file_done(session_of(file->files), entry);
}

/* A file that is there but cannot be had is there: opening it says why. */
static bool have_file(const struct plim_files *files, const char *name)
{
    bool is_listed;
    struct plim_error error = { 0 };
    struct plim_remote_file *file;
    struct plim_remote *remote = session_of(files);
    const bool is_there = plim_remote_listed(remote, name, &is_listed) != NULL;
    if (is_listed)
        return is_there;
    int result = plim_remote_file_open(remote, name, &file, &error);
    if (result == 0 && !file->is_kept)
        plim_remote_file_done(remote, file);
    if (remote->is_offline && result == PLIM_E_NETWORK)
        return false;
    return result != PLIM_E_NOT_FOUND && result != PLIM_E_DENIED;
}

const struct plim_files *plim_remote_files(struct plim_remote *remote)
{
    memset(&remote->error, 0, sizeof remote->error);
    return &remote->files;
}

/* --- the session --- */

/* Copies of the texts of the settings, in one piece. */
static bool copy_texts(struct plim_remote *remote, const struct plim_remote_settings *settings)
{
    const char *const from[] = { settings->endpoint, settings->token, settings->cache, settings->library };
    const char **const to[] = { &remote->endpoint, &remote->requests.token, &remote->cache, &remote->requests.library };
    size_t n = 0, at = 0;
    for (size_t i = 0; i < 4; i++)
        n += strlen(from[i]) + 1;
    remote->texts = plim_alloc(n, 1);
    for (size_t i = 0; i < 4 && remote->texts; i++) {
        const size_t length = strlen(from[i]) + 1;
        *to[i] = memcpy(remote->texts + at, from[i], length);
        at += length;
    }
    remote->requests.endpoint = remote->endpoint;
    return remote->texts != NULL;
}

static int check(const struct plim_remote_settings *settings, struct plim_error *reterr)
{
    const char *endpoint = settings->endpoint, *token = settings->token;
    if (plim_url_origin_bytes(endpoint) == 0 || strpbrk(endpoint, "?#"))
        return plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "HF_ENDPOINT is not an address: '%.80s'", endpoint);
    for (const char *p = token; *p; p++)
        if (*p <= ' ' || *p >= 0x7f)
            return plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "HF_TOKEN has a character that no token has");
    return 0;
}

int plim_remote_new(const struct plim_remote_settings *settings, struct plim_remote **ret_remote,
                    struct plim_error *reterr)
{
    int result = check(settings, reterr);
    if (result < 0)
        return result;
    struct plim_remote *remote = plim_alloc(1, sizeof *remote);
    if (!remote || !copy_texts(remote, settings)) {
        plim_free(remote);
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    }
    remote->files = (struct plim_files){ open_file, have_file, grow_file, close_file, &remote->error };
    remote->is_offline = settings->is_offline;
    remote->requests.seconds = settings->seconds;
    remote->requests.deadline_us = plim_system_now_us() + UINT64_C(1000000) * settings->seconds;
    remote->requests.tell = settings->tell;
    remote->requests.context = settings->context;
    plim_listing_init(&remote->listing);
    *ret_remote = remote;
    return 0;
}

struct plim_remote *plim_remote_free(struct plim_remote *remote)
{
    if (!remote)
        return NULL;
    for (size_t i = 0; i < remote->n_kept; i++)
        plim_remote_file_done(remote, remote->kept[i]);
    plim_transport_free(remote->requests.transport);
    plim_listing_done(&remote->listing);
    plim_free(remote->texts);
    plim_free(remote);
    return NULL;
}

struct plim_remote_facts plim_remote_facts(const struct plim_remote *remote)
{
    return (struct plim_remote_facts){ remote->requests.received_bytes, remote->cached_bytes, remote->requests.n };
}
