/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_PRELOAD_PRELOAD_H
#define PLIMSOLL_VGPU_PRELOAD_PRELOAD_H

/* Functions of the preloaded library that no header of libc declares. */

/* open() and openat() of programs built with _FORTIFY_SOURCE, for flags that are not constant. */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int folder, const char *path, int flags);
int __openat64_2(int folder, const char *path, int flags);

/* For dlopen(), which is in assembler: the path to open instead, and the function to jump to. */
const char *plim_opened_name(const char *path);
extern void *(*plim_next_dlopen)(const char *path, int flags);

#endif
