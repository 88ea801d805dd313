/* SPDX-License-Identifier: MIT */
/*
 * Requests through libcurl, which is loaded when the first one is made: commands that need no server start as fast as
 * without it, and the program runs where it is missing. Types and numbers are those of curl/curl.h.
 *
 * libcurl may be older than that header: options that it does not know are refused one by one, and only those whose
 * absence would widen what is allowed count.
 */
#define CURL_DISABLE_DEPRECATION
#define CURL_DISABLE_TYPECHECK
#include "source/remote/transport.h"

#include "base/mem.h"
#include "base/system.h"

#include <curl/curl.h>
#include <stdio.h>
#include <string.h>

/* A connection that brings less than STALL_BYTES a second over STALL_S stands still. */
enum { CONNECT_MS = 20000, STALL_BYTES = 64, STALL_S = 30 };

struct plim_transport {
    void *library;
    CURL *handle;
    __typeof__(&(curl_global_init)) global_init;
    __typeof__(&(curl_global_cleanup)) global_cleanup;
    __typeof__(&(curl_easy_init)) init;
    __typeof__(&(curl_easy_setopt)) set;
    __typeof__(&(curl_easy_perform)) perform;
    __typeof__(&(curl_easy_getinfo)) get_info;
    __typeof__(&(curl_easy_reset)) reset;
    __typeof__(&(curl_easy_cleanup)) cleanup;
    __typeof__(&(curl_easy_strerror)) words;
    __typeof__(&(curl_slist_append)) append;
    __typeof__(&(curl_slist_free_all)) free_list;
};

static bool find_symbols(struct plim_transport *t)
{
    const struct {
        const char *name;
        void *slot;
    } symbols[] = {
        { "curl_global_init", &t->global_init },  { "curl_global_cleanup", &t->global_cleanup },
        { "curl_easy_init", &t->init },           { "curl_easy_setopt", &t->set },
        { "curl_easy_perform", &t->perform },     { "curl_easy_getinfo", &t->get_info },
        { "curl_easy_reset", &t->reset },         { "curl_easy_cleanup", &t->cleanup },
        { "curl_easy_strerror", &t->words },      { "curl_slist_append", &t->append },
        { "curl_slist_free_all", &t->free_list },
    };
    bool has_all = true;
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        plim_system_symbol(t->library, symbols[i].name, symbols[i].slot);
        void *found;
        memcpy(&found, symbols[i].slot, sizeof found);
        has_all &= found != NULL;
    }
    return has_all;
}

static int fail_to_load(struct plim_transport *t, const char *library, const char *why, struct plim_error *reterr)
{
    int code = plim_fail(reterr, PLIM_E_NETWORK, PLIM_NO_OFFSET, "models on servers need libcurl: %s %s", library,
                         !t->library ? (*why ? why : "is not found") : "is not libcurl 7.32 or newer");
    plim_error_hint(reterr, "install it: the package is libcurl4 in Debian, libcurl in Fedora, curl in Arch");
    return code;
}

