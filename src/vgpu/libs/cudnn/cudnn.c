/* SPDX-License-Identifier: MIT */
/*
 * libcudnn: handles, with the 24 KiB that NVIDIA's library takes for one, and the descriptions of tensors and layers.
 * Recurrent layers, convolutions and the backend are in files of their own.
 */
#include "vgpu/libs/cudnn/cudnn.h"

#include "vgpu/libs/cudnn/cudnn_api.h"

#include <string.h>

enum {
    HANDLE_BYTES = (24 << 10) + 4,
    THOUSAND = PLIM_MAJOR >= 9 ? 10000 : 1000, /* version 9.1.0 is 90100, and 8.9.6 is 8906 */
};

/* --- handles --- */

status cudnnCreate(void **ret_handle)
{
    if (!ret_handle)
        return CUDNN_NULL_POINTER;
    const int device = plim_library_device();
    if (device < 0)
        return CUDNN_NOT_INITIALIZED;
    struct plim_cudnn *h;
    void *handle = plim_handle_make(CUDNN_HANDLE, sizeof *h, (void **)&h);
    if (!handle)
        return CUDNN_ALLOCATION_FAILED;
    h->device = device;
    if (!plim_library_charge(&h->own, device, PLIM_KIND_LIBRARY, HANDLE_BYTES)) {
        plim_handle_drop(handle);
        return CUDNN_DEVICE_ALLOCATION_FAILED;
    }
    *ret_handle = handle;
    return CUDNN_SUCCESS;
}

status cudnnDestroy(void *handle)
{
    struct plim_cudnn *h = plim_handle_body(handle, CUDNN_HANDLE);
    if (!h)
        return CUDNN_BAD_PARAM;
    plim_library_uncharge(&h->own);
    plim_handle_drop(handle);
    return CUDNN_SUCCESS;
}

status cudnnSetStream(const void *handle, void *stream)
{
    struct plim_cudnn *h = plim_handle_body(handle, CUDNN_HANDLE);
    if (h)
        h->stream = stream;
    return h ? CUDNN_SUCCESS : CUDNN_BAD_PARAM;
}

status cudnnGetStream(const void *handle, void **ret_stream)
{
    const struct plim_cudnn *h = plim_handle_body(handle, CUDNN_HANDLE);
    if (h && ret_stream)
        *ret_stream = h->stream;
    return !h ? CUDNN_BAD_PARAM : ret_stream ? CUDNN_SUCCESS : CUDNN_NULL_POINTER;
}

status plim_cudnn_run(const void *handle)
{
    const struct plim_cudnn *h = plim_handle_body(handle, CUDNN_HANDLE);
    return !h ? CUDNN_BAD_PARAM : plim_library_work(h->device, h->stream) ? CUDNN_SUCCESS : CUDNN_EXECUTION_FAILED;
}

status plim_cudnn_write(const void *handle, const uintptr_t words[PLIM_N_WORDS])
{
    const struct plim_cudnn *h = plim_handle_body(handle, CUDNN_HANDLE);
    return !h                                                ? CUDNN_BAD_PARAM
           : plim_library_write(h->device, h->stream, words) ? CUDNN_SUCCESS
                                                             : CUDNN_EXECUTION_FAILED;
}

status plim_cudnn_write_to(const void *handle, uintptr_t first, uintptr_t second)
{
    return plim_cudnn_write(handle, (const uintptr_t[PLIM_N_WORDS]){ first, second });
}

/* --- texts and versions --- */

size_t cudnnGetVersion(void) { return PLIM_MAJOR * THOUSAND + PLIM_MINOR * 100 + PLIM_PATCH; }

/* All parts of the library are of one version. */
status cudnnGraphVersionCheck(void) { return CUDNN_SUCCESS; }
status cudnnOpsVersionCheck(void) { return CUDNN_SUCCESS; }
status cudnnCnnVersionCheck(void) { return CUDNN_SUCCESS; }
status cudnnAdvVersionCheck(void) { return CUDNN_SUCCESS; }
size_t cudnnGetMaxDeviceVersion(void) { return 1210; }
size_t cudnnGetCudartVersion(void) { return PLIM_OF_CUDA; }

