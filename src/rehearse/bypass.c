/* SPDX-License-Identifier: MIT */
#include "rehearse/bypass.h"

#include "rehearse/parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Not the runtime: one that works beside ours tells itself by asking libcuda (vgpu/driver/foreign.h). */
static bool is_replaced(const char *name)
{
    static const char *const names[] = { "libcuda.so", "libnvidia-ml.so" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strncmp(name, names[i], strlen(names[i])))
            return true;
    return false;
}

/* A line of /proc/PID/maps; the end of the path is what fits into a warning. */
static void look_at(char *line, const char *folder, struct plim_rehearsal *rehearsal)
{
    char *start = strchr(line, '/'), *name = strrchr(line, '/');
    const size_t n = strlen(folder), most = sizeof rehearsal->warning[0].what - 1;
    if (!start || !strstr(line, " r-xp ") || !is_replaced(name + 1) || (!strncmp(start, folder, n) && start[n] == '/'))
        return;
    start[strcspn(start, "\n")] = '\0';
    const size_t length = strlen(start);
    plim_rehearsal_warn(rehearsal, "bypass", length <= most ? start : start + (length - most), 1);
}

void plim_bypass_find(const struct plim_tree *tree, const char *libraries, struct plim_rehearsal *rehearsal)
{
    char path[40], line[4352], folder[4096];
    if (!realpath(libraries, folder))
        return;
    for (size_t i = 0; i < tree->n; i++) {
        snprintf(path, sizeof path, "/proc/%d/maps", tree->member[i].pid);
        FILE *file = fopen(path, "re");
        while (file && fgets(line, sizeof line, file))
            look_at(line, folder, rehearsal);
        if (file)
            fclose(file);
    }
}
