/* SPDX-License-Identifier: MIT */
#include "step/file.h"

#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES = 4096 };

static bool write_all(int fd, const unsigned char *bytes, size_t n)
{
    while (n) {
        const ssize_t written = write(fd, bytes, n);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        bytes += written;
        n -= (size_t)written;
    }
    return true;
}

/* The new file beside the old one, whose place it takes when it is whole. Returns 0 or an errno. */
static int save(const char *path, const unsigned char *bytes, size_t n)
{
    char part[PATH_BYTES];
    struct stat status;
    const int length = snprintf(part, sizeof part, "%s.plimsoll-%ld", path, (long)getpid());
    if (length < 0 || (size_t)length >= sizeof part)
        return ENAMETOOLONG;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
        return S_ISDIR(status.st_mode) ? EISDIR : EINVAL;
    const int fd = open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0)
        return errno;
    bool is_written = write_all(fd, bytes, n);
    int error = errno;
    if (close(fd) != 0 && is_written) {
        is_written = false;
        error = errno;
    }
    if (is_written && rename(part, path) == 0)
        return 0;
    error = is_written ? errno : error;
    unlink(part);
    return error ? error : EIO;
}

int plim_step_write(const char *path, const struct plim_step *step, struct plim_error *reterr)
{
    unsigned char *bytes = NULL;
    size_t n = 0;
    const int result = plim_step_encode(step, &bytes, &n, reterr);
    if (result < 0)
        return result;
    const int error = save(path, bytes, n);
    plim_free(bytes);
    return error ? plim_fail_errno(reterr, path, "write", error) : 0;
}
