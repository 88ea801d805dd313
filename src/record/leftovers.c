/* SPDX-License-Identifier: MIT */
#include "record/leftovers.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char prefix[] = "plimsoll-record-";

bool plim_record_name(const char *parent, char *ret_path, size_t size)
{
    const int n = snprintf(ret_path, size, "%s/%s%ld-XXXXXX", parent, prefix, (long)getpid());
    const bool has_room = n > 0 && (size_t)n < size;
    if (!has_room)
        errno = ENAMETOOLONG;
    return has_room;
}

/* The lock ends with the process, however it ends. Programs that it starts do not have the file. */
int plim_record_hold(const char *path)
{
    const int file = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (file >= 0 && flock(file, LOCK_EX | LOCK_NB) == 0)
        return file;
    if (file >= 0)
        close(file);
    return -1;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status;
    (void)kind;
    (void)place;
    remove(path);
    return 0;
}

void plim_record_tree_remove(const char *path) { nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS); }

/* "plimsoll-record-4711-x7Kq2a" of a process that has ended. */
static bool is_of_the_dead(const char *name)
{
    enum { RANDOM_LETTERS = 6 };
    char *end;
    const size_t n = sizeof prefix - 1;
    if (strncmp(name, prefix, n) != 0 || name[n] < '1' || name[n] > '9')
        return false;
    errno = 0;
    const long pid = strtol(name + n, &end, 10);
    return !errno && pid < INT_MAX && *end == '-' && strlen(end + 1) == RANDOM_LETTERS && kill((pid_t)pid, 0) < 0 &&
           errno == ESRCH;
}

/* Where others can rename, a path may lead elsewhere from one moment to the next. */
static bool is_safe(const char *parent)
{
    struct stat status;
    return stat(parent, &status) == 0 && (status.st_uid == 0 || status.st_uid == geteuid()) &&
           (!(status.st_mode & (S_IWGRP | S_IWOTH)) || status.st_mode & S_ISVTX);
}

/*
 * The lock tells of processes that this one cannot see, in containers with the same folder. A folder that has just been
 * made is not locked yet.
 */
static void remove_leftover(const char *path)
{
    enum { NEW_S = 60 };
    struct stat status;
    const int file = plim_record_hold(path);
    if (file < 0)
        return;
    if (fstat(file, &status) == 0 && status.st_uid == geteuid() && (status.st_mode & ACCESSPERMS) == S_IRWXU &&
        status.st_mtime < time(NULL) - NEW_S)
        plim_record_tree_remove(path);
    close(file);
}

void plim_record_leftovers_remove(const char *parent)
{
    char path[PATH_MAX];
    DIR *folder = is_safe(parent) ? opendir(parent) : NULL;
    for (const struct dirent *entry; folder && (entry = readdir(folder));) {
        const int n = snprintf(path, sizeof path, "%s/%s", parent, entry->d_name);
        if (n > 0 && (size_t)n < sizeof path && is_of_the_dead(entry->d_name))
            remove_leftover(path);
    }
    if (folder)
        closedir(folder);
}
