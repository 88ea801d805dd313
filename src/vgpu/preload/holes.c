/* SPDX-License-Identifier: MIT */
/*
 * Zeros that a program writes to a file become a hole: the weights in a checkpoint of a rehearsal are zeros, gigabytes
 * of them, which would take minutes, and a disk of their size. Length, offset and content of the file are those of a
 * plain write.
 *
 * Only large parts of regular files are treated so, and never a file that is opened to append or past the page cache.
 * The offset of the file is moved first, by one call, so that two writers that share it get two places, as without us.
 * Whatever cannot be done is left to the kernel: a plain call for the same place.
 */
#include "vgpu/preload/preload.h"
#include "vgpu/values/zeros.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/falloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
    LEAST_BYTES = PLIM_LARGE_WRITE_BYTES,
    MOST_BYTES = 0x7ffff000, /* of one call, write(2): a longer one is cut short */
    PAGE_BYTES = 4096
};

/* What stands behind us; NULL before the constructor: other libraries' may write before. */
static ssize_t (*next_write)(int, const void *, size_t), (*next_writev)(int, const struct iovec *, int);
static ssize_t (*next_pwrite)(int, const void *, size_t, off_t);

__attribute__((constructor)) static void find_next(void)
{
    *(void **)&next_write = dlsym(RTLD_NEXT, "write");
    *(void **)&next_writev = dlsym(RTLD_NEXT, "writev");
    *(void **)&next_pwrite = dlsym(RTLD_NEXT, "pwrite");
}

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22 /* Linux 5.14 */
#endif

static ssize_t plain_write(int fd, const void *bytes, size_t n)
{
    return next_write ? next_write(fd, bytes, n) : syscall(SYS_write, fd, bytes, n);
}

static ssize_t plain_pwrite(int fd, const void *bytes, size_t n, off_t at)
{
    return next_pwrite ? next_pwrite(fd, bytes, n, at) : syscall(SYS_pwrite64, fd, bytes, n, at);
}

static ssize_t plain_writev(int fd, const struct iovec *parts, int n)
{
    return next_writev ? next_writev(fd, parts, n) : syscall(SYS_writev, fd, parts, n);
}

/* The start of the first zeros that are worth a hole; n: there are none. */
static size_t first_zeros(const char *bytes, size_t n)
{
    size_t at = 0;
    while (n - at >= LEAST_BYTES) {
        const size_t length = plim_zeros_prefix(bytes + at, n - at, PAGE_BYTES);
        if (length >= LEAST_BYTES)
            return at;
        at += length + PAGE_BYTES; /* less than LEAST_BYTES */
    }
    return n;
}

static bool may_have_holes(int fd)
{
    struct stat status;
    struct rlimit limit;
    const int flags = fcntl(fd, F_GETFL);
    return flags >= 0 && !(flags & (O_APPEND | O_DIRECT)) && (flags & O_ACCMODE) != O_RDONLY &&
           fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
           limit.rlim_cur == RLIM_INFINITY;
}

static int look_at(uintptr_t start, uintptr_t end)
{
    return (int)syscall(SYS_madvise, start, end - start, MADV_POPULATE_READ);
}

/* Memory that cannot be read is an error of the call, not a signal. Nobody can tell before Linux 5.14. */
static bool is_readable(const void *bytes, size_t n)
{
    const uintptr_t size = (uintptr_t)sysconf(_SC_PAGESIZE), start = (uintptr_t)bytes / size * size;
    const uintptr_t own = (uintptr_t)&next_write / size * size;
    return (uintptr_t)bytes <= UINTPTR_MAX - n &&
           (look_at(start, (uintptr_t)bytes + n) == 0 || (errno == EINVAL && look_at(own, own + size) < 0));
}

static bool has_holes(int fd, const void *bytes, size_t n)
{
    return n >= LEAST_BYTES && n <= MOST_BYTES && may_have_holes(fd) && is_readable(bytes, n) &&
           first_zeros(bytes, n) < n;
}

/*
 * The file becomes longer by its last byte, not by ftruncate(): that would cut what another writer appends. Files that
 * have no length, in /proc, are not files.
 */
static bool make_hole(int fd, off_t at, size_t n)
{
    struct stat status;
    const off_t end = at + (off_t)n;
    if (fstat(fd, &status) < 0 ||
        (at < status.st_size && fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, at, (off_t)n) < 0))
        return false;
    return end <= status.st_size ||
           (plain_pwrite(fd, "", 1, end - 1) == 1 && fstat(fd, &status) == 0 && end <= status.st_size);
}

