/* SPDX-License-Identifier: MIT */
/*
 * A preload for tests: the n-th call of one kind fails in the process that loads it first, and in no other. A rehearsed
 * program inherits the preload, which then passes everything on; kind `exec` is counted in a child that has not yet
 * become another program.
 *
 *     PLIM_FAULT=KIND:N:ERROR    the N-th call fails with this errno, or is `short`; N+ means the N-th and all after it
 *     PLIM_FAULT_REPORT=FILE     a struct report of this file counts the calls; it outlives the process
 *
 * The streams of libc do not call the functions that a preload replaces. So streams are made anew here, with functions
 * that do: stdout and stderr at the start, others when they are opened.
 */
#undef _FILE_OFFSET_BITS /* both forms of a function are replaced: open() and open64() */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Calls on files of /proc are a kind of their own, and those that write to stderr: a rehearsal makes hundreds of them.
 */
enum kind {
    KIND_OPEN,
    KIND_READ,
    KIND_WRITE,
    KIND_CLOSE,
    KIND_STAT,
    KIND_MMAP,
    KIND_FORK,
    KIND_WAIT,
    KIND_EXEC,
    KIND_PROC,
    KIND_STDERR,
    N_KINDS
};

static const char *const kind_names[N_KINDS] = { "open", "read", "write", "close", "stat",  "mmap",
                                                 "fork", "wait", "exec",  "proc",  "stderr" };

enum { SHORT = -1, NAME_BYTES = 32, PATH_BYTES = 1024, MADE_BYTES = 1 << 16, MAX_FDS = 1024 };

/* As run.py reads it. */
static struct report {
    int32_t owner;   /* the process whose calls fail */
    int32_t n_hits;  /* calls that failed */
    int32_t hit_fd;  /* of the first of them; -1: none */
    uint32_t n_made; /* bytes in `made` */
    uint64_t n_calls[N_KINDS];
    char hit_call[NAME_BYTES], hit_path[PATH_BYTES];
    char made[MADE_BYTES]; /* paths that were created, each with a zero behind it */
} * report;

static int fault_kind = -1, fault_error;
static uint64_t fault_at;
static bool is_lasting;
static bool is_proc_fd[MAX_FDS];

/* --- counting --- */

#define REAL(name) (__extension__(__typeof__(&(name))) real_of(#name))

static void *real_of(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (!found)
        _exit(99);
    return found;
}

static bool is_counted(enum kind kind)
{
    if (!report)
        return false;
    const bool is_owner = (int32_t)syscall(SYS_getpid) == report->owner;
    return kind == KIND_EXEC ? !is_owner && (int32_t)syscall(SYS_getppid) == report->owner : is_owner;
}

static void note_hit(const char *call, int fd, const char *path)
{
    char link[64];
    if (report->n_hits++)
        return;
    report->hit_fd = fd;
    strncpy(report->hit_call, call, NAME_BYTES - 1);
    if (path) {
        strncpy(report->hit_path, path, PATH_BYTES - 1);
    } else if (fd >= 0) {
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        if (syscall(SYS_readlink, link, report->hit_path, PATH_BYTES - 1) < 0)
            report->hit_path[0] = '\0';
    }
}

static enum kind kind_of(enum kind kind, int fd, const char *path)
{
    const bool is_proc = path ? !strncmp(path, "/proc", 5) : fd >= 0 && fd < MAX_FDS && is_proc_fd[fd];
    if (kind == KIND_WRITE && fd == STDERR_FILENO)
        return KIND_STDERR;
    return is_proc && (kind == KIND_OPEN || kind == KIND_READ || kind == KIND_CLOSE) ? KIND_PROC : kind;
}

static bool is_chosen(enum kind kind, const char *call, bool is_opening, uint64_t nth)
{
    if (is_lasting && fault_kind == KIND_OPEN && is_opening) /* no descriptor is left for anything */
        return report->n_calls[KIND_OPEN] >= fault_at;
    if (is_lasting && !strncmp(call, "rename", 6)) /* it takes no room on a full disk */
        return false;
    return (int)kind == fault_kind && (nth == fault_at || (nth > fault_at && is_lasting));
}

