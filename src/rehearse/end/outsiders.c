/* SPDX-License-Identifier: MIT */
#include "rehearse/end/outsiders.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static FILE *open_file(int pid, const char *name)
{
    char path[40];
    snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
    return fopen(path, "re");
}

/* Root may read every ledger. */
static bool is_other_user(int pid)
{
    char line[128];
    unsigned effective = 0;
    bool is_known = false;
    FILE *file = open_file(pid, "status");
    while (file && !is_known && fgets(line, sizeof line, file))
        is_known = sscanf(line, "Uid: %*u %u", &effective) == 1;
    if (file)
        fclose(file);
    return is_known && effective != 0 && effective != geteuid();
}

/* A process that is being replaced by execve(2), or is ending, has neither a command line nor an environment. */
static bool has_command_line(int pid)
{
    FILE *file = open_file(pid, "cmdline");
    const bool is_there = file && fgetc(file) != EOF;
    if (file)
        fclose(file);
    return is_there;
}

/* Its environment, as it was started, is readable and does not name a ledger. */
static bool lacks_ledger(int pid)
{
    static const char name[] = "PLIM_VGPU_LEDGER=";
    size_t n_same = 0; /* characters of the name at the start of the present entry */
    bool is_found = false, is_start = true;
    FILE *file = has_command_line(pid) ? open_file(pid, "environ") : NULL;
    for (int c; file && !is_found && (c = fgetc(file)) != EOF; is_start = c == '\0') {
        n_same = is_start && c == name[0] ? 1 : n_same && c == name[n_same] ? n_same + 1 : 0;
        is_found = n_same == sizeof name - 1;
    }
    const bool is_read = file && !ferror(file);
    if (file)
        fclose(file);
    return is_read && !is_found && has_command_line(pid); /* else it ended in between, and what was read was nothing */
}

enum plim_outsider plim_outsiders_find(const struct plim_tree *tree, size_t n)
{
    for (size_t i = 0; i < n && i < tree->n; i++) {
        const int pid = tree->member[i].pid;
        if (is_other_user(pid))
            return PLIM_OUTSIDER_USER;
        if (lacks_ledger(pid))
            return PLIM_OUTSIDER_ENVIRONMENT;
    }
    return PLIM_OUTSIDER_NONE;
}
