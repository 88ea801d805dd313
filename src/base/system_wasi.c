/* SPDX-License-Identifier: MIT */
/*
 * Libraries, RAM and environment under WASI (preview 1, wasi-libc), which has no libraries to open and does not
 * report RAM; the rest is in system_posix.c.
 */
#include "base/system.h"

#include <errno.h>
#include <string.h>

void *plim_system_library(const char *path, char ret_why[PLIM_LIBRARY_WHY_BYTES])
{
    (void)path;
    ret_why[0] = '\0';
    return NULL;
}

void plim_system_library_close(void *library) { (void)library; }

void plim_system_symbol(void *library, const char *name, void *ret_slot)
{
    void *const none = NULL;
    (void)library;
    (void)name;
    memcpy(ret_slot, &none, sizeof none);
}

int plim_system_ram(uint64_t *ret_total_bytes, uint64_t *ret_free_bytes)
{
    (void)ret_total_bytes;
    (void)ret_free_bytes;
    return ENOSYS;
}

int plim_system_has_process(int64_t pid)
{
    (void)pid;
    return ENOSYS;
}

int plim_system_user(int64_t uid, char *ret_name, size_t size)
{
    (void)uid, (void)ret_name, (void)size;
    return ENOSYS;
}

uint64_t plim_system_page_bytes(void) { return 4096; }

extern char **environ;

char **plim_system_environment(void) { return environ; }
