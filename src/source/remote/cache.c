/* SPDX-License-Identifier: MIT */
/*
 * The cache, a file for each URL: a page of text about it, then the first bytes of the file that is at the URL. It is
 * written beside its place and renamed, so that two commands may do it at once.
 *
 * The name is a hash of the whole URL. What is asked for after a '?' may be a secret of its user: the page has the URL
 * without it.
 */
#include "source/remote/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEAD_BYTES = 16 << 10, PATH_BYTES = 1100, COPY_BYTES = 64 << 10, MOST_BYTES = 32 << 20 };

static const char magic[] = "plimsoll cache 1\n";

/* Two hashes by FNV-1a of 64 bits, the second of the URL backwards. */
static bool path_of(const char *folder, const char *url, char path[PATH_BYTES])
{
    uint64_t there = 0xcbf29ce484222325u, back = there;
    const size_t length = strlen(url);
    for (size_t i = 0; i < length; i++) {
        there = (there ^ (unsigned char)url[i]) * 0x100000001b3u;
        back = (back ^ (unsigned char)url[length - 1 - i]) * 0x100000001b3u;
    }
    const int n = snprintf(path, PATH_BYTES, "%s/headers/%016" PRIx64 "%016" PRIx64, folder, there, back);
    return *folder && n > 0 && n < PATH_BYTES;
}

/* --- files without a name --- */

int plim_spool_new(void)
{
    FILE *file = tmpfile();
    const int fd = file ? fcntl(fileno(file), F_DUPFD_CLOEXEC, 0) : -1;
    if (file)
        fclose(file);
    return fd;
}

bool plim_spool_write(int fd, const void *bytes, size_t n, uint64_t at)
{
    for (size_t done = 0; done < n;) {
        const ssize_t written = pwrite(fd, (const char *)bytes + done, n - done, (off_t)(at + done));
        if (written < 0 && errno != EINTR)
            return false;
        done += written > 0 ? (size_t)written : 0;
    }
    return true;
}

bool plim_spool_copy(int from, uint64_t from_at, int to, uint64_t to_at, uint64_t n)
{
    char buffer[COPY_BYTES];
    for (uint64_t done = 0; done < n;) {
        const size_t wanted = n - done < sizeof buffer ? (size_t)(n - done) : sizeof buffer;
        const ssize_t got = pread(from, buffer, wanted, (off_t)(from_at + done));
        if (got == 0)
            errno = EIO;
        if (got <= 0 || !plim_spool_write(to, buffer, (size_t)got, to_at + done))
            return false;
        done += (uint64_t)got;
    }
    return true;
}

/* --- the page --- */

static int url_bytes(const char *url) { return (int)strcspn(url, "?"); }

/* The line of this name: the rest of it is copied. False when there is none. */
static bool read_line(const char *head, const char *name, char *to, size_t size)
{
    const size_t n = strlen(name);
    for (const char *line = head; line; line = strchr(line, '\n'), line += line ? 1 : 0)
        if (!strncmp(line, name, n) && line[n] == ' ') {
            const size_t length = strcspn(line + n + 1, "\n");
            if (length >= size)
                return false;
            memcpy(to, line + n + 1, length);
            to[length] = '\0';
            return true;
        }
    return false;
}

static bool read_number(const char *head, const char *name, uint64_t *ret_number)
{
    char text[32], *end;
    if (!read_line(head, name, text, sizeof text) || text[0] < '0' || text[0] > '9')
        return false;
    errno = 0;
    *ret_number = strtoull(text, &end, 10);
    return errno == 0 && *end == '\0';
}

static bool read_head(const char *head, const char *url, struct plim_cached *cached)
{
    char own[PLIM_URL_BYTES];
    const size_t n = (size_t)url_bytes(url);
    return !strncmp(head, magic, sizeof magic - 1) && read_line(head, "url", own, sizeof own) && strlen(own) == n &&
           !strncmp(own, url, n) && read_number(head, "here", &cached->here_bytes) &&
           read_number(head, "total", &cached->total_bytes) &&
           read_line(head, "etag", cached->etag, sizeof cached->etag) &&
           read_line(head, "oid", cached->oid, sizeof cached->oid) &&
           read_line(head, "next", cached->next, sizeof cached->next) && cached->here_bytes > 0 &&
           cached->here_bytes <= cached->total_bytes;
}

bool plim_cache_find(const char *folder, const char *url, struct plim_cached *ret_cached)
{
    char path[PATH_BYTES], head[HEAD_BYTES + 1];
    struct stat status;
    struct plim_cached cached = { .start_at = HEAD_BYTES };
    if (!path_of(folder, url, path))
        return false;
    cached.fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (cached.fd < 0)
        return false;
    head[HEAD_BYTES] = '\0';
    const bool is_whole = fstat(cached.fd, &status) == 0 && S_ISREG(status.st_mode) &&
                          pread(cached.fd, head, HEAD_BYTES, 0) == HEAD_BYTES && read_head(head, url, &cached) &&
                          (uint64_t)status.st_size == HEAD_BYTES + cached.here_bytes;
    if (is_whole)
        *ret_cached = cached;
    else
        close(cached.fd);
    return is_whole;
}

/* The folders of a path, for this user alone. */
static void make_folders(const char *path)
{
    char folder[PATH_BYTES];
    for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
        mkdir(folder, 0700);
    }
}

static bool write_entry(int fd, const char *url, const struct plim_cached *c)
{
    char head[HEAD_BYTES] = "";
    const int n =
        snprintf(head, sizeof head, "%surl %.*s\nhere %" PRIu64 "\ntotal %" PRIu64 "\netag %s\noid %s\nnext %s\n",
                 magic, url_bytes(url), url, c->here_bytes, c->total_bytes, c->etag, c->oid, c->next);
    return n > 0 && n < HEAD_BYTES && plim_spool_write(fd, head, sizeof head, 0) &&
           plim_spool_copy(c->fd, c->start_at, fd, HEAD_BYTES, c->here_bytes);
}

void plim_cache_store(const char *folder, const char *url, const struct plim_cached *cached)
{
    char path[PATH_BYTES], part[PATH_BYTES + 16];
    if (cached->here_bytes == 0 || cached->here_bytes > MOST_BYTES || !path_of(folder, url, path))
        return;
    make_folders(path);
    snprintf(part, sizeof part, "%s.XXXXXX", path);
    const int fd = mkstemp(part);
    if (fd < 0)
        return;
    const bool is_written = write_entry(fd, url, cached);
    if (close(fd) != 0 || !is_written || rename(part, path) != 0)
        unlink(part);
}