/* Whether this call has to fail; errno is set then. Sets *ret_is_short when only a part of it may be done. */
static bool fails(enum kind kind, const char *call, int fd, const char *path, bool *ret_is_short)
{
    if (!is_counted(kind))
        return false;
    const bool is_opening = kind == KIND_OPEN;
    kind = kind_of(kind, fd, path);
    if (!is_chosen(kind, call, is_opening, ++report->n_calls[kind]))
        return false;
    if (fault_error == SHORT) {
        if (ret_is_short) {
            note_hit(call, fd, path);
            *ret_is_short = true;
        }
        return false;
    }
    note_hit(call, fd, path);
    errno = fault_error;
    return true;
}

static void note_proc(int fd, const char *path)
{
    if (fd >= 0 && fd < MAX_FDS)
        is_proc_fd[fd] = !strncmp(path, "/proc", 5);
}

static void note_made(const char *path)
{
    char whole[PATH_BYTES * 2];
    if (!is_counted(KIND_OPEN) || !strncmp(path, "/proc/", 6))
        return;
    ssize_t n = path[0] == '/' ? 0 : syscall(SYS_readlink, "/proc/self/cwd", whole, PATH_BYTES);
    n = n < 0 ? 0 : n;
    n += snprintf(whole + n, sizeof whole - (size_t)n, "%s%s", path[0] == '/' ? "" : "/", path);
    if (report->n_made + (size_t)n + 1 > MADE_BYTES)
        _exit(98);
    memcpy(report->made + report->n_made, whole, (size_t)n + 1);
    report->n_made += (uint32_t)n + 1;
}

/* --- opening --- */

static int open_at(const char *call, int folder, const char *path, int flags, unsigned mode)
{
    struct stat status;
    if (fails(KIND_OPEN, call, -1, path, NULL))
        return -1;
    const bool makes = flags & O_CREAT && syscall(SYS_newfstatat, folder, path, &status, AT_SYMLINK_NOFOLLOW) < 0;
    const int fd = (int)syscall(SYS_openat, folder, path, flags, mode);
    if (fd >= 0 && makes)
        note_made(path);
    note_proc(fd, path);
    return fd;
}

static unsigned mode_after(int flags, va_list arguments)
{
    return flags & (O_CREAT | __O_TMPFILE) ? va_arg(arguments, unsigned) : 0;
}

