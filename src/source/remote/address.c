/* SPDX-License-Identifier: MIT */
/*
 * Names of models on servers.
 *
 * "ORG/REPO:QUANT" is that of llama.cpp's -hf (common/download.cpp: common_download_split_repo_tag). The rules for
 * names of repositories and the URL of a file are huggingface_hub's (utils/_validators.py: validate_repo_id;
 * constants.py: HUGGINGFACE_CO_URL_TEMPLATE).
 */
#include "source/remote/address.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static const char name_letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";

bool plim_remote_is_address(const char *text)
{
    return !strncmp(text, "hf:", 3) || !strncasecmp(text, "https://", 8) || !strncasecmp(text, "http://", 7);
}

static int refuse(struct plim_error *reterr, const char *text, const char *why)
{
    int code = plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "%s", why);
    plim_error_where(reterr, text);
    plim_error_hint(reterr, "models on servers are named hf:ORG/REPO, hf:ORG/REPO:Q4_K_M, hf:ORG/REPO/FILE.gguf or "
                            "https://HOST/FILE.gguf");
    return code;
}

static bool copy(char *to, size_t size, const char *text, size_t n)
{
    if (n >= size)
        return false;
    memcpy(to, text, n);
    to[n] = '\0';
    return true;
}

/* --- repositories --- */

static bool is_name(const char *text, size_t n)
{
    if (n == 0 || n > 96 || text[0] == '.' || text[0] == '-' || text[n - 1] == '.' || text[n - 1] == '-')
        return false;
    for (size_t i = 0; i < n; i++)
        if (!strchr(name_letters, text[i]) || (i && text[i - 1] == text[i] && (text[i] == '.' || text[i] == '-')))
            return false;
    return true;
}

bool plim_remote_is_repository(const char *text)
{
    const char *slash = strchr(text, '/');
    return slash && is_name(text, (size_t)(slash - text)) && is_name(slash + 1, strlen(slash + 1));
}

bool plim_remote_path_is_plain(const char *path)
{
    if (strlen(path) >= PLIM_REMOTE_PATH_BYTES)
        return false;
    for (const char *part = path;; part++) {
        const size_t n = strcspn(part, "/");
        if (n == 0 || (n == 1 && part[0] == '.') || (n == 2 && part[0] == '.' && part[1] == '.'))
            return false;
        for (size_t i = 0; i < n; i++)
            if ((unsigned char)part[i] < ' ' || part[i] == 0x7f || part[i] == '\\')
                return false;
        part += n;
        if (*part == '\0')
            return true;
    }
}

/* What follows "ORG/REPO" in a name: nothing, ":QUANT" or "/FILE". */
static int read_hub(const char *text, const char *name, struct plim_remote_address *address, struct plim_error *reterr)
{
    const char *slash = strchr(name, '/');
    const size_t n = slash ? (size_t)(slash - name) + 1 + strcspn(slash + 1, "/:") : 0;
    const char *rest = name + n;
    if (!slash || !copy(address->repository, sizeof address->repository, name, n) ||
        !plim_remote_is_repository(address->repository))
        return refuse(reterr, text, "this does not name a repository");
    if (rest[0] == ':' && (rest[1] == '\0' || strspn(rest + 1, name_letters) != strlen(rest + 1) ||
                           !copy(address->quantization, sizeof address->quantization, rest + 1, strlen(rest + 1))))
        return refuse(reterr, text, "this does not name a quantization");
    if (rest[0] == '/' && (!plim_remote_path_is_plain(rest + 1) ||
                           !copy(address->file, sizeof address->file, rest + 1, strlen(rest + 1))))
        return refuse(reterr, text, "this does not name a file of the repository");
    return 0;
}

/* --- URLs --- */

size_t plim_url_origin_bytes(const char *url)
{
    const size_t scheme = !strncasecmp(url, "https://", 8) ? 8 : !strncasecmp(url, "http://", 7) ? 7 : 0;
    const size_t host = scheme ? strcspn(url + scheme, "/?#") : 0;
    if (host == 0 || memchr(url + scheme, '@', host) || url[scheme] == ':')
        return 0;
    for (const char *p = url; *p; p++)
        if ((unsigned char)*p <= ' ' || *p == 0x7f || *p == '\\' || *p == '"' || *p == '<' || *p == '>')
            return 0;
    return scheme + host;
}

bool plim_url_is_same_origin(const char *url, const char *other)
{
    const size_t n = plim_url_origin_bytes(url);
    return n > 0 && n == plim_url_origin_bytes(other) && !strncasecmp(url, other, n);
}

