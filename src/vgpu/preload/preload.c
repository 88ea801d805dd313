/* SPDX-License-Identifier: MIT */
/*
 * Preloaded into every program of a rehearsal. A hollow model is a file of its full size whose data is a hole. Asking
 * the kernel to read it ahead fills the page cache with zeros, tens of gigabytes of them, so such requests are dropped
 * for hollow files and for nothing else. A program that listens for connections is marked as a server. NVIDIA's device
 * files cannot be opened, so that a program which loads NVIDIA's own libraries past ours does not reach a real GPU.
 * What becomes of writes is in holes.c.
 *
 * Calls the kernel, not libc, where possible: it runs inside programs that it knows nothing of.
 */
#include "vgpu/preload/preload.h"

#include "vgpu/core/ledger.h"
#include "vgpu/core/ranks.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MAX_HOLLOW = 256 };

/*
 * Mappings of hollow files; the oldest is dropped when there are more. No lock: a thread may hold it while another
 * forks, and the child would wait for ever. Who reads an entry while it is replaced drops an advice that was good, or
 * passes one on that was not.
 */
static struct {
    _Atomic(uintptr_t) start, end;
} hollow[MAX_HOLLOW];
static atomic_uint n_hollow;

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
        const unsigned i = atomic_fetch_add(&n_hollow, 1) % MAX_HOLLOW;
        atomic_store(&hollow[i].start, (uintptr_t)start);
        atomic_store(&hollow[i].end, (uintptr_t)start + size);
    }
    return start;
}

PLIM_PRELOADED void *mmap(void *address, size_t size, int protection, int flags, int fd, long offset)
{
    return map(address, size, protection, flags, fd, offset);
}

PLIM_PRELOADED void *mmap64(void *address, size_t size, int protection, int flags, int fd, long offset)
{
    return map(address, size, protection, flags, fd, offset);
}

static bool is_in_hollow(const void *address)
{
    const uintptr_t at = (uintptr_t)address;
    for (unsigned i = 0; i < MAX_HOLLOW && i < atomic_load(&n_hollow); i++)
        if (at >= atomic_load(&hollow[i].start) && at < atomic_load(&hollow[i].end))
            return true;
    return false;
}

PLIM_PRELOADED int madvise(void *address, size_t size, int advice)
{
    return advice == MADV_WILLNEED && is_in_hollow(address) ? 0 : (int)syscall(SYS_madvise, address, size, advice);
}

/* Returns the error. POSIX_MADV_DONTNEED does nothing in libc either: here it would lose data. */
PLIM_PRELOADED int posix_madvise(void *address, size_t size, int advice)
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

PLIM_PRELOADED int posix_fadvise(int fd, long offset, long size, int advice)
{
    return file_advice(fd, offset, size, advice);
}
PLIM_PRELOADED int posix_fadvise64(int fd, long offset, long size, int advice)
{
    return file_advice(fd, offset, size, advice);
}

PLIM_PRELOADED ssize_t readahead(int fd, long offset, size_t size)
{
    return is_hollow(fd) ? 0 : (ssize_t)syscall(SYS_readahead, fd, offset, size);
}

/* --- remarks --- */

/* Kept from the start: a thread may change the environment while another one writes. */
static char ledger_path[64];

__attribute__((constructor)) static void find_ledger(void)
{
    const char *path = getenv("PLIM_VGPU_LEDGER");
    if (path && strlen(path) < sizeof ledger_path)
        strcpy(ledger_path, path);
}

struct plim_ledger *plim_preload_ledger(void) { return *ledger_path ? plim_ledger_open(ledger_path) : NULL; }

void plim_preload_remark(const char *kind, const char *what)
{
    const int before = errno;
    struct plim_ledger *ledger = plim_preload_ledger();
    if (ledger)
        plim_ledger_warn(ledger, kind, what);
    plim_ledger_close(ledger);
    errno = before;
}

PLIM_PRELOADED int listen(int fd, int backlog)
{
    struct sockaddr_storage address = { 0 };
    socklen_t size = sizeof address;
    const int result = (int)syscall(SYS_listen, fd, backlog), before = errno;
    const bool is_network = result == 0 && getsockname(fd, (struct sockaddr *)&address, &size) == 0 &&
                            (address.ss_family == AF_INET || address.ss_family == AF_INET6);
    struct plim_ledger *ledger = is_network ? plim_preload_ledger() : NULL;
    if (ledger && plim_ranks_in_environment())
        ledger->has_ranks = 1;
    if (ledger && !plim_ranks_meet(__builtin_return_address(0)))
        ledger->is_listening = 1;
    plim_ledger_close(ledger);
    errno = before;
    return result;
}

/* --- libraries that were loaded past ours --- */

/* A runtime beside ours, as wheels bring one, does not work: it tells itself by asking libcuda (driver/foreign.h). */

static int look_at(struct dl_phdr_info *object, size_t size, void *folder)
{
    static const char *const names[] = { "libcuda.so", "libnvidia-ml.so" };
    const char *slash = strrchr(object->dlpi_name, '/');
    const size_t n = strlen(folder);
    (void)size;
    for (size_t i = 0; slash && i < sizeof names / sizeof *names; i++)
        if (!strncmp(slash + 1, names[i], strlen(names[i])) &&
            (strncmp(object->dlpi_name, folder, n) != 0 || slash != object->dlpi_name + n))
            plim_preload_remark("bypass", object->dlpi_name);
    return 0;
}

__attribute__((destructor)) static void look(void)
{
    Dl_info here = { 0 };
    char folder[4096];
    if (!dladdr((const void *)&n_hollow, &here) || !here.dli_fname)
        return;
    snprintf(folder, sizeof folder, "%s", here.dli_fname);
    char *slash = strrchr(folder, '/');
    if (!slash)
        return;
    *slash = '\0';
    dl_iterate_phdr(look_at, folder);
}
