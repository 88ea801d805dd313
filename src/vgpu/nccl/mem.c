/* SPDX-License-Identifier: MIT */
/* How communicators come about, and what belongs to none. */
#include "vgpu/core/cuda_api.h"
#include "vgpu/nccl/group.h"
#include "vgpu/nccl/nccl_api.h"

#include <stdlib.h>
#include <string.h>

enum { VMM_SLOT_BYTES = 2 << 20 };

nccl_result ncclGetVersion(int *version)
{
    if (!version)
        return plim_nccl_fail(NCCL_INVALID_ARGUMENT, "GetVersion : version argument is NULL");
    *version = NCCL_VERSION_CODE;
    return NCCL_SUCCESS;
}
NCCL_OTHER_NAME(ncclGetVersion);

/* NCCL's own words: programs and their users look for them. */
const char *ncclGetErrorString(nccl_result result)
{
    static const char *const texts[] = {
        [NCCL_SUCCESS] = "no error",
        [NCCL_UNHANDLED_CUDA_ERROR] = "unhandled cuda error (run with NCCL_DEBUG=INFO for details)",
        [NCCL_SYSTEM_ERROR] = "unhandled system error (run with NCCL_DEBUG=INFO for details)",
        [NCCL_INTERNAL_ERROR] = "internal error - please report this issue to the NCCL developers",
        [NCCL_INVALID_ARGUMENT] = "invalid argument (run with NCCL_DEBUG=WARN for details)",
        [NCCL_INVALID_USAGE] = "invalid usage (run with NCCL_DEBUG=WARN for details)",
        [NCCL_REMOTE_ERROR] = "remote process exited or there was a network error",
        [NCCL_IN_PROGRESS] = "NCCL operation in progress",
        [NCCL_TIMEOUT] = "timeout",
    };
    return result >= 0 && (size_t)result < sizeof texts / sizeof *texts ? texts[result] : "unknown result code";
}
NCCL_OTHER_NAME(ncclGetErrorString);

/* It has done nothing since 2.24. */
void ncclResetDebugInit(void) {}
NCCL_OTHER_NAME(ncclResetDebugInit);

nccl_result ncclGetUniqueId(struct nccl_id *id)
{
    if (!id)
        return plim_nccl_fail(NCCL_INVALID_ARGUMENT, "GetUniqueId : id argument is NULL");
    memset(id, 0, sizeof *id);
    return plim_nccl_shm_make(&id->shm) ? NCCL_SUCCESS : plim_nccl_fail(NCCL_SYSTEM_ERROR, "no memory to share");
}
NCCL_OTHER_NAME(ncclGetUniqueId);

/* --- starting --- */

static nccl_result start(struct nccl_comm **new_comm, int n_ranks, const struct plim_nccl_shm_id *shm, int rank,
                         int device, const struct nccl_config *config)
{
    struct nccl_operation operation = { .kind = NCCL_JOIN, .new_comm = new_comm, .shm = *shm };
    if (!new_comm)
        return plim_nccl_fail(NCCL_INVALID_ARGUMENT, "CommInitRank : newcomm argument is NULL");
    *new_comm = NULL;
    nccl_result result = plim_nccl_read_config(config, &operation.limits);
    if (!result)
        result = plim_nccl_comm_new(n_ranks, rank, device, operation.limits, new_comm);
    return result ? result : plim_nccl_do(&operation);
}

nccl_result ncclCommInitRankConfig(struct nccl_comm **new_comm, int n_ranks, struct nccl_id id, int rank,
                                   const struct nccl_config *config)
{
    return start(new_comm, n_ranks, &id.shm, rank, plim_nccl_device(), config);
}
NCCL_OTHER_NAME(ncclCommInitRankConfig);

nccl_result ncclCommInitRank(struct nccl_comm **new_comm, int n_ranks, struct nccl_id id, int rank)
{
    return start(new_comm, n_ranks, &id.shm, rank, plim_nccl_device(), NULL);
}
NCCL_OTHER_NAME(ncclCommInitRank);

/* Several ids only make it faster: all ranks have the same list, and meet at the first. */
nccl_result ncclCommInitRankScalable(struct nccl_comm **new_comm, int n_ranks, int rank, int n_ids,
                                     const struct nccl_id *ids, const struct nccl_config *config)
{
    if (n_ids < 1 || n_ids > n_ranks || !ids)
        return plim_nccl_fail(NCCL_INVALID_ARGUMENT, "CommInitRankScalable : invalid number of ids %d", n_ids);
    return start(new_comm, n_ranks, &ids[0].shm, rank, plim_nccl_device(), config);
}
NCCL_OTHER_NAME(ncclCommInitRankScalable);

