/* SPDX-License-Identifier: MIT */
/*
 * stopwatch COMMAND...: run it with its output thrown away; print its exit status, wall milliseconds from before it is
 * started to its end, its largest resident set in KiB, and its milliseconds of processor time. Small, because a child
 * counts the pages it shares with its parent.
 */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

extern char **environ;

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static double milliseconds(struct timeval t) { return 1e3 * (double)t.tv_sec + 1e-3 * (double)t.tv_usec; }

int main(int argc, char **argv)
{
    posix_spawn_file_actions_t actions;
    struct rusage usage;
    pid_t child;
    int status;
    if (argc < 2 || posix_spawn_file_actions_init(&actions) ||
        posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0) ||
        posix_spawn_file_actions_adddup2(&actions, 1, 2))
        return 2;
    const double start = now_ms();
    if (posix_spawnp(&child, argv[1], &actions, NULL, argv + 1, environ) || wait4(child, &status, 0, &usage) < 0)
        return 2;
    const double wall_ms = now_ms() - start;
    printf("%d %.3f %ld %.3f\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1, wall_ms, usage.ru_maxrss,
           milliseconds(usage.ru_utime) + milliseconds(usage.ru_stime));
    return 0;
}
