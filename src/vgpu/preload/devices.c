/* SPDX-License-Identifier: MIT */
/*
 * NVIDIA's device files. They are there for whoever looks, one for each virtual card: JAX asks for /dev/nvidia0 before
 * it loads CUDA. They cannot be opened, so that a program which loads NVIDIA's own libraries past ours does not reach a
 * real GPU.
 */
#include "vgpu/preload/preload.h"

#include "vgpu/core/ledger.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/*
 * The next of this name: there may be other preloaded libraries behind this one. It is found at the start, for a child
 * of a thread that forks would wait for the linker's lock for ever; who calls before that calls the kernel.
 */
#define FOUND_AT_START(name)                                                                                           \
    static _Atomic(void *) next_##name;                                                                                \
    __attribute__((constructor)) static void find_##name(void) { atomic_store(&next_##name, dlsym(RTLD_NEXT, #name)); }

static int refused(void)
{
    errno = ENOENT;
    return -1;
}

/* What follows "/dev/nvidia"; NULL: another file. */
static const char *device_of(const char *path)
{
    static const char start[] = "/dev/nvidia";
    return path && !strncmp(path, start, sizeof start - 1) ? path + sizeof start - 1 : NULL;
}

/* --- opening --- */

static bool is_real_device(const char *path)
{
    if (!device_of(path))
        return false;
    plim_preload_remark("real_gpu", path);
    return true;
}

typedef int opener(const char *, int, ...);
typedef int opener_at(int, const char *, int, ...);

static mode_t mode_of(int flags, va_list *rest)
{
    return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(*rest, mode_t) : 0;
}

#define OPENER(name)                                                                                                   \
    FOUND_AT_START(name)                                                                                               \
    PLIM_PRELOADED int name(const char *path, int flags, ...)                                                          \
    {                                                                                                                  \
        void *function = atomic_load(&next_##name);                                                                    \
        va_list rest;                                                                                                  \
        va_start(rest, flags);                                                                                         \
        const mode_t mode = mode_of(flags, &rest);                                                                     \
        va_end(rest);                                                                                                  \
        if (is_real_device(path))                                                                                      \
            return refused();                                                                                          \
        return function ? (*(opener **)(void *)&function)(path, flags, mode)                                           \
                        : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);                                       \
    }
