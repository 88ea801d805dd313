/* SPDX-License-Identifier: MIT */
/*
 * The stack of a Python program.
 *
 * PyTorch releases the interpreter's lock before it allocates. Waiting for it here could deadlock: its holder may want
 * the allocator's lock that we were called under. Python's own answer to that is faulthandler: it writes the stack of a
 * thread from a signal handler, without the lock and without touching an object. So a signal that the program does not
 * use is given to faulthandler.register(), and a thread that allocates sends it to itself.
 */
#include "vgpu/core/python/python.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_DUMP = 32 << 10, MAX_FRAMES = 32, LAST_BYTES = 512 /* for the frames of the program itself */ };

static struct {
    int fd, signal;
    dev_t device;
    ino_t inode;
    struct sigaction action; /* faulthandler's */
} watch;

static atomic_int has_stack;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* --- in the interpreter --- */

/* Real-time signals have no fixed use; take one without a handler. */
static int free_signal(void)
{
    for (int number = SIGRTMAX - 1; number > SIGRTMIN + 4; number--) {
        struct sigaction action;
        if (sigaction(number, NULL, &action) == 0 && !(action.sa_flags & SA_SIGINFO) && action.sa_handler == SIG_DFL)
            return number;
    }
    return 0;
}

static bool make_file(void)
{
    struct stat status;
    watch.fd = memfd_create("plimsoll-stack", MFD_CLOEXEC);
    if (watch.fd < 0 || fstat(watch.fd, &status) < 0)
        return false;
    watch.device = status.st_dev;
    watch.inode = status.st_ino;
    return true;
}

void plim_python_register_stack(void)
{
    watch.signal = free_signal();
    if (!watch.signal || !make_file())
        return;
    struct plim_python_object *module = plim_python.import("faulthandler");
    struct plim_python_object *result =
        module ? plim_python.call_method(module, "register", "iiii", watch.signal, watch.fd, /* all_threads */ 0, 0)
               : NULL;
    plim_python_done_with(result);
    if (result && sigaction(watch.signal, NULL, &watch.action) == 0)
        atomic_store_explicit(&has_stack, 1, memory_order_release);
    else
        close(watch.fd);
    if (module)
        plim_python.release(module);
}

bool plim_python_has_stack(void) { return atomic_load_explicit(&has_stack, memory_order_acquire); }

/* --- reading a stack --- */

/* The file and the signal are still ours. */
static bool is_still_ours(void)
{
    struct sigaction action;
    struct stat status;
    return fstat(watch.fd, &status) == 0 && status.st_dev == watch.device && status.st_ino == watch.inode &&
           sigaction(watch.signal, NULL, &action) == 0 && action.sa_handler == watch.action.sa_handler;
}

/* The handler runs before this returns, in this thread. */
static bool dump(void)
{
    sigset_t ours, before;
    sigemptyset(&ours);
    sigaddset(&ours, watch.signal);
    if (ftruncate(watch.fd, 0) < 0 || lseek(watch.fd, 0, SEEK_SET) < 0 ||
        pthread_sigmask(SIG_UNBLOCK, &ours, &before) != 0)
        return false;
    const bool is_sent = pthread_kill(pthread_self(), watch.signal) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return is_sent;
}

/* The stack as faulthandler writes it. The lock is held. */
static char *read_dump(void)
{
    static char buffer[MAX_DUMP];
    buffer[0] = '\0';
    if (is_still_ours() && dump()) {
        const ssize_t n = pread(watch.fd, buffer, sizeof buffer - 1, 0);
        buffer[n > 0 ? n : 0] = '\0';
    }
    return buffer;
}

struct frame {
    const char *file, *line, *function;
};

/* These frames are in every call of a module. */
static bool is_between(const char *function)
{
    return !strcmp(function, "_call_impl") || !strcmp(function, "_wrapped_call_impl") ||
           !strcmp(function, "decorate_context");
}

/* The bytes of a character in UTF-8. */
static char *put_character(char *to, unsigned long c)
{
    const int n_more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const unsigned char first[] = { 0, 0xc0, 0xe0, 0xf0 };
    *to++ = (char)(first[n_more] | (c >> (6 * n_more)));
    for (int i = n_more - 1; i >= 0; i--)
        *to++ = (char)(0x80 | ((c >> (6 * i)) & 0x3f));
    return to;
}

/* faulthandler writes characters beyond ASCII as \xfc, \u20ac, \U0001f600. UTF-8 is shorter: it is done in place. */
static void unescape(char *text)
{
    char *to = text;
    for (const char *p = text; *p;) {
        const int n = *p != '\\' ? 0 : p[1] == 'x' ? 2 : p[1] == 'u' ? 4 : p[1] == 'U' ? 8 : 0;
        char digits[9] = "", *end = digits;
        if (n)
            snprintf(digits, (size_t)n + 1, "%s", p + 2);
        const unsigned long c = n ? strtoul(digits, &end, 16) : 0;
        if (n && end - digits == n && c >= 0x80 && c <= 0x10ffff) {
            to = put_character(to, c);
            p += 2 + n;
        } else {
            *to++ = *p++;
        }
    }
    *to = '\0';
}

