/* SPDX-License-Identifier: MIT */
/*
 * The state of a card that monitors show beside its memory and its load. A virtual card has the clock of its memory
 * only, cards are connected by PCIe only. It has no sensors: temperature, fan and power are not supported, as on real
 * cards that lack them; monitors show N/A.
 */
#include "vgpu/nvml/nvml.h"
#include "vgpu/nvml/nvml_api.h"

#include <string.h>

static status put(device card, unsigned *to, unsigned value)
{
    if (plim_nvml_index(card) < 0 || !to)
        return INVALID_ARGUMENT;
    *to = value;
    return SUCCESS;
}

static status put_none(device card, const void *to)
{
    return plim_nvml_index(card) < 0 || !to ? INVALID_ARGUMENT : NOT_SUPPORTED;
}

status nvmlDeviceGetPerformanceState(device card, int *state)
{
    enum { IDLE = 8 };
    unsigned value;
    status error = put(card, &value, IDLE);
    if (!error)
        *state = (int)value;
    return error;
}

/* --- clocks and buses --- */

/* nvmlClockType_t: graphics, multiprocessors, memory, video. Only that of the memory is in the catalogue. */
static status clock_of(device card, int type, unsigned *mhz)
{
    enum { MEMORY = 2, LAST = 3 };
    if (type < 0 || type > LAST || plim_nvml_index(card) < 0)
        return INVALID_ARGUMENT;
    return type == MEMORY && card->memory_mhz ? put(card, mhz, card->memory_mhz) : NOT_SUPPORTED;
}

status nvmlDeviceGetClockInfo(device card, int type, unsigned *mhz) { return clock_of(card, type, mhz); }
status nvmlDeviceGetMaxClockInfo(device card, int type, unsigned *mhz) { return clock_of(card, type, mhz); }

status nvmlDeviceGetClock(device card, int type, int id, unsigned *mhz)
{
    (void)id;
    return clock_of(card, type, mhz);
}

status nvmlDeviceGetPcieThroughput(device card, int counter, unsigned *kb_per_s)
{
    (void)counter;
    return put(card, kb_per_s, 0);
}

/* The slot of a card is not known. */
status nvmlDeviceGetCurrPcieLinkGeneration(device card, unsigned *generation) { return put_none(card, generation); }
status nvmlDeviceGetCurrPcieLinkWidth(device card, unsigned *width) { return put_none(card, width); }
status nvmlDeviceGetMaxPcieLinkGeneration(device card, unsigned *generation) { return put_none(card, generation); }
status nvmlDeviceGetMaxPcieLinkWidth(device card, unsigned *width) { return put_none(card, width); }

status nvmlDeviceGetMemoryBusWidth(device card, unsigned *bits)
{
    return plim_nvml_index(card) >= 0 && !card->bus_bits ? NOT_SUPPORTED : put(card, bits, card ? card->bus_bits : 0);
}

/* --- identity --- */

status nvmlDeviceGetMinorNumber(device card, unsigned *number)
{
    return put(card, number, (unsigned)plim_nvml_index(card));
}

status nvmlDeviceGetArchitecture(device card, unsigned *architecture)
{
    static const struct {
        unsigned from_cc, architecture;
    } rows[] = {
        { 120, 10 }, { 100, 10 }, { 90, 9 }, { 89, 8 }, { 80, 7 }, { 75, 6 }, { 70, 5 }, { 60, 4 }, { 50, 3 }
    };
    for (size_t i = 0; card && i < sizeof rows / sizeof *rows; i++)
        if (plim_nvml_index(card) >= 0 && card->compute_capability >= rows[i].from_cc)
            return put(card, architecture, rows[i].architecture);
    return put(card, architecture, 2);
}

/* nvmlBrandType_t: 5 is GeForce, 13 is NVIDIA (data centre). */
status nvmlDeviceGetBrand(device card, unsigned *brand)
{
    return put(card, brand, plim_nvml_index(card) >= 0 && strstr(card->name, "GeForce") ? 5 : 13);
}

status nvmlDeviceGetPersistenceMode(device card, unsigned *mode) { return put(card, mode, 1); }
status nvmlDeviceGetDisplayMode(device card, unsigned *mode) { return put(card, mode, 0); }
status nvmlDeviceGetDisplayActive(device card, unsigned *mode) { return put(card, mode, 0); }
status nvmlDeviceGetComputeMode(device card, unsigned *mode) { return put(card, mode, 0); }
status nvmlDeviceGetMultiGpuBoard(device card, unsigned *is_multi) { return put(card, is_multi, 0); }

status nvmlDeviceGetNumGpuCores(device card, unsigned *cores)
{
    /* Cores of a multiprocessor by compute capability: CUDA programming guide, arithmetic throughput of 32-bit adds. */
    const unsigned cc = plim_nvml_index(card) < 0 ? 0 : card->compute_capability;
    const unsigned per_sm = cc == 60 || cc == 70 || cc == 75 || cc == 80 ? 64 : 128;
    return put(card, cores, cc ? card->sm_count * per_sm : 0);
}

status nvmlDeviceGetAttributes_v2(device card, struct nvml_attributes *attributes)
{
    (void)attributes;
    return plim_nvml_index(card) < 0 ? INVALID_ARGUMENT : NOT_SUPPORTED; /* only for parts of a card (MIG) */
}

/* --- links --- */

enum { LINK_NONE = 0, LEVEL_SYSTEM = 50, P2P_OK = 0 };

