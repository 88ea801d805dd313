/* SPDX-License-Identifier: MIT */
/*
 * The hold is a lock (flock) on the file itself. A new file is locked before it gets the name, so that there is no
 * moment at which another sweep can take it.
 */
#include "sweep/table_file.h"

#include "base/error.h"
#include "base/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES = 4096 };

static int held(const char *path, struct plim_error *reterr)
{
    plim_fail(reterr, PLIM_E_IO, PLIM_NO_OFFSET, "another sweep writes this file");
    plim_error_hint(reterr, "wait for it, or write another file with --output");
    plim_error_where(reterr, path);
    return PLIM_E_IO;
}

/* The file that has the name now; it may have been replaced between open() and flock(). */
static bool has_name(int fd, const char *path)
{
    struct stat mine, named;
    return fstat(fd, &mine) == 0 && stat(path, &named) == 0 && mine.st_dev == named.st_dev &&
           mine.st_ino == named.st_ino;
}

static int open_held(const char *path, int *ret_fd, struct plim_error *reterr)
{
    enum { TRIES = 8 };
    for (int i = 0; i < TRIES; i++) {
        const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666);
        if (fd < 0)
            return plim_fail_errno(reterr, path, "write", errno);
        if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
            const int error = errno;
            close(fd);
            return error == EWOULDBLOCK ? held(path, reterr) : plim_fail_errno(reterr, path, "lock", error);
        }
        if (has_name(fd, path)) {
            *ret_fd = fd;
            return 0;
        }
        close(fd);
    }
    return held(path, reterr);
}

static int read_text(int fd, const char *path, struct plim_arena *arena, const char **ret_text, size_t *ret_length,
                     struct plim_error *reterr)
{
    struct stat status;
    if (fstat(fd, &status) < 0)
        return plim_fail_errno(reterr, path, "read", errno);
    if (!S_ISREG(status.st_mode))
        return plim_fail(reterr, PLIM_E_UNSUPPORTED, PLIM_NO_OFFSET, "the table of a sweep is a file");
    if (status.st_size > PLIM_MAX_SWEEP_TABLE_BYTES)
        return plim_fail(reterr, PLIM_E_TOO_BIG, PLIM_NO_OFFSET, "the table is larger than 4 MiB");
    const size_t size = (size_t)status.st_size;
    char *text = plim_arena_alloc(arena, size + 1, 1);
    if (!text)
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    ssize_t n = 1;
    for (*ret_length = 0; *ret_length < size && n > 0; *ret_length += n > 0 ? (size_t)n : 0)
        if ((n = pread(fd, text + *ret_length, size - *ret_length, (off_t)*ret_length)) < 0)
            return plim_fail_errno(reterr, path, "read", errno);
    *ret_text = text;
    return 0;
}

int plim_sweep_file_open(const char *path, bool holds, struct plim_arena *arena, int *ret_fd, const char **ret_text,
                         size_t *ret_length, struct plim_error *reterr)
{
    int fd = -1, result = 0;
    *ret_text = "";
    *ret_length = 0;
    *ret_fd = -1;
    if (holds)
        result = open_held(path, &fd, reterr);
    else if ((fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)) < 0 && errno != ENOENT)
        result = plim_fail_errno(reterr, path, "read", errno);
    if (result == 0 && fd >= 0)
        result = read_text(fd, path, arena, ret_text, ret_length, reterr);
    if (result == 0 && holds)
        *ret_fd = fd;
    else
        plim_sweep_file_close(fd);
    return result;
}

/* The name of a file outlasts a loss of power when its folder is on the disk. */
static void sync_folder(const char *path)
{
    char folder[PATH_BYTES];
    snprintf(folder, sizeof folder, "%s", path);
    char *slash = strrchr(folder, '/');
    if (slash)
        slash[slash == folder] = '\0';
    const int fd = open(slash ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    fsync(fd); /* some file systems have no such thing */
    close(fd);
}

/* A second descriptor of the file, which keeps the lock when the stream is closed. */
static int write_part(int fd, void (*write_text)(FILE *out, const void *context), const void *context)
{
    const int second = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    FILE *out = second >= 0 ? fdopen(second, "w") : NULL;
    if (!out) {
        const int error = errno;
        plim_sweep_file_close(second);
        return error;
    }
    write_text(out, context);
    const bool is_written = fflush(out) == 0 && !ferror(out) && fsync(fd) == 0;
    const int error = is_written ? 0 : errno ? errno : EIO;
    return fclose(out) == 0 ? error : error ? error : EIO;
}

int plim_sweep_file_replace(const char *path, int *fd, void (*write_text)(FILE *out, const void *context),
                            const void *context, struct plim_error *reterr)
{
    char part[PATH_BYTES];
    struct stat old;
    const int n = snprintf(part, sizeof part, "%s.part", path); /* left by a sweep that was killed, or our own */
    if (n < 0 || (size_t)n >= sizeof part)
        return plim_fail_errno(reterr, path, "write", ENAMETOOLONG);
    unlink(part);
    const int new_fd = open(part, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (new_fd < 0)
        return plim_fail_errno(reterr, path, "write", errno);
    if (fstat(*fd, &old) == 0)
        (void)!fchmod(new_fd, old.st_mode & 0777);
    int error = flock(new_fd, LOCK_EX | LOCK_NB) < 0 ? errno : write_part(new_fd, write_text, context);
    if (!error && rename(part, path) < 0)
        error = errno;
    if (error) {
        unlink(part);
        close(new_fd);
        return plim_fail_errno(reterr, path, "write", error);
    }
    sync_folder(path);
    plim_sweep_file_close(*fd);
    *fd = new_fd;
    return 0;
}

void plim_sweep_file_close(int fd)
{
    if (fd >= 0)
        close(fd);
}