nccl_result ncclCommInitAll(struct nccl_comm **comms, int n_devices, const int *devices)
{
    struct nccl_id id;
    if (!comms || n_devices < 1 || n_devices > plim_vgpu_n_cards())
        return plim_nccl_fail(NCCL_INVALID_ARGUMENT, "Invalid device count requested : %d", n_devices);
    for (int i = 0; devices && i < n_devices; i++)
        if (devices[i] < 0 || devices[i] >= plim_vgpu_n_cards())
            return plim_nccl_fail(NCCL_INVALID_ARGUMENT, "Invalid device %d", devices[i]);
    nccl_result result = ncclGetUniqueId(&id);
    if (result)
        return result;
    ncclGroupStart();
    for (int i = 0; i < n_devices && !result; i++)
        result = start(&comms[i], n_devices, &id.shm, i, devices ? devices[i] : i, NULL);
    const nccl_result end = ncclGroupEnd();
    return result ? result : end;
}
NCCL_OTHER_NAME(ncclCommInitAll);

nccl_result ncclCommSplit(struct nccl_comm *comm, int color, int key, struct nccl_comm **new_comm,
                          const struct nccl_config *config)
{
    struct nccl_operation operation = { .kind = NCCL_SPLIT, .comm = comm, .new_comm = new_comm };
    if (!plim_nccl_is_comm(comm) || !new_comm || (color < 0 && color != NCCL_NO_COLOR))
        return plim_nccl_fail(NCCL_INVALID_ARGUMENT, "CommSplit : invalid argument");
    *new_comm = NULL;
    nccl_result result = plim_nccl_read_config(config, &operation.limits);
    if (result)
        return result;
    if (!config)
        operation.limits = comm->limits;
    operation.color.color = color;
    operation.color.key = key;
    if (color != NCCL_NO_COLOR && !plim_nccl_shm_make(&operation.color.shm))
        return plim_nccl_fail(NCCL_SYSTEM_ERROR, "no memory to share");
    return plim_nccl_do(&operation);
}
NCCL_OTHER_NAME(ncclCommSplit);

/* --- memory --- */

/* As NCCL gets it: with cuMemCreate. */
nccl_result ncclMemAlloc(void **pointer, size_t size)
{
    enum { PINNED = 1, ON_DEVICE = 1 };
    device_pointer address = 0;
    unsigned long long handle = 0;
    const struct cu_allocation_properties properties = { .type = PINNED,
                                                         .location = { ON_DEVICE, plim_nccl_device() } };
    if (!pointer || !size || size > (size_t)1 << 50)
        return plim_nccl_fail(NCCL_INVALID_ARGUMENT, "MemAlloc : invalid argument");
    size = (size + VMM_SLOT_BYTES - 1) / VMM_SLOT_BYTES * VMM_SLOT_BYTES;
    int error = cuMemCreate(&handle, size, &properties, 0);
    if (!error && (error = cuMemAddressReserve(&address, size, 0, 0, 0)))
        cuMemRelease(handle);
    if (!error) {
        error = cuMemMap(address, size, 0, handle, 0);
        cuMemRelease(handle); /* the mapping holds it */
        if (error)
            cuMemAddressFree(address, size);
    }
    if (error)
        return plim_nccl_fail(NCCL_UNHANDLED_CUDA_ERROR, "Cuda failure %d '%s'", error, plim_vgpu_error_text(error));
    *pointer = (void *)(uintptr_t)address;
    return NCCL_SUCCESS;
}
NCCL_OTHER_NAME(ncclMemAlloc);

nccl_result ncclMemFree(void *pointer)
{
    device_pointer base = 0;
    size_t size = 0;
    if (!pointer)
        return NCCL_SUCCESS;
    int error = cuMemGetAddressRange_v2(&base, &size, (uintptr_t)pointer);
    if (!error && !(error = cuMemUnmap(base, size)))
        error = cuMemAddressFree(base, size);
    return error ? plim_nccl_fail(NCCL_UNHANDLED_CUDA_ERROR, "Cuda failure %d '%s'", error, plim_vgpu_error_text(error))
                 : NCCL_SUCCESS;
}
NCCL_OTHER_NAME(ncclMemFree);

/* Registration lets NCCL use a buffer as it is; it takes nothing on the card. */
nccl_result ncclCommRegister(const struct nccl_comm *comm, void *buffer, size_t size, void **handle)
{
    if (!plim_nccl_is_comm(comm) || !buffer || !size || !handle)
        return plim_nccl_fail(NCCL_INVALID_ARGUMENT, "CommRegister : invalid argument");
    *handle = buffer;
    return NCCL_SUCCESS;
}
NCCL_OTHER_NAME(ncclCommRegister);

nccl_result ncclCommDeregister(const struct nccl_comm *comm, void *handle)
{
    (void)handle;
    return plim_nccl_is_comm(comm) ? NCCL_SUCCESS
                                   : plim_nccl_fail(NCCL_INVALID_ARGUMENT, "CommDeregister : invalid argument");
}
NCCL_OTHER_NAME(ncclCommDeregister);
