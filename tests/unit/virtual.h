/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_TESTS_VIRTUAL_H
#define PLIMSOLL_TESTS_VIRTUAL_H

/* The virtual libraries, opened as programs do, from the folder in PLIM_TEST_VGPU. */
#include "unit.h"

#include <dlfcn.h>

static inline void *open_library(const char *name)
{
    char path[512];
    const char *folder = getenv("PLIM_TEST_VGPU"); /* NULL: they are linked into this program (sanitizers) */
    snprintf(path, sizeof path, "%s/%s", folder ? folder : "", name);
    void *library = dlopen(folder ? path : NULL, RTLD_NOW | RTLD_GLOBAL);
    if (!library)
        fail_msg("%s", dlerror());
    return library;
}

static inline void take(void *library, const char *name, void *slot)
{
    void *found = dlsym(library, name);
    if (!found)
        fail_msg("%s is not there", name);
    memcpy(slot, &found, sizeof found);
}

#endif
