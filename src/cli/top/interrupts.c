/* SPDX-License-Identifier: MIT */
#include "cli/top/interrupts.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

static const int noted[] = { SIGWINCH, SIGTSTP, SIGINT, SIGTERM, SIGHUP, SIGQUIT };
static const int crashes[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS };
enum { N_NOTED = sizeof noted / sizeof *noted, N_CRASHES = sizeof crashes / sizeof *crashes };

static volatile sig_atomic_t is_resized, is_suspended, ended_by;
static sigset_t outside; /* the mask of the program elsewhere */
static struct sigaction before[N_NOTED];
static struct termios as_it_was;
static bool has_terminal;
static char rescue_bytes[256];
static size_t n_rescue_bytes;

static void note(int signal_number)
{
    if (signal_number == SIGWINCH)
        is_resized = 1;
    else if (signal_number == SIGTSTP)
        is_suspended = 1;
    else
        ended_by = signal_number;
}

/* The handler was for one time (SA_RESETHAND): the signal that is raised again ends the program as it would have. */
static void rescue(int signal_number)
{
    if (has_terminal)
        tcsetattr(STDIN_FILENO, TCSANOW, &as_it_was);
    for (size_t at = 0; at < n_rescue_bytes;) {
        const ssize_t n = write(STDOUT_FILENO, rescue_bytes + at, n_rescue_bytes - at);
        if (n <= 0)
            break;
        at += (size_t)n;
    }
    raise(signal_number);
}

static void block(void)
{
    sigset_t set;
    sigemptyset(&set);
    for (int i = 0; i < N_NOTED; i++)
        sigaddset(&set, noted[i]);
    sigprocmask(SIG_BLOCK, &set, &outside);
}

void plim_interrupts_open(const char *bytes, size_t n_bytes)
{
    struct sigaction action = { .sa_handler = note },
                     at_crash = { .sa_handler = rescue, .sa_flags = (int)SA_RESETHAND };
    n_rescue_bytes = n_bytes < sizeof rescue_bytes ? n_bytes : 0;
    memcpy(rescue_bytes, bytes, n_rescue_bytes);
    has_terminal = tcgetattr(STDIN_FILENO, &as_it_was) == 0;
    is_resized = is_suspended = ended_by = 0;
    block();
    for (int i = 0; i < N_NOTED; i++) {
        sigaction(noted[i], NULL, &before[i]);
        if (before[i].sa_handler != SIG_IGN) /* nohup; a shell without job control */
            sigaction(noted[i], &action, NULL);
    }
    for (int i = 0; i < N_CRASHES; i++)
        sigaction(crashes[i], &at_crash, NULL);
}

void plim_interrupts_close(void)
{
    for (int i = 0; i < N_NOTED; i++)
        sigaction(noted[i], &before[i], NULL);
    for (int i = 0; i < N_CRASHES; i++)
        signal(crashes[i], SIG_DFL);
    sigprocmask(SIG_SETMASK, &outside, NULL);
}

bool plim_interrupts_wait(int file, int ms)
{
    struct pollfd input = { .fd = file, .events = POLLIN };
    const struct timespec timeout = { ms / 1000, ms % 1000 * 1000000L };
    return ppoll(&input, 1, &timeout, &outside) > 0;
}

bool plim_interrupts_resized(void)
{
    const bool was = is_resized;
    is_resized = 0;
    return was;
}

bool plim_interrupts_suspended(void)
{
    const bool was = is_suspended;
    is_suspended = 0;
    return was;
}

int plim_interrupts_ended(void) { return ended_by; }

void plim_interrupts_stop(void)
{
    struct sigaction usual = { .sa_handler = SIG_DFL }, ours;
    sigset_t stop;
    sigemptyset(&stop);
    sigaddset(&stop, SIGTSTP);
    sigaction(SIGTSTP, &usual, &ours);
    raise(SIGTSTP);
    sigprocmask(SIG_UNBLOCK, &stop, NULL); /* stops here */
    sigprocmask(SIG_BLOCK, &stop, NULL);
    sigaction(SIGTSTP, &ours, NULL);
    is_resized = 1; /* as it may be */
}
