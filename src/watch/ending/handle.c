/* SPDX-License-Identifier: MIT */
/*
 * The order matters. The pidfd is opened first; then /proc is read by number; then the pidfd says that its process is
 * still alive. A number is not given away while its process lives, so what was read between is of that process.
 */
#include "watch/ending/handle.h"

#include "base/mem.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The same numbers on all architectures (Linux 5.1 and 5.3); older headers lack them. */
#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

bool plim_handle_has_ended(int file)
{
    struct pollfd one = { .fd = file, .events = POLLIN };
    return poll(&one, 1, 0) > 0 && one.revents != 0;
}

enum plim_handle_result plim_handle_open(const struct plim_kin *kin, int *ret_file)
{
    struct plim_kin now;
    const long file = syscall(SYS_pidfd_open, (pid_t)kin->pid, 0u);
    if (file < 0)
        return errno == ESRCH                      ? PLIM_HANDLE_ENDED
               : errno == ENOSYS || errno == EPERM ? PLIM_HANDLE_UNSUPPORTED
                                                   : PLIM_HANDLE_FAILED;
    const bool is_read = plim_kin_read(NULL, kin->pid, &now);
    enum plim_handle_result result = PLIM_HANDLE_OPEN;
    if (plim_handle_has_ended((int)file))
        result = PLIM_HANDLE_ENDED;
    else if (!is_read || now.start_ticks != kin->start_ticks || now.uid != kin->uid ||
             now.effective_uid != kin->effective_uid)
        result = PLIM_HANDLE_OTHER;
    if (result == PLIM_HANDLE_OPEN)
        *ret_file = (int)file;
    else
        close((int)file);
    return result;
}

void plim_handle_wait(const int *files, size_t n, int ms)
{
    struct pollfd *list = plim_alloc(n + 1, sizeof *list);
    if (!list) { /* wait all the same: the caller asks again */
        poll(NULL, 0, ms);
        return;
    }
    nfds_t n_open = 0; /* poll() takes no more than files may be open, and those left out count */
    for (size_t i = 0; i < n; i++)
        if (files[i] >= 0)
            list[n_open++] = (struct pollfd){ .fd = files[i], .events = POLLIN };
    poll(list, n_open, ms);
    plim_free(list);
}

int plim_handle_signal(int file, int signal)
{
    return syscall(SYS_pidfd_send_signal, file, signal, NULL, 0u) == 0 ? 0 : errno;
}
