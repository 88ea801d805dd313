/* SPDX-License-Identifier: MIT */
/*
 * A descriptor of the folder /proc/PID stays with one process, as one of pidfd_open(2) does, and pidfd_send_signal(2)
 * takes both. What is read through it (the start time) and what is signalled through it are the same process, whatever
 * happens to its number in between. It is opened for each signal: nothing has to be kept for a thousand processes.
 */
#include "rehearse/processes/signal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424 /* on every architecture: added after the numbers were made the same */
#endif

static bool send(int folder, int pid, int number)
{
    if (syscall(SYS_pidfd_send_signal, folder, number, NULL, 0) == 0)
        return true;
    /* Linux before 5.1, or a container that allows only what it knows: the process was there a moment ago. */
    return errno != ESRCH && kill(pid, number) == 0;
}

bool plim_signal_send(const struct plim_process *process, int number)
{
    char path[32];
    struct plim_process now;
    if (process->pid <= 1 || process->pid == getpid())
        return false;
    snprintf(path, sizeof path, "/proc/%d", process->pid);
    const int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return false;
    const bool is_same = plim_process_read_at(folder, "stat", &now) && now.start_ticks == process->start_ticks;
    const bool is_sent = is_same && send(folder, process->pid, number);
    close(folder);
    return is_sent;
}
