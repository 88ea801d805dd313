/* SPDX-License-Identifier: MIT */
/*
 * The program stays in our process group, so that the terminal treats it as before: Ctrl-C reaches it without our help,
 * and only signals that a process sent to us are passed on: those that end programs to all processes of the rehearsal,
 * as a terminal does. The ledger is reached through /proc/OUR-PID/fd, which needs no file on a disk and is gone when we
 * are.
 */
#include "rehearse/launch.h"

#include "base/error.h"
#include "base/mem.h"
#include "rehearse/bypass.h"
#include "rehearse/end/kernel_kills.h"
#include "rehearse/end/outsiders.h"
#include "rehearse/end/pool.h"
#include "rehearse/end/said.h"
#include "rehearse/path/path.h"
#include "rehearse/processes/departures.h"
#include "rehearse/processes/left_behind.h"
#include "rehearse/processes/nested.h"
#include "rehearse/processes/usage.h"
#include "rehearse/steps.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LEAST_POLL_MS = 2, MOST_POLL_MS = 50, STEPS_POLL_MS = 5, GRACE_S = 5, IDLE_S = 5, PATH_BYTES = 4096 };
/* For processes that outlive the program: when one that Ctrl-C did not end is asked to; a wait that is told. */
static const double ask_after_s = 1, worth_saying_s = 1;

static const int passed_on[] = { SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2 };
static volatile sig_atomic_t child_pid, n_interrupts, for_all /* a signal that was not passed on yet */;
/* What the caller does with signals: the program starts with it. */
static struct sigaction child_ended_before;
static sigset_t mask_before;

static void pass_on(int number, siginfo_t *info, void *context)
{
    const int before = errno;
    (void)context;
    if (number == SIGINT || number == SIGTERM)
        n_interrupts = n_interrupts + 1;
    const bool is_sent = info->si_code <= 0; /* by a process: signals of the terminal reach the others directly */
    if (is_sent && (number == SIGUSR1 || number == SIGUSR2) && child_pid > 0)
        kill(child_pid, number);
    else if (is_sent)
        for_all = number;
    errno = before;
}

/* --- environment --- */

/*
 * All of them: a loaded library serves every later request for its name, whatever path (DT_RPATH) comes with it. Those
 * that the program does not use cost it about 1 ms together. A program that looks a function up among all libraries
 * (TensorFlow) takes it from the first that has it: CUDA 11 and cuDNN 8 come last.
 */
static const char *const preloaded[] = {
    "libplimsoll-preload.so", "libcuda.so.1",         "libnvidia-ml.so.1", "libcudart.so.12",   "libcudart.so.13",
    "libcublas.so.12",        "libcublas.so.13",      "libcublasLt.so.12", "libcublasLt.so.13", "libcudnn.so.9",
    "libcufft.so.11",         "libcufft.so.12",       "libcufile.so.0",    "libcupti.so.12",    "libcupti.so.13",
    "libcurand.so.10",        "libcusolver.so.11",    "libcusolver.so.12", "libcusparse.so.12", "libcusparseLt.so.0",
    "libnccl.so.2",           "libnvshmem_host.so.3", "libcudart.so.11.0", "libcublas.so.11",   "libcublasLt.so.11",
    "libcudnn.so.8",          "libcufft.so.10",       "libcupti.so.11.7",  "libcupti.so.11.8",  "libcusparse.so.11"
};

static const char *value_of(char *const *environment, const char *name)
{
    const size_t n = strlen(name);
    for (; *environment; environment++)
        if (!strncmp(*environment, name, n) && (*environment)[n] == '=')
            return *environment + n + 1;
    return NULL;
}

static bool is_ours(const char *entry)
{
    static const char *const names[] = { "PATH=",
                                         "LD_LIBRARY_PATH=",
                                         "LD_PRELOAD=",
                                         "PLIM_VGPU_LEDGER=",
                                         "PLIM_VGPU_VALUES=",
                                         "PLIM_VGPU_SCHEDULE=",
                                         "PLIM_VGPU_RAW=",
                                         "TRITON_LIBCUDA_PATH=" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strncmp(entry, names[i], strlen(names[i])))
            return true;
    return false;
}

struct environment {
    struct plim_arena arena;
    char **entries;
};