/* As pwrite(), of bytes in which zeros are worth a hole. */
static ssize_t write_at(int fd, const char *bytes, size_t n, off_t at)
{
    size_t done = 0;
    while (done < n) {
        const size_t zeros = plim_zeros_prefix(bytes + done, n - done, PAGE_BYTES);
        if (zeros >= LEAST_BYTES && make_hole(fd, at + (off_t)done, zeros)) {
            done += zeros;
            continue;
        }
        const size_t part = zeros >= LEAST_BYTES ? zeros : first_zeros(bytes + done, n - done);
        const ssize_t written = plain_pwrite(fd, bytes + done, part, at + (off_t)done);
        if (written <= 0)
            return done ? (ssize_t)done : written;
        done += (size_t)written;
        if ((size_t)written < part)
            break;
    }
    return (ssize_t)done;
}

/* Move the offset by n, and return where it was; negative: it cannot be moved. */
static off_t move_offset(int fd, size_t n)
{
    const off_t end = lseek(fd, (off_t)n, SEEK_CUR);
    return end < 0 ? -1 : end - (off_t)n;
}

static void move_back(int fd, size_t wanted, ssize_t done)
{
    const int before = errno;
    const size_t n = done < 0 ? 0 : (size_t)done;
    if (n < wanted)
        lseek(fd, -(off_t)(wanted - n), SEEK_CUR);
    errno = before;
}

static ssize_t write_with_holes(int fd, const void *bytes, size_t n)
{
    const int before = errno;
    const off_t at = has_holes(fd, bytes, n) ? move_offset(fd, n) : -1;
    errno = before;
    if (at < 0)
        return plain_write(fd, bytes, n);
    const ssize_t written = write_at(fd, bytes, n, at);
    move_back(fd, n, written);
    if (written >= 0)
        errno = before;
    return written;
}

PLIM_PRELOADED ssize_t write(int fd, const void *bytes, size_t n)
{
    const uint64_t start_us = plim_preload_write_begins(n);
    const ssize_t written = write_with_holes(fd, bytes, n);
    plim_preload_said(fd, bytes, written);
    plim_preload_write_ends(fd, written, start_us);
    return written;
}

PLIM_PRELOADED ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at)
{
    const int before = errno;
    const uint64_t start_us = plim_preload_write_begins(n);
    const bool is_plain = at < 0 || at > LONG_MAX - MOST_BYTES || !has_holes(fd, bytes, n);
    errno = before;
    const ssize_t written = is_plain ? plain_pwrite(fd, bytes, n, at) : write_at(fd, bytes, n, at);
    if (written >= 0)
        errno = before;
    plim_preload_write_ends(fd, written, start_us);
    return written;
}

PLIM_PRELOADED ssize_t pwrite64(int fd, const void *bytes, size_t n, off_t at) { return pwrite(fd, bytes, n, at); }

/* 0: more than one call can write. */
static size_t length_of(const struct iovec *parts, int n)
{
    size_t sum = 0;
    for (int i = 0; i < n && n <= IOV_MAX; i++)
        if (__builtin_add_overflow(sum, parts[i].iov_len, &sum) || sum > MOST_BYTES)
            return 0;
    return sum;
}

/* The same, if zeros in one of them are worth a hole; else 0. */
static size_t length_with_zeros(int fd, const struct iovec *parts, int n)
{
    const size_t sum = length_of(parts, n);
    bool has_zeros = false;
    for (int i = 0; i < n && n <= IOV_MAX && sum >= LEAST_BYTES && !has_zeros; i++)
        has_zeros = has_holes(fd, parts[i].iov_base, parts[i].iov_len);
    return has_zeros ? sum : 0;
}

/* As std::ofstream writes: its own buffer, and behind it the bytes that it was given. */
static ssize_t writev_with_holes(int fd, const struct iovec *parts, int n)
{
    const int before = errno;
    const size_t length = length_with_zeros(fd, parts, n);
    const off_t at = length ? move_offset(fd, length) : -1;
    size_t done = 0;
    errno = before;
    if (at < 0)
        return plain_writev(fd, parts, n);
    for (int i = 0; i < n; i++) {
        const ssize_t written = write_at(fd, parts[i].iov_base, parts[i].iov_len, at + (off_t)done);
        done += written > 0 ? (size_t)written : 0;
        if (written < 0 || (size_t)written < parts[i].iov_len)
            break;
    }
    move_back(fd, length, (ssize_t)done);
    if (done)
        errno = before;
    return done ? (ssize_t)done : -1;
}

PLIM_PRELOADED ssize_t writev(int fd, const struct iovec *parts, int n)
{
    const uint64_t start_us = plim_preload_write_begins(length_of(parts, n));
    const ssize_t written = writev_with_holes(fd, parts, n);
    plim_preload_write_ends(fd, written, start_us);
    return written;
}
