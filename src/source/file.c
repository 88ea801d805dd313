/* SPDX-License-Identifier: MIT */
#include "source/file.h"

#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Small enough to stay in a processor's cache while it is walked, large enough that calls do not count. */
enum { WINDOW_BYTES = 512 << 10 };
_Static_assert((int)WINDOW_BYTES >= (int)PLIM_CURSOR_MOST, "a cursor may want this much at once");

static int fail_to_open(struct plim_error *reterr, const char *path, int error)
{
    int code = plim_fail_errno(reterr, path, "open", error);
    if (code == PLIM_E_NOT_FOUND)
        plim_error_hint(reterr, "check the path; a model is one .gguf file, or the first of its parts");
    return code;
}

static const char *kind_of(mode_t mode)
{
    return S_ISDIR(mode) ? "a directory" : S_ISFIFO(mode) ? "a pipe" : S_ISSOCK(mode) ? "a socket" : "a device";
}

static int check_kind(const char *path, const struct stat *status, struct plim_error *reterr)
{
    int result = 0;
    if (!S_ISREG(status->st_mode)) {
        result = plim_fail(reterr, PLIM_E_UNSUPPORTED, PLIM_NO_OFFSET, "expected a file, found %s",
                           kind_of(status->st_mode));
    } else if (status->st_size == 0) {
        result = plim_fail(reterr, PLIM_E_TRUNCATED, 0, "the file is empty");
        plim_error_hint(reterr, "download it again");
    }
    if (result < 0)
        plim_error_where(reterr, path);
    return result;
}

int plim_file_open(const char *path, struct plim_file *ret_file, struct plim_error *reterr)
{
    struct stat status;
    /* O_NONBLOCK: opening a FIFO must not wait for a writer */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return fail_to_open(reterr, path, errno);
    int result = fstat(fd, &status) < 0 ? fail_to_open(reterr, path, errno) : check_kind(path, &status, reterr);
    unsigned char *window = result == 0 ? plim_alloc_unset(WINDOW_BYTES, 1) : NULL;
    if (result == 0 && !window)
        result = fail_to_open(reterr, path, ENOMEM);
    if (result < 0) {
        close(fd);
        return result;
    }
    *ret_file = (struct plim_file){ .fd = fd, .file_bytes = (uint64_t)status.st_size, .window = window };
    return 0;
}

/* Move the window to where the cursor is. */
static bool fill_window(struct plim_cursor *c, uint64_t n)
{
    struct plim_file *file = c->source;
    const uint64_t left = c->size - c->at, wanted = left < WINDOW_BYTES ? left : WINDOW_BYTES;
    uint64_t length = 0;
    while (length < wanted) {
        ssize_t got = pread(file->fd, file->window + length, wanted - length, (off_t)(c->at + length));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            c->error = errno;
        if (got <= 0)
            break;
        length += (uint64_t)got;
    }
    if (length < wanted)
        c->size = c->at + length; /* the file was longer when it was opened, or cannot be read further */
    c->data = file->window;
    c->data_at = c->at;
    c->data_end = c->at + length;
    return n <= length;
}

struct plim_cursor plim_file_cursor(struct plim_file *file, uint64_t max_bytes)
{
    return (struct plim_cursor){ .size = file->file_bytes < max_bytes ? file->file_bytes : max_bytes,
                                 .fill = fill_window,
                                 .source = file };
}

void plim_file_close(struct plim_file *file)
{
    close(file->fd);
    plim_free(file->window);
    *file = (struct plim_file){ .fd = -1 };
}

long plim_file_read_text(const char *path, char *buffer, size_t size)
{
    size_t length = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return errno == ENOENT ? PLIM_E_NOT_FOUND : PLIM_E_DENIED;
    while (length + 1 < size) {
        ssize_t n = read(fd, buffer + length, size - 1 - length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        length += (size_t)n;
    }
    close(fd);
    buffer[length] = '\0';
    return (long)length;
}
