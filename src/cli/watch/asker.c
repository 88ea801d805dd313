/* SPDX-License-Identifier: MIT */
#include "cli/watch/asker.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct plim_asker plim_cli_asker(const char *root, const char *nvml)
{
    const char *job = getenv("SLURM_JOB_ID");
    const bool is_elsewhere = root && *root && strcmp(root, "/") != 0;
    return (struct plim_asker){ .pid = getpid(),
                                .uid = is_elsewhere ? 0 : geteuid(), /* what its root would be shown */
                                .slurm_job = job ? job : "",
                                .is_elsewhere = is_elsewhere,
                                .needs_device = !nvml && !getenv("PLIM_VGPU_LEDGER") /* in a rehearsal */ };
}
