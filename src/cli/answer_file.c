/* SPDX-License-Identifier: MIT */
#include "cli/answer_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES = 4096 };

bool plim_answer_file_can_be_written(const char *path)
{
    static char folder[PATH_BYTES];
    struct stat status;
    if (stat(path, &status) == 0) {
        errno = S_ISDIR(status.st_mode) ? EISDIR : errno;
        return !S_ISDIR(status.st_mode) && access(path, W_OK) == 0;
    }
    const char *slash = strrchr(path, '/');
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
    return errno == ENOENT && *path && access(*folder ? folder : "/", W_OK | X_OK) == 0;
}

bool plim_answer_file_is_replaceable(const char *path, const void *begin, size_t n_begin)
{
    unsigned char found[128];
    struct stat status;
    if (stat(path, &status) < 0 || !S_ISREG(status.st_mode) || status.st_size == 0)
        return true;
    FILE *in = fopen(path, "re");
    if (!in)
        return false;
    const size_t n = fread(found, 1, n_begin < sizeof found ? n_begin : sizeof found, in);
    const bool is_same = memcmp(found, begin, n) == 0; /* of one that was cut, what is there */
    const int error = ferror(in) ? errno : 0;
    const int on_closing = fclose(in) == 0 ? EEXIST : errno;
    errno = error ? error : on_closing;
    return is_same && errno == EEXIST;
}

/* Writes and closes it; errno is of the first failure. */
static bool write_stream(FILE *out, const struct plim_answer_writer *writer)
{
    errno = 0;
    const bool is_written = writer->write(out, writer->answer) && fflush(out) == 0 && !ferror(out);
    const int error = errno ? errno : EIO;
    const bool is_closed = fclose(out) == 0;
    if (!is_written)
        errno = error;
    return is_written && is_closed;
}

/* Of our own streams the one that goes to this file, as /dev/stdout does; or -1. */
static int own_stream(const struct stat *file)
{
    struct stat status;
    for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++)
        if (fstat(fd, &status) == 0 && status.st_dev == file->st_dev && status.st_ino == file->st_ino)
            return fd;
    return -1;
}

/* A stream goes on where it is; a file is written over. */
static FILE *open_itself(const char *path, int stream)
{
    const int fd = stream >= 0 ? fcntl(stream, F_DUPFD_CLOEXEC, STDERR_FILENO + 1) : -1;
    return stream < 0 ? fopen(path, "we") : fd >= 0 ? fdopen(fd, "w") : NULL;
}

/* The new file beside the old one, whose place it takes when it is whole. NULL: none can be made here. */
static FILE *open_beside(const char *target, const struct stat *old, char part[PATH_BYTES + 32])
{
    snprintf(part, PATH_BYTES + 32, "%s.plimsoll-%ld", target, (long)getpid());
    const int fd = open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    FILE *out = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (out && (!old || fchmod(fd, old->st_mode & 0777) == 0))
        return out;
    const int error = errno;
    if (out)
        fclose(out);
    else if (fd >= 0)
        close(fd);
    if (fd >= 0)
        unlink(part);
    errno = error;
    return NULL;
}

/* Signals that would end us between the part and its new name wait until it has it. */
static void hold_signals(sigset_t *ret_before)
{
    static const int ending[] = { SIGTERM, SIGINT, SIGHUP, SIGQUIT };
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++)
        sigaddset(&set, ending[i]);
    sigprocmask(SIG_BLOCK, &set, ret_before);
}

/* Takes the place of the target when it is whole, else it goes. */
static bool write_beside(FILE *out, const char *part, const char *target, const struct plim_answer_writer *writer)
{
    const bool is_written = write_stream(out, writer) && rename(part, target) == 0;
    const int error = errno;
    if (!is_written)
        unlink(part);
    errno = error;
    return is_written;
}

bool plim_answer_file_write(const char *path, const struct plim_answer_writer *writer)
{
    static char target[PATH_BYTES], part[PATH_BYTES + 32];
    struct stat old, link;
    const bool is_there = stat(path, &old) == 0;
    if (!is_there && errno != ENOENT)
        return false;
    const int stream = is_there ? own_stream(&old) : -1;
    /* another's file, one with several names or open as our output, and a link to nothing stay what they are */
    const bool is_ours = !is_there ? lstat(path, &link) < 0
                                   : stream < 0 && S_ISREG(old.st_mode) && old.st_uid == geteuid() && old.st_nlink == 1;
    const bool has_target = is_there ? realpath(path, target) != NULL : strlen(path) < sizeof target;
    if (!is_there && has_target)
        strcpy(target, path);
    sigset_t before;
    hold_signals(&before);
    FILE *out = is_ours && has_target ? open_beside(target, is_there ? &old : NULL, part) : NULL;
    const bool is_beside = out != NULL, is_written = is_beside && write_beside(out, part, target, writer);
    const int error = errno;
    sigprocmask(SIG_SETMASK, &before, NULL);
    errno = error;
    if (is_beside)
        return is_written;
    /* a pipe may wait for its reader */
    if (!is_ours || (is_there && (errno == EACCES || errno == EPERM || errno == EROFS)))
        out = open_itself(path, stream);
    return out && write_stream(out, writer);
}
