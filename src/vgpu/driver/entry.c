/* SPDX-License-Identifier: MIT */
/*
 * libcuda: functions by name and version. A program names the version of CUDA that it was written for and gets the
 * newest declaration up to that version, or its variant for a default stream per thread.
 */
#include "vgpu/driver/entry.h"

#include "vgpu/core/cuda_api.h"
#include "vgpu/core/objects.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum { FOUND = 0, NOT_FOUND = 1, VERSION_NOT_SUFFICIENT = 2 }; /* CUdriverProcAddressQueryResult */
enum { PER_THREAD = 2, MAX_SYMBOL = 96 };

/* A handle of this library, so that dlsym() finds its own functions and not another library's. */
static void *self(void)
{
    static void *_Atomic library;
    Dl_info info;
    void *found = atomic_load(&library);
    if (!found && dladdr((void *)(uintptr_t)cuGetProcAddress_v2, &info) && info.dli_fname) {
        found = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
        atomic_store(&library, found);
    }
    return found;
}

static const char *symbol_for(const char *name, int version, int *ret_status)
{
    const char *symbol = NULL;
    *ret_status = NOT_FOUND;
    for (unsigned i = 0; i < plim_n_entries; i++) {
        if (strcmp(plim_driver_entries[i].name, name) != 0)
            continue;
        if (plim_driver_entries[i].version <= version)
            symbol = plim_driver_entries[i].symbol;
        *ret_status = symbol ? FOUND : VERSION_NOT_SUFFICIENT;
    }
    return symbol;
}

status cuGetProcAddress_v2(const char *name, void **ret_function, int version, uint64_t flags, int *ret_status)
{
    static const char *const variants[] = { "_ptsz", "_ptds" };
    int found_status;
    char variant[MAX_SYMBOL];
    if (!name || !ret_function || flags > (PER_THREAD | 1))
        return PLIM_CUDA_INVALID_VALUE;
    *ret_function = NULL;
    const char *symbol = symbol_for(name, version, &found_status);
    if (ret_status)
        *ret_status = found_status;
    if (!symbol || !self())
        return PLIM_CUDA_NOT_FOUND;
    for (size_t i = 0; i < sizeof variants / sizeof *variants && (flags & PER_THREAD) && !*ret_function; i++) {
        snprintf(variant, sizeof variant, "%s%s", symbol, variants[i]);
        *ret_function = dlsym(self(), variant);
    }
    if (!*ret_function)
        *ret_function = dlsym(self(), symbol);
    if (!*ret_function && ret_status)
        *ret_status = NOT_FOUND;
    return *ret_function ? PLIM_CUDA_SUCCESS : PLIM_CUDA_NOT_FOUND;
}

status cuGetProcAddress(const char *name, void **ret_function, int version, uint64_t flags)
{
    return cuGetProcAddress_v2(name, ret_function, version, flags, NULL);
}