/* "NAME=" and the values, joined by colons. */
static char *joined(struct plim_arena *arena, const char *name, const char *const *values, size_t n)
{
    size_t size = strlen(name) + 1;
    for (size_t i = 0; i < n; i++)
        size += strlen(values[i]) + 1;
    char *text = plim_arena_alloc(arena, size, 1), *end = text;
    if (!text)
        return NULL;
    end = stpcpy(end, name);
    for (size_t i = 0; i < n; i++)
        end += sprintf(end, "%s%s", i ? ":" : "", values[i]);
    return text;
}

static bool make_environment(struct environment *e, const struct plim_launch *launch, int ledger_fd)
{
    enum { N_PRELOADED = sizeof preloaded / sizeof *preloaded, MAX_BYTES = 4 << 20 };
    char path[64], library[N_PRELOADED][PATH_BYTES];
    const char *values[N_PRELOADED + 1], *old;
    size_t n = 0, n_values = 0;
    plim_arena_init(&e->arena, MAX_BYTES);
    while (launch->environment[n])
        n++;
    e->entries = plim_arena_alloc(&e->arena, n + 8, sizeof *e->entries);
    if (!e->entries)
        return false;
    n = 0;
    for (char *const *p = launch->environment; *p; p++)
        if (!is_ours(*p))
            e->entries[n++] = *p;
    for (; n_values < N_PRELOADED; n_values++) {
        snprintf(library[n_values], PATH_BYTES, "%s/%s", launch->libraries, preloaded[n_values]);
        values[n_values] = library[n_values];
    }
    if ((old = value_of(launch->environment, "LD_PRELOAD")) && *old)
        values[n_values++] = old;
    const size_t first = n;
    e->entries[n++] = joined(&e->arena, "LD_PRELOAD=", values, n_values);
    values[0] = launch->libraries;
    values[1] = value_of(launch->environment, "LD_LIBRARY_PATH");
    e->entries[n++] = joined(&e->arena, "LD_LIBRARY_PATH=", values, values[1] && *values[1] ? 2 : 1);
    if ((old = value_of(launch->environment, "PATH"))) { /* nvidia-smi */
        snprintf(library[0], PATH_BYTES, "%s/programs", launch->libraries);
        const char *const folders[] = { library[0], old };
        e->entries[n++] = joined(&e->arena, "PATH=", folders, 2);
    }
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), ledger_fd);
    values[0] = path;
    e->entries[n++] = joined(&e->arena, "PLIM_VGPU_LEDGER=", values, 1);
    values[0] = launch->values ? launch->values : "zero";
    e->entries[n++] = joined(&e->arena, "PLIM_VGPU_VALUES=", values, 1);
    values[0] = launch->schedule ? launch->schedule : "eager";
    e->entries[n++] = joined(&e->arena, "PLIM_VGPU_SCHEDULE=", values, 1);
    values[0] = launch->tokens ? launch->tokens : "0";
    e->entries[n++] = joined(&e->arena, "PLIM_VGPU_TOKENS=", values, 1);
    values[0] = launch->libraries; /* else it asks ldconfig */
    e->entries[n++] = joined(&e->arena, "TRITON_LIBCUDA_PATH=", values, 1);
    for (size_t i = first; i < n; i++)
        if (!e->entries[i])
            return false;
    return true;
}

/* --- the child --- */

/* Does not return on success; else it writes errno to the pipe for the parent. */
static void become(const struct plim_launch *launch, char *const *environment, int log_fd, int report_fd)
{
    prctl(PR_SET_PDEATHSIG, (unsigned long)SIGTERM); /* we were killed: we have one thread, which ends with us only */
    const bool has_output = log_fd < 0 || (dup2(log_fd, STDOUT_FILENO) >= 0 && dup2(log_fd, STDERR_FILENO) >= 0);
    if (has_output) {
        sigaction(SIGCHLD, &child_ended_before, NULL);
        sigprocmask(SIG_SETMASK, &mask_before, NULL);
        execve(launch->path, launch->arguments, environment);
    }
    int error = errno;
    ssize_t written = write(report_fd, &error, sizeof error);
    (void)written;
    _exit(126);
}

