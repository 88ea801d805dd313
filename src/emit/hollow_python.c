/* SPDX-License-Identifier: MIT */
#include "emit/hollow_python.h"

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "model/safetensors.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern const char plim_hollow_script[];

enum { LENGTH_BYTES = 8, FIRST_ROOM = 64 << 10, TAIL_BYTES = 4096, LOOK_MS = 50 };
/* A pipe holds 64 KiB, a privileged user's may hold 1 MiB (pipe(7)); a message is read in parts of TAIL_BYTES. */
enum { MAX_LAST_READS = (1 << 20) / TAIL_BYTES };
enum { MAX_ANSWER_BYTES = 2 * LENGTH_BYTES + PLIM_MAX_SAFETENSORS_HEADER_BYTES };

/* What the child writes: all of its answer, and the end of its messages. */
struct child {
    const struct plim_hollow_python *python;
    struct plim_error *err;
    pid_t pid;
    int answer_fd, message_fd;
    char *answer;
    size_t n, room;
    char tail[2 * TAIL_BYTES];
    size_t n_tail;
};

/* --- starting it --- */

/* A file that the child reads: an argument would show the whole script in lists of processes. */
static int open_script(void)
{
    const int fd = memfd_create("plimsoll-hollow", 0);
    const char *rest = plim_hollow_script;
    size_t left = strlen(plim_hollow_script);
    while (fd >= 0 && left > 0) {
        const ssize_t n = write(fd, rest, left);
        if (n < 0 && errno != EINTR)
            return -1;
        rest += n > 0 ? n : 0;
        left -= n > 0 ? (size_t)n : 0;
    }
    return fd;
}

static void become(const struct plim_hollow_python *python, const char *config, int answer_fd, int message_fd)
{
    char script[40];
    const int null_fd = open("/dev/null", O_RDONLY), script_fd = open_script();
    snprintf(script, sizeof script, "/proc/self/fd/%d", script_fd);
    char *const arguments[] = { (char *)python->interpreter, script, (char *)config, (char *)python->libraries, NULL };
    if (null_fd >= 0 && script_fd >= 0 && dup2(null_fd, 0) == 0 && dup2(answer_fd, 1) == 1 && dup2(message_fd, 2) == 2)
        execvp(python->interpreter, arguments);
    dprintf(2, "plimsoll: it cannot be run: %s\n", strerror(errno));
    _exit(126);
}

static int start(struct child *c, const char *config)
{
    int answer[2], message[2];
    if (pipe2(answer, O_CLOEXEC) < 0)
        return plim_fail_errno(c->err, c->python->interpreter, "run", errno);
    if (pipe2(message, O_CLOEXEC) < 0) {
        const int error = errno;
        close(answer[0]);
        close(answer[1]);
        return plim_fail_errno(c->err, c->python->interpreter, "run", error);
    }
    c->pid = fork();
    const int error = errno;
    if (c->pid == 0)
        become(c->python, config, answer[1], message[1]);
    close(answer[1]);
    close(message[1]);
    c->answer_fd = answer[0];
    c->message_fd = message[0];
    return c->pid < 0 ? plim_fail_errno(c->err, c->python->interpreter, "run", error) : 0;
}

/* --- reading it --- */

