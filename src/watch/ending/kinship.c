/* SPDX-License-Identifier: MIT */
/* The fields are those of proc_pid_stat(5) and proc_pid_status(5). */
#include "watch/ending/kinship.h"

#include "base/limits.h"
#include "base/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    KERNEL_THREAD = 0x00200000, /* PF_KTHREAD in the flags, include/linux/sched.h */
    MAX_PARENTS = 512,          /* deeper chains are circles: a list of processes is not of one moment */
};

/* --- one process --- */

/* The beginning of a file, with a NUL behind it; the number of bytes, -1: cannot be read. */
static ssize_t read_file(const char *root, int64_t pid, const char *name, char *to, size_t size)
{
    char path[512];
    snprintf(path, sizeof path, "%s/proc/%" PRId64 "/%s", root ? root : "", pid, name);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return -1;
    size_t n = 0;
    ssize_t part;
    while (n < size - 1 && (part = read(file, to + n, size - 1 - n)) > 0)
        n += (size_t)part;
    close(file);
    to[n] = '\0';
    return (ssize_t)n;
}

/* "123 (a name) S 1 ...": the name may hold anything, parentheses too. */
static bool read_stat(const char *text, struct plim_kin *kin)
{
    const char *end = strrchr(text, ')');
    unsigned long flags;
    if (!end || sscanf(end + 1, " %c %" SCNd64 " %*d %*d %*d %*d %lu", &kin->state, &kin->parent, &flags) != 3)
        return false;
    kin->is_kernel = (flags & KERNEL_THREAD) != 0;
    return sscanf(end + 1,
                  " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %" SCNd32 " %*d %" SCNu64,
                  &kin->n_threads, &kin->start_ticks) == 2;
}

/*
 * By the numbers behind "NSpid:", the pids of the process in the namespace of this /proc and in those below. Without
 * that line the kernel is older than 4.1, or the list of groups before it was too long: then nobody knows.
 */
static bool is_nested(const char *status, bool is_whole)
{
    const char *line = strstr(status, "\nNSpid:");
    int n = 0;
    if (!line)
        return !is_whole;
    for (line += strlen("\nNSpid:"); *line == '\t' || *line == ' '; n++)
        for (line++; *line >= '0' && *line <= '9'; line++)
            continue;
    return n > 1;
}

static void read_command(const char *root, struct plim_kin *kin)
{
    const ssize_t n = read_file(root, kin->pid, "cmdline", kin->command, sizeof kin->command);
    ssize_t last = n;
    if (n < 0)
        kin->command[0] = '\0';
    while (last > 0 && kin->command[last - 1] == '\0')
        last--;
    for (ssize_t i = 0; i < last; i++)
        if (kin->command[i] == '\0' || kin->command[i] == '\n')
            kin->command[i] = ' ';
}

bool plim_kin_read(const char *root, int64_t pid, struct plim_kin *ret_kin)
{
    char text[PLIM_MAX_PROC_FILE_BYTES];
    struct plim_kin kin = { .pid = pid, .uid = -1, .effective_uid = -1 };
    if (read_file(root, pid, "stat", text, sizeof text) <= 0 || !read_stat(text, &kin))
        return false;
    if (!kin.is_kernel) {
        const ssize_t n = read_file(root, pid, "status", text, sizeof text);
        const char *line = n > 0 ? strstr(text, "\nUid:") : NULL;
        if (!line || sscanf(line, "\nUid: %" SCNd64 " %" SCNd64, &kin.uid, &kin.effective_uid) != 2)
            return false;
        kin.is_nested = is_nested(text, (size_t)n < sizeof text - 1);
        read_command(root, &kin);
    }
    *ret_kin = kin;
    return true;
}

/* --- all --- */

static int by_pid(const void *a, const void *b)
{
    const struct plim_kin *x = a, *y = b;
    return x->pid < y->pid ? -1 : x->pid > y->pid;
}

int plim_kinship_read(const char *root, struct plim_kinship *ret_kinship, struct plim_error *reterr)
{
    char path[512];
    struct plim_kinship found = { 0 };
    size_t room = 0;
    int result = 0;
    snprintf(path, sizeof path, "%s/proc", root ? root : "");
    DIR *folder = opendir(path);
    if (!folder)
        return plim_fail_errno(reterr, path, "cannot list the processes", errno);
    for (const struct dirent *entry; result == 0 && (entry = readdir(folder)) && found.n < PLIM_MAX_PROCESSES;) {
        char *end;
        const long long pid = strtoll(entry->d_name, &end, 10);
        if (*end || pid <= 0)
            continue;
        if (found.n == room) {
            const size_t larger = room ? room * 2 : 256;
            struct plim_kin *kin = plim_realloc(found.kin, larger, sizeof *kin);
            if (!kin) {
                result = plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory for a list of processes");
                break;
            }
            found.kin = kin;
            room = larger;
        }
        found.n += plim_kin_read(root, pid, &found.kin[found.n]);
    }
    closedir(folder);
    if (result < 0) {
        plim_kinship_done(&found);
        return result;
    }
    if (found.n)
        qsort(found.kin, found.n, sizeof *found.kin, by_pid);
    *ret_kinship = found;
    return 0;
}

void plim_kinship_done(struct plim_kinship *kinship)
{
    plim_free(kinship->kin);
    *kinship = (struct plim_kinship){ 0 };
}

const struct plim_kin *plim_kinship_find(const struct plim_kinship *kinship, int64_t pid)
{
    const struct plim_kin key = { .pid = pid };
    return kinship->n ? bsearch(&key, kinship->kin, kinship->n, sizeof key, by_pid) : NULL;
}

const struct plim_kin *plim_kinship_parent(const struct plim_kinship *kinship, const struct plim_kin *kin)
{
    const struct plim_kin *parent = kin->parent > 0 ? plim_kinship_find(kinship, kin->parent) : NULL;
    return parent && parent->start_ticks <= kin->start_ticks ? parent : NULL;
}

bool plim_kinship_descends(const struct plim_kinship *kinship, int64_t pid, int64_t ancestor)
{
    const struct plim_kin *kin = plim_kinship_find(kinship, pid);
    for (int i = 0; kin && i < MAX_PARENTS; i++) {
        if (kin->parent == ancestor)
            return true;
        kin = plim_kinship_find(kinship, kin->parent);
    }
    return false;
}

const char *plim_kin_program(const struct plim_kin *kin, char name[PLIM_KIN_PROGRAM_BYTES])
{
    const size_t length = strcspn(kin->command, " ");
    size_t from = 0;
    for (size_t i = 0; i < length; i++)
        if (kin->command[i] == '/')
            from = i + 1;
    snprintf(name, PLIM_KIN_PROGRAM_BYTES, "%.*s", (int)(length - from), kin->command + from);
    const size_t n = strlen(name);
    if (n && name[n - 1] == ':')
        name[n - 1] = '\0';
    return name;
}