static int cannot_start(const char *path, int error, struct plim_error *reterr)
{
    return plim_fail(reterr, PLIM_E_IO, PLIM_NO_OFFSET, "cannot start '%s': %s", path, strerror(error));
}

/* Until they can be passed on: one that ended us would leave the program behind. */
static void hold_signals_back(void)
{
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof passed_on / sizeof *passed_on; i++)
        sigaddset(&set, passed_on[i]);
    sigprocmask(SIG_BLOCK, &set, NULL);
}

static int start(const struct plim_launch *launch, int ledger_fd, struct plim_error *reterr)
{
    struct environment environment;
    int ends[2], error = 0;
    pid_t pid = -1;
    int log_fd = launch->log ? open(launch->log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : -1;
    if (launch->log && log_fd < 0)
        return plim_fail(reterr, PLIM_E_IO, PLIM_NO_OFFSET, "cannot write the log: %s (%s)", strerror(errno),
                         launch->log);
    if (!make_environment(&environment, launch, ledger_fd))
        error = ENOMEM;
    else if (pipe2(ends, O_CLOEXEC) < 0)
        error = errno;
    if (error) {
        plim_arena_done(&environment.arena);
        if (log_fd >= 0)
            close(log_fd);
        return cannot_start(launch->path, error, reterr);
    }
    hold_signals_back();
    pid = fork();
    const int fork_error = errno;
    if (pid == 0)
        become(launch, environment.entries, log_fd, ends[1]);
    close(ends[1]);
    if (log_fd >= 0)
        close(log_fd);
    plim_arena_done(&environment.arena);
    const bool is_refused = pid > 0 && read(ends[0], &error, sizeof error) == (ssize_t)sizeof error;
    close(ends[0]);
    if (pid < 0)
        return cannot_start(launch->path, fork_error, reterr);
    if (is_refused) {
        waitpid(pid, NULL, 0);
        return plim_fail(reterr, PLIM_E_DENIED, PLIM_NO_OFFSET, "cannot run '%s': %s", launch->path, strerror(error));
    }
    child_pid = pid;
    return 0;
}

/* --- watching --- */

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static bool has_ended(void)
{
    siginfo_t info = { 0 };
    return waitid(P_PID, (id_t)child_pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid;
}

static void pause_for(long ms) { nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000 }, NULL); }

/* Record what is held before the program gives it back, and ask the program to end. */
static void stop(const struct plim_launch *launch, struct plim_tree *tree, struct plim_rehearsal *rehearsal)
{
    plim_departures_note(rehearsal->ledger, child_pid);
    plim_rehearsal_take(rehearsal);
    plim_bypass_find(tree, launch->libraries, rehearsal);
    plim_tree_signal(tree, SIGTERM);
}

/* The program was stopped or interrupted, and has ended: so do the processes that it left behind. */
static void end_the_rest(struct plim_tree *tree, double stopped_s)
{
    bool is_asked = false; /* Ctrl-C reaches those that are still of the terminal */
    for (;;) {
        const bool is_whole = plim_tree_scan(tree);
        const double waited_s = now_s() - stopped_s;
        if ((is_whole && tree->n == 1) || waited_s >= 2 * GRACE_S)
            return;
        if (waited_s > GRACE_S || n_interrupts > 1)
            plim_tree_signal(tree, SIGKILL);
        else if (!is_asked && waited_s > ask_after_s) {
            plim_tree_signal(tree, SIGTERM);
            is_asked = true;
        }
        pause_for(MOST_POLL_MS);
    }
}

struct watch {
    const struct plim_launch *launch;
    struct plim_tree *tree;
    struct plim_rehearsal *rehearsal;
    double start_s, stopped_s, looked_s;
    bool is_over; /* the program has ended, and others have not */
    struct plim_usage usage;
    struct plim_nested nested;
};

static void look(struct watch *w, double elapsed_s)
{
    struct plim_rehearsal *rehearsal = w->rehearsal;
    const bool has_scanned = plim_tree_look(w->tree, elapsed_s);
    if (has_scanned)
        plim_nested_look(&w->nested, w->tree, rehearsal->ledger);
    if (!rehearsal->outsider && (has_scanned || elapsed_s < 1))
        rehearsal->outsider = plim_outsiders_find(w->tree, has_scanned ? w->tree->n : 1);
    plim_departures_note(rehearsal->ledger, w->is_over ? 0 : child_pid);
    plim_usage_look(&w->usage, w->tree, elapsed_s);
    if (w->launch->progress)
        w->launch->progress(w->tree, rehearsal->ledger, elapsed_s, /* is_over */ false);
    w->looked_s = elapsed_s;
}

