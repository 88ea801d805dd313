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

/* nvmlProcessDetail_v1_t, nvmlProcessDetailList_v1_t */
struct nvml_process_detail {
    unsigned pid;
    unsigned long long used;
    unsigned gpu_instance, compute_instance;
    unsigned long long protected_bytes;
};

struct nvml_process_details {
    unsigned version, mode, n;
    struct nvml_process_detail *process;
};
_Static_assert(sizeof(struct nvml_process_detail) == 32 && sizeof(struct nvml_process_details) == 24,
               "nvmlProcessDetailList_v1_t");

/* nvmlProcessUtilizationSample_t */
struct nvml_process_load {
    unsigned pid;
    unsigned long long time_us;
    unsigned sm, memory, encoder, decoder;
};

/* nvmlProcessUtilizationInfo_v1_t, nvmlProcessesUtilizationInfo_v1_t */
struct nvml_process_load_v1 {
    unsigned long long time_us;
    unsigned pid, sm, memory, encoder, decoder, jpeg, ofa;
};

struct nvml_process_loads {
    unsigned version, n;
    unsigned long long last_seen_us;
    struct nvml_process_load_v1 *process;
};
_Static_assert(sizeof(struct nvml_process_load) == 32 && sizeof(struct nvml_process_load_v1) == 40 &&
                   sizeof(struct nvml_process_loads) == 24,
               "nvmlProcessesUtilizationInfo_v1_t");

/* nvmlAccountingStats_t */
struct nvml_accounting {
    unsigned gpu_percent, memory_percent;
    unsigned long long max_bytes, time_ms, start_us;
    unsigned is_running, reserved[5];
};
_Static_assert(sizeof(struct nvml_accounting) == 56, "nvmlAccountingStats_t");

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
status nvmlDeviceGetMemoryInfo(device card, struct nvml_memory_info *memory);
status nvmlDeviceGetMemoryInfo_v2(device card, struct nvml_memory_info_v2 *memory);

/* --- processes --- */

status nvmlDeviceGetComputeRunningProcesses_v3(device card, unsigned *count, struct nvml_process_info *processes);
status nvmlDeviceGetComputeRunningProcesses_v2(device card, unsigned *count, struct nvml_process_info *processes);
status nvmlDeviceGetComputeRunningProcesses(device card, unsigned *count, struct nvml_process_info_v1 *processes);
status nvmlDeviceGetGraphicsRunningProcesses_v3(device card, unsigned *count, struct nvml_process_info *processes);
status nvmlDeviceGetGraphicsRunningProcesses_v2(device card, unsigned *count, struct nvml_process_info *processes);
status nvmlDeviceGetGraphicsRunningProcesses(device card, unsigned *count, struct nvml_process_info_v1 *processes);
status nvmlDeviceGetMPSComputeRunningProcesses_v3(device card, unsigned *count, struct nvml_process_info *processes);
status nvmlDeviceGetMPSComputeRunningProcesses_v2(device card, unsigned *count, struct nvml_process_info *processes);
status nvmlDeviceGetMPSComputeRunningProcesses(device card, unsigned *count, struct nvml_process_info_v1 *processes);
status nvmlDeviceGetRunningProcessDetailList(device card, struct nvml_process_details *list);

/* --- load and accounting --- */

status nvmlDeviceGetUtilizationRates(device card, struct nvml_utilization *ret);
status nvmlDeviceGetProcessUtilization(device card, struct nvml_process_load *ret_loads, unsigned *count,
                                       unsigned long long last_seen_us);
status nvmlDeviceGetProcessesUtilizationInfo(device card, struct nvml_process_loads *loads);
status nvmlDeviceGetEncoderUtilization(device card, unsigned *percent, unsigned *period_us);
status nvmlDeviceGetDecoderUtilization(device card, unsigned *percent, unsigned *period_us);
status nvmlDeviceGetAccountingMode(device card, unsigned *mode);
status nvmlDeviceGetAccountingBufferSize(device card, unsigned *n);
status nvmlDeviceGetAccountingPids(device card, unsigned *count, unsigned *pids);
status nvmlDeviceGetAccountingStats(device card, unsigned pid, struct nvml_accounting *ret);

/* --- state, clocks, links --- */

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
status nvmlDeviceGetMigMode(device card, unsigned *current, unsigned *pending);
status nvmlDeviceGetMaxMigDeviceCount(device card, unsigned *count);
status nvmlDeviceIsMigDeviceHandle(device card, unsigned *is_instance);
status nvmlDeviceGetTemperature(device card, int sensor, unsigned *degrees);
status nvmlDeviceGetTemperatureV(device card, void *temperature);
status nvmlDeviceGetTemperatureThreshold(device card, int threshold, unsigned *degrees);
status nvmlDeviceGetFanSpeed(device card, unsigned *percent);
status nvmlDeviceGetPowerUsage(device card, unsigned *mw);
status nvmlDeviceGetPowerManagementLimit(device card, unsigned *mw);
status nvmlDeviceGetEnforcedPowerLimit(device card, unsigned *mw);
status nvmlDeviceGetMaxPcieLinkGeneration(device card, unsigned *generation);
status nvmlDeviceGetMaxPcieLinkWidth(device card, unsigned *width);
status nvmlDeviceGetDriverModel_v2(device card, unsigned *current, unsigned *pending);
status nvmlDeviceGetTotalEccErrors(device card, int type, int counter, unsigned long long *count);
status nvmlDeviceGetEccMode(device card, unsigned *current, unsigned *pending);
status nvmlDeviceGetSupportedClocksThrottleReasons(device card, unsigned long long *reasons);
status nvmlDeviceGetCurrentClocksThrottleReasons(device card, unsigned long long *reasons);
status nvmlDeviceGetCurrentClocksEventReasons(device card, unsigned long long *reasons);

#endif
