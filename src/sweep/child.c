/* SPDX-License-Identifier: MIT */
#include "sweep/child.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ENDED_LATER_US = 10000000 };
static const char *const endings[] = { ".json", ".log", ".out" };
enum { ANSWER, LOG, OUTPUT, N_FILES };

static void name_of(const struct plim_sweep_child *child, int file, char ret_path[PLIM_SWEEP_PATH_BYTES + 8])
{
    snprintf(ret_path, PLIM_SWEEP_PATH_BYTES + 8, "%s%s", child->path, endings[file]);
}

/* --- starting --- */

static int open_file(const struct plim_sweep_child *child, int file, struct plim_error *reterr)
{
    char path[PLIM_SWEEP_PATH_BYTES + 8];
    name_of(child, file, path);
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
    return fd < 0 ? plim_fail_errno(reterr, path, "write", errno) : fd;
}

/* Does not return. A child of a parent that is gone already has nobody who reads its answer. */
static void become(char *const *arguments, const int files[2], int report_fd, pid_t parent)
{
    sigset_t none;
    sigemptyset(&none);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, (unsigned long)SIGTERM);
    const int nothing = open("/dev/null", O_RDONLY);
    if (getppid() == parent && nothing >= 0 && dup2(nothing, STDIN_FILENO) >= 0 && dup2(files[0], STDOUT_FILENO) >= 0 &&
        dup2(files[1], STDERR_FILENO) >= 0) {
        sigprocmask(SIG_SETMASK, &none, NULL);
        execvp(arguments[0], arguments);
    }
    const int error = errno;
    (void)!write(report_fd, &error, sizeof error);
    _exit(126);
}

/* The pipe is closed by a successful exec, and has an errno else. */
static int wait_for_exec(struct plim_sweep_child *child, const char *name, int fd, struct plim_error *reterr)
{
    int error = 0;
    ssize_t n;
    while ((n = read(fd, &error, sizeof error)) < 0 && errno == EINTR)
        ;
    if (n <= 0)
        return 0;
    waitpid(child->pid, NULL, 0);
    child->pid = 0;
    plim_fail(reterr, error == ENOENT ? PLIM_E_NOT_FOUND : PLIM_E_IO, PLIM_NO_OFFSET, "cannot start '%.120s': %s", name,
              strerror(error));
    return reterr ? reterr->code : PLIM_E_IO;
}

int plim_sweep_child_start(struct plim_sweep_child *child, char *const *arguments, struct plim_error *reterr)
{
    int report[2] = { -1, -1 }, files[2] = { -1, -1 }, result = 0;
    const pid_t self = getpid();
    for (int i = 0; i < 2 && result == 0; i++)
        if ((files[i] = open_file(child, i, reterr)) < 0)
            result = files[i];
    if (result == 0 && pipe2(report, O_CLOEXEC) < 0)
        result = plim_fail_errno(reterr, "a pipe", "open", errno);
    if (result == 0 && (child->pid = fork()) == 0)
        become(arguments, files, report[1], self);
    if (result == 0 && child->pid < 0) {
        result = plim_fail_errno(reterr, arguments[0], "start", errno);
        child->pid = 0;
    }
    if (result == 0)
        setpgid(child->pid, child->pid); /* both do: whoever is first */
    for (int i = 0; i < 2; i++)
        if (files[i] >= 0)
            close(files[i]);
    if (report[1] >= 0)
        close(report[1]);
    if (result == 0)
        result = wait_for_exec(child, arguments[0], report[0], reterr);
    if (report[0] >= 0)
        close(report[0]);
    return result;
}

/* --- ending --- */

void plim_sweep_child_end(struct plim_sweep_child *child, uint64_t now_us)
{
    if (!child->asked_us) {
        kill(-child->pid, SIGTERM);
        child->asked_us = now_us ? now_us : 1;
    } else if (now_us - child->asked_us > ENDED_LATER_US) {
        kill(-child->pid, SIGKILL);
    }
}