bool plim_url_is_private(const char *url)
{
    static const char *const hosts[] = { "127.0.0.1", "localhost", "[::1]" };
    const size_t n = plim_url_origin_bytes(url);
    if (n == 0 || !strncasecmp(url, "https://", 8))
        return n > 0;
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
        const size_t length = strlen(hosts[i]);
        if (!strncasecmp(url + 7, hosts[i], length) && (url[7 + length] == ':' || 7 + length == n))
            return true;
    }
    return false;
}

/* One character of a path: as it is, or in the form %41. */
static size_t put(char *to, size_t room, char c)
{
    const bool is_plain = strchr(name_letters, c) || strchr("/~!$&'()*+,;=:@", c);
    if (room < 4)
        return 0;
    if (!is_plain)
        return (size_t)snprintf(to, room, "%%%02X", (unsigned)(unsigned char)c);
    *to = c;
    return 1;
}

bool plim_remote_file_url(const char *endpoint, const char *repository, const char *path, char url[PLIM_URL_BYTES])
{
    int n = snprintf(url, PLIM_URL_BYTES, "%s/%s/resolve/main/", endpoint, repository);
    size_t at = n > 0 && n < PLIM_URL_BYTES ? (size_t)n : PLIM_URL_BYTES;
    for (; *path && at < PLIM_URL_BYTES; path++) {
        const size_t written = put(url + at, PLIM_URL_BYTES - at, *path);
        at = written ? at + written : PLIM_URL_BYTES;
    }
    if (at >= PLIM_URL_BYTES)
        return false;
    url[at] = '\0';
    return true;
}

static bool is_file(const char *name)
{
    static const char *const ends[] = { ".gguf", ".safetensors", ".json" };
    const size_t n = strlen(name);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (n > strlen(ends[i]) && !strcasecmp(name + n - strlen(ends[i]), ends[i]))
            return true;
    return false;
}

/*
 * The pages of a hub: ".../ORG/REPO" and ".../ORG/REPO/tree/main" show a repository, ".../blob/main/FILE" shows a file
 * that is at ".../resolve/main/FILE". Returns 1 when it is the page of a repository.
 */
static int read_page(const char *endpoint, struct plim_remote_address *address)
{
    static const char blob[] = "/blob/", resolve[] = "/resolve/";
    char path[PLIM_URL_BYTES];
    const size_t origin = strlen(endpoint);
    if (strncasecmp(address->url, endpoint, origin) != 0 || address->url[origin] != '/')
        return 0;
    snprintf(path, sizeof path, "%s", address->url + origin + 1);
    path[strcspn(path, "?")] = '\0';
    char *second = strchr(path, '/'), *rest = second ? strchr(second + 1, '/') : NULL;
    if (rest && !strncmp(rest, blob, sizeof blob - 1) &&
        origin + 1 + strlen(path) + sizeof resolve < sizeof address->url) {
        const int before = (int)(rest - path);
        snprintf(address->url + origin, sizeof address->url - origin, "/%.*s%s%s", before, path, resolve,
                 rest + sizeof blob - 1);
        return 0;
    }
    if (rest && (!strcmp(rest, "/") || !strcmp(rest, "/tree/main")))
        *rest = '\0';
    else if (rest)
        return 0;
    return plim_remote_is_repository(path) && !is_file(path) &&
           copy(address->repository, sizeof address->repository, path, strlen(path));
}

static int read_url(const char *text, const char *endpoint, struct plim_remote_address *address,
                    struct plim_error *reterr)
{
    static const char query[] = "?download=true"; /* of the links that the hub shows */
    if (plim_url_origin_bytes(text) == 0)
        return refuse(reterr, text, "this is not the address of a file; user names in addresses are not taken");
    if (!copy(address->url, sizeof address->url, text, strcspn(text, "#")))
        return refuse(reterr, text, "the address is too long");
    const size_t n = strlen(address->url);
    if (n > sizeof query && !strcmp(address->url + n - (sizeof query - 1), query))
        address->url[n - (sizeof query - 1)] = '\0';
    if (!read_page(endpoint, address) && strcmp(endpoint, PLIM_HUB_ENDPOINT) != 0)
        return read_page(PLIM_HUB_ENDPOINT, address), 0;
    return 0;
}

int plim_remote_address_read(const char *text, const char *endpoint, struct plim_remote_address *ret_address,
                             struct plim_error *reterr)
{
    memset(ret_address, 0, sizeof *ret_address);
    if (strncmp(text, "hf:", 3) != 0)
        return read_url(text, endpoint, ret_address, reterr);
    return read_hub(text, text + (strncmp(text + 3, "//", 2) ? 3 : 5), ret_address, reterr);
}
