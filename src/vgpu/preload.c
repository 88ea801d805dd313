/* SPDX-License-Identifier: MIT */
/*
 * Preloaded into every program of a rehearsal. A hollow model is a file of its full size whose data is a hole. Asking
 * the kernel to read it ahead fills the page cache with zeros, tens of gigabytes of them, so such requests are dropped
 * for hollow files and for nothing else. And a program that listens for connections is noted as such: it is a server.
 *
 * Calls the kernel, not libc: it runs in programs it knows nothing of.
 */
#include "vgpu/ledger.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
enum { MAX_HOLLOW = 256 };

/* Where hollow files are mapped; the oldest is forgotten when there are more. */
static struct {
    char *start;
    size_t size;
} hollow[MAX_HOLLOW];
static unsigned n_hollow;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool is_hollow(int fd)
{
    static const off_t small_bytes = 16 << 20;
    struct stat status;
    const int before = errno;
    const bool is_file = fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
    errno = before;
    return is_file && status.st_size >= small_bytes && status.st_blocks < status.st_size / 512 / 2;
}

static void *map(void *address, size_t size, int protection, int flags, int fd, long offset)
{
    const bool is_empty = !(flags & MAP_ANONYMOUS) && is_hollow(fd);
    void *start =
        (void *)syscall(SYS_mmap, address, size, protection, is_empty ? flags & ~MAP_POPULATE : flags, fd, offset);
    if (is_empty && start != MAP_FAILED) {
        pthread_mutex_lock(&lock);
        hollow[n_hollow % MAX_HOLLOW].start = start;
        hollow[n_hollow++ % MAX_HOLLOW].size = size;
        pthread_mutex_unlock(&lock);
    }
    return start;
}

EXPORT void *mmap(void *address, size_t size, int protection, int flags, int fd, long offset)
{
    return map(address, size, protection, flags, fd, offset);
}

EXPORT void *mmap64(void *address, size_t size, int protection, int flags, int fd, long offset)
{
    return map(address, size, protection, flags, fd, offset);
}

static bool is_in_hollow(const char *address)
{
    bool is_found = false;
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < MAX_HOLLOW && i < n_hollow; i++)
        is_found = is_found || (address >= hollow[i].start && address < hollow[i].start + hollow[i].size);
    pthread_mutex_unlock(&lock);
    return is_found;
}

EXPORT int madvise(void *address, size_t size, int advice)
{
    return advice == MADV_WILLNEED && is_in_hollow(address) ? 0 : (int)syscall(SYS_madvise, address, size, advice);
}

/* Returns the error. POSIX_MADV_DONTNEED does nothing in libc either: here it would lose data. */
EXPORT int posix_madvise(void *address, size_t size, int advice)
{
    const int before = errno;
    int error = 0;
    if (advice != POSIX_MADV_DONTNEED && madvise(address, size, advice) < 0)
        error = errno;
    errno = before;
    return error;
}

static int file_advice(int fd, long offset, long size, int advice)
{
    const int before = errno;
    int error = 0;
    if (!is_hollow(fd) && syscall(SYS_fadvise64, fd, offset, size, advice) < 0)
        error = errno;
    errno = before;
    return error;
}

EXPORT int posix_fadvise(int fd, long offset, long size, int advice) { return file_advice(fd, offset, size, advice); }
EXPORT int posix_fadvise64(int fd, long offset, long size, int advice) { return file_advice(fd, offset, size, advice); }

EXPORT ssize_t readahead(int fd, long offset, size_t size)
{
    return is_hollow(fd) ? 0 : (ssize_t)syscall(SYS_readahead, fd, offset, size);
}

EXPORT int listen(int fd, int backlog)
{
    struct sockaddr_storage address = { 0 };
    socklen_t size = sizeof address;
    const int result = (int)syscall(SYS_listen, fd, backlog), before = errno;
    const char *path = getenv("PLIM_VGPU_LEDGER");
    const bool is_network = result == 0 && getsockname(fd, (struct sockaddr *)&address, &size) == 0 &&
                            (address.ss_family == AF_INET || address.ss_family == AF_INET6);
    struct plim_ledger *ledger = is_network && path ? plim_ledger_open(path) : NULL;
    if (ledger)
        ledger->is_listening = 1;
    plim_ledger_close(ledger);
    errno = before;
    return result;
}
