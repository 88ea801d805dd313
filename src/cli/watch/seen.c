/* SPDX-License-Identifier: MIT */
#include "cli/watch/seen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SEEN_PATH = 1024 };

/* Under sudo HOME can be another user's: files of root are not put there. What is not there yet may be made. */
static bool is_own(const char *folder)
{
    struct stat status;
    return stat(folder, &status) != 0 || status.st_uid == geteuid();
}

/* XDG Base Directory Specification 0.8: a path that is not absolute is as none. */
static bool path_of(char path[SEEN_PATH])
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    int n = -1;
    const bool is_given = state && *state == '/';
    if (is_given)
        n = snprintf(path, SEEN_PATH, "%s/plimsoll/seen", state);
    else if (home && *home == '/')
        n = snprintf(path, SEEN_PATH, "%s/.local/state/plimsoll/seen", home);
    return n > 0 && n < SEEN_PATH && is_own(is_given ? state : home);
}

const char *plim_seen_own_log(char ret_path[PLIM_SEEN_LOG_BYTES])
{
    const ssize_t n = readlink("/proc/self/fd/1", ret_path, PLIM_SEEN_LOG_BYTES - 1);
    ret_path[n > 0 ? n : 0] = '\0';
    return ret_path;
}

void plim_seen_load(struct plim_watch *watch)
{
    char path[SEEN_PATH];
    if (path_of(path))
        plim_watch_load(watch, path);
}

/* The folders above a file; those that are there stay as they are. */
static void make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
}

void plim_seen_save(const struct plim_watch *watch)
{
    char path[SEEN_PATH];
    if (!path_of(path))
        return;
    if (plim_watch_save(watch, path, NULL) == PLIM_E_NOT_FOUND) {
        make_folders(path);
        (void)!plim_watch_save(watch, path, NULL);
    }
}
