/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_SOURCE_REMOTE_REMOTE_H
#define PLIMSOLL_SOURCE_REMOTE_REMOTE_H

/*
 * Models on servers: their headers by ranges of HTTP, kept in a cache; never the weights. One session serves one
 * command: its limits on bytes, requests and time hold for all models together.
 */

#include "source/file.h"
#include "source/remote/address.h"

struct plim_remote;

struct plim_remote_settings {
    const char *endpoint; /* the hub of "hf:": "https://huggingface.co"; no slash at the end */
    const char *token;    /* goes to the endpoint and nowhere else; "": none */
    const char *cache;    /* folder, made when it is missing; "": none */
    const char *library;  /* libcurl */
    unsigned seconds;     /* for everything */
    bool is_offline;      /* only the cache is asked */
    /* Called while a server is waited for, ten times a second at most and once at least; may be NULL. */
    void (*tell)(void *context, uint64_t received_bytes);
    void *context;
};

/*
 * From the variables of the environment (variable() returns the value of one, or NULL): HF_ENDPOINT, HF_TOKEN,
 * XDG_CACHE_HOME, HOME, PLIMSOLL_CURL, PLIMSOLL_SECONDS. Texts are static: they hold until the next call.
 */
void plim_remote_settings_read(char *(*variable)(const char *name), struct plim_remote_settings *ret_settings);

/* A session; PLIM_E_UNSUPPORTED when this build has none. Nothing is opened before it is needed. */
int plim_remote_new(const struct plim_remote_settings *settings, struct plim_remote **ret_remote,
                    struct plim_error *reterr) PLIM_MUST_CHECK;

/* NULL is fine. Returns NULL. What was read is put into the cache. */
struct plim_remote *plim_remote_free(struct plim_remote *remote);

/* What a name means: files to open with plim_remote_files(). */
struct plim_remote_model {
    char url[PLIM_URL_BYTES];
    char projector[PLIM_URL_BYTES]; /* that llama.cpp would load with it; "": none */
};
int plim_remote_find(struct plim_remote *remote, const char *name, struct plim_remote_model *ret_model,
                     struct plim_error *reterr) PLIM_MUST_CHECK;

const struct plim_files *plim_remote_files(struct plim_remote *remote);

/* What a session did until now. */
struct plim_remote_facts {
    uint64_t received_bytes; /* heads of answers and lists of files too */
    uint64_t cached_bytes;   /* of headers that were in the cache */
    unsigned n_requests;
};
struct plim_remote_facts plim_remote_facts(const struct plim_remote *remote);

#endif
