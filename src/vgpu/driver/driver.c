/* SPDX-License-Identifier: MIT */
/*
 * libcuda.so.1: devices and errors. NVIDIA's private tables (cuGetExportTable) are not implemented.
 */
#include "vgpu/core/attributes.h"
#include "vgpu/core/cuda_api.h"
#include "vgpu/driver/contexts.h"
#include "vgpu/driver/foreign.h"

#include <stdio.h>
#include <string.h>

static status ready(void)
{
    int error;
    plim_vgpu_ledger(&error);
    return error;
}

/* --- devices --- */

static atomic_bool is_initialized;

status cuInit(unsigned flags)
{
    (void)flags;
    status error = ready();
    if (!error || error == PLIM_CUDA_NO_DEVICE)
        atomic_store_explicit(&is_initialized, true, memory_order_relaxed);
    return error;
}

status cuDriverGetVersion(int *version)
{
    *version = PLIM_DRIVER_VERSION;
    return PLIM_CUDA_SUCCESS;
}

status cuDeviceGetCount(int *count)
{
    if (!atomic_load_explicit(&is_initialized, memory_order_relaxed))
        return PLIM_CUDA_NOT_INITIALIZED;
    status error = ready();
    if (!count)
        return PLIM_CUDA_INVALID_VALUE;
    *count = error ? 0 : plim_vgpu_n_cards();
    return error == PLIM_CUDA_NO_DEVICE ? PLIM_CUDA_SUCCESS : error;
}

status cuDeviceGet(int *device, int ordinal)
{
    if (!atomic_load_explicit(&is_initialized, memory_order_relaxed))
        return PLIM_CUDA_NOT_INITIALIZED;
    status error = device ? plim_context_check_device(ordinal) : PLIM_CUDA_INVALID_VALUE;
    if (!error)
        *device = ordinal;
    return error;
}

status cuDeviceGetName(char *name, int size, int device)
{
    status error = name ? plim_context_check_device(device) : PLIM_CUDA_INVALID_VALUE;
    if (!error && size > 0)
        snprintf(name, (size_t)size, "%s", plim_vgpu_card(device)->name);
    return error;
}

status cuDeviceGetUuid(void *uuid, int device)
{
    status error = uuid ? plim_context_check_device(device) : PLIM_CUDA_INVALID_VALUE;
    if (!error)
        plim_card_uuid(plim_vgpu_card_of(device), uuid);
    return error;
}

status cuDeviceGetUuid_v2(void *uuid, int device) { return cuDeviceGetUuid(uuid, device); }

status cuDeviceTotalMem_v2(size_t *bytes, int device)
{
    status error = bytes ? plim_context_check_device(device) : PLIM_CUDA_INVALID_VALUE;
    if (!error)
        *bytes = plim_vgpu_card(device)->total_bytes - plim_vgpu_card(device)->reserved_bytes;
    return error;
}

status cuDeviceGetAttribute(int *value, int attribute, int device)
{
    char what[40];
    status error = value ? plim_context_check_device(device) : PLIM_CUDA_INVALID_VALUE;
    if (error || plim_attribute(plim_vgpu_card(device), plim_vgpu_card_of(device), attribute, value))
        return error;
    *value = 0;
    snprintf(what, sizeof what, "device attribute %d", attribute);
    plim_ledger_warn(plim_vgpu_ledger(&error), "no_value", what);
    return PLIM_CUDA_SUCCESS;
}

status cuDeviceComputeCapability(int *major, int *minor, int device)
{
    status error = cuDeviceGetAttribute(major, 75, device);
    return error ? error : cuDeviceGetAttribute(minor, 76, device);
}

status cuDeviceGetPCIBusId(char *text, int size, int device)
{
    char id[PLIM_PCI_TEXT];
    status error = plim_context_check_device(device);
    plim_card_pci(plim_vgpu_card_of(device), id);
    if (!error && size > 0)
        snprintf(text, (size_t)size, "%s", id);
    return error;
}

status cuDeviceGetByPCIBusId(int *device, const char *text)
{
    unsigned domain, bus;
    if (!device || !text || sscanf(text, "%x:%x:", &domain, &bus) != 2 || bus == 0 ||
        plim_vgpu_device_of((int)bus - 1) < 0)
        return PLIM_CUDA_INVALID_VALUE;
    *device = plim_vgpu_device_of((int)bus - 1);
    return PLIM_CUDA_SUCCESS;
}

static bool are_peers(int device, int peer)
{
    return device != peer && plim_card_has_peers(plim_vgpu_card(device)) && plim_card_has_peers(plim_vgpu_card(peer));
}

status cuDeviceCanAccessPeer(int *can, int device, int peer)
{
    status error = plim_context_check_device(device);
    if (!error && !(error = plim_context_check_device(peer)) && !can)
        error = PLIM_CUDA_INVALID_VALUE;
    if (!error)
        *can = are_peers(device, peer);
    return error;
}

