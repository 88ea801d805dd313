/* SPDX-License-Identifier: MIT */
#include "card/nvml/library.h"

#include "base/system.h"

#include <stdio.h>
#include <string.h>

/* A function by its name; the slots are of many types, and an address fits into each. */
struct symbol {
    const char *name;
    size_t slot;
};

#define SLOT(member) offsetof(struct plim_nvml, member)

static const struct symbol needed[] = {
    { "nvmlInit_v2", SLOT(init) },
    { "nvmlShutdown", SLOT(shutdown) },
    { "nvmlErrorString", SLOT(error_string) },
    { "nvmlDeviceGetCount_v2", SLOT(count) },
    { "nvmlDeviceGetHandleByIndex_v2", SLOT(by_index) },
    { "nvmlDeviceGetName", SLOT(name) },
    { "nvmlDeviceGetUUID", SLOT(uuid) },
    { "nvmlDeviceGetMemoryInfo", SLOT(memory) },
};

static const struct symbol optional[] = {
    { "nvmlDeviceGetMemoryInfo_v2", SLOT(memory_v2) },
    { "nvmlDeviceGetCudaComputeCapability", SLOT(capability) },
    { "nvmlDeviceGetPciInfo_v3", SLOT(pci) },
    { "nvmlDeviceGetHandleByPciBusId_v2", SLOT(by_pci) },
    { "nvmlDeviceGetComputeRunningProcesses_v3", SLOT(list[0][0]) },
    { "nvmlDeviceGetComputeRunningProcesses_v2", SLOT(list[0][1]) },
    { "nvmlDeviceGetComputeRunningProcesses", SLOT(list[0][2]) },
    { "nvmlDeviceGetGraphicsRunningProcesses_v3", SLOT(list[1][0]) },
    { "nvmlDeviceGetGraphicsRunningProcesses_v2", SLOT(list[1][1]) },
    { "nvmlDeviceGetGraphicsRunningProcesses", SLOT(list[1][2]) },
    { "nvmlDeviceGetMPSComputeRunningProcesses_v3", SLOT(list[2][0]) },
    { "nvmlDeviceGetMPSComputeRunningProcesses_v2", SLOT(list[2][1]) },
    { "nvmlDeviceGetMPSComputeRunningProcesses", SLOT(list[2][2]) },
    { "nvmlDeviceGetProcessUtilization", SLOT(process_utilization) },
    { "nvmlDeviceGetAccountingMode", SLOT(accounting_mode) },
    { "nvmlDeviceGetAccountingStats", SLOT(accounting) },
    { "nvmlDeviceGetMigMode", SLOT(mig_mode) },
    { "nvmlDeviceGetMaxMigDeviceCount", SLOT(mig_max) },
    { "nvmlDeviceGetMigDeviceHandleByIndex", SLOT(mig_by_index) },
    { "nvmlDeviceGetGpuInstanceId", SLOT(gpu_instance) },
    { "nvmlDeviceGetComputeInstanceId", SLOT(compute_instance) },
    { "nvmlDeviceGetUtilizationRates", SLOT(utilization) },
    { "nvmlDeviceGetTemperature", SLOT(temperature) },
    { "nvmlDeviceGetPowerUsage", SLOT(power) },
};

static bool find(struct plim_nvml *nvml, const struct symbol *symbol)
{
    void (*address)(void);
    plim_system_symbol(nvml->library, symbol->name, &address);
    memcpy((char *)nvml + symbol->slot, &address, sizeof address);
    return address != NULL;
}

bool plim_nvml_open(const char *path, struct plim_nvml *ret_nvml, char *ret_why, size_t why_bytes)
{
    char why[PLIM_LIBRARY_WHY_BYTES];
    *ret_nvml = (struct plim_nvml){ .library = plim_system_library(path ? path : PLIM_NVML_LIBRARY, why) };
    snprintf(ret_why, why_bytes, "%s", why);
    if (!ret_nvml->library)
        return false;
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (!find(ret_nvml, &needed[i])) {
            plim_nvml_close(ret_nvml);
            return false;
        }
    for (size_t i = 0; i < sizeof optional / sizeof *optional; i++)
        find(ret_nvml, &optional[i]);
    return true;
}

void plim_nvml_close(struct plim_nvml *nvml)
{
    if (nvml->library)
        plim_system_library_close(nvml->library);
    *nvml = (struct plim_nvml){ 0 };
}