static int make_room(struct child *c)
{
    if (c->n < c->room)
        return 0;
    if (c->room >= MAX_ANSWER_BYTES)
        return plim_fail(c->err, PLIM_E_TOO_BIG, PLIM_NO_OFFSET, "%.64s: a header of more than %d bytes",
                         c->python->interpreter, PLIM_MAX_SAFETENSORS_HEADER_BYTES);
    const size_t room = c->room ? 2 * c->room : FIRST_ROOM;
    char *answer = plim_realloc(c->answer, room, 1);
    if (!answer)
        return plim_fail(c->err, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    c->answer = answer;
    c->room = room;
    return 0;
}

/* What is read with n bytes of *fd: 0 at its end, which closes it. */
static int note_read(struct child *c, int *fd, ssize_t n, int error)
{
    if (n < 0)
        return plim_fail(c->err, PLIM_E_IO, PLIM_NO_OFFSET,
                         error == EINTR ? "interrupted; nothing was written" : "cannot read: %s", strerror(error));
    if (n == 0) {
        close(*fd);
        *fd = -1;
    }
    return 0;
}

static int read_answer(struct child *c)
{
    const int result = make_room(c);
    if (result < 0)
        return result;
    const ssize_t n = read(c->answer_fd, c->answer + c->n, c->room - c->n);
    const int error = errno;
    c->n += n > 0 ? (size_t)n : 0;
    return note_read(c, &c->answer_fd, n, error);
}

static int read_message(struct child *c)
{
    if (c->n_tail > TAIL_BYTES) {
        memmove(c->tail, c->tail + (c->n_tail - TAIL_BYTES), TAIL_BYTES);
        c->n_tail = TAIL_BYTES;
    }
    const ssize_t n = read(c->message_fd, c->tail + c->n_tail, sizeof c->tail - 1 - c->n_tail);
    const int error = errno;
    c->n_tail += n > 0 ? (size_t)n : 0;
    return note_read(c, &c->message_fd, n, error);
}

static bool has_ended(const struct child *c)
{
    siginfo_t info = { 0 };
    return waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid;
}

/*
 * Until both ends are closed, or a signal comes. What the child started may hold them, and write, for as long as it
 * likes: once the child has ended, what it wrote is there, and that is all that is read.
 */
static int read_all(struct child *c)
{
    int result = 0, n_more = MAX_LAST_READS;
    while (result == 0 && (c->answer_fd >= 0 || c->message_fd >= 0)) {
        struct pollfd fds[] = { { c->answer_fd, POLLIN, 0 }, { c->message_fd, POLLIN, 0 } };
        const bool is_over = has_ended(c);
        const int n = poll(fds, 2, is_over ? 0 : LOOK_MS);
        if (n < 0)
            return note_read(c, NULL, -1, errno);
        if (is_over && (n == 0 || n_more-- == 0))
            break;
        if (fds[0].revents)
            result = read_answer(c);
        if (fds[1].revents && result == 0)
            result = read_message(c);
    }
    return result;
}

/* The child ends with us, and by a signal that we get while it lingers. Returns its exit status; -1: of a signal. */
static int end(struct child *c, bool is_broken)
{
    int status = 0;
    if (is_broken)
        kill(c->pid, SIGKILL);
    if (c->answer_fd >= 0)
        close(c->answer_fd);
    if (c->message_fd >= 0)
        close(c->message_fd);
    while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
        kill(c->pid, SIGKILL);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* --- what it says --- */

/* The last line with our mark. */
static void find_message(struct child *c, char *ret_text, size_t size)
{
    static const char mark[] = "plimsoll: ";
    const char *found = NULL;
    c->tail[c->n_tail] = '\0';
    for (size_t i = 0; i < c->n_tail; i++)
        c->tail[i] = (char)(c->tail[i] ? c->tail[i] : '?');
    for (const char *p = c->tail; (p = strstr(p, mark)); p++)
        found = p == c->tail || p[-1] == '\n' ? p + strlen(mark) : found;
    snprintf(ret_text, size, "%.*s", found ? (int)strcspn(found, "\n") : 0, found ? found : "");
}

static int fail(struct child *c, int status)
{
    char reason[120];
    find_message(c, reason, sizeof reason);
    int code = plim_fail(c->err, PLIM_E_UNSUPPORTED, PLIM_NO_OFFSET, "%.48s: %s", c->python->interpreter,
                         reason[0]    ? reason
                         : status < 0 ? "a signal ended it"
                                      : "it gave no answer");
    if (strstr(reason, "No module named"))
        plim_error_hint(c->err, "the pip of that interpreter brings both: pip install torch transformers");
    else if (strstr(reason, "does not know"))
        plim_error_hint(c->err, "a newer one may: pip install --upgrade transformers");
    return code;
}

static uint64_t number_at(const char *bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < LENGTH_BYTES; i++)
        value |= (uint64_t)(unsigned char)bytes[i] << 8 * i;
    return value;
}

/* Whatever came is a header, and nothing follows it. */
static int check(struct child *c, struct plim_checkpoint_head *head)
{
    struct plim_model *model = plim_model_new("");
    const size_t n = c->n > LENGTH_BYTES ? c->n - LENGTH_BYTES : 0;
    if (!model)
        return plim_fail(c->err, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    head->file_bytes = n ? number_at(c->answer) : 0;
    if (n)
        memmove(c->answer, c->answer + LENGTH_BYTES, n);
    int result = plim_safetensors_read(model, plim_cursor(c->answer, n), head->file_bytes, c->err);
    if (result == 0 && plim_model_shard(model, 0)->data_at != n)
        result = plim_fail(c->err, PLIM_E_CORRUPT, PLIM_NO_OFFSET, "something follows the header");
    if (result == 0 && plim_model_tensor_bytes(model) == 0)
        result = plim_fail(c->err, PLIM_E_UNSUPPORTED, PLIM_NO_OFFSET, "the model has no tensors");
    if (result < 0)
        plim_error_where(c->err, c->python->interpreter);
    head->bytes = c->answer;
    head->n_bytes = n;
    c->answer = NULL;
    plim_model_free(model);
    return result;
}

int plim_hollow_python(const struct plim_hollow_python *python, const char *config,
                       struct plim_checkpoint_head *ret_head, char ret_maker[PLIM_HOLLOW_MAKER],
                       struct plim_error *reterr)
{
    struct child c = { .python = python, .err = reterr, .answer_fd = -1, .message_fd = -1 };
    *ret_head = (struct plim_checkpoint_head){ 0 };
    int result = start(&c, config);
    if (result < 0)
        return result;
    result = read_all(&c);
    const int status = end(&c, result < 0);
    if (result == 0 && status != 0)
        result = fail(&c, status);
    if (result == 0)
        result = check(&c, ret_head);
    find_message(&c, ret_maker, PLIM_HOLLOW_MAKER);
    plim_free(c.answer);
    return result;
}
