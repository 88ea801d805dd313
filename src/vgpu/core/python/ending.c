/* SPDX-License-Identifier: MIT */
/*
 * The last moment at which threads of PyTorch may take Python's lock. One that asks for it later is ended by Python
 * before 3.14 (PyThread_exit_thread), and where C++ is below, the program with it: "terminate called without an active
 * exception". So it goes for autograd's thread when a program ends right after backward(), since what the thread still
 * has to release is Python's (ConcretePyInterpreterVTable::decref; https://github.com/pytorch/pytorch/issues/190489).
 */
#include "vgpu/core/python/python.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A thread that waited for the lock is awake within the first of these; a machine with much to do takes its time. */
enum { LEAST_ROUNDS = 2, MOST_ROUNDS = 100, ROUND_NS = 1000000 };

/* proc_pid_stat(5): "pid (name) state ..."; the name may hold anything. */
static bool is_running(int tasks, const char *task)
{
    char path[64], text[128];
    snprintf(path, sizeof path, "%.32s/stat", task);
    const int file = openat(tasks, path, O_RDONLY | O_CLOEXEC);
    const ssize_t n = file >= 0 ? read(file, text, sizeof text - 1) : -1;
    if (file >= 0)
        close(file);
    text[n > 0 ? n : 0] = '\0';
    const char *end = strrchr(text, ')');
    return end && strncmp(end, ") R", 3) == 0;
}

static bool is_any_other_running(void)
{
    bool is_any = false;
    const int self = (int)gettid();
    DIR *tasks = opendir("/proc/self/task");
    for (const struct dirent *task; tasks && !is_any && (task = readdir(tasks));)
        is_any = task->d_name[0] != '.' && atoi(task->d_name) != self && is_running(dirfd(tasks), task->d_name);
    if (tasks)
        closedir(tasks);
    return is_any;
}

void plim_python_let_threads_end(void)
{
    void *state = plim_python.let_go();
    for (int i = 0; i < MOST_ROUNDS && (i < LEAST_ROUNDS || is_any_other_running()); i++)
        nanosleep(&(struct timespec){ .tv_nsec = ROUND_NS }, NULL);
    plim_python.take_again(state);
}