/* Bit p of peers[d]: device d may access device p. Enabling or disabling twice is an error, as the reference says. */
static atomic_uint peers[PLIM_LEDGER_MAX_CARDS];

static status peer_enable(int device, int peer, unsigned flags)
{
    if (flags || device == peer)
        return flags ? PLIM_CUDA_INVALID_VALUE : PLIM_CUDA_INVALID_DEVICE;
    if (!are_peers(device, peer))
        return PLIM_CUDA_PEER_UNSUPPORTED;
    return atomic_fetch_or(&peers[device], 1u << peer) >> peer & 1 ? PLIM_CUDA_PEER_ALREADY_ENABLED : PLIM_CUDA_SUCCESS;
}

static status peer_disable(int device, int peer)
{
    return atomic_fetch_and(&peers[device], ~(1u << peer)) >> peer & 1 ? PLIM_CUDA_SUCCESS : PLIM_CUDA_PEER_NOT_ENABLED;
}

/* CUdevice_P2PAttribute: 1 rank, 2 access, 3 atomics, 4 arrays; over PCIe there are no atomics. */
status cuDeviceGetP2PAttribute(int *value, int attribute, int device, int peer)
{
    status error = plim_context_check_device(device);
    if (error || (error = plim_context_check_device(peer)))
        return error;
    if (attribute < 1 || attribute > 4 || device == peer || !value)
        return PLIM_CUDA_INVALID_VALUE;
    *value = (attribute == 2 || attribute == 4) && are_peers(device, peer);
    return PLIM_CUDA_SUCCESS;
}

status cuCtxEnablePeerAccess(void *peer, unsigned flags)
{
    const int device = plim_context_device_of(peer);
    status error = plim_context_need();
    if (error)
        return error;
    if (device < 0)
        return PLIM_CUDA_INVALID_CONTEXT;
    return peer_enable(plim_context_device(), device, flags);
}

status cuCtxDisablePeerAccess(void *peer)
{
    const int device = plim_context_device_of(peer);
    status error = plim_context_need();
    if (error)
        return error;
    return device < 0 ? PLIM_CUDA_INVALID_CONTEXT : peer_disable(plim_context_device(), device);
}

status cuDeviceGetTexture1DLinearMaxWidth(size_t *width, int format, unsigned channels, int device)
{
    status error = plim_context_check_device(device);
    (void)format, (void)channels;
    if (!error)
        *width = (size_t)1 << 28;
    return error;
}

status cuDeviceGetExecAffinitySupport(int *is_supported, int type, int device)
{
    status error = plim_context_check_device(device);
    (void)type;
    if (!error)
        *is_supported = 0;
    return error;
}

/* --- other interfaces --- */

/* For profilers: there is nothing to start or stop. */
status cuProfilerStart(void) { return plim_context_need(); }
status cuProfilerStop(void) { return plim_context_need(); }

/* No card draws: none belongs to an OpenGL context. */
status cuGLGetDevices_v2(unsigned *ret_n, int *devices, unsigned room, int list)
{
    int error;
    (void)devices, (void)room, (void)list;
    plim_vgpu_ledger(&error);
    if (error || !ret_n)
        return error ? error : PLIM_CUDA_INVALID_VALUE;
    *ret_n = 0;
    return PLIM_CUDA_NO_DEVICE;
}

status cuGLGetDevices(unsigned *ret_n, int *devices, unsigned room, int list)
{
    return cuGLGetDevices_v2(ret_n, devices, room, list);
}

/* --- logs: nothing is logged, so no callback is called --- */

status cuLogsRegisterCallback(void (*callback)(void *, int, const char *, size_t), void *data, void **ret_handle)
{
    static char registered;
    (void)data;
    if (!callback)
        return PLIM_CUDA_INVALID_VALUE;
    if (ret_handle)
        *ret_handle = &registered;
    return PLIM_CUDA_SUCCESS;
}

status cuLogsUnregisterCallback(void *handle) { return handle ? PLIM_CUDA_SUCCESS : PLIM_CUDA_INVALID_VALUE; }

/* --- errors, private tables --- */

status cuGetErrorString(status error, const char **text)
{
    *text = plim_vgpu_is_error(error) ? plim_vgpu_error_text(error) : NULL;
    return *text ? PLIM_CUDA_SUCCESS : PLIM_CUDA_INVALID_VALUE;
}

status cuGetErrorName(status error, const char **name)
{
    *name = plim_vgpu_is_error(error) ? plim_vgpu_error_name(error, false) : NULL;
    return *name ? PLIM_CUDA_SUCCESS : PLIM_CUDA_INVALID_VALUE;
}

/* NVIDIA's own runtime calls it, in a program that has it linked statically (-cudart static, nvcc's default). */
status cuGetExportTable(const void **table, const void *id)
{
    (void)id;
    *table = NULL;
    plim_vgpu_asked_for_tables(__builtin_return_address(0));
    return PLIM_CUDA_NOT_FOUND;
}
