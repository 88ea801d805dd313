/* SPDX-License-Identifier: MIT */
/* The memory of this machine: RAM, and under Linux the limits of its control groups. */
#include "plimsoll/card.h"

#include "base/limits.h"
#include "base/system.h"
#include "source/file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_BYTES = 1024 };

/* The files of a machine. A limit that is there and cannot be read is not the same as no limit. */
struct machine {
    const char *root;
    bool has_unread;
};

static bool read_text(struct machine *machine, const char *path, char *text, size_t size)
{
    char full[PATH_BYTES];
    int n = snprintf(full, sizeof full, "%s%s", machine->root, path);
    if (n < 0 || (size_t)n >= sizeof full)
        return false;
    const long result = plim_file_read_text(full, text, size);
    machine->has_unread = machine->has_unread || (result < 0 && result != PLIM_E_NOT_FOUND);
    return result >= 0;
}

/* "MemTotal:   16384 kB" in bytes; 0 without such a line. */
static uint64_t field_bytes(const char *text, const char *name)
{
    const char *at = strstr(text, name);
    uint64_t kib = 0;
    return at && sscanf(at + strlen(name), "%" SCNu64, &kib) == 1 ? kib * 1024 : 0;
}

/* --- control groups --- */

struct group {
    uint64_t limit_bytes, used_bytes; /* used: less the page cache that can be dropped */
};

/* A number in a file; UINT64_MAX for "max" and for missing files. */
static uint64_t read_number(struct machine *machine, const char *folder, const char *file)
{
    char path[PATH_BYTES], text[64];
    int n = snprintf(path, sizeof path, "%s/%s", folder, file);
    if (n < 0 || (size_t)n >= sizeof path || !read_text(machine, path, text, sizeof text) || text[0] < '0' ||
        text[0] > '9')
        return UINT64_MAX;
    return strtoull(text, NULL, 10);
}

static uint64_t inactive_bytes(struct machine *machine, const char *folder)
{
    char path[PATH_BYTES], text[PLIM_MAX_PROC_FILE_BYTES];
    uint64_t bytes = 0;
    int n = snprintf(path, sizeof path, "%s/memory.stat", folder);
    if (n < 0 || (size_t)n >= sizeof path || !read_text(machine, path, text, sizeof text))
        return 0;
    const char *at = strstr(text, "\ninactive_file ");
    if (at)
        sscanf(at, "\ninactive_file %" SCNu64, &bytes);
    return bytes;
}

/* The group whose limit leaves least, from the process's own up to the root. */
static struct group tightest(struct machine *machine, const char *mount, char *name, const char *limit,
                             const char *usage)
{
    struct group best = { UINT64_MAX, 0 };
    for (;;) {
        char folder[PATH_BYTES];
        int n = snprintf(folder, sizeof folder, "%s%s", mount, strcmp(name, "/") ? name : "");
        if (n > 0 && (size_t)n < sizeof folder) {
            uint64_t limit_bytes = read_number(machine, folder, limit),
                     used_bytes = read_number(machine, folder, usage);
            if (limit_bytes < best.limit_bytes && used_bytes != UINT64_MAX) {
                uint64_t cache_bytes = inactive_bytes(machine, folder);
                best.limit_bytes = limit_bytes;
                best.used_bytes = used_bytes > cache_bytes ? used_bytes - cache_bytes : 0;
            }
        } else {
            machine->has_unread = true;
        }
        char *slash = strrchr(name, '/');
        if (!slash || !name[1])
            return best;
        slash[slash == name] = '\0'; /* "/a/b" to "/a" to "/" */
    }
}

static struct group read_group(struct machine *machine)
{
    char text[PLIM_MAX_PROC_FILE_BYTES];
    if (!read_text(machine, "/proc/self/cgroup", text, sizeof text))
        return (struct group){ UINT64_MAX, 0 };
    for (char *rest, *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char *controllers = strchr(line, ':'), *name = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!name)
            continue;
        *name++ = '\0';
        if (!strcmp(controllers, ":"))
            return tightest(machine, "/sys/fs/cgroup", name, "memory.max", "memory.current");
        if (strstr(controllers, "memory"))
            return tightest(machine, "/sys/fs/cgroup/memory", name, "memory.limit_in_bytes", "memory.usage_in_bytes");
    }
    return (struct group){ UINT64_MAX, 0 };
}

/* --- */

void plim_host_live(const char *root, struct plim_host *ret_host)
{
    char text[PLIM_MAX_PROC_FILE_BYTES];
    struct plim_host *host = ret_host;
    *host = (struct plim_host){ 0 };
    struct machine machine = { .root = root ? root : "" };
    if (!read_text(&machine, "/proc/meminfo", text, sizeof text)) {
        if (!*machine.root && plim_system_ram(&host->total_bytes, &host->free_bytes) != 0)
            *host = (struct plim_host){ 0 };
        host->is_partial = machine.has_unread;
        return;
    }
    host->total_bytes = field_bytes(text, "MemTotal:");
    host->free_bytes = field_bytes(text, "MemAvailable:");
    struct group group = read_group(&machine);
    host->is_partial = machine.has_unread;
    if (group.limit_bytes >= host->total_bytes)
        return;
    uint64_t left_bytes = group.used_bytes < group.limit_bytes ? group.limit_bytes - group.used_bytes : 0;
    host->total_bytes = group.limit_bytes;
    host->free_bytes = left_bytes < host->free_bytes ? left_bytes : host->free_bytes;
    host->is_limited = true;
}

void plim_host_of_card(const struct plim_card *card, struct plim_host *ret_host)
{
    const uint64_t plenty_bytes = UINT64_C(16) << 40, bytes = card->shared_bytes ? card->shared_bytes : plenty_bytes;
    *ret_host = (struct plim_host){ .total_bytes = bytes, .free_bytes = bytes, .is_assumed = true };
}
