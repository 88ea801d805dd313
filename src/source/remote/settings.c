/* SPDX-License-Identifier: MIT */
/*
 * HF_ENDPOINT and HF_TOKEN are huggingface_hub's (constants.py: ENDPOINT; utils/_auth.py: get_token). Proxies
 * (http_proxy, HTTPS_PROXY, NO_PROXY ...) libcurl finds itself.
 */
#include "source/remote/remote.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_SECONDS = 300, MOST_SECONDS = 3600 };

static const char *text_of(char *(*variable)(const char *name), const char *name)
{
    const char *value = variable(name);
    return value ? value : "";
}

/* Without the slashes at the end; ready to be put before "/api/...". */
static const char *endpoint_of(const char *given)
{
    static char endpoint[PLIM_URL_BYTES / 4];
    size_t n = strlen(given);
    while (n && given[n - 1] == '/')
        n--;
    if (n == 0 || n >= sizeof endpoint)
        return PLIM_HUB_ENDPOINT;
    snprintf(endpoint, sizeof endpoint, "%.*s", (int)n, given);
    return endpoint;
}

/* Of the directories of XDG: those that are not absolute do not count. */
static const char *cache_of(const char *given, const char *home)
{
    static char cache[1024];
    const int n = given[0] == '/'  ? snprintf(cache, sizeof cache, "%s/plimsoll", given)
                  : home[0] == '/' ? snprintf(cache, sizeof cache, "%s/.cache/plimsoll", home)
                                   : 0;
    return n > 0 && (size_t)n < sizeof cache ? cache : "";
}

void plim_remote_settings_read(char *(*variable)(const char *name), struct plim_remote_settings *ret_settings)
{
    const char *library = text_of(variable, "PLIMSOLL_CURL");
    const long seconds = strtol(text_of(variable, "PLIMSOLL_SECONDS"), NULL, 10);
    *ret_settings = (struct plim_remote_settings){
        .endpoint = endpoint_of(text_of(variable, "HF_ENDPOINT")),
        .token = text_of(variable, "HF_TOKEN"),
        .cache = cache_of(text_of(variable, "XDG_CACHE_HOME"), text_of(variable, "HOME")),
#ifdef __APPLE__
        .library = *library ? library : "libcurl.4.dylib",
#else
        .library = *library ? library : "libcurl.so.4",
#endif
        .seconds = seconds > 0 && seconds <= MOST_SECONDS ? (unsigned)seconds : DEFAULT_SECONDS,
    };
}
