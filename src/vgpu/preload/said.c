/* SPDX-License-Identifier: MIT */
/*
 * A framework with a pool of its own runs out of memory inside it, and only its message says so. The end of what goes
 * to standard error is copied into the ledger on its way; what the program sees of the descriptor stays as it is.
 * Messages that libc's stdio writes do not pass here; Python's do.
 */
#include "vgpu/preload/preload.h"

#include "vgpu/core/ledger.h"

#include <errno.h>
#include <stdatomic.h>
#include <unistd.h>

void plim_preload_said(int fd, const void *bytes, ssize_t n)
{
    const char *text = bytes;
    const int before = errno;
    struct plim_ledger *ledger = fd == STDERR_FILENO && n > 0 ? plim_preload_ledger() : NULL;
    const size_t length = (size_t)n, part = length < PLIM_LEDGER_SAID_BYTES ? length : PLIM_LEDGER_SAID_BYTES;
    if (ledger) {
        uint64_t at = atomic_fetch_add(&ledger->n_said, length) + (length - part);
        for (size_t i = length - part; i < length; i++)
            ledger->said[at++ % PLIM_LEDGER_SAID_BYTES] = text[i];
    }
    plim_ledger_close(ledger);
    errno = before;
}