#define OPEN(name)                                                                                                     \
    int name(const char *path, int flags, ...)                                                                         \
    {                                                                                                                  \
        va_list arguments;                                                                                             \
        va_start(arguments, flags);                                                                                    \
        const unsigned mode = mode_after(flags, arguments);                                                            \
        va_end(arguments);                                                                                             \
        return open_at("open", AT_FDCWD, path, flags, mode);                                                           \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                                                                   \
    int name(int folder, const char *path, int flags, ...)                                                             \
    {                                                                                                                  \
        va_list arguments;                                                                                             \
        va_start(arguments, flags);                                                                                    \
        const unsigned mode = mode_after(flags, arguments);                                                            \
        va_end(arguments);                                                                                             \
        return open_at("openat", folder, path, flags, mode);                                                           \
    }
OPENAT(openat)
OPENAT(openat64)

int memfd_create(const char *name, unsigned flags)
{
    return fails(KIND_OPEN, "memfd_create", -1, name, NULL) ? -1 : (int)syscall(SYS_memfd_create, name, flags);
}

int pipe2(int ends[2], int flags)
{
    return fails(KIND_OPEN, "pipe2", -1, "pipe", NULL) ? -1 : (int)syscall(SYS_pipe2, ends, flags);
}

int pidfd_open(pid_t pid, unsigned flags);
int pidfd_open(pid_t pid, unsigned flags)
{
    return fails(KIND_OPEN, "pidfd_open", -1, "pidfd", NULL) ? -1 : (int)syscall(SYS_pidfd_open, pid, flags);
}

static char library_error[PATH_BYTES];

/* With the loader's words for it. */
void *dlopen(const char *path, int flags)
{
    library_error[0] = '\0';
    if (!fails(KIND_OPEN, "dlopen", -1, path, NULL))
        return REAL(dlopen)(path, flags);
    snprintf(library_error, sizeof library_error, "%s: cannot open shared object file: %s", path, strerror(errno));
    return NULL;
}

char *dlerror(void) { return library_error[0] ? library_error : REAL(dlerror)(); }

DIR *opendir(const char *path)
{
    DIR *folder = fails(KIND_OPEN, "opendir", -1, path, NULL) ? NULL : REAL(opendir)(path);
    if (folder)
        note_proc(dirfd(folder), path);
    return folder;
}

int scandir64(const char *restrict path, struct dirent64 ***restrict list, int (*filter)(const struct dirent64 *),
              int (*compare)(const struct dirent64 **, const struct dirent64 **))
{
    if (fails(KIND_OPEN, "scandir", -1, path, NULL) || fails(KIND_READ, "scandir", -1, path, NULL))
        return -1;
    return REAL(scandir64)(path, list, filter, compare);
}

int mkdir(const char *path, mode_t mode)
{
    if (fails(KIND_WRITE, "mkdir", -1, path, NULL))
        return -1;
    const int result = (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
    if (result == 0)
        note_made(path);
    return result;
}

/* --- reading --- */

static size_t part_of(size_t n, bool is_short) { return is_short && n > 1 ? n / 2 : n; }

ssize_t read(int fd, void *to, size_t n)
{
    bool is_short = false;
    return fails(KIND_READ, "read", fd, NULL, &is_short) ? -1 : syscall(SYS_read, fd, to, part_of(n, is_short));
}

ssize_t pread64(int fd, void *to, size_t n, off64_t at)
{
    bool is_short = false;
    return fails(KIND_READ, "pread", fd, NULL, &is_short) ? -1 : syscall(SYS_pread64, fd, to, part_of(n, is_short), at);
}

ssize_t pread(int fd, void *to, size_t n, off_t at) { return pread64(fd, to, n, at); }

struct dirent64 *readdir64(DIR *folder)
{
    return fails(KIND_READ, "readdir", dirfd(folder), NULL, NULL) ? NULL : REAL(readdir64)(folder);
}

struct dirent *readdir(DIR *folder)
{
    return fails(KIND_READ, "readdir", dirfd(folder), NULL, NULL) ? NULL : REAL(readdir)(folder);
}

/* --- writing --- */

ssize_t write(int fd, const void *from, size_t n)
{
    bool is_short = false;
    return fails(KIND_WRITE, "write", fd, NULL, &is_short) ? -1 : syscall(SYS_write, fd, from, part_of(n, is_short));
}

ssize_t pwrite64(int fd, const void *from, size_t n, off64_t at)
{
    bool is_short = false;
    return fails(KIND_WRITE, "pwrite", fd, NULL, &is_short) ? -1
                                                            : syscall(SYS_pwrite64, fd, from, part_of(n, is_short), at);
}

ssize_t pwrite(int fd, const void *from, size_t n, off_t at) { return pwrite64(fd, from, n, at); }

int ftruncate64(int fd, off64_t size)
{
    return fails(KIND_WRITE, "ftruncate", fd, NULL, NULL) ? -1 : (int)syscall(SYS_ftruncate, fd, size);
}

int ftruncate(int fd, off_t size) { return ftruncate64(fd, size); }

int fsync(int fd) { return fails(KIND_WRITE, "fsync", fd, NULL, NULL) ? -1 : (int)syscall(SYS_fsync, fd); }

int rename(const char *from, const char *to)
{
    return fails(KIND_WRITE, "rename", -1, to, NULL) ? -1 : (int)syscall(SYS_rename, from, to);
}

int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags)
{
    if (fails(KIND_WRITE, "renameat2", -1, to, NULL))
        return -1;
    return (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, flags);
}

int link(const char *from, const char *to)
{
    return fails(KIND_WRITE, "link", -1, to, NULL) ? -1 : (int)syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
}

/* The descriptor is closed all the same, as the kernel does it. */
int close(int fd)
{
    const bool is_failed = fails(KIND_CLOSE, "close", fd, NULL, NULL);
    note_proc(fd, "");
    const int result = (int)syscall(SYS_close, fd);
    if (is_failed)
        errno = fault_error;
    return is_failed ? -1 : result;
}

/* --- looking --- */

#define STAT(name, type, call, ...)                                                                                    \
    {                                                                                                                  \
        return fails(KIND_STAT, name, -1, path, NULL) ? -1 : (int)syscall(call, __VA_ARGS__);                          \
    }
int stat64(const char *restrict path, struct stat64 *restrict status)
    STAT("stat", stat64, SYS_newfstatat, AT_FDCWD, path, status, 0) int stat(const char *restrict path,
                                                                             struct stat *restrict status)
        STAT("stat", stat, SYS_newfstatat, AT_FDCWD, path, status, 0) int lstat64(const char *restrict path,
                                                                                  struct stat64 *restrict status)
            STAT("lstat", stat64, SYS_newfstatat, AT_FDCWD, path, status,
                 AT_SYMLINK_NOFOLLOW) int lstat(const char *restrict path, struct stat *restrict status)
                STAT("lstat", stat, SYS_newfstatat, AT_FDCWD, path, status,
                     AT_SYMLINK_NOFOLLOW) int access(const char *path, int mode)
                    STAT("access", access, SYS_faccessat, AT_FDCWD, path, mode)

                        int fstat64(int fd, struct stat64 *status)
{
    return fails(KIND_STAT, "fstat", fd, NULL, NULL) ? -1 : (int)syscall(SYS_newfstatat, fd, "", status, AT_EMPTY_PATH);
}

int fstat(int fd, struct stat *status)
{
    return fails(KIND_STAT, "fstat", fd, NULL, NULL) ? -1 : (int)syscall(SYS_newfstatat, fd, "", status, AT_EMPTY_PATH);
}

ssize_t readlink(const char *restrict path, char *restrict to, size_t n)
{
    return fails(KIND_STAT, "readlink", -1, path, NULL) ? -1 : syscall(SYS_readlinkat, AT_FDCWD, path, to, n);
}

char *realpath(const char *restrict path, char *restrict to)
{
    return fails(KIND_STAT, "realpath", -1, path, NULL) ? NULL : REAL(realpath)(path, to);
}

/* --- memory and processes --- */

void *mmap64(void *at, size_t n, int protection, int flags, int fd, off64_t offset)
{
    if (fails(KIND_MMAP, "mmap", fd, NULL, NULL))
        return MAP_FAILED;
    return (void *)syscall(SYS_mmap, at, n, protection, flags, fd, offset); /* NOLINT(performance-no-int-to-ptr) */
}

void *mmap(void *at, size_t n, int protection, int flags, int fd, off_t offset)
{
    return mmap64(at, n, protection, flags, fd, offset);
}

pid_t fork(void) { return fails(KIND_FORK, "fork", -1, "fork", NULL) ? -1 : REAL(fork)(); }

int waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
    return fails(KIND_WAIT, "waitid", -1, "wait", NULL) ? -1 : (int)syscall(SYS_waitid, type, id, info, options, NULL);
}

