/* SPDX-License-Identifier: MIT */
/*
 * libcublas: handles take the workspace that NVIDIA's library takes for them, products compute nothing. The functions
 * are those that ggml calls, and what is near them. The declarations are our own, after the cuBLAS reference.
 */
#include "vgpu/session.h"

#include <stdlib.h>

typedef int status; /* cublasStatus_t */
enum { SUCCESS = 0, NOT_INITIALIZED = 1, ALLOC_FAILED = 3 };

int cuCtxGetDevice(int *device); /* of the driver */

struct handle {
    const struct handle *self; /* tells a handle from something else */
    uint32_t record;
    bool is_charged;
    int math_mode;
    void *stream;
};

static bool is_handle(const struct handle *handle) { return handle && handle->self == handle; }

status cublasCreate_v2(struct handle **ret_handle)
{
    int device = 0;
    if (cuCtxGetDevice(&device))
        device = 0;
    const struct plim_ledger_card *card = plim_vgpu_card(device);
    struct handle *handle = card && !plim_vgpu_need_context(device) ? calloc(1, sizeof *handle) : NULL;
    if (!handle)
        return card ? ALLOC_FAILED : NOT_INITIALIZED;
    if (card->cublas.bytes) {
        if (plim_vgpu_charge(device, PLIM_KIND_CUBLAS, card->cublas.bytes, &handle->record)) {
            free(handle);
            return ALLOC_FAILED;
        }
        handle->is_charged = true;
    }
    handle->self = handle;
    *ret_handle = handle;
    return SUCCESS;
}

status cublasDestroy_v2(struct handle *handle)
{
    if (!is_handle(handle))
        return NOT_INITIALIZED;
    if (handle->is_charged)
        plim_vgpu_uncharge(handle->record);
    handle->self = NULL;
    free(handle);
    return SUCCESS;
}

const char *cublasGetStatusString(status code)
{
    return code == SUCCESS           ? "the operation completed successfully"
           : code == NOT_INITIALIZED ? "the library was not initialized"
           : code == ALLOC_FAILED    ? "the resource allocation failed"
                                     : "the virtual cuBLAS refused the call";
}

const char *cublasGetStatusName(status code)
{
    return code == SUCCESS           ? "CUBLAS_STATUS_SUCCESS"
           : code == NOT_INITIALIZED ? "CUBLAS_STATUS_NOT_INITIALIZED"
           : code == ALLOC_FAILED    ? "CUBLAS_STATUS_ALLOC_FAILED"
                                     : "CUBLAS_STATUS_INVALID_VALUE";
}

status cublasGetVersion_v2(struct handle *handle, int *version)
{
    (void)handle;
    *version = PLIM_MAJOR * 10000;
    return SUCCESS;
}

status cublasSetStream_v2(struct handle *handle, void *stream)
{
    if (!is_handle(handle))
        return NOT_INITIALIZED;
    handle->stream = stream;
    return SUCCESS;
}

status cublasGetStream_v2(struct handle *handle, void **stream)
{
    if (!is_handle(handle))
        return NOT_INITIALIZED;
    *stream = handle->stream;
    return SUCCESS;
}

status cublasSetMathMode(struct handle *handle, int mode)
{
    if (!is_handle(handle))
        return NOT_INITIALIZED;
    handle->math_mode = mode;
    return SUCCESS;
}

status cublasGetMathMode(struct handle *handle, int *mode)
{
    if (!is_handle(handle))
        return NOT_INITIALIZED;
    *mode = handle->math_mode;
    return SUCCESS;
}

/* The rest takes a handle first and writes device memory only. */
#define ON_DEVICE(name)                                                                                                \
    status name(struct handle *handle) { return is_handle(handle) ? SUCCESS : NOT_INITIALIZED; }

ON_DEVICE(cublasSetWorkspace_v2)
ON_DEVICE(cublasSetPointerMode_v2)
ON_DEVICE(cublasSgemm_v2)
ON_DEVICE(cublasHgemm)
ON_DEVICE(cublasSgemmBatched)
ON_DEVICE(cublasSgemmStridedBatched)
ON_DEVICE(cublasHgemmBatched)
ON_DEVICE(cublasHgemmStridedBatched)
ON_DEVICE(cublasSgemmEx)
ON_DEVICE(cublasGemmEx)
ON_DEVICE(cublasGemmBatchedEx)
ON_DEVICE(cublasGemmStridedBatchedEx)
ON_DEVICE(cublasStrsm_v2)
ON_DEVICE(cublasStrsmBatched)
ON_DEVICE(cublasSgemv_v2)
