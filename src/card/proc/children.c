/* SPDX-License-Identifier: MIT */
/*
 * The processor time of a process's children. A program that waits for the processes it has started, such as those that
 * load its data, does nothing itself and is at work all the same.
 */
#include "card/proc/entry.h"
#include "card/proc/stat.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    MOST_CHILDREN = 32, /* of all depths: a sum that says "at work" needs no more */
    MOST_DEPTH = 3,     /* a launcher, a shell, the program */
    LIST_BYTES = 1024
};

/* Those that the main thread has started (proc_pid_task(5); kernels with CONFIG_PROC_CHILDREN), which is nearly all. */
static uint64_t sum(const struct plim_proc_reader *reader, int64_t pid, unsigned depth, unsigned *n)
{
    char name[64], path[PLIM_PROC_PATH_BYTES], list[LIST_BYTES], text[1024];
    uint64_t ticks = 0;
    snprintf(name, sizeof name, "task/%" PRId64 "/children", pid);
    plim_proc_path(reader, pid, name, path);
    if (plim_proc_read_file(path, list, sizeof list) <= 0)
        return 0;
    for (char *end, *at = list; *n < MOST_CHILDREN; at = end) {
        struct plim_proc_stat stat;
        const long long child = strtoll(at, &end, 10);
        if (end == at || child <= 0)
            break;
        ++*n;
        plim_proc_path(reader, child, "stat", path);
        if (plim_proc_read_file(path, text, sizeof text) <= 0 || !plim_proc_parse_stat(text, &stat))
            continue;
        ticks += stat.cpu_ticks + stat.waited_ticks;
        if (depth < MOST_DEPTH)
            ticks += sum(reader, child, depth + 1, n);
    }
    return ticks;
}

uint64_t plim_proc_children_ticks(const struct plim_proc_reader *reader, int64_t pid, uint64_t waited_ticks)
{
    unsigned n = 0;
    return waited_ticks + sum(reader, pid, 1, &n);
}
