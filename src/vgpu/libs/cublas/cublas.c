/* SPDX-License-Identifier: MIT */
/*
 * libcublas: handles and their state. A handle takes its workspace at once, as in NVIDIA's library. A workspace that
 * the program sets is its own memory and is not charged again; NVIDIA's library keeps its own beside it.
 */
#include "vgpu/libs/cublas/cublas.h"

#include "vgpu/libs/cublas/cublas_api.h"

enum { HANDLE = 1 };

struct plim_cublas *plim_cublas_of(const void *handle) { return plim_handle_body(handle, HANDLE); }

status plim_cublas_run(const void *handle)
{
    const struct plim_cublas *h = plim_cublas_of(handle);
    return !h ? CUBLAS_NOT_INITIALIZED : plim_library_work(h->device, h->stream) ? CUBLAS_SUCCESS : CUBLAS_ALLOC_FAILED;
}

status plim_cublas_write(const void *handle, const uintptr_t words[PLIM_N_WORDS])
{
    const struct plim_cublas *h = plim_cublas_of(handle);
    return !h                                                ? CUBLAS_NOT_INITIALIZED
           : plim_library_write(h->device, h->stream, words) ? CUBLAS_SUCCESS
                                                             : CUBLAS_ALLOC_FAILED;
}

status cublasCreate_v2(void **ret_handle)
{
    if (!ret_handle)
        return CUBLAS_INVALID_VALUE;
    const int device = plim_library_device();
    const struct plim_ledger_card *card = plim_vgpu_card(device);
    if (!card)
        return CUBLAS_NOT_INITIALIZED;
    struct plim_cublas *h;
    void *handle = plim_handle_make(HANDLE, sizeof *h, (void **)&h);
    if (!handle)
        return CUBLAS_ALLOC_FAILED;
    h->device = device;
    if (!plim_library_charge(&h->workspace, device, PLIM_KIND_CUBLAS, card->cublas.bytes)) {
        plim_handle_drop(handle);
        return CUBLAS_ALLOC_FAILED;
    }
    *ret_handle = handle;
    return CUBLAS_SUCCESS;
}

status cublasDestroy_v2(void *handle)
{
    struct plim_cublas *h = plim_cublas_of(handle);
    if (!h)
        return CUBLAS_NOT_INITIALIZED;
    plim_library_uncharge(&h->workspace);
    plim_handle_drop(handle);
    return CUBLAS_SUCCESS;
}

/* --- texts --- */

static const struct {
    status code;
    const char *name, *text;
} words[] = {
    { CUBLAS_SUCCESS, "CUBLAS_STATUS_SUCCESS", "the operation completed successfully" },
    { CUBLAS_NOT_INITIALIZED, "CUBLAS_STATUS_NOT_INITIALIZED", "the library was not initialized" },
    { CUBLAS_ALLOC_FAILED, "CUBLAS_STATUS_ALLOC_FAILED", "the resource allocation failed" },
    { CUBLAS_INVALID_VALUE, "CUBLAS_STATUS_INVALID_VALUE",
      "an unsupported value or parameter was passed to the function" },
    { CUBLAS_ARCH_MISMATCH, "CUBLAS_STATUS_ARCH_MISMATCH",
      "the function requires an architectural feature absent from the device" },
    { CUBLAS_MAPPING_ERROR, "CUBLAS_STATUS_MAPPING_ERROR", "an access to GPU memory space failed" },
    { CUBLAS_EXECUTION_FAILED, "CUBLAS_STATUS_EXECUTION_FAILED", "the function failed to launch on the GPU" },
    { CUBLAS_INTERNAL_ERROR, "CUBLAS_STATUS_INTERNAL_ERROR", "an internal operation failed" },
    { CUBLAS_NOT_SUPPORTED, "CUBLAS_STATUS_NOT_SUPPORTED", "the functionality requested is not supported" },
    { CUBLAS_LICENSE_ERROR, "CUBLAS_STATUS_LICENSE_ERROR", "the functionality requested requires some license" },
};

const char *cublasGetStatusName(status code)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (words[i].code == code)
            return words[i].name;
    return "CUBLAS_STATUS_UNKNOWN";
}

const char *cublasGetStatusString(status code)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (words[i].code == code)
            return words[i].text;
    return "unrecognized status code";
}

/* --- version: that of the newest library whose names are exported --- */

static const int version[] = { PLIM_MAJOR, PLIM_MINOR, PLIM_PATCH };

status cublasGetVersion_v2(const void *handle, int *ret_version)
{
    (void)handle; /* may be NULL */
    if (!ret_version)
        return CUBLAS_INVALID_VALUE;
    *ret_version = version[0] * 10000 + version[1] * 100 + version[2];
    return CUBLAS_SUCCESS;
}

status cublasGetProperty(int part, int *value)
{
    if (part < 0 || part > 2 || !value)
        return CUBLAS_INVALID_VALUE;
    *value = version[part];
    return CUBLAS_SUCCESS;
}

size_t cublasGetCudartVersion(void) { return PLIM_OF_CUDA; }

/* --- state --- */

#define DEFINE(name, suffix, type, member)                                                                             \
    CUBLAS_SETTER(name, suffix, type)                                                                                  \
    {                                                                                                                  \
        struct plim_cublas *h = plim_cublas_of(handle);                                                                \
        if (h)                                                                                                         \
            h->member = value;                                                                                         \
        return h ? CUBLAS_SUCCESS : CUBLAS_NOT_INITIALIZED;                                                            \
    }                                                                                                                  \
    CUBLAS_GETTER(name, suffix, type)                                                                                  \
    {                                                                                                                  \
        const struct plim_cublas *h = plim_cublas_of(handle);                                                          \
        if (h && ret_value)                                                                                            \
            *ret_value = h->member;                                                                                    \
        return !h ? CUBLAS_NOT_INITIALIZED : ret_value ? CUBLAS_SUCCESS : CUBLAS_INVALID_VALUE;                        \
    }
CUBLAS_STATES(DEFINE)

/* 256-byte alignment is documented. */
status cublasSetWorkspace_v2(const void *handle, void *workspace, size_t size)
{
    (void)size;
    return !plim_cublas_of(handle)           ? CUBLAS_NOT_INITIALIZED
           : (uintptr_t)workspace % 256 == 0 ? CUBLAS_SUCCESS
                                             : CUBLAS_INVALID_VALUE;
}

/* --- the log: nothing is written into it --- */

static void *log_callback;

status cublasLoggerConfigure(int is_on, int to_stdout, int to_stderr, const char *file)
{
    (void)is_on, (void)to_stdout, (void)to_stderr, (void)file;
    return CUBLAS_SUCCESS;
}

status cublasSetLoggerCallback(void *callback)
{
    log_callback = callback;
    return CUBLAS_SUCCESS;
}

status cublasGetLoggerCallback(void **ret_callback)
{
    if (!ret_callback)
        return CUBLAS_INVALID_VALUE;
    *ret_callback = log_callback;
    return CUBLAS_SUCCESS;
}
