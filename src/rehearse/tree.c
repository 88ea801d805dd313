/* SPDX-License-Identifier: MIT */
#include "rehearse/tree.h"

#include "base/mem.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Computing less than this part of one core is waiting. */
static const double busy_part = 0.2, busy_every_s = 0.5;

/* A scan reads a file for every process of the machine. */
static const double first_scan_s = 0.05, slowest_scan_s = 1;

void plim_tree_begin(struct plim_tree *tree, pid_t root)
{
    *tree = (struct plim_tree){ .root = root, .n = 1, .pid = { root }, .scan_every_s = first_scan_s };
}

static bool has(const struct plim_tree *tree, pid_t pid)
{
    for (size_t i = 0; i < tree->n; i++)
        if (tree->pid[i] == pid)
            return true;
    return false;
}

static void add(struct plim_tree *tree, pid_t pid)
{
    if (pid > 0 && tree->n < PLIM_TREE_MAX && !has(tree, pid))
        tree->pid[tree->n++] = pid;
}

/* Of /proc/PID/stat: field 4, and the seconds of fields 14 and 15. False when it cannot be read. */
static bool read_stat(pid_t pid, pid_t *ret_parent, double *ret_cpu_s)
{
    char path[40], text[512];
    unsigned long user, system;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    const char *p = strrchr(text, ')'); /* the name before it may hold anything */
    if (!p || sscanf(p + 1, " %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", ret_parent, &user, &system) != 3)
        return false;
    *ret_cpu_s = (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
    return true;
}

static void drop_gone(struct plim_tree *tree)
{
    size_t n = 1;
    for (size_t i = 1; i < tree->n; i++)
        if (kill(tree->pid[i], 0) == 0)
            tree->pid[n++] = tree->pid[i];
    tree->n = n;
}

static void scan(struct plim_tree *tree, struct plim_ledger *ledger)
{
    enum { MAX_SEEN = 1 << 15 };
    struct link {
        pid_t pid, parent;
    } *seen = plim_alloc_unset(MAX_SEEN, sizeof *seen);
    DIR *folder = seen ? opendir("/proc") : NULL;
    size_t n = 0, before;
    for (struct dirent *entry; folder && n < MAX_SEEN && (entry = readdir(folder));)
        if (isdigit((unsigned char)entry->d_name[0])) {
            const pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
            pid_t parent;
            double cpu_s;
            if (read_stat(pid, &parent, &cpu_s))
                seen[n++] = (struct link){ pid, parent };
        }
    if (folder)
        closedir(folder);
    drop_gone(tree);
    for (int i = 0; i < PLIM_LEDGER_MAX_PROCESSES; i++)
        if (ledger->process[i].pid > 0 && kill(ledger->process[i].pid, 0) == 0)
            add(tree, ledger->process[i].pid);
    do { /* children may have smaller numbers than their parents */
        before = tree->n;
        for (size_t i = 0; i < n; i++)
            if (seen[i].parent > 0 && has(tree, seen[i].parent))
                add(tree, seen[i].pid);
    } while (tree->n > before);
    plim_free(seen);
}

static void memory_of(pid_t pid, uint64_t *rss_bytes, uint64_t *anonymous_bytes)
{
    char path[40], line[128];
    unsigned long long kib;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file)) {
        if (sscanf(line, "VmRSS: %llu", &kib) == 1)
            *rss_bytes += kib * 1024;
        else if (sscanf(line, "RssAnon: %llu", &kib) == 1)
            *anonymous_bytes += kib * 1024;
    }
    if (file)
        fclose(file);
}

/* A process that ended takes its seconds with it: that counts as work, too. */
static void look_at_work(struct plim_tree *tree, double now_s)
{
    double sum_s = 0, cpu_s;
    pid_t parent;
    if (now_s - tree->cpu_seen_s < busy_every_s)
        return;
    for (size_t i = 0; i < tree->n; i++)
        if (read_stat(tree->pid[i], &parent, &cpu_s))
            sum_s += cpu_s;
    if (sum_s < tree->cpu_s || sum_s - tree->cpu_s > busy_part * (now_s - tree->cpu_seen_s))
        tree->busy_s = now_s;
    tree->cpu_s = sum_s;
    tree->cpu_seen_s = now_s;
}

void plim_tree_look(struct plim_tree *tree, struct plim_ledger *ledger, double now_s)
{
    uint64_t rss_bytes = 0, anonymous_bytes = 0;
    if (now_s >= tree->next_scan_s) {
        scan(tree, ledger);
        tree->next_scan_s = now_s + tree->scan_every_s;
        tree->scan_every_s = tree->scan_every_s < slowest_scan_s ? 2 * tree->scan_every_s : slowest_scan_s;
    }
    look_at_work(tree, now_s);
    for (size_t i = 0; i < tree->n; i++)
        memory_of(tree->pid[i], &rss_bytes, &anonymous_bytes);
    tree->peak_n = tree->n > tree->peak_n ? tree->n : tree->peak_n;
    tree->peak_rss_bytes = rss_bytes > tree->peak_rss_bytes ? rss_bytes : tree->peak_rss_bytes;
    tree->peak_anonymous_bytes =
        anonymous_bytes > tree->peak_anonymous_bytes ? anonymous_bytes : tree->peak_anonymous_bytes;
}

void plim_tree_signal(struct plim_tree *tree, struct plim_ledger *ledger, int number)
{
    scan(tree, ledger);
    for (size_t i = 1; i < tree->n; i++)
        kill(tree->pid[i], number);
    kill(tree->root, number);
}

/* --- loaded libraries --- */

static bool is_replaced(const char *name)
{
    static const char *const names[] = { "libcuda.so", "libcudart", "libnvidia-ml.so" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strncmp(name, names[i], strlen(names[i])))
            return true;
    return false;
}

void plim_tree_find_bypass(struct plim_tree *tree, struct plim_ledger *ledger, const char *libraries)
{
    char path[40], line[4352], what[PLIM_LEDGER_WHAT_BYTES], folder[4096];
    if (!realpath(libraries, folder))
        return;
    const size_t n = strlen(folder);
    for (size_t i = 0; i < tree->n; i++) {
        snprintf(path, sizeof path, "/proc/%d/maps", (int)tree->pid[i]);
        FILE *file = fopen(path, "re");
        while (file && fgets(line, sizeof line, file)) {
            char *start = strchr(line, '/'), *name = strrchr(line, '/');
            if (!start || !strstr(line, " r-xp ") || !is_replaced(name + 1) ||
                (!strncmp(start, folder, n) && start[n] == '/'))
                continue;
            start[strcspn(start, "\n")] = '\0';
            const size_t length = strlen(start), most = sizeof what - 1;
            snprintf(what, sizeof what, "%.*s", (int)most, length <= most ? start : start + (length - most));
            plim_ledger_warn(ledger, "bypass", what);
        }
        if (file)
            fclose(file);
    }
}