int plim_transport_new(const char *library, struct plim_transport **ret_transport, struct plim_error *reterr)
{
    char why[PLIM_LIBRARY_WHY_BYTES];
    struct plim_transport *t = plim_alloc(1, sizeof *t);
    if (!t)
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    t->library = plim_system_library(library, why);
    int result = 0;
    if (!t->library || !find_symbols(t))
        result = fail_to_load(t, library, why, reterr);
    else if (t->global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        result = plim_fail(reterr, PLIM_E_NETWORK, PLIM_NO_OFFSET, "libcurl cannot start");
    else
        t->handle = t->init();
    if (result == 0 && !t->handle)
        result = plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    if (result < 0) {
        plim_transport_free(t);
        return result;
    }
    *ret_transport = t;
    return 0;
}

struct plim_transport *plim_transport_free(struct plim_transport *t)
{
    if (t && t->handle)
        t->cleanup(t->handle);
    if (t && t->handle)
        t->global_cleanup();
    if (t && t->library)
        plim_system_library_close(t->library);
    plim_free(t);
    return NULL;
}

/* --- one request --- */

static size_t take_line(char *line, size_t size, size_t n, void *to)
{
    struct plim_exchange *x = to;
    if (!x->count(x->to, size * n))
        return 0;
    plim_http_answer_add(&x->answer, line, size * n);
    return size * n;
}

static size_t take_body(char *bytes, size_t size, size_t n, void *to)
{
    struct plim_exchange *x = to;
    return x->count(x->to, size * n) && x->take(x->to, &x->answer, bytes, size * n) ? size * n : 0;
}

static int wait_for_it(void *to, curl_off_t total, curl_off_t now, curl_off_t upload_total, curl_off_t upload_now)
{
    struct plim_exchange *x = to;
    (void)total, (void)now, (void)upload_total, (void)upload_now;
    x->wait(x->to);
    return 0;
}

/* Only HTTP, and nothing of this user's: no .netrc, no redirects that libcurl follows. */
static bool limit(struct plim_transport *t)
{
    bool is_limited = false;
#if LIBCURL_VERSION_NUM >= 0x075500
    is_limited = t->set(t->handle, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK;
#endif
    if (!is_limited)
        is_limited = t->set(t->handle, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS)) == CURLE_OK;
    return is_limited && t->set(t->handle, CURLOPT_FOLLOWLOCATION, 0L) == CURLE_OK;
}

static bool prepare(struct plim_transport *t, struct plim_exchange *x, struct curl_slist *headers)
{
    t->reset(t->handle);
    if (!limit(t) || t->set(t->handle, CURLOPT_URL, x->url) != CURLE_OK)
        return false;
    t->set(t->handle, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    t->set(t->handle, CURLOPT_USERAGENT, "plimsoll/0.1");
    t->set(t->handle, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
    t->set(t->handle, CURLOPT_LOW_SPEED_LIMIT, (long)STALL_BYTES);
    t->set(t->handle, CURLOPT_LOW_SPEED_TIME, (long)STALL_S);
    t->set(t->handle, CURLOPT_ERRORBUFFER, x->why);
    t->set(t->handle, CURLOPT_WRITEFUNCTION, take_body);
    t->set(t->handle, CURLOPT_WRITEDATA, x);
    t->set(t->handle, CURLOPT_HEADERFUNCTION, take_line);
    t->set(t->handle, CURLOPT_HEADERDATA, x);
    t->set(t->handle, CURLOPT_NOPROGRESS, 0L);
    t->set(t->handle, CURLOPT_XFERINFOFUNCTION, wait_for_it);
    t->set(t->handle, CURLOPT_XFERINFODATA, x);
    return t->set(t->handle, CURLOPT_TIMEOUT_MS, (long)x->timeout_ms) == CURLE_OK &&
           (!x->range || t->set(t->handle, CURLOPT_RANGE, x->range) == CURLE_OK) &&
           t->set(t->handle, CURLOPT_HTTPHEADER, headers) == CURLE_OK;
}

static enum plim_exchange_end end_of(CURLcode code)
{
    switch (code) {
    case CURLE_OK:
        return PLIM_EXCHANGE_DONE;
    case CURLE_WRITE_ERROR:
        return PLIM_EXCHANGE_STOPPED;
    case CURLE_OPERATION_TIMEDOUT:
        return PLIM_EXCHANGE_LATE;
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
        return PLIM_EXCHANGE_REFUSED;
    default:
        return PLIM_EXCHANGE_CUT;
    }
}

/* Add a header; false when there is no memory. An empty value: no header. */
static bool add(struct plim_transport *t, struct curl_slist **list, const char *name, const char *value)
{
    char line[PLIM_URL_BYTES];
    if (!*value)
        return true;
    const int n = snprintf(line, sizeof line, "%s%s", name, value);
    struct curl_slist *longer = n > 0 && (size_t)n < sizeof line ? t->append(*list, line) : NULL;
    if (longer)
        *list = longer;
    return longer != NULL;
}

enum plim_exchange_end plim_transport_get(struct plim_transport *t, struct plim_exchange *x)
{
    struct curl_slist *headers = NULL;
    CURLcode code = CURLE_OUT_OF_MEMORY;
    const char *redirect = NULL;
    memset(&x->answer, 0, sizeof x->answer);
    x->redirect[0] = x->why[0] = '\0';
    if (add(t, &headers, "Authorization: Bearer ", x->token) && add(t, &headers, "If-None-Match: ", x->etag) &&
        prepare(t, x, headers))
        code = t->perform(t->handle);
    if (code == CURLE_OK && x->answer.location[0] &&
        t->get_info(t->handle, CURLINFO_REDIRECT_URL, &redirect) == CURLE_OK && redirect)
        snprintf(x->redirect, sizeof x->redirect, "%s", redirect);
    if (code != CURLE_OK && !x->why[0])
        snprintf(x->why, sizeof x->why, "%s", t->words(code));
    t->set(t->handle, CURLOPT_ERRORBUFFER, NULL);
    t->set(t->handle, CURLOPT_HTTPHEADER, NULL);
    t->free_list(headers);
    return end_of(code);
}
