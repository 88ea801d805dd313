/* SPDX-License-Identifier: MIT */
#include "vgpu/core/ranks.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* The variables of torch.distributed's env:// initialization. Which of them a launcher sets differs. */
bool plim_ranks_in_environment(void)
{
    return getenv("MASTER_ADDR") || getenv("MASTER_PORT") || (getenv("RANK") && getenv("WORLD_SIZE"));
}

/* TCPStore and gloo are parts of libtorch_cpu; the others listen for peers only. */
bool plim_ranks_meet(const void *caller)
{
    static const char *const names[] = { "libtorch", "libgloo", "libnccl", "libmpi", "libucp", "libuct", "libfabric" };
    Dl_info info = { 0 };
    const char *path = dladdr(caller, &info) && info.dli_fname ? info.dli_fname : "";
    const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strncmp(file, names[i], strlen(names[i])))
            return true;
    return false;
}
