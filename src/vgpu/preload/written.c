/* SPDX-License-Identifier: MIT */
/* What the program writes to files in large parts, checkpoints most of all, and how long that takes. */
#include "vgpu/preload/preload.h"

#include "vgpu/core/ledger.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static uint64_t now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

uint64_t plim_preload_write_begins(size_t n) { return n >= PLIM_LARGE_WRITE_BYTES ? now_us() : 0; }

void plim_preload_write_ends(int fd, ssize_t n, uint64_t start_us)
{
    struct stat status;
    const int before = errno;
    /* a log of the program's output is no file of the program */
    const bool is_counted =
        start_us && n > 0 && fd > STDERR_FILENO && fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
    struct plim_ledger *ledger = is_counted ? plim_preload_ledger() : NULL;
    if (ledger) {
        atomic_fetch_add(&ledger->written_bytes, (uint64_t)n);
        atomic_fetch_add(&ledger->written_us, now_us() - start_us);
    }
    plim_ledger_close(ledger);
    errno = before;
}