bool plim_sweep_child_has_ended(struct plim_sweep_child *child, int *ret_status)
{
    int status;
    if (waitpid(child->pid, &status, WNOHANG) != child->pid)
        return false;
    kill(-child->pid, SIGKILL);
    *ret_status = WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
    child->pid = 0;
    return true;
}

/* --- what it printed --- */

/* Up to `most` bytes of the end of a file, in memory of the caller's; NULL: there are none. */
static char *read_end(const struct plim_sweep_child *child, int file, size_t most, size_t *ret_length, bool *ret_is_all)
{
    char path[PLIM_SWEEP_PATH_BYTES + 8];
    struct stat status = { .st_size = 0 };
    name_of(child, file, path);
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return NULL;
    const bool is_file = fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
    const size_t size = is_file ? (size_t)status.st_size : 0, length = size < most ? size : most;
    char *text = length ? plim_alloc_unset(length + 1, 1) : NULL;
    const ssize_t n = text ? pread(fd, text, length, (off_t)(size - length)) : -1;
    close(fd);
    *ret_is_all = length == size;
    *ret_length = n > 0 ? (size_t)n : 0;
    if (text)
        text[*ret_length] = '\0';
    return text;
}

json_t *plim_sweep_child_document(const struct plim_sweep_child *child, char ret_reason[PLIM_SWEEP_CELL_BYTES])
{
    json_error_t error;
    size_t length = 0;
    bool is_all = true;
    char *text = read_end(child, ANSWER, PLIM_MAX_SWEEP_OUTPUT_BYTES, &length, &is_all);
    json_t *document = text && is_all ? json_loadb(text, length, 0, &error) : NULL;
    const char *why = !is_all            ? "it printed more than 1 MiB"
                      : !text || !length ? "it printed nothing"
                                         : "it printed no JSON";
    if (document && !json_is_object(document)) {
        json_decref(document);
        document = NULL;
    }
    snprintf(ret_reason, PLIM_SWEEP_CELL_BYTES, "%s", document ? "" : why);
    plim_free(text);
    return document;
}

/* A line of a drawing says nothing, and a hint is not what went wrong. */
static bool says_something(const char *line)
{
    if (!strncmp(line, "hint: ", 6))
        return false;
    for (; *line; line++)
        if ((*line >= 'a' && *line <= 'z') || (*line >= 'A' && *line <= 'Z') || (*line >= '0' && *line <= '9'))
            return true;
    return false;
}

static bool last_line(char *text, size_t length, char ret_line[PLIM_SWEEP_CELL_BYTES])
{
    while (length > 0) {
        while (length > 0 && strchr("\r\n", text[length - 1]))
            text[--length] = '\0';
        size_t start = length;
        while (start > 0 && !strchr("\r\n", text[start - 1]))
            start--;
        if (says_something(text + start)) {
            snprintf(ret_line, PLIM_SWEEP_CELL_BYTES, "%.*s", PLIM_SWEEP_CELL_BYTES - 1, text + start);
            plim_text_clean(ret_line);
            return true;
        }
        length = start;
    }
    return false;
}

void plim_sweep_child_last_line(const struct plim_sweep_child *child, char ret_line[PLIM_SWEEP_CELL_BYTES])
{
    enum { MOST = 1 << 14 };
    static const int files[] = { OUTPUT, LOG };
    bool is_all, is_found = false;
    ret_line[0] = '\0';
    for (size_t i = 0; i < sizeof files / sizeof *files && !is_found; i++) {
        size_t length = 0;
        char *text = read_end(child, files[i], MOST, &length, &is_all);
        is_found = text && last_line(text, length, ret_line);
        plim_free(text);
    }
}

void plim_sweep_child_clear(const struct plim_sweep_child *child, bool keeps_logs)
{
    char path[PLIM_SWEEP_PATH_BYTES + 8];
    struct stat status;
    for (int i = 0; i < N_FILES; i++) {
        name_of(child, i, path);
        if (i == ANSWER || !keeps_logs || (stat(path, &status) == 0 && status.st_size == 0))
            unlink(path);
    }
}