#define OPENER_AT(name)                                                                                                \
    FOUND_AT_START(name)                                                                                               \
    PLIM_PRELOADED int name(int folder, const char *path, int flags, ...)                                              \
    {                                                                                                                  \
        void *function = atomic_load(&next_##name);                                                                    \
        va_list rest;                                                                                                  \
        va_start(rest, flags);                                                                                         \
        const mode_t mode = mode_of(flags, &rest);                                                                     \
        va_end(rest);                                                                                                  \
        if (is_real_device(path))                                                                                      \
            return refused();                                                                                          \
        return function ? (*(opener_at **)(void *)&function)(folder, path, flags, mode)                                \
                        : (int)syscall(SYS_openat, folder, path, flags, mode);                                         \
    }
OPENER(open)
OPENER(open64)
OPENER_AT(openat)
OPENER_AT(openat64)
PLIM_PRELOADED int __open_2(const char *path, int flags) { return open(path, flags); }
PLIM_PRELOADED int __open64_2(const char *path, int flags) { return open64(path, flags); }
PLIM_PRELOADED int __openat_2(int folder, const char *path, int flags) { return openat(folder, path, flags); }
PLIM_PRELOADED int __openat64_2(int folder, const char *path, int flags) { return openat64(folder, path, flags); }

/* --- looking --- */

enum { MAJOR = 195, MINOR_CONTROL = 255, MINOR_NONE = -1 }; /* Linux, Documentation/admin-guide/devices.txt */

/* The minor number of a device of this rehearsal, or MINOR_NONE. That of nvidia-uvm is of another, dynamic major. */
static int minor_of(const char *device)
{
    char *end;
    if (!strcmp(device, "ctl") || !strcmp(device, "-uvm"))
        return MINOR_CONTROL;
    if (*device < '0' || *device > '9')
        return MINOR_NONE;
    const unsigned long card = strtoul(device, &end, 10);
    struct plim_ledger *ledger = plim_preload_ledger();
    const bool is_card = ledger && !*end && card < plim_ledger_n_cards(ledger);
    plim_ledger_close(ledger);
    return is_card ? (int)card : MINOR_NONE;
}

/* An answer instead of the kernel's. */
enum answer { NOT_OURS, THERE, ABSENT };

static enum answer look_for(const char *path, int *ret_minor)
{
    const int before = errno;
    const char *device = device_of(path);
    if (!device || !getenv("PLIM_VGPU_LEDGER"))
        return NOT_OURS;
    *ret_minor = minor_of(device);
    errno = *ret_minor == MINOR_NONE ? ENOENT : before;
    return *ret_minor == MINOR_NONE ? ABSENT : THERE;
}

/*
 * Whether `path` is a device that is answered here: then *ret_result is that of the call, and, if it is there,
 * *ret_rdev the number of the device.
 */
static bool is_answered(const char *path, dev_t *ret_rdev, int *ret_result)
{
    int number = MINOR_NONE;
    const enum answer answer = look_for(path, &number);
    *ret_rdev = answer == THERE ? makedev(MAJOR, (unsigned)number) : 0;
    *ret_result = answer == THERE ? 0 : -1;
    return answer != NOT_OURS;
}

#define FILL(status, rdev)                                                                                             \
    do {                                                                                                               \
        memset(status, 0, sizeof *(status));                                                                           \
        (status)->st_mode = S_IFCHR | 0666;                                                                            \
        (status)->st_nlink = 1;                                                                                        \
        (status)->st_rdev = rdev;                                                                                      \
    } while (0)

/* A status of a path, by any of libc's functions: PARAMETERS and ARGUMENTS in parentheses. */
#define LOOKER(name, PARAMETERS, ARGUMENTS, folder, flags)                                                             \
    FOUND_AT_START(name)                                                                                               \
    PLIM_PRELOADED int name PARAMETERS                                                                                 \
    {                                                                                                                  \
        dev_t rdev;                                                                                                    \
        int result;                                                                                                    \
        if (is_answered(path, &rdev, &result)) {                                                                       \
            if (result == 0)                                                                                           \
                FILL(status, rdev);                                                                                    \
            return result;                                                                                             \
        }                                                                                                              \
        void *function = atomic_load(&next_##name);                                                                    \
        return function ? (*(int(**) PARAMETERS)(void *)&function)ARGUMENTS                                            \
                        : (int)syscall(SYS_newfstatat, folder, path, status, flags);                                   \
    }
LOOKER(stat, (const char *path, struct stat *status), (path, status), AT_FDCWD, 0)
LOOKER(stat64, (const char *path, struct stat64 *status), (path, status), AT_FDCWD, 0)
LOOKER(lstat, (const char *path, struct stat *status), (path, status), AT_FDCWD, AT_SYMLINK_NOFOLLOW)
LOOKER(lstat64, (const char *path, struct stat64 *status), (path, status), AT_FDCWD, AT_SYMLINK_NOFOLLOW)
LOOKER(fstatat, (int at, const char *path, struct stat *status, int flags), (at, path, status, flags), at, flags)
LOOKER(fstatat64, (int at, const char *path, struct stat64 *status, int flags), (at, path, status, flags), at, flags)

/* Of programs built with glibc before 2.33. */
LOOKER(__xstat, (int version, const char *path, struct stat *status), (version, path, status), AT_FDCWD, 0)
LOOKER(__xstat64, (int version, const char *path, struct stat64 *status), (version, path, status), AT_FDCWD, 0)
LOOKER(__lxstat, (int version, const char *path, struct stat *status), (version, path, status), AT_FDCWD,
       AT_SYMLINK_NOFOLLOW)
LOOKER(__lxstat64, (int version, const char *path, struct stat64 *status), (version, path, status), AT_FDCWD,
       AT_SYMLINK_NOFOLLOW)
LOOKER(__fxstatat, (int version, int at, const char *path, struct stat *status, int flags),
       (version, at, path, status, flags), at, flags)
LOOKER(__fxstatat64, (int version, int at, const char *path, struct stat64 *status, int flags),
       (version, at, path, status, flags), at, flags)

FOUND_AT_START(statx)
PLIM_PRELOADED int statx(int at, const char *path, int flags, unsigned mask, struct statx *status)
{
    dev_t rdev;
    int result;
    if (is_answered(path, &rdev, &result)) {
        if (result == 0) {
            *status = (struct statx){ .stx_mask = STATX_TYPE | STATX_MODE | STATX_NLINK,
                                      .stx_mode = S_IFCHR | 0666,
                                      .stx_nlink = 1,
                                      .stx_rdev_major = major(rdev),
                                      .stx_rdev_minor = minor(rdev) };
        }
        return result;
    }
    void *function = atomic_load(&next_statx);
    return function ? (*(int (**)(int, const char *, int, unsigned, struct statx *))(void *)&function)(at, path, flags,
                                                                                                       mask, status)
                    : (int)syscall(SYS_statx, at, path, flags, mask, status);
}

/* Everyone may read and write a device, nobody may execute it. */
static int may(int mode)
{
    if (mode & X_OK)
        errno = EACCES;
    return mode & X_OK ? -1 : 0;
}

FOUND_AT_START(access)
PLIM_PRELOADED int access(const char *path, int mode)
{
    dev_t rdev;
    int result;
    if (is_answered(path, &rdev, &result))
        return result ? result : may(mode);
    void *function = atomic_load(&next_access);
    return function ? (*(int (**)(const char *, int))(void *)&function)(path, mode)
                    : (int)syscall(SYS_faccessat, AT_FDCWD, path, mode);
}

FOUND_AT_START(faccessat)
PLIM_PRELOADED int faccessat(int at, const char *path, int mode, int flags)
{
    dev_t rdev;
    int result;
    if (is_answered(path, &rdev, &result))
        return result ? result : may(mode);
    void *function = atomic_load(&next_faccessat);
    return function ? (*(int (**)(int, const char *, int, int))(void *)&function)(at, path, mode, flags)
                    : (int)syscall(SYS_faccessat, at, path, mode);
}