/* The next `  File "a.py", line 12 in f` of a dump, which is cut into words. */
static bool next_frame(char **rest, struct frame *ret_frame)
{
    for (char *line; (line = strsep(rest, "\n"));) {
        char *file = strstr(line, "File \""), *number = strstr(line, "\", line "), *name = strstr(line, " in ");
        if (!file || !number || !name || number < file || name < number)
            continue;
        *number = *name = '\0';
        unescape(file + 6);
        unescape(name + 4);
        *ret_frame = (struct frame){ file + 6, number + 8, name + 4 };
        if (!is_between(ret_frame->function))
            return true;
    }
    return false;
}

/* Of an installed package: the path below the folder of packages. */
static const char *short_path(const char *file)
{
    const char *packages = strstr(file, "/site-packages/");
    packages = packages ? packages : strstr(file, "/dist-packages/");
    return packages ? packages + 1 : file;
}

enum owner { OWNER_USER, OWNER_PACKAGE, OWNER_TORCH, OWNER_PYTHON, OWNER_NOBODY /* exec(): the caller says where */ };

/* A script in a folder of programs (torchrun, tune) was installed as well. */
static bool is_installed_script(const struct frame *frame)
{
    const char *slash = strrchr(frame->file, '/');
    return slash && slash - frame->file >= 4 && !strncmp(slash - 4, "/bin", 4) && !strcmp(frame->function, "<module>");
}

static enum owner owner_of(const struct frame *frame)
{
    const char *packages = strstr(frame->file, "/site-packages/");
    packages = packages ? packages : strstr(frame->file, "/dist-packages/");
    if (packages)
        return !strncmp(packages + strlen("/site-packages/"), "torch/", 6) ? OWNER_TORCH : OWNER_PACKAGE;
    return strstr(frame->file, "/lib/python3") || !strncmp(frame->file, "<frozen", 7) ? OWNER_PYTHON
           : frame->file[0] == '<'                                                    ? OWNER_NOBODY
           : is_installed_script(frame)                                               ? OWNER_PACKAGE
                                                                                      : OWNER_USER;
}

/* --- a stack --- */

struct lines {
    char *text;
    size_t length, size;
};

/* False: there is no room. */
static bool put_frame(struct lines *lines, const struct frame *frame)
{
    const size_t left = lines->size - lines->length;
    const int n = snprintf(lines->text + lines->length, left, "%s:%s %s\n", short_path(frame->file), frame->line,
                           frame->function);
    if (n < 0 || (size_t)n >= left) {
        lines->text[lines->length] = '\0';
        return false;
    }
    lines->length += (size_t)n;
    return true;
}

/* Of the frames outside of those that had room, the one that shows whose program it is. */
static void put_program(struct lines *lines, char *rest, struct frame frame)
{
    for (struct frame inside = frame; next_frame(&rest, &frame); inside = frame) {
        const bool is_script = is_installed_script(&frame);
        const enum owner owner = owner_of(&frame);
        if (is_script)
            put_frame(lines, &inside);
        if (is_script || owner == OWNER_USER || (owner == OWNER_PACKAGE && !strcmp(frame.function, "<module>"))) {
            put_frame(lines, &frame);
            return;
        }
    }
}

void plim_python_stack(char *ret_text, size_t size)
{
    struct lines lines = { ret_text, 0, size - LAST_BYTES };
    struct frame frame = { 0 };
    bool is_users = false;
    memset(ret_text, 0, size);
    if (!plim_python_has_stack() || pthread_mutex_trylock(&lock) != 0)
        return;
    char *rest = read_dump();
    bool has_frame = next_frame(&rest, &frame);
    for (int n = 0; n < MAX_FRAMES && has_frame && put_frame(&lines, &frame); n++) {
        is_users = is_users || owner_of(&frame) == OWNER_USER;
        has_frame = n + 1 < MAX_FRAMES && next_frame(&rest, &frame);
    }
    lines.size = size;
    if (!is_users && rest)
        put_program(&lines, rest, frame);
    pthread_mutex_unlock(&lock);
}

/* --- the frames that show how a value is used --- */

static void keep(char text[PLIM_LEDGER_FRAME_BYTES], const struct frame *frame)
{
    const int n = snprintf(text, PLIM_LEDGER_FRAME_BYTES, "%s:%s %s", frame->file, frame->line, frame->function);
    if (n < 0 || n >= PLIM_LEDGER_FRAME_BYTES) /* a part of a path would be another file's */
        snprintf(text, PLIM_LEDGER_FRAME_BYTES, "...:%.12s %.100s", frame->line, frame->function);
}

void plim_python_frames(struct plim_ledger_frames *ret_frames)
{
    struct frame frame = { 0 };
    enum owner owner = OWNER_PYTHON;
    memset(ret_frames, 0, sizeof *ret_frames);
    if (!plim_python_has_stack())
        return;
    pthread_mutex_lock(&lock);
    for (char *rest = read_dump(); !ret_frames->user[0] && next_frame(&rest, &frame);) {
        owner = owner_of(&frame);
        if (!ret_frames->innermost[0])
            keep(ret_frames->innermost, &frame);
        if (owner == OWNER_PACKAGE && !ret_frames->package[0])
            keep(ret_frames->package, &frame);
        else if (owner == OWNER_USER)
            keep(ret_frames->user, &frame);
    }
    if (owner == OWNER_NOBODY) /* the outermost: `python -c` */
        keep(ret_frames->user, &frame);
    pthread_mutex_unlock(&lock);
}