static void pass_time(struct watch *w)
{
    const struct plim_launch *launch = w->launch;
    const long most_ms = launch->stop.until == PLIM_UNTIL_STEPS ? STEPS_POLL_MS : MOST_POLL_MS;
    const double elapsed_s = now_s() - w->start_s;
    const long part_ms = LEAST_POLL_MS + (long)(elapsed_s * 100); /* a short program is looked at more often */
    const int number = for_all;
    for_all = 0;
    if (number)
        plim_tree_signal(w->tree, number);
    if (elapsed_s - w->looked_s >= (double)(part_ms < MOST_POLL_MS ? part_ms : MOST_POLL_MS) / 1e3)
        look(w, elapsed_s);
    const double idle_s = elapsed_s - w->usage.busy_s;
    if (!w->rehearsal->stopped_by &&
        (w->rehearsal->stopped_by = plim_stop_reason(&launch->stop, w->rehearsal->ledger, elapsed_s, idle_s))) {
        stop(launch, w->tree, w->rehearsal);
        w->stopped_s = now_s();
    }
    if ((w->stopped_s > 0 && now_s() - w->stopped_s > GRACE_S) || n_interrupts > 1)
        plim_tree_signal(w->tree, SIGKILL);
    pause_for(part_ms < most_ms ? part_ms : most_ms);
}

/*
 * Others go on after the program: as long as they compute, or hold memory of a card when the user said until when, they
 * are waited for. One that only sleeps may have a card in mind: it gets IDLE_S for that.
 */
static void await_the_rest(struct watch *w)
{
    char name[PLIM_LEFT_BEHIND_NAME];
    const double ended_s = now_s() - w->start_s;
    if (plim_tree_scan(w->tree) && w->tree->n == 1)
        return;
    w->is_over = true;
    plim_left_behind_name(w->tree, name);
    plim_tree_hurry(w->tree);
    while (w->tree->n > 1 && w->stopped_s == 0 && !n_interrupts) {
        const double active_s = w->usage.busy_s > ended_s ? w->usage.busy_s : ended_s;
        const bool is_wanted =
            w->launch->stop.until != PLIM_UNTIL_AUTO && plim_left_behind_has_card(w->tree, w->rehearsal->ledger);
        if (!is_wanted && now_s() - w->start_s - active_s > IDLE_S)
            break;
        pass_time(w);
    }
    if (w->tree->n == 1 && now_s() - w->start_s - ended_s < worth_saying_s)
        return;
    const bool is_idle = w->tree->n > 1 && w->stopped_s == 0 && !n_interrupts;
    plim_left_behind_say(w->rehearsal, name,
                         w->tree->n == 1 ? "waited for"
                         : is_idle       ? "ended, since it computed nothing"
                                         : "ended with the rehearsal");
    if (is_idle) {
        plim_tree_signal(w->tree, SIGTERM);
        end_the_rest(w->tree, now_s());
    }
}

/* Ends when all processes have; the program is left to be waited for, so that the ledger still holds what it held. */
static void watch_program(const struct plim_launch *launch, struct plim_tree *tree, struct plim_rehearsal *rehearsal)
{
    struct watch w = { .launch = launch, .tree = tree, .rehearsal = rehearsal, .start_s = now_s(), .looked_s = -1 };
    while (!has_ended())
        pass_time(&w);
    if (w.stopped_s == 0 && !n_interrupts)
        await_the_rest(&w);
    rehearsal->seconds = now_s() - w.start_s;
    if (launch->progress)
        launch->progress(tree, rehearsal->ledger, rehearsal->seconds, /* is_over */ true);
    if (w.stopped_s > 0 || n_interrupts)
        end_the_rest(tree, w.stopped_s > 0 ? w.stopped_s : now_s());
    rehearsal->host.peak_rss_bytes = w.usage.peak_rss_bytes;
    rehearsal->host.peak_anonymous_bytes = w.usage.peak_anonymous_bytes;
    rehearsal->host.peak_n_processes = w.usage.peak_n;
}

