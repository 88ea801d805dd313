/* SPDX-License-Identifier: MIT */
/*
 * "oom_kill" in memory.events of a control group: processes of the group, or below it, that any OOM killer ended
 * (Linux, Documentation/admin-guide/cgroup-v2.rst). memory.oom_control has the same in version 1, of the group alone;
 * /proc/vmstat has those of the machine.
 */
#include "rehearse/end/kernel_kills.h"

#include <stdio.h>
#include <string.h>

enum { PATH_BYTES = 1024, LINE_BYTES = 512 };

static FILE *open_text(const char *root, const char *folder, const char *name)
{
    char path[PATH_BYTES];
    const int n = snprintf(path, sizeof path, "%s%s%s", root, folder, name);
    return n > 0 && (size_t)n < sizeof path ? fopen(path, "re") : NULL;
}

/* The number in the line "oom_kill N"; UINT64_MAX: no such line. */
static uint64_t count_in(FILE *file)
{
    char line[LINE_BYTES];
    unsigned long long n = 0;
    bool is_found = false;
    while (file && !is_found && fgets(line, sizeof line, file))
        is_found = sscanf(line, "oom_kill %llu", &n) == 1;
    if (file)
        fclose(file);
    return is_found ? n : UINT64_MAX;
}

/* A line of /proc/self/cgroup: "0::/user.slice", or "8:memory:/docker/..." in version 1. */
static uint64_t count_of_group(const char *root, char *line)
{
    char folder[PATH_BYTES];
    char *controllers = strchr(line, ':'), *name = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!name)
        return UINT64_MAX;
    *name++ = '\0';
    name[strcspn(name, "\n")] = '\0';
    const bool is_second = !strcmp(controllers, ":"), is_first = !strcmp(controllers, ":memory");
    const int n = snprintf(folder, sizeof folder, "/sys/fs/cgroup%s%s", is_first ? "/memory" : "", name);
    if ((!is_first && !is_second) || n < 0 || (size_t)n >= sizeof folder)
        return UINT64_MAX;
    return count_in(open_text(root, folder, is_first ? "/memory.oom_control" : "/memory.events"));
}

struct plim_kernel_kills plim_kernel_kills_read(const char *root)
{
    struct plim_kernel_kills kills = { UINT64_MAX, count_in(open_text(root, "/proc", "/vmstat")) };
    char line[LINE_BYTES];
    FILE *groups = open_text(root, "/proc/self", "/cgroup");
    while (groups && kills.of_group == UINT64_MAX && fgets(line, sizeof line, groups))
        kills.of_group = count_of_group(root, line);
    if (groups)
        fclose(groups);
    return kills;
}

static bool is_more(uint64_t before, uint64_t after)
{
    return before != UINT64_MAX && after != UINT64_MAX && after > before;
}

/* A group of version 1 does not count what is below it: then the signal and the machine's counter stand for it. */
enum plim_host_kill plim_kernel_kills_judge(struct plim_kernel_kills before, struct plim_kernel_kills after,
                                            bool is_by_signal_9)
{
    if (is_more(before.of_group, after.of_group))
        return PLIM_HOST_KILL_SURE;
    return is_by_signal_9 && is_more(before.of_machine, after.of_machine) ? PLIM_HOST_KILL_LIKELY : PLIM_HOST_KILL_NONE;
}
