/* SPDX-License-Identifier: MIT */
#include "record/run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const int passed_on[] = { SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2 };
enum { N_SIGNALS = sizeof passed_on / sizeof *passed_on };
static volatile sig_atomic_t child_pid;

static void pass_on(int number, siginfo_t *info, void *context)
{
    const int before = errno;
    (void)context;
    if (info->si_code <= 0 && child_pid > 0) /* sent by a process: those of the terminal reach the child, too */
        kill(child_pid, number);
    errno = before;
}

/* Does not return on success; else it writes errno to the pipe for the parent. */
static void become(const char *path, char *const *arguments, char *const *environment, const sigset_t *mask,
                   const struct sigaction before[N_SIGNALS], int report_fd)
{
    for (int i = 0; i < N_SIGNALS; i++)
        sigaction(passed_on[i], &before[i], NULL);
    sigprocmask(SIG_SETMASK, mask, NULL);
    execve(path, arguments, environment);
    const int error = errno;
    const ssize_t written = write(report_fd, &error, sizeof error);
    (void)written;
    _exit(126);
}

static int wait_for(pid_t pid)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    child_pid = 0;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int plim_record_run(const char *path, char *const *arguments, char *const *environment, int *ret_status,
                    struct plim_error *reterr)
{
    struct sigaction handler = { .sa_sigaction = pass_on, .sa_flags = SA_SIGINFO | SA_RESTART }, before[N_SIGNALS];
    sigset_t all, mask;
    int ends[2], error = 0;
    if (pipe2(ends, O_CLOEXEC) < 0)
        return plim_fail_errno(reterr, path, "start", errno);
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &mask); /* none is lost between the child's birth and its name being known */
    for (int i = 0; i < N_SIGNALS; i++)
        sigaction(passed_on[i], &handler, &before[i]);
    const pid_t pid = fork();
    const int fork_error = errno;
    if (pid == 0)
        become(path, arguments, environment, &mask, before, ends[1]);
    close(ends[1]);
    child_pid = pid > 0 ? pid : 0;
    sigprocmask(SIG_SETMASK, &mask, NULL);
    const bool is_refused = pid > 0 && read(ends[0], &error, sizeof error) == (ssize_t)sizeof error;
    close(ends[0]);
    if (pid > 0)
        *ret_status = wait_for(pid);
    for (int i = 0; i < N_SIGNALS; i++)
        sigaction(passed_on[i], &before[i], NULL);
    if (pid < 0)
        return plim_fail_errno(reterr, path, "start", fork_error);
    return is_refused ? plim_fail(reterr, PLIM_E_DENIED, PLIM_NO_OFFSET, "cannot run '%s': %s", path, strerror(error))
                      : 0;
}
