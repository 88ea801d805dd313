/* SPDX-License-Identifier: MIT */
#include "vgpu/core/process.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES = 40, STAT_BYTES = 1024 };

/*
 * Fields 1, 3, 4, 14, 15, 20 and 22 of proc_pid_stat(5). The first thread may end before the others: then the state is
 * Z, and the process lives.
 */
bool plim_process_read_at(int folder, const char *path, struct plim_process *ret_process)
{
    char text[STAT_BYTES], state;
    unsigned long user_ticks, system_ticks;
    long n_threads;
    unsigned long long start_ticks;
    struct plim_process found = { 0 };
    int fd = openat(folder, path, O_RDONLY | O_CLOEXEC);
    const ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    const char *end_of_name = strrchr(text, ')'); /* the name may hold anything */
    if (!end_of_name ||
        sscanf(end_of_name + 1, " %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %*d %*d %*d %*d %ld %*d %llu",
               &state, &found.parent, &user_ticks, &system_ticks, &n_threads, &start_ticks) != 6)
        return false;
    found.pid = (int)strtol(text, NULL, 10);
    found.start_ticks = start_ticks;
    found.cpu_ticks = (uint64_t)user_ticks + system_ticks;
    found.is_ended = (state == 'Z' || state == 'X') && n_threads <= 1;
    *ret_process = found;
    return true;
}

bool plim_process_read(int pid, struct plim_process *ret_process)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    return plim_process_read_at(AT_FDCWD, path, ret_process);
}

bool plim_process_has_own_proc(void)
{
    char number[PATH_BYTES];
    const ssize_t n = readlink("/proc/self", number, sizeof number - 1);
    number[n > 0 ? n : 0] = '\0';
    return strtol(number, NULL, 10) == getpid();
}

uint64_t plim_process_pid_namespace(int pid)
{
    char path[PATH_BYTES] = "/proc/self/ns/pid";
    struct stat status;
    if (pid)
        snprintf(path, sizeof path, "/proc/%d/ns/pid", pid);
    return stat(path, &status) == 0 ? status.st_ino : 0;
}

/* The last one of "NSpid: 4711 12 1". */
int plim_process_innermost_pid(int pid)
{
    char path[PATH_BYTES], line[256];
    int found = 0;
    snprintf(path, sizeof path, "/proc/%d/status", pid);
    FILE *file = fopen(path, "re");
    while (file && !found && fgets(line, sizeof line, file))
        if (!strncmp(line, "NSpid:", 6)) {
            line[strcspn(line, "\n")] = '\0';
            found = (int)strtol(strrchr(line, '\t') ? strrchr(line, '\t') : "0", NULL, 10);
        }
    if (file)
        fclose(file);
    return found;
}
