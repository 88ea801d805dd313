/* SPDX-License-Identifier: MIT */
/* Libraries, RAM and environment under Linux and macOS; the rest is in system_posix.c. */
#include "base/system.h"

#include <dlfcn.h>
#include <errno.h>
#include <pwd.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#ifdef __APPLE__
#include <crt_externs.h>
#include <mach/mach.h>
#include <sys/sysctl.h>
#endif

#ifdef __APPLE__
/* dyld lists all places where it looked, whether the library is there or not. */
static bool is_told(const char *why, const char *path)
{
    (void)why, (void)path;
    return false;
}
#else
/* A library that is not there is told by words only: "PATH: cannot open shared object file: No such file ...". */
static bool is_told(const char *why, const char *path)
{
    const bool is_absent = !strncmp(why, path, strlen(path)) && strstr(why, "No such file");
    return !is_absent;
}
#endif

void *plim_system_library(const char *path, char ret_why[PLIM_LIBRARY_WHY_BYTES])
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const char *why = library ? NULL : dlerror();
    snprintf(ret_why, PLIM_LIBRARY_WHY_BYTES, "%s", why && is_told(why, path) ? why : "");
    return library;
}

void plim_system_library_close(void *library) { dlclose(library); }

void plim_system_symbol(void *library, const char *name, void *ret_slot)
{
    void *address = dlsym(library, name);
    memcpy(ret_slot, &address, sizeof address); /* a cast from an object's to a function's address is not C */
}

/* --- processes and users --- */

/* Signal 0 is sent to nobody; a process of another user is there, too. */
int plim_system_has_process(int64_t pid)
{
    if (pid <= 0 || pid > INT32_MAX)
        return ESRCH;
    return kill((pid_t)pid, 0) == 0 || errno == EPERM ? 0 : errno;
}

int plim_system_user(int64_t uid, char *ret_name, size_t size)
{
    struct passwd entry, *found = NULL;
    char room[4096];
    const int result = getpwuid_r((uid_t)uid, &entry, room, sizeof room, &found);
    if (!found)
        return result ? result : ENOENT;
    snprintf(ret_name, size, "%s", found->pw_name);
    return 0;
}

uint64_t plim_system_page_bytes(void) { return (uint64_t)sysconf(_SC_PAGESIZE); }

/* --- */

#ifdef __APPLE__

/* Free pages, and those that hold copies of files. */
int plim_system_ram(uint64_t *ret_total_bytes, uint64_t *ret_free_bytes)
{
    size_t size = sizeof *ret_total_bytes;
    vm_statistics64_data_t pages;
    mach_msg_type_number_t n = HOST_VM_INFO64_COUNT;
    if (sysctlbyname("hw.memsize", ret_total_bytes, &size, NULL, 0) < 0)
        return errno;
    if (host_statistics64(mach_host_self(), HOST_VM_INFO64, (host_info64_t)&pages, &n) != KERN_SUCCESS)
        return EIO;
    *ret_free_bytes = ((uint64_t)pages.free_count + pages.external_page_count) * vm_kernel_page_size;
    return 0;
}

char **plim_system_environment(void) { return *_NSGetEnviron(); }

#else

/* Caches that could be dropped do not count as free here: /proc/meminfo, which card/host.c prefers, has them. */
int plim_system_ram(uint64_t *ret_total_bytes, uint64_t *ret_free_bytes)
{
    const long page_bytes = sysconf(_SC_PAGESIZE), total = sysconf(_SC_PHYS_PAGES),
               available = sysconf(_SC_AVPHYS_PAGES);
    if (page_bytes < 0 || total < 0 || available < 0)
        return ENOSYS;
    *ret_total_bytes = (uint64_t)page_bytes * (uint64_t)total;
    *ret_free_bytes = (uint64_t)page_bytes * (uint64_t)available;
    return 0;
}

extern char **environ;

char **plim_system_environment(void) { return environ; }

#endif
