/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_CORE_PROCESS_H
#define PLIMSOLL_VGPU_CORE_PROCESS_H

/*
 * A process, as /proc/PID/stat shows it. Its number is given away again once it has ended; its number and its start
 * time together are not, within a pid namespace. Links libc only.
 */

#include <stdbool.h>
#include <stdint.h>

struct plim_process {
    int pid, parent; /* parent 0: none that this /proc shows */
    uint64_t start_ticks;
    uint64_t cpu_ticks; /* of all its threads */
    bool is_ended;      /* not waited for yet: a zombie */
};

/* From the file at `path`, seen from `folder` (or AT_FDCWD). False: there is no such process. */
bool plim_process_read_at(int folder, const char *path, struct plim_process *ret_process);
bool plim_process_read(int pid, struct plim_process *ret_process);

/* Whether the numbers in /proc are those that getpid(), fork() and kill() use here: not in every container. */
bool plim_process_has_own_proc(void);

/* The pid namespace of a process (0: this one), as a number that no other has at the same time; 0: unknown. */
uint64_t plim_process_pid_namespace(int pid);

/* Its number in its own namespace; 0: unknown. */
int plim_process_innermost_pid(int pid);

#endif
