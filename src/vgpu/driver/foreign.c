/* SPDX-License-Identifier: MIT */
#include "vgpu/driver/foreign.h"

#include "vgpu/core/session.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* As NVIDIA names the files of its toolkit and of its wheels. */
static bool is_compiler(const char *file)
{
    static const char *const names[] = { "libnvrtc", "libnvJitLink", "libnvvm", "libnvptxcompiler", "libnvfatbin" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strncmp(file, names[i], strlen(names[i])))
            return true;
    return false;
}

/* Of a path in an installed package the part that names the package; of others the end, if they are long. */
static const char *short_path(const char *path, size_t most)
{
    static const char *const folders[] = { "/site-packages/", "/dist-packages/" };
    const size_t n = strlen(path);
    const char *found = path;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (strstr(path, folders[i]))
            found = strstr(path, folders[i]) + 1;
    return strlen(found) <= most ? found : path + (n - most);
}

void plim_vgpu_asked_for_tables(const void *caller)
{
    static const char start[] = "the CUDA runtime is linked into ";
    char what[PLIM_LEDGER_WHAT_BYTES];
    int error;
    Dl_info info = { 0 };
    struct plim_ledger *ledger = plim_vgpu_ledger(&error);
    const char *path = dladdr(caller, &info) && info.dli_fname ? info.dli_fname : "?";
    const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
    if (is_compiler(file))
        return;
    if (!strncmp(file, "libcudart", strlen("libcudart"))) {
        plim_vgpu_remark("bypass", short_path(path, sizeof what - 1));
        return;
    }
    snprintf(what, sizeof what, "%s%s", start, short_path(path, sizeof what - sizeof start));
    if (!ledger || plim_ledger_warn(ledger, "static_runtime", what))
        fprintf(stderr, "plimsoll: %s and cannot be replaced\n", what);
}
