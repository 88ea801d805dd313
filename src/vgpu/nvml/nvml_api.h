/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_NVML_NVML_API_H
#define PLIMSOLL_VGPU_NVML_NVML_API_H

/*
 * The functions of the NVML API that have a body in libnvidia-ml.so.1: our own declarations after the API reference
 * (13.0).
 */

#include "vgpu/nvml/nvml.h"

/* nvmlPciInfo_t */
struct nvml_pci {
    char legacy_id[16];
    unsigned domain, bus, device, device_id, subsystem_id;
    char id[32];
};
_Static_assert(sizeof(struct nvml_pci) == 68, "nvmlPciInfo_t");

/* nvmlMemory_t */
struct nvml_memory_info {
    unsigned long long total, free, used;
};

struct nvml_memory_info_v2 {
    unsigned version;
    unsigned long long total, reserved, free, used;
};
_Static_assert(sizeof(struct nvml_memory_info_v2) == 40, "nvmlMemory_v2_t");

/* nvmlProcessInfo_t, and as it was before MIG. */
struct nvml_process_info {
    unsigned pid;
    unsigned long long used;
    unsigned gpu_instance, compute_instance;
};

struct nvml_process_info_v1 {
    unsigned pid;
    unsigned long long used;
};
_Static_assert(sizeof(struct nvml_process_info) == 24 && sizeof(struct nvml_process_info_v1) == 16,
               "nvmlProcessInfo_t");

/* nvmlUtilization_t */
struct nvml_utilization {
    unsigned gpu, memory;
};

/* nvmlDeviceAttributes_t */
struct nvml_attributes {
    unsigned n_sm, n_copy, n_decoder, n_encoder, n_jpeg, n_ofa, n_gpu_instances, n_compute_instances;
    unsigned long long memory_mb;
};
_Static_assert(sizeof(struct nvml_attributes) == 40, "nvmlDeviceAttributes_t");

/* --- the library, devices, memory and processes --- */

status nvmlInit_v2(void);
status nvmlInit(void);
status nvmlInitWithFlags(unsigned flags);
status nvmlShutdown(void);
const char *nvmlErrorString(status error);
status nvmlSystemGetDriverVersion(char *text, unsigned size);
status nvmlSystemGetNVMLVersion(char *text, unsigned size);
status nvmlSystemGetCudaDriverVersion_v2(int *version);
status nvmlSystemGetCudaDriverVersion(int *version);
status nvmlDeviceGetCount_v2(unsigned *count);
status nvmlDeviceGetCount(unsigned *count);
status nvmlDeviceGetHandleByIndex_v2(unsigned index, device *card);
status nvmlDeviceGetHandleByIndex(unsigned index, device *card);
status nvmlDeviceGetHandleByUUID(const char *wanted, device *card);
status nvmlDeviceGetHandleByPciBusId_v2(const char *id, device *card);
status nvmlDeviceGetIndex(device card, unsigned *index);
status nvmlDeviceGetName(device card, char *name, unsigned size);
status nvmlDeviceGetUUID(device card, char *text, unsigned size);
status nvmlDeviceGetPciInfo_v3(device card, struct nvml_pci *pci);
status nvmlDeviceGetCudaComputeCapability(device card, int *major, int *minor);
status nvmlDeviceGetMigMode(device card, unsigned *current, unsigned *pending);
status nvmlDeviceGetMemoryInfo(device card, struct nvml_memory_info *memory);
status nvmlDeviceGetMemoryInfo_v2(device card, struct nvml_memory_info_v2 *memory);
status nvmlDeviceGetComputeRunningProcesses_v3(device card, unsigned *count, struct nvml_process_info *processes);
status nvmlDeviceGetComputeRunningProcesses_v2(device card, unsigned *count, struct nvml_process_info *processes);
status nvmlDeviceGetComputeRunningProcesses(device card, unsigned *count, struct nvml_process_info_v1 *processes);
status nvmlDeviceGetGraphicsRunningProcesses_v3(device card, unsigned *count, struct nvml_process_info *processes);

/* --- state, clocks, links --- */

status nvmlDeviceGetUtilizationRates(device card, struct nvml_utilization *ret);
status nvmlDeviceGetPerformanceState(device card, int *state);
status nvmlDeviceGetClockInfo(device card, int type, unsigned *mhz);
status nvmlDeviceGetMaxClockInfo(device card, int type, unsigned *mhz);
status nvmlDeviceGetClock(device card, int type, int id, unsigned *mhz);
status nvmlDeviceGetPcieThroughput(device card, int counter, unsigned *kb_per_s);
status nvmlDeviceGetCurrPcieLinkGeneration(device card, unsigned *generation);
status nvmlDeviceGetCurrPcieLinkWidth(device card, unsigned *width);
status nvmlDeviceGetMemoryBusWidth(device card, unsigned *bits);
status nvmlDeviceGetMinorNumber(device card, unsigned *number);
status nvmlDeviceGetArchitecture(device card, unsigned *architecture);
status nvmlDeviceGetBrand(device card, unsigned *brand);
status nvmlDeviceGetPersistenceMode(device card, unsigned *mode);
status nvmlDeviceGetDisplayMode(device card, unsigned *mode);
status nvmlDeviceGetDisplayActive(device card, unsigned *mode);
status nvmlDeviceGetComputeMode(device card, unsigned *mode);
status nvmlDeviceGetMultiGpuBoard(device card, unsigned *is_multi);
status nvmlDeviceGetNumGpuCores(device card, unsigned *cores);
status nvmlDeviceGetAttributes_v2(device card, struct nvml_attributes *attributes);
status nvmlDeviceGetTopologyCommonAncestor(device a, device b, unsigned *level);
status nvmlDeviceGetP2PStatus(device a, device b, int what, unsigned *answer);
status nvmlDeviceGetNvLinkState(device card, unsigned link, unsigned *is_active);
status nvmlDeviceGetNvLinkRemoteDeviceType(device card, unsigned link, unsigned *type);
status nvmlDeviceGetNvLinkRemotePciInfo_v2(device card, unsigned link, void *pci);
status nvmlDeviceGetNvLinkCapability(device card, unsigned link, int capability, unsigned *answer);
status nvmlDeviceGetNvLinkVersion(device card, unsigned link, unsigned *version);
status nvmlDeviceGetGpuFabricInfoV(device card, void *info);
status nvmlDeviceGetGpuFabricInfo(device card, void *info);
status nvmlDeviceGetCpuAffinity(device card, unsigned n_words, unsigned long *words);
status nvmlDeviceGetNumaNodeId(device card, unsigned *node);
status nvmlDeviceGetEccMode(device card, unsigned *current, unsigned *pending);
status nvmlDeviceGetMPSComputeRunningProcesses_v3(device card, unsigned *count, void *processes);
status nvmlDeviceGetSupportedClocksThrottleReasons(device card, unsigned long long *reasons);
status nvmlDeviceGetCurrentClocksThrottleReasons(device card, unsigned long long *reasons);
status nvmlDeviceGetCurrentClocksEventReasons(device card, unsigned long long *reasons);

#endif
