/* SPDX-License-Identifier: MIT */
#include "vgpu/core/ranks.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* Of torchrun, Open MPI, MPICH and Slurm. */
static const char *const sizes[] = { "WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS" };

/*
 * The variables of torch.distributed's env:// initialization; which of them a launcher sets differs. An address alone
 * is no peer: clusters and images set it for every program, and a rank that is alone waits for nobody.
 */
bool plim_ranks_in_environment(void)
{
    const char *size = NULL;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && !size; i++)
        size = getenv(sizes[i]);
    return size && strtol(size, NULL, 10) > 1 && (getenv("MASTER_ADDR") || getenv("MASTER_PORT") || getenv("RANK"));
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
