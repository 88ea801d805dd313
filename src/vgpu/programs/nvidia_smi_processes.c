/* SPDX-License-Identifier: MIT */
#include "vgpu/programs/nvidia_smi.h"

#include <stdio.h>

unsigned plim_smi_processes(device card, struct nvml_process_info *ret_list)
{
    unsigned n = PLIM_SMI_MAX_PROCESSES;
    return nvmlDeviceGetComputeRunningProcesses_v3(card, &n, ret_list) ? 0 : n;
}

void plim_smi_process_name(unsigned pid, char ret_name[PLIM_SMI_TEXT])
{
    char path[40];
    snprintf(path, sizeof path, "/proc/%u/cmdline", pid);
    FILE *file = fopen(path, "re");
    const size_t n = file ? fread(ret_name, 1, PLIM_SMI_TEXT - 1, file) : 0;
    ret_name[n] = '\0';
    if (file)
        fclose(file);
    if (!*ret_name)
        snprintf(ret_name, PLIM_SMI_TEXT, "[Not Found]");
}
