/* SPDX-License-Identifier: MIT */
/* Memory that programs get from NCCL, and buffers that they register. */
#include "vgpu/core/cuda_api.h"
#include "vgpu/nccl/nccl_api.h"

enum { VMM_SLOT_BYTES = 2 << 20 };

/* As NCCL allocates it: with cuMemCreate. */
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

/* Registration lets NCCL use a buffer directly; it takes no memory on the card. */
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