pid_t wait4(pid_t pid, int *status, int options, struct rusage *usage)
{
    return fails(KIND_WAIT, "wait4", -1, "wait", NULL) ? -1 : (pid_t)syscall(SYS_wait4, pid, status, options, usage);
}

pid_t waitpid(pid_t pid, int *status, int options)
{
    return fails(KIND_WAIT, "waitpid", -1, "wait", NULL) ? -1 : (pid_t)syscall(SYS_wait4, pid, status, options, NULL);
}

int poll(struct pollfd *fds, nfds_t n, int ms)
{
    return fails(KIND_WAIT, "poll", -1, "wait", NULL) ? -1 : REAL(poll)(fds, n, ms);
}

int dup2(int from, int to) { return fails(KIND_EXEC, "dup2", from, NULL, NULL) ? -1 : REAL(dup2)(from, to); }

int execve(const char *path, char *const arguments[], char *const environment[])
{
    return fails(KIND_EXEC, "execve", -1, path, NULL) ? -1 : (int)syscall(SYS_execve, path, arguments, environment);
}

/* --- streams --- */

enum { MAX_STREAMS = 64 };

static struct stream {
    FILE *file;
    int fd;
} streams[MAX_STREAMS];

static ssize_t stream_read(void *cookie, char *to, size_t n) { return read(((struct stream *)cookie)->fd, to, n); }

