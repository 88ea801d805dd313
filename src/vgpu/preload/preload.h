/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_PRELOAD_PRELOAD_H
#define PLIMSOLL_VGPU_PRELOAD_PRELOAD_H

/* The preloaded library: what its files share, and functions that no header of libc declares. */

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#define PLIM_PRELOADED __attribute__((visibility("default")))

/* The ledger of the rehearsal, or NULL; close it. */
struct plim_ledger *plim_preload_ledger(void);

/* For the receipt; errno stays. */
void plim_preload_remark(const char *kind, const char *what);

/* These bytes were written to a descriptor, or an error (n is -1). */
void plim_preload_said(int fd, const void *bytes, ssize_t n);

/* A call that writes so much at once is timed: from the begin (0: it is not) to the end, with what it returned. */
enum { PLIM_LARGE_WRITE_BYTES = 64 << 10 };
uint64_t plim_preload_write_begins(size_t n);
void plim_preload_write_ends(int fd, ssize_t n, uint64_t start_us);

/* open() and openat() of programs built with _FORTIFY_SOURCE, for flags that are not constant. */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int folder, const char *path, int flags);
int __openat64_2(int folder, const char *path, int flags);

/* stat() and its like in programs built with glibc before 2.33. */
int __xstat(int version, const char *path, struct stat *status);
int __xstat64(int version, const char *path, struct stat64 *status);
int __lxstat(int version, const char *path, struct stat *status);
int __lxstat64(int version, const char *path, struct stat64 *status);
int __fxstatat(int version, int at, const char *path, struct stat *status, int flags);
int __fxstatat64(int version, int at, const char *path, struct stat64 *status, int flags);

/* For dlopen(), which is in assembler: the path to open instead, and the function to jump to. */
const char *plim_opened_name(const char *path);
extern void *(*plim_next_dlopen)(const char *path, int flags);

#endif