status cudnnGetProperty(int part, int *value)
{
    if (part < 0 || part > 2 || !value)
        return CUDNN_BAD_PARAM;
    *value = ((const int[]){ PLIM_MAJOR, PLIM_MINOR, PLIM_PATCH })[part];
    return CUDNN_SUCCESS;
}

const char *cudnnGetErrorString(status code)
{
    static const struct {
        status code;
        const char *text;
    } words[] = {
        { CUDNN_SUCCESS, "CUDNN_STATUS_SUCCESS" },
        { CUDNN_NOT_INITIALIZED, "CUDNN_STATUS_NOT_INITIALIZED" },
        { CUDNN_BAD_PARAM, "CUDNN_STATUS_BAD_PARAM" },
        { CUDNN_NOT_SUPPORTED, "CUDNN_STATUS_NOT_SUPPORTED" },
        { CUDNN_EXECUTION_FAILED, "CUDNN_STATUS_EXECUTION_FAILED" },
#if PLIM_MAJOR >= 9
        { CUDNN_NULL_POINTER, "CUDNN_STATUS_BAD_PARAM_NULL_POINTER" },
        { CUDNN_NOT_FINALIZED, "CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED" },
        { CUDNN_SIZE_INSUFFICIENT, "CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT" },
        { CUDNN_ATTRIBUTE_TYPE, "CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE" },
        { CUDNN_ALLOCATION_FAILED, "CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED" },
        { CUDNN_DEVICE_ALLOCATION_FAILED, "CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED" },
#else
        { CUDNN_ALLOCATION_FAILED, "CUDNN_STATUS_ALLOC_FAILED" },
#endif
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (words[i].code == code)
            return words[i].text;
    return PLIM_MAJOR >= 9 ? "CUDNN_UNKNOWN_STATUS" : "CUDNN_STATUS_UNKNOWN";
}

/* Errors have no further text. */
void cudnnGetLastErrorString(char *message, size_t size)
{
    if (message && size)
        message[0] = '\0';
}

size_t plim_cudnn_element(int type)
{
    static const uint8_t bytes[] = { 4, 8, 2, 1, 4, 4, 1, 4, 32, 2, 8, 1, 1, 1 };
    return type >= 0 && (size_t)type < sizeof bytes ? bytes[type] : 0;
}

/* --- descriptions --- */

status plim_cudnn_make(void **ret_object, int kind, size_t size)
{
    if (!ret_object)
        return CUDNN_NULL_POINTER;
    *ret_object = plim_handle_make(kind, size, NULL);
    return *ret_object ? CUDNN_SUCCESS : CUDNN_ALLOCATION_FAILED;
}

status plim_cudnn_drop(void *object, int kind)
{
    if (object && !plim_handle_body(object, kind))
        return CUDNN_BAD_PARAM;
    plim_handle_drop(object);
    return CUDNN_SUCCESS;
}

#define OBJECT(name, kind, size)                                                                                       \
    CUDNN_CREATE(name) { return plim_cudnn_make(ret_object, kind, size); }                                             \
    CUDNN_DESTROY(name) { return plim_cudnn_drop(object, kind); }
CUDNN_DESCRIPTIONS(OBJECT)

static status set_tensor(const void *object, int kind, int type, int format, int n, const int *size, const int *step)
{
    struct plim_cudnn_tensor *t = plim_handle_body(object, kind);
    if (!t || !plim_cudnn_element(type) || n < 1 || n > CUDNN_MAX_DIMENSIONS || !size)
        return CUDNN_BAD_PARAM;
    for (int i = 0; i < n; i++)
        if (size[i] < 1)
            return CUDNN_BAD_PARAM;
    *t = (struct plim_cudnn_tensor){ .type = type, .format = format, .n = n };
    memcpy(t->size, size, (size_t)n * sizeof *size);
    if (step)
        memcpy(t->step, step, (size_t)n * sizeof *step);
    return CUDNN_SUCCESS;
}

static int at_most(int a, int b) { return a < b ? a : b; }

static status get_tensor(const void *object, int kind, int n_wanted, int *ret_type, int *ret_format, int *ret_n,
                         int *size, int *step)
{
    const struct plim_cudnn_tensor *t = plim_handle_body(object, kind);
    if (!t || n_wanted < 0)
        return CUDNN_BAD_PARAM;
    const size_t n = (size_t)at_most(n_wanted, t->n);
    if (ret_type)
        *ret_type = t->type;
    if (ret_format)
        *ret_format = t->format;
    if (ret_n)
        *ret_n = t->n;
    if (size)
        memcpy(size, t->size, n * sizeof *size);
    if (step)
        memcpy(step, t->step, n * sizeof *step);
    return CUDNN_SUCCESS;
}

status cudnnSetTensorNdDescriptor(const void *object, int type, int n, const int *size, const int *step)
{
    return step ? set_tensor(object, CUDNN_TENSOR, type, 0, n, size, step) : CUDNN_BAD_PARAM;
}

/* n, c, h, w, with the channels last for format 1. */
status cudnnSetTensor4dDescriptor(const void *object, int format, int type, int n, int c, int h, int w)
{
    const int first[] = { c * h * w, h * w, w, 1 }, last[] = { c * h * w, 1, w * c, c };
    return set_tensor(object, CUDNN_TENSOR, type, format, 4, (const int[]){ n, c, h, w }, format == 1 ? last : first);
}

status cudnnSetTensor4dDescriptorEx(const void *object, int type, int n, int c, int h, int w, int n_step, int c_step,
                                    int h_step, int w_step)
{
    return set_tensor(object, CUDNN_TENSOR, type, 0, 4, (const int[]){ n, c, h, w },
                      (const int[]){ n_step, c_step, h_step, w_step });
}

status cudnnGetTensorNdDescriptor(const void *object, int n_wanted, int *ret_type, int *ret_n, int *size, int *step)
{
    return get_tensor(object, CUDNN_TENSOR, n_wanted, ret_type, NULL, ret_n, size, step);
}

status cudnnSetFilterNdDescriptor(const void *object, int type, int format, int n, const int *size)
{
    return set_tensor(object, CUDNN_FILTER, type, format, n, size, NULL);
}

status cudnnSetFilter4dDescriptor(const void *object, int type, int format, int k, int c, int h, int w)
{
    return set_tensor(object, CUDNN_FILTER, type, format, 4, (const int[]){ k, c, h, w }, NULL);
}

status cudnnGetFilterNdDescriptor(const void *object, int n_wanted, int *ret_type, int *ret_format, int *ret_n,
                                  int *size)
{
    return get_tensor(object, CUDNN_FILTER, n_wanted, ret_type, ret_format, ret_n, size, NULL);
}

/* Settings without an effect here. */
#define WISH(name, kind)                                                                                               \
    status cudnn##name(const void *object) { return plim_handle_body(object, kind) ? CUDNN_SUCCESS : CUDNN_BAD_PARAM; }

WISH(SetPooling2dDescriptor, CUDNN_POOLING)
WISH(SetPoolingNdDescriptor, CUDNN_POOLING)
WISH(SetActivationDescriptor, CUDNN_ACTIVATION)
WISH(SetSpatialTransformerNdDescriptor, CUDNN_SPATIAL)

/* --- dropout: the state of a generator (48 bytes, cuRAND's XORWOW) for each of 2048 threads of a multiprocessor --- */

enum { STATE_BYTES = 48, THREADS_PER_SM = 2048 };

status cudnnDropoutGetStatesSize(const void *handle, size_t *ret_bytes)
{
    const struct plim_cudnn *h = plim_handle_body(handle, CUDNN_HANDLE);
    const struct plim_ledger_card *card = h ? plim_vgpu_card(h->device) : NULL;
    if (!card || !ret_bytes)
        return CUDNN_BAD_PARAM;
    plim_vgpu_remark("assumed", "cuDNN's dropout state has 48 bytes for each of 2048 threads of a multiprocessor");
    *ret_bytes = (size_t)card->sm_count * THREADS_PER_SM * STATE_BYTES;
    return CUDNN_SUCCESS;
}

status cudnnSetDropoutDescriptor(const void *object, const void *handle, float rate, void *states, size_t size,
                                 unsigned long long seed)
{
    size_t needed = 0;
    (void)seed;
    if (!plim_handle_body(object, CUDNN_DROPOUT) || !(rate >= 0 && rate <= 1))
        return CUDNN_BAD_PARAM;
    if (!states) /* no state: for inference */
        return CUDNN_SUCCESS;
    const status done = cudnnDropoutGetStatesSize(handle, &needed);
    return done != CUDNN_SUCCESS ? done : size < needed ? CUDNN_SIZE_INSUFFICIENT : plim_cudnn_run(handle);
}

status cudnnRestoreDropoutDescriptor(const void *object, const void *handle, float rate, void *states, size_t size,
                                     unsigned long long seed)
{
    (void)states, (void)size, (void)seed;
    return plim_handle_body(object, CUDNN_DROPOUT) && plim_handle_body(handle, CUDNN_HANDLE) && rate >= 0 && rate <= 1
               ? CUDNN_SUCCESS
               : CUDNN_BAD_PARAM;
}

/* --- layers that write device memory only --- */

#define RUN(name)                                                                                                      \
    status cudnn##name(const void *handle, PLIM_WORDS) { return plim_cudnn_write(handle, PLIM_WORDS_GIVEN); }

CUDNN_LAYERS(RUN)

/* --- batch normalization: no workspace is assumed; a fused activation keeps a bit per element --- */

static status no_workspace(const void *handle, size_t *ret_bytes)
{
    if (!plim_handle_body(handle, CUDNN_HANDLE) || !ret_bytes)
        return CUDNN_BAD_PARAM;
    plim_vgpu_remark("assumed", "cuDNN's batch normalization takes no workspace (not measured)");
    *ret_bytes = 0;
    return CUDNN_SUCCESS;
}

status cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(const void *handle, int mode, int operation,
                                                                const void *x, const void *z, const void *y,
                                                                const void *scale, const void *activation,
                                                                size_t *ret_bytes)
{
    (void)mode, (void)operation, (void)x, (void)z, (void)y, (void)scale, (void)activation;
    return no_workspace(handle, ret_bytes);
}

status cudnnGetBatchNormalizationBackwardExWorkspaceSize(const void *handle, int mode, int operation, const void *x,
                                                         const void *y, const void *dy, const void *dz, const void *dx,
                                                         const void *scale, const void *activation, size_t *ret_bytes)
{
    (void)mode, (void)operation, (void)x, (void)y, (void)dy, (void)dz, (void)dx, (void)scale, (void)activation;
    return no_workspace(handle, ret_bytes);
}

status cudnnGetBatchNormalizationTrainingExReserveSpaceSize(const void *handle, int mode, int operation,
                                                            const void *activation, const void *x, size_t *ret_bytes)
{
    const struct plim_cudnn_tensor *t = plim_handle_body(x, CUDNN_TENSOR);
    (void)mode, (void)activation;
    if (!plim_handle_body(handle, CUDNN_HANDLE) || !t || !ret_bytes)
        return CUDNN_BAD_PARAM;
    size_t bits = operation ? 1 : 0;
    for (int i = 0; i < t->n; i++)
        bits *= (size_t)t->size[i];
    *ret_bytes = (bits + 7) / 8;
    return CUDNN_SUCCESS;
}
