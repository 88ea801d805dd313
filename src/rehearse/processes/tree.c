/* SPDX-License-Identifier: MIT */
#include "rehearse/processes/tree.h"

#include "base/limits.h"
#include "base/mem.h"
#include "rehearse/processes/signal.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* A scan reads a file for every process of the machine. */
static const double first_scan_s = 0.05, slowest_scan_s = 1;

/* --- beginning and end --- */

static bool has_children(void)
{
    siginfo_t info;
    return waitid(P_ALL, 0, &info, WEXITED | WSTOPPED | WCONTINUED | WNOHANG | WNOWAIT) == 0; /* else ECHILD */
}

void plim_tree_prepare(struct plim_tree *tree)
{
    int before = 0;
    prctl(PR_GET_CHILD_SUBREAPER, &before);
    *tree = (struct plim_tree){ .self = getpid(),
                                .was_subreaper = before != 0,
                                .is_alone = getpid() != 1 && !has_children(),
                                .scan_every_s = first_scan_s };
    prctl(PR_SET_CHILD_SUBREAPER, 1UL);
}

void plim_tree_begin(struct plim_tree *tree, int program)
{
    tree->n = 1;
    if (!plim_process_read(program, &tree->member[0]))
        tree->member[0] = (struct plim_process){ .pid = program, .parent = tree->self, .start_ticks = UINT64_MAX };
}

void plim_tree_end(struct plim_tree *tree)
{
    while (tree->is_alone && waitpid(-1, NULL, WNOHANG) > 0)
        continue;
    prctl(PR_SET_CHILD_SUBREAPER, (unsigned long)tree->was_subreaper);
}

/* --- who is a member --- */

static int by_pid(const void *a, const void *b)
{
    const struct plim_process *x = a, *y = b;
    return x->pid < y->pid ? -1 : x->pid > y->pid;
}

static const struct plim_process *find(const struct plim_process *list, size_t n, int pid)
{
    const struct plim_process key = { .pid = pid };
    return n ? bsearch(&key, list, n, sizeof *list, by_pid) : NULL;
}

static bool is_known(const struct plim_tree *tree, const struct plim_process *process)
{
    const struct plim_process *known = find(tree->member, tree->n, process->pid);
    return known && known->start_ticks == process->start_ticks;
}

/*
 * The list is not of one moment: a number in it may have a new owner. No parent is younger than its child, so that a
 * chain in which one is, is none.
 */
static bool descends(const struct plim_tree *tree, const struct plim_process *program, const struct plim_process *list,
                     size_t n, const struct plim_process *process)
{
    for (size_t i = 0; i < n && process && process->start_ticks >= program->start_ticks; i++) {
        const struct plim_process *parent = find(list, n, process->parent);
        if (process->pid <= 1 || process->pid == tree->self)
            return false;
        if (is_known(tree, process))
            return true;
        if (process->parent == tree->self)
            return tree->is_alone;
        process = parent && parent->start_ticks <= process->start_ticks ? parent : NULL;
    }
    return false;
}

void plim_tree_update(struct plim_tree *tree, const struct plim_process *list, size_t n)
{
    static struct plim_process found[PLIM_TREE_MAX]; /* large; a process runs one rehearsal at a time */
    const struct plim_process program = tree->member[0];
    size_t n_found = 1;
    qsort(tree->member, tree->n, sizeof *tree->member, by_pid);
    for (size_t i = 0; i < n && n_found < PLIM_TREE_MAX; i++)
        if (!list[i].is_ended && list[i].pid != program.pid && descends(tree, &program, list, n, &list[i]))
            found[n_found++] = list[i];
    found[0] = program;
    for (tree->n = 0; tree->n < n_found; tree->n++)
        tree->member[tree->n] = found[tree->n];
}

/* --- looking --- */

/* It has ended meanwhile; or it is of a user whose processes are hidden here, and no signal of ours reaches it. */
static bool is_gone_or_anothers(int error)
{
    return error == ENOENT || error == ESRCH || error == EACCES || error == EPERM;
}

/* False when one that may be there could not be read. */
static bool read_all(struct plim_process *list, size_t *ret_n)
{
    size_t n = 0;
    DIR *folder = opendir("/proc");
    bool is_whole = folder != NULL;
    errno = 0;
    for (struct dirent *entry; folder && n < PLIM_MAX_PROCESSES && (entry = readdir(folder)); errno = 0) {
        if (!isdigit((unsigned char)entry->d_name[0]))
            continue;
        if (plim_process_read((int)strtol(entry->d_name, NULL, 10), &list[n]))
            n++;
        else
            is_whole = is_whole && (errno == 0 || is_gone_or_anothers(errno));
    }
    is_whole = is_whole && errno == 0;
    if (folder)
        closedir(folder);
    qsort(list, n, sizeof *list, by_pid);
    *ret_n = n;
    return is_whole;
}

/* The program itself stays: its end is looked for elsewhere, and its number is kept for it until then. */
static void reap(const struct plim_tree *tree, const struct plim_process *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct plim_process *p = &list[i];
        bool is_ours = tree->is_alone;
        for (size_t k = 0; k < tree->n && !is_ours; k++)
            is_ours = tree->member[k].pid == p->pid && tree->member[k].start_ticks == p->start_ticks;
        if (p->is_ended && p->parent == tree->self && p->pid != tree->member[0].pid && is_ours)
            waitpid(p->pid, NULL, WNOHANG);
    }
}

bool plim_tree_scan(struct plim_tree *tree)
{
    struct plim_process *list = plim_alloc_unset(PLIM_MAX_PROCESSES, sizeof *list);
    size_t n;
    if (!list)
        return false;
    if (tree->member[0].start_ticks == UINT64_MAX)
        plim_tree_begin(tree, tree->member[0].pid);
    const bool is_whole = read_all(list, &n);
    reap(tree, list, n);
    if (is_whole || tree->n == 1)
        plim_tree_update(tree, list, n); /* else who was seen before stays */
    plim_free(list);
    return is_whole;
}

bool plim_tree_look(struct plim_tree *tree, double now_s)
{
    if (now_s < tree->next_scan_s)
        return false;
    plim_tree_scan(tree);
    tree->next_scan_s = now_s + tree->scan_every_s;
    tree->scan_every_s = tree->scan_every_s < slowest_scan_s ? 2 * tree->scan_every_s : slowest_scan_s;
    return true;
}

void plim_tree_hurry(struct plim_tree *tree)
{
    tree->next_scan_s = 0;
    tree->scan_every_s = first_scan_s;
}

/* --- signals --- */

/* A number that is a child's of ours is nobody else's before we wait for it. */
static bool is_child(int pid)
{
    siginfo_t info;
    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

static void send_all(const struct plim_tree *tree, int number)
{
    for (size_t i = tree->n; i-- > 1;) {
        const int pid = tree->member[i].pid;
        if (!plim_signal_send(&tree->member[i], number) && tree->is_alone && is_child(pid))
            kill(pid, number); /* no descriptor is left to look at it; all our children come from the program */
    }
    kill(tree->member[0].pid, number); /* our child, and not waited for: its number is its own */
}

void plim_tree_signal(struct plim_tree *tree, int number)
{
    plim_tree_scan(tree);
    send_all(tree, number);
    if (number != SIGKILL)
        send_all(tree, SIGCONT); /* a stopped process does not see other signals */
}