status nvmlDeviceGetTopologyCommonAncestor(device a, device b, unsigned *level)
{
    return plim_nvml_index(b) < 0 ? INVALID_ARGUMENT : put(a, level, a == b ? 0 : LEVEL_SYSTEM);
}

/* nvmlGpuP2PCapsIndex_t: 0 read, 1 write, 2 NVLink, 3 atomics */
status nvmlDeviceGetP2PStatus(device a, device b, int what, unsigned *answer)
{
    enum { NVLINK = 2, ATOMICS = 3, LAST = 4, NOT_HERE = 5 };
    if (plim_nvml_index(b) < 0 || what < 0 || what > LAST)
        return INVALID_ARGUMENT;
    const bool are_peers = plim_nvml_index(a) >= 0 && plim_card_has_peers(a) && plim_card_has_peers(b);
    return put(a, answer, what == NVLINK || what == ATOMICS || !are_peers ? NOT_HERE : P2P_OK);
}

status nvmlDeviceGetNvLinkState(device card, unsigned link, unsigned *is_active)
{
    (void)link, (void)is_active;
    return plim_nvml_index(card) < 0 ? INVALID_ARGUMENT : NOT_SUPPORTED;
}

status nvmlDeviceGetNvLinkRemoteDeviceType(device card, unsigned link, unsigned *type)
{
    return nvmlDeviceGetNvLinkState(card, link, type);
}

status nvmlDeviceGetNvLinkRemotePciInfo_v2(device card, unsigned link, void *pci)
{
    (void)pci;
    return nvmlDeviceGetNvLinkState(card, link, NULL);
}

status nvmlDeviceGetNvLinkCapability(device card, unsigned link, int capability, unsigned *answer)
{
    (void)capability;
    return nvmlDeviceGetNvLinkState(card, link, answer);
}

status nvmlDeviceGetNvLinkVersion(device card, unsigned link, unsigned *version)
{
    return nvmlDeviceGetNvLinkState(card, link, version);
}

status nvmlDeviceGetGpuFabricInfoV(device card, void *info)
{
    (void)info;
    return plim_nvml_index(card) < 0 ? INVALID_ARGUMENT : NOT_SUPPORTED;
}

status nvmlDeviceGetGpuFabricInfo(device card, void *info) { return nvmlDeviceGetGpuFabricInfoV(card, info); }

/* All processors of the machine. */
status nvmlDeviceGetCpuAffinity(device card, unsigned n_words, unsigned long *words)
{
    if (plim_nvml_index(card) < 0 || !words)
        return INVALID_ARGUMENT;
    memset(words, 0xff, n_words * sizeof *words);
    return SUCCESS;
}

status nvmlDeviceGetNumaNodeId(device card, unsigned *node)
{
    (void)node;
    return plim_nvml_index(card) < 0 ? INVALID_ARGUMENT : NOT_SUPPORTED;
}

/* Of Windows only. */
status nvmlDeviceGetDriverModel_v2(device card, unsigned *current, unsigned *pending)
{
    (void)pending;
    return put_none(card, current);
}

/* --- parts of a card (MIG): none --- */

status nvmlDeviceGetMigMode(device card, unsigned *current, unsigned *pending)
{
    (void)pending;
    return put_none(card, current);
}

status nvmlDeviceGetMaxMigDeviceCount(device card, unsigned *count) { return put(card, count, 0); }
status nvmlDeviceIsMigDeviceHandle(device card, unsigned *is_instance) { return put(card, is_instance, 0); }

/* --- memory errors --- */

status nvmlDeviceGetEccMode(device card, unsigned *current, unsigned *pending)
{
    (void)current, (void)pending;
    return plim_nvml_index(card) < 0 ? INVALID_ARGUMENT : NOT_SUPPORTED;
}

status nvmlDeviceGetTotalEccErrors(device card, int type, int counter, unsigned long long *count)
{
    (void)type, (void)counter;
    return put_none(card, count);
}

/* --- sensors: there are none --- */

status nvmlDeviceGetTemperature(device card, int sensor, unsigned *degrees)
{
    (void)sensor;
    return put_none(card, degrees);
}

status nvmlDeviceGetTemperatureThreshold(device card, int threshold, unsigned *degrees)
{
    (void)threshold;
    return put_none(card, degrees);
}

status nvmlDeviceGetTemperatureV(device card, void *temperature) { return put_none(card, temperature); }
status nvmlDeviceGetFanSpeed(device card, unsigned *percent) { return put_none(card, percent); }
status nvmlDeviceGetPowerUsage(device card, unsigned *mw) { return put_none(card, mw); }
status nvmlDeviceGetPowerManagementLimit(device card, unsigned *mw) { return put_none(card, mw); }
status nvmlDeviceGetEnforcedPowerLimit(device card, unsigned *mw) { return put_none(card, mw); }

/* --- clocks that were slowed down: never --- */

status nvmlDeviceGetSupportedClocksThrottleReasons(device card, unsigned long long *reasons)
{
    unsigned none = 0;
    status error = put(card, &none, 0);
    if (!error)
        *reasons = none;
    return error;
}

status nvmlDeviceGetCurrentClocksThrottleReasons(device card, unsigned long long *reasons)
{
    return nvmlDeviceGetSupportedClocksThrottleReasons(card, reasons);
}

status nvmlDeviceGetCurrentClocksEventReasons(device card, unsigned long long *reasons)
{
    return nvmlDeviceGetSupportedClocksThrottleReasons(card, reasons);
}