/* The program has ended: wait for it, and say how. */
static void take_exit(struct plim_rehearsal *rehearsal)
{
    struct rusage usage = { 0 };
    int status = 0;
    const pid_t pid = child_pid;
    child_pid = 0; /* its number is free once it is waited for */
    while (wait4(pid, &status, 0, &usage) < 0 && errno == EINTR) {
    }
    const uint64_t rss_bytes = (uint64_t)usage.ru_maxrss * 1024; /* of the largest: seen even if it was short */
    rehearsal->host.peak_rss_bytes =
        rss_bytes > rehearsal->host.peak_rss_bytes ? rss_bytes : rehearsal->host.peak_rss_bytes;
    rehearsal->exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    if (!rehearsal->stopped_by)
        rehearsal->stopped_by = n_interrupts ? "interrupt" : WIFSIGNALED(status) ? "signal" : "exit";
}

static void run(const struct plim_launch *launch, struct plim_tree *tree, struct plim_rehearsal *rehearsal)
{
    enum { N_SIGNALS = sizeof passed_on / sizeof *passed_on };
    struct sigaction handler = { .sa_sigaction = pass_on, .sa_flags = SA_SIGINFO | SA_RESTART }, before[N_SIGNALS];
    for (size_t i = 0; i < N_SIGNALS; i++)
        sigaction(passed_on[i], &handler, &before[i]);
    sigprocmask(SIG_SETMASK, &mask_before, NULL);
    plim_tree_begin(tree, child_pid);
    const struct plim_kernel_kills kills = plim_kernel_kills_read("");
    watch_program(launch, tree, rehearsal);
    if (rehearsal->ledger->wants_steps)
        plim_steps_count(rehearsal->ledger, launch->stop.n_steps, &rehearsal->steps);
    rehearsal->steps.n_wanted = rehearsal->ledger->wants_steps ? launch->stop.n_steps : 0;
    if (!rehearsal->stopped_by) {
        plim_departures_note(rehearsal->ledger, child_pid);
        plim_rehearsal_take(rehearsal);
    }
    take_exit(rehearsal);
    rehearsal->host.kill =
        plim_kernel_kills_judge(kills, plim_kernel_kills_read(""),
                                rehearsal->exit_code == 128 + SIGKILL && !strcmp(rehearsal->stopped_by, "signal"));
    for (size_t i = 0; i < N_SIGNALS; i++)
        sigaction(passed_on[i], &before[i], NULL);
    plim_rehearsal_finish(rehearsal);
    plim_said_read(rehearsal, launch->log);
    plim_pool_find(rehearsal);
    plim_path_judge(rehearsal);
}

int plim_launch_run(const struct plim_launch *launch, int ledger_fd, struct plim_rehearsal *rehearsal,
                    struct plim_error *reterr)
{
    const struct sigaction usual = { .sa_handler = SIG_DFL };
    static struct plim_tree tree; /* large; a process runs one rehearsal at a time */
    if (!plim_process_has_own_proc()) {
        plim_fail(reterr, PLIM_E_UNSUPPORTED, PLIM_NO_OFFSET,
                  "the /proc here is of another pid namespace, or cannot be read");
        plim_error_hint(reterr, "the program could not find the ledger; mount its own: unshare --mount-proc");
        return PLIM_E_UNSUPPORTED;
    }
    n_interrupts = for_all = 0;
    rehearsal->ledger->wants_steps = launch->stop.until == PLIM_UNTIL_STEPS;
    plim_tree_prepare(&tree);
    sigprocmask(SIG_BLOCK, NULL, &mask_before);
    sigaction(SIGCHLD, &usual, &child_ended_before); /* were it ignored, the kernel would wait for our children */
    const int result = start(launch, ledger_fd, reterr);
    if (result == 0)
        run(launch, &tree, rehearsal);
    plim_tree_end(&tree);
    sigprocmask(SIG_SETMASK, &mask_before, NULL);
    sigaction(SIGCHLD, &child_ended_before, NULL);
    return result;
}