/* As libc's own: until all is written, or an error, which is 0 here. */
static ssize_t stream_write(void *cookie, const char *from, size_t n)
{
    size_t done = 0;
    while (done < n) {
        const ssize_t written = write(((struct stream *)cookie)->fd, from + done, n - done);
        if (written < 0)
            return 0;
        done += (size_t)written;
    }
    return (ssize_t)done;
}

static int stream_close(void *cookie)
{
    struct stream *stream = cookie;
    stream->file = NULL;
    return close(stream->fd);
}

static FILE *stream_of(int fd, const char *mode)
{
    const cookie_io_functions_t functions = { stream_read, stream_write, NULL, stream_close };
    struct stream *stream = NULL;
    for (int i = 0; i < MAX_STREAMS && !stream; i++)
        stream = streams[i].file ? NULL : &streams[i];
    if (!stream)
        _exit(97);
    *stream = (struct stream){ fopencookie(stream, mode, functions), fd };
    return stream->file;
}

static int flags_of(const char *mode)
{
    int flags = strchr(mode, '+') ? O_RDWR : mode[0] == 'r' ? O_RDONLY : O_WRONLY;
    flags |= mode[0] == 'w' ? O_CREAT | O_TRUNC : mode[0] == 'a' ? O_CREAT | O_APPEND : 0;
    flags |= strchr(mode, 'e') ? O_CLOEXEC : 0;
    return flags | (strchr(mode, 'x') ? O_EXCL : 0);
}

FILE *fopen64(const char *restrict path, const char *restrict mode)
{
    if (!is_counted(KIND_OPEN))
        return REAL(fopen64)(path, mode);
    const int fd = open_at("fopen", AT_FDCWD, path, flags_of(mode), 0666);
    return fd < 0 ? NULL : stream_of(fd, mode);
}

FILE *fopen(const char *restrict path, const char *restrict mode) { return fopen64(path, mode); }

FILE *fdopen(int fd, const char *mode) { return is_counted(KIND_OPEN) ? stream_of(fd, mode) : REAL(fdopen)(fd, mode); }

int fileno(FILE *file)
{
    for (int i = 0; i < MAX_STREAMS; i++)
        if (streams[i].file == file)
            return streams[i].fd;
    return REAL(fileno)(file);
}

/* --- the start --- */

static void read_fault(const char *text)
{
    char kind[NAME_BYTES], number[NAME_BYTES], error[NAME_BYTES];
    if (!text || sscanf(text, "%31[^:]:%31[^:]:%31s", kind, number, error) != 3)
        return;
    for (int i = 0; i < N_KINDS; i++)
        if (!strcmp(kind, kind_names[i]))
            fault_kind = i;
    fault_at = strtoull(number, NULL, 10);
    is_lasting = strchr(number, '+') != NULL;
    fault_error = !strcmp(error, "short") ? SHORT : (int)strtol(error, NULL, 10);
}

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("PLIM_FAULT_REPORT");
    const int fd = path ? (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0) : -1;
    if (fd < 0)
        return;
    struct report *found = mmap(NULL, sizeof *report, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    syscall(SYS_close, fd);
    if (found == MAP_FAILED || found->owner) /* this process was started by the one that is tested */
        return;
    read_fault(getenv("PLIM_FAULT"));
    found->owner = (int32_t)syscall(SYS_getpid);
    found->hit_fd = -1;
    report = found;
    stdout = stream_of(STDOUT_FILENO, "w");
    stderr = stream_of(STDERR_FILENO, "w");
    setvbuf(stderr, NULL, _IONBF, 0);
}
