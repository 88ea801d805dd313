/* SPDX-License-Identifier: MIT */
/* Files, folders and clocks by the calls of POSIX.1-2008 that Linux, macOS and WASI have in common. */
#include "base/system.h"
#include "base/system_names.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* --- files --- */

static int fill_status(const struct stat *from, struct plim_file_status *ret_status)
{
    const mode_t mode = from->st_mode;
    *ret_status = (struct plim_file_status){
        .kind = S_ISREG(mode)    ? PLIM_KIND_FILE
                : S_ISDIR(mode)  ? PLIM_KIND_FOLDER
                : S_ISFIFO(mode) ? PLIM_KIND_PIPE
                : S_ISSOCK(mode) ? PLIM_KIND_SOCKET
                : S_ISLNK(mode)  ? PLIM_KIND_LINK
                                 : PLIM_KIND_DEVICE,
        .bytes = (uint64_t)from->st_size,
        .volume = (uint64_t)from->st_dev,
        .number = (uint64_t)from->st_ino,
        .written_unix_s = (int64_t)from->st_mtime,
    };
    return 0;
}

int plim_system_open(const char *path, enum plim_opening opening, int *ret_file)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | (opening == PLIM_OPEN_NOW ? O_NONBLOCK : 0));
    if (fd < 0)
        return errno;
    *ret_file = fd;
    return 0;
}

void plim_system_close(int file) { close(file); }

int plim_system_status(int file, struct plim_file_status *ret_status)
{
    struct stat status;
    return fstat(file, &status) < 0 ? errno : fill_status(&status, ret_status);
}

int plim_system_look(const char *path, bool follows_links, struct plim_file_status *ret_status)
{
    struct stat status;
    const int result = follows_links ? stat(path, &status) : lstat(path, &status);
    return result < 0 ? errno : fill_status(&status, ret_status);
}

int plim_system_link(const char *path, char *ret_target, size_t size)
{
    const ssize_t n = readlink(path, ret_target, size - 1);
    if (n < 0)
        return errno;
    ret_target[n] = '\0';
    return 0;
}

int plim_system_read(int file, void *buffer, size_t n, size_t *ret_n)
{
    ssize_t got;
    do
        got = read(file, buffer, n);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return errno;
    *ret_n = (size_t)got;
    return 0;
}

int plim_system_read_at(int file, void *buffer, size_t n, uint64_t at, size_t *ret_n)
{
    ssize_t got;
    do
        got = pread(file, buffer, n, (off_t)at);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return errno;
    *ret_n = (size_t)got;
    return 0;
}

int plim_system_place(int file, uint64_t *ret_at)
{
    const off_t at = lseek(file, 0, SEEK_CUR);
    if (at < 0)
        return errno;
    *ret_at = (uint64_t)at;
    return 0;
}

int plim_system_move(int file, uint64_t at) { return lseek(file, (off_t)at, SEEK_SET) < 0 ? errno : 0; }

bool plim_system_wait(int file, int ms)
{
    struct pollfd wait = { .fd = file, .events = POLLIN };
    return poll(&wait, 1, ms) != 0;
}

bool plim_system_is_terminal(int file) { return isatty(file); }

/* --- folders --- */

int plim_system_list(const char *folder, struct plim_names *ret_names)
{
    *ret_names = (struct plim_names){ 0 };
    DIR *open_folder = opendir(folder);
    if (!open_folder)
        return errno;
    int result = 0;
    errno = 0;
    for (const struct dirent *entry; result == 0 && (entry = readdir(open_folder)) != NULL; errno = 0)
        result = plim_names_add(ret_names, entry->d_name);
    result = result ? result : errno;
    closedir(open_folder);
    plim_names_sort(ret_names);
    if (result)
        plim_names_done(ret_names);
    return result;
}

int plim_system_visit_links(const char *folder, bool (*visit)(void *context, const char *name, const char *target),
                            void *context)
{
    DIR *open_folder = opendir(folder);
    if (!open_folder)
        return errno;
    char target[4096];
    bool goes_on = true;
    errno = 0;
    for (const struct dirent *entry; goes_on && (entry = readdir(open_folder)) != NULL; errno = 0) {
        const ssize_t n = readlinkat(dirfd(open_folder), entry->d_name, target, sizeof target - 1);
        if (n < 0)
            continue;
        target[n] = '\0';
        goes_on = visit(context, entry->d_name, target);
    }
    const int result = goes_on ? errno : 0;
    closedir(open_folder);
    return result;
}

/* --- time --- */

uint64_t plim_system_now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

int64_t plim_system_wall_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void plim_system_sleep_ms(unsigned ms)
{
    struct timespec time = { .tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000 };
    nanosleep(&time, NULL); /* a signal may end it early: callers only slow down a loop */
}
