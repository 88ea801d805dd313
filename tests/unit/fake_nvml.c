/* SPDX-License-Identifier: MIT */
/* An NVML without a driver. FAKE_NVML says how it behaves; the interface is that of NVIDIA's documentation. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SUCCESS = 0,
    INVALID_ARGUMENT = 2,
    NOT_SUPPORTED = 3,
    NO_PERMISSION = 4,
    INSUFFICIENT_SIZE = 7,
    GPU_IS_LOST = 15,
    VERSION_MISMATCH = 18,
    MEMORY_V2_VERSION = 40 | 2 << 24,
    SLOTS = 7,
};

struct device {
    int number, slice;
};

struct memory {
    unsigned long long total, free, used;
};

struct memory_v2 {
    unsigned version;
    unsigned long long total, reserved, free, used;
};

struct process {
    unsigned pid;
    unsigned long long used;
    unsigned gpu_instance, compute_instance;
};

#define GIB (1ull << 30)
#define MIB (1ull << 20)

static struct device devices[40] = { { 0, 0 } };

static int is(const char *how)
{
    const char *set = getenv("FAKE_NVML");
    return set && !strcmp(set, how);
}

int nvmlInit_v2(void);
int nvmlShutdown(void);
const char *nvmlErrorString(int result);
int nvmlDeviceGetCount_v2(unsigned *count);
int nvmlDeviceGetHandleByIndex_v2(unsigned i, struct device **device);
int nvmlDeviceGetName(struct device *device, char *name, unsigned size);
int nvmlDeviceGetUUID(struct device *device, char *uuid, unsigned size);
int nvmlDeviceGetMemoryInfo(struct device *device, struct memory *memory);
int nvmlDeviceGetMemoryInfo_v2(struct device *device, struct memory_v2 *memory);
int nvmlDeviceGetCudaComputeCapability(struct device *device, int *major, int *minor);
int nvmlDeviceGetComputeRunningProcesses_v3(struct device *device, unsigned *count, void *processes);
int nvmlDeviceGetMigMode(struct device *device, unsigned *mode, unsigned *pending);
int nvmlDeviceGetMaxMigDeviceCount(struct device *device, unsigned *count);
int nvmlDeviceGetMigDeviceHandleByIndex(struct device *device, unsigned i, struct device **slice);

int nvmlInit_v2(void) { return is("no permission") ? NO_PERMISSION : is("mismatch") ? VERSION_MISMATCH : SUCCESS; }
int nvmlShutdown(void) { return SUCCESS; }

const char *nvmlErrorString(int result)
{
    return result == NO_PERMISSION      ? "Insufficient Permissions"
           : result == VERSION_MISMATCH ? "Driver/library version mismatch"
                                        : "Unknown Error";
}

int nvmlDeviceGetCount_v2(unsigned *count)
{
    *count = is("none") ? 0 : is("many") ? 40 : is("lost") || is("two kinds") ? 2 : 1;
    return is("no count") ? NO_PERMISSION : SUCCESS;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned i, struct device **device)
{
    if (is("lost") && i == 0)
        return GPU_IS_LOST;
    devices[i].number = (int)i;
    *device = &devices[i];
    return SUCCESS;
}

int nvmlDeviceGetName(struct device *device, char *name, unsigned size)
{
    const char *given = getenv("FAKE_NVML_NAME");
    if (is("no name"))
        return INSUFFICIENT_SIZE;
    snprintf(name, size, "%s",
             given                               ? given
             : device->slice                     ? "NVIDIA A100-SXM4-40GB MIG 1g.5gb"
             : is("unified")                     ? "NVIDIA GB10"
             : is("two kinds") && device->number ? "NVIDIA GeForce RTX 3060"
                                                 : "NVIDIA GeForce RTX 4060");
    return SUCCESS;
}

int nvmlDeviceGetUUID(struct device *device, char *uuid, unsigned size)
{
    snprintf(uuid, size, "GPU-%08x-0000-0000-0000-000000000000", (unsigned)device->number);
    return SUCCESS;
}

int nvmlDeviceGetMemoryInfo(struct device *device, struct memory *memory)
{
    (void)device;
    if (is("unified"))
        return NOT_SUPPORTED;
    *memory = (struct memory){ 8188 * MIB, 6 * GIB, 2 * GIB };
    return SUCCESS;
}

int nvmlDeviceGetMemoryInfo_v2(struct device *device, struct memory_v2 *memory)
{
    if (is("unified") || is("old driver"))
        return NOT_SUPPORTED;
    if (memory->version != MEMORY_V2_VERSION)
        return INVALID_ARGUMENT;
    memory->total = device->slice ? 4864 * MIB : is("changed") ? 12 * GIB : 8188 * MIB;
    memory->reserved = device->slice ? 0 : 300 * MIB;
    memory->free = device->slice ? 4800 * MIB : 6 * GIB;
    memory->used = memory->total - memory->free - memory->reserved; /* as newer drivers count */
    return SUCCESS;
}

int nvmlDeviceGetCudaComputeCapability(struct device *device, int *major, int *minor)
{
    (void)device;
    *major = is("unified") ? 12 : 8;
    *minor = is("unified") ? 1 : 9;
    return SUCCESS;
}

int nvmlDeviceGetComputeRunningProcesses_v3(struct device *device, unsigned *count, void *processes)
{
    static const struct process here[3] = { { 77, 5 * GIB, ~0u, ~0u },
                                            { 4242, 1 * GIB, ~0u, ~0u },
                                            { 9, ~0ull, ~0u, ~0u } };
    (void)device;
    if (is("wsl"))
        return NOT_SUPPORTED; /* and leaves the count as it was */
    unsigned room = *count;
    if (is("endless")) { /* and breaks its promise */
        if (processes)
            memset(processes, 0, room * sizeof *here);
        *count = 1000;
        return SUCCESS;
    }
    *count = 3;
    if (room < 3 || !processes)
        return INSUFFICIENT_SIZE;
    memcpy(processes, here, sizeof here);
    return SUCCESS;
}

int nvmlDeviceGetMigMode(struct device *device, unsigned *mode, unsigned *pending)
{
    (void)device;
    *mode = *pending = is("mig") || is("mig without slices");
    return is("wsl") ? NOT_SUPPORTED : SUCCESS;
}

int nvmlDeviceGetMaxMigDeviceCount(struct device *device, unsigned *count)
{
    (void)device;
    *count = SLOTS;
    return SUCCESS;
}

int nvmlDeviceGetMigDeviceHandleByIndex(struct device *device, unsigned i, struct device **slice)
{
    (void)device;
    if (is("mig without slices") || (i != 1 && i != 4))
        return INVALID_ARGUMENT; /* a slot that is empty */
    devices[10 + i] = (struct device){ (int)(10 + i), 1 };
    *slice = &devices[10 + i];
    return SUCCESS;
}
